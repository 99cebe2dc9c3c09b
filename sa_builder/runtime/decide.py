"""What a thread does next: a pure function of its rows.

Nothing here waits, writes or looks at a clock. After a crash the rows are loaded and the same
function decides; an act that stands as started was cut off (or waits for a child).
"""

from __future__ import annotations

from dataclasses import dataclass

from sa_builder.runtime.frame import TurnFrame
from sa_builder.runtime.view import ActView, ThreadView, TurnView
from sa_builder.spec.messages import Message, SideName, ToolCall
from sa_builder.spec.threads import ThreadState
from sa_builder.util.ids import ActKey

MOST_STEPS = 100
"""Steps a turn may have, whatever definitions say."""
MOST_TURNS = 250
"""Turns since a person last acted, whatever definitions say."""
MOST_RESUMES = 3
"""How often a turn that a crash cut off goes on by itself within ten minutes."""
MOST_MODEL_RESUMES = 2
"""How often a model call that a crash cut off is made again within ten minutes."""


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing to do until something arrives."""

    state: ThreadState
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class OpenTurn:
    side: SideName


@dataclass(frozen=True, slots=True)
class CallModel:
    key: ActKey
    lost: ActView | None = None
    """The attempt that a crash cut off, if there is one."""


@dataclass(frozen=True, slots=True)
class RunCall:
    """Run one of the calls the model proposed."""

    key: ActKey
    call: ToolCall
    lost: ActView | None = None


@dataclass(frozen=True, slots=True)
class CloseLost:
    """Give up an act that a crash cut off and that may not simply be made again."""

    act: ActView
    call: ToolCall | None


@dataclass(frozen=True, slots=True)
class AwaitChild:
    act: ActView


@dataclass(frozen=True, slots=True)
class CallHandler:
    key: ActKey
    message: Message


@dataclass(frozen=True, slots=True)
class NextStep:
    """All calls of the step are done and the turn goes on."""


@dataclass(frozen=True, slots=True)
class EndTurn:
    reason: str
    failed: bool = False


Action = (
    Rest
    | OpenTurn
    | CallModel
    | RunCall
    | CloseLost
    | AwaitChild
    | CallHandler
    | NextStep
    | EndTurn
)


def model_key(turn: TurnView) -> ActKey:
    return ActKey(f"{turn.turn}/{turn.step}/model")


def call_key(turn: TurnView, place: int) -> ActKey:
    return ActKey(f"{turn.turn}/{turn.step}/call:{place}")


def handler_key(turn: TurnView) -> ActKey:
    return ActKey(f"{turn.turn}/0/handler")


def most_resumes(view: ThreadView) -> int:
    """How often the running turn goes on by itself within ten minutes, as it stands now."""
    is_in_model = any(act.kind == "model" and act.status == "started" for act in view.acts.values())
    return MOST_MODEL_RESUMES if is_in_model else MOST_RESUMES


def decide(view: ThreadView, frame: TurnFrame | None) -> Action:
    """The next thing to do.

    Args:
        frame: what the running turn runs with; None when no turn runs.
    """
    row = view.row
    if row["is_held"]:
        return Rest(row["state"], row["state_reason"])
    if view.turn is not None and frame is not None:
        if row["is_stopped"] or row["terminated_at_us"]:
            return EndTurn("stopped")
        if view.turn.backing == "handler":
            return _decide_handler(view, view.turn)
        return _decide_prompt(view, view.turn, frame)
    if row["terminated_at_us"]:
        return Rest("terminated")
    if row["is_stopped"]:
        return Rest("idle", "stopped")
    return _decide_between_turns(view)


def _decide_between_turns(view: ThreadView) -> Action:
    forced: SideName | None = view.row["forced_side"]
    if forced is not None and view.backing(forced) != "human":
        return OpenTurn(forced)
    last: SideName = view.row["last_side"] or "b"
    other: SideName = "b" if last == "a" else "a"
    for side in (other, last):
        if view.inbound[side] and view.backing(side) != "human":
            return OpenTurn(side)
    if view.row["state"] in ("failed", "idle") and not view.row["session_is_open"]:
        return Rest(view.row["state"], view.row["state_reason"])  # how the session ended
    if view.row["session_is_open"] and "human" in (view.backing("a"), view.backing("b")):
        return Rest("awaiting_human")
    return Rest("idle")


def _decide_handler(view: ThreadView, turn: TurnView) -> Action:
    act = view.acts.get(handler_key(turn))
    if act is None:
        if not view.inbound[turn.side]:
            return EndTurn("nothing_to_deliver")
        return CallHandler(handler_key(turn), view.inbound[turn.side][0])
    if act.status == "started":
        return CloseLost(act, None)
    if act.status == "done":
        return EndTurn("handler_returned")
    return EndTurn("handler_failed")


def _decide_prompt(view: ThreadView, turn: TurnView, frame: TurnFrame) -> Action:
    message = view.step_message
    if message is None:
        act = view.acts.get(model_key(turn))
        if act is None or act.status == "started":
            return CallModel(model_key(turn), lost=act)
        return EndTurn(str(act.result.get("code", "model_failed")), failed=True)
    stop_tool_called = False
    for place, call in enumerate(message.tool_calls):
        key = call_key(turn, place)
        act = view.acts.get(key)
        if act is None:
            return RunCall(key, call)
        if act.status == "started":
            return _decide_started_call(act, call, frame)
        if act.status == "done" and call.name == frame.own_side.stop_tool:
            stop_tool_called = True
    return _decide_stop(view, turn, frame, stop_tool_called=stop_tool_called)


def _decide_started_call(act: ActView, call: ToolCall, frame: TurnFrame) -> Action:
    if act.kind == "child" and act.input.get("waits"):
        return AwaitChild(act)
    tool = frame.tools.get(call.name)
    if act.kind == "child" or (tool is not None and tool.repeats_safely()):
        return RunCall(act.key, call, lost=act)
    return CloseLost(act, call)


def _decide_stop(
    view: ThreadView, turn: TurnView, frame: TurnFrame, *, stop_tool_called: bool
) -> Action:
    assert view.step_message is not None
    side = frame.own_side
    if view.end_request is not None:
        return EndTurn("session_ended")
    if stop_tool_called:
        return EndTurn("stop_tool")
    if not view.step_message.tool_calls and side.stop_on_response:
        return EndTurn("responded")
    return _step_or_end(turn, side.max_steps)


def _step_or_end(turn: TurnView, max_steps: int | None) -> Action:
    if max_steps is not None and turn.step >= max_steps:
        return EndTurn("max_steps")
    if turn.step >= MOST_STEPS:
        return EndTurn("step_ceiling", failed=True)
    return NextStep()
