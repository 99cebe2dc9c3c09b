"""The application as it is, with somebody at its mouse and keyboard.

    python -m tests.end_to_end.driver ACT PICTURES WORDS...

WORDS are those of `sa-builder`. Says on stdout what was done, and "closing" just before the keys
that quit. Ends with 1 when the act failed.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt

from sa_builder.cli.main import main as run_command_line
from sa_builder.errors import KnownError
from sa_builder.spec.threads import ThreadQuery
from sa_builder.ui import window as window_module
from sa_builder.ui.journey import Journey
from tests.end_to_end.x11_hands import X11Hands

MainWindow = window_module.MainWindow
_PATIENCE_S = 20.0
_ANSWER = "is triaged"


class DrivenWindow(MainWindow):
    """The main window; the act begins once it can be seen."""

    act = ""
    pictures = Path()
    project = Path()
    has_failed = False

    def __init__(self, *words: Any, **named: Any) -> None:
        super().__init__(*words, **named)
        self._hands = X11Hands()
        self._driving = asyncio.get_event_loop().create_task(self._drive())

    async def _drive(self) -> None:
        acts: dict[str, Callable[[Journey], Awaitable[object]]] = {
            "journey": self._do_journey,
            "ask": Journey.ask,
            "ending": self._read_ending,
            "read": Journey.read_alone,
        }
        journey = Journey(
            self, self.project, self._hands, say=_say, keep_picture=self._keep_picture
        )
        try:
            await _until(self._is_exposed)
            await self._hands.focus(self)
            await _until(lambda: self.isActiveWindow() and self.workspace.client is not None)
            await acts[self.act](journey)
            self._keep_picture("end")
        except Exception:  # whatever it is, the test is to read it, and the window to close
            type(self).has_failed = True
            traceback.print_exc()
            self._keep_picture("stuck")
            self.close()
            return
        _say("closing")
        await self._hands.press(self, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)

    def _is_exposed(self) -> bool:
        return self.isVisible() and self.windowHandle().isExposed()

    async def _do_journey(self, journey: Journey) -> None:
        _say(f"child: {await journey.run()}")

    async def _read_ending(self, journey: Journey) -> None:
        """Open the newest thread from the list, and say where it ended."""
        button = self.rail.button("threads")
        await self._hands.click(button, button.rect().center())
        await _until(lambda: self.page_name == "threads")
        page, client = self.workspace.threads_page(), self.workspace.client
        assert page is not None
        assert client is not None
        newest = (await client.list_threads(ThreadQuery(limit=1))).rows[0].id
        view = page.list_panel.view
        index = page.list_panel.model.index_of
        await _until(lambda: view.visualRect(index(newest)).isValid())
        await self._hands.click(view.viewport(), view.visualRect(index(newest)).center())
        await _until(lambda: _ANSWER in page.chat.transcript.text())
        conversation = page.chat.conversation
        assert conversation is not None
        await _until(lambda: conversation.details.summary.state == "awaiting_human")
        _say(f"It answered {page.chat.transcript.text().count(_ANSWER)} time.")

    def _keep_picture(self, name: str) -> None:
        """Keep what the X server shows."""
        self.screen().grabWindow(0).save(str(self.pictures / f"{self.act}-{name}.png"))


async def _until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    loop = asyncio.get_running_loop()
    end = loop.time() + _PATIENCE_S
    while not is_so():
        if loop.time() > end:
            raise KnownError("What the driver waits for did not come to be.", code="driver.stuck")
        await asyncio.sleep(0.01)


def _say(sentence: str) -> None:
    print(sentence, flush=True)


def _refuse_network(event: str, words: tuple[Any, ...]) -> None:
    """An audit hook: the window may speak to this machine, and a thread file to nobody."""
    if event != "socket.connect" or not isinstance(words[1], tuple):
        return
    host = str(words[1][0])  # pyright: ignore[reportUnknownArgumentType]
    if DrivenWindow.act == "read" or host not in ("127.0.0.1", "::1", "localhost"):
        print(f"It spoke to {host}.", file=sys.stderr, flush=True)
        DrivenWindow.has_failed = True


def main(act: str, pictures: str, *words: str) -> int:
    """Run the application with these words, and the act in it."""
    DrivenWindow.act = act
    DrivenWindow.pictures = Path(pictures)
    DrivenWindow.project = Path(words[0])
    window_module.MainWindow = DrivenWindow  # pyright: ignore[reportAttributeAccessIssue]
    sys.addaudithook(_refuse_network)
    code = run_command_line(words)
    return 1 if DrivenWindow.has_failed else code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
