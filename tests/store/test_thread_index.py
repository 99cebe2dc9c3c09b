"""The list of threads: pages, search, filters; what is written when."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sa_builder.spec.threads import ThreadQuery, ThreadSummary
from sa_builder.store.database import Writers
from sa_builder.store.layout import DataFolder
from sa_builder.store.sqlite import Sqlite
from sa_builder.store.thread_index import ThreadIndex, read_page
from sa_builder.util.ids import ThreadId


def summary(name: str, **values: Any) -> ThreadSummary:
    filled: dict[str, Any] = {"agent_name": "chat", "title": name, "created_at_us": 1}
    filled["updated_at_us"] = 1
    return ThreadSummary(id=ThreadId(name), origin_agent_name="chat", **(filled | values))


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    """A project's data folder."""
    made = DataFolder(tmp_path)
    made.make()
    return made


@pytest_asyncio.fixture
async def index(folder: DataFolder) -> AsyncIterator[ThreadIndex]:
    """An index, closed at the end."""
    writers = Writers(1)
    made = ThreadIndex(writers, folder)
    yield made
    await made.close()
    writers.close()


def ids(page: Any) -> list[str]:
    return [row.id for row in page.rows]


async def test_pages_go_on_where_the_last_one_ended_though_times_are_equal(
    index: ThreadIndex,
) -> None:
    for number in range(7):
        index.note(summary(f"t{number}", updated_at_us=number // 3), is_busy=False)

    found: list[str] = []
    query = ThreadQuery(limit=2)
    while True:
        page = await index.page(query)
        assert page.total == 7
        found += ids(page)
        if len(page.rows) < 2:
            break
        last = page.rows[-1]
        query = ThreadQuery(limit=2, before_us=last.updated_at_us, before_id=last.id)

    assert found == ["t6", "t5", "t4", "t3", "t2", "t1", "t0"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("widget", ["one"]),
        ("WIDGET triage", ["one"]),
        ("triage widget nothing", []),
        ("urgent", ["two"]),
        ("100%", ["two"]),
        ("_", []),
        ("ÜBER", ["one"]),
        ("", ["two", "one"]),
    ],
)
async def test_every_word_must_occur_somewhere(
    index: ThreadIndex, text: str, found: list[str]
) -> None:
    index.note(summary("one", title="Triage über", preview="a Widget spins"), is_busy=False)
    index.note(summary("two", tags=["urgent"], preview="100% sure"), is_busy=False)

    assert ids(await index.page(ThreadQuery(text=text))) == found


async def test_filters_and_counts(index: ThreadIndex) -> None:
    index.note(summary("top", state="failed"), is_busy=False)
    index.note(summary("rests", state="idle"), is_busy=False)
    index.note(summary("child", parent_id="top", state="running"), is_busy=False)
    index.note(summary("other", agent_name="relay", state="idle"), is_busy=False)

    page = await index.page(ThreadQuery(states=["idle"]))
    assert (ids(page), page.total) == (["rests", "other"], 2)
    assert page.counts == {"failed": 1, "idle": 2}
    assert ids(await index.page(ThreadQuery(parent_id=ThreadId("top")))) == ["child"]
    assert ids(await index.page(ThreadQuery(agent_name="relay"))) == ["other"]
    everything = await index.page(ThreadQuery(top_level_only=False))
    assert everything.total == 4


async def test_what_cannot_be_written_now_is_written_with_the_next(
    index: ThreadIndex, folder: DataFolder
) -> None:
    assert ids(await index.page(ThreadQuery())) == []
    other = Sqlite(folder.registry)
    other.run("PRAGMA user_version=1")
    other.run("ALTER TABLE threads RENAME TO away")
    index.note(summary("one"), is_busy=False)
    await index.flush_quietly()
    other.run("ALTER TABLE away RENAME TO threads")
    other.close()

    assert ids(await index.page(ThreadQuery())) == ["one"]


async def test_a_deleted_thread_does_not_come_back_with_what_waits(index: ThreadIndex) -> None:
    index.note(summary("one"), is_busy=False)
    await index.page(ThreadQuery())
    index.note(summary("one", title="late"), is_busy=False)

    await index.forget(ThreadId("one"))

    assert ids(await index.page(ThreadQuery())) == []


def test_a_project_without_a_registry_has_no_threads(tmp_path: Path) -> None:
    page = read_page(DataFolder(tmp_path).registry, ThreadQuery())

    assert (page.total, list(page.rows)) == (0, [])
