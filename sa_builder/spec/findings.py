"""What the rules speak in: entries, findings, remedies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from sa_builder.spec.kinds import Kind

Severity = Literal["error", "warning", "hint"]
Values = Mapping[str, Any]


class Computed:
    """Stands for a value that only running the file would tell."""

    def __repr__(self) -> str:
        return "COMPUTED"


COMPUTED: Final = Computed()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentNames:
    """The arguments that a tool or prompt takes."""

    names: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()


@dataclass(slots=True, kw_only=True)
class Entry:
    """A definition as the rules see it."""

    kind: Kind
    name: str
    """Its `name=`, else the file's stem."""
    stem: str
    address: str
    values: Values = field(default_factory=dict[str, Any])
    """Plain dicts, lists and scalars; only what is written, `COMPUTED` for what is not known."""
    arguments: ArgumentNames | None = None
    """Of a tool or prompt; None when they are not known."""
    reach: list[tuple[Sequence[Kind], str]] | None = field(default=None, init=False, compare=False)
    """What it refers to, once the rules looked; None before."""
    known: bool = True
    """False: it exists, but what it says is not known (it is computed, or does not load)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """An edit that repairs a finding; the fields of `project.shapes.Fix`."""

    title: str
    act: Literal["set", "unset", "remove", "connect", "disconnect", "create"]
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One broken rule."""

    code: str
    severity: Severity
    address: str
    """The definition, property or list item that breaks it."""
    sentence: str
    fixes: Sequence[Remedy] = ()


def backing_of(side: Any) -> Literal["human", "prompt", "handler"] | None:
    """What backs a side, or None when that is not exactly one known thing."""
    if not isinstance(side, dict) or "**" in side:
        return None
    values = cast(Values, side)
    if isinstance(values.get("human"), Computed):
        return None
    given: list[Literal["human", "prompt", "handler"]] = []
    if values.get("human"):
        given.append("human")
    if values.get("prompt") is not None:
        given.append("prompt")
    if values.get("handler") is not None:
        given.append("handler")
    return given[0] if len(given) == 1 else None


def error(code: str, address: str, sentence: str, *fixes: Remedy) -> Finding:
    """A finding that keeps a definition from holding."""
    return Finding(code=code, severity="error", address=address, sentence=sentence, fixes=fixes)


def removal(address: str) -> Remedy:
    """The fix that takes a property out."""
    return Remedy(title="Remove it", act="unset", arguments={"address": address})
