"""The registry: an index of all threads, so that lists open no thread's file.

It can be rebuilt any time from the threads themselves. A thread is marked busy before it runs
and until it rests, so that the next start knows what a crash cut off.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

from sa_builder.errors import StoreError
from sa_builder.spec.threads import ThreadPage, ThreadQuery, ThreadSummary
from sa_builder.store.database import Tx, Writers
from sa_builder.store.layout import DataFolder
from sa_builder.store.rows import read_summary, upsert
from sa_builder.store.schema import ensure_registry_tables
from sa_builder.store.sqlite import Row, Sqlite, SqliteError, Value, explained
from sa_builder.store.thread_reader import ThreadReader
from sa_builder.util.ids import ThreadId

FLUSH_S = 0.05


class ThreadIndex:
    """The registry of one project, written by its one runtime."""

    def __init__(
        self,
        writers: Writers,
        folder: DataFolder,
        tell: Callable[[ThreadSummary], None] | None = None,
    ) -> None:
        """Prepare; nothing is opened before `open`.

        Args:
            tell: told the summaries that were noted by row, when they are written.
        """
        self._tell = tell
        self._database = writers.open(folder.registry, ensure_registry_tables)
        self._folder = folder
        self._waiting: dict[ThreadId, tuple[ThreadSummary | Row, bool]] = {}
        self._marked: set[ThreadId] = set()
        """Marked busy since their last summary was noted: an older summary may not undo it."""
        self._timer: asyncio.TimerHandle | None = None
        self._flushing: set[asyncio.Task[None]] = set()

    async def open(self, threads: Path) -> list[ThreadId]:
        """Add threads the index does not know; returns those that were cut off.

        A registry that is damaged is put aside and made anew.
        """
        try:
            listed = await self._database.ask(_ids)
        except StoreError as error:
            if error.code != "store.corrupt":
                raise
            await self._database.close()
            _put_aside(self._folder.registry)
            listed = await self._database.ask(_ids)
        known = set(listed)
        there = _names_in(threads)
        unknown = sorted(there - known)
        busy = await self._database.ask(
            lambda file: file.rows("SELECT id FROM threads WHERE is_busy=1")
        )
        tx = Tx()
        for thread_id in sorted(known - there):
            tx.add("DELETE FROM threads WHERE id=?", thread_id)
        found = [name for name in unknown if self._add_from_file(tx, ThreadId(name))]
        await self._database.commit(tx)
        names = {*found, *(str(row["id"]) for row in busy)} & there
        return [ThreadId(name) for name in sorted(names)]

    def note(self, summary: ThreadSummary, *, is_busy: bool) -> None:
        """Keep a summary; written a moment later, many at once."""
        self._note(summary.id, summary, is_busy)

    def note_row(self, row: Row, *, is_busy: bool) -> None:
        """The same from a thread's own row, of which a summary is made when it is written."""
        self._note(ThreadId(row["id"]), dict(row), is_busy)

    def _note(self, thread_id: ThreadId, what: ThreadSummary | Row, is_busy: bool) -> None:
        self._waiting[thread_id] = (what, is_busy)
        self._marked.discard(thread_id)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(FLUSH_S, self._start_flush)

    async def mark_busy(self, thread_id: ThreadId) -> None:
        """Remember, before it is true, that a thread has something to do."""
        self._marked.add(thread_id)
        tx = Tx()
        tx.add("UPDATE threads SET is_busy=1 WHERE id=? AND is_busy=0", thread_id)
        await self._database.commit(tx)

    async def mark_broken(self, thread_id: ThreadId, sentence: str) -> ThreadSummary | None:
        """Say in the list why a thread cannot go on; None when the list does not know it."""
        if thread_id in self._waiting:
            known = _summary_of(self._waiting[thread_id][0])
        else:
            found = await self._database.ask(
                lambda file: file.rows("SELECT summary_json FROM threads WHERE id=?", (thread_id,))
            )
            if not found:
                return None
            known = ThreadSummary.model_validate_json(found[0]["summary_json"])
        summary = known.model_copy(update={"state": "failed", "state_reason": sentence})
        self.note(summary, is_busy=True)
        return summary

    async def forget(self, thread_id: ThreadId) -> None:
        """A thread is deleted."""
        self._waiting.pop(thread_id, None)
        tx = Tx()
        tx.add("DELETE FROM threads WHERE id=?", thread_id)
        await self._database.commit(tx)

    async def page(self, query: ThreadQuery) -> ThreadPage:
        """A page of the list, newest activity first.

        What cannot be written now is missing in it.
        """
        await self.flush_quietly()
        return await self._database.ask(lambda file: page(file, query))

    async def flush(self) -> None:
        """Write what waits."""
        waiting, self._waiting = self._waiting, {}
        if waiting:
            tx = Tx()
            for what, is_busy in waiting.values():
                summary = _summary_of(what)
                if what is not summary and self._tell is not None:
                    self._tell(summary)
                _put(tx, summary, is_busy=is_busy or summary.id in self._marked)
            try:
                await self._database.commit(tx)
            except StoreError:
                self._waiting = waiting | self._waiting
                raise

    async def close(self) -> None:
        """Write what waits and let go of the file."""
        if self._timer is not None:
            self._timer.cancel()
        await asyncio.gather(*self._flushing, return_exceptions=True)
        await self.flush_quietly()
        await self._database.close()

    def _start_flush(self) -> None:
        self._timer = None
        task = asyncio.get_running_loop().create_task(self.flush_quietly())
        self._flushing.add(task)
        task.add_done_callback(self._flushing.discard)

    async def flush_quietly(self) -> None:
        """Write what waits; what cannot be written goes with the next."""
        with contextlib.suppress(StoreError):
            await self.flush()

    def _add_from_file(self, tx: Tx, thread_id: ThreadId) -> bool:
        try:
            reader = ThreadReader(self._folder.thread_file(thread_id))
        except StoreError:
            return False  # a file that cannot be read stays where it is and out of the list
        try:
            _put(tx, reader.details().summary, is_busy=True)
        finally:
            reader.close()
        return True


def _summary_of(what: ThreadSummary | Row) -> ThreadSummary:
    return what if isinstance(what, ThreadSummary) else read_summary(what)


def _ids(file: Sqlite) -> list[str]:
    return [str(row["id"]) for row in file.rows("SELECT id FROM threads")]


def _put_aside(registry: Path) -> None:
    for suffix in ("-wal", "-shm"):
        registry.with_name(registry.name + suffix).unlink(missing_ok=True)
    registry.replace(registry.with_name(f"{registry.name}.damaged"))


def _names_in(threads: Path) -> set[str]:
    return {
        path.parent.name
        for path in threads.glob("*/thread.db")
        if not path.parent.name.startswith(".")
    }


def _put(tx: Tx, summary: ThreadSummary, *, is_busy: bool) -> None:
    words = (summary.title, *summary.tags, summary.preview, summary.id, summary.agent_name)
    upsert(
        tx,
        "threads",
        "id",
        {
            "id": summary.id,
            "agent_name": summary.agent_name,
            "parent_id": summary.parent_id,
            "state": summary.state,
            "title": summary.title,
            "search_text": " ".join(words).lower(),
            "summary_json": summary.model_dump_json(),
            "is_busy": int(is_busy),
            "updated_at_us": summary.updated_at_us,
        },
    )


def read_page(registry: Path, query: ThreadQuery) -> ThreadPage:
    """A page of the registry, read beside whatever process runs the project.

    Raises:
        StoreError: the registry cannot be read.
    """
    if not registry.exists():
        return ThreadPage(rows=[], total=0)
    try:
        file = Sqlite(registry, read_only=True)
        try:
            return page(file, query)
        finally:
            file.close()
    except SqliteError as error:
        raise explained(error, registry) from error


def page(file: Sqlite, query: ThreadQuery) -> ThreadPage:
    """A page of a registry."""
    where: list[str] = []
    values: list[Value] = []
    if query.parent_id is not None:
        where.append("parent_id=?")
        values.append(query.parent_id)
    elif query.top_level_only:
        where.append("parent_id IS NULL")
    if query.agent_name is not None:
        where.append("agent_name=?")
        values.append(query.agent_name)
    for word in query.text.lower().split():
        where.append("instr(search_text, ?)")
        values.append(word)
    base = " AND ".join(where) or "1"
    counted = file.rows(
        f"SELECT state, count(*) AS n FROM threads WHERE {base} GROUP BY state", values
    )
    counts = {str(row["state"]): int(row["n"]) for row in counted}
    if query.states:
        where.append(f"state IN ({', '.join('?' * len(query.states))})")
        values += query.states
        total = sum(counts.get(state, 0) for state in query.states)
    else:
        total = sum(counts.values())
    if query.before_us is not None:
        where.append("(updated_at_us, id) < (?, ?)")
        values += [query.before_us, query.before_id or ""]
    found = file.rows(
        f"SELECT summary_json FROM threads WHERE {' AND '.join(where) or '1'}"
        " ORDER BY updated_at_us DESC, id DESC LIMIT ?",
        [*values, query.limit],
    )
    return ThreadPage(
        rows=[ThreadSummary.model_validate_json(row["summary_json"]) for row in found],
        total=total,
        counts=counts,
    )
