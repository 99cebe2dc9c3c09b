"""An OpenAI-compatible model and GitHub on loopback: answers as mocks do, and counts."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from sa_builder.providers.mocks import MockBook

_CHILD = "You triage a single GitHub issue."


class ModelServer:
    """Answers over HTTP until it is closed.

    A model call is named by whose it is and how many tool results it carries: "child 1" is the
    child's second. Any other is named by its method and path.
    """

    def __init__(self, mocks: Path) -> None:
        """Listen.

        Args:
            mocks: the folder that the answers come from.
        """
        self.calls: Counter[str] = Counter()
        self.held: str | None = None
        """The call that is left waiting; it is never answered."""
        self.is_holding = threading.Event()
        self._closing = threading.Event()
        self._book = MockBook.load(mocks)
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.answer(self)

            def do_POST(self) -> None:
                outer.answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.block_on_close = True
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stop; every call in hand ends."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request as the mocks do; one that was cut off is none."""
        length = int(request.headers.get("content-length", 0))
        body = request.rfile.read(length)
        if len(body) < length:
            return
        name = _name_of(body) or f"{request.command} {request.path}"
        with self._lock:
            self.calls[name] += 1
            found = self._book.answer(request.command, request.path, body)
        if name == self.held:
            self.is_holding.set()
            self._closing.wait()
            return
        with contextlib.suppress(ConnectionError):  # who asked may have been killed since
            request.send_response(found.status)
            for header, value in found.headers.items():
                request.send_header(header, value)
            request.send_header("content-length", str(len(found.body)))
            request.end_headers()
            for piece in found.pieces:
                request.wfile.write(piece)


def _name_of(body: bytes) -> str | None:
    """The call's name; None when it is none of a model."""
    try:
        wish: dict[str, Any] = json.loads(body)
        messages: list[dict[str, Any]] = wish["messages"]
    except (ValueError, KeyError):
        return None
    who = "child" if _CHILD in body.decode() else "parent"
    return f"{who} {sum(1 for message in messages if message['role'] == 'tool')}"
