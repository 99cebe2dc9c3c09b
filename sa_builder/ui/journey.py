"""The product's three acts, done in a window by mouse and keyboard, and checked at each step.

The same journey is what `make run` does without a display, and what the tests do with real
events: only the hands differ.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from sa_builder.errors import KnownError
from sa_builder.spec.logs import LogQuery
from sa_builder.ui.compose.page import ComposePage
from sa_builder.ui.compose.toolbar import PROJECT
from sa_builder.ui.threads.page import ThreadsPage
from sa_builder.ui.window import MainWindow
from sa_builder.util.ids import ThreadId

REQUEST = "Triage issue 42 in acme/widgets"
_ANSWER = "Issue 42 in acme/widgets is triaged."
_PATIENCE_S = 30.0
_LEFT = Qt.MouseButton.LeftButton
_NONE = Qt.KeyboardModifier.NoModifier


class Hands(Protocol):
    """What a person has: a mouse and a keyboard. Places are in a widget's own pixels."""

    async def click(self, widget: QWidget, at: QPoint) -> None:
        """Press and release the left button."""
        ...

    async def drag(
        self, widget: QWidget, start: QPoint, end: QPoint, held: Callable[[], Awaitable[None]]
    ) -> None:
        """Press, move, await `held`, release."""
        ...

    async def type_text(self, widget: QWidget, text: str) -> None:
        """Type into what has the focus."""
        ...

    async def press(self, widget: QWidget, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
        """Press and release a key."""
        ...


class EventHands:
    """Hands that send Qt's own events; they need no display."""

    async def click(self, widget: QWidget, at: QPoint) -> None:
        QTest.mouseClick(widget, _LEFT, _NONE, at)

    async def drag(
        self, widget: QWidget, start: QPoint, end: QPoint, held: Callable[[], Awaitable[None]]
    ) -> None:
        QTest.mousePress(widget, _LEFT, _NONE, start)
        for step in range(1, 11):
            at = QPointF(start + (end - start) * step / 10)
            place = QPointF(widget.mapToGlobal(at.toPoint()))
            move = QMouseEvent(
                QEvent.Type.MouseMove, at, place, Qt.MouseButton.NoButton, _LEFT, _NONE
            )
            QGuiApplication.sendEvent(widget, move)
        await held()
        QTest.mouseRelease(widget, _LEFT, _NONE, end)

    async def type_text(self, widget: QWidget, text: str) -> None:
        QTest.keyClicks(widget, text)

    async def press(self, widget: QWidget, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
        QTest.keyClick(widget, key, modifiers)


class Journey:
    """Compose, run, inspect; the sample project is open in the window."""

    def __init__(
        self,
        window: MainWindow,
        root: Path,
        hands: Hands,
        *,
        say: Callable[[str], None],
        keep_picture: Callable[[str], None],
    ) -> None:
        """Prepare.

        Args:
            root: the project's folder; its `relay_agent` is edited, and undone.
            say: told what was done, a line each.
            keep_picture: told the name of a picture worth keeping now.
        """
        self._window = window
        self._root = root
        self._hands = hands
        self._say = say
        self._keep_picture = keep_picture

    async def run(self) -> Path:
        """Do it all.

        Returns:
            The child thread's file, whole and at rest.

        Raises:
            KnownError: a step did not do what it should; the sentence says which.
        """
        await self.connect_and_undo()
        parent = await self.ask()
        child = await self.open_child(parent)
        await self.read_request(child)
        client = self._window.workspace.client
        assert client is not None
        return await client.thread_file(child)

    async def connect_and_undo(self) -> None:
        """Drag relay_agent's side A to another handler; see the span change; take it back."""
        await self._until(lambda: self._window.workspace.compose is not None, "open the project")
        page = self._compose()
        canvas, viewport = page.canvas, page.canvas.viewport()
        await self._click_segment(page)
        await self._until(lambda: "agents/relay_agent" in canvas.cards, "draw the whole project")
        self._keep_picture("whole-project")
        file = self._root / "agents" / "agents" / "relay_agent.py"
        before = file.read_bytes()
        start = canvas.port_point("agents/relay_agent.side_a")
        end = canvas.card_point("handlers/echo_once")
        if start is None or end is None:
            raise _stuck("find relay_agent and echo_once on the canvas")

        async def held() -> None:
            await self._until(
                lambda: page.canvas.drop_card.isVisible(), "hold the port over a card"
            )
            await self._settle()
            self._keep_picture("connect")

        await self._hands.drag(viewport, start, end, held)
        wanted = before.replace(b'handler="relay_pipe"', b'handler="echo_once"')
        await self._until(lambda: file.read_bytes() != before, "write the connection")
        if file.read_bytes() != wanted:
            raise _stuck("change that span of relay_agent.py alone")
        self._say('Connected side A of relay_agent: handler="relay_pipe" became "echo_once".')
        await self._hands.press(canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        await self._until(lambda: file.read_bytes() == before, "undo to identical bytes")
        self._say("Undid it: the file has its former bytes.")

    async def ask(self) -> ThreadId:
        """Start a thread of repo_assistant, ask for a triage, and read the answer."""
        page = self._compose()
        page.show_agent("repo_assistant")
        page.select_address("agents/repo_assistant.side_a.subagents[0]")
        await self._settle()
        self._keep_picture("compose")
        button = page.toolbar.thread_button
        await self._hands.click(button, button.rect().center())
        await self._until(
            lambda: (
                self._window.page_name == "threads" and self._threads().chat.thread_id is not None
            ),
            "start a thread",
        )
        chat = self._threads().chat
        thread_id = chat.thread_id
        assert thread_id is not None
        field = chat.composer.field
        await self._hands.click(field, field.rect().center())
        await self._hands.type_text(field, REQUEST)
        await self._until(lambda: chat.composer.text == REQUEST, "type the request")
        await self._hands.press(field, Qt.Key.Key_Return, _NONE)
        await self._until(
            lambda: _ANSWER in chat.transcript.text() and chat.composer.text == "",
            "read the answer",
        )
        await self._at_rest(thread_id)
        answer = chat.transcript.text().strip().splitlines()[-1]
        self._say(f"Asked repo_assistant: {REQUEST}.")
        self._say(f"It answered: {answer}")
        return thread_id

    async def open_child(self, parent: ThreadId) -> ThreadId:
        """Open the child thread from where the chat shows it."""
        page = self._threads()
        client = self._window.workspace.client
        assert client is not None
        children = (await client.get_thread(parent)).children
        if not children:
            raise _stuck("start the child thread")
        child = children[0].reference
        await self._until(lambda: self._child_target(page, child) is not None, "show the child")
        await self._settle()
        self._keep_picture("threads")
        place = self._child_target(page, child)
        assert place is not None
        await self._hands.click(page.chat.transcript.viewport(), place)
        await self._until(lambda: page.chat.thread_id == child, "open the child thread")
        self._say("Opened the child thread issue_triage.")
        return child

    async def read_request(self, child: ThreadId) -> None:
        """Open the log of the child's second step and read its request."""
        await self._show_request(child)
        self._keep_picture("request")
        self._say("Read the request of the child's second step in its log.")

    async def read_alone(self) -> None:
        """In a window on a thread file, with no project: read its messages and a request."""
        await self._until(lambda: self._window.page_name == "threads", "open the thread file")
        page = self._threads()
        await self._until(
            lambda: "acme/widgets" in page.chat.transcript.text(), "read its messages"
        )
        thread_id = page.chat.thread_id
        assert thread_id is not None
        await self._show_request(thread_id)
        self._keep_picture("archive")
        self._say("Opened the thread's file alone, with no project: everything is there.")

    # within

    async def _show_request(self, child: ThreadId) -> None:
        page = self._threads()
        client = self._window.workspace.client
        assert client is not None
        rows = (await client.list_logs(child, LogQuery(kinds=("model",), limit=50))).rows
        second = next((row for row in rows if row.step == 2), None)
        if second is None:
            raise _stuck("find the log of the child's second step")
        await self._until(
            lambda: page.logs.row_point(child, second.id) is not None, "list the logs"
        )
        await self._settle()
        place = page.logs.row_point(child, second.id)
        assert place is not None
        await self._hands.click(page.logs.table.viewport(), place)
        await self._until(
            lambda: (
                page.logs.details.details is not None
                and page.logs.details.details.row.id == second.id
            ),
            "open the log row",
        )
        tabs = page.logs.details.tabs
        at = next(at for at in range(tabs.count()) if tabs.tabText(at).startswith("Request"))
        await self._hands.click(tabs, tabs.tabRect(at).center())
        await self._until(
            lambda: "get_github_issue" in page.logs.details.request.shown_text, "read the request"
        )
        await self._settle()

    def _compose(self) -> ComposePage:
        page = self._window.workspace.compose
        assert page is not None
        return page

    def _threads(self) -> ThreadsPage:
        page = self._window.workspace.threads_page()
        assert page is not None
        return page

    async def _click_segment(self, page: ComposePage) -> None:
        segment = page.toolbar.scope.segment(PROJECT)
        await self._hands.click(segment, segment.rect().center())

    def _child_target(self, page: ThreadsPage, child: ThreadId) -> QPoint | None:
        for target in page.chat.transcript.targets():
            if target.kind == "open_thread" and target.value == child:
                return target.rect.center().toPoint()
        return None

    async def _at_rest(self, thread_id: ThreadId) -> None:
        client = self._window.workspace.client
        assert client is not None
        until = time.monotonic() + _PATIENCE_S
        while (await client.get_thread(thread_id)).summary.state == "running":
            if time.monotonic() > until:
                raise _stuck("come to rest")
            await asyncio.sleep(0.02)

    async def _settle(self) -> None:
        """Let what was asked for be loaded and painted."""
        for _ in range(5):
            await asyncio.sleep(0.03)

    async def _until(self, is_so: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + _PATIENCE_S
        while not is_so():
            if time.monotonic() > until:
                raise _stuck(what)
            await asyncio.sleep(0.01)


def _stuck(what: str) -> KnownError:
    return KnownError(
        f"The journey could not {what} within {_PATIENCE_S:.0f} s.",
        act="Run it again; if it stays so, report it.",
        code="journey.stuck",
    )
