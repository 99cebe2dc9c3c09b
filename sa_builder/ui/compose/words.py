"""Words for values and addresses, shared by the parts of the Compose page."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Final

from sa_builder.project.shapes import Code
from sa_builder.spec.kinds import FOLDER_OF

KIND_OF_FOLDER: Final = {folder: str(kind.value) for kind, folder in FOLDER_OF.items()}
"""A folder under `agents/` and the kind that lies in it."""


def words_of(value: Any) -> str:
    """A value as a form shows it in one line."""
    if value is None:
        return ""
    if isinstance(value, Code):
        return value.text
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        items: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return ", ".join(words_of(item) for item in items)
    if isinstance(value, dict):
        pairs: dict[Any, Any] = dict(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        name = pairs.get("name")
        if name is not None and len(pairs) <= 3:
            rest = words_of(pairs.get("message_property"))
            return f"{words_of(name)} → {rest}" if rest else words_of(name)
        return ", ".join(f"{words_of(key)}={words_of(one)}" for key, one in pairs.items())
    return str(value)


def definition_of(address: str) -> str:
    """The definition that an address lies in: "agents/x" of "agents/x.side_a.subagents[0]"."""
    return address.split("#", 1)[0].split(".", 1)[0]


def nearest(address: str, known: Set[str]) -> str:
    """The innermost of the known addresses that an address lies in; else its definition."""
    found = address
    while found not in known:
        cut = max(found.rfind("."), found.rfind("["))
        if cut < 0:
            return definition_of(address)
        found = found[:cut]
    return found


def kind_of(address: str) -> str:
    """The kind of card that an address is shown with."""
    if ".subagents[" in address:
        return "subagent"
    if "#human" in address:
        return "human"
    return KIND_OF_FOLDER.get(address.split("/", 1)[0], "agent")


def side_letter(address: str) -> str:
    """A or B of an address inside a side; empty elsewhere."""
    _, has_side, rest = address.partition(".side_")
    return rest[:1].upper() if has_side else ""
