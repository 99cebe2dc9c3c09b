"""Thread files read alone."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sa_builder.client.archive import ArchiveClient
from sa_builder.client.sample_threads import CHILD, TRIAGE
from sa_builder.errors import RuntimeRefused, StoreError
from sa_builder.spec.logs import LogQuery
from sa_builder.spec.messages import Message
from sa_builder.spec.threads import CreateThread, MessageQuery, SendMessage, ThreadQuery
from sa_builder.util.ids import LogId, ThreadId


@pytest.fixture
async def archive(thread_file: Path) -> AsyncIterator[ArchiveClient]:
    client = ArchiveClient(thread_file)
    yield client
    await client.close()


async def test_a_folder_or_its_file_opens_the_same_thread(
    archive: ArchiveClient, thread_file: Path
) -> None:
    other = ArchiveClient(thread_file.parent)

    assert other.thread_id == archive.thread_id == TRIAGE
    assert not other.writable
    await other.close()


async def test_messages_logs_and_acts_are_read(archive: ArchiveClient) -> None:
    details = await archive.get_thread(TRIAGE)
    page = await archive.list_messages(TRIAGE, MessageQuery())
    logs = await archive.list_logs(TRIAGE, LogQuery())
    log = await archive.get_log(CHILD, LogId(3))

    assert not details.writable
    assert details.summary.title == "Triage acme/widgets #482"
    assert details.children[0].reference == CHILD
    assert len(page.messages) == 4
    assert len(logs.rows) == logs.total == 6
    assert log.request_body is not None
    assert "acme/widgets #482" in log.request_body
    assert (await archive.list_acts(CHILD))[0].key == "2/1/model"


async def test_a_message_is_read_alone(archive: ArchiveClient) -> None:
    first: Message = (await archive.list_messages(TRIAGE, MessageQuery())).messages[0]

    assert await archive.get_message(TRIAGE, first.id) == first


async def test_rows_of_children_stand_under_what_made_them(archive: ArchiveClient) -> None:
    page = await archive.list_logs(TRIAGE, LogQuery(include_children=True))

    assert [row.depth for row in page.rows] == [0] * 6 + [1] * 4
    assert page.rows[6].thread_id == CHILD


async def test_the_list_holds_the_thread_and_its_children(archive: ArchiveClient) -> None:
    top = await archive.list_threads(ThreadQuery())
    children = await archive.list_threads(ThreadQuery(parent_id=TRIAGE))
    none = await archive.list_threads(ThreadQuery(text="zebra"))

    assert [row.id for row in top.rows] == [TRIAGE]
    assert [row.id for row in children.rows] == [CHILD]
    assert children.rows[0].agent_name == "issue_triage"
    assert none.total == 0


async def test_a_child_that_is_not_there_shows_its_registry_entry(thread_file: Path) -> None:
    shutil.rmtree(thread_file.parent.parent / CHILD)
    client = ArchiveClient(thread_file)

    details = await client.get_thread(CHILD)
    messages = await client.list_messages(CHILD, MessageQuery())
    logs = await client.list_logs(TRIAGE, LogQuery(include_children=True))

    assert details.summary.instance_name == "triage-482"
    assert details.summary.state_reason is not None
    assert "not beside this one" in details.summary.state_reason
    assert messages.total == 0
    assert len(logs.rows) == 6
    await client.close()


async def test_acting_is_refused_with_a_sentence(archive: ArchiveClient) -> None:
    acts = (
        archive.create_thread(CreateThread(agent_name="a")),
        archive.send_message(TRIAGE, SendMessage(content="hi")),
        archive.stop_thread(TRIAGE),
        archive.continue_thread(TRIAGE),
        archive.terminate_thread(TRIAGE),
        archive.delete_thread(TRIAGE),
        archive.set_thread_title(TRIAGE, "x"),
        archive.set_test_mode(True),
    )
    for act in acts:
        with pytest.raises(RuntimeRefused, match="opened for reading"):
            await act


def test_nothing_is_written_beside_the_file(thread_file: Path) -> None:
    before = sorted(path.name for path in thread_file.parent.iterdir())
    content = thread_file.read_bytes()

    async def read() -> None:
        client = ArchiveClient(thread_file)
        await client.list_messages(TRIAGE, MessageQuery())
        await client.close()

    asyncio.run(read())

    assert sorted(path.name for path in thread_file.parent.iterdir()) == before
    assert thread_file.read_bytes() == content


def test_a_file_that_is_no_thread_is_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "notes.db"
    foreign.write_bytes(b"not a database at all, only some bytes" * 100)

    with pytest.raises(StoreError):
        ArchiveClient(foreign)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="There is no thread file at"):
        ArchiveClient(tmp_path / "gone" / "thread.db")


async def test_after_closing_reads_are_refused(thread_file: Path) -> None:
    client = ArchiveClient(thread_file)
    await client.close()
    await client.close()

    with pytest.raises(StoreError, match="was closed"):
        await client.get_thread(TRIAGE)


async def test_a_thread_the_file_does_not_know_is_named(archive: ArchiveClient) -> None:
    with pytest.raises(StoreError, match="knows no thread"):
        await archive.get_thread(ThreadId("nobody"))
