"""What comes next is a pure function of the rows."""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from typing import Any, Literal

import pytest

from sa_builder.runtime.decide import (
    Action,
    AwaitChild,
    CallHandler,
    CallModel,
    CloseLost,
    EndTurn,
    NextStep,
    OpenTurn,
    Rest,
    RunCall,
    decide,
)
from sa_builder.runtime.frame import TurnFrame
from sa_builder.runtime.view import ActView, ThreadView, TurnView
from sa_builder.spec import Side
from sa_builder.spec.messages import Message, ToolCall
from sa_builder.util.ids import ActKey, MessageId, ThreadId
from tests.runtime.shapes import agent, prompt, tool

Status = Literal["started", "done", "failed", "unknown"]


def frame(**side: Any) -> TurnFrame:
    return TurnFrame(
        agent=agent("chat", Side(prompt="talk", **side)),
        side="a",
        prompt=prompt("talk"),
        tools={"safe": tool("safe", side_effects="none"), "harm": tool("harm")},
    )


def message(role: Literal["user", "assistant"] = "user", *called: str) -> Message:
    proposed = tuple(
        ToolCall(id=f"c{place}", name=name, arguments_json="{}")
        for place, name in enumerate(called)
    )
    return Message(
        id=MessageId("m"), thread_id=ThreadId("t"), role=role, content="x", tool_calls=proposed
    )


def view(turn: TurnView | None = None, **row: Any) -> ThreadView:
    whole: dict[str, Any] = {
        "id": "t", "state": "idle", "state_reason": None, "is_held": 0, "is_stopped": 0,
        "terminated_at_us": None, "forced_side": None, "last_side": None, "session_is_open": 1,
        "backing_a": "prompt talk", "backing_b": "human", "end_request_json": None,
    }  # fmt: skip
    return ThreadView(
        row=whole | row, turn=turn, acts={}, step_message=None,
        inbound={"a": deque(), "b": deque()}, queued=deque(), children={}, open_logs={},
        last_seq=0, last_log_id=0, last_text="",
    )  # fmt: skip


def in_turn(
    backing: Literal["prompt", "handler"] = "prompt", step: int = 1, **row: Any
) -> ThreadView:
    name = "talk" if backing == "prompt" else "listen"
    turn = TurnView(
        turn=2, side="a", backing=backing, name=name, step=step, frame_hash=None, resumes=[]
    )
    return view(turn, **row)


def with_act(one: ThreadView, key: str, kind: str, status: Status, **values: Any) -> ThreadView:
    one.acts[ActKey(key)] = ActView(
        key=ActKey(key), kind=kind, name="x", status=status, attempts=1, log_id=None, **values
    )
    return one


def decided(one: ThreadView, with_frame: TurnFrame | None = None) -> Action:
    """The decision, made twice, on a view that it leaves as it was."""
    before = deepcopy(one)
    action = decide(one, with_frame)
    assert one == before
    assert decide(one, with_frame) == action
    return action


def answered(*called: str, step: int = 1) -> ThreadView:
    one = in_turn(step=step)
    one.step_message = message("assistant", *called)
    return with_act(one, f"2/{step}/model", "model", "done")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({}, Rest("awaiting_human")),
        ({"session_is_open": 0}, Rest("idle")),
        ({"backing_b": "handler listen"}, Rest("idle")),
        ({"is_stopped": 1}, Rest("idle", "stopped")),
        ({"terminated_at_us": 1}, Rest("terminated")),
        ({"is_held": 1, "state": "parked", "state_reason": "why"}, Rest("parked", "why")),
        (
            {"state": "failed", "state_reason": "why", "session_is_open": 0},
            Rest("failed", "why"),
        ),
        ({"forced_side": "a"}, OpenTurn("a")),
        ({"forced_side": "b"}, Rest("awaiting_human")),
    ],
)
def test_a_thread_without_messages_rests(row: dict[str, Any], expected: Action) -> None:
    assert decided(view(**row)) == expected


def test_the_other_side_goes_first_then_the_same_one_again() -> None:
    one = view(backing_b="handler listen", last_side="a")
    one.inbound["a"].append(message())
    assert decided(one) == OpenTurn("a")
    one.inbound["b"].append(message("assistant"))
    assert decided(one) == OpenTurn("b")


@pytest.mark.parametrize("flag", [{"is_stopped": 1}, {"terminated_at_us": 5}])
def test_a_flag_ends_the_running_turn(flag: dict[str, Any]) -> None:
    assert decided(in_turn(**flag), frame()) == EndTurn("stopped")


def test_a_model_is_called_and_called_again_after_a_crash() -> None:
    one = in_turn()
    assert decided(one, frame()) == CallModel(ActKey("2/1/model"))
    with_act(one, "2/1/model", "model", "started")
    action = decided(one, frame())
    assert isinstance(action, CallModel)
    assert action.lost == one.acts[ActKey("2/1/model")]
    one.acts[ActKey("2/1/model")].status = "failed"
    one.acts[ActKey("2/1/model")].result = {"code": "provider.auth"}
    assert decided(one, frame()) == EndTurn("provider.auth", failed=True)


def test_calls_run_one_after_the_other_in_order() -> None:
    one = answered("safe", "harm")
    first = decided(one, frame())
    assert isinstance(first, RunCall)
    assert first.key == "2/1/call:0"
    with_act(one, "2/1/call:0", "tool", "failed")
    second = decided(one, frame())
    assert isinstance(second, RunCall)
    assert (second.key, second.call.name) == ("2/1/call:1", "harm")
    with_act(one, "2/1/call:1", "tool", "unknown")
    assert decided(one, frame()) == NextStep()


def test_a_cut_off_call_is_repeated_only_where_that_does_no_harm() -> None:
    safe = with_act(answered("safe"), "2/1/call:0", "tool", "started")
    action = decided(safe, frame())
    assert isinstance(action, RunCall)
    assert action.lost is not None
    harm = with_act(answered("harm"), "2/1/call:0", "tool", "started")
    assert isinstance(decided(harm, frame()), CloseLost)
    gone = with_act(answered("no_longer_there"), "2/1/call:0", "tool", "started")
    assert isinstance(decided(gone, frame()), CloseLost)


def test_a_child_is_waited_for_or_handed_over_again() -> None:
    waits = with_act(
        answered("subagent_create"), "2/1/call:0", "child", "started", input={"waits": True}
    )
    assert decided(waits, frame()) == AwaitChild(waits.acts[ActKey("2/1/call:0")])
    goes_on = with_act(answered("subagent_create"), "2/1/call:0", "child", "started")
    assert isinstance(decided(goes_on, frame()), RunCall)


@pytest.mark.parametrize(
    ("side", "step", "expected"),
    [
        ({}, 1, EndTurn("responded")),
        ({"stop_on_response": False}, 1, NextStep()),
        ({"stop_on_response": False, "max_steps": 2}, 2, EndTurn("max_steps")),
        ({"stop_on_response": False}, 100, EndTurn("step_ceiling", failed=True)),
        ({"stop_on_response": False, "max_steps": 100}, 100, EndTurn("max_steps")),
        ({"stop_on_response": False, "max_steps": 101}, 100, EndTurn("step_ceiling", failed=True)),
    ],
)
def test_how_a_text_ends_a_turn(side: dict[str, Any], step: int, expected: Action) -> None:
    assert decided(answered(step=step), frame(**side)) == expected


def test_a_stop_tool_counts_once_every_call_has_ended() -> None:
    stops = frame(stop_tool="safe", stop_tool_response_property="answer")
    one = with_act(answered("safe", "harm"), "2/1/call:0", "tool", "done")
    assert isinstance(decided(one, stops), RunCall)
    with_act(one, "2/1/call:1", "tool", "done")
    assert decided(one, stops) == EndTurn("stop_tool")
    one.acts[ActKey("2/1/call:0")].status = "failed"
    assert decided(one, stops) == NextStep()


def test_a_handler_is_called_once_and_never_again() -> None:
    one = in_turn("handler", step=0)
    assert decided(one, frame()) == EndTurn("nothing_to_deliver")
    first, second = message(), message()
    one.inbound["a"].extend([first, second])
    assert decided(one, frame()) == CallHandler(ActKey("2/0/handler"), first)
    with_act(one, "2/0/handler", "handler", "started")
    assert decided(one, frame()) == CloseLost(one.acts[ActKey("2/0/handler")], None)
    one.acts[ActKey("2/0/handler")].status = "failed"
    assert decided(one, frame()) == EndTurn("handler_failed")
    one.acts[ActKey("2/0/handler")].status = "done"
    assert decided(one, frame()) == EndTurn("handler_returned")
