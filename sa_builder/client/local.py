"""The embedded runtime: a `Service` in its own OS thread, for a window in another."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sa_builder.client.loop import RuntimeLoop
from sa_builder.service.service import Service
from sa_builder.spec.events import Listener
from sa_builder.spec.logs import Act, LogDetails, LogPage, LogQuery
from sa_builder.spec.messages import Message, SideName
from sa_builder.spec.threads import (
    AgentSummary,
    CreateThread,
    MessagePage,
    MessageQuery,
    SendMessage,
    ThreadDetails,
    ThreadPage,
    ThreadQuery,
    ThreadSummary,
)
from sa_builder.util.ids import LogId, MessageId, ThreadId

T = TypeVar("T")


class LocalClient:
    """A `RuntimeClient` over a runtime in this process."""

    def __init__(
        self, project_root: Path, *, trusted: Callable[[], bool], test_mode: bool | None
    ) -> None:
        self._service = Service(project_root, trusted=trusted, test_mode=test_mode)
        self._loop = RuntimeLoop()
        self._is_open = True

    @property
    def writable(self) -> bool:
        return True

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        return self._service.subscribe(listener)

    async def start(self) -> None:
        await self._do(self._service.start())

    async def close(self, *, deadline_s: float = 3.0) -> None:
        if not self._is_open:
            return
        self._is_open = False
        await self._do(self._service.close(deadline_s=deadline_s))
        self._loop.end(deadline_s=0.2)

    async def list_agents(self) -> Sequence[AgentSummary]:
        return await self._do(self._service.list_agents())

    async def set_test_mode(self, on: bool) -> None:
        await self._do(self._service.set_test_mode(on))

    async def create_thread(self, wish: CreateThread) -> ThreadSummary:
        return await self._do(self._service.create_thread(wish))

    async def send_message(self, thread_id: ThreadId, wish: SendMessage) -> MessageId:
        return await self._do(self._service.send_message(thread_id, wish))

    async def stop_thread(self, thread_id: ThreadId) -> None:
        await self._do(self._service.stop_thread(thread_id))

    async def continue_thread(self, thread_id: ThreadId, side: SideName = "a") -> None:
        await self._do(self._service.continue_thread(thread_id, side))

    async def terminate_thread(self, thread_id: ThreadId) -> None:
        await self._do(self._service.terminate_thread(thread_id))

    async def delete_thread(self, thread_id: ThreadId) -> None:
        await self._do(self._service.delete_thread(thread_id))

    async def set_thread_title(self, thread_id: ThreadId, title: str) -> None:
        await self._do(self._service.set_thread_title(thread_id, title))

    async def list_threads(self, query: ThreadQuery) -> ThreadPage:
        return await self._do(self._service.list_threads(query))

    async def get_thread(self, thread_id: ThreadId) -> ThreadDetails:
        return await self._do(self._service.get_thread(thread_id))

    async def list_messages(self, thread_id: ThreadId, query: MessageQuery) -> MessagePage:
        return await self._do(self._service.list_messages(thread_id, query))

    async def get_message(self, thread_id: ThreadId, message_id: MessageId) -> Message:
        return await self._do(self._service.get_message(thread_id, message_id))

    async def list_logs(self, thread_id: ThreadId, query: LogQuery) -> LogPage:
        return await self._do(self._service.list_logs(thread_id, query))

    async def get_log(self, thread_id: ThreadId, log_id: LogId) -> LogDetails:
        return await self._do(self._service.get_log(thread_id, log_id))

    async def list_acts(self, thread_id: ThreadId) -> Sequence[Act]:
        return await self._do(self._service.list_acts(thread_id))

    async def thread_file(self, thread_id: ThreadId) -> Path:
        return await self._do(self._service.thread_file(thread_id))

    async def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return await self._loop.do(work)
