"""What may be connected to what, and why not: the words of a drag, the sentence of a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from sa_builder.errors import EditRefused
from sa_builder.project import addresses
from sa_builder.project.read import FileReading
from sa_builder.project.shapes import Code
from sa_builder.spec.kinds import Kind

Values = Mapping[str, Any]
Readings = Mapping[str, FileReading]
Deed = Literal["back", "subagent", "model", "tool", "handoff", "hook", "fallback"]
_SIDES = ("side_a", "side_b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A connection that may be made, or why it may not."""

    deed: Deed | None
    says: str
    """What it would do, or why not: few words for a card."""
    refusal: str = ""
    """The whole sentence, when it may not be made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """Where a connection begins."""

    address: str
    reading: FileReading
    side: str | None = None
    """side_a or side_b, of an agent."""

    @property
    def words(self) -> str:
        """For titles: "side A of x", "prompt y"."""
        name = self.reading.place.stem
        if self.side is not None:
            return f"side {self.side[-1].upper()} of {name}"
        return f"{self.reading.place.kind.value} {name}"


def port_of(source: str, readings: Readings) -> Port:
    """The port that an address names.

    Raises:
        EditRefused: nothing can be connected from there.
    """
    head, path = addresses.split(source, readings)
    reading = readings.get(head)
    if reading is None:
        raise EditRefused(
            f"There is no definition {head}.", act="Check its name.", code="edit.unknown"
        )
    kind = reading.place.kind
    if kind is Kind.AGENT and path and path[0] in _SIDES:
        return Port(address=f"{head}.{path[0]}", reading=reading, side=str(path[0]))
    if kind is Kind.AGENT:
        raise EditRefused(
            f"{source} is an agent; connect one of its sides.",
            act=f"Write {head}.side_a or {head}.side_b.",
            code="edit.no_side",
        )
    if kind in (Kind.PROMPT, Kind.MODEL):
        return Port(address=head, reading=reading)
    raise EditRefused(
        f"Nothing can be connected from a {kind.value}.",
        act="Connect from an agent's side, a prompt or a model.",
        code="edit.no_port",
    )


def is_human(target: str) -> bool:
    """Whether a target is a person."""
    return target == "human" or target.endswith("#human")


def wish_of(port: Port, target: str, readings: Readings) -> Wish:
    """What connecting a port to a target would do."""
    if is_human(target):
        return _wish_human(port)
    if target.startswith("missing:"):
        return _no("nothing declares it", f"{target.removeprefix('missing:')} does not exist.")
    reading = readings.get(target)
    if reading is None:
        return _no("no such definition", f"There is no definition {target}.")
    if port.side is not None:
        return _wish_side(port, reading, readings)
    if port.reading.place.kind is Kind.PROMPT:
        return _wish_prompt(port, reading, readings)
    return _wish_model(port, reading, readings)


def _no(says: str, refusal: str) -> Wish:
    return Wish(deed=None, says=says, refusal=refusal)


def side_of(port: Port) -> Values:
    side = port.reading.values.get(port.side or "")
    return cast(Values, side) if isinstance(side, Mapping) else {}


def _wish_human(port: Port) -> Wish:
    if port.side is None:
        return _no("people back sides", f"A person cannot be given to {port.words}.")
    letter = port.side[-1].upper()
    if side_of(port).get("human") is True:
        return _no(
            f"side {letter} is human already",
            f"{capitalized(port.words)} is human already.",
        )
    other = port.reading.values.get("side_b" if port.side == "side_a" else "side_a")
    if isinstance(other, Mapping) and cast(Values, other).get("human") is True:
        return _no(
            "the other side is human",
            f"The other side of {port.reading.place.stem} is human already, "
            "and both cannot be human.",
        )
    return Wish(deed="back", says=_replaces(port))


def _replaces(port: Port, *, same_kind: str = "") -> str:
    side = side_of(port)
    for key in ("prompt", "handler"):
        name = side.get(key)
        if isinstance(name, str):
            return f"replaces {name}" if key == same_kind else f"replaces the {key}"
        if isinstance(name, Code):
            return f"replaces the {key}"
    if side.get("human") is True:
        return "replaces the human"
    return f"backs side {(port.side or 'a')[-1].upper()}"


def _wish_side(port: Port, target: FileReading, readings: Readings) -> Wish:
    side = side_of(port)
    kind, name = target.place.kind, name_of(target)
    letter = (port.side or "a")[-1].upper()
    if isinstance(port.reading.values.get(port.side or ""), Code):
        return _no("the side is computed", f"{capitalized(port.words)} is computed.")
    match kind:
        case Kind.PROMPT | Kind.HANDLER:
            if side.get(kind.value) == name:
                return _no(f"backs side {letter} now", f"{name} backs {port.words} already.")
            return Wish(deed="back", says=_replaces(port, same_kind=kind.value))
        case Kind.AGENT:
            if side.get("human") is True:
                return _no(
                    "a human has no subagents",
                    f"{capitalized(port.words)} is human and cannot have subagents.",
                )
            exposed = target.values.get("expose_as_tool") is True
            if target.place.address == port.reading.place.address and not exposed:
                return _no("the agent itself", f"{name} is not exposed, so it has no subagent.")
            if name in subagents_of(side):
                return _no("a subagent already", f"{name} is a subagent of {port.words} already.")
            clash = _clash(target, readings)
            if clash is not None:
                return clash
            return Wish(
                deed="subagent",
                says="becomes a subagent" if exposed else "exposes it as a subagent",
            )
        case Kind.MODEL:
            return _no("give models to a prompt", f"{name} is a model; give it to a prompt.")
        case Kind.TOOL:
            return _no("give tools to a prompt", f"{name} is a tool; give it to a prompt.")
        case _:
            return _no(
                "does not fit a side",
                f"A side takes a prompt, a handler, a human or an agent, not {name}.",
            )


def _wish_prompt(port: Port, target: FileReading, readings: Readings) -> Wish:
    values = port.reading.values
    kind, name = target.place.kind, name_of(target)
    match kind:
        case Kind.MODEL:
            model = values.get("model")
            if model == name:
                return _no("its model now", f"{name} is the model of {port.words} already.")
            says = f"replaces {model}" if isinstance(model, str) else "becomes its model"
            return Wish(deed="model", says=says)
        case Kind.TOOL | Kind.PROMPT | Kind.AGENT:
            if target.place.address == port.reading.place.address:
                return _no("the prompt itself", f"{name} cannot be a tool of itself.")
            if name in tool_names(values):
                return _no("among its tools", f"{name} is among the tools of {port.words} already.")
            if kind is Kind.TOOL:
                return Wish(deed="tool", says="becomes a tool")
            if kind is Kind.PROMPT:
                return Wish(deed="tool", says="becomes a sub-prompt")
            if name in _owned(port, readings):
                return _no(
                    "a subagent already",
                    f"{name} is a subagent of a side that {port.words} backs already.",
                )
            clash = _clash(target, readings)
            if clash is not None:
                return clash
            exposed = target.values.get("expose_as_tool") is True
            return Wish(deed="handoff", says="hands over to it" if exposed else "exposes it")
        case Kind.HOOK:
            if name in names_in(values, "hooks"):
                return _no("among its hooks", f"{name} is a hook of {port.words} already.")
            return Wish(deed="hook", says="becomes a hook")
        case Kind.HANDLER:
            return _no("a handler backs a side", f"{name} is a handler; give it to a side.")
        case _:
            return _no("does not fit a prompt", f"A prompt does not take {name}.")


def _wish_model(port: Port, target: FileReading, readings: Readings) -> Wish:
    name = name_of(target)
    if target.place.kind is not Kind.MODEL:
        return _no("not a model", f"A model falls back to models only, and {name} is none.")
    if target.place.address == port.reading.place.address:
        return _no("the model itself", f"{name} cannot fall back to itself.")
    if name in names_in(port.reading.values, "fallbacks"):
        return _no("a fallback already", f"{name} is a fallback of {port.words} already.")
    if _falls_back_to(target, name_of(port.reading), readings):
        return _no(
            "would fall back in a circle",
            f"{name} falls back to {port.reading.place.stem}, which would make a circle.",
        )
    count = len(names_in(port.reading.values, "fallbacks"))
    return Wish(deed="fallback", says=f"becomes fallback {count + 1}")


def _clash(target: FileReading, readings: Readings) -> Wish | None:
    """Why an agent that is not exposed cannot be: its name is taken among callables."""
    exposed = target.values.get("expose_as_tool")
    if exposed is True:
        return None
    name = name_of(target)
    if isinstance(exposed, Code):
        return _no("its exposure is computed", f"Whether {name} is exposed is computed.")
    for reading in readings.values():
        if reading.place.kind in (Kind.PROMPT, Kind.TOOL) and name_of(reading) == name:
            kind = reading.place.kind.value
            return _no(
                f"shares its name with a {kind}",
                f"{name} is not exposed, and cannot be while a {kind} has the same name; "
                "rename one of them first.",
            )
    return None


def _falls_back_to(start: FileReading, name: str, readings: Readings) -> bool:
    by_name = {name_of(each): each for each in readings.values() if each.place.kind is Kind.MODEL}
    waiting, seen = [start], set[str]()
    while waiting:
        for fallback in names_in(waiting.pop().values, "fallbacks"):
            if fallback == name:
                return True
            if fallback in by_name and fallback not in seen:
                seen.add(fallback)
                waiting.append(by_name[fallback])
    return False


def _owned(port: Port, readings: Readings) -> set[str]:
    owned: set[str] = set()
    for reading in readings.values():
        for key in _SIDES:
            side = reading.values.get(key)
            if isinstance(side, Mapping) and cast(Values, side).get("prompt") == name_of(
                port.reading
            ):
                owned |= set(subagents_of(cast(Values, side)))
    return owned


def name_of(reading: FileReading) -> str:
    name = reading.values.get("name")
    return name if isinstance(name, str) else reading.place.stem


def capitalized(words: str) -> str:
    return words[:1].upper() + words[1:]


def names_in(values: Values, key: str) -> list[str]:
    found = values.get(key)
    return (
        [each for each in cast(list[Any], found) if isinstance(each, str)]
        if isinstance(found, list)
        else []
    )


def subagents_of(side: Values) -> list[str]:
    found = side.get("subagents")
    if not isinstance(found, list):
        return []
    return [
        str(cast(Values, each).get("agent"))
        for each in cast(list[Any], found)
        if isinstance(each, Mapping)
    ]


def tool_names(values: Values) -> list[str]:
    found = values.get("tools")
    if not isinstance(found, list):
        return []
    return [
        str(cast(Values, each).get("name")) if isinstance(each, Mapping) else str(each)
        for each in cast(list[Any], found)
    ]
