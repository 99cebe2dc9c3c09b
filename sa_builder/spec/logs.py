"""Log rows: the record of one model call, tool call or handler call, and of the journal's acts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from sa_builder.spec.messages import Frozen, SideName
from sa_builder.util.ids import ActKey, LogId, MessageId, ThreadId

LogKind = Literal["message", "model", "tool", "handler", "hook", "child", "policy", "effect"]
LogStatus = Literal["running", "done", "failed", "parked", "lost"]


class LogRow(Frozen):
    """One line of the log table."""

    id: LogId
    thread_id: ThreadId
    kind: LogKind
    title: str
    """The model's, tool's, handler's or child's name; the side's for a message."""
    detail: str = ""
    """Muted second part: "attempt 2", "14 words", the relationship."""
    side: SideName | None = None
    turn: int
    step: int = 0
    depth: int = 0
    """0 for the thread's own rows, more for sub-prompts and, in a tree view, children."""
    message_id: MessageId | None = None
    parent_log_id: LogId | None = None
    retry_of_log_id: LogId | None = None
    child_thread_id: ThreadId | None = None
    model_name: str | None = None
    prompt_name: str | None = None
    tools_called: Sequence[str] = ()
    status: LogStatus
    error_type: str | None = None
    error: str | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None
    cost_total: str | None = None
    """Exact decimal text; None is unpriced."""
    currency: str | None = None
    created_at_us: int
    latency_ms: float | None = None
    """Whole time from sending to the last byte."""
    time_to_first_token_ms: float | None = None
    generation_ms: float | None = None
    duration_ms: float | None = None
    """Whole time of the row, waiting included; None while it runs."""
    finish_reason: str | None = None


class LogDetails(Frozen):
    """One log row with everything that was kept of it."""

    row: LogRow
    act_key: ActKey | None = None
    provider: str | None = None
    actual_provider: str | None = None
    model: str | None = None
    """The provider's own model id."""
    route_decision: str | None = None
    prompt_parts: Sequence[Mapping[str, Any]] = ()
    """{prompt, path, line_from, line_to, text} of each part of the system prompt."""
    handler_name: str | None = None
    queued_tools: Sequence[str] = ()
    provider_tools: Sequence[str] = ()
    error_origin: str | None = None
    endpoint: str | None = None
    status_code: int | None = None
    request_body: str | None = None
    """The exact bytes that were sent, as text."""
    request_headers: Mapping[str, str] = Field(default_factory=dict)
    response_body: str | None = None
    """The exact text that came back (a stream as its events)."""
    response_headers: Mapping[str, str] = Field(default_factory=dict)
    response_content: str | None = None
    """The assembled answer's text."""
    reasoning_content: str | None = None
    system_prompt: str | None = None
    tools_schema_json: str | None = None
    tool_calls_json: str | None = None
    """Calls the model proposed, as JSON: [{id, name, arguments}]."""
    tool_results_json: str | None = None
    """[{call_id, name, status, result, error, duration_ms}] of the step."""
    arguments_json: str | None = None
    """Of a tool or handler call: what it was given."""
    result: str | None = None
    """Of a tool or handler call: what it returned."""
    traceback: str | None = None
    captured_output: str | None = None
    definitions_hash: str | None = None
    cost_input: str | None = None
    cost_cached: str | None = None
    cost_output: str | None = None
    price_book_version: str | None = None
    is_complete: bool = True


class LogQuery(Frozen):
    """A page of log rows, oldest first, by keyset."""

    kinds: Sequence[LogKind] = ()
    statuses: Sequence[LogStatus] = ()
    text: str = ""
    """Free words, matched against title, detail, error and model."""
    min_tokens: int | None = None
    include_children: bool = False
    """Also the rows of child threads, indented under the row that created them."""
    after_id: LogId | None = None
    limit: int = Field(default=200, ge=1, le=1000)


class LogPage(Frozen):
    """Rows, how many match in all, and whether more follow."""

    rows: Sequence[LogRow]
    total: int
    has_more: bool


class Act(Frozen):
    """One outside deed in the journal."""

    key: ActKey
    kind: Literal[
        "model", "tool", "handler", "hook", "effect", "child", "approval", "timer", "step"
    ]
    name: str
    status: Literal["started", "done", "failed", "unknown"]
    attempts: int = 1
    input_hash: str | None = None
    result_json: str | None = None
    started_at_us: int
    ended_at_us: int | None = None
    log_id: LogId | None = None
