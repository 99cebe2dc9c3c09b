"""ThreadState: what user code gets to work with; the names are the same async and sync.

The part a tool or handler may rely on in this version. Every method is awaited; a sync function
gets `SyncThreadState`, the same names, blocking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from sa_builder.spec.host_wire import ExecutionSnapshot
from sa_builder.spec.messages import Message, Role
from sa_builder.spec.threads import ChildEntry

if TYPE_CHECKING:
    import httpx


class ThreadState(Protocol):
    """A running thread, seen from tools and handlers."""

    thread_id: str
    agent_name: str
    user_id: str
    created_at: int
    """Microseconds UTC."""
    children: Sequence[ChildEntry]
    terminated: bool
    arguments: Mapping[str, Any]
    context: dict[str, Any]
    """Scratch of this call only."""
    execution: ExecutionSnapshot | None
    http: httpx.AsyncClient
    """Answered from the project's mocks in test mode; anything unmocked fails there."""

    async def get_messages(
        self, *, limit: int = 100, include_silent: bool = False
    ) -> Sequence[Message]: ...

    async def get_message(self, message_id: str) -> Message | None: ...

    async def inject_message(
        self,
        *,
        role: Role,
        content: str,
        silent: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> Message:
        """Store a message without starting a run; in a handler, one in the side's own role is
        the turn's output."""
        ...

    async def queue_message(
        self,
        *,
        role: Literal["user", "assistant"],
        content: str,
        silent: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Store durably, in order, before the next step; starts an idle thread."""
        ...

    async def get_child_thread(self, reference: str) -> ThreadState | None: ...

    async def get_parent_thread(self) -> ThreadState | None: ...

    async def create_child(
        self,
        relationship: str,
        *,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        message: str | None = None,
    ) -> ChildEntry: ...

    async def notify_parent(self, content: str) -> None:
        """Queue a silent message on the parent, in the role its owning side acts on."""
        ...

    async def set_status(self, status: str) -> None:
        """Set the text the parent's registry shows for this child."""
        ...

    async def stop_session(self, *, result: str | None = None) -> None: ...

    async def fail_session(self, *, error: str | None = None) -> None: ...

    async def terminate(self) -> None: ...

    async def env(self, name: str) -> str:
        """The variable's value.

        Raises:
            LookupError: nothing sets it.
        """
        ...

    async def get_value(self, key: str) -> Any: ...

    async def set_value(self, key: str, value: Any) -> None: ...


class SyncThreadState(Protocol):
    """A running thread, seen from sync tools and handlers: the same names, blocking."""

    thread_id: str
    agent_name: str
    user_id: str
    created_at: int
    """Microseconds UTC."""
    children: Sequence[ChildEntry]
    terminated: bool
    arguments: Mapping[str, Any]
    context: dict[str, Any]
    """Scratch of this call only."""
    execution: ExecutionSnapshot | None
    http: httpx.Client
    """Answered from the project's mocks in test mode; anything unmocked fails there."""

    def get_messages(
        self, *, limit: int = 100, include_silent: bool = False
    ) -> Sequence[Message]: ...

    def get_message(self, message_id: str) -> Message | None: ...

    def inject_message(
        self,
        *,
        role: Role,
        content: str,
        silent: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> Message:
        """Store a message without starting a run; in a handler, one in the side's own role is
        the turn's output."""
        ...

    def queue_message(
        self,
        *,
        role: Literal["user", "assistant"],
        content: str,
        silent: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Store durably, in order, before the next step; starts an idle thread."""
        ...

    def get_child_thread(self, reference: str) -> SyncThreadState | None: ...

    def get_parent_thread(self) -> SyncThreadState | None: ...

    def create_child(
        self,
        relationship: str,
        *,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        message: str | None = None,
    ) -> ChildEntry: ...

    def notify_parent(self, content: str) -> None:
        """Queue a silent message on the parent, in the role its owning side acts on."""
        ...

    def set_status(self, status: str) -> None:
        """Set the text the parent's registry shows for this child."""
        ...

    def stop_session(self, *, result: str | None = None) -> None: ...

    def fail_session(self, *, error: str | None = None) -> None: ...

    def terminate(self) -> None: ...

    def env(self, name: str) -> str:
        """The variable's value.

        Raises:
            LookupError: nothing sets it.
        """
        ...

    def get_value(self, key: str) -> Any: ...

    def set_value(self, key: str, value: Any) -> None: ...
