"""What the runtime and the code host say to each other: plain data in framed messages.

A frame is a 4-byte big-endian length and that many bytes of UTF-8 JSON. The runtime sends
`load` and `call` and `cancel` and `stop`; the host answers each by its `id`, and in between
asks the runtime for what a ThreadState method needs (`state`), answered by `state_answer`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from sa_builder.spec.kinds import Kind
from sa_builder.spec.messages import Frozen, Message, SideName
from sa_builder.spec.threads import ChildEntry
from sa_builder.util.ids import ThreadId


class LoadedDefinition(Frozen):
    """One definition as the host found it by importing its file."""

    kind: Kind
    name: str
    path: str
    """Relative to the project, with forward slashes."""
    file_hash: str
    """SHA-256 hex of the bytes that were compiled."""
    values: Mapping[str, Any]
    """The definition as JSON: `AgentDefinition.model_dump(mode="json")` and its like."""


class LoadProblem(Frozen):
    """Why one file did not load."""

    path: str
    sentence: str
    line: int | None = None
    traceback: str = ""


class HostManifest(Frozen):
    """All that was loaded, and what was not."""

    generation: int
    """Grows by one with each load that changed anything."""
    definitions: Sequence[LoadedDefinition]
    problems: Sequence[LoadProblem] = ()
    content_hash: str = ""
    """SHA-256 hex over all file hashes; what a turn stores as its definitions' hash."""


class ExecutionSnapshot(Frozen):
    """Where a running turn stands."""

    current_side: SideName
    step_count: int
    prompt_path: Sequence[str] = ()


class StateSnapshot(Frozen):
    """The attributes of ThreadState at the moment of a call."""

    thread_id: ThreadId
    agent_name: str
    user_id: str
    created_at_us: int
    terminated: bool = False
    children: Sequence[ChildEntry] = ()
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    execution: ExecutionSnapshot | None = None


class HostCall(Frozen):
    """Run one piece of user code."""

    call_id: str
    """Unique in the runtime's life; state requests carry it back."""
    kind: Literal["tool", "handler"]
    name: str
    snapshot: StateSnapshot
    arguments: Mapping[str, Any] | None = None
    """Of a tool: its arguments, validated in the host against the tool's own model."""
    message: Message | None = None
    """Of a handler: the inbound message."""
    timeout_s: float | None = None
    test_mode: bool = False
    """True: every outbound connection is answered from mocks or refused."""


class HostOutcome(Frozen):
    """How a call of user code ended; a failure of user code is data, not an error of ours."""

    status: Literal["success", "error"]
    result: str | None = None
    error: str | None = None
    """One line for the model: the tool's own error, or "ValueError: bad number"."""
    error_code: str | None = None
    error_data: Mapping[str, Any] | None = None
    error_type: str | None = None
    """Exception class, or "invalid_arguments", "timeout", "host_died", "cancelled"."""
    traceback: str | None = None
    attachments: Sequence[Mapping[str, Any]] = ()
    captured_output: str = ""
    """stdout, stderr and logging of the call, capped at 64 KiB."""
    unknown: bool = False
    """True: the host died or was killed while it ran; the deed may or may not have happened."""
