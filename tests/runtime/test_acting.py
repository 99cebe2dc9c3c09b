"""What a person does meanwhile: writes, stops, continues, ends, deletes."""

from __future__ import annotations

import asyncio

import pytest

from sa_builder.errors import RuntimeRefused
from sa_builder.spec.messages import Message
from sa_builder.util.ids import MessageId, new_thread_id
from tests.runtime.conftest import MakeWorld
from tests.runtime.shapes import chat, tool
from tests.runtime.test_handlers import ECHO, reply
from tests.runtime.world import Gate, State, calls


async def done(state: State, arguments: object) -> str:
    return "done"


async def test_a_message_sent_while_a_turn_runs_lands_before_its_next_step(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*chat(tool("look")))
    world.host.code["look"] = done
    gate = Gate(calls("look"))
    world.models.will("m", gate, "Both are answered.")
    thread = await world.create("chat")
    await world.send(thread, "one")
    await gate.arrival()
    await world.send(thread, "two")
    assert world.messages(thread)[-1].status == "pending"

    gate.opened.set()
    await world.rest(thread)

    assert world.lines(thread) == [
        "user: one",
        "assistant: None",
        "tool: done",
        "user: two",
        "assistant: Both are answered.",
    ]
    assert all(one.status == "completed" for one in world.messages(thread))
    assert world.models.asked("m")[1][-1] == {"role": "user", "content": "two"}


async def test_a_message_sent_in_the_last_step_gets_a_turn_of_its_own(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*chat())
    gate = Gate("First.")
    world.models.will("m", gate, "Second.")
    thread = await world.create("chat")
    await world.send(thread, "one")
    await gate.arrival()
    await world.send(thread, "two")

    gate.opened.set()
    await world.rest(thread)

    assert world.lines(thread) == [
        "user: one", "assistant: First.", "user: two", "assistant: Second.",
    ]  # fmt: skip


async def test_the_same_message_sent_twice_is_stored_once(make_world: MakeWorld) -> None:
    world = await make_world(*chat())
    world.models.will("m", "Hello.", "never said")
    thread = await world.create("chat")
    name = MessageId("mine")

    await asyncio.gather(world.send(thread, "hi", id=name), world.send(thread, "hi", id=name))
    await world.rest(thread)
    await world.send(thread, "hi", id=name)
    await world.rest(thread)

    assert world.lines(thread) == ["user: hi", "assistant: Hello."]


async def test_a_stopped_answer_is_kept_as_a_failed_message(make_world: MakeWorld) -> None:
    world = await make_world(*chat())
    gate = Gate("never said", first="I was just ")
    world.models.will("m", gate, "Anew.")
    thread = await world.create("chat")
    await world.send(thread, "hi")
    await gate.arrival()

    await world.engine.box(thread).stop()
    summary = await world.rest(thread)

    last = world.messages(thread)[-1]
    assert (last.content, last.status) == ("I was just ", "failed")
    assert (summary.state, summary.state_reason) == ("idle", "stopped")
    assert world.logs(thread)[-1].status == "failed"
    await world.restart()
    assert (await world.rest(thread)).state == "idle"
    await world.ask(thread, "again")
    assert world.lines(thread)[-1] == "assistant: Anew."
    assert world.models.asked("m")[-1] == [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": "again"},
    ]


async def test_a_stopped_tool_gets_a_result_and_the_turn_ends(make_world: MakeWorld) -> None:
    world = await make_world(*chat(tool("slow"), tool("after")))
    gate = Gate()

    async def slow(state: State, arguments: object) -> str:
        await gate.wait()
        return "never"

    world.host.code |= {"slow": slow, "after": done}
    world.models.will("m", calls("slow", "after"), "After it.")
    thread = await world.create("chat")
    await world.send(thread, "hi")
    await gate.arrival()

    await world.engine.box(thread).stop()
    await world.rest(thread)

    assert world.lines(thread)[-1] == "tool: Stopped by a person."
    assert world.host.started == ["slow"]
    assert all(row.status != "running" for row in world.logs(thread))
    await world.ask(thread, "and now?")
    answered = [one for one in world.models.asked("m")[-1] if one["role"] == "tool"]
    assert [one["content"] for one in answered] == ["Stopped by a person.", "Not run."]


async def test_a_message_sent_right_after_a_stop_starts_a_new_turn(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*chat())
    gate = Gate("never said")
    world.models.will("m", gate, "To the second.")
    thread = await world.create("chat")
    await world.send(thread, "one")
    await gate.arrival()

    await asyncio.gather(world.engine.box(thread).stop(), world.send(thread, "two"))
    summary = await world.rest(thread)

    assert world.lines(thread)[-1] == "assistant: To the second."
    assert summary.state == "awaiting_human"


async def test_a_stopped_thread_goes_on_when_it_is_continued(make_world: MakeWorld) -> None:
    world = await make_world(*chat())
    gate = Gate("never said")
    world.models.will("m", gate, "Here it is.")
    thread = await world.create("chat")
    await world.send(thread, "hi")
    await gate.arrival()
    await world.engine.box(thread).stop()
    await world.rest(thread)

    await world.engine.box(thread).go_on("a")
    await world.rest(thread)

    assert world.lines(thread)[-1] == "assistant: Here it is."


async def test_a_persons_side_cannot_be_continued(make_world: MakeWorld) -> None:
    world = await make_world(*chat())
    thread = await world.create("chat")

    with pytest.raises(RuntimeRefused, match="Side B is a person's"):
        await world.engine.box(thread).go_on("b")


async def test_a_terminated_thread_takes_no_more_and_stays_readable(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*ECHO)
    world.host.code["reply"] = reply
    thread = await world.create("echo")
    await world.ask(thread, "one")

    await world.engine.box(thread).terminate()
    summary = await world.rest(thread)

    assert summary.state == "terminated"
    with pytest.raises(RuntimeRefused, match="terminated"):
        await world.send(thread, "two")
    assert world.lines(thread) == ["user: one", "assistant: got one"]
    await world.restart()
    assert (await world.summary(thread)).state == "terminated"


async def test_a_running_thread_can_be_terminated(make_world: MakeWorld) -> None:
    world = await make_world(*ECHO)
    gate = Gate()

    async def hangs(state: State, message: Message) -> None:
        await gate.wait()

    world.host.code["reply"] = hangs
    thread = await world.create("echo")
    await world.send(thread, "one")
    await gate.arrival()

    await world.engine.box(thread).terminate()

    assert (await world.rest(thread)).state == "terminated"


async def test_a_running_thread_can_be_deleted(make_world: MakeWorld) -> None:
    world = await make_world(*chat())
    gate = Gate("never said")
    world.models.will("m", gate)
    thread = await world.create("chat")
    await world.send(thread, "hi")
    await gate.arrival()

    await world.engine.delete(thread)

    assert list(world.folder.threads.iterdir()) == []
    assert world.engine.running_turns() == 0
    with pytest.raises(RuntimeRefused, match="There is no thread"):
        world.engine.box(thread)
    await world.restart()
    assert world.unfinished == []


async def test_an_unknown_thread_is_a_sentence(make_world: MakeWorld) -> None:
    world = await make_world(*chat())

    with pytest.raises(RuntimeRefused, match="There is no thread"):
        world.engine.box(new_thread_id())


async def test_a_title_that_is_set_does_not_make_a_thread_look_cut_off(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*chat())
    thread = await world.create("chat")
    await world.engine.box(thread).change_view(lambda tx, view: view.set(tx, title="A name"))

    await world.restart()

    assert world.unfinished == []
    assert (await world.summary(thread)).title == "A name"
