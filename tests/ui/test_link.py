"""Events cross OS threads whole and in order; the binding survives many calls."""

from __future__ import annotations

import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from sa_builder.client.base import Listener
from sa_builder.client.scripted import ScriptedClient
from sa_builder.spec.events import Event, ThreadDeleted
from sa_builder.ui.link import RuntimeLink
from sa_builder.util.ids import ThreadId


class _Source(ScriptedClient):
    """Hands the listener out, to be called from any OS thread."""

    def __init__(self) -> None:
        super().__init__()
        self.listener: Listener | None = None

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        self.listener = listener
        return super().subscribe(listener)


def _event(number: int) -> Event:
    return ThreadDeleted(thread_id=ThreadId(str(number)))


def test_5000_events_from_another_os_thread_arrive_in_order_on_the_gui_thread(
    qtbot: QtBot,
) -> None:
    source = _Source()
    link = RuntimeLink(source)
    arrived: list[int] = []
    threads: set[int] = set()

    def take(event: object) -> None:
        assert isinstance(event, ThreadDeleted)
        arrived.append(int(event.thread_id))
        threads.add(threading.get_ident())

    link.event_arrived.connect(take)
    listener = source.listener
    assert listener is not None

    def send() -> None:
        for number in range(5000):
            listener(_event(number))

    sender = threading.Thread(target=send)
    sender.start()
    qtbot.waitUntil(lambda: len(arrived) == 5000)
    sender.join()

    assert arrived == list(range(5000))
    assert threads == {threading.get_ident()}
    link.close()


def test_after_close_nothing_arrives(qtbot: QtBot) -> None:
    source = _Source()
    link = RuntimeLink(source)
    arrived: list[object] = []
    link.event_arrived.connect(arrived.append)
    assert source.listener is not None

    source.listener(_event(1))
    link.close()
    source.listener(_event(2))
    qtbot.wait(1)

    assert arrived == []


def test_20000_void_calls_do_not_wear_the_interpreter_out(qtbot: QtBot) -> None:
    """PySide6 6.12.0 loses a reference to None at each on CPython 3.10 and 3.11."""
    widget = QWidget()
    qtbot.addWidget(widget)

    for _ in range(20_000):
        widget.update()

    assert widget.isHidden()


def test_5000_queued_signals_of_one_object_cross_threads(qtbot: QtBot) -> None:
    class Sender(QObject):
        sent = Signal(object)

    sender = Sender()
    count: list[object] = []
    sender.sent.connect(count.append, Qt.ConnectionType.QueuedConnection)

    def send() -> None:
        for number in range(5000):
            sender.sent.emit(number)

    thread = threading.Thread(target=send)
    thread.start()
    qtbot.waitUntil(lambda: len(count) == 5000)
    thread.join()

    assert count == list(range(5000))
