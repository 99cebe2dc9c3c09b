"""SQLite files with one writer each, spread over a few OS threads.

A file's connection is opened, used and closed on one OS thread only, so its commits are in the
order they were asked for. Callers on the event loop await them; nothing here blocks the loop.

Source: apsw (its SQLite is current, so it lies past the WAL-reset corruption).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import apsw

from sa_builder.errors import StoreError

Value = str | bytes | int | float | None
Statement = tuple[str, tuple[Value, ...]]
T = TypeVar("T")


@dataclass(slots=True)
class Tx:
    """What one commit will write, in order; nothing is written until it is committed."""

    statements: list[Statement] = field(default_factory=list[Statement])
    full: bool = False
    """Whether it must survive a power cut: accepted messages, act starts, act results."""
    after: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """Called on the loop once it is committed: publishing belongs here."""

    def add(self, sql: str, *values: Value) -> None:
        """Append one statement."""
        self.statements.append((sql, values))


def said(error: apsw.Error, path: Path) -> StoreError:
    """What an SQLite failure means to a person."""
    name = f"{path.parent.name}/{path.name}"
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreError(
                f"{name} is locked by another process.",
                act="Close what uses it and try again.",
                code="store.locked",
            )
        case apsw.FullError():
            return StoreError(
                f"The disk is full; {name} could not be written.",
                act="Free some space and continue the thread.",
                code="store.full",
            )
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return StoreError(
                f"{name} cannot be written.",
                act="Check the permissions of the file and its folder.",
                code="store.read_only",
            )
        case apsw.CorruptError() | apsw.NotADBError():
            return StoreError(
                f"{name} is not a readable database.",
                act="It may be cut off or damaged; open a copy of it from elsewhere.",
                code="store.corrupt",
            )
        case apsw.CantOpenError():
            return StoreError(f"{name} cannot be opened.", code="store.missing")
        case _:
            return StoreError(f"{name}: {error}.", code="store.failed")


class Database:
    """One SQLite file that this process writes; made by `Writers.open`."""

    def __init__(self, path: Path, executor: ThreadPoolExecutor) -> None:
        self.path = path
        self._executor = executor
        self._connection: apsw.Connection | None = None
        self._full: bool | None = None

    async def commit(self, tx: Tx) -> None:
        """Write all of `tx` in one transaction, or none of it.

        Raises:
            StoreError: locked, full, read-only or corrupt; nothing of it was written.
        """
        if tx.statements:
            await self._on_writer(lambda connection: self._write(connection, tx))
        for publish in tx.after:
            publish()

    async def read(self, ask: Callable[[apsw.Connection], T]) -> T:
        """Run `ask` on the file's own OS thread, after every commit that was asked for before."""
        return await self._on_writer(ask)

    async def checkpoint(self) -> None:
        """Fold the write-ahead log into the file, so that the file alone is whole."""
        await self._on_writer(lambda connection: _run(connection, "PRAGMA wal_checkpoint(TRUNCATE)"))

    async def close(self) -> None:
        """Checkpoint and close; safe to call twice."""
        await asyncio.get_running_loop().run_in_executor(self._executor, self._close)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _on_writer(self, ask: Callable[[apsw.Connection], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._guarded, ask)

    def _guarded(self, ask: Callable[[apsw.Connection], T]) -> T:
        try:
            if self._connection is None:
                self._connection = connect(self.path)
                self._full = None
            return ask(self._connection)
        except apsw.Error as error:
            raise said(error, self.path) from error

    def _write(self, connection: apsw.Connection, tx: Tx) -> None:
        if self._full is not tx.full:
            connection.execute(f"PRAGMA synchronous={'FULL' if tx.full else 'NORMAL'}")
            self._full = tx.full
        connection.execute("BEGIN IMMEDIATE")
        try:
            for sql, values in tx.statements:
                connection.execute(sql, values)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def connect(path: Path) -> apsw.Connection:
    """Open a file for writing, with the write-ahead log on."""
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(5000)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA temp_store=MEMORY")
    return connection


def connect_read_only(path: Path) -> apsw.Connection:
    """Open a file for reading alone; one without a write-ahead log is taken as it stands."""
    mode = "mode=ro" if path.with_name(path.name + "-wal").exists() else "mode=ro&immutable=1"
    connection = apsw.Connection(
        f"{path.resolve().as_uri()}?{mode}",
        flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
    )
    connection.set_busy_timeout(2000)
    return connection


def _run(connection: apsw.Connection, sql: str) -> None:
    connection.execute(sql).fetchall()


class Writers:
    """A few OS threads that write; a file is always on the same one."""

    def __init__(self, count: int = 4) -> None:
        self._executors = [
            ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"sa-writer-{number}")
            for number in range(count)
        ]

    def open(self, path: Path) -> Database:
        """The database at `path`; the file itself is opened when it is first used."""
        return Database(path, self._executors[crc32(str(path).encode()) % len(self._executors)])

    def close(self, *, deadline_s: float = 2.0) -> None:
        """End the OS threads once what they were asked is done, or the deadline has passed."""
        ends_at = time.monotonic() + deadline_s
        for executor in self._executors:
            executor.shutdown(wait=time.monotonic() < ends_at, cancel_futures=False)


Rows = Sequence[Sequence[Any]]
