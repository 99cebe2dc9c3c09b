"""One model act: its request, its attempts, what streams, and the commit of its answer."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sa_builder.providers.base import (
    ContentDelta,
    Exchange,
    ModelAnswer,
    ModelRequest,
    ProviderError,
    ReasoningDelta,
    ToolCallBegun,
    ToolSpec,
)
from sa_builder.runtime.decide import CallModel
from sa_builder.runtime.frame import TurnFrame
from sa_builder.runtime.history import History
from sa_builder.runtime.log_book import LogBook
from sa_builder.runtime.ports import Ports
from sa_builder.runtime.subagents import child_tool_specs
from sa_builder.runtime.turns import ROLE_OF, failed_message
from sa_builder.runtime.view import ActView, ThreadView
from sa_builder.spec.definitions import ModelDefinition
from sa_builder.spec.events import MessageDelta
from sa_builder.spec.messages import Message, ToolCall
from sa_builder.store import rows
from sa_builder.store.bodies import BodyChain
from sa_builder.store.database import Tx
from sa_builder.store.sqlite import Value
from sa_builder.util.ids import LogId, MessageId, new_message_id
from sa_builder.util.text import sanitize

RETRIES = 2
"""Times a call is made again on the same model before the fallbacks."""

Apply = Callable[[Tx], None]


@dataclass(slots=True)
class Streamed:
    """What has come so far of the attempt that runs."""

    message_id: MessageId
    log_id: LogId
    exchange: Exchange = field(default_factory=Exchange)
    text: list[str] = field(default_factory=list[str])
    reasoning: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Offer:
    """What is the same in every request of a frame, and is stored once."""

    frame: TurnFrame
    specs: Sequence[ToolSpec]
    prompt_parts_json: str
    prompt_hash: str
    schema_hash: str | None

    @classmethod
    def of(cls, tx: Tx, frame: TurnFrame) -> Offer:
        specs = tool_specs(frame)
        schema = rows.json_text([_wire_tool(spec) for spec in specs]) if specs else None
        return cls(
            frame=frame,
            specs=specs,
            prompt_parts_json=rows.json_text(list(frame.prompt_parts)),
            prompt_hash=_blob(tx, frame.system_prompt),
            schema_hash=_blob(tx, schema) if schema else None,
        )


class ModelStep:
    """Makes the model acts of one thread's turns."""

    def __init__(
        self, ports: Ports, logs: LogBook, commit: Callable[[Apply], Awaitable[None]]
    ) -> None:
        """Work for one thread.

        Args:
            commit: runs a change under the thread's lock and commits it; awaitable.
        """
        self._ports = ports
        self._logs = logs
        self._commit = commit
        self._bodies = BodyChain()
        self._offer: Offer | None = None
        self.history: History | None = None
        self._now: Streamed | None = None

    def begin(self, tx: Tx, view: ThreadView, frame: TurnFrame, action: CallModel) -> ActView:
        """Write the act and its first log row as started."""
        model = frame.models[0]
        if action.lost is not None and action.lost.log_id is not None:
            self._close_lost(tx, view, action.lost.log_id)
        log_id = self._begin_log(tx, view, frame, action, model, attempt=1, retry_of=None)
        self._now = Streamed(new_message_id(), log_id)
        return view.start_act(
            tx,
            key=action.key,
            kind="model",
            name=model.name,
            now_us=self._ports.clock.now_us(),
            log_id=log_id,
        )

    def forget_bodies(self) -> None:
        """Store the next request whole: which of those before it were written is not sure."""
        self._bodies = BodyChain()
        self._offer = None

    async def run(self, view: ThreadView, frame: TurnFrame, act: ActView) -> Apply:
        """Call the model, again where that may help, then its fallbacks in order."""
        assert self._now is not None
        assert self.history is not None
        attempt = 0
        failure: ProviderError | None = None
        for model in frame.models:
            for try_number in range(RETRIES + 1):
                attempt += 1
                if attempt > 1:
                    await self._begin_attempt(view, frame, act, model, attempt, failure)
                try:
                    answer = await self._attempt(view, frame, model)
                except ProviderError as error:
                    failure = error
                    if not self._may_retry(error) or try_number == RETRIES:
                        break
                    await asyncio.sleep(_pause_s(error, try_number))
                else:
                    return lambda tx, model=model, answer=answer: self._store_answer(
                        tx, view, frame, act, model, answer
                    )
            if failure is not None and failure.error_code in _FATAL:
                break
        assert failure is not None
        return lambda tx: self.store_failure(tx, view, act, failure)

    def store_failure(self, tx: Tx, view: ThreadView, act: ActView, error: ProviderError) -> None:
        """Record that no model answered; what had streamed stays as a failed message."""
        assert view.turn is not None
        self._end_log_failed(tx, view, error, status="failed")
        now_us = self._ports.clock.now_us()
        text = self.partial_text()
        if text:
            view.add_message(
                tx,
                failed_message(view, view.turn.side, text, now_us=now_us, partial=True),
                now_us=now_us,
            )
        view.end_act(tx, act, "failed", {"code": error.code, "error": error.text()}, now_us=now_us)

    def store_stopped(self, tx: Tx, view: ThreadView, act: ActView) -> None:
        """Record that a person stopped the call; what had streamed is kept."""
        self.store_failure(
            tx, view, act, ProviderError("unknown", "Stopped by a person before it was answered.")
        )

    def partial_text(self) -> str:
        """The text that has streamed of the present attempt."""
        return "".join(self._now.text) if self._now else ""

    def _may_retry(self, error: ProviderError) -> bool:
        return error.retryable

    async def _begin_attempt(
        self,
        view: ThreadView,
        frame: TurnFrame,
        act: ActView,
        model: ModelDefinition,
        attempt: int,
        failure: ProviderError | None,
    ) -> None:
        assert self._now is not None
        before = self._now

        def change(tx: Tx) -> None:
            assert failure is not None
            self._end_log_failed(tx, view, failure, status="failed")
            log_id = self._begin_log(
                tx,
                view,
                frame,
                CallModel(act.key),
                model,
                attempt=attempt,
                retry_of=before.log_id,
            )
            act.log_id = log_id
            rows.update(tx, "acts", "key", act.key, {"attempts": attempt, "log_id": log_id})
            tx.full = True
            self._now = Streamed(new_message_id(), log_id)

        await self._commit(change)

    async def _attempt(
        self, view: ThreadView, frame: TurnFrame, model: ModelDefinition
    ) -> ModelAnswer:
        assert self._now is not None
        assert self.history is not None
        now = self._now
        provider = self._ports.provider(model, view, frame)
        now.exchange.sent_at_us = self._ports.clock.monotonic_us()
        assert self._offer is not None
        request = _request(model, frame, self._offer.specs, self.history)
        async for chunk in provider.stream(request, now.exchange):
            match chunk:
                case ContentDelta():
                    now.text.append(chunk.text)
                    self._tell(view, now, text=chunk.text)
                case ReasoningDelta():
                    now.reasoning.append(chunk.text)
                    self._tell(view, now, reasoning=chunk.text)
                case ToolCallBegun():
                    self._tell(view, now, tool_name=chunk.name)
                case ModelAnswer():
                    return chunk
                case _:
                    continue
        raise ProviderError("truncated", f"{model.name} stopped in the middle of its answer.")

    def _tell(
        self,
        view: ThreadView,
        now: Streamed,
        *,
        text: str = "",
        reasoning: str = "",
        tool_name: str | None = None,
    ) -> None:
        assert view.turn is not None
        self._ports.publish(
            MessageDelta(
                thread_id=view.id,
                message_id=now.message_id,
                side=view.turn.side,
                turn=view.turn.turn,
                step=view.turn.step,
                prompt=view.turn.name,
                text=sanitize(text),
                reasoning=sanitize(reasoning),
                tool_name=tool_name,
            )
        )

    def _begin_log(
        self,
        tx: Tx,
        view: ThreadView,
        frame: TurnFrame,
        action: CallModel,
        model: ModelDefinition,
        *,
        attempt: int,
        retry_of: LogId | None,
    ) -> LogId:
        assert frame.prompt is not None
        if self._offer is None or self._offer.frame is not frame:
            self._offer = Offer.of(tx, frame)
        offer = self._offer
        return self._logs.begin(
            tx,
            view,
            kind="model",
            title=model.name,
            detail=f"attempt {attempt}" if attempt > 1 else "",
            act_key=action.key,
            provider=model.provider,
            model=model.model,
            model_name=model.name,
            prompt_name=frame.prompt.name,
            prompt_parts_json=offer.prompt_parts_json,
            retry_of_log_id=retry_of,
            system_prompt_hash=offer.prompt_hash,
            tools_schema_hash=offer.schema_hash,
            definitions_hash=frame.definitions_hash,
        )

    def _close_lost(self, tx: Tx, view: ThreadView, log_id: LogId) -> None:
        self._logs.end(
            tx,
            view,
            log_id,
            "lost",
            error="The process ended before the answer was stored.",
            error_type="lost",
            error_origin="runtime",
        )

    def _end_log_failed(
        self, tx: Tx, view: ThreadView, error: ProviderError, *, status: str
    ) -> None:
        assert self._now is not None
        self._logs.end(
            tx,
            view,
            self._now.log_id,
            "failed",
            error=error.text(),
            error_type=error.code,
            error_origin="provider",
            response_content=self.partial_text() or None,
            **self._exchange_values(self._now),
        )

    def _exchange_values(self, now: Streamed) -> dict[str, Value]:
        exchange = now.exchange
        ended_us = exchange.ended_at_us or self._ports.clock.monotonic_us()
        values: dict[str, Value] = {
            "endpoint": exchange.endpoint,
            "status_code": exchange.status_code,
            "request_headers_json": rows.json_text(exchange.request_headers),
            "response_headers_json": rows.json_text(exchange.response_headers),
            "response_body": sanitize(bytes(exchange.response_body).decode("utf-8", "replace")),
        }
        if exchange.request_body:
            body = self._ports.redact(exchange.request_body.decode("utf-8", "replace"))
            stored = self._bodies.add(now.log_id, body.encode())
            values |= {
                "request_base_id": stored.base_id,
                "request_prefix_bytes": stored.prefix_bytes,
                "request_suffix_bytes": stored.suffix_bytes,
                "request_body": stored.middle,
            }
        if exchange.sent_at_us is not None:
            values["latency_ms"] = (ended_us - exchange.sent_at_us) / 1000
            if exchange.first_token_at_us is not None:
                first_us = exchange.first_token_at_us
                values["time_to_first_token_ms"] = (first_us - exchange.sent_at_us) / 1000
                values["generation_ms"] = (ended_us - first_us) / 1000
        return values

    def _store_answer(
        self,
        tx: Tx,
        view: ThreadView,
        frame: TurnFrame,
        act: ActView,
        model: ModelDefinition,
        answer: ModelAnswer,
    ) -> None:
        assert self._now is not None
        assert view.turn is not None
        assert self.history is not None
        assert frame.prompt is not None
        now, turn = self._now, view.turn
        now_us = self._ports.clock.now_us()
        calls = tuple(
            ToolCall(
                id=f"call_{turn.turn}_{turn.step}_{place}",
                name=sanitize(call.name),
                arguments_json=sanitize(call.arguments_json) or "{}",
                continuation=call.continuation,
            )
            for place, call in enumerate(answer.tool_calls)
        )
        message = Message(
            id=now.message_id,
            thread_id=view.id,
            role=ROLE_OF[turn.side],
            content=sanitize(answer.content) if answer.content else None,
            tool_calls=calls,
            log_id=now.log_id,
            created_at_us=now_us,
            response_completed_at_us=now_us,
            side=turn.side,
            turn=turn.turn,
            step=turn.step,
            prompt=frame.prompt.name,
            reasoning_content=sanitize(answer.reasoning) if answer.reasoning else None,
        )
        stored = view.add_message(tx, message, now_us=now_us)
        view.step_message = stored
        self.history.add(stored)
        usage = answer.usage
        total = usage.total_tokens
        if total is None and (usage.input_tokens is not None or usage.output_tokens is not None):
            total = (usage.input_tokens or 0) + (usage.output_tokens or 0)
        self._logs.end(
            tx,
            view,
            now.log_id,
            "done",
            message_id=stored.id,
            actual_provider=answer.served_by,
            response_content=stored.content,
            reasoning_content=stored.reasoning_content,
            tools_called_json=rows.json_text([call.name for call in calls]),
            tool_calls_json=rows.json_text(
                [
                    {"id": call.id, "name": call.name, "arguments": call.arguments_json}
                    for call in calls
                ]
            ),
            finish_reason=answer.finish_reason,
            input_tokens=usage.input_tokens,
            cached_tokens=usage.cached_tokens,
            output_tokens=usage.output_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            total_tokens=total,
            cost_total=usage.cost,
            currency="USD" if usage.cost is not None else None,
            **self._exchange_values(now),
        )
        rows.insert(
            tx,
            "ledger",
            {
                "act_key": act.key,
                "attempt": act.attempts,
                "turn": turn.turn,
                "agent_name": view.agent_name,
                "provider": model.provider,
                "model": model.model,
                "input_tokens": usage.input_tokens,
                "cached_tokens": usage.cached_tokens,
                "output_tokens": usage.output_tokens,
                "reasoning_tokens": usage.reasoning_tokens,
                "cost": usage.cost,
                "currency": "USD" if usage.cost is not None else None,
                "tags_json": view.row["tags_json"],
                "created_at_us": now_us,
            },
        )
        spent = Decimal(view.row["cost"] or "0") + Decimal(usage.cost or "0")
        view.set(
            tx,
            total_tokens=view.row["total_tokens"] + (total or 0),
            cost=str(spent) if usage.cost is not None or view.row["cost"] else None,
            currency="USD" if usage.cost is not None else view.row["currency"],
        )
        view.end_act(
            tx,
            act,
            "done",
            {"message_id": stored.id, "finish_reason": answer.finish_reason},
            now_us=now_us,
        )


_FATAL = frozenset({"invalid_request", "context_length", "content_filter", "no_mock"})
"""Failures that another model would not mend, or that say the test mode has no answer."""


def tool_specs(frame: TurnFrame) -> list[ToolSpec]:
    """What is offered to the model: the prompt's tools, then the tools for subagents."""
    empty: dict[str, Any] = {"type": "object", "properties": {}}
    specs = [
        ToolSpec(name=name, description=tool.description, parameters=tool.args_schema or empty)
        for name, tool in frame.tools.items()
    ]
    return specs + child_tool_specs(frame.children)


def _wire_tool(spec: ToolSpec) -> dict[str, object]:
    return {
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
    }


def _request(
    model: ModelDefinition, frame: TurnFrame, specs: Sequence[ToolSpec], history: History
) -> ModelRequest:
    prompt = frame.prompt
    assert prompt is not None
    choice = prompt.tool_choice
    return ModelRequest(
        model=model.model,
        messages=history.messages,
        tools=specs,
        tool_choice=choice if isinstance(choice, str) else {"name": choice.name},
        parallel_tool_calls=prompt.parallel_tool_calls if specs else None,
        reasoning=prompt.reasoning.model_dump(exclude_none=True) if prompt.reasoning else None,
        options={**model.provider_options, **prompt.provider_options},
    )


def _blob(tx: Tx, text: str) -> str:
    body = text.encode()
    digest = hashlib.sha256(body).hexdigest()
    rows.insert(tx, "blobs", {"hash": digest, "body": body}, or_ignore=True)
    return digest


def _pause_s(error: ProviderError, try_number: int) -> float:
    """What the provider asked for, else a growing, jittered pause."""
    if error.retry_after_s is not None:
        return min(error.retry_after_s, 60.0)
    return 0.4 * 2**try_number * (0.75 + random.random() / 2)
