"""Files with one writer each, spread over a few OS threads.

A file is opened, written and closed on one OS thread only, so its commits are in the order they
were asked for. Callers on the event loop await them; nothing here blocks the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar
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


class Patient(asyncio.Future[T]):
    """A future that whoever is cancelled while awaiting it awaits to its end nevertheless."""

    def cancel(self, msg: object = None) -> bool:
        return False


class WriterThread:
    """An OS thread that does one thing after the other; started when it is first asked.

    A `ThreadPoolExecutor` of one does the same, and costs twice as much a time: two futures
    for each deed, and two turns of the loop to hear of its end.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def do(self, deed: Callable[[], T], ended: asyncio.Future[T]) -> asyncio.Future[T]:
        """Do it there, after all that was asked for before.

        Args:
            ended: is given the result, on its own loop; also returned.
        """

        def act() -> None:
            try:
                result = deed()
            except BaseException as error:
                told = partial(_tell, ended, ended.set_exception, error)
            else:
                told = partial(_tell, ended, ended.set_result, result)
            with contextlib.suppress(RuntimeError):  # nobody listens any more: the loop is closed
                ended.get_loop().call_soon_threadsafe(told)

        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._waiting.put(act)
        return ended

    def close(self) -> None:
        """End it once what it was asked is done."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()

    def _run(self) -> None:
        while (act := self._waiting.get()) is not None:
            act()


class Database:
    """One file that this process writes; made by `Writers.open`."""

    def __init__(
        self, path: Path, writer: WriterThread, prepare: Callable[[Sqlite, Path], None]
    ) -> None:
        self.path = path
        self._writer = writer
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
            writing = Patient[None]()
            self._writer.do(partial(self._guarded, partial(self._write, tx=tx)), writing)
            try:
                await writing
            except asyncio.CancelledError:
                was_cancelled = True
            writing.result()
        for publish in tx.after:
            publish()
        if was_cancelled:
            raise asyncio.CancelledError

    async def ask(self, question: Callable[[Sqlite], T]) -> T:
        """Run `question` on the file's own OS thread, after every commit asked for before."""
        return await self._writer.do(partial(self._guarded, question), asyncio.Future())

    async def checkpoint(self) -> None:
        """Fold the write-ahead log into the file, so that the file alone is whole."""
        await self.ask(Sqlite.checkpoint)

    async def close(self) -> None:
        """Let go of the file; the next question opens it again."""
        await self._writer.do(self._close, asyncio.Future())

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


def _tell(ended: asyncio.Future[T], how: Callable[[Any], None], what: object) -> None:
    if not ended.done():
        how(what)


class Writers:
    """A few OS threads that write; a file is always on the same one."""

    def __init__(self, count: int = 4) -> None:
        self._threads = [WriterThread(f"sa-writer-{number}") for number in range(count)]

    def open(self, path: Path, prepare: Callable[[Sqlite, Path], None]) -> Database:
        """The database at `path`; the file itself is opened when it is first used.

        Args:
            prepare: makes the tables of a new file, or brings an older one forward.
        """
        place = crc32(os.fsencode(path)) % len(self._threads)
        return Database(path, self._threads[place], prepare)

    def close(self) -> None:
        """End the OS threads once what they were asked is done."""
        for thread in self._threads:
            thread.close()
