"""Commits: whole or not at all, in order, and finished whoever is cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sa_builder.errors import StoreError
from sa_builder.store.database import Database, Tx, Writers
from sa_builder.store.schema import THREAD_VERSION, ensure_thread_tables
from sa_builder.store.sqlite import Sqlite


def ensure_table(file: Sqlite, path: Path) -> None:
    file.run("CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY)")


@pytest_asyncio.fixture
async def writers() -> AsyncIterator[Writers]:
    """Writers, ended at the end."""
    made = Writers()
    yield made
    made.close()


@pytest_asyncio.fixture
async def database(writers: Writers, tmp_path: Path) -> AsyncIterator[Database]:
    """A file with one table."""
    made = writers.open(tmp_path / "x.db", ensure_table)
    yield made
    await made.close()


def numbers(file: Sqlite) -> list[int]:
    return [row["n"] for row in file.rows("SELECT n FROM t ORDER BY n")]


def inserting(*values: int) -> Tx:
    tx = Tx()
    for value in values:
        tx.add("INSERT INTO t VALUES (?)", value)
    return tx


async def test_a_commit_that_fails_leaves_nothing_and_publishes_nothing(
    database: Database,
) -> None:
    told: list[str] = []
    tx = inserting(1, 1)
    tx.after.append(lambda: told.append("published"))

    with pytest.raises(StoreError):
        await database.commit(tx)

    assert await database.ask(numbers) == []
    assert told == []
    await database.commit(inserting(2))
    assert await database.ask(numbers) == [2]


async def test_what_waits_for_a_commit_is_called_after_it(database: Database) -> None:
    seen: list[list[int]] = []
    tx = inserting(1)
    other = Sqlite(database.path)
    tx.after.append(lambda: seen.append(numbers(other)))

    await database.commit(tx)

    other.close()
    assert seen == [[1]]


async def test_a_commit_is_finished_and_published_though_its_caller_is_cancelled(
    database: Database,
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def block(file: Sqlite) -> None:
        begun.set()
        go_on.wait(10)

    told: list[str] = []
    tx = inserting(1)
    tx.after.append(lambda: told.append("published"))
    blocking = asyncio.create_task(database.ask(block))
    committing = asyncio.create_task(database.commit(tx))
    await asyncio.get_running_loop().run_in_executor(None, begun.wait, 10)
    committing.cancel()
    go_on.set()
    await blocking

    with pytest.raises(asyncio.CancelledError):
        await committing

    assert told == ["published"]
    assert await database.ask(numbers) == [1]


async def test_a_file_that_was_closed_opens_again(database: Database) -> None:
    await database.commit(inserting(1))
    await database.close()
    assert not database.is_open

    await database.commit(inserting(2))

    assert await database.ask(numbers) == [1, 2]


async def test_after_a_checkpoint_the_file_alone_is_whole(
    database: Database, tmp_path: Path
) -> None:
    await database.commit(inserting(*range(500)))
    await database.checkpoint()
    alone = tmp_path / "alone.db"
    alone.write_bytes(database.path.read_bytes())

    file = Sqlite(alone, read_only=True)

    assert len(numbers(file)) == 500
    file.close()


async def test_a_newer_file_is_refused_and_let_go_of(writers: Writers, tmp_path: Path) -> None:
    path = tmp_path / "thread.db"
    file = Sqlite(path)
    file.run(f"PRAGMA user_version={THREAD_VERSION + 1}")
    file.close()
    database = writers.open(path, ensure_thread_tables)

    for _ in range(3):
        with pytest.raises(StoreError, match="written by a newer version") as caught:
            await database.ask(numbers)
        assert caught.value.code == "store.newer"

    assert not database.is_open
    assert not path.with_name("thread.db-wal").exists()


async def test_tables_are_made_once(writers: Writers, tmp_path: Path) -> None:
    path = tmp_path / "thread.db"
    for _ in range(2):
        database = writers.open(path, ensure_thread_tables)
        assert await database.ask(lambda file: file.version) == THREAD_VERSION
        await database.close()


async def test_a_question_can_be_given_up_while_the_writer_is_busy(database: Database) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def block(file: Sqlite) -> None:
        begun.set()
        go_on.wait(10)

    blocking = asyncio.create_task(database.ask(block))
    await asyncio.get_running_loop().run_in_executor(None, begun.wait, 10)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await database.close()

    go_on.set()
    await blocking
    await database.commit(inserting(1))
    assert await database.ask(numbers) == [1]
