"""A window under test: stand-ins for the two big pages, a scripted client, and how to wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from sa_builder.client.base import RuntimeClient
from sa_builder.client.scripted import ScriptedClient
from sa_builder.errors import StoreError
from sa_builder.spec.threads import AgentSummary
from sa_builder.ui.settings import Settings
from sa_builder.ui.threads.memory import ThreadsMemory
from sa_builder.ui.window import MainWindow


class StandInComposePage(QWidget):
    """Remembers what it was asked; has the panels a page may have."""

    new_thread_requested = Signal(str)
    status_said = Signal(str)
    edited = Signal(object)
    selection_changed = Signal(object)

    def __init__(self, project: object, theme: object, actions: object) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.left = QWidget(self)
        self.left.setObjectName("panel_left")

    def refresh(self) -> None:
        self.asked.append("refresh")

    def select_address(self, address: str) -> None:
        self.asked.append(address)

    def undo(self) -> None:
        self.asked.append("undo")

    def redo(self) -> None:
        self.asked.append("redo")


class StandInThreadsPage(QWidget):
    """Remembers what it was asked."""

    status_said = Signal(str)
    open_definition_requested = Signal(str)
    memory_changed = Signal()

    def __init__(
        self, client: object, link: object, tasks: object, theme: object, actions: object
    ) -> None:
        super().__init__()
        self.asked: list[object] = []
        self.memory = ThreadsMemory()

    def restore(self, memory: ThreadsMemory, first_agent: Callable[[], str | None]) -> None:
        self.memory = memory

    def start(self) -> None:
        self.asked.append("start")

    def new_thread(self, agent_name: str | None) -> None:
        self.asked.append(("new", agent_name))

    def show_thread(self, thread_id: str) -> None:
        self.asked.append(("show", thread_id))

    def shutdown(self) -> None:
        self.asked.append("shutdown")


class ScriptedFactory:
    """Gives out one scripted client, and refuses archives that are no database."""

    def __init__(self) -> None:
        self.client = ScriptedClient()
        self.client.add_agents(AgentSummary(name="repo_assistant"))
        self.trusted: Callable[[], bool] | None = None
        self.test_mode: bool | None = None

    def local(
        self, project_root: Path, *, trusted: Callable[[], bool], test_mode: bool | None
    ) -> RuntimeClient:
        self.trusted = trusted
        self.test_mode = test_mode
        return self.client

    def archive(self, thread_file: Path) -> RuntimeClient:
        if not thread_file.read_bytes().startswith(b"SQLite"):
            raise StoreError(f"{thread_file} is no thread file.", code="store.not_a_thread")
        return self.client


class Desk:
    """A window, what it was made of, and how to wait for it."""

    def __init__(
        self,
        window: MainWindow,
        factory: ScriptedFactory,
        settings: Settings,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.window = window
        self.factory = factory
        self.settings = settings
        self.loop = loop

    def run_until(self, is_so: Callable[[], bool], within_s: float = 3.0) -> None:
        """Let the window's loop run until something is so; fails when it takes too long."""

        async def watch() -> None:
            until = time.monotonic() + within_s
            while not is_so():
                assert time.monotonic() < until, "It did not come to be."
                await asyncio.sleep(0.005)

        self.loop.run_until_complete(watch())

    def open(self, path: Path) -> None:
        """Open a project or thread file and wait until it is open."""
        self.window.open_later(path)
        space = self.window.workspace
        self.run_until(lambda: space.project is not None or space.archive_file is not None)
