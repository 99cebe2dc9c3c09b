"""The provider `offline`: the same wire, answered from the project's mocks and nothing else."""

from __future__ import annotations

from sa_builder.providers.base import ProviderError
from sa_builder.spec.definitions import ModelDefinition

ENDPOINT = "http://offline.invalid/v1/chat/completions"
"""What mocks may match; the name can never be looked up."""


def no_mocks_here(model: ModelDefinition) -> ProviderError:
    """Why an offline model has nothing to answer from outside of test mode."""
    return ProviderError(
        "no_mock",
        f"The model {model.name} uses the provider offline, which only answers from mocks.",
        act="Switch on test mode, or choose another provider.",
    )
