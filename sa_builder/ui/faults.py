"""Faults of our own: a sentence for the person, the traceback for a file."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

from sa_builder.errors import KnownError

_MOST_LOG_BYTES = 2_000_000


class Faults(QObject):
    """Takes what nobody caught, from any OS thread.

    Signals:
        told: a sentence, str, on the GUI thread.
    """

    told = Signal(str)
    _met = Signal(str)

    def __init__(self, log_file: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._log_file = log_file
        self._met.connect(self._on_met, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Stand in for Python's own hooks until the process ends."""
        sys.excepthook = self._on_uncaught
        threading.excepthook = self._on_thread_uncaught

    def take_loop_context(self, loop: object, context: dict[str, Any]) -> None:
        """The exception handler of an asyncio loop."""
        error = context.get("exception")
        if isinstance(error, BaseException):
            self.take(error)
        else:
            self._write(str(context.get("message", "An event loop reported a fault.")))

    def take(self, error: BaseException) -> None:
        """Say a fault and keep its traceback."""
        if isinstance(error, KnownError):
            self._met.emit(error.text())
            return
        self._write("".join(traceback.format_exception(error)))
        kind = type(error).__name__
        self._met.emit(
            f"Something of ours went wrong ({kind}: {error}). "
            f"Its traceback is in {self._log_file}; please report it."
        )

    @Slot(str)
    def _on_met(self, sentence: str) -> None:
        self.told.emit(sentence)

    def _on_uncaught(
        self,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType | None,
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        self.take(error)

    def _on_thread_uncaught(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self.take(args.exc_value)

    def _write(self, text: str) -> None:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        try:
            self._log_file.parent.mkdir(parents=True, exist_ok=True)
            too_long = self._log_file.exists() and self._log_file.stat().st_size > _MOST_LOG_BYTES
            with self._log_file.open("w" if too_long else "a", encoding="utf-8") as file:
                file.write(f"{stamp}\n{text}\n")
        except OSError:
            print(text, file=sys.stderr)  # no file can be had: the terminal is what is left
