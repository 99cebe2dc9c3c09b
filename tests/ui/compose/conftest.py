"""A Compose page over a copy of the sample project, shown and ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from sa_builder.project.project import Project
from sa_builder.project.shapes import Edit
from sa_builder.ui.actions import ActionRegistry
from sa_builder.ui.compose.page import ComposePage
from sa_builder.ui.theme import Theme


class Bench:
    """A page with what it said and wrote."""

    def __init__(self, page: ComposePage, project: Project) -> None:
        self.page = page
        self.project = project
        self.edits: list[Edit] = []
        self.said: list[str] = []
        page.edited.connect(self.edits.append)
        page.status_said.connect(self.said.append)

    def file(self, path: str) -> bytes:
        """The bytes of a definition file, below `agents/`."""
        return (self.project.root / "agents" / path).read_bytes()


@pytest.fixture
def make_bench(qtbot: QtBot, theme: Theme) -> Iterator[Callable[[Path], Bench]]:
    """Makes a bench over any project folder."""
    made: list[ComposePage] = []
    owner = QWidget()

    def make(root: Path) -> Bench:
        project = Project.open(root)
        page = ComposePage(project, theme, ActionRegistry(theme, owner))
        page.resize(1550, 900)
        page.show()
        qtbot.waitExposed(page)
        made.append(page)
        return Bench(page, project)

    yield make
    for page in made:
        page.close()
        page.deleteLater()
    owner.deleteLater()


@pytest.fixture
def bench(make_bench: Callable[[Path], Bench], project_root: Path) -> Bench:
    """A bench over the sample project."""
    return make_bench(project_root)
