"""Sees, within a second, that somebody else changed a definition file."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from sa_builder.project.layout import snapshot

INTERVAL_S: Final = 0.4


class Watcher:
    """Looks at the folders again and again; survives atomic saves, checkouts and vanishing.

    Stats, not system events: they see network folders and replaced files alike, and looking at
    1,000 files takes a few milliseconds.
    """

    def __init__(
        self, root: Path, on_change: Callable[[], None], *, interval_s: float = INTERVAL_S
    ) -> None:
        """Prepare; nothing runs before `start`.

        Args:
            on_change: called on the watcher's own OS thread when a file changed, came or went.
            interval_s: seconds between two looks.
        """
        self._root = root
        self._on_change = on_change
        self._interval_s = interval_s
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look, in an OS thread of its own."""
        if self._thread is not None:
            return
        self._stopped.clear()
        self._thread = threading.Thread(
            target=self._watch, args=(snapshot(self._root),), name="project-watch", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """End it; returns when no further call will come."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._stopped.set()
        if thread is not threading.current_thread():
            thread.join()

    def _watch(self, before: object) -> None:
        while not self._stopped.wait(self._interval_s):
            now = snapshot(self._root)
            if now != before:
                before = now
                self._on_change()
