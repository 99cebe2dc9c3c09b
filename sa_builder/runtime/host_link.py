"""The runtime's side of the code host: calls go out, outcomes come back, whatever code does."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from pydantic_core import to_jsonable_python

from sa_builder.errors import HostError, KnownError
from sa_builder.runtime.host_process import HostProcess, Interpreter, interpreters_for
from sa_builder.spec.host_wire import HostCall, HostManifest, HostOutcome
from sa_builder.util.frames import PROTOCOL

_log = logging.getLogger(__name__)

_START_LIMIT_S: Final = 30.0
_CANCEL_GRACE_S: Final = 2.0
_ANSWER_LIMIT_S: Final = 0.15
_TICK_S: Final = 1.0
_MOST_FATAL_FILES: Final = 8


class StateServer(Protocol):
    """Does what user code asks of its thread."""

    async def serve(
        self, call_id: str, thread_id: str, method: str, arguments: Mapping[str, Any]
    ) -> Any:
        """Answer one method of ThreadState, or "http" in test mode.

        Returns:
            JSON, or pydantic models of it; a thread is answered as its `StateSnapshot`.

        Raises:
            KnownError: it cannot be done; user code gets the sentence as a `LookupError`.
        """
        ...


@dataclass(slots=True, kw_only=True)
class _Running:
    """A call under way."""

    call: HostCall
    process: HostProcess
    outcome: asyncio.Future[HostOutcome]
    started_at: float
    """On the loop's clock, seconds."""
    timed_out: bool = False
    timers: list[asyncio.TimerHandle] = field(default_factory=list[asyncio.TimerHandle])
    serving: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def words(self) -> str:
        return f"{self.call.kind} {self.call.name}"


@dataclass(slots=True, kw_only=True)
class _Loading:
    """A load under way."""

    answer: asyncio.Future[Mapping[str, Any] | None]
    path: str | None = None
    """The file that is being imported now."""
    fingerprint: str = ""
    said_at: float = 0.0


class HostLink:
    """One project's code host, started when it is needed and again when it died.

    All methods belong to one event loop. User code can neither block this loop nor take longer
    to stop than the grace it is given.
    """

    def __init__(
        self,
        *,
        project_root: Path,
        state_server: StateServer,
        python: Path | None = None,
        blocked_limit_s: float = 30.0,
        import_limit_s: float = 30.0,
    ) -> None:
        """Keep the wishes; nothing is started yet.

        Args:
            python: the interpreter to use instead of the project's own or the application's.
            blocked_limit_s: how long a coroutine may keep the loop from turning.
            import_limit_s: how long the import of one file may take.
        """
        self._root = project_root
        self._server = state_server
        self._interpreters = (
            list(interpreters_for(project_root))
            if python is None
            else [Interpreter(python=python, is_own=True)]
        )
        self._blocked_limit_s = blocked_limit_s
        self._import_limit_s = import_limit_s
        self._process: HostProcess | None = None
        self._hello: asyncio.Future[int] | None = None
        self._readying = asyncio.Lock()
        self._running: dict[str, _Running] = {}
        self._numbers = itertools.count(1)
        self._loading: _Loading | None = None
        self._skipped: dict[str, str] = {}
        self._manifest: HostManifest | None = None
        self._loaded_by: HostProcess | None = None
        self._test_mode = False
        self._tick: asyncio.TimerHandle | None = None
        self._pinged_at: float | None = None
        self._accused: _Accusation | None = None
        self._closed = False

    async def refresh(self, *, test_mode: bool) -> HostManifest:
        """Load what changed on the disk since last time, starting the host if it is not running.

        Raises:
            HostError: no interpreter can run it, or it dies whatever is left out.
        """
        async with self._readying:
            self._test_mode = test_mode
            return await self._load_surviving()

    async def call(self, call: HostCall) -> HostOutcome:
        """Run a tool or handler; every way in which it can end is an outcome.

        Cancelling the awaiting task cancels the call as `cancel` does.

        Raises:
            HostError: the host cannot be started.
        """
        process = self._process
        if process is None or process is not self._loaded_by or not process.is_alive:
            async with self._readying:
                await self._load_surviving()
                process = self._process
        assert process is not None
        loop = asyncio.get_running_loop()
        running = _Running(
            call=call, process=process, outcome=loop.create_future(), started_at=loop.time()
        )
        self._running[call.call_id] = running
        if call.timeout_s is not None:
            running.timers.append(loop.call_later(call.timeout_s, self._on_timeout, running))
        if self._tick is None:
            self._tick = loop.call_later(_TICK_S, self._on_tick)
        process.send({"op": "call", "call": call.model_dump(mode="json")})
        try:
            return await running.outcome
        except asyncio.CancelledError:
            self.cancel(call.call_id)
            raise

    def cancel(self, call_id: str) -> None:
        """Ask a call to end; what has not ended 2 s later is killed, the host with it."""
        running = self._running.get(call_id)
        if running is None:
            return
        for task in running.serving:
            task.cancel()
        running.process.send({"op": "cancel", "call_id": call_id})
        loop = asyncio.get_running_loop()
        running.timers.append(loop.call_later(_CANCEL_GRACE_S, self._on_grace_over, running))

    async def close(self, deadline_s: float = 2.0) -> None:
        """End the host, hanging or not, within the deadline; calls under way are cancelled."""
        self._closed = True
        if self._tick is not None:
            self._tick.cancel()
        process = self._process
        serving = [task for running in self._running.values() for task in running.serving]
        for task in serving:
            task.cancel()
        if process is not None:
            process.send({"op": "stop"})
            try:
                await asyncio.wait_for(process.wait_gone(), deadline_s * 0.8)
            except TimeoutError:
                process.kill("The project was closed.")
                await process.wait_gone()
        await asyncio.gather(*serving, return_exceptions=True)

    # starting and loading

    async def _load_surviving(self) -> HostManifest:
        """Load; a file whose import ends or blocks the host is left out, and the rest loaded."""
        last = "nothing of the project"
        for _ in range(_MOST_FATAL_FILES):
            process = await self._started()
            loading = _Loading(answer=asyncio.get_running_loop().create_future())
            others_ran = bool(self._running)
            manifest = await self._load(process, loading)
            if manifest is not None:
                return manifest
            last = loading.path or last
            _log.warning(
                "The code host ended (%s) while it imported %s%s",
                process.how_it_ended(),
                last,
                _final_line(process.last_words()),
            )
            if loading.path is not None and not others_ran:
                self._skipped[loading.path] = loading.fingerprint
        raise HostError(
            "The project cannot be loaded: the code host ends each time it imports it.",
            act=f"It was last importing {last}.",
            code="host.fatal_imports",
        )

    async def _load(self, process: HostProcess, loading: _Loading) -> HostManifest | None:
        """One load; None when the host died of it."""
        loop = asyncio.get_running_loop()
        loading.said_at = loop.time()
        self._loading = loading
        generation = 0 if self._manifest is None else self._manifest.generation
        process.send(
            {
                "op": "load",
                "test_mode": self._test_mode,
                "generation": generation,
                "skipped": self._skipped,
            }
        )
        try:
            while not loading.answer.done():
                left_s = loading.said_at + self._import_limit_s - loop.time()
                if left_s <= 0:
                    process.kill(f"The import of {loading.path} did not end.")
                    await process.wait_gone()
                    return None
                await asyncio.wait([loading.answer], timeout=left_s)
        finally:
            self._loading = None
        if loading.answer.cancelled():
            await process.wait_gone()
            return None
        plain = loading.answer.result()
        if plain is not None:
            self._manifest = HostManifest.model_validate(plain)
        assert self._manifest is not None
        self._loaded_by = process
        return self._manifest

    async def _started(self) -> HostProcess:
        """The running host, started if there is none.

        Raises:
            HostError: no interpreter can run it.
        """
        if self._process is not None and not self._process.is_alive:
            await self._process.wait_gone()
        if self._closed:
            raise HostError("The project is closed.", code="host.closed")
        if self._process is not None:
            return self._process
        while True:
            process = HostProcess(on_frame=self._on_frame, on_end=self._on_end)
            trouble = await self._start(process, self._interpreters[0])
            if trouble is None:
                return process
            if len(self._interpreters) == 1 or self._closed:
                raise HostError(f"The code host cannot start: {trouble}", code="host.cannot_start")
            _log.info("%s cannot run the project: %s", self._interpreters[0].python, trouble)
            del self._interpreters[0]

    async def _start(self, process: HostProcess, interpreter: Interpreter) -> str | None:
        """Start one process and hear its first word; gives why it did not work."""
        hello: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._hello = hello
        try:
            await process.start(interpreter, self._root)
        except OSError as error:
            return f"{interpreter.python}: {error.strerror}."
        self._process = process
        await asyncio.wait([hello], timeout=_START_LIMIT_S)
        if hello.done() and not hello.cancelled() and hello.result() == PROTOCOL:
            return None
        process.kill("It did not say hello.")
        await process.wait_gone()
        if hello.done() and not hello.cancelled():
            return "its sa_builder is of another version."
        said = process.last_words().rsplit("\n", 1)[-1]
        return f"it ended at once, {process.how_it_ended()}. {said}".strip()

    # what comes from the host

    def _on_frame(self, frame: dict[str, Any]) -> None:
        match frame["op"]:
            case "outcome":
                outcome = HostOutcome.model_validate(frame["outcome"])
                self._finish(str(frame["call_id"]), outcome)
            case "state":
                self._on_state(frame)
            case "importing":
                if self._loading is not None:
                    self._loading.path = str(frame["path"])
                    self._loading.fingerprint = str(frame["fingerprint"])
                    self._loading.said_at = asyncio.get_running_loop().time()
            case "loaded":
                if self._loading is not None and not self._loading.answer.done():
                    self._loading.answer.set_result(frame["manifest"])
            case "hello":
                if self._hello is not None and not self._hello.done():
                    self._hello.set_result(int(frame["protocol"]))
            case "pong":
                self._pinged_at = None
            case "holding":
                self._judge(frame["call_id"])
            case unknown:
                _log.error("The code host sent a frame of an unknown kind, %r.", unknown)

    def _on_state(self, frame: dict[str, Any]) -> None:
        process = self._process
        running = self._running.get(str(frame["call_id"]))
        if process is None:
            return
        if running is None:
            said = "The call that this state belongs to has ended."
            process.send({"op": "state_answer", "id": frame["id"], "error": said})
            return
        task = asyncio.get_running_loop().create_task(self._serve(process, frame))
        running.serving.add(task)
        task.add_done_callback(running.serving.discard)

    async def _serve(self, process: HostProcess, frame: Mapping[str, Any]) -> None:
        answer: dict[str, Any] = {"op": "state_answer", "id": frame["id"]}
        try:
            result = await self._server.serve(
                frame["call_id"], frame["thread_id"], frame["method"], frame["arguments"]
            )
            answer["result"] = to_jsonable_python(result)
        except KnownError as error:
            answer["error"] = error.text()
        except asyncio.CancelledError:
            answer["error"] = "The call was stopped."
            raise
        except Exception as error:
            _log.exception("A question of user code failed: %s", frame["method"])
            answer["error"] = f"{frame['method']} failed in the runtime: {error!r}."
        finally:
            process.send(answer)

    def _on_end(self, process: HostProcess) -> None:
        """The process is gone: everything that waited for it ends."""
        if self._process is process:
            self._process = None
            self._pinged_at = None
            self._accused = None
        if self._hello is not None and not self._hello.done():
            self._hello.cancel()
        if self._loading is not None and not self._loading.answer.done():
            self._loading.answer.cancel()
        ended = [running for running in self._running.values() if running.process is process]
        for running in ended:
            self._finish(running.call.call_id, self._died_with(process, running, len(ended)))

    def _died_with(self, process: HostProcess, running: _Running, count: int) -> HostOutcome:
        if self._closed:
            return HostOutcome(
                status="error",
                error=f"The project was closed while {running.words()} ran.",
                error_type="cancelled",
                unknown=True,
            )
        if process.reason is None:
            others = "" if count == 1 else f" and {count - 1} more"
            reason = (
                f"The code host died while {running.words()}{others} ran "
                f"({process.how_it_ended()})."
            )
        else:
            reason = process.reason
        return HostOutcome(
            status="error",
            error=f"{reason} Whether it took effect is not known.",
            error_type="host_died",
            traceback=process.last_words() or None,
            unknown=True,
        )

    def _finish(self, call_id: str, outcome: HostOutcome) -> None:
        running = self._running.pop(call_id, None)
        if running is None:
            return
        for timer in running.timers:
            timer.cancel()
        for task in running.serving:
            task.cancel()
        if running.timed_out and outcome.error_type == "cancelled":
            outcome = outcome.model_copy(
                update={
                    "error_type": "timeout",
                    "error": f"It did not end within {running.call.timeout_s:g} s and was stopped.",
                }
            )
        if not running.outcome.done():
            running.outcome.set_result(outcome)

    # what does not end by itself

    def _on_timeout(self, running: _Running) -> None:
        running.timed_out = True
        self.cancel(running.call.call_id)

    def _on_grace_over(self, running: _Running) -> None:
        asked = "its time was over" if running.timed_out else "it was told to stop"
        self._accuse(running.process, running, f"went on for {_CANCEL_GRACE_S:g} s after {asked}")

    def _on_tick(self) -> None:
        """Once a second while calls run: see that the host lives and its loop turns."""
        loop = asyncio.get_running_loop()
        self._tick = None
        process = self._process
        if process is None or not self._running:
            self._pinged_at = None
            return
        self._tick = loop.call_later(_TICK_S, self._on_tick)
        if process.has_exited:
            process.kill(f"The code host died ({process.how_it_ended()}).")
        elif self._pinged_at is None:
            self._pinged_at = loop.time()
            process.send({"op": "ping"})
        elif loop.time() - self._pinged_at > self._blocked_limit_s:
            self._accuse(
                process,
                None,
                f"kept all other coroutines waiting for {self._blocked_limit_s:g} s",
            )

    def _accuse(self, process: HostProcess, running: _Running | None, deed: str) -> None:
        """Have the host name the call that holds its loop, then end it; it has little time."""
        if self._accused is not None:
            return
        timer = asyncio.get_running_loop().call_later(_ANSWER_LIMIT_S, self._judge, None)
        self._accused = _Accusation(process=process, running=running, deed=deed, timer=timer)
        process.send({"op": "who"})

    def _judge(self, holding_call_id: str | None) -> None:
        accused, self._accused = self._accused, None
        if accused is None:
            return
        accused.timer.cancel()
        guilty = self._running.get(holding_call_id or "") or accused.running
        if guilty is None:
            accused.process.kill(f"The code host was ended: its loop was held and {accused.deed}.")
            return
        age_s = asyncio.get_running_loop().time() - guilty.started_at
        accused.process.kill(
            f"The code host was ended because {guilty.words()}, which had run for {age_s:.0f} s, "
            f"{accused.deed}."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Accusation:
    """Who is about to be ended, and why."""

    process: HostProcess
    running: _Running | None
    """The call that did not end; None when only the loop is known to be held."""
    deed: str
    timer: asyncio.TimerHandle


def _final_line(words: str) -> str:
    """What a process said last, as the end of a sentence."""
    lines = words.strip().splitlines()
    return f": {lines[-1].rstrip('.')}." if lines else "."
