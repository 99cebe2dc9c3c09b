"""What a thread's mailbox needs of the engine around it."""

from __future__ import annotations

from typing import Protocol

from sa_builder.providers.base import Provider
from sa_builder.runtime.frame import TurnFrame
from sa_builder.runtime.view import ThreadView
from sa_builder.spec.definitions import ModelDefinition, ToolDefinition
from sa_builder.spec.events import Event
from sa_builder.spec.host_wire import HostCall, HostOutcome
from sa_builder.spec.registry import Registry
from sa_builder.util.clock import Clock
from sa_builder.util.ids import ThreadId


class CodeHost(Protocol):
    """Runs user code somewhere else."""

    async def call(self, call: HostCall) -> HostOutcome:
        """Run one tool or handler to its end."""
        ...

    def cancel(self, call_id: str) -> None:
        """Stop a running call; its outcome says so."""
        ...


class Ports(Protocol):
    """The engine, as one thread sees it."""

    @property
    def clock(self) -> Clock: ...

    @property
    def test_mode(self) -> bool: ...

    @property
    def host(self) -> CodeHost: ...

    def publish(self, event: Event) -> None:
        """Tell every listener; call it only after the commit."""
        ...

    async def registry(self) -> Registry:
        """The definitions as the files say now.

        Raises:
            KnownError: the project is not trusted, or the code host cannot start.
        """
        ...

    def variable(
        self, view: ThreadView, name: str, frame: TurnFrame | None, tool: ToolDefinition | None
    ) -> str | None:
        """A variable's value for a thread, by the order of levels; None when nothing sets it."""
        ...

    def provider(self, model: ModelDefinition, view: ThreadView, frame: TurnFrame) -> Provider:
        """Open the backend of a model.

        Raises:
            ProviderError: its key is missing, or it is not known.
        """
        ...

    def redact(self, text: str) -> str:
        """The text without the values of known secrets."""
        ...

    async def deliver(self, thread_id: ThreadId) -> bool:
        """Hand over what stands in the thread's outbox; False when some of it has to wait."""
        ...

    async def stop_children(self, thread_id: ThreadId) -> None:
        """Stop the blocking children that run for this thread."""
        ...

    def note_summary(self, view: ThreadView, *, at_rest: bool) -> None:
        """Bring the registry up to date with a thread's summary, and tell listeners."""
        ...

    async def note_broken(
        self, thread_id: ThreadId, view: ThreadView | None, sentence: str
    ) -> None:
        """Say in the list why a thread cannot go on now; its rows are left as they are."""
        ...

    def note_rest(self) -> None:
        """A thread has come to rest: fewer turns are under way."""
        ...

    async def mark_busy(self, thread_id: ThreadId) -> None:
        """Remember that a thread will have something to do, before it has."""
        ...

    def report_bug(self, error: BaseException, where: str) -> str:
        """Keep a traceback in the error log; returns the sentence to show."""
        ...
