"""Files with one writer each, spread over a few OS threads.

A file is opened, written and closed on one OS thread only, so its commits are in the order they
were asked for. Callers on the event loop await them; nothing here blocks the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar
from zlib import crc32

from sa_builder.store.sqlite import Sqlite, SqliteError, Value, explained

T = TypeVar("T")


@dataclass(slots=True)
class Tx:
    """What one commit will write, in order; nothing is written until it is committed."""

    statements: list[tuple[str, tuple[Value, ...]]] = field(
        default_factory=list[tuple[str, tuple[Value, ...]]]
    )
    full: bool = False
    """Whether it must survive a power cut: accepted messages, act starts, act results."""
    after: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """Called on the loop once it is committed: publishing belongs here."""

    def add(self, sql: str, *values: Value) -> None:
        """Append one statement."""
        self.statements.append((sql, values))


class Database:
    """One file that this process writes; made by `Writers.open`."""

    def __init__(
        self, path: Path, executor: ThreadPoolExecutor, prepare: Callable[[Sqlite, Path], None]
    ) -> None:
        self.path = path
        self._executor = executor
        self._prepare = prepare
        self._file: Sqlite | None = None
        self._full: bool | None = None

    @property
    def is_open(self) -> bool:
        """Whether the file is held open now."""
        return self._file is not None

    async def commit(self, tx: Tx) -> None:
        """Write all of `tx` in one transaction, or none of it; then call what waits for it.

        A caller that is cancelled meanwhile is cancelled once it is written, so that nobody
        has to wonder whether it was.

        Raises:
            StoreError: locked, full, read-only or corrupt; nothing of it was written.
        """
        was_cancelled = False
        if tx.statements:
            writing = asyncio.get_running_loop().run_in_executor(
                self._executor, self._guarded, partial(self._write, tx=tx)
            )
            while not writing.done():
                try:
                    await asyncio.shield(writing)
                except asyncio.CancelledError:
                    was_cancelled = True
            writing.result()
        for publish in tx.after:
            publish()
        if was_cancelled:
            raise asyncio.CancelledError

    async def ask(self, question: Callable[[Sqlite], T]) -> T:
        """Run `question` on the file's own OS thread, after every commit asked for before."""
        return await asyncio.get_running_loop().run_in_executor(
            self._executor, self._guarded, question
        )

    async def checkpoint(self) -> None:
        """Fold the write-ahead log into the file, so that the file alone is whole."""
        await self.ask(Sqlite.checkpoint)

    async def close(self) -> None:
        """Let go of the file; the next question opens it again."""
        await asyncio.get_running_loop().run_in_executor(self._executor, self._close)

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _guarded(self, question: Callable[[Sqlite], T]) -> T:
        try:
            if self._file is None:
                file = Sqlite(self.path)
                try:
                    self._prepare(file, self.path)
                except BaseException:
                    file.close()
                    raise
                self._file = file
                self._full = None
            return question(self._file)
        except SqliteError as error:
            raise explained(error, self.path) from error

    def _write(self, file: Sqlite, tx: Tx) -> None:
        if self._full is not tx.full:
            file.run(f"PRAGMA synchronous={'FULL' if tx.full else 'NORMAL'}")
            self._full = tx.full
        file.run("BEGIN IMMEDIATE")
        try:
            for sql, values in tx.statements:
                file.run(sql, values)
            file.run("COMMIT")
        except BaseException:
            file.roll_back()
            raise


class Writers:
    """A few OS threads that write; a file is always on the same one."""

    def __init__(self, count: int = 4) -> None:
        self._executors = [
            ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"sa-writer-{number}")
            for number in range(count)
        ]

    def open(self, path: Path, prepare: Callable[[Sqlite, Path], None]) -> Database:
        """The database at `path`; the file itself is opened when it is first used.

        Args:
            prepare: makes the tables of a new file, or brings an older one forward.
        """
        place = crc32(str(path).encode()) % len(self._executors)
        return Database(path, self._executors[place], prepare)

    def close(self) -> None:
        """End the OS threads once what they were asked is done."""
        for executor in self._executors:
            executor.shutdown(wait=True)
