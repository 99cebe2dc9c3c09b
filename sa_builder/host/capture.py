"""stdout, stderr and logging of user code, kept by the call that wrote them."""

from __future__ import annotations

import io
import logging
import sys
import threading
from collections.abc import Iterable
from contextvars import ContextVar
from typing import TextIO

MOST_BYTES = 64 * 1024

current_output: ContextVar[Output | None] = ContextVar("current_output", default=None)
"""Where this call's output goes; None outside of any call."""


class Output:
    """What one call wrote, from any OS thread, up to 64 KiB."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pieces: list[str] = []
        self._bytes = 0
        self._is_full = False

    def write(self, text: str) -> None:
        """Keep some text; beyond the cap only the fact that there was more."""
        piece = text.encode("utf-8", "replace")
        with self._lock:
            if self._is_full:
                return
            room = MOST_BYTES - self._bytes
            if len(piece) > room:
                self._is_full = True
                text = piece[:room].decode("utf-8", "ignore")
            self._bytes += min(len(piece), room)
            self._pieces.append(text)

    def text(self) -> str:
        """All of it, with a last line that says when there was more."""
        with self._lock:
            whole = "".join(self._pieces)
            return f"{whole}\n… output beyond 64 KiB is left out" if self._is_full else whole


class CallStream(io.TextIOBase):
    """Stands in for sys.stdout or sys.stderr and knows whose call is writing."""

    def __init__(self, outside: TextIO) -> None:
        """Keep where text goes that belongs to no call."""
        self._outside = outside

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return "utf-8"

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._outside.fileno()

    def write(self, text: str) -> int:
        output = current_output.get()
        if output is None:
            self._outside.write(text)
        else:
            output.write(text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        if current_output.get() is None:
            self._outside.flush()


class _CallLog(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
        except Exception:  # the standard way to say that a log call itself is wrong
            self.handleError(record)
            return
        sys.stderr.write(f"{line}\n")


def start_capturing() -> None:
    """From now on user code's output belongs to its call."""
    sys.stdout = CallStream(sys.stdout)
    sys.stderr = CallStream(sys.stderr)
    log = _CallLog()
    log.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[log])
    for chatty in ("httpx", "httpcore", "asyncio"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
