"""The way of events from the runtime's OS thread to the views."""

from __future__ import annotations

import threading
from collections import deque

from PySide6.QtCore import QObject, Qt, Signal, Slot

from sa_builder.client.base import RuntimeClient
from sa_builder.spec.events import Event

_MOST_PER_WAKE = 400
"""After so many the GUI thread gets its turn at input and painting before the next ones."""


class RuntimeLink(QObject):
    """Carries events onto the GUI thread, in order, one wake-up for many.

    Signals:
        event_arrived: a spec.events.Event; always emitted on the GUI thread.
    """

    event_arrived = Signal(object)
    _woken = Signal()

    def __init__(self, client: RuntimeClient, parent: QObject | None = None) -> None:
        """Listen to a client from now until `close`."""
        super().__init__(parent)
        self._lock = threading.Lock()
        self._waiting: deque[Event] = deque()
        self._closed = False
        self._woken.connect(self._on_woken, Qt.ConnectionType.QueuedConnection)
        self._unsubscribe = client.subscribe(self._post)

    def close(self) -> None:
        """Stop listening and drop what waits."""
        self._unsubscribe()
        with self._lock:
            self._closed = True
            self._waiting.clear()

    def _post(self, event: Event) -> None:
        """Queue an event; runs on the runtime's OS thread and touches no Qt state."""
        with self._lock:
            if self._closed:
                return
            self._waiting.append(event)
            first = len(self._waiting) == 1
        if first:
            self._woken.emit()

    @Slot()
    def _on_woken(self) -> None:
        for _ in range(_MOST_PER_WAKE):
            with self._lock:
                if not self._waiting:
                    return
                event = self._waiting[0]
            self.event_arrived.emit(event)
            with self._lock:
                if self._waiting:
                    self._waiting.popleft()
        with self._lock:
            more = bool(self._waiting)
        if more:
            self._woken.emit()
