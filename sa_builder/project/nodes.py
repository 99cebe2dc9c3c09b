"""What a definition's text is made of, with places: spans only, no tree is kept.

All offsets are utf8 offsets of the file's `Source`, end exclusive.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sa_builder.project.shapes import Code
from sa_builder.spec.properties import RECORDS


@dataclass(slots=True)
class Atom:
    """A string, number, True, False or None."""

    start: int
    end: int
    value: Any
    inner_start: int
    """Start without the parentheses around it."""
    inner_end: int


@dataclass(slots=True)
class ListNode:
    """A list or a tuple."""

    start: int
    end: int
    items: list[Node]
    open: int
    """Offset of the opening bracket."""
    close: int
    """Offset of the closing bracket."""
    is_tuple: bool = False


@dataclass(slots=True)
class Entry:
    """One keyword, positional argument or dict item."""

    start: int
    end: int
    key: str
    value: Node
    positional: bool = False


@dataclass(slots=True)
class RecordNode:
    """A constructor call or a dict literal."""

    start: int
    end: int
    callee: str | None
    """The constructor's own name, whatever the import calls it; None for a dict literal."""
    callee_text: str
    """The constructor as it is written: "Side", "s.Side"; empty for a dict."""
    entries: list[Entry]
    open: int
    close: int
    closed: bool = False
    """Holds `**x`: what else it says is unknown, and it takes no new keys."""
    items: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Start and end of each entry and each `**x`, in the order of the text."""

    def entry(self, key: str) -> Entry | None:
        """The entry of a key."""
        for entry in self.entries:
            if entry.key == key:
                return entry
        return None


@dataclass(slots=True)
class CodeNode:
    """A computed value."""

    start: int
    end: int
    text: str
    reason: str


@dataclass(slots=True)
class ConstNode:
    """A name that stands for a literal of the same file."""

    start: int
    end: int
    name: str
    target: Node
    """The literal, where it is assigned."""
    uses: int
    """How often definitions of the file use the name."""


Node = Atom | ListNode | RecordNode | CodeNode | ConstNode


@dataclass(slots=True)
class Arguments:
    """The argument names of a pydantic class, read from its text."""

    names: list[str]
    required: list[str]


@dataclass(slots=True)
class Declaration:
    """One define_* call of a file."""

    name: str
    """define_agent, …"""
    record: RecordNode
    start: int
    """Of the whole statement."""
    end: int
    bound_to: str | None
    """The variable, or the decorated function's name."""
    computed: str | None = None
    """Why the definition is code as a whole."""
    arguments: Arguments | None = None
    """What `args=` or `required_schema=` names, when it is a readable class of this file."""
    takes_no_arguments: bool = False
    function_name: str | None = None


@dataclass(slots=True)
class ModuleNodes:
    """All that the reader takes from one file's text."""

    declarations: list[Declaration]
    names: dict[str, str] = field(default_factory=dict[str, str])
    """Local name → the spec's own name, for imported ones."""
    modules: list[str] = field(default_factory=list[str])
    """Local names of the spec module itself."""
    bound: set[str] = field(default_factory=set[str])
    """Every name bound at the top of the module."""


def plain(node: Node) -> Any:
    """The value as plain dicts and lists; what is computed as `Code`."""
    match node:
        case Atom(value=value):
            return value
        case ListNode(items=items):
            return [plain(item) for item in items]
        case RecordNode():
            return plain_record(node)
        case CodeNode(text=text, reason=reason):
            return Code(text=text, reason=reason)
        case ConstNode(target=target):
            return plain(target)


def plain_record(node: RecordNode) -> dict[str, Any]:
    """The written properties of a record, in the order of the text."""
    values: dict[str, Any] = {}
    model = RECORDS.get(node.callee or "")
    if model is not None and (kind := model.model_fields.get("kind")) is not None:
        values["kind"] = kind.default
    for entry in node.entries:
        values[entry.key] = plain(entry.value)
    if node.closed:
        values["**"] = Code(text="**", reason="an unpacked dict")
    return values


def inner(node: Node) -> Node:
    """The node itself, or what the constant stands for."""
    while isinstance(node, ConstNode):
        node = node.target
    return node
