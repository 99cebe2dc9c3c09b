"""The double does what a runtime would at once, and tells of it."""

from __future__ import annotations

import pytest

from sa_builder.client.sample_threads import CHILD, TRIAGE, sample_client
from sa_builder.errors import RuntimeRefused
from sa_builder.spec.events import Event
from sa_builder.spec.logs import LogQuery
from sa_builder.spec.threads import CreateThread, MessageQuery, SendMessage, ThreadQuery
from sa_builder.util.clock import FakeClock
from sa_builder.util.ids import ThreadId


async def test_a_sent_message_is_stored_and_told() -> None:
    client = sample_client(FakeClock())
    told: list[Event] = []
    end = client.subscribe(told.append)

    message_id = await client.send_message(TRIAGE, SendMessage(content="Hello"))
    end()
    await client.stop_thread(TRIAGE)

    stored = await client.get_message(TRIAGE, message_id)
    assert (stored.content, stored.seq) == ("Hello", 5)
    assert [event.kind for event in told] == ["message_stored", "thread_changed"]


async def test_threads_are_paged_by_keyset_and_counted() -> None:
    client = sample_client(FakeClock())

    first = await client.list_threads(ThreadQuery(limit=4))
    last = first.rows[-1]
    rest = await client.list_threads(
        ThreadQuery(limit=100, before_us=last.updated_at_us, before_id=last.id)
    )

    assert len(first.rows) + len(rest.rows) == first.total == 9
    assert first.counts["failed"] == 1
    assert not {one.id for one in first.rows} & {one.id for one in rest.rows}


async def test_messages_are_paged_backwards() -> None:
    client = sample_client(FakeClock())

    page = await client.list_messages(TRIAGE, MessageQuery(limit=3))
    older = await client.list_messages(TRIAGE, MessageQuery(before_seq=page.messages[0].seq))

    assert [one.seq for one in page.messages] == [2, 3, 4]
    assert page.has_more
    assert [one.seq for one in older.messages] == [1]
    assert not older.has_more


async def test_log_rows_are_filtered_and_take_their_children_in() -> None:
    client = sample_client(FakeClock())

    models = await client.list_logs(TRIAGE, LogQuery(kinds=["model"], statuses=["failed"]))
    everything = await client.list_logs(TRIAGE, LogQuery(include_children=True))

    assert [row.detail for row in models.rows] == ["attempt 1"]
    assert [row.depth for row in everything.rows] == [0] * 6 + [1] * 4


async def test_deleting_takes_the_children_first() -> None:
    client = sample_client(FakeClock())
    told: list[Event] = []
    client.subscribe(told.append)

    await client.delete_thread(TRIAGE)

    gone = [event.thread_id for event in told if event.kind == "thread_deleted"]
    assert gone == [CHILD, TRIAGE]


async def test_unknown_names_are_refused() -> None:
    client = sample_client(FakeClock())

    with pytest.raises(RuntimeRefused, match="no agent nobody"):
        await client.create_thread(CreateThread(agent_name="nobody"))
    with pytest.raises(RuntimeRefused, match="no thread nowhere"):
        await client.get_thread(ThreadId("nowhere"))
