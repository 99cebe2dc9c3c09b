"""The values that the project room gives to views and commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sa_builder.spec.kinds import Kind

NodeKind = Literal[
    "agent", "prompt", "handler", "human", "model", "tool", "hook", "policy", "provider", "missing"
]
EdgeKind = Literal[
    "backing",  # side → prompt, handler, human
    "subagent",  # side → agent
    "uses",  # prompt → model, tool, sub-prompt; include
    "handoff",  # prompt → agent among its tools
    "fallback",  # model → model
    "session",  # side → tool of session_stop, session_fail, session_status, stop_tool
    "hook",  # prompt or agent → hook
]
Severity = Literal["error", "warning", "hint"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A place in a file. Lines from 1, columns from 1 in characters, end exclusive."""

    path: str
    """Relative to the project, forward slashes: "agents/agents/repo_assistant.py"."""
    line: int
    column: int
    end_line: int
    end_column: int
    start_char: int = 0
    """Offsets in the decoded text, in characters, end exclusive."""
    end_char: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A value that is computed: kept as its text, shown read-only, never guessed."""

    text: str
    reason: str
    """Why it is not read, such as "a call", "an f-string"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """An edit that repairs a problem."""

    title: str
    """The words on its button: "Create tool", "Remove entry"."""
    act: Literal["set", "unset", "remove", "connect", "disconnect", "create"]
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a definition does not hold."""

    code: str
    """SA###, stable."""
    severity: Severity
    span: Span
    sentence: str
    address: str | None = None
    fixes: Sequence[Fix] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """A card of the canvas."""

    id: str
    """The definition's address ("prompts/triage"), "human" for the human of a side as
    "agents/x.side_b#human", and "missing:tools/search_docs" for a name nothing declares."""
    kind: NodeKind
    name: str
    """The card's title."""
    subtitle: str
    """Second line: "prompt · 3 tools", "agent · exposed as tool", "tool · reads"."""
    address: str
    side_a: GraphSide | None = None
    """Of an agent."""
    side_b: GraphSide | None = None
    problem: str | None = None
    """The sentence of the worst problem of the definition, if it has one."""
    badges: Sequence[Literal["policy", "pinned", "note"]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSide:
    """One side row of an agent card."""

    backing: Literal["human", "prompt", "handler", "none", "code"]
    name: str
    """Of the prompt or handler; "human"; "nothing"; or the code's text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdge:
    """A trace of the canvas."""

    id: str
    """The address of the value that makes it: "agents/x.side_a.subagents[0]", "prompts/y.model"."""
    kind: EdgeKind
    source: str
    """Address of its port: "agents/x.side_a", "prompts/y", "models/z"."""
    source_node: str
    """Id of the node the port belongs to."""
    target: str
    """Id of the target node."""
    label: str = ""
    """Only words that change behaviour: blocking, immediate, explicit, session stop, fallback 1."""
    broken: str | None = None
    """Why it does not hold; drawn red and dashed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A composition: nodes and edges in a stable order."""

    nodes: Sequence[GraphNode]
    edges: Sequence[GraphEdge]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldValue:
    """One row of an inspector form."""

    address: str
    """"agents/x.side_a.max_steps"."""
    name: str
    """The property's name."""
    label: str
    """Words for people, sentence case."""
    group: str
    """Heading in the form: Agent, Side A, Relationship, First message, Availability, …"""
    type: Literal[
        "text",
        "long_text",
        "bool",
        "int",
        "choice",
        "name",
        "names",
        "mapping",
        "records",
        "schema",
    ]
    value: Any
    """The literal value, `Code`, or None when not written."""
    default: Any = None
    written: bool = False
    """Whether it stands in the file."""
    choices: Sequence[str] = ()
    """For choice, and for name: the definitions that fit."""
    help: str = ""
    placeholder: str = ""
    required: bool = False
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a drop on a node would do, or why it would do nothing."""

    node: str
    allowed: bool
    says: str
    """The card's second line in a drag: "becomes a subagent", "replaces repo_assistant",
    "give tools to a prompt"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file before and after an edit, whole texts; a new file has before=None."""

    path: str
    before: bytes | None
    after: bytes | None
    spans: Sequence[Span] = ()
    """What was inserted or replaced, in the text after."""

    characters: int = 0
    """How many characters were inserted or replaced (removed, when nothing was inserted)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """An edit, planned or made: one undo step."""

    title: str
    """Such as "Connect side A of repo_assistant to issue_triage"."""
    changes: Sequence[FileChange]
    notes: Sequence[str] = ()
    """What else it does: "also removes max_steps", "also exposes issue_triage"."""
    summary: str = ""
    """The status bar's sentence: "Wrote agents/agents/x.py:9 · 15 characters"."""
    is_undone: bool = False
    """Its changes were taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionSummary:
    """One definition file of the project."""

    address: str
    kind: Kind
    name: str
    path: str
    problems: int = 0
    stale: bool = False
    """The file does not compile now; what is shown is its last good reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A definition as it was read from text."""

    address: str
    kind: Kind
    name: str
    path: Path
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Literal values, nested dicts and lists, and `Code`; only what is written."""
