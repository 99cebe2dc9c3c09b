"""Where the icons, themes, templates and the sample lie, however the product was installed."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from sa_builder.errors import BugError

_PACKAGE = Path(__file__).resolve().parent.parent


@lru_cache(maxsize=1)
def data_root() -> Path:
    """The folder that holds `resources/` and `agents/`.

    In a checkout that is the repository; in an installed package and in a bundle it is
    `sa_builder/_data`, where the build puts both.

    Raises:
        BugError: neither is there; the installation is broken.
    """
    for candidate in (_PACKAGE / "_data", _PACKAGE.parent):
        if (candidate / "resources" / "themes" / "tokens.json").is_file():
            return candidate
    raise BugError(f"No resources folder beside {_PACKAGE}: the installation is incomplete.")


def resources_root() -> Path:
    """The folder with `icons/`, `themes/` and `templates/`."""
    return data_root() / "resources"


def sample_root() -> Path:
    """The sample project: a folder with `agents/`. May be read-only in an installation."""
    return data_root()
