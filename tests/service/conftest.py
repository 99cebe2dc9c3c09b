"""The sample project for services."""

from __future__ import annotations

from pathlib import Path

import pytest

from sa_builder.ui.templates import SAMPLE, make_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the sample."""
    return make_project(SAMPLE, tmp_path / "sample")
