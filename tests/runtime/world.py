"""The engine with everything real but the models and the code host, which are scripted here."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sa_builder.errors import HostError, RuntimeRefused
from sa_builder.providers.base import (
    Chunk,
    ContentDelta,
    Exchange,
    ModelAnswer,
    ModelRequest,
    ProposedCall,
    Provider,
    ProviderError,
    Usage,
)
from sa_builder.providers.mocks import MockBook
from sa_builder.runtime.engine import Engine
from sa_builder.runtime.frame import TurnFrame
from sa_builder.runtime.state_server import ThreadStateServer
from sa_builder.runtime.view import ThreadView
from sa_builder.spec.definitions import AnyDefinition, ModelDefinition, ToolDefinition, ToolResult
from sa_builder.spec.events import Event, MessageDelta
from sa_builder.spec.host_wire import HostCall, HostOutcome
from sa_builder.spec.logs import LogDetails, LogQuery, LogRow
from sa_builder.spec.messages import Message
from sa_builder.spec.registry import Registry
from sa_builder.spec.threads import CreateThread, MessageQuery, SendMessage, ThreadSummary
from sa_builder.store.layout import DataFolder
from sa_builder.store.thread_reader import ThreadReader
from sa_builder.util.clock import Clock, FakeClock
from sa_builder.util.ids import LogId, ThreadId

PATIENCE_S = 10


class Calls(tuple[tuple[str, Mapping[str, Any]], ...]):
    """A model's answer that calls tools: (name, arguments) each."""

    __slots__ = ()


def calls(*proposed: str | tuple[str, Mapping[str, Any]]) -> Calls:
    """Tool calls; a bare name takes no arguments."""
    return Calls((one, {}) if isinstance(one, str) else one for one in proposed)


class Gate:
    """An answer that waits until it is let through, or a place that code waits at."""

    def __init__(self, answer: str | Calls | ProviderError = "", *, first: str = "") -> None:
        """Keep the answer.

        Args:
            first: text that streams before it waits.
        """
        self.answer = answer
        self.first = first
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def wait(self) -> None:
        """Say that it is reached, and wait until it is opened."""
        self.reached.set()
        await self.opened.wait()

    async def arrival(self) -> None:
        """Wait until somebody stands before it."""
        async with asyncio.timeout(PATIENCE_S):
            await self.reached.wait()


Answer = str | Calls | ProviderError | Gate
UserCode = Callable[["State", Any], Awaitable[Any]]


@dataclass
class State:
    """ThreadState as the code of these tests has it: every method by its name."""

    server: ThreadStateServer
    call: HostCall

    async def __call__(self, method: str, **arguments: Any) -> Any:
        thread_id = arguments.pop("thread_id", self.call.snapshot.thread_id)
        return await self.server.serve(self.call.call_id, thread_id, method, arguments)


@dataclass
class Models:
    """Scripted models: each has answers in a row, and keeps what it was asked."""

    answers: dict[str, deque[Answer]] = field(default_factory=dict[str, deque[Answer]])
    requests: list[tuple[str, list[Mapping[str, Any]]]] = field(
        default_factory=list[tuple[str, list[Mapping[str, Any]]]]
    )

    def will(self, model: str, *answers: Answer) -> None:
        """Have a model answer these, in order."""
        self.answers.setdefault(model, deque()).extend(answers)

    def asked(self, model: str) -> list[list[Mapping[str, Any]]]:
        """The chat messages of each request to a model, the system prompt left out."""
        return [
            [one for one in messages if one["role"] != "system"]
            for name, messages in self.requests
            if name == model
        ]


class _ScriptedProvider:
    name = "scripted"

    def __init__(self, models: Models) -> None:
        self._models = models

    async def stream(self, request: ModelRequest, exchange: Exchange) -> AsyncIterator[Chunk]:
        self._models.requests.append((request.model, [dict(one) for one in request.messages]))
        exchange.endpoint = "scripted"
        exchange.request_body = repr(list(request.messages)).encode()
        waiting = self._models.answers.get(request.model)
        if not waiting:
            raise ProviderError("no_mock", f"Nobody scripted another answer of {request.model}.")
        answer = waiting.popleft()
        if isinstance(answer, Gate):
            if answer.first:
                yield ContentDelta(text=answer.first)
            await answer.wait()
            answer = answer.answer
        if isinstance(answer, ProviderError):
            raise answer
        usage = Usage(input_tokens=10, output_tokens=5, cost="0.001")
        if isinstance(answer, Calls):
            proposed = [
                ProposedCall(id="same", name=name, arguments_json=_json(arguments))
                for name, arguments in answer
            ]
            yield ModelAnswer(
                content=None, tool_calls=proposed, finish_reason="tool_calls", usage=usage
            )
            return
        yield ContentDelta(text=answer)
        yield ModelAnswer(content=answer, usage=usage)


def _json(value: object) -> str:
    return RawJson.text(value)


class RawJson:
    """Arguments that are sent as they stand, JSON or not."""

    def __init__(self, raw: str) -> None:
        self.raw = raw

    @staticmethod
    def text(value: object) -> str:
        import json

        return value.raw if isinstance(value, RawJson) else json.dumps(value)


@dataclass
class InProcessHost:
    """A code host without a process: plain coroutines by name."""

    server: ThreadStateServer
    code: dict[str, UserCode] = field(default_factory=dict[str, UserCode])
    started: list[str] = field(default_factory=list[str])
    """The names of what was called, in order."""
    is_broken: bool = False

    async def call(self, call: HostCall) -> HostOutcome:
        if self.is_broken:
            raise HostError("The code host cannot start.", code="host.cannot_start")
        self.started.append(call.name)
        given = call.message if call.kind == "handler" else call.arguments
        try:
            result = await self.code[call.name](State(self.server, call), given)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            return HostOutcome(
                status="error", error=text, error_type=type(error).__name__, traceback=text
            )
        if isinstance(result, ToolResult):
            return HostOutcome(status=result.status, result=result.result, error=result.error)
        return HostOutcome(status="success", result=None if result is None else str(result))

    def cancel(self, call_id: str) -> None:
        """A cancelled coroutine ends by itself."""


class World:
    """A project's engine over real files; the `Surroundings` it asks are this object."""

    def __init__(
        self, root: Path, definitions: Sequence[AnyDefinition], clock: Clock | None = None
    ) -> None:
        self.folder = DataFolder(root)
        self.folder.make()
        self.definitions = Registry(definitions, content_hash="x")
        self.models = Models()
        self.clock: Clock = clock or FakeClock()
        self.events: list[Event] = []
        self.variables: dict[str, str] = {}
        self.unfinished: list[ThreadId] = []
        server = ThreadStateServer(lambda: self.engine, lambda: MockBook([]))
        self.host = InProcessHost(server)
        self.engine = self._new_engine()
        self._is_open = False
        self._changed = asyncio.Event()

    # the surroundings

    @property
    def test_mode(self) -> bool:
        return False

    async def registry(self) -> Registry:
        return self.definitions

    def variable(
        self, view: ThreadView, name: str, frame: TurnFrame | None, tool: ToolDefinition | None
    ) -> str | None:
        return self.variables.get(name)

    def provider(self, model: ModelDefinition, view: ThreadView, frame: TurnFrame) -> Provider:
        return _ScriptedProvider(self.models)

    def redact(self, text: str) -> str:
        return text

    # its life

    async def start(self) -> None:
        """Open the folder and go on with what was cut off."""
        self._is_open = True
        self.unfinished = await self.engine.start()
        await self.engine.recover(self.unfinished)

    async def close(self) -> None:
        """Cut off whatever runs; safe to call twice."""
        if self._is_open:
            self._is_open = False
            await self.engine.close()

    async def restart(self) -> None:
        """End as a crash does, and begin again on the same files."""
        await self.close()
        self.engine = self._new_engine()
        await self.start()

    def _new_engine(self) -> Engine:
        return Engine(self.folder, self, self.clock, self._note, lambda: self._changed.set())

    def _note(self, event: Event) -> None:
        self.events.append(event)
        self._changed.set()

    # acting

    async def create(self, agent: str, **values: Any) -> ThreadId:
        return (await self.engine.create(CreateThread(agent_name=agent, **values))).id

    async def send(self, thread_id: ThreadId, content: str, **values: Any) -> None:
        """Send as a person does, and do not wait."""
        wish = SendMessage(content=content, **values)
        await self.engine.box(thread_id).accept(wish, silent=False, is_person=True)

    async def ask(self, thread_id: ThreadId, content: str) -> ThreadSummary:
        """Send, and wait until everything rests."""
        await self.send(thread_id, content)
        return await self.rest(thread_id)

    async def rest(self, thread_id: ThreadId) -> ThreadSummary:
        """Wait until no thread of the project does anything."""
        async with asyncio.timeout(PATIENCE_S):
            while self.engine.running_turns():
                self._changed.clear()
                await self._changed.wait()
        return await self.summary(thread_id)

    # reading

    async def summary(self, thread_id: ThreadId) -> ThreadSummary:
        return (await self.engine.box(thread_id).view()).summary()

    def reader(self, thread_id: ThreadId) -> ThreadReader:
        return ThreadReader(self.folder.thread_file(thread_id))

    def messages(self, thread_id: ThreadId) -> list[Message]:
        reader = self.reader(thread_id)
        try:
            return list(reader.messages(MessageQuery(limit=1000)).messages)
        finally:
            reader.close()

    def lines(self, thread_id: ThreadId) -> list[str]:
        """The messages, "role: text" each."""
        return [f"{one.role}: {one.content}" for one in self.messages(thread_id)]

    def logs(self, thread_id: ThreadId) -> list[LogRow]:
        reader = self.reader(thread_id)
        try:
            return list(reader.logs(LogQuery(limit=1000)).rows)
        finally:
            reader.close()

    def log(self, thread_id: ThreadId, log_id: LogId) -> LogDetails:
        reader = self.reader(thread_id)
        try:
            return reader.log(log_id)
        finally:
            reader.close()

    async def children(self, thread_id: ThreadId) -> list[ThreadId]:
        return list((await self.engine.box(thread_id).view()).children)

    def child_with(self, reference: str) -> ThreadId:
        """A thread that stands on the disk.

        Raises:
            RuntimeRefused: there is none.
        """
        found = ThreadId(reference)
        if not self.folder.thread_file(found).exists():
            raise RuntimeRefused(f"There is no thread {found}.")
        return found

    def streamed(self) -> str:
        """All text that streamed so far."""
        return "".join(one.text for one in self.events if isinstance(one, MessageDelta))
