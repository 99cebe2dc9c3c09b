"""A thread's file opened read-only: no project, no runtime, no network."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn, TypeVar

from sa_builder.errors import RuntimeRefused, StoreError
from sa_builder.spec.events import Listener
from sa_builder.spec.logs import Act, LogDetails, LogPage, LogQuery
from sa_builder.spec.messages import Message, SideName
from sa_builder.spec.threads import (
    AgentSummary,
    ChildEntry,
    CreateThread,
    MessagePage,
    MessageQuery,
    SendMessage,
    ThreadDetails,
    ThreadPage,
    ThreadQuery,
    ThreadSummary,
)
from sa_builder.store.log_tree import read_logs
from sa_builder.store.thread_reader import ThreadReader
from sa_builder.util.ids import LogId, MessageId, ThreadId

Answer = TypeVar("Answer")
_CHILD_STATES = {"running", "idle", "awaiting_human", "terminated"}


def thread_file_at(path: Path) -> Path:
    """The `thread.db` that a path means: the file itself, or the one in a folder.

    Raises:
        StoreError: there is none.
    """
    file = path / "thread.db" if path.is_dir() else path
    if not file.is_file():
        raise StoreError(
            f"There is no thread file at {path}.",
            act="Choose a thread.db, or the folder that holds one.",
            code="store.missing",
        )
    return file


class ArchiveClient:
    """Reads a thread and those of its children whose files lie beside it.

    Reads run one after the other in one worker OS thread, which alone touches the files.
    """

    def __init__(self, thread_file: Path) -> None:
        """Open the file.

        Args:
            thread_file: a `thread.db`, or a folder that holds one.

        Raises:
            StoreError: it is not a thread's file, is newer, or cannot be read.
        """
        self._path = thread_file_at(thread_file)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sa-archive")
        self._readers: dict[ThreadId, ThreadReader] = {}
        self._closed = False
        try:
            self.thread_id = self._worker.submit(self._open_root).result(timeout=30)
        except BaseException:
            self._worker.shutdown(wait=False)
            raise

    @property
    def writable(self) -> bool:
        return False

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Nothing ever happens in an archive, so nothing is told."""
        return lambda: None

    async def start(self) -> None:
        """The file is open already."""

    async def close(self, *, deadline_s: float = 3.0) -> None:
        """Let go of the files; a read that hangs is left behind after the deadline."""
        if self._closed:
            return
        self._closed = True
        ended = asyncio.get_running_loop().run_in_executor(self._worker, self._close_readers)
        await asyncio.wait([ended], timeout=deadline_s)
        self._worker.shutdown(wait=False, cancel_futures=True)

    # acting: refused

    async def list_agents(self) -> Sequence[AgentSummary]:
        return ()

    async def set_test_mode(self, on: bool) -> None:
        self._refuse("Test mode can't be switched")

    async def create_thread(self, wish: CreateThread) -> ThreadSummary:
        self._refuse("A new thread can't be started")

    async def send_message(self, thread_id: ThreadId, wish: SendMessage) -> MessageId:
        self._refuse("A message can't be sent")

    async def stop_thread(self, thread_id: ThreadId) -> None:
        self._refuse("A thread can't be stopped")

    async def continue_thread(self, thread_id: ThreadId, side: SideName = "a") -> None:
        self._refuse("A thread can't be continued")

    async def terminate_thread(self, thread_id: ThreadId) -> None:
        self._refuse("A thread can't be terminated")

    async def delete_thread(self, thread_id: ThreadId) -> None:
        self._refuse("A thread can't be deleted")

    async def set_thread_title(self, thread_id: ThreadId, title: str) -> None:
        self._refuse("A thread can't be renamed")

    # reading

    async def list_threads(self, query: ThreadQuery) -> ThreadPage:
        return await self._read(lambda: self._list_threads(query))

    async def get_thread(self, thread_id: ThreadId) -> ThreadDetails:
        return await self._read(lambda: self._details(thread_id))

    async def list_messages(self, thread_id: ThreadId, query: MessageQuery) -> MessagePage:
        return await self._read(lambda: self._list_messages(thread_id, query))

    async def get_message(self, thread_id: ThreadId, message_id: MessageId) -> Message:
        return await self._read(lambda: self._reader(thread_id).message(message_id))

    async def list_logs(self, thread_id: ThreadId, query: LogQuery) -> LogPage:
        return await self._read(lambda: self._list_logs(thread_id, query))

    async def get_log(self, thread_id: ThreadId, log_id: LogId) -> LogDetails:
        return await self._read(lambda: self._reader(thread_id).log(log_id))

    async def list_acts(self, thread_id: ThreadId) -> Sequence[Act]:
        return await self._read(lambda: self._list_acts(thread_id))

    async def thread_file(self, thread_id: ThreadId) -> Path:
        return await self._read(lambda: self._file_of(thread_id))

    # in the worker OS thread

    def _open_root(self) -> ThreadId:
        reader = ThreadReader(self._path)
        self._readers[reader.thread_id] = reader
        return reader.thread_id

    def _close_readers(self) -> None:
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()

    def _file_of(self, thread_id: ThreadId) -> Path:
        if thread_id == self.thread_id:
            return self._path
        return self._path.parent.parent / thread_id / "thread.db"

    def _has(self, thread_id: ThreadId) -> bool:
        return thread_id in self._readers or self._file_of(thread_id).is_file()

    def _reader(self, thread_id: ThreadId) -> ThreadReader:
        reader = self._readers.get(thread_id)
        if reader is None:
            path = self._file_of(thread_id)
            if not path.is_file():
                raise StoreError(
                    f"The file of thread {thread_id} does not lie beside this one.",
                    act=f"Put its folder beside {self._path.parent.name} to read it.",
                    code="store.missing_child",
                )
            reader = ThreadReader(path)
            self._readers[thread_id] = reader
        return reader

    def _details(self, thread_id: ThreadId) -> ThreadDetails:
        if self._has(thread_id):
            return self._reader(thread_id).details()
        parent, entry = self._entry_of(thread_id)
        return ThreadDetails(summary=_summary_of_entry(entry, parent), writable=False)

    def _entry_of(self, thread_id: ThreadId) -> tuple[ThreadId, ChildEntry]:
        for known, reader in self._readers.items():
            for entry in reader.details().children:
                if entry.reference == thread_id:
                    return known, entry
        raise StoreError(f"This file knows no thread {thread_id}.", code="store.no_thread")

    def _list_threads(self, query: ThreadQuery) -> ThreadPage:
        root = self._reader(self.thread_id).details().summary
        if query.parent_id is not None:
            found = self._children(query.parent_id)
        elif query.top_level_only:
            found = [root]
        else:
            found = [root, *self._children(self.thread_id)]
        words = query.text.lower().split()
        found = [
            one
            for one in found
            if all(word in f"{one.title} {one.preview} {one.id}".lower() for word in words)
            and query.agent_name in (None, one.agent_name)
        ]
        counts: dict[str, int] = {}
        for one in found:
            counts[one.state] = counts.get(one.state, 0) + 1
        if query.states:
            found = [one for one in found if one.state in query.states]
        total = len(found)
        if query.before_us is not None:
            limit = (query.before_us, query.before_id or "")
            found = [one for one in found if (one.updated_at_us, one.id) < limit]
        return ThreadPage(rows=found[: query.limit], total=total, counts=counts)

    def _children(self, parent_id: ThreadId) -> list[ThreadSummary]:
        if not self._has(parent_id):
            return []
        found: list[ThreadSummary] = []
        for entry in self._reader(parent_id).details().children:
            if self._has(entry.reference):
                found.append(self._reader(entry.reference).details().summary)
            else:
                found.append(_summary_of_entry(entry, parent_id))
        return found

    def _list_messages(self, thread_id: ThreadId, query: MessageQuery) -> MessagePage:
        if not self._has(thread_id):
            self._entry_of(thread_id)
            return MessagePage(messages=(), total=0, has_more=False)
        return self._reader(thread_id).messages(query)

    def _list_acts(self, thread_id: ThreadId) -> Sequence[Act]:
        return self._reader(thread_id).acts() if self._has(thread_id) else ()

    def _list_logs(self, thread_id: ThreadId, query: LogQuery) -> LogPage:
        if not self._has(thread_id):
            self._entry_of(thread_id)
            return LogPage(rows=(), total=0, has_more=False)
        return read_logs(
            self._reader(thread_id),
            query,
            lambda child: self._reader(child) if self._has(child) else None,
        )

    async def _read(self, act: Callable[[], Answer]) -> Answer:
        if self._closed:
            raise StoreError("This thread file was closed.", code="store.closed")
        return await asyncio.get_running_loop().run_in_executor(self._worker, act)

    def _refuse(self, what: str) -> NoReturn:
        raise RuntimeRefused(
            f"{what}: this is a thread file opened for reading.",
            act="Open its project to go on with it.",
            code="runtime.read_only",
        )


def _summary_of_entry(entry: ChildEntry, parent_id: ThreadId) -> ThreadSummary:
    """What a list can show of a child whose own file is not there."""
    known = entry.status in _CHILD_STATES
    return ThreadSummary(
        id=entry.reference,
        agent_name=entry.relationship,
        origin_agent_name=entry.relationship,
        title=entry.title or entry.name,
        parent_id=parent_id,
        relationship=entry.relationship,
        instance_name=entry.name,
        blocking=entry.blocking,
        state=entry.status if known else "idle",  # pyright: ignore[reportArgumentType]
        state_reason="Its file is not beside this one."
        + ("" if known else f" Last status: {entry.status}"),
        created_at_us=entry.created_at_us,
        updated_at_us=entry.created_at_us,
    )
