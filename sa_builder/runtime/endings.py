"""How turns end: as definitions say, stopped by a person, or with a failure's sentence."""

from __future__ import annotations

from typing import Literal

from sa_builder.runtime import turns
from sa_builder.runtime.decide import EndTurn
from sa_builder.runtime.frame import TurnFrame
from sa_builder.runtime.handler_calls import HandlerCalls
from sa_builder.runtime.log_book import LogBook
from sa_builder.runtime.ports import Ports
from sa_builder.runtime.tool_calls import ToolCalls
from sa_builder.runtime.view import EndRequest, ThreadView
from sa_builder.spec.messages import Message, SideName
from sa_builder.store.database import Tx
from sa_builder.util.ids import new_message_id


class Endings:
    """Adds the end of a turn to the commit at hand."""

    def __init__(
        self, ports: Ports, logs: LogBook, calls: ToolCalls, handlers: HandlerCalls
    ) -> None:
        self._ports = ports
        self._logs = logs
        self._calls = calls
        self._handlers = handlers

    def end_turn(self, tx: Tx, view: ThreadView, frame: TurnFrame, action: EndTurn) -> None:
        """Close the running turn for the reason that was decided."""
        turn = view.turn
        assert turn is not None
        now_us = self._ports.clock.now_us()
        has_new_word = False
        if action.reason == "stopped":
            self._stop_acts(tx, view, frame)
            has_new_word = any(not message.silent for message in view.queued)
        elif action.reason == "stop_tool":
            self._store_stop_tool_response(tx, view, frame)
        if action.failed:
            text = _failure_of(view) or turns.CODE_SENTENCES.get(action.reason, "The turn failed.")
            view.add_message(
                tx, turns.failed_message(view, turn.side, text, now_us=now_us), now_us=now_us
            )
            turns.request_end(tx, view, "error", text, action.reason)
        turns.end_turn(
            tx, view, reason=action.reason, status=_turn_status(action),
            max_session_turns=frame.agent.max_session_turns, now_us=now_us,
        )  # fmt: skip
        if has_new_word:
            view.set(tx, is_stopped=0)
        tx.full = True

    def fail(
        self, tx: Tx, view: ThreadView, code: str, sentence: str, *, side: SideName | None = None
    ) -> None:
        """End what runs with a sentence: the turn, or the wish to open one.

        Args:
            side: whose turn was to be opened; None when a turn runs.
        """
        now_us = self._ports.clock.now_us()
        turn = view.turn
        writer = turn.side if turn is not None else side or "a"
        view.add_message(
            tx, turns.failed_message(view, writer, sentence, now_us=now_us), now_us=now_us
        )
        tx.full = True
        if turn is not None:
            for log_id in list(view.open_logs):
                self._logs.end(tx, view, log_id, "failed", error=sentence, error_type=code)
            turns.request_end(tx, view, "error", sentence, code)
            turns.end_turn(
                tx, view, reason=code, status="failed", max_session_turns=None, now_us=now_us
            )
            return
        self._logs.begin(
            tx, view, kind="model" if view.backing(writer) == "prompt" else "handler",
            title=view.agent_name, status="failed", error=sentence, error_type=code,
            error_origin="runtime", side=writer,
        )  # fmt: skip
        turns.end_session(tx, view, EndRequest("error", sentence, code), now_us=now_us)
        view.set(tx, is_held=1, forced_side=None)
        view.set_state(tx, "failed", sentence)

    def _stop_acts(self, tx: Tx, view: ThreadView, frame: TurnFrame) -> None:
        """What is still open of a stopped turn is closed with the same word."""
        for act in [act for act in view.acts.values() if act.status == "started"]:
            if act.kind == "handler":
                self._handlers.store_stopped(tx, view, act)
            elif act.kind in ("tool", "child"):
                call = self._calls.call_of(view, act)
                self._calls.store_stopped(tx, view, frame, act, call)
        for log_id in list(view.open_logs):
            self._logs.end(
                tx, view, log_id, "failed", error="Stopped by a person.", error_type="stopped",
                error_origin="runtime",
            )  # fmt: skip

    def _store_stop_tool_response(self, tx: Tx, view: ThreadView, frame: TurnFrame) -> None:
        turn = view.turn
        assert turn is not None
        name = frame.own_side.stop_tool
        text = next(
            str(act.result["response"])
            for act in view.acts.values()
            if act.name == name and "response" in act.result
        )
        now_us = self._ports.clock.now_us()
        message = Message(
            id=new_message_id(), thread_id=view.id, role=turns.ROLE_OF[turn.side],
            content=text, side=turn.side, turn=turn.turn, step=turn.step,
            prompt=turn.name, created_at_us=now_us,
        )  # fmt: skip
        view.add_message(tx, message, now_us=now_us)


def _failure_of(view: ThreadView) -> str:
    last = next(reversed(view.acts.values()), None)
    return str(last.result.get("error", "")) if last is not None else ""


def _turn_status(action: EndTurn) -> Literal["done", "failed", "stopped"]:
    if action.reason == "stopped":
        return "stopped"
    return "failed" if action.failed else "done"
