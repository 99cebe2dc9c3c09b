"""What fails outside: models, tools, the code host; and what a crash leaves of them."""

from __future__ import annotations

from typing import Any, cast

import pytest

from sa_builder.providers.base import ProviderError, ProviderErrorCode
from sa_builder.spec import Side, Variable
from sa_builder.util.clock import FakeClock
from tests.runtime.conftest import MakeWorld
from tests.runtime.shapes import agent, chat, model, prompt, tool
from tests.runtime.world import Gate, RawJson, State, World, calls


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    def none(error: ProviderError, try_number: int) -> float:
        return 0.0

    monkeypatch.setattr("sa_builder.runtime.model_step._pause_s", none)


def trouble(code: ProviderErrorCode = "overloaded") -> ProviderError:
    return ProviderError(code, f"It is {code}.")


async def done(state: State, arguments: object) -> str:
    return "done"


async def test_a_model_that_may_mend_is_asked_again_and_every_attempt_is_a_row(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*chat())
    world.models.will("m", trouble(), trouble("truncated"), "There.")
    thread = await world.create("chat")

    await world.ask(thread, "hi")

    assert world.lines(thread) == ["user: hi", "assistant: There."]
    rows = [row for row in world.logs(thread) if row.kind == "model"]
    assert [row.status for row in rows] == ["failed", "failed", "done"]
    assert [row.retry_of_log_id for row in rows] == [None, rows[0].id, rows[1].id]
    assert [row.error_type for row in rows] == [
        "provider.overloaded", "provider.truncated", None,
    ]  # fmt: skip
    bodies = {world.log(thread, row.id).request_body for row in rows}
    assert len(bodies) == 1
    assert None not in bodies


async def test_a_refused_key_is_not_tried_again_and_is_a_sentence(make_world: MakeWorld) -> None:
    world = await make_world(*chat())
    world.models.will("m", trouble("auth"), "never said")
    thread = await world.create("chat")

    summary = await world.ask(thread, "hi")

    assert len(world.models.requests) == 1
    assert (summary.state, summary.state_reason) == ("failed", "It is auth.")
    last = world.messages(thread)[-1]
    assert (last.content, last.status) == ("It is auth.", "failed")


async def test_a_failed_thread_can_be_asked_again_and_forgets_the_failure(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*chat())
    world.models.will("m", trouble("auth"), "Now it works.")
    thread = await world.create("chat")
    await world.ask(thread, "hi")

    summary = await world.ask(thread, "again")

    assert summary.state == "awaiting_human"
    assert world.models.asked("m")[-1] == [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": "again"},
    ]


async def test_a_fallback_answers_when_the_first_model_will_not(make_world: MakeWorld) -> None:
    definitions = [agent("chat", Side(prompt="talk")), prompt("talk"),
                   model(fallbacks=["spare"]), model("spare")]  # fmt: skip
    world = await make_world(*definitions)
    world.models.will("m", trouble(), trouble(), trouble())
    world.models.will("spare", "From the spare.")
    thread = await world.create("chat")

    await world.ask(thread, "hi")

    assert [name for name, _ in world.models.requests] == ["m", "m", "m", "spare"]
    assert world.lines(thread)[-1] == "assistant: From the spare."
    assert world.logs(thread)[-1].model_name == "spare"


async def test_what_streamed_of_a_broken_answer_is_kept(make_world: MakeWorld) -> None:
    world = await make_world(*chat())
    gate = Gate(trouble("content_filter"), first="I will now ")
    gate.opened.set()
    world.models.will("m", gate)
    thread = await world.create("chat")

    await world.ask(thread, "hi")

    texts = [(one.content, one.status) for one in world.messages(thread)][1:]
    assert texts == [("I will now ", "failed"), ("It is content_filter.", "failed")]


async def test_a_tool_that_throws_is_an_error_result(make_world: MakeWorld) -> None:
    world = await make_world(*chat(tool("look")))

    async def look(state: State, arguments: object) -> str:
        raise KeyError("nothing there")

    world.host.code["look"] = look
    world.models.will("m", calls("look"), "It failed.")
    thread = await world.create("chat")

    await world.ask(thread, "hi")

    result = world.messages(thread)[2]
    assert (result.tool_status, result.content) == ("error", "KeyError: 'nothing there'")
    row = next(row for row in world.logs(thread) if row.kind == "tool")
    assert (row.status, row.error_type) == ("failed", "KeyError")
    assert world.log(thread, row.id).traceback is not None


@pytest.mark.parametrize(
    ("proposed", "says"),
    [
        ("nothing", "There is no tool nothing; there are: look."),
        (("look", RawJson("{not json")), "The arguments are not a JSON object."),
        (("look", RawJson("[1]")), "The arguments are not a JSON object."),
        ("look", "The variable TOKEN is not set."),
    ],
)
async def test_a_call_that_cannot_be_made_is_told_to_the_model(
    make_world: MakeWorld, proposed: Any, says: str
) -> None:
    needs = tool("look", variables=[Variable(name="TOKEN", required=True, description="x")])
    world = await make_world(*chat(needs))
    world.models.will("m", calls(proposed), "Well.")
    thread = await world.create("chat")

    await world.ask(thread, "hi")

    assert world.lines(thread)[2] == f"tool: {says}"
    assert world.host.started == []


async def test_a_code_host_that_cannot_start_fails_the_turn_with_its_sentence(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*chat(tool("look")))
    world.host.is_broken = True
    world.models.will("m", calls("look"))
    thread = await world.create("chat")

    summary = await world.ask(thread, "hi")

    assert (summary.state, summary.state_reason) == ("failed", "The code host cannot start.")
    assert all(row.status != "running" for row in world.logs(thread))


async def test_a_fault_of_our_own_fails_the_turn_and_is_kept_with_its_traceback(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*chat())
    world.models.will("m", cast("Any", RuntimeError), "Again.")
    thread = await world.create("chat")

    summary = await world.ask(thread, "hi")

    assert summary.state == "failed"
    assert "fault of its own" in (summary.state_reason or "")
    assert "Traceback" in world.folder.error_log.read_text(encoding="utf-8")
    assert (await world.ask(thread, "again")).state == "awaiting_human"


async def cut_off_in(world: World, name: str) -> Any:
    """A thread whose tool was running when the process ended."""
    gate = Gate()

    async def hangs(state: State, arguments: object) -> str:
        await gate.wait()
        return "never"

    world.host.code[name] = hangs
    thread = await world.create("chat")
    await world.send(thread, "hi")
    await gate.arrival()
    world.host.code[name] = done
    await world.restart()
    await world.rest(thread)
    return thread


@pytest.mark.parametrize(
    "declared",
    [{"side_effects": "none"}, {"side_effects": "read"}, {"idempotency": "idempotent"}],
)
async def test_a_tool_that_does_no_harm_is_run_again_after_a_crash(
    make_world: MakeWorld, declared: dict[str, str]
) -> None:
    world = await make_world(*chat(tool("look", **declared)))
    world.models.will("m", calls("look"), "Good.")

    thread = await cut_off_in(world, "look")

    assert world.host.started == ["look", "look"]
    assert world.lines(thread)[-2:] == ["tool: done", "assistant: Good."]
    rows = [row for row in world.logs(thread) if row.kind == "tool"]
    assert [row.status for row in rows] == ["lost", "done"]
    assert rows[1].retry_of_log_id == rows[0].id


async def test_a_tool_that_may_do_harm_is_never_run_twice(make_world: MakeWorld) -> None:
    world = await make_world(*chat(tool("pay")))
    world.models.will("m", calls("pay"), "I do not know whether it was paid.")

    thread = await cut_off_in(world, "pay")

    assert world.host.started == ["pay"]
    assert "whether it took effect is unknown" in world.lines(thread)[-2]
    assert [len(requests) for requests in world.models.asked("m")] == [1, 3]
    reader = world.reader(thread)
    assert [act.status for act in reader.acts() if act.kind == "tool"] == ["unknown"]
    reader.close()


async def test_a_model_call_that_was_cut_off_is_made_again_and_its_row_closed(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*chat())
    gate = Gate("never said", first="I was")
    world.models.will("m", gate, "Anew.")
    thread = await world.create("chat")
    await world.send(thread, "hi")
    await gate.arrival()

    await world.restart()
    await world.rest(thread)

    assert world.lines(thread) == ["user: hi", "assistant: Anew."]
    assert world.models.asked("m")[0] == world.models.asked("m")[1]
    rows = [row for row in world.logs(thread) if row.kind == "model"]
    assert [row.status for row in rows] == ["lost", "done"]


async def test_a_turn_that_keeps_ending_the_process_is_parked_and_can_be_continued(
    make_world: MakeWorld,
) -> None:
    world = await make_world(*chat())
    gates = [Gate("never said") for _ in range(3)]
    world.models.will("m", *gates, "At last.")
    thread = await world.create("chat")
    await world.send(thread, "hi")
    for gate in gates:
        await gate.arrival()
        await world.restart()

    summary = await world.rest(thread)
    assert summary.state == "parked"
    assert "continue it by hand" in (summary.state_reason or "")
    assert len(world.models.requests) == 3
    await world.engine.box(thread).go_on("a")
    await world.rest(thread)

    assert world.lines(thread)[-1] == "assistant: At last."


async def test_cuts_that_lie_far_apart_do_not_park_a_turn(make_world: MakeWorld) -> None:
    world = await make_world(*chat())
    gates = [Gate("never said") for _ in range(4)]
    world.models.will("m", *gates, "At last.")
    thread = await world.create("chat")
    await world.send(thread, "hi")
    for gate in gates:
        await gate.arrival()
        assert isinstance(world.clock, FakeClock)
        world.clock.advance(seconds=601)
        await world.restart()

    await world.rest(thread)

    assert world.lines(thread)[-1] == "assistant: At last."
