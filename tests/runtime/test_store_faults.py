"""Files that cannot be written or read: a sentence, other threads go on, nothing is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sa_builder.errors import StoreError
from sa_builder.spec.threads import ThreadQuery
from sa_builder.store.sqlite import Sqlite
from sa_builder.util.ids import ThreadId
from tests.runtime.conftest import MakeWorld
from tests.runtime.shapes import chat, tool
from tests.runtime.test_children import CREATE, SUBMIT, family, prepare, tool_texts
from tests.runtime.world import Gate, State, World, calls


async def set_pragma(world: World, thread: ThreadId, words: str) -> None:
    """Change how the open file of a thread behaves."""

    def ask(file: Sqlite) -> None:
        file.rows(f"PRAGMA {words}")

    await world.engine.box(thread).ask(ask)


async def done(state: State, arguments: object) -> str:
    return "done " * 200


FAULTS = [
    pytest.param("max_page_count=1", "max_page_count=1000000", "The disk is full", id="full"),
    pytest.param("query_only=1", "query_only=0", "cannot be written", id="read-only"),
]


@pytest.mark.parametrize(("break_it", "mend_it", "says"), FAULTS)
async def test_a_message_that_cannot_be_stored_is_refused_with_a_sentence(
    make_world: MakeWorld, break_it: str, mend_it: str, says: str
) -> None:
    world = await make_world(*chat())
    world.models.will("m", "Hello.")
    thread = await world.create("chat")
    await set_pragma(world, thread, break_it)

    with pytest.raises(StoreError, match=says):
        await world.send(thread, "x" * 20_000)

    await set_pragma(world, thread, mend_it)
    assert world.messages(thread) == []
    assert (await world.ask(thread, "hi")).state == "awaiting_human"
    assert world.lines(thread) == ["user: hi", "assistant: Hello."]


@pytest.mark.parametrize(("break_it", "mend_it", "says"), FAULTS)
async def test_a_turn_that_cannot_be_stored_says_so_and_can_be_continued(
    make_world: MakeWorld, break_it: str, mend_it: str, says: str
) -> None:
    world = await make_world(*chat(tool("look", side_effects="read")))
    gate = Gate()

    async def look(state: State, arguments: object) -> str:
        await gate.wait()
        return "seen " * 10_000

    world.host.code["look"] = look
    world.models.will("m", calls("look"), "I see.", "I am another.")
    thread, other = await world.create("chat"), await world.create("chat")
    await world.send(thread, "hi")
    await gate.arrival()
    await set_pragma(world, thread, break_it)
    gate.opened.set()
    await world.rest(thread)

    listed = await world.engine.index.page(ThreadQuery())
    broken = next(row for row in listed.rows if row.id == thread)
    assert broken.state == "failed"
    assert says in (broken.state_reason or "")
    await set_pragma(world, thread, mend_it)
    world.host.code["look"] = done
    await world.engine.box(thread).go_on("a")
    summary = await world.rest(thread)
    assert summary.state == "awaiting_human"
    assert world.lines(thread)[-1] == "assistant: I see."
    await world.ask(other, "hi")
    assert world.lines(other)[-1] == "assistant: I am another."


async def test_a_message_that_fails_meanwhile_does_not_disturb_the_running_turn(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*chat(tool("look", side_effects="none")))
    world.host.code["look"] = done
    gate = Gate("The answer.")
    world.models.will("m", calls("look"), gate)
    thread = await world.create("chat")
    await world.send(thread, "one")
    await gate.arrival()
    await set_pragma(world, thread, "query_only=1")
    with pytest.raises(StoreError, match="cannot be written"):
        await world.send(thread, "two")
    await set_pragma(world, thread, "query_only=0")

    gate.opened.set()
    await world.rest(thread)

    assert [line.split(":")[0] for line in world.lines(thread)] == [
        "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert len(world.models.requests) == 2
    rows = [row for row in world.logs(thread) if row.kind == "model"]
    assert all(world.log(thread, row.id).request_body for row in rows)


async def test_a_file_locked_by_another_process_is_a_sentence(make_world: MakeWorld) -> None:
    world = await make_world(*chat())
    world.models.will("m", "Hello.")
    thread = await world.create("chat")
    await set_pragma(world, thread, "busy_timeout=10")
    other = Sqlite(world.folder.thread_file(thread))
    other.run("BEGIN IMMEDIATE")

    with pytest.raises(StoreError, match="is locked by another process"):
        await world.send(thread, "hi")

    other.close()
    await world.ask(thread, "hi")
    assert world.lines(thread) == ["user: hi", "assistant: Hello."]


def ruin(path_of: World, thread: ThreadId) -> None:
    """Overwrite a thread's file."""
    file = path_of.folder.thread_file(thread)
    for beside in (file.with_name("thread.db-wal"), file.with_name("thread.db-shm")):
        beside.unlink(missing_ok=True)
    file.write_bytes(b"this is no database" * 100)


def make_newer(world: World, thread: ThreadId) -> None:
    """Let a file seem to come from a later version."""
    file = Sqlite(world.folder.thread_file(thread))
    file.run("PRAGMA user_version=99")
    file.close()


@pytest.mark.parametrize(
    ("break_it", "says"), [(ruin, "not a readable database"), (make_newer, "newer version")]
)
async def test_a_thread_that_cannot_be_read_says_so_and_the_others_go_on(
    make_world: MakeWorld, break_it: Callable[[World, ThreadId], None], says: str
) -> None:
    world = await make_world(*chat())
    gate = Gate()
    world.models.will("m", gate, "I am another.")
    thread, other = await world.create("chat"), await world.create("chat")
    await world.send(thread, "hi")
    await gate.arrival()
    await world.close()
    break_it(world, thread)

    await world.restart()

    page = await world.engine.index.page(ThreadQuery())
    states = {row.id: (row.state, row.state_reason or "") for row in page.rows}
    assert states[thread][0] == "failed"
    assert says in states[thread][1]
    with pytest.raises(StoreError, match=says):
        await world.send(thread, "again")
    await world.ask(other, "hi")
    assert world.lines(other)[-1] == "assistant: I am another."
    await world.engine.delete(thread)
    assert not world.folder.thread_folder(thread).exists()


async def test_a_ruined_child_reports_to_its_parent_like_a_failed_session(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*family(blocking=True))
    prepare(world)
    world.models.will("p", calls(CREATE), "Done.", "It is ruined.")
    world.models.will("c", SUBMIT)
    thread = await world.create("parent")
    await world.ask(thread, "go")
    (child,) = await world.children(thread)
    await world.close()
    ruin(world, child)
    await world.restart()
    again = ("subagent_message", {"reference": child, "message": "again"})
    world.models.answers["p"].clear()
    world.models.will("p", calls(again), "It is ruined.")

    await world.ask(thread, "again")

    assert "not a readable database" in tool_texts(world, thread)[-1]
    assert world.lines(thread)[-1] == "assistant: It is ruined."


async def test_a_ruined_registry_is_made_anew_from_the_threads(make_world: MakeWorld) -> None:
    world = await make_world(*chat())
    world.models.will("m", "One.", "Two.")
    threads = {await world.create("chat"), await world.create("chat")}
    for thread in threads:
        await world.ask(thread, f"I am {thread}")
    before = await world.engine.index.page(ThreadQuery())
    await world.close()
    world.folder.registry.write_bytes(b"nonsense" * 1000)

    await world.restart()
    for thread in threads:
        await world.rest(thread)

    after = await world.engine.index.page(ThreadQuery())
    assert {row.id: row for row in after.rows} == {row.id: row for row in before.rows}


async def test_a_lost_registry_is_made_anew_and_deleted_threads_stay_away(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*chat())
    kept, deleted = await world.create("chat"), await world.create("chat")
    await world.engine.delete(deleted)
    leftover = world.folder.threads / ".deleted-half"
    leftover.mkdir()
    await world.close()
    world.folder.registry.unlink()

    await world.restart()

    page = await world.engine.index.page(ThreadQuery())
    assert [row.id for row in page.rows] == [kept]
    assert not leftover.exists()
