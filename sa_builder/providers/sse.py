"""Server-sent events, decoded from bytes.

Lines end with CR, LF or CRLF and with nothing else: the wider notion of a line that Python's
text methods have would cut JSON at U+2028 or U+0085.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSentEvent:
    """One event."""

    event: str
    """Its type; "message" when the stream does not say."""
    data: str


class SseDecoder:
    """Cuts bytes into events, however they are split on their way."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._searched: int = 0
        self._began = False
        self._skip_lf = False
        self._event = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> Iterator[ServerSentEvent]:
        """Take bytes and yield each event that is whole now."""
        self._waiting += piece
        if not self._began:
            if len(self._waiting) < len(_BOM) and _BOM.startswith(self._waiting):
                return
            self._began = True
            if self._waiting.startswith(_BOM):
                del self._waiting[: len(_BOM)]
        for line in self._lines():
            event = self._take(line)
            if event is not None:
                yield event

    def end(self) -> Iterator[ServerSentEvent]:
        """Yield what a stream left without its last empty line, which gateways do."""
        rest = bytes(self._waiting)
        self._waiting.clear()
        for line in (rest, b"") if rest else (b"",):
            event = self._take(line)
            if event is not None:
                yield event

    def _lines(self) -> Iterator[bytes]:
        waiting = self._waiting
        start = 0
        if self._skip_lf and waiting:
            self._skip_lf = False
            if waiting.startswith(b"\n"):
                start = 1
                self._searched = max(self._searched, 1)
        while (found := _LINE_END.search(waiting, max(start, self._searched))) is not None:
            line = bytes(waiting[start : found.start()])
            start = self._searched = found.end()
            # A CR that ends the piece may be the half of a CRLF; the LF is dropped when it comes.
            self._skip_lf = found.group() == b"\r" and start == len(waiting)
            yield line
        del waiting[:start]
        self._searched = len(waiting)

    def _take(self, line: bytes) -> ServerSentEvent | None:
        if not line:
            if not self._data:
                self._event = ""
                return None
            event = ServerSentEvent(event=self._event or "message", data="\n".join(self._data))
            self._event = ""
            self._data.clear()
            return event
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value.decode("utf-8", "replace"))
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        return None  # a comment, id, retry, or a field nobody knows
