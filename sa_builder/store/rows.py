"""How messages, log rows and summaries become table rows, and rows become them again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from sa_builder.spec.logs import Act, LogDetails, LogRow
from sa_builder.spec.messages import Attachment, Frozen, Message, ToolCall
from sa_builder.spec.threads import ChildEntry, ThreadSummary
from sa_builder.store.database import Tx
from sa_builder.store.sqlite import Row, Value
from sa_builder.util.ids import ThreadId

MESSAGE_COLUMNS = (
    "seq", "id", "role", "content", "name", "tool_calls_json", "tool_call_id", "tool_status",
    "log_id", "created_at_us", "request_sent_at_us", "response_completed_at_us", "status",
    "silent", "parent_id", "depth", "side", "turn", "step", "prompt", "reasoning_content",
    "reasoning_details_json", "attachments_json", "metadata_json", "subagent_id",
)  # fmt: skip
_INSERT_MESSAGE = (
    f"INSERT INTO messages ({', '.join(MESSAGE_COLUMNS)})"
    f" VALUES ({', '.join('?' * len(MESSAGE_COLUMNS))})"
)

LOG_ROW_COLUMNS = (
    "id", "kind", "title", "detail", "side", "turn", "step", "depth", "message_id",
    "parent_log_id", "retry_of_log_id", "child_thread_id", "model_name", "prompt_name",
    "tools_called_json", "status", "error_type", "error", "input_tokens", "cached_tokens",
    "output_tokens", "reasoning_tokens", "total_tokens", "cost_total", "currency",
    "created_at_us", "latency_ms", "time_to_first_token_ms", "generation_ms", "duration_ms",
    "finish_reason",
)  # fmt: skip


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def json_text(value: Any) -> str:
    """Compact JSON text, non-ASCII kept."""
    return _ENCODER.encode(value)


def _or_none(items: Sequence[Any]) -> str | None:
    return json_text([item.model_dump() for item in items]) if items else None


def insert_message(tx: Tx, message: Message) -> None:
    """Add the statement that stores a message under its own `seq`."""
    tx.add(
        _INSERT_MESSAGE,
        message.seq,
        message.id,
        message.role,
        message.content,
        message.name,
        _or_none(message.tool_calls),
        message.tool_call_id,
        message.tool_status,
        message.log_id,
        message.created_at_us,
        message.request_sent_at_us,
        message.response_completed_at_us,
        message.status,
        int(message.silent),
        message.parent_id,
        message.depth,
        message.side,
        message.turn,
        message.step,
        message.prompt,
        message.reasoning_content,
        message.reasoning_details_json,
        _or_none(message.attachments),
        json_text(dict(message.metadata)) if message.metadata else None,
        message.subagent_id,
    )


def read_message(thread_id: ThreadId, row: Row) -> Message:
    """A message from its table row."""
    calls = json.loads(row["tool_calls_json"]) if row["tool_calls_json"] else ()
    attachments = json.loads(row["attachments_json"]) if row["attachments_json"] else ()
    return _trusted(
        Message,
        id=row["id"],
        thread_id=thread_id,
        seq=row["seq"],
        role=row["role"],
        content=row["content"],
        name=row["name"],
        tool_calls=tuple(ToolCall(**call) for call in calls),
        tool_call_id=row["tool_call_id"],
        tool_status=row["tool_status"],
        log_id=row["log_id"],
        created_at_us=row["created_at_us"],
        request_sent_at_us=row["request_sent_at_us"],
        response_completed_at_us=row["response_completed_at_us"],
        status=row["status"],
        silent=bool(row["silent"]),
        parent_id=row["parent_id"],
        depth=row["depth"],
        side=row["side"],
        turn=row["turn"],
        step=row["step"],
        prompt=row["prompt"],
        reasoning_content=row["reasoning_content"],
        reasoning_details_json=row["reasoning_details_json"],
        attachments=tuple(Attachment(**attachment) for attachment in attachments),
        metadata=json.loads(row["metadata_json"]) if row["metadata_json"] else {},
        subagent_id=row["subagent_id"],
    )


def read_log_row(thread_id: ThreadId, row: Row) -> LogRow:
    """A line of the log table from its table row."""
    values: dict[str, Any] = {name: row[name] for name in LOG_ROW_COLUMNS}
    called = values.pop("tools_called_json")
    values["thread_id"] = thread_id
    values["tools_called"] = tuple(json.loads(called)) if called else ()
    return _trusted(LogRow, **values)


M = TypeVar("M", bound=Frozen)


def _trusted(model: type[M], **values: Any) -> M:
    """A model of all its fields, which come from our own rows and are not checked again.

    A fifth of what `model_construct` costs, which looks for aliases and defaults.
    """
    made = model.__new__(model)
    object.__setattr__(made, "__dict__", values)
    object.__setattr__(made, "__pydantic_fields_set__", set(values))
    object.__setattr__(made, "__pydantic_extra__", None)
    object.__setattr__(made, "__pydantic_private__", None)
    return made


def read_log_details(
    thread_id: ThreadId,
    row: Row,
    *,
    request_body: str | None,
    system_prompt: str | None,
    tools_schema_json: str | None,
) -> LogDetails:
    """Everything kept of a log row; what lies in other rows and blobs is handed in."""

    def loaded(name: str, empty: Any) -> Any:
        return json.loads(row[name]) if row[name] else empty

    return LogDetails(
        row=read_log_row(thread_id, row),
        act_key=row["act_key"],
        provider=row["provider"],
        actual_provider=row["actual_provider"],
        model=row["model"],
        route_decision=row["route_decision"],
        prompt_parts=loaded("prompt_parts_json", ()),
        handler_name=row["handler_name"],
        queued_tools=loaded("queued_tools_json", ()),
        provider_tools=loaded("provider_tools_json", ()),
        error_origin=row["error_origin"],
        endpoint=row["endpoint"],
        status_code=row["status_code"],
        request_body=request_body,
        request_headers=loaded("request_headers_json", {}),
        response_body=row["response_body"],
        response_headers=loaded("response_headers_json", {}),
        response_content=row["response_content"],
        reasoning_content=row["reasoning_content"],
        system_prompt=system_prompt,
        tools_schema_json=tools_schema_json,
        tool_calls_json=row["tool_calls_json"],
        tool_results_json=row["tool_results_json"],
        arguments_json=row["arguments_json"],
        result=row["result"],
        traceback=row["traceback"],
        captured_output=row["captured_output"],
        definitions_hash=row["definitions_hash"],
        cost_input=row["cost_input"],
        cost_cached=row["cost_cached"],
        cost_output=row["cost_output"],
        price_book_version=row["price_book_version"],
        is_complete=bool(row["is_complete"]),
    )


def read_act(row: Row) -> Act:
    """A journal entry from its table row."""
    return Act(
        key=row["key"],
        kind=row["kind"],
        name=row["name"],
        status=row["status"],
        attempts=row["attempts"],
        input_hash=row["input_hash"],
        result_json=row["result_json"],
        started_at_us=row["started_at_us"],
        ended_at_us=row["ended_at_us"],
        log_id=row["log_id"],
    )


def read_child(row: Row) -> ChildEntry:
    """A child's registry entry from its table row."""
    return ChildEntry(
        reference=row["reference"],
        name=row["name"],
        title=row["title"],
        description=row["description"],
        relationship=row["relationship"],
        blocking=bool(row["blocking"]),
        created_at_us=row["created_at_us"],
        status=row["status"],
    )


def read_summary(row: Row) -> ThreadSummary:
    """A thread's summary from its own `thread` row."""
    cost = f"{row['cost']} {row['currency'] or 'USD'}" if row["cost"] else None
    return ThreadSummary(
        id=row["id"],
        agent_name=row["agent_name"],
        origin_agent_name=row["origin_agent_name"],
        title=row["title"] or row["instance_name"] or row["agent_name"],
        tags=json.loads(row["tags_json"]),
        user_id=row["user_id"],
        parent_id=row["parent_id"],
        relationship=row["relationship"],
        instance_name=row["instance_name"],
        blocking=bool(row["blocking"]),
        state=row["state"],
        state_reason=row["state_reason"],
        preview=row["preview"],
        created_at_us=row["created_at_us"],
        updated_at_us=row["updated_at_us"],
        message_count=row["message_count"],
        total_tokens=row["total_tokens"],
        cost=cost,
        test_mode=bool(row["test_mode"]),
    )


def upsert(tx: Tx, table: str, key: str, values: Mapping[str, Value]) -> None:
    """Add the statement that inserts a row, or overwrites the one with the same key."""
    tx.add(_upsert_sql(table, key, tuple(values)), *values.values())


def update(tx: Tx, table: str, key: str, key_value: Value, values: Mapping[str, Value]) -> None:
    """Add the statement that changes some columns of one row."""
    if values:
        tx.add(_update_sql(table, key, tuple(values)), *values.values(), key_value)


def insert(tx: Tx, table: str, values: Mapping[str, Value], *, or_ignore: bool = False) -> None:
    """Add the statement that inserts one row."""
    verb = "INSERT OR IGNORE" if or_ignore else "INSERT"
    tx.add(_insert_sql(verb, table, tuple(values)), *values.values())


@lru_cache(maxsize=256)
def _insert_sql(verb: str, table: str, names: tuple[str, ...]) -> str:
    return f"{verb} INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


@lru_cache(maxsize=256)
def _upsert_sql(table: str, key: str, names: tuple[str, ...]) -> str:
    changes = ", ".join(f"{name}=excluded.{name}" for name in names if name != key)
    return f"{_insert_sql('INSERT', table, names)} ON CONFLICT({key}) DO UPDATE SET {changes}"


@lru_cache(maxsize=256)
def _update_sql(table: str, key: str, names: tuple[str, ...]) -> str:
    changes = ", ".join(f"{name}=?" for name in names)
    return f"UPDATE {table} SET {changes} WHERE {key}=?"
