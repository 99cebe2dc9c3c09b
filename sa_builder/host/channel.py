"""The host's end of the private channel: frames in, frames out, and questions to the runtime."""

from __future__ import annotations

import itertools
import socket
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from typing import Any

from sa_builder.util.frames import FrameReader, pack

_READ_BYTES = 256 * 1024


class StateError(LookupError):
    """What the runtime answered when it could not do what user code asked of its thread."""


class Channel:
    """Sends from any OS thread; received by one, which never runs user code."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._sending = threading.Lock()
        self._numbers = itertools.count(1)
        self._asked: dict[int, Future[Any]] = {}

    def send(self, frame: Mapping[str, Any]) -> None:
        """Send one frame, waiting while the runtime is slow to read.

        Raises:
            TypeError: a value in it is not JSON.
            OSError: the runtime is gone.
        """
        packed = pack(frame)
        with self._sending:
            self._sock.sendall(packed)

    def receive(self) -> Iterator[dict[str, Any]]:
        """Frames as they come, until the runtime closes its end or dies."""
        frames = FrameReader()
        while True:
            try:
                piece = self._sock.recv(_READ_BYTES)
            except OSError:
                return  # a reset is the same news as an end
            if not piece:
                return
            yield from frames.feed(piece)

    def ask(
        self, *, call_id: str, thread_id: str, method: str, arguments: Mapping[str, Any]
    ) -> Future[Any]:
        """Ask the runtime to do something to a thread; the answer, or `StateError`, comes later.

        Raises:
            TypeError: an argument is not JSON.
        """
        number = next(self._numbers)
        answer: Future[Any] = Future()
        self._asked[number] = answer
        try:
            self.send(
                {
                    "op": "state",
                    "id": number,
                    "call_id": call_id,
                    "thread_id": thread_id,
                    "method": method,
                    "arguments": arguments,
                }
            )
        except BaseException:
            self._asked.pop(number, None)
            raise
        return answer

    def settle(self, frame: Mapping[str, Any]) -> None:
        """Hand an answer to whoever asked; one who no longer waits is left alone."""
        answer = self._asked.pop(int(frame["id"]), None)
        if answer is None or not answer.set_running_or_notify_cancel():
            return
        error = frame.get("error")
        if error is None:
            answer.set_result(frame.get("result"))
        else:
            answer.set_exception(StateError(str(error)))
