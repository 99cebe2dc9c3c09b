"""A window over a scripted client, with stand-ins for the two big pages."""

from __future__ import annotations

import asyncio
import shutil
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from sa_builder.ui.options import WindowOptions
from sa_builder.ui.settings import Settings
from sa_builder.ui.theme import Theme
from sa_builder.ui.window import MainWindow
from tests.ui.desk import Desk, ScriptedFactory, StandInComposePage, StandInThreadsPage

AGENTS = Path(__file__).parents[2] / "agents"


@pytest.fixture
def project_root(tmp_path: Path) -> Path:
    """A copy of the sample project."""
    root = tmp_path / "sample"
    shutil.copytree(AGENTS, root / "agents", ignore=shutil.ignore_patterns("__pycache__"))
    return root


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins where the window looks for its pages."""
    for room, name, page in (
        ("compose", "ComposePage", StandInComposePage),
        ("threads", "ThreadsPage", StandInThreadsPage),
    ):
        module = types.ModuleType(f"sa_builder.ui.{room}.page")
        setattr(module, name, page)
        monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.fixture
def desk(
    qtbot: QtBot,
    theme: Theme,
    gui_loop: asyncio.AbstractEventLoop,
    stand_ins: None,
    tmp_path: Path,
) -> Iterator[Desk]:
    """A window that shows the welcome page; closed, with everything in it, at the end."""
    settings = Settings(tmp_path / "settings")
    factory = ScriptedFactory()
    window = MainWindow(theme, settings, factory, WindowOptions(), version="1.2.3")
    window.resize(1400, 900)
    window.show()
    made = Desk(window, factory, settings, gui_loop)
    yield made
    if window.isVisible():
        gui_loop.run_until_complete(window.shut_down())
    window.deleteLater()
