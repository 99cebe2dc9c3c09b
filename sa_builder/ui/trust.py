"""Trust is asked for at the door: no acting call reaches the runtime before it is given."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from sa_builder.client.base import Listener, RuntimeClient
from sa_builder.errors import RuntimeRefused
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

Ask = Callable[[], Awaitable[bool]]
"""Whether the folder is trusted now, after asking the person if need be."""


class TrustedClient:
    """A `RuntimeClient` whose running calls first ask for trust; reading never does."""

    def __init__(self, inner: RuntimeClient, ask: Ask) -> None:
        self._inner = inner
        self._ask = ask
        self._asking = asyncio.Lock()

    async def _need_trust(self) -> None:
        async with self._asking:  # two calls at once ask one question
            trusted = await self._ask()
        if not trusted:
            raise RuntimeRefused(
                "This folder is not trusted, so none of its code runs.",
                act="Send again and choose “Trust and run”, or trust it in Settings.",
                code="window.not_trusted",
            )

    @property
    def writable(self) -> bool:
        return self._inner.writable

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        return self._inner.subscribe(listener)

    async def start(self) -> None:
        await self._inner.start()

    async def close(self, *, deadline_s: float = 3.0) -> None:
        await self._inner.close(deadline_s=deadline_s)

    async def list_agents(self) -> Sequence[AgentSummary]:
        return await self._inner.list_agents()

    async def set_test_mode(self, on: bool) -> None:
        await self._inner.set_test_mode(on)

    async def create_thread(self, wish: CreateThread) -> ThreadSummary:
        await self._need_trust()
        return await self._inner.create_thread(wish)

    async def send_message(self, thread_id: ThreadId, wish: SendMessage) -> MessageId:
        await self._need_trust()
        return await self._inner.send_message(thread_id, wish)

    async def stop_thread(self, thread_id: ThreadId) -> None:
        await self._inner.stop_thread(thread_id)

    async def continue_thread(self, thread_id: ThreadId, side: SideName = "a") -> None:
        await self._need_trust()
        await self._inner.continue_thread(thread_id, side)

    async def terminate_thread(self, thread_id: ThreadId) -> None:
        await self._inner.terminate_thread(thread_id)

    async def delete_thread(self, thread_id: ThreadId) -> None:
        await self._inner.delete_thread(thread_id)

    async def set_thread_title(self, thread_id: ThreadId, title: str) -> None:
        await self._inner.set_thread_title(thread_id, title)

    async def list_threads(self, query: ThreadQuery) -> ThreadPage:
        return await self._inner.list_threads(query)

    async def get_thread(self, thread_id: ThreadId) -> ThreadDetails:
        return await self._inner.get_thread(thread_id)

    async def list_messages(self, thread_id: ThreadId, query: MessageQuery) -> MessagePage:
        return await self._inner.list_messages(thread_id, query)

    async def get_message(self, thread_id: ThreadId, message_id: MessageId) -> Message:
        return await self._inner.get_message(thread_id, message_id)

    async def list_logs(self, thread_id: ThreadId, query: LogQuery) -> LogPage:
        return await self._inner.list_logs(thread_id, query)

    async def get_log(self, thread_id: ThreadId, log_id: LogId) -> LogDetails:
        return await self._inner.get_log(thread_id, log_id)

    async def list_acts(self, thread_id: ThreadId) -> Sequence[Act]:
        return await self._inner.list_acts(thread_id)

    async def thread_file(self, thread_id: ThreadId) -> Path:
        return await self._inner.thread_file(thread_id)
