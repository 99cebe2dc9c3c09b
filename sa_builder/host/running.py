"""Runs tools and handlers: sync functions in worker OS threads, coroutines on the loop."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from sa_builder.host.capture import current_output
from sa_builder.host.channel import Channel
from sa_builder.host.network import call_test_mode
from sa_builder.host.outcome import invalid_arguments, outcome_of, outcome_of_error
from sa_builder.host.scope import CallScope
from sa_builder.host.state import AsyncThreadState, BlockingThreadState, ConnectionsSource
from sa_builder.spec.host_wire import HostCall, HostOutcome

_MOST_WORKERS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Runnable:
    """A function of a definition, and how it wants to be called."""

    name: str
    path: str
    function: Callable[..., Any]
    arguments_model: type[BaseModel] | None
    """Of a tool: what its arguments are validated against; None passes them as a dict."""
    positions: int
    """How many of (state, arguments) or (state, message) it takes."""
    is_async: bool


def positions_of(function: Callable[..., Any]) -> int:
    """How many positional arguments, at most two, a function takes."""
    taken = 0
    for parameter in inspect.signature(function).parameters.values():
        match parameter.kind:
            case inspect.Parameter.VAR_POSITIONAL:
                return 2
            case inspect.Parameter.POSITIONAL_ONLY | inspect.Parameter.POSITIONAL_OR_KEYWORD:
                taken += 1
            case _:
                pass
    return min(taken, 2)


Runnables = Mapping[tuple[str, str], Runnable]
"""(kind, name) → what to run."""


class Calls:
    """The calls under way in this process."""

    def __init__(
        self,
        *,
        channel: Channel,
        loop: asyncio.AbstractEventLoop,
        runnables: Callable[[], Runnables],
    ) -> None:
        self._channel = channel
        self._loop = loop
        self._runnables = runnables
        self._workers = ThreadPoolExecutor(_MOST_WORKERS, thread_name_prefix="user-code")
        self._connections = ConnectionsSource()
        self._lock = threading.Lock()
        self._scopes: dict[str, CallScope] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def count(self) -> int:
        """How many run now."""
        with self._lock:
            return len(self._scopes)

    def begin(self, call: HostCall) -> None:
        """Start a call; called on the receiving OS thread, which must not wait for it."""
        runnable = self._runnables().get((call.kind, call.name))
        if runnable is None:
            self._tell(call.call_id, _missing(call))
            return
        scope = CallScope(
            channel=self._channel,
            call_id=call.call_id,
            thread_id=call.snapshot.thread_id,
            test_mode=call.test_mode,
        )
        with self._lock:
            self._scopes[call.call_id] = scope
        if runnable.is_async:
            self._loop.call_soon_threadsafe(self._start_task, call, runnable, scope)
        else:
            context = contextvars.Context()
            self._workers.submit(context.run, self._run_sync, call, runnable, scope)

    def cancel(self, call_id: str) -> None:
        """Ask a call to end; called on the receiving OS thread."""
        with self._lock:
            scope = self._scopes.get(call_id)
        if scope is not None:
            scope.cancel()
            self._loop.call_soon_threadsafe(self._cancel_task, call_id)

    def holding_the_loop(self) -> str | None:
        """The call whose coroutine runs at this moment, seen from another OS thread."""
        task = asyncio.current_task(self._loop)
        for call_id, running in tuple(self._tasks.items()):
            if running is task:
                return call_id
        return None

    def cancel_all(self) -> None:
        """Ask every call to end; on the loop."""
        with self._lock:
            scopes = tuple(self._scopes.values())
        for scope in scopes:
            scope.cancel()
            self._cancel_task(scope.call_id)

    def _start_task(self, call: HostCall, runnable: Runnable, scope: CallScope) -> None:
        if scope.is_cancelled:
            self._end(scope, _cancelled(scope))
            return
        task = self._loop.create_task(
            self._run_async(call, runnable, scope), context=contextvars.Context()
        )
        self._tasks[call.call_id] = task

    def _cancel_task(self, call_id: str) -> None:
        task = self._tasks.get(call_id)
        if task is not None:
            task.cancel()

    async def _run_async(self, call: HostCall, runnable: Runnable, scope: CallScope) -> None:
        outcome: HostOutcome
        try:
            _enter(scope)
            state = AsyncThreadState(call.snapshot, scope, self._connections)
            given = _arguments(call, runnable, state)
            returned = await runnable.function(*given)
            outcome = outcome_of(returned, captured_output=scope.output.text())
        except BaseException as error:  # user code may raise anything; all of it is data
            outcome = _failed(error, runnable, scope)
        self._tasks.pop(call.call_id, None)
        self._end(scope, outcome)

    def _run_sync(self, call: HostCall, runnable: Runnable, scope: CallScope) -> None:
        outcome: HostOutcome
        try:
            _enter(scope)
            state = BlockingThreadState(call.snapshot, scope, self._connections)
            given = _arguments(call, runnable, state)
            returned = runnable.function(*given)
            if inspect.iscoroutine(returned):
                returned = asyncio.run_coroutine_threadsafe(returned, self._loop).result()
            outcome = outcome_of(returned, captured_output=scope.output.text())
        except BaseException as error:  # user code may raise anything; all of it is data
            outcome = _failed(error, runnable, scope)
        self._end(scope, outcome)

    def _end(self, scope: CallScope, outcome: HostOutcome) -> None:
        with self._lock:
            self._scopes.pop(scope.call_id, None)
        self._tell(scope.call_id, outcome)

    def _tell(self, call_id: str, outcome: HostOutcome) -> None:
        try:
            self._channel.send({"op": "outcome", "call_id": call_id, "outcome": _plain(outcome)})
        except ValueError as error:
            too_long = HostOutcome(status="error", error=str(error), error_type="unusable_result")
            self._channel.send({"op": "outcome", "call_id": call_id, "outcome": _plain(too_long)})
        except OSError:
            return  # the runtime is gone, and this process goes with it


def _plain(outcome: HostOutcome) -> dict[str, Any]:
    return outcome.model_dump(mode="json", exclude_defaults=True) | {"status": outcome.status}


def _enter(scope: CallScope) -> None:
    current_output.set(scope.output)
    call_test_mode.set(scope.test_mode)


def _arguments(call: HostCall, runnable: Runnable, state: object) -> Sequence[object]:
    """What the function is called with: as many of (state, arguments or message) as it takes."""
    if call.kind == "handler":
        second: object = call.message
    elif runnable.arguments_model is not None:
        second = runnable.arguments_model.model_validate(dict(call.arguments or {}))
    else:
        second = dict(call.arguments or {})
    return (state, second)[: runnable.positions]


def _failed(error: BaseException, runnable: Runnable, scope: CallScope) -> HostOutcome:
    if scope.is_cancelled and isinstance(error, asyncio.CancelledError):
        return _cancelled(scope)
    if isinstance(error, ValidationError) and error.__traceback__ is not None:
        at_arguments = error.__traceback__.tb_next
        if at_arguments is not None and at_arguments.tb_frame.f_code is _arguments.__code__:
            return invalid_arguments(runnable.name, error)
    return outcome_of_error(error, captured_output=scope.output.text(), our_frames=1)


def _cancelled(scope: CallScope) -> HostOutcome:
    return HostOutcome(
        status="error",
        error="It was stopped.",
        error_type="cancelled",
        captured_output=scope.output.text(),
    )


def _missing(call: HostCall) -> HostOutcome:
    return HostOutcome(
        status="error",
        error=f"The project has no {call.kind} {call.name} that loads.",
        error_type="not_loaded",
    )
