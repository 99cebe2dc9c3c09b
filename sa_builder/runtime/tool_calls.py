"""The calls a model proposed: checked, started, run in the code host, and stored as results."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal, cast

from sa_builder.runtime.decide import CloseLost, RunCall
from sa_builder.runtime.frame import TurnFrame
from sa_builder.runtime.history import History
from sa_builder.runtime.log_book import LogBook
from sa_builder.runtime.ports import Ports
from sa_builder.runtime.subagents import LIFECYCLE_TOOLS, listing, owned_child, refuse_spawn, spawn
from sa_builder.runtime.turns import put_in_outbox, request_end
from sa_builder.runtime.view import ActView, ThreadView
from sa_builder.spec.definitions import SessionTool, ToolDefinition
from sa_builder.spec.host_wire import ExecutionSnapshot, HostCall, HostOutcome, StateSnapshot
from sa_builder.spec.messages import Message, ToolCall
from sa_builder.store import rows
from sa_builder.store.database import Tx
from sa_builder.util.ids import ThreadId, new_message_id, new_thread_id
from sa_builder.util.text import head_and_tail, sanitize

MOST_RESULT_CHARS = 60_000
"""A longer result is stored whole in the log and told to the model as head, marker and tail."""

Apply = Callable[[Tx], None]
Status = Literal["success", "error"]


def snapshot_of(view: ThreadView) -> StateSnapshot:
    """The attributes of ThreadState now."""
    turn = view.turn
    return StateSnapshot(
        thread_id=view.id,
        agent_name=view.agent_name,
        user_id=view.row["user_id"],
        created_at_us=view.row["created_at_us"],
        terminated=view.row["terminated_at_us"] is not None,
        children=view.child_entries(),
        arguments=json.loads(view.row["arguments_json"]),
        execution=ExecutionSnapshot(
            current_side=turn.side, step_count=turn.step, prompt_path=[turn.name]
        )
        if turn is not None
        else None,
    )


class ToolCalls:
    """Runs the calls of one thread's turns, in the order the model gave them."""

    def __init__(self, ports: Ports, logs: LogBook) -> None:
        self._ports = ports
        self._logs = logs
        self.history: History | None = None

    def begin(self, tx: Tx, view: ThreadView, frame: TurnFrame, action: RunCall) -> ActView | None:
        """Start a call. None when it ended in the same commit, refused or answered at once."""
        assert view.turn is not None
        call = action.call
        if action.lost is not None:
            return self._begin_again(tx, view, action.lost, call)
        if view.end_request is not None:
            self._refuse(tx, view, frame, action, "Not run: the session ended.", "session_ended")
            return None
        arguments = _arguments(call)
        if arguments is None:
            self._refuse(
                tx, view, frame, action, "The arguments are not a JSON object.", "invalid_arguments"
            )
            return None
        if call.name in LIFECYCLE_TOOLS and frame.children:
            return self._begin_lifecycle(tx, view, frame, action, arguments)
        tool = frame.tools.get(call.name)
        if tool is None:
            known = ", ".join(frame.tools) or "none"
            self._refuse(
                tx, view, frame, action, f"There is no tool {call.name}; there are: {known}.",
                "unknown_tool",
            )  # fmt: skip
            return None
        missing = self._missing_variable(view, frame, tool)
        if missing is not None:
            self._refuse(
                tx, view, frame, action, f"The variable {missing} is not set.",
                "missing_variable",
            )  # fmt: skip
            return None
        log_id = self._logs.begin(
            tx, view, kind="tool", title=call.name, act_key=action.key,
            arguments_json=call.arguments_json, definitions_hash=frame.definitions_hash,
        )  # fmt: skip
        return view.start_act(
            tx, key=action.key, kind="tool", name=call.name,
            now_us=self._ports.clock.now_us(), log_id=log_id, input={"arguments": arguments},
        )  # fmt: skip

    async def run(self, view: ThreadView, frame: TurnFrame, act: ActView, call: ToolCall) -> Apply:
        """Do the outside deed of a started call."""
        if act.kind == "child":
            await self._ports.deliver(view.id)
            return lambda tx: self._store_handed_over(tx, view, frame, act, call)
        tool = frame.tools[call.name]
        outcome = await self._ports.host.call(
            HostCall(
                call_id=f"{view.id}:{act.key}:{act.attempts}",
                kind="tool",
                name=call.name,
                snapshot=snapshot_of(view),
                arguments=act.input.get("arguments", {}),
                timeout_s=tool.timeout_s,
                test_mode=self._ports.test_mode,
            )
        )
        return lambda tx: self._store_outcome(tx, view, frame, act, call, outcome)

    def store_stopped(
        self, tx: Tx, view: ThreadView, frame: TurnFrame, act: ActView, call: ToolCall
    ) -> None:
        """Record that a person stopped the call."""
        self._end(tx, view, frame, act, call, "error", "Stopped by a person.", error_type="stopped")

    def close_lost(self, tx: Tx, view: ThreadView, frame: TurnFrame, action: CloseLost) -> None:
        """Give up a call whose outcome nobody knows; the model is told and decides."""
        assert action.call is not None
        text = (
            f"The process ended while {action.call.name} ran; whether it took effect is unknown."
            " Check before you call it again."
        )
        self._end(
            tx, view, frame, action.act, action.call, "error", text,
            error_type="outcome_unknown", act_status="unknown",
        )  # fmt: skip

    def note_waiting(self, tx: Tx, view: ThreadView, act: ActView) -> None:
        """Say in the log that a call waits for its child, also after a crash."""
        row = view.open_logs.get(act.log_id) if act.log_id is not None else None
        if act.log_id is not None and row is not None and row["status"] != "parked":
            self._logs.change(tx, view, act.log_id, detail=act.name, status="parked")

    def store_child_result(
        self, tx: Tx, view: ThreadView, frame: TurnFrame, act: ActView, body: dict[str, Any]
    ) -> None:
        """A blocking child's session ended: that is the result of the waiting call."""
        call = self.call_of(view, act)
        status: Status = "success" if body["status"] == "success" else "error"
        word = "result" if status == "success" else "error"
        text = rows.json_text({"status": status, word: body["text"]})
        self._end(
            tx, view, frame, act, call, status, text,
            error_type=None if status == "success" else str(body["code"]),
            child_id=ThreadId(body["child_id"]),
        )  # fmt: skip

    def call_of(self, view: ThreadView, act: ActView) -> ToolCall:
        """The proposed call that an act of the present step carries out."""
        assert view.step_message is not None
        place = int(act.key.rsplit(":", 1)[1])
        return view.step_message.tool_calls[place]

    def _begin_again(self, tx: Tx, view: ThreadView, lost: ActView, call: ToolCall) -> ActView:
        log_id = lost.log_id
        if lost.kind != "child":
            if lost.log_id is not None:
                self._logs.end(
                    tx, view, lost.log_id, "lost", error_type="lost", error_origin="runtime",
                    error="The process ended while it ran; it may be run again.",
                )  # fmt: skip
            log_id = self._logs.begin(
                tx, view, kind="tool", title=call.name, detail="again", act_key=lost.key,
                arguments_json=call.arguments_json, retry_of_log_id=lost.log_id,
            )  # fmt: skip
        return view.start_act(
            tx, key=lost.key, kind=lost.kind, name=lost.name, child_id=lost.child_id,
            now_us=self._ports.clock.now_us(), log_id=log_id, input=lost.input,
        )  # fmt: skip

    def _begin_lifecycle(
        self,
        tx: Tx,
        view: ThreadView,
        frame: TurnFrame,
        action: RunCall,
        arguments: dict[str, Any],
    ) -> ActView | None:
        assert view.turn is not None
        now_us = self._ports.clock.now_us()
        if action.call.name == "subagents":
            self._answer(tx, view, frame, action, listing(view))
            return None
        if action.call.name == "subagent_message":
            return self._begin_message(tx, view, frame, action, arguments)
        name = str(arguments.get("relationship", ""))
        child = frame.child(name)
        if child is None or child.relationship.hidden:
            self._refuse(tx, view, frame, action, f"There is no relationship {name}.", "unknown")
            return None
        given = arguments.get("arguments")
        values = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        refusal = refuse_spawn(view, child, values)
        if refusal is not None:
            self._refuse(tx, view, frame, action, refusal, "child_refused")
            return None
        waits = child.relationship.blocking
        entry = spawn(
            tx, view, child, owner_side=view.turn.side,
            name=str(arguments.get("name") or child.relationship.name),
            arguments=values, message=None, now_us=now_us, child_id=new_thread_id(),
        )  # fmt: skip
        log_id = self._logs.begin(
            tx, view, kind="child", title="subagent_create", detail=entry.name,
            act_key=action.key, child_thread_id=entry.reference,
            arguments_json=action.call.arguments_json,
        )  # fmt: skip
        return view.start_act(
            tx, key=action.key, kind="child", name=child.relationship.name, now_us=now_us,
            log_id=log_id, child_id=entry.reference, input={"waits": waits},
        )  # fmt: skip

    def _begin_message(
        self,
        tx: Tx,
        view: ThreadView,
        frame: TurnFrame,
        action: RunCall,
        arguments: dict[str, Any],
    ) -> ActView | None:
        reference = str(arguments.get("reference", ""))
        if ThreadId(reference) not in view.children:
            self._refuse(tx, view, frame, action, f"There is no child {reference}.", "unknown")
            return None
        row = owned_child(view, reference)
        if row["status"] == "terminated":
            self._refuse(tx, view, frame, action, f"{row['name']} has ended for good.", "ended")
            return None
        now_us = self._ports.clock.now_us()
        child_id = ThreadId(reference)
        put_in_outbox(
            tx, view, key=f"{view.id}/{action.key}/message", target_id=child_id, kind="message",
            body={"role": "user", "content": str(arguments.get("message", ""))}, now_us=now_us,
        )  # fmt: skip
        view.set_child_status(tx, child_id, "running")
        log_id = self._logs.begin(
            tx, view, kind="child", title="subagent_message", detail=row["name"],
            act_key=action.key, child_thread_id=child_id,
            arguments_json=action.call.arguments_json,
        )  # fmt: skip
        return view.start_act(
            tx, key=action.key, kind="child", name=row["relationship"], now_us=now_us,
            log_id=log_id, child_id=child_id, input={"waits": bool(row["blocking"])},
        )  # fmt: skip

    def _missing_variable(
        self, view: ThreadView, frame: TurnFrame, tool: ToolDefinition
    ) -> str | None:
        for variable in tool.variables:
            if variable.required and self._ports.variable(view, variable.name, frame, tool) is None:
                return variable.name
        return None

    def _answer(
        self, tx: Tx, view: ThreadView, frame: TurnFrame, action: RunCall, text: str
    ) -> None:
        act = self._started_and_logged(tx, view, action)
        self._end(tx, view, frame, act, action.call, "success", text)

    def _refuse(
        self,
        tx: Tx,
        view: ThreadView,
        frame: TurnFrame,
        action: RunCall,
        text: str,
        error_type: str,
    ) -> None:
        act = self._started_and_logged(tx, view, action)
        self._end(tx, view, frame, act, action.call, "error", text, error_type=error_type)

    def _started_and_logged(self, tx: Tx, view: ThreadView, action: RunCall) -> ActView:
        log_id = self._logs.begin(
            tx, view, kind="tool", title=action.call.name, act_key=action.key,
            arguments_json=action.call.arguments_json,
        )  # fmt: skip
        return view.start_act(
            tx, key=action.key, kind="tool", name=action.call.name,
            now_us=self._ports.clock.now_us(), log_id=log_id,
        )  # fmt: skip

    def _store_handed_over(
        self, tx: Tx, view: ThreadView, frame: TurnFrame, act: ActView, call: ToolCall
    ) -> None:
        if act.status != "started":
            return
        if act.input.get("waits"):
            return  # what is decided next says so
        text = rows.json_text({"status": "running", "reference": act.child_id, "name": act.name})
        self._end(tx, view, frame, act, call, "success", text, child_id=act.child_id)

    def _store_outcome(
        self,
        tx: Tx,
        view: ThreadView,
        frame: TurnFrame,
        act: ActView,
        call: ToolCall,
        outcome: HostOutcome,
    ) -> None:
        if outcome.status == "success":
            self._end(
                tx, view, frame, act, call, "success", outcome.result or "",
                captured_output=outcome.captured_output,
            )  # fmt: skip
            return
        self._end(
            tx, view, frame, act, call, "error", outcome.error or "The tool failed.",
            error_type=outcome.error_type or "tool_error", traceback=outcome.traceback,
            captured_output=outcome.captured_output,
            act_status="unknown" if outcome.unknown else "failed",
        )  # fmt: skip

    def _end(
        self,
        tx: Tx,
        view: ThreadView,
        frame: TurnFrame,
        act: ActView,
        call: ToolCall,
        status: Status,
        text: str,
        *,
        error_type: str | None = None,
        traceback: str | None = None,
        captured_output: str | None = None,
        child_id: ThreadId | None = None,
        act_status: Literal["failed", "unknown"] = "failed",
    ) -> None:
        assert view.turn is not None
        now_us = self._ports.clock.now_us()
        whole = self._ports.redact(sanitize(text))
        is_success = status == "success"
        result = {"status": status}
        if is_success and call.name == frame.own_side.stop_tool:
            name = frame.own_side.stop_tool_response_property
            result["response"] = _stop_tool_text(name, whole, _arguments(call))
        view.end_act(tx, act, "done" if is_success else act_status, result, now_us=now_us)
        message = view.add_message(
            tx,
            Message(
                id=new_message_id(), thread_id=view.id, role="tool", name=call.name,
                content=head_and_tail(whole, MOST_RESULT_CHARS), tool_call_id=call.id,
                tool_status=status, log_id=act.log_id, created_at_us=now_us,
                side=view.turn.side, turn=view.turn.turn, step=view.turn.step,
                subagent_id=child_id,
            ),
            now_us=now_us,
        )  # fmt: skip
        if self.history is not None:
            self.history.add(message)
        if act.log_id is not None:
            self._logs.end(
                tx, view, act.log_id, "done" if is_success else "failed",
                result=whole if is_success else None, message_id=message.id,
                error=None if is_success else whole, error_type=error_type,
                error_origin=None if is_success else "tool", traceback=traceback,
                captured_output=captured_output or None,
            )  # fmt: skip
        if is_success:
            self._bind_session(tx, view, frame, call, whole)

    def _bind_session(
        self, tx: Tx, view: ThreadView, frame: TurnFrame, call: ToolCall, result: str
    ) -> None:
        side = frame.own_side
        arguments = _arguments(call) or {}
        if side.session_stop is not None and side.session_stop.name == call.name:
            text = _session_text(side.session_stop, arguments, result)
            request_end(tx, view, "success", text, "session_stop")
        elif side.session_fail is not None and side.session_fail.name == call.name:
            text = _session_text(side.session_fail, arguments, result)
            request_end(tx, view, "error", text, "session_fail")
        elif side.session_status is not None and side.session_status.name == call.name:
            text = _session_text(side.session_status, arguments, result)
            tell_status(tx, view, text, now_us=self._ports.clock.now_us(), key=call.id)


def tell_status(tx: Tx, view: ThreadView, text: str, *, now_us: int, key: str) -> None:
    """Tell the parent's registry a status of the child's own."""
    view.set(tx, status_text=text)
    if view.row["parent_id"] is not None:
        put_in_outbox(
            tx, view, key=f"{view.id}/status/{key}", target_id=ThreadId(view.row["parent_id"]),
            kind="child_status", body={"child_id": view.id, "status": text}, now_us=now_us,
        )  # fmt: skip


def _session_text(tool: SessionTool, arguments: dict[str, Any], result: str) -> str:
    if tool.message_property is None:
        return result
    value = arguments.get(tool.message_property)
    return value if isinstance(value, str) else rows.json_text(value)


def _stop_tool_text(name: str | None, result: str, arguments: dict[str, Any] | None) -> str:
    """A stop tool's response: its property in the result, else in the arguments, else it all."""
    try:
        answered: object = json.loads(result)
    except ValueError:
        answered = None
    for values in (answered, arguments):
        if isinstance(values, dict) and name in values:
            found = cast("dict[str | None, object]", values)[name]
            return found if isinstance(found, str) else rows.json_text(found)
    return result


def _arguments(call: ToolCall) -> dict[str, Any] | None:
    try:
        value = json.loads(call.arguments_json or "{}")
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None
