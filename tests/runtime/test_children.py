"""Child threads: blocking, implicit, explicit, immediate, and what becomes of their results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from sa_builder.spec import Relationship, SessionTool, Side
from sa_builder.spec.definitions import AnyDefinition
from sa_builder.spec.messages import Message
from sa_builder.store.sqlite import Sqlite
from sa_builder.util.ids import ThreadId
from tests.runtime.conftest import MakeWorld
from tests.runtime.shapes import agent, handler, model, prompt, tool
from tests.runtime.world import Gate, State, World, calls

SCHEMA = {
    "type": "object",
    "properties": {"request": {"type": "string"}},
    "required": ["request"],
}


def family(child_b: Side | None = None, **relationship: Any) -> Sequence[AnyDefinition]:
    """A parent whose model "p" has the child agent "worker", whose model is "c"."""
    link = Relationship(agent="worker", init_user_message_property="request", **relationship)
    hand_in = SessionTool(name="submit", message_property="report")
    return [
        agent("parent", Side(prompt="boss", subagents=[link])),
        agent(
            "worker",
            Side(prompt="work", session_stop=hand_in),
            child_b or Side(handler="listen"),
            expose_as_tool=True,
            tool_description="Works.",
        ),
        prompt("boss", model="p"),
        prompt("work", "submit", model="c", required_schema=SCHEMA),
        model("p"),
        model("c"),
        tool("submit", idempotency="idempotent"),
        handler("listen"),
    ]


CREATE = (
    "subagent_create",
    {"relationship": "worker", "name": "one", "arguments": {"request": "do it"}},
)
SUBMIT = calls(("submit", {"report": "it is done"}))


async def ok(state: State, given: object) -> str:
    return "ok"


def prepare(world: World) -> None:
    world.host.code |= {"submit": ok, "listen": ok}


def tool_texts(world: World, thread: ThreadId) -> list[str]:
    return [one.content or "" for one in world.messages(thread) if one.role == "tool"]


async def test_a_blocking_childs_report_is_the_calls_result(make_world: MakeWorld) -> None:
    world = await make_world(*family(blocking=True))
    prepare(world)
    gate = Gate(SUBMIT)
    world.models.will("p", calls(CREATE), "All is done.")
    world.models.will("c", gate)
    thread = await world.create("parent")
    await world.send(thread, "go")
    await gate.arrival()
    summary = await world.summary(thread)
    assert (summary.state, summary.state_reason) == ("parked", "Waits for one.")

    gate.opened.set()
    await world.rest(thread)

    (child,) = await world.children(thread)
    assert tool_texts(world, thread) == ['{"status":"success","result":"it is done"}']
    assert world.lines(thread)[-1] == "assistant: All is done."
    assert world.lines(child)[0] == "user: do it"
    assert (await world.summary(child)).state == "idle"
    rows = [row for row in world.logs(thread) if row.kind == "child"]
    assert [(row.title, row.status, row.child_thread_id) for row in rows] == [
        ("subagent_create", "done", child)
    ]


async def test_a_waiting_parent_survives_a_crash(make_world: MakeWorld) -> None:
    world = await make_world(*family(blocking=True))
    prepare(world)
    gate = Gate(SUBMIT)
    world.models.will("p", calls(CREATE), "All is done.")
    world.models.will("c", gate, SUBMIT)
    thread = await world.create("parent")
    await world.send(thread, "go")
    await gate.arrival()

    await world.restart()
    await world.rest(thread)

    assert [name for name, _ in world.models.requests] == ["p", "c", "c", "p"]
    assert world.lines(thread)[-1] == "assistant: All is done."
    (child,) = await world.children(thread)
    assert [row.status for row in world.logs(child) if row.kind == "model"] == ["lost", "done"]


async def test_a_call_that_waits_says_so_in_the_log_also_when_it_was_cut_off_before(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*family(blocking=True))
    prepare(world)
    gate, again = Gate(calls(CREATE)), Gate(SUBMIT)
    world.models.will("p", gate)
    world.models.will("c", again, Gate(SUBMIT))
    thread = await world.create("parent")
    await world.send(thread, "go")
    await gate.arrival()
    gate.opened.set()
    await again.arrival()
    file = Sqlite(world.folder.thread_file(thread))
    file.run("UPDATE logs SET status='running' WHERE kind='child'")  # as right after the start
    file.close()

    await world.restart()
    await world.engine.box(thread).at_rest.wait()

    assert [row.status for row in world.logs(thread) if row.kind == "child"] == ["parked"]


async def test_a_failed_child_is_an_error_result(make_world: MakeWorld) -> None:
    world = await make_world(*family(blocking=True))
    prepare(world)
    world.models.will("p", calls(CREATE), "It did not work.")
    thread = await world.create("parent")

    await world.ask(thread, "go")

    (text,) = tool_texts(world, thread)
    assert json.loads(text)["status"] == "error"
    assert "Nobody scripted" in json.loads(text)["error"]
    assert world.lines(thread)[-1] == "assistant: It did not work."


async def test_an_implicit_child_reports_silently_when_its_session_ends(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*family(parent_communication="implicit"))
    prepare(world)
    gate = Gate(SUBMIT)
    world.models.will("p", calls(CREATE), "It is started.", "It reported.")
    world.models.will("c", gate)
    thread = await world.create("parent")
    await world.send(thread, "go")
    await gate.arrival()
    await world.engine.box(thread).at_rest.wait()
    gate.opened.set()

    await world.rest(thread)

    (child,) = await world.children(thread)
    (text,) = tool_texts(world, thread)
    assert json.loads(text) == {"status": "running", "reference": child, "name": "worker"}
    report = next(one for one in world.messages(thread) if one.silent)
    assert (report.role, report.content) == ("user", "it is done")
    assert report.metadata["child"] == {
        "reference": child, "relationship": "worker", "status": "success",
    }  # fmt: skip
    assert world.lines(thread)[-1] == "assistant: It reported."


async def test_an_explicit_child_reports_only_what_it_says(make_world: MakeWorld) -> None:
    world = await make_world(*family(parent_communication="explicit"))
    prepare(world)

    async def submit(state: State, given: object) -> str:
        await state("notify_parent", content="nearly there")
        await state("set_status", status="polishing")
        return "ok"

    world.host.code["submit"] = submit
    gate = Gate(SUBMIT)
    world.models.will("p", calls(CREATE), "It is started.", "So I hear.")
    world.models.will("c", gate)
    thread = await world.create("parent")
    await world.send(thread, "go")
    await gate.arrival()
    await world.engine.box(thread).at_rest.wait()
    gate.opened.set()

    await world.rest(thread)

    said = [one.content for one in world.messages(thread) if one.silent]
    assert said == ["nearly there"]
    assert world.lines(thread)[-1] == "assistant: So I hear."


async def test_an_implicit_child_that_waits_for_a_person_says_its_last_words(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*family(child_b=Side(human=True)))
    prepare(world)
    world.models.will("p", calls(CREATE), "It is started.", "It asks which one.")
    world.models.will("c", "Which one?")
    thread = await world.create("parent")

    await world.ask(thread, "go")

    said = [one.content for one in world.messages(thread) if one.silent]
    assert said == ["Which one?"]
    (child,) = await world.children(thread)
    entry = (await world.engine.box(thread).view()).child_entries()[0]
    assert entry.status == "awaiting_human"
    assert (await world.summary(child)).state == "awaiting_human"


async def test_a_child_can_be_written_to_again(make_world: MakeWorld) -> None:
    world = await make_world(*family(blocking=True))
    prepare(world)
    world.models.will("p", calls(CREATE), "First is done.")
    world.models.will("c", SUBMIT, calls(("submit", {"report": "twice"})))
    thread = await world.create("parent")
    await world.ask(thread, "go")
    (child,) = await world.children(thread)
    again = ("subagent_message", {"reference": child, "message": "again"})
    world.models.will("p", calls(again), "Second is done.")

    await world.ask(thread, "again")

    assert tool_texts(world, thread)[-1] == '{"status":"success","result":"twice"}'
    assert [line for line in world.lines(child) if line.startswith("user")] == [
        "user: do it", "user: again",
    ]  # fmt: skip


async def test_immediate_children_are_there_before_any_turn_and_code_may_write_to_them(
    make_world: MakeWorld,
) -> None:
    link = Relationship(agent="worker", immediate=True, parent_communication="explicit")
    world = await make_world(
        agent("relay", Side(handler="pipe", subagents=[link])),
        *family()[1:],
        handler("pipe"),
    )
    prepare(world)

    async def pipe(state: State, message: Message) -> None:
        (entry,) = state.call.snapshot.children
        await state(
            "queue_message", thread_id=entry.reference, role="user", content=message.content
        )

    world.host.code["pipe"] = pipe
    world.models.will("c", "I hear you.")
    thread = await world.create("relay")
    (child,) = await world.children(thread)
    assert world.lines(child) == []

    await world.ask(thread, "hello")

    assert world.lines(child) == ["user: hello", "assistant: I hear you."]


@pytest.mark.parametrize(
    ("relationship", "says"),
    [
        ("nobody", "There is no relationship nobody."),
        ("worker", "worker needs the arguments: request."),
    ],
)
async def test_a_child_that_cannot_be_is_refused_to_the_model(
    make_world: MakeWorld, relationship: str, says: str
) -> None:
    world = await make_world(*family(blocking=True))
    prepare(world)
    arguments: dict[str, Any] = {"relationship": relationship, "name": "x", "arguments": {}}
    world.models.will("p", calls(("subagent_create", arguments)), "Well.")
    thread = await world.create("parent")

    await world.ask(thread, "go")

    assert tool_texts(world, thread) == [says]
    assert await world.children(thread) == []


async def test_no_more_children_than_allowed(make_world: MakeWorld) -> None:
    world = await make_world(*family(blocking=True, max_instances=1))
    prepare(world)
    world.models.will("p", calls(CREATE, CREATE), "Well.")
    world.models.will("c", SUBMIT)
    thread = await world.create("parent")

    await world.ask(thread, "go")

    assert tool_texts(world, thread)[1] == "worker already has 1 of at most 1 instances."


async def test_stopping_a_parent_stops_the_child_it_waits_for(make_world: MakeWorld) -> None:
    world = await make_world(*family(blocking=True))
    prepare(world)
    gate = Gate(SUBMIT)
    world.models.will("p", calls(CREATE), "never said")
    world.models.will("c", gate)
    thread = await world.create("parent")
    await world.send(thread, "go")
    await gate.arrival()

    await world.engine.box(thread).stop()
    summary = await world.rest(thread)

    (child,) = await world.children(thread)
    assert (summary.state, (await world.summary(child)).state) == ("idle", "idle")
    assert tool_texts(world, thread) == ["Stopped by a person."]
    assert all(row.status != "parked" for row in world.logs(thread))


async def test_deleting_a_parent_deletes_its_children(make_world: MakeWorld) -> None:
    world = await make_world(*family(blocking=True))
    prepare(world)
    world.models.will("p", calls(CREATE), "Done.")
    world.models.will("c", SUBMIT)
    thread = await world.create("parent")
    await world.ask(thread, "go")

    await world.engine.delete(thread)

    assert list(world.folder.threads.iterdir()) == []


async def gone(world: World, child: ThreadId) -> None:
    await world.engine.delete(child)


async def over(world: World, child: ThreadId) -> None:
    await world.engine.box(child).terminate()


@pytest.mark.parametrize(
    ("lose", "says"),
    [(gone, "The child thread was deleted."), (over, "The child thread was terminated.")],
)
async def test_a_child_that_is_lost_reports_like_a_failed_session(
    make_world: MakeWorld, lose: Any, says: str
) -> None:
    world = await make_world(*family(blocking=True))
    prepare(world)
    gate = Gate(SUBMIT)
    world.models.will("p", calls(CREATE), "It is lost.")
    world.models.will("c", gate)
    thread = await world.create("parent")
    await world.send(thread, "go")
    await gate.arrival()
    (child,) = await world.children(thread)

    await lose(world, child)
    await world.rest(thread)

    assert json.loads(tool_texts(world, thread)[0])["error"] == says
    assert world.lines(thread)[-1] == "assistant: It is lost."
    entry = (await world.engine.box(thread).view()).child_entries()[0]
    assert entry.status == "terminated"


async def test_a_terminated_child_takes_no_message(make_world: MakeWorld) -> None:
    world = await make_world(*family(blocking=True))
    prepare(world)
    world.models.will("p", calls(CREATE), "Done.")
    world.models.will("c", SUBMIT)
    thread = await world.create("parent")
    await world.ask(thread, "go")
    (child,) = await world.children(thread)
    await world.engine.box(child).terminate()
    await world.rest(child)
    again = ("subagent_message", {"reference": child, "message": "again"})
    world.models.will("p", calls(again), "It has ended.")

    await world.ask(thread, "again")

    assert tool_texts(world, thread)[-1] == "one has ended for good."


async def test_a_child_whose_agent_is_gone_is_an_error_result(make_world: MakeWorld) -> None:
    world = await make_world(*family(blocking=True))
    prepare(world)
    gate = Gate(calls(CREATE))
    world.models.will("p", gate, "It cannot be.")
    thread = await world.create("parent")
    await world.send(thread, "go")
    await gate.arrival()
    del world.definitions.agents["worker"]

    gate.opened.set()
    await world.rest(thread)

    assert "There is no agent named worker." in tool_texts(world, thread)[0]
    assert world.lines(thread)[-1] == "assistant: It cannot be."
