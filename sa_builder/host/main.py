"""The code host: the child process in which a project's own code runs.

Its main OS thread runs the loop for coroutines; one OS thread receives frames and never runs
user code, so that it can always cancel, answer and, when the runtime is gone, end the process;
one imports the project; the others run sync functions.
"""

from __future__ import annotations

import argparse
import asyncio
import faulthandler
import fcntl
import os
import queue
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_CANCEL_GRACE_S = 0.2


def main(argv: Sequence[str] | None = None) -> int:
    """Serve one runtime until it says stop or goes away.

    Args:
        argv: `--channel FD --lifeline FD --project DIR [--own-path DIR]`; the process's own when
            None.
    """
    parser = argparse.ArgumentParser(prog="sa-builder --host")
    parser.add_argument("--channel", type=int, required=True)
    parser.add_argument("--lifeline", type=int, required=True)
    parser.add_argument("--project", type=Path, required=True)
    parser.add_argument("--own-path", default="")
    wishes = parser.parse_args(argv)
    _die_with_the_runtime(wishes.lifeline)
    faulthandler.enable()
    _put_own_path_last(wishes.own_path, wishes.project)
    os.set_inheritable(wishes.channel, False)
    return _serve(socket.socket(fileno=wishes.channel), wishes.project)


def _die_with_the_runtime(lifeline: int) -> None:
    """Have the kernel kill this process when the other end of a pipe is closed.

    Nobody ever writes to it. Unlike reading the channel to its end this also works while some C
    code holds the interpreter's lock. Where the system cannot do it, the channel's end remains.
    """
    os.set_inheritable(lifeline, False)
    set_signal = getattr(fcntl, "F_SETSIG", None)
    if set_signal is None:
        return
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, set_signal, signal.SIGKILL)
    flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
    fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC)


def _put_own_path_last(own_path: str, project: Path) -> None:
    """Let what user code imports come from the standard library and its packages first."""
    if own_path:
        rest = os.environ.get("PYTHONPATH", "").partition(os.pathsep)[2]
        if rest:
            os.environ["PYTHONPATH"] = rest
        else:
            os.environ.pop("PYTHONPATH", None)
        if own_path in sys.path:
            sys.path.remove(own_path)
            sys.path.append(own_path)
    sys.path.append(str(project))


def _serve(sock: socket.socket, project: Path) -> int:
    host = _Host(sock, project)
    sys.dont_write_bytecode = True  # from here on only user code is imported
    return asyncio.run(host.run())


class _Host:
    """Ties channel, project and calls together."""

    def __init__(self, sock: socket.socket, root: Path) -> None:
        from sa_builder.host.channel import Channel
        from sa_builder.host.loading import Project
        from sa_builder.host.network import NetworkRule

        self._channel = Channel(sock)
        self._project = Project(root)
        self._network = NetworkRule()
        self._loads: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    async def run(self) -> int:
        from sa_builder.host.capture import start_capturing
        from sa_builder.host.running import Calls
        from sa_builder.util.frames import PROTOCOL

        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        self._calls = Calls(
            channel=self._channel, loop=self._loop, runnables=self._project.runnables
        )
        self._project.install()
        self._network.install()
        start_capturing()
        for work in (self._receive, self._load_all):
            threading.Thread(target=_or_die, args=(work,), name=work.__name__, daemon=True).start()
        self._channel.send({"op": "hello", "protocol": PROTOCOL, "python": sys.version.split()[0]})
        await self._stopped.wait()
        if self._calls.count:
            self._calls.cancel_all()
            await asyncio.sleep(_CANCEL_GRACE_S)
        if self._calls.count:
            _end_at_once()
        return 0

    def _receive(self) -> None:
        """Take frames as they come; on an OS thread that nothing of the user's can block."""
        from sa_builder.spec.host_wire import HostCall

        for frame in self._channel.receive():
            match frame["op"]:
                case "call":
                    self._calls.begin(HostCall.model_validate(frame["call"]))
                case "state_answer":
                    self._channel.settle(frame)
                case "cancel":
                    self._calls.cancel(str(frame["call_id"]))
                case "load":
                    self._loads.put(frame)
                case "ping":
                    self._loop.call_soon_threadsafe(self._channel.send, {"op": "pong"})
                case "who":
                    guilty = self._calls.holding_the_loop()
                    self._channel.send({"op": "holding", "call_id": guilty})
                case "stop":
                    self._loop.call_soon_threadsafe(self._stopped.set)
                case unknown:
                    raise ValueError(f"a frame of an unknown kind, {unknown!r}")
        _end_at_once()

    def _load_all(self) -> None:
        """Do one load after the other; imports may take their time without holding up calls."""
        while True:
            frame = self._loads.get()
            self._network.test_mode = bool(frame["test_mode"])
            manifest = self._project.refresh(
                generation=int(frame["generation"]),
                skipped=frame["skipped"],
                on_import=self._say_import,
            )
            plain = None if manifest is None else manifest.model_dump(mode="json")
            self._channel.send({"op": "loaded", "manifest": plain})

    def _say_import(self, path: str, fingerprint: str) -> None:
        self._channel.send({"op": "importing", "path": path, "fingerprint": fingerprint})


def _or_die(work: Callable[[], None]) -> None:
    """Do the work of a host OS thread; without it the process is of no use to anybody."""
    try:
        work()
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
        _end_at_once()


def _end_at_once() -> None:
    """End this process and every process that user code began, without waiting for anything."""
    sys.stdout.flush()
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(0)
