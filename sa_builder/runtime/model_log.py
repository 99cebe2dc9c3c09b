"""The log rows of model calls: what was asked, what came back, what it took."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sa_builder.providers.base import Exchange, ModelAnswer, ProviderError, ToolSpec
from sa_builder.runtime.frame import TurnFrame
from sa_builder.runtime.log_book import LogBook
from sa_builder.runtime.ports import Ports
from sa_builder.runtime.subagents import child_tool_specs
from sa_builder.runtime.view import ThreadView
from sa_builder.spec.definitions import ModelDefinition
from sa_builder.spec.messages import Message
from sa_builder.store import rows
from sa_builder.store.bodies import BodyChain
from sa_builder.store.database import Tx
from sa_builder.store.sqlite import Value
from sa_builder.util.ids import ActKey, LogId, MessageId
from sa_builder.util.text import sanitize


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


class ModelLog:
    """Writes the model rows of one thread's log."""

    def __init__(self, ports: Ports, logs: LogBook) -> None:
        self._ports = ports
        self._logs = logs
        self._bodies = BodyChain()
        self._offer: Offer | None = None

    def forget_bodies(self) -> None:
        """Store the next request whole: which of those before it were written is not sure."""
        self._bodies = BodyChain()
        self._offer = None

    def specs(self, frame: TurnFrame) -> Sequence[ToolSpec]:
        """What is offered to the model in every request of a frame."""
        if self._offer is not None and self._offer.frame is frame:
            return self._offer.specs
        return tool_specs(frame)

    def begin(
        self,
        tx: Tx,
        view: ThreadView,
        frame: TurnFrame,
        key: ActKey,
        model: ModelDefinition,
        *,
        attempt: int,
        retry_of: LogId | None,
    ) -> LogId:
        """Begin the row of an attempt; what the frame repeats is stored with its first one."""
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
            act_key=key,
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

    def end_lost(self, tx: Tx, view: ThreadView, log_id: LogId) -> None:
        """A crash cut the attempt off."""
        self._logs.end(
            tx,
            view,
            log_id,
            "lost",
            error="The process ended before the answer was stored.",
            error_type="lost",
            error_origin="runtime",
        )

    def end_failed(self, tx: Tx, view: ThreadView, now: Streamed, error: ProviderError) -> None:
        """The attempt failed; what had streamed is kept."""
        self._logs.end(
            tx,
            view,
            now.log_id,
            "failed",
            error=error.text(),
            error_type=error.code,
            error_origin="provider",
            response_content="".join(now.text) or None,
            **self._exchange_values(now),
        )

    def end_done(
        self, tx: Tx, view: ThreadView, now: Streamed, message: Message, answer: ModelAnswer
    ) -> int | None:
        """The model answered; returns the tokens it took, None when it does not say."""
        usage = answer.usage
        total = usage.total_tokens
        if total is None and (usage.input_tokens is not None or usage.output_tokens is not None):
            total = (usage.input_tokens or 0) + (usage.output_tokens or 0)
        self._logs.end(
            tx,
            view,
            now.log_id,
            "done",
            message_id=message.id,
            actual_provider=answer.served_by,
            response_content=message.content,
            reasoning_content=message.reasoning_content,
            tools_called_json=rows.json_text([call.name for call in message.tool_calls]),
            tool_calls_json=rows.json_text(
                [
                    {"id": call.id, "name": call.name, "arguments": call.arguments_json}
                    for call in message.tool_calls
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
        return total

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


def _blob(tx: Tx, text: str) -> str:
    body = text.encode()
    digest = hashlib.sha256(body).hexdigest()
    rows.insert(tx, "blobs", {"hash": digest, "body": body}, or_ignore=True)
    return digest
