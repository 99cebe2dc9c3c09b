"""When a prompt's turns and sessions end."""

from __future__ import annotations

import pytest

from sa_builder.spec import SessionTool, Side
from sa_builder.spec.definitions import ToolResult
from tests.runtime.conftest import MakeWorld
from tests.runtime.shapes import agent, chat, handler, model, prompt, tool
from tests.runtime.world import State, calls


async def done(state: State, arguments: object) -> str:
    """A tool that works."""
    return "done"


async def test_a_reply_ends_the_turn(make_world: MakeWorld) -> None:
    world = await make_world(*chat())
    world.models.will("m", "Hello.")
    thread = await world.create("chat")

    summary = await world.ask(thread, "hi")

    assert world.lines(thread) == ["user: hi", "assistant: Hello."]
    assert (summary.state, summary.preview, summary.title) == ("awaiting_human", "Hello.", "hi")
    assert world.streamed() == "Hello."


async def test_a_reply_does_not_end_a_turn_that_goes_on_after_it(make_world: MakeWorld) -> None:
    world = await make_world(*chat(side={"stop_on_response": False, "max_steps": 3}))
    world.models.will("m", "One.", "Two.", "Three.", "Four.")
    thread = await world.create("chat")

    summary = await world.ask(thread, "count")

    assert world.lines(thread)[1:] == ["assistant: One.", "assistant: Two.", "assistant: Three."]
    assert summary.state == "awaiting_human"


async def test_max_steps_is_a_normal_end(make_world: MakeWorld) -> None:
    world = await make_world(*chat(tool("look", side_effects="none"), side={"max_steps": 2}))
    world.host.code["look"] = done
    world.models.will("m", calls("look"), calls("look"), "never said")
    thread = await world.create("chat")

    summary = await world.ask(thread, "go")

    assert world.host.started == ["look", "look"]
    assert summary.state == "awaiting_human"
    assert [row.status for row in world.logs(thread)] == ["done"] * 5


async def test_no_definition_lifts_the_ceiling_of_steps(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sa_builder.runtime.decide.MOST_STEPS", 2)
    world = await make_world(*chat(tool("look", side_effects="none"), side={"max_steps": 500}))
    world.host.code["look"] = done
    world.models.will("m", *[calls("look")] * 4)
    thread = await world.create("chat")

    summary = await world.ask(thread, "go")

    assert len(world.models.requests) == 2
    assert summary.state == "failed"
    assert summary.state_reason == "The turn reached the most steps a turn may have."


@pytest.mark.parametrize(
    ("result", "arguments", "says"),
    [
        ('{"answer": "from the result"}', {"answer": "from the call"}, "from the result"),
        ("no JSON", {"answer": "from the call"}, "from the call"),
        ('{"answer": {"n": 1}}', {}, '{"n":1}'),
        ("raw", {}, "raw"),
    ],
)
async def test_a_stop_tools_property_is_the_response(
    make_world: MakeWorld, result: str, arguments: dict[str, str], says: str
) -> None:
    side = {"stop_tool": "finish", "stop_tool_response_property": "answer"}
    world = await make_world(*chat(tool("finish"), tool("after"), side=side))

    async def finish(state: State, given: object) -> str:
        return result

    world.host.code |= {"finish": finish, "after": done}
    world.models.will("m", calls(("finish", arguments), "after"), "never said")
    thread = await world.create("chat")

    await world.ask(thread, "go")

    assert world.lines(thread)[-1] == f"assistant: {says}"
    assert world.host.started == ["finish", "after"]


async def test_a_stop_tool_that_fails_does_not_stop(make_world: MakeWorld) -> None:
    side = {"stop_tool": "finish", "stop_tool_response_property": "answer"}
    world = await make_world(*chat(tool("finish"), side=side))

    async def finish(state: State, given: object) -> ToolResult:
        return ToolResult(status="error", error="not yet")

    world.host.code["finish"] = finish
    world.models.will("m", calls("finish"), "I could not finish.")
    thread = await world.create("chat")

    await world.ask(thread, "go")

    assert world.lines(thread)[-2:] == ["tool: not yet", "assistant: I could not finish."]


async def test_a_session_tool_ends_the_session_and_the_calls_after_it_are_not_run(
    make_world: MakeWorld,
) -> None:
    side = {"session_stop": SessionTool(name="submit", message_property="report")}
    world = await make_world(*chat(tool("submit"), tool("after"), side=side))
    world.host.code |= {"submit": done, "after": done}
    world.models.will("m", calls(("submit", {"report": "all well"}), "after"), "Anew.")
    thread = await world.create("chat")

    summary = await world.ask(thread, "go")

    assert world.host.started == ["submit"]
    assert world.lines(thread)[-2:] == ["tool: done", "tool: Not run: the session ended."]
    assert summary.state == "idle"
    assert (await world.ask(thread, "again")).state == "awaiting_human"
    assert world.lines(thread)[-1] == "assistant: Anew."


async def test_a_session_tool_that_fails_goes_to_the_model(make_world: MakeWorld) -> None:
    side = {"session_stop": SessionTool(name="submit", message_property="report")}
    world = await make_world(*chat(tool("submit"), side=side))

    async def submit(state: State, given: object) -> str:
        raise ValueError("no such issue")

    world.host.code["submit"] = submit
    world.models.will("m", calls(("submit", {"report": "x"})), "It failed.")
    thread = await world.create("chat")

    summary = await world.ask(thread, "go")

    assert world.lines(thread)[-2:] == ["tool: ValueError: no such issue", "assistant: It failed."]
    assert summary.state == "awaiting_human"


async def test_a_failing_session_tool_of_the_failing_kind_fails_the_session(
    make_world: MakeWorld,
) -> None:
    side = {"session_fail": SessionTool(name="give_up", message_property="why")}
    world = await make_world(*chat(tool("give_up"), side=side))
    world.host.code["give_up"] = done
    world.models.will("m", calls(("give_up", {"why": "too hard"})))
    thread = await world.create("chat")

    summary = await world.ask(thread, "go")

    assert (summary.state, summary.state_reason) == ("failed", "too hard")


async def test_max_session_turns_ends_the_session_not_the_thread(make_world: MakeWorld) -> None:
    talk = [prompt("talk"), model(), handler("again")]
    both = agent("both", Side(prompt="talk"), Side(handler="again"), max_session_turns=4)
    world = await make_world(both, *talk)

    async def again(state: State, message: object) -> None:
        await state("inject_message", role="user", content="again")

    world.host.code["again"] = again
    world.models.will("m", *["yes"] * 8)
    thread = await world.create("both")

    summary = await world.ask(thread, "go")

    assert world.host.started == ["again", "again"]
    assert len(world.models.requests) == 2
    assert summary.state_reason == "The session reached its turn limit."
    await world.ask(thread, "go on")
    assert len(world.models.requests) == 4


async def test_two_models_without_a_person_meet_the_ceiling_of_turns(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sa_builder.runtime.turns.MOST_TURNS", 6)
    both = agent("both", Side(prompt="left"), Side(prompt="right"))
    parts = [prompt("left", model="l"), prompt("right", model="r"), model("l"), model("r")]
    world = await make_world(both, *parts)
    world.models.will("l", *["ping"] * 9)
    world.models.will("r", *["pong"] * 9)
    thread = await world.create("both")

    summary = await world.ask(thread, "go")

    assert len(world.models.requests) == 6
    assert summary.state == "failed"


async def test_two_prompt_sides_each_see_their_own_words_as_the_assistants(
    make_world: MakeWorld,
) -> None:
    both = agent("both", Side(prompt="left"), Side(prompt="right"), max_session_turns=4)
    parts = [
        prompt("left", "look", model="l"),
        prompt("right", model="r"),
        model("l"),
        model("r"),
        tool("look", side_effects="none"),
    ]
    world = await make_world(both, *parts)
    world.host.code["look"] = done
    world.models.will("l", calls("look"), "from A", "A again")
    world.models.will("r", "from B", "B again")
    thread = await world.create("both")

    await world.ask(thread, "start")

    assert [one["role"] for one in world.models.asked("l")[1]] == ["user", "assistant", "tool"]
    assert [(one["role"], one["content"]) for one in world.models.asked("r")[0]] == [
        ("assistant", "start"),
        ("user", "from A"),
    ]
    last_of_left = world.models.asked("l")[-1]
    assert (last_of_left[-1]["role"], last_of_left[-1]["content"]) == ("user", "from B")
    assert (last_of_left[-2]["role"], last_of_left[-2]["content"]) == ("assistant", "from A")
