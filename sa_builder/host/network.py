"""Test mode keeps its word: no connection but through `state.http`."""

from __future__ import annotations

import socket
import sys
from contextvars import ContextVar
from typing import Any, cast

call_test_mode: ContextVar[bool | None] = ContextVar("call_test_mode", default=None)
"""Whether the running call is in test mode; None outside of any call."""


class ConnectionRefusedInTestMode(PermissionError):
    """User code tried to reach the network while everything must come from mocks."""


class NetworkRule:
    """Refuses outbound connections of user code in test mode.

    An audit hook sees every connection made through Python's own sockets; a library that
    connects by itself, in C, is not seen.
    """

    def __init__(self) -> None:
        self.test_mode = False
        """For code outside of any call: imports, and OS threads that user code began."""

    def install(self) -> None:
        """Watch from now on; there is no way to stop an audit hook."""
        sys.addaudithook(self._on_event)

    def _on_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        where: object
        if not event.startswith("socket."):
            return
        match event:
            case "socket.connect" | "socket.sendto" | "socket.sendmsg":
                if getattr(arguments[0], "family", None) == getattr(socket, "AF_UNIX", object()):
                    return
                where = arguments[1]
            case "socket.getaddrinfo" | "socket.gethostbyname" | "socket.gethostbyaddr":
                where = arguments[0]
            case _:
                return
        if where is None:
            return  # a wildcard, or a socket that is connected already
        in_call = call_test_mode.get()
        if self.test_mode if in_call is None else in_call:
            raise ConnectionRefusedInTestMode(
                f"Test mode is on, so the connection to {_shown(where)} was refused. Make the "
                "request through state.http, which is answered from agents/mocks."
            )


def _shown(where: object) -> str:
    if isinstance(where, tuple):
        parts = cast(tuple[object, ...], where)[:2]
        return ":".join(str(part) for part in parts)
    return where.decode("utf-8", "replace") if isinstance(where, bytes) else str(where)
