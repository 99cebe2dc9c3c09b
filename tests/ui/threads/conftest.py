"""A Threads page over a scripted client, on the window's own loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from sa_builder.client.base import RuntimeClient
from sa_builder.client.sample_threads import sample_client
from sa_builder.client.scripted import ScriptedClient
from sa_builder.ui.actions import ActionRegistry
from sa_builder.ui.link import RuntimeLink
from sa_builder.ui.tasks import Tasks
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads.blocks import Target
from sa_builder.ui.threads.page import ThreadsPage
from sa_builder.ui.threads.transcript import Transcript
from sa_builder.util.ids import ThreadId
from tests.ui.hands import click


class PageDesk:
    """A page that is shown, its client, and how to wait."""

    def __init__(
        self, client: RuntimeClient, theme: Theme, loop: asyncio.AbstractEventLoop
    ) -> None:
        self.client = client
        self.loop = loop
        self.said: list[str] = []
        self.addresses: list[str] = []
        self._owner = QWidget()
        self.tasks = Tasks()
        self.link = RuntimeLink(client)
        actions = ActionRegistry(theme, self._owner)
        self.page = ThreadsPage(client, self.link, self.tasks, theme, actions)
        self.page.status_said.connect(self.said.append)
        self.page.open_definition_requested.connect(self.addresses.append)
        self.page.resize(1552, 936)
        self.page.show()
        self.page.start()

    @property
    def script(self) -> ScriptedClient:
        """The client, where it is a scripted one."""
        assert isinstance(self.client, ScriptedClient)
        return self.client

    def run_until(self, is_so: Callable[[], object], within_s: float = 3.0) -> None:
        """Let the loop run until something holds."""

        async def wait() -> None:
            until = time.monotonic() + within_s
            while not is_so():
                assert time.monotonic() < until, "It never came to that."
                await asyncio.sleep(0.005)

        self.loop.run_until_complete(wait())

    def open(self, thread_id: ThreadId) -> None:
        """Open a thread and wait until it and its log rows are shown."""
        self.page.show_thread(thread_id)

        def is_shown() -> bool:
            found = self.page.chat.conversation
            return found is not None and found.details.summary.id == thread_id

        self.run_until(is_shown)
        self.settle()

    def settle(self, seconds: float = 0.06) -> None:
        """Let frames and answers that are under way arrive."""
        self.loop.run_until_complete(asyncio.sleep(seconds))

    def target(self, name: str) -> Target:
        """What can be pressed in the chat, by a part of its name."""
        return find_target(self.page.chat.transcript, name)

    def press(self, name: str) -> None:
        """Press it with the mouse."""
        place = self.target(name).rect.center()
        spot = QPoint(round(place.x()), round(place.y()))
        click(self.page.chat.transcript.viewport(), spot)

    def close(self) -> None:
        """Shut everything down as the window does."""
        self.page.shutdown()
        self.link.close()
        self.loop.run_until_complete(self.tasks.close())
        self.page.close()
        self.page.deleteLater()
        self._owner.deleteLater()


def find_target(transcript: Transcript, name: str) -> Target:
    """What can be pressed in a transcript, by a part of its name."""
    found = [target for target in transcript.targets() if name in target.name]
    assert found, [target.name for target in transcript.targets()]
    return found[0]


@pytest.fixture
def make_desk(
    qtbot: QtBot, theme: Theme, gui_loop: asyncio.AbstractEventLoop
) -> Iterator[Callable[[RuntimeClient], PageDesk]]:
    """Makes desks and closes them at the end."""
    made: list[PageDesk] = []

    def make(client: RuntimeClient) -> PageDesk:
        desk = PageDesk(client, theme, gui_loop)
        made.append(desk)
        return desk

    yield make
    for desk in made:
        desk.close()


@pytest.fixture
def desk(make_desk: Callable[[RuntimeClient], PageDesk]) -> PageDesk:
    """A page over the sample threads, its list loaded."""
    desk = make_desk(sample_client())
    desk.run_until(lambda: desk.page.list_panel.model.rowCount() > 9)
    return desk
