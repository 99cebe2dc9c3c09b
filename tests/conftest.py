"""What holds for every test: no display, no network, nothing left behind."""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_FORCE_STDERR_LOGGING", "1")

import asyncio
import ipaddress
import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from sa_builder.ui.theme import Theme

_PATIENCE_S = 1.0
"""How long an OS thread may take to end after the test that started it."""
_POOLS = ("asyncio_", "ThreadPoolExecutor", "pytest_timeout", "QThread", "Dummy-")
"""OS threads of pools that belong to nobody in particular."""


def _is_local(address: object) -> bool:
    if not isinstance(address, tuple):
        return True  # a path of the file system
    host = str(address[0])  # pyright: ignore[reportUnknownArgumentType]
    if host in ("localhost", ""):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """Refuse every connection that leaves this machine."""
    connect = socket.socket.connect
    connect_ex = socket.socket.connect_ex

    def guarded_connect(self: socket.socket, address: Any) -> None:
        if not _is_local(address):
            pytest.fail(f"A test may not reach {address}.")
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        if not _is_local(address):
            pytest.fail(f"A test may not reach {address}.")
        return connect_ex(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_connect_ex)


def _own_threads() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if not one.name.startswith(_POOLS)}


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Fail a test that leaves an OS thread, a visible window or a running timer."""
    before = _own_threads()
    yield
    until = time.monotonic() + _PATIENCE_S
    left = _own_threads() - before
    while left and time.monotonic() < until:
        for thread in left:
            thread.join(timeout=0.02)
        left = _own_threads() - before
    assert not left, f"OS threads left: {sorted(thread.name for thread in left)}"
    if "PySide6.QtWidgets" in sys.modules:
        _no_window_left()


def _no_window_left() -> None:
    import shiboken6
    from PySide6.QtCore import QCoreApplication, QEvent, QTimer
    from PySide6.QtWidgets import QApplication

    if QApplication.instance() is None:
        return
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    for window in QApplication.topLevelWidgets():
        if not shiboken6.isValid(window):
            continue
        assert not window.isVisible(), f"A window is left open: {window!r}"
        ticking = [timer for timer in window.findChildren(QTimer) if timer.isActive()]
        assert not ticking, f"Timers left running in {window!r}: {ticking}"


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    """The light theme, applied."""
    from sa_builder.ui.theme import Theme

    made = Theme("light")
    made.apply(qapp)
    yield made
    made.deleteLater()


@pytest.fixture
def gui_loop(qapp: QApplication) -> Iterator[asyncio.AbstractEventLoop]:
    """The qasync loop of the window, for tests that await on the GUI thread.

    Use `gui_loop.run_until_complete(coroutine)` in a plain test.
    """
    from sa_builder.ui.loop import make_loop

    loop = make_loop(qapp)
    asyncio.set_event_loop(loop)
    yield loop
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    asyncio.set_event_loop(None)
