"""Deliveries to a handler: in order, one at a time, at most once, and what a throw does."""

from __future__ import annotations

from typing import Any

from sa_builder.spec import Side
from sa_builder.spec.messages import Message
from tests.runtime.conftest import MakeWorld
from tests.runtime.shapes import agent, handler, model, prompt, tool
from tests.runtime.world import Gate, State, World, calls

ECHO = [agent("echo", Side(handler="reply")), handler("reply")]


async def reply(state: State, message: Message) -> None:
    """Says what it was told."""
    await state("inject_message", role="assistant", content=f"got {message.content}")


async def test_a_handler_answers_and_a_person_has_the_turn_again(make_world: MakeWorld) -> None:
    world = await make_world(*ECHO)
    world.host.code["reply"] = reply
    thread = await world.create("echo")

    summary = await world.ask(thread, "one")

    assert world.lines(thread) == ["user: one", "assistant: got one"]
    assert summary.state == "awaiting_human"
    row = world.logs(thread)[-1]
    assert (row.kind, row.title, row.status) == ("handler", "reply", "done")
    assert world.log(thread, row.id).handler_name == "reply"


async def test_what_arrives_while_a_handler_runs_waits_for_its_turn(make_world: MakeWorld) -> None:
    world = await make_world(*ECHO)
    gate = Gate()
    at_once: list[int] = [0, 0]

    async def slow(state: State, message: Message) -> None:
        at_once[0] += 1
        at_once[1] = max(at_once)
        await gate.wait()
        await reply(state, message)
        at_once[0] -= 1

    world.host.code["reply"] = slow
    thread = await world.create("echo")
    await world.send(thread, "one")
    await gate.arrival()
    await world.send(thread, "two")
    await world.send(thread, "three")

    gate.opened.set()
    await world.rest(thread)

    said = [line for line in world.lines(thread) if line.startswith("assistant")]
    assert said == ["assistant: got one", "assistant: got two", "assistant: got three"]
    assert at_once[1] == 1


async def test_a_throw_fails_its_own_delivery_alone(make_world: MakeWorld) -> None:
    world = await make_world(*ECHO)

    async def picky(state: State, message: Message) -> None:
        await state("inject_message", role="assistant", content="before")
        if message.content == "bad":
            raise ValueError("I do not like it")

    world.host.code["reply"] = picky
    thread = await world.create("echo")

    summary = await world.ask(thread, "bad")

    row = world.logs(thread)[-1]
    assert (row.status, row.error_type) == ("failed", "handler_execution_error")
    assert row.error == "ValueError: I do not like it"
    details = world.log(thread, row.id)
    assert details.error_origin == "runtime"
    assert details.traceback is not None
    assert world.lines(thread) == ["user: bad", "assistant: before"]
    assert summary.state == "awaiting_human"
    await world.ask(thread, "good")
    assert world.host.started == ["reply", "reply"]


async def test_a_crash_in_the_middle_does_not_deliver_again(make_world: MakeWorld) -> None:
    world = await make_world(*ECHO)
    gate = Gate()

    async def hangs(state: State, message: Message) -> None:
        await gate.wait()

    world.host.code["reply"] = hangs
    thread = await world.create("echo")
    await world.send(thread, "one")
    await gate.arrival()

    await world.restart()
    summary = await world.rest(thread)

    assert world.host.started == ["reply"]
    assert world.logs(thread)[-1].error == "The process ended while the handler ran."
    assert summary.state == "awaiting_human"


async def test_side_b_is_given_all_of_side_as_turn_in_order(make_world: MakeWorld) -> None:
    both = agent("both", Side(prompt="talk"), Side(handler="listen"))
    parts = [prompt("talk", "look"), model(), tool("look"), handler("listen")]
    world = await make_world(both, *parts)
    heard: list[tuple[str | None, int]] = []

    async def listen(state: State, message: Message) -> None:
        heard.append((message.content, len(message.tool_calls)))

    async def look(state: State, arguments: Any) -> str:
        return "seen"

    world.host.code |= {"listen": listen, "look": look}
    world.models.will("m", calls("look"), "It is there.")
    thread = await world.create("both")

    await world.ask(thread, "go")

    assert heard == [(None, 1), ("It is there.", 0)]
    order = [row.title for row in world.logs(thread) if row.kind in ("model", "tool", "handler")]
    assert order == ["m", "look", "m", "listen", "listen"]


async def test_the_end_of_a_session_passes_over_what_is_undelivered(
    make_world: MakeWorld,
) -> None:
    both = agent("both", Side(prompt="talk"), Side(handler="listen"))
    parts = [prompt("talk", "look"), model(), tool("look"), handler("listen")]
    world = await make_world(both, *parts)

    async def listen(state: State, message: Message) -> None:
        await state("stop_session", result="enough")

    async def look(state: State, arguments: Any) -> str:
        return "seen"

    world.host.code |= {"listen": listen, "look": look}
    world.models.will("m", calls("look"), "never delivered")
    thread = await world.create("both")

    summary = await world.ask(thread, "go")

    assert world.host.started == ["look", "listen"]
    assert summary.state == "idle"


async def test_a_missing_handler_is_a_sentence_and_the_thread_can_go_on(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*ECHO)
    world.definitions.handlers.clear()
    thread = await world.create("echo")

    summary = await world.ask(thread, "one")

    assert summary.state == "failed"
    assert "There is no handler named reply." in (summary.state_reason or "")
    world.definitions.handlers["reply"] = handler("reply")
    world.host.code["reply"] = reply
    assert (await world.ask(thread, "two")).state == "awaiting_human"


async def values_of(world: World) -> list[Any]:
    """What a handler kept and found again."""
    found: list[Any] = []

    async def keep(state: State, message: Message) -> None:
        found.append(await state("get_value", key="n"))
        await state("set_value", key="n", value={"said": message.content})

    world.host.code["reply"] = keep
    thread = await world.create("echo")
    await world.ask(thread, "one")
    await world.restart()
    await world.ask(thread, "two")
    return found


async def test_values_outlive_the_process(make_world: MakeWorld) -> None:
    assert await values_of(await make_world(*ECHO)) == [None, {"said": "one"}]
