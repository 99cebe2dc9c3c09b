"""Starts the window and ends it: display check, loop, faults, signals."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from sa_builder.client.base import ClientFactory
from sa_builder.ui.display import check_display
from sa_builder.ui.options import WindowOptions as WindowOptions

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_window(
    project_root: Path | None,
    thread_file: Path | None,
    factory: ClientFactory,
    options: WindowOptions | None = None,
) -> int:
    """Show the window until it is closed.

    Args:
        project_root: the project to open at once.
        thread_file: or the thread file to show, read-only; neither shows the welcome page.
        factory: makes the clients; the window knows the runtime through them alone.

    Returns:
        The exit code of the process.

    Raises:
        KnownError: no display, or missing system libraries, with the one command to type.
    """
    check_display()
    from PySide6.QtWidgets import QApplication

    from sa_builder.ui.faults import Faults
    from sa_builder.ui.loop import make_loop
    from sa_builder.ui.settings import Settings
    from sa_builder.ui.theme import Theme
    from sa_builder.ui.window import MainWindow

    wishes = options or WindowOptions()
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(sys.argv[:1])
    app.setApplicationName("sa-builder")
    app.setApplicationDisplayName("Standard Agents Builder")
    app.setDesktopFileName("sa-builder")
    app.setQuitOnLastWindowClosed(False)
    settings = Settings(wishes.settings_folder)
    theme = Theme(wishes.scheme or settings.theme)
    theme.apply(app)
    app.setWindowIcon(theme.icon("agent", "accent.base", 64))
    faults = Faults(settings.log_file)
    faults.install()
    loop = make_loop(app)
    asyncio.set_event_loop(loop)
    loop.set_exception_handler(faults.take_loop_context)
    window = MainWindow(theme, settings, factory, wishes, version=wishes.version)
    faults.told.connect(window.show_trouble)
    path = project_root or thread_file
    if path is not None:
        window.open_later(path)
    window.show()
    ended = asyncio.Event()
    window.shut.connect(ended.set)
    undo_signals = _close_on_signals(window.close)
    try:
        loop.run_until_complete(ended.wait())
    finally:
        undo_signals()
        loop.close()
        asyncio.set_event_loop(None)
    return 0


def _ignore(number: int, frame: FrameType | None) -> None:
    """Take a signal without a deed: its byte in the socket does it."""


def _close_on_signals(close: Callable[[], object]) -> Callable[[], None]:
    """Have Ctrl+C and a polite kill close the window; returns what takes that back.

    Python runs signal handlers only when it runs at all, and Qt's loop may sleep long: the
    signal's byte in a socket wakes it.
    """
    from PySide6.QtCore import QSocketNotifier

    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    before = {number: signal.signal(number, _ignore) for number in _SIGNALS}
    before_fd = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    notifier = QSocketNotifier(ours.fileno(), QSocketNotifier.Type.Read)

    def on_byte() -> None:
        ours.recv(64)
        close()

    notifier.activated.connect(on_byte)

    def undo() -> None:
        notifier.setEnabled(False)
        notifier.deleteLater()
        signal.set_wakeup_fd(before_fd)
        for number, former in before.items():
            signal.signal(number, former)
        ours.close()
        theirs.close()

    return undo
