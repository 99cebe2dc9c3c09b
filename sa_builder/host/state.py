"""ThreadState over the channel: attributes as they were at the call, methods as questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter

from sa_builder.host.scope import CallScope
from sa_builder.spec.host_wire import StateSnapshot
from sa_builder.spec.messages import Message, Role
from sa_builder.spec.threads import ChildEntry

if TYPE_CHECKING:
    import httpx

    from sa_builder.host.http import Connections

_MESSAGES = TypeAdapter(tuple[Message, ...])


class _Attributes:
    """What a thread was at the moment of the call."""

    def __init__(
        self, snapshot: StateSnapshot, scope: CallScope, connections: ConnectionsSource
    ) -> None:
        self._scope = scope
        self._connections = connections
        self.thread_id: str = snapshot.thread_id
        self.agent_name = snapshot.agent_name
        self.user_id = snapshot.user_id
        self.created_at = snapshot.created_at_us
        self.children: Sequence[ChildEntry] = snapshot.children
        self.terminated = snapshot.terminated
        self.arguments: Mapping[str, Any] = snapshot.arguments
        self.context: dict[str, Any] = {}
        self.execution = snapshot.execution


class ConnectionsSource:
    """Gives the shared connections; httpx is imported when the first call wants one."""

    @cached_property
    def connections(self) -> Connections:
        """The process's own."""
        from sa_builder.host.http import Connections

        return Connections()


class AsyncThreadState(_Attributes):
    """`spec.state.ThreadState` as coroutines get it."""

    @cached_property
    def http(self) -> httpx.AsyncClient:
        """A client under the rules of the project's network and test mode."""
        from sa_builder.host.http import async_client

        return async_client(self._scope, self._connections.connections)

    async def get_messages(
        self, *, limit: int = 100, include_silent: bool = False
    ) -> Sequence[Message]:
        found = await self._ask("get_messages", limit=limit, include_silent=include_silent)
        return _MESSAGES.validate_python(found)

    async def get_message(self, message_id: str) -> Message | None:
        return _message_or_none(await self._ask("get_message", message_id=message_id))

    async def inject_message(
        self,
        *,
        role: Role,
        content: str,
        silent: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> Message:
        stored = await self._ask(
            "inject_message", role=role, content=content, silent=silent, metadata=metadata
        )
        return Message.model_validate(stored)

    async def queue_message(
        self,
        *,
        role: Literal["user", "assistant"],
        content: str,
        silent: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        await self._ask(
            "queue_message", role=role, content=content, silent=silent, metadata=metadata
        )

    async def get_child_thread(self, reference: str) -> AsyncThreadState | None:
        return self._other(await self._ask("get_child_thread", reference=reference))

    async def get_parent_thread(self) -> AsyncThreadState | None:
        return self._other(await self._ask("get_parent_thread"))

    async def create_child(
        self,
        relationship: str,
        *,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        message: str | None = None,
    ) -> ChildEntry:
        created = await self._ask(
            "create_child",
            relationship=relationship,
            name=name,
            arguments=arguments,
            message=message,
        )
        child = ChildEntry.model_validate(created)
        self.children = (*self.children, child)
        return child

    async def notify_parent(self, content: str) -> None:
        await self._ask("notify_parent", content=content)

    async def set_status(self, status: str) -> None:
        await self._ask("set_status", status=status)

    async def stop_session(self, *, result: str | None = None) -> None:
        await self._ask("stop_session", result=result)

    async def fail_session(self, *, error: str | None = None) -> None:
        await self._ask("fail_session", error=error)

    async def terminate(self) -> None:
        await self._ask("terminate")

    async def env(self, name: str) -> str:
        return str(await self._ask("env", name=name))

    async def get_value(self, key: str) -> Any:
        return await self._ask("get_value", key=key)

    async def set_value(self, key: str, value: Any) -> None:
        await self._ask("set_value", key=key, value=value)

    async def _ask(self, method: str, **arguments: Any) -> Any:
        return await self._scope.ask_async(method, arguments, thread_id=self.thread_id)

    def _other(self, found: Any) -> AsyncThreadState | None:
        if found is None:
            return None
        snapshot = StateSnapshot.model_validate(found)
        return AsyncThreadState(snapshot, self._scope, self._connections)


class BlockingThreadState(_Attributes):
    """`spec` `SyncThreadState`: the same names, each blocking its worker OS thread."""

    @cached_property
    def http(self) -> httpx.Client:
        """A client under the rules of the project's network and test mode."""
        from sa_builder.host.http import sync_client

        return sync_client(self._scope, self._connections.connections)

    def get_messages(self, *, limit: int = 100, include_silent: bool = False) -> Sequence[Message]:
        found = self._ask("get_messages", limit=limit, include_silent=include_silent)
        return _MESSAGES.validate_python(found)

    def get_message(self, message_id: str) -> Message | None:
        return _message_or_none(self._ask("get_message", message_id=message_id))

    def inject_message(
        self,
        *,
        role: Role,
        content: str,
        silent: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> Message:
        stored = self._ask(
            "inject_message", role=role, content=content, silent=silent, metadata=metadata
        )
        return Message.model_validate(stored)

    def queue_message(
        self,
        *,
        role: Literal["user", "assistant"],
        content: str,
        silent: bool = False,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self._ask("queue_message", role=role, content=content, silent=silent, metadata=metadata)

    def get_child_thread(self, reference: str) -> BlockingThreadState | None:
        return self._other(self._ask("get_child_thread", reference=reference))

    def get_parent_thread(self) -> BlockingThreadState | None:
        return self._other(self._ask("get_parent_thread"))

    def create_child(
        self,
        relationship: str,
        *,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        message: str | None = None,
    ) -> ChildEntry:
        created = self._ask(
            "create_child",
            relationship=relationship,
            name=name,
            arguments=arguments,
            message=message,
        )
        child = ChildEntry.model_validate(created)
        self.children = (*self.children, child)
        return child

    def notify_parent(self, content: str) -> None:
        self._ask("notify_parent", content=content)

    def set_status(self, status: str) -> None:
        self._ask("set_status", status=status)

    def stop_session(self, *, result: str | None = None) -> None:
        self._ask("stop_session", result=result)

    def fail_session(self, *, error: str | None = None) -> None:
        self._ask("fail_session", error=error)

    def terminate(self) -> None:
        self._ask("terminate")

    def env(self, name: str) -> str:
        return str(self._ask("env", name=name))

    def get_value(self, key: str) -> Any:
        return self._ask("get_value", key=key)

    def set_value(self, key: str, value: Any) -> None:
        self._ask("set_value", key=key, value=value)

    def _ask(self, method: str, **arguments: Any) -> Any:
        return self._scope.ask_sync(method, arguments, thread_id=self.thread_id)

    def _other(self, found: Any) -> BlockingThreadState | None:
        if found is None:
            return None
        snapshot = StateSnapshot.model_validate(found)
        return BlockingThreadState(snapshot, self._scope, self._connections)


def _message_or_none(found: Any) -> Message | None:
    return None if found is None else Message.model_validate(found)
