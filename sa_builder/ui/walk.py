"""The journey in a window of its own, from the first paint to the archive of its thread."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtWidgets import QApplication

from sa_builder.client.base import ClientFactory
from sa_builder.errors import KnownError
from sa_builder.ui.journey import EventHands, Hands, Journey
from sa_builder.ui.loop import make_loop
from sa_builder.ui.options import WindowOptions
from sa_builder.ui.settings import Settings
from sa_builder.ui.theme import Theme
from sa_builder.ui.window import MainWindow

_Result = TypeVar("_Result")


def walk(
    root: Path,
    home: Path,
    pictures: Path,
    factory: ClientFactory,
    hands: Hands | None = None,
) -> None:
    """Do the journey on a project, close the window, and open the child's thread file alone.

    Args:
        root: a copy of the sample; it is edited, undone, and moved away.
        home: a folder for the window's settings, and for what else is made.
        pictures: gets a PNG file a step.
        hands: whose mouse and keyboard; None sends events.

    Raises:
        KnownError: a step did not do what it should.
    """
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(["sa-builder"])
    app.setQuitOnLastWindowClosed(False)
    theme = Theme("light")
    theme.apply(app)
    settings = Settings(home / "settings")
    loop = make_loop(app)
    asyncio.set_event_loop(loop)
    visit = _Visit(theme, settings, factory, pictures)
    try:
        file = loop.run_until_complete(visit.use(root, hands or EventHands()))
        copy = home / "thread.db"
        copy.write_bytes(file.read_bytes())
        root.rename(root.with_name("moved"))
        loop.run_until_complete(visit.read(copy))
    finally:
        loop.close()
        asyncio.set_event_loop(None)


class _Visit:
    def __init__(
        self, theme: Theme, settings: Settings, factory: ClientFactory, pictures: Path
    ) -> None:
        self._theme = theme
        self._settings = settings
        self._factory = factory
        self._pictures = pictures

    async def use(self, root: Path, hands: Hands) -> Path:
        """The journey itself; returns the child's thread file."""
        window = self._window(trusted=True)

        def keep(name: str) -> None:
            self._keep(window, name)

        async def act() -> Path:
            window.open_later(root)
            journey = Journey(window, root, hands, say=print, keep_picture=keep)
            try:
                return await journey.run()
            except KnownError:
                keep("stuck")
                raise

        return await self._in(window, act())

    async def read(self, file: Path) -> None:
        """Open a thread file with no project, and see its log."""
        window = self._window(trusted=False)

        async def act() -> None:
            window.open_later(file)
            journey = Journey(
                window,
                file.parent,
                EventHands(),
                say=print,
                keep_picture=lambda name: self._keep(window, name),
            )
            await journey.read_alone()

        await self._in(window, act())

    def _keep(self, window: MainWindow, name: str) -> None:
        window.grab().save(str(self._pictures / f"{name}.png"))

    def _window(self, *, trusted: bool) -> MainWindow:
        options = WindowOptions(test_mode=True if trusted else None, trusted=trusted)
        window = MainWindow(self._theme, self._settings, self._factory, options, version="")
        window.resize(1600, 1000)
        window.show()
        return window

    async def _in(self, window: MainWindow, act: Coroutine[Any, Any, _Result]) -> _Result:
        """Do something with a window, then close it, whatever came of it."""
        try:
            return await act
        finally:
            await window.shut_down()
            window.deleteLater()
