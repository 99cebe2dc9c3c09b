"""A copy of the sample, and the command line as a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sa_builder.cli.main import main
from sa_builder.ui.templates import SAMPLE, make_project

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """How a command ended."""

    code: int
    out: str
    err: str


Command = Callable[..., Said]


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """The sample project, free to be changed."""
    return make_project(SAMPLE, tmp_path / "sample")


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command line in this process."""

    def run(*words: str | Path) -> Said:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Said(code=code, out=captured.out, err=captured.err)

    return run
