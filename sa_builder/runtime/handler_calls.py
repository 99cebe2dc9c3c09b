"""Deliveries to a handler: the position first, then the call, once for each message."""

from __future__ import annotations

from collections.abc import Callable

from sa_builder.runtime.decide import CallHandler
from sa_builder.runtime.log_book import LogBook
from sa_builder.runtime.ports import Ports
from sa_builder.runtime.tool_calls import snapshot_of
from sa_builder.runtime.view import ActView, ThreadView
from sa_builder.spec.host_wire import HostCall, HostOutcome
from sa_builder.spec.messages import Message
from sa_builder.store.database import Tx

ERROR_TYPE = "handler_execution_error"
Apply = Callable[[Tx], None]


class HandlerCalls:
    """Takes one thread's handler turns."""

    def __init__(self, ports: Ports, logs: LogBook) -> None:
        self._ports = ports
        self._logs = logs

    def begin(self, tx: Tx, view: ThreadView, action: CallHandler) -> ActView:
        """Record the delivery before the call, so that it never happens twice."""
        turn = view.turn
        assert turn is not None
        message = view.inbound[turn.side].popleft()
        view.set(tx, **{f"position_{turn.side}": message.seq})
        log_id = self._logs.begin(
            tx, view, kind="handler", title=turn.name, act_key=action.key,
            handler_name=turn.name, message_id=message.id,
            arguments_json=message.model_dump_json(exclude_defaults=True),
        )  # fmt: skip
        return view.start_act(
            tx, key=action.key, kind="handler", name=turn.name,
            now_us=self._ports.clock.now_us(), log_id=log_id, input={"message_id": message.id},
        )  # fmt: skip

    async def run(self, view: ThreadView, act: ActView, message: Message) -> Apply:
        """Call the handler in the code host."""
        outcome = await self._ports.host.call(
            HostCall(
                call_id=f"{view.id}:{act.key}:{act.attempts}",
                kind="handler",
                name=act.name,
                snapshot=snapshot_of(view),
                message=message,
                test_mode=self._ports.test_mode,
            )
        )
        return lambda tx: self._store(tx, view, act, outcome)

    def store_stopped(self, tx: Tx, view: ThreadView, act: ActView) -> None:
        """Record that a person stopped the call."""
        self._fail(tx, view, act, "Stopped by a person.", None, "")

    def close_lost(self, tx: Tx, view: ThreadView, act: ActView) -> None:
        """A crash cut the call off; it is not made again."""
        self._fail(tx, view, act, "The process ended while the handler ran.", None, "")

    def _store(self, tx: Tx, view: ThreadView, act: ActView, outcome: HostOutcome) -> None:
        if outcome.status == "error":
            text = outcome.error or "The handler failed."
            self._fail(tx, view, act, text, outcome.traceback, outcome.captured_output)
            return
        view.end_act(tx, act, "done", {}, now_us=self._ports.clock.now_us())
        if act.log_id is not None:
            self._logs.end(
                tx, view, act.log_id, "done", captured_output=outcome.captured_output or None
            )

    def _fail(
        self, tx: Tx, view: ThreadView, act: ActView, text: str, traceback: str | None, output: str
    ) -> None:
        view.end_act(tx, act, "failed", {"error": text}, now_us=self._ports.clock.now_us())
        if act.log_id is not None:
            self._logs.end(
                tx, view, act.log_id, "failed", error=text, error_type=ERROR_TYPE,
                error_origin="runtime", traceback=traceback, captured_output=output or None,
            )  # fmt: skip
