"""One model act: its request, its attempts, what streams, and the commit of its answer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal

from sa_builder.providers.base import (
    ContentDelta,
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
from sa_builder.runtime.model_log import ModelLog, Streamed
from sa_builder.runtime.ports import Ports
from sa_builder.runtime.turns import ROLE_OF, failed_message
from sa_builder.runtime.view import ActView, ThreadView
from sa_builder.spec.definitions import ModelDefinition
from sa_builder.spec.events import MessageDelta
from sa_builder.spec.messages import Message, ToolCall
from sa_builder.store import rows
from sa_builder.store.database import Tx
from sa_builder.util.ids import new_message_id
from sa_builder.util.text import sanitize

RETRIES = 2
"""Times a call is made again on the same model before the fallbacks."""

Apply = Callable[[Tx], None]


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
        self._commit = commit
        self._log = ModelLog(ports, logs)
        self.history: History | None = None
        self._now: Streamed | None = None

    def begin(self, tx: Tx, view: ThreadView, frame: TurnFrame, action: CallModel) -> ActView:
        """Write the act and its first log row as started."""
        model = frame.models[0]
        if action.lost is not None and action.lost.log_id is not None:
            self._log.end_lost(tx, view, action.lost.log_id)
        log_id = self._log.begin(tx, view, frame, action.key, model, attempt=1, retry_of=None)
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
        self._log.forget_bodies()

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
        assert self._now is not None
        self._log.end_failed(tx, view, self._now, error)
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
            self._log.end_failed(tx, view, before, failure)
            log_id = self._log.begin(
                tx,
                view,
                frame,
                act.key,
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
        request = _request(model, frame, self._log.specs(frame), self.history)
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
        total = self._log.end_done(tx, view, now, stored, answer)
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


def _pause_s(error: ProviderError, try_number: int) -> float:
    """What the provider asked for, else a growing, jittered pause."""
    if error.retry_after_s is not None:
        return min(error.retry_after_s, 60.0)
    return 0.4 * 2**try_number * (0.75 + random.random() / 2)
