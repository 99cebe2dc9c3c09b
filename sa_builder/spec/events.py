"""What the runtime tells its clients, after the commit that made it true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from sa_builder.spec.logs import LogRow
from sa_builder.spec.messages import Frozen, Message
from sa_builder.spec.threads import ThreadSummary
from sa_builder.util.ids import MessageId, ThreadId


class ThreadChanged(Frozen):
    """A thread came to be, or its summary changed."""

    kind: Literal["thread_changed"] = "thread_changed"
    summary: ThreadSummary


class ThreadDeleted(Frozen):
    """A thread is gone."""

    kind: Literal["thread_deleted"] = "thread_deleted"
    thread_id: ThreadId


class MessageStored(Frozen):
    """A message was stored or changed."""

    kind: Literal["message_stored"] = "message_stored"
    message: Message


class MessageDelta(Frozen):
    """Streamed text of a message that is not stored as completed; never the only copy for long."""

    kind: Literal["message_delta"] = "message_delta"
    thread_id: ThreadId
    message_id: MessageId
    """The id the message will be stored under."""
    side: Literal["a", "b"]
    turn: int
    step: int
    prompt: str | None = None
    text: str = ""
    reasoning: str = ""
    tool_name: str | None = None
    """Set when the model began a tool call: its name."""


class LogStored(Frozen):
    """A log row was begun, or ended."""

    kind: Literal["log_stored"] = "log_stored"
    row: LogRow


class RuntimeChanged(Frozen):
    """The runtime's own state: what the status bar says."""

    kind: Literal["runtime_changed"] = "runtime_changed"
    running_turns: int
    test_mode: bool
    mock_count: int = 0
    sentence: str = ""
    """A trouble to show, such as a code host that cannot start; empty when all is well."""


Event = Annotated[
    ThreadChanged | ThreadDeleted | MessageStored | MessageDelta | LogStored | RuntimeChanged,
    Field(discriminator="kind"),
]

Listener = Callable[[Event], None]
"""Called on the runtime's OS thread, in order; must return at once and touch no Qt state."""
