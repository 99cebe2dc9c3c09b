"""Threads as lists and views see them, and what may be asked of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from sa_builder.spec.messages import Frozen, Message, SideName
from sa_builder.util.ids import MessageId, ThreadId

ThreadState = Literal["idle", "running", "awaiting_human", "parked", "failed", "terminated"]
"""idle: nothing to do. running: a turn is under way. awaiting_human: a person has the turn.
parked: waits for a child, an approval, a decision. failed: the last session failed."""


class ChildEntry(Frozen):
    """What a parent knows of one child thread."""

    reference: ThreadId
    name: str
    title: str | None = None
    description: str | None = None
    relationship: str
    blocking: bool = False
    created_at_us: int
    status: str
    """running, idle, awaiting_human, terminated, or free text of the child's own."""


class ThreadSummary(Frozen):
    """One row of the thread list; comes from the registry, never from opening the thread."""

    id: ThreadId
    agent_name: str
    origin_agent_name: str
    title: str
    """The first message's first line, else the agent's name."""
    tags: Sequence[str] = ()
    user_id: str = "local"
    parent_id: ThreadId | None = None
    relationship: str | None = None
    """Name of the relationship it was created by, for a child."""
    instance_name: str | None = None
    """The name it was given at creation, for a child."""
    blocking: bool = False
    state: ThreadState = "idle"
    state_reason: str | None = None
    """One short line: why it is parked or failed, or what it does now."""
    preview: str = ""
    """The last visible message's first line."""
    created_at_us: int
    updated_at_us: int
    message_count: int = 0
    total_tokens: int = 0
    cost: str | None = None
    """Exact decimal text with currency, such as "0.0188 USD"; None when nothing is priced."""
    test_mode: bool = False


class ThreadDetails(Frozen):
    """One thread, opened."""

    summary: ThreadSummary
    children: Sequence[ChildEntry] = ()
    side_a: str = ""
    """What backs side A, such as "prompt repo_assistant"."""
    side_b: str = ""
    current_turn: int = 0
    current_side: SideName | None = None
    writable: bool = True
    """False for an archive: read-only, no runtime."""


class ThreadQuery(Frozen):
    """A page of the thread list, newest activity first."""

    text: str = ""
    """Matches titles, tags, previews and ids; all words must occur."""
    agent_name: str | None = None
    states: Sequence[ThreadState] = ()
    top_level_only: bool = True
    """Children are asked for by `parent_id`."""
    parent_id: ThreadId | None = None
    before_us: int | None = None
    """Keyset: only rows updated before this (with `before_id` to break ties)."""
    before_id: ThreadId | None = None
    limit: int = Field(default=100, ge=1, le=1000)


class ThreadPage(Frozen):
    """Rows and how many match in all."""

    rows: Sequence[ThreadSummary]
    total: int
    counts: Mapping[str, int] = Field(default_factory=dict)
    """State → how many match without the state filter."""


class MessageQuery(Frozen):
    """A page of messages, oldest first within the page."""

    before_seq: int | None = None
    after_seq: int | None = None
    include_silent: bool = True
    max_depth: int = 8
    limit: int = Field(default=100, ge=1, le=1000)


class MessagePage(Frozen):
    """The newest messages that match, oldest first."""

    messages: Sequence[Message]
    total: int
    has_more: bool
    """Whether older ones exist."""


class CreateThread(Frozen):
    """A wish for a new thread."""

    agent_name: str
    tags: Sequence[str] = ()
    user_id: str = "local"
    title: str | None = None
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    env: Mapping[str, str] = Field(default_factory=dict)
    """Thread-level values of variables; secrets are kept apart from the database."""


class SendMessage(Frozen):
    """A message from a person (or the API) to a thread."""

    content: str
    role: Literal["user", "assistant"] | None = None
    """None: the role of the human side (user when side B is the human)."""
    id: MessageId | None = None
    """Chosen by the sender, so that a repeated send stores once."""


class MissingVariable(Frozen):
    """A required variable without a value, told at "+ New Thread"."""

    name: str
    type: Literal["text", "secret"]
    description: str | None = None
    needed_by: str
    """Address of the tool or prompt, such as "tools/label_github_issue"."""


class AgentSummary(Frozen):
    """An agent that a new thread may be made of."""

    name: str
    description: str | None = None
    primary: bool = True
    human_side: SideName | None = None
    missing_variables: Sequence[MissingVariable] = ()
    problem: str | None = None
    """Why it cannot run now, in one sentence; None when it can."""
