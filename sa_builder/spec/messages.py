"""Messages: what a side stores and sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sa_builder.util.ids import LogId, MessageId, ThreadId

SideName = Literal["a", "b"]
Role = Literal["system", "user", "assistant", "tool"]
MessageStatus = Literal["pending", "completed", "failed"]


class Frozen(BaseModel):
    """Base of the values that cross rooms: frozen, closed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolCall(Frozen):
    """One call a model proposed."""

    id: str
    """Ours, unique in the thread; also what goes on the wire."""
    name: str
    arguments_json: str
    """The arguments as the model wrote them, JSON text."""
    continuation: str | None = None
    """Provider-owned, opaque, handed back with the call."""


class Attachment(Frozen):
    """A file of the thread that belongs to a message."""

    path: str
    """Under /attachments/ of the thread's files."""
    name: str
    mime_type: str
    size_bytes: int = 0


class Message(Frozen):
    """A stored message, whole."""

    id: MessageId
    thread_id: ThreadId
    seq: int = 0
    """Order in the thread, from 1; times are for display only."""
    role: Role
    content: str | None = None
    name: str | None = None
    """Of a tool result: the tool's name."""
    tool_calls: Sequence[ToolCall] = ()
    tool_call_id: str | None = None
    tool_status: Literal["success", "error"] | None = None
    log_id: LogId | None = None
    """The log row of the call that made it."""
    created_at_us: int = 0
    request_sent_at_us: int | None = None
    response_completed_at_us: int | None = None
    status: MessageStatus = "completed"
    silent: bool = False
    """Stored and seen by the model or handler, hidden from people's lists by default."""
    parent_id: MessageId | None = None
    depth: int = 0
    side: SideName | None = None
    """The side that wrote it."""
    turn: int | None = None
    step: int | None = None
    prompt: str | None = None
    reasoning_content: str | None = None
    reasoning_details_json: str | None = None
    attachments: Sequence[Attachment] = ()
    metadata: Mapping[str, Any] = Field(default_factory=dict)
    subagent_id: ThreadId | None = None
    """Of a tool result: the child thread it came from."""
