"""Where the files that ship with the program lie: in the repo, in an installed package, in a bundle."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def data_root() -> Path:
    """`sa_builder/_data` of a built package, else the repo that the package stands in."""
    built = _PACKAGE / "_data"
    return built if built.is_dir() else _PACKAGE.parent


def resource(*parts: str) -> Path:
    """A file or folder under resources/, such as `resource("icons", "agent.svg")`."""
    return data_root().joinpath("resources", *parts)


def sample_project() -> Path:
    """The folder that opens as the sample project (it holds `agents/`); may be read-only."""
    return data_root()
