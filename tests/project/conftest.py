"""A small project in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sa_builder.project.project import Project
from tests.project.corpus import OTHERS, TIDY

MakeProject = Callable[..., Project]


@pytest.fixture
def make_project(tmp_path: Path) -> MakeProject:
    """Write files (text or bytes, by path) over the small project, and open it."""

    def make(files: Mapping[str, str | bytes] | None = None, *, bare: bool = False) -> Project:
        base: dict[str, str | bytes] = {} if bare else dict(OTHERS)
        if not bare:
            base["agents/agents/desk.py"] = TIDY
        (tmp_path / "agents").mkdir(exist_ok=True)
        for path, text in {**base, **(files or {})}.items():
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return Project.open(tmp_path)

    return make
