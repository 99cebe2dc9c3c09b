"""One code host process as the runtime holds it: started, spoken to, killed, reaped."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sa_builder.util.frames import BrokenFrame, FrameReader, pack

_TAIL_BYTES = 16 * 1024
_REAP_EVERY_S = 0.002
_OWN_FOLDER = Path(__file__).resolve().parents[2]
"""The folder that holds the package `sa_builder`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A Python that a code host may be started with."""

    python: Path
    is_own: bool
    """Whether it is the application's own, which may not have `sa_builder` installed."""

    def command(self, *, channel: int, lifeline: int, project: Path) -> Sequence[str]:
        """The whole command line."""
        own = str(_OWN_FOLDER)
        wishes = ["--channel", str(channel), "--lifeline", str(lifeline), "--project", str(project)]
        if self.is_own and getattr(sys, "frozen", False):
            return [str(self.python), "--host", *wishes]
        start = [str(self.python), "-P", "-u", "-X", "utf8", "-m", "sa_builder.host", *wishes]
        return [*start, "--own-path", own] if self.is_own else start

    def environment(self) -> Mapping[str, str]:
        """The process environment, with our own package on the path where it must be."""
        environment = dict(os.environ)
        if self.is_own and not getattr(sys, "frozen", False):
            others = environment.get("PYTHONPATH")
            environment["PYTHONPATH"] = os.pathsep.join(
                [str(_OWN_FOLDER), *([others] if others else [])]
            )
        return environment


def interpreters_for(project: Path) -> Sequence[Interpreter]:
    """The project's own interpreter, if it has one, then the application's."""
    own = Interpreter(python=Path(sys.executable), is_own=True)
    for place in (("bin", "python"), ("Scripts", "python.exe")):
        candidate = project.joinpath(".venv", *place)
        if candidate.is_file() and candidate.parent != own.python.parent:
            return [Interpreter(python=candidate, is_own=False), own]
    return [own]


class HostProcess(asyncio.Protocol):
    """A running code host; lives on one event loop.

    The process leads a group of its own, so that killing it also ends what user code began.
    """

    def __init__(
        self, *, on_frame: Callable[[dict[str, Any]], None], on_end: Callable[[HostProcess], None]
    ) -> None:
        """Keep who listens.

        Args:
            on_frame: called with each frame, in order.
            on_end: called once, when the process is gone and reaped.
        """
        self._on_frame = on_frame
        self._on_end = on_end
        self._frames = FrameReader()
        self._tail = _Tail()
        self._transport: asyncio.Transport | None = None
        self._errors: asyncio.BaseTransport | None = None
        self._lifeline: int | None = None
        self._popen: subprocess.Popen[bytes] | None = None
        self._gone = asyncio.Event()
        self.reason: str | None = None
        """Why we ended it; None when it ended by itself."""

    async def start(self, interpreter: Interpreter, project: Path) -> None:
        """Start the process and connect to it.

        Raises:
            OSError: the interpreter cannot be started.
        """
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        life_read, life_write = os.pipe()
        error_read, error_write = os.pipe()
        self._lifeline = life_write
        try:
            self._popen = subprocess.Popen(  # noqa: ASYNC220 - a fork and exec, some 3 ms
                interpreter.command(channel=theirs.fileno(), lifeline=life_read, project=project),
                stdin=subprocess.DEVNULL,
                stdout=error_write,
                stderr=error_write,
                pass_fds=(theirs.fileno(), life_read),
                cwd=project,
                env=interpreter.environment(),
                start_new_session=True,
            )
        except OSError:
            ours.close()
            os.close(error_read)
            os.close(life_write)
            self._lifeline = None
            raise
        finally:
            theirs.close()
            os.close(life_read)
            os.close(error_write)
        self._errors, _ = await loop.connect_read_pipe(
            lambda: self._tail, os.fdopen(error_read, "rb", buffering=0)
        )
        await loop.create_unix_connection(lambda: self, sock=ours)

    @property
    def is_alive(self) -> bool:
        """Whether frames can still be sent."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def has_exited(self) -> bool:
        """Whether the process itself is gone, even if a child of it holds the channel open."""
        return self._popen is not None and self._popen.poll() is not None

    def send(self, frame: Mapping[str, Any]) -> None:
        """Send one frame; one to a host that is already gone is lost, and `on_end` tells why."""
        if self._transport is not None and self.is_alive:
            self._transport.write(pack(frame))

    def kill(self, reason: str) -> None:
        """End the process and all it began, at once."""
        if self.reason is None:
            self.reason = reason
        self._kill_group()
        if self._transport is not None:
            self._transport.abort()

    async def wait_gone(self) -> None:
        """Return once the process is reaped and everything of it is closed."""
        await self._gone.wait()

    def how_it_ended(self) -> str:
        """In words: "exit code 3", "signal SIGSEGV"."""
        code = self._popen.returncode if self._popen is not None else None
        if code is None:
            return "no exit code"
        if code >= 0:
            return f"exit code {code}"
        try:
            return f"signal {signal.Signals(-code).name}"
        except ValueError:
            return f"signal {-code}"

    def last_words(self) -> str:
        """The end of what the process itself, not a call in it, wrote to stderr and stdout."""
        return self._tail.text()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        try:
            for frame in self._frames.feed(data):
                self._on_frame(frame)
        except BrokenFrame as error:
            self.kill(f"The code host sent {error}.")

    def connection_lost(self, exc: Exception | None) -> None:
        # The host never closes its end itself: it is exiting, and what it began goes with it.
        self._kill_group()
        self._reap()

    def _reap(self) -> None:
        if self._popen is not None and self._popen.poll() is None:
            asyncio.get_running_loop().call_later(_REAP_EVERY_S, self._reap)
            return
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None
        if self._errors is not None:
            self._errors.close()
        self._gone.set()
        self._on_end(self)

    def _kill_group(self) -> None:
        if self._popen is None or self._popen.returncode is not None:
            return
        try:
            os.killpg(self._popen.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return  # nothing is left of the group


class _Tail(asyncio.Protocol):
    """Keeps the end of what is written."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def data_received(self, data: bytes) -> None:
        self._kept += data
        del self._kept[:-_TAIL_BYTES]

    def text(self) -> str:
        return self._kept.decode("utf-8", "replace").strip()
