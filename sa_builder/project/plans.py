"""What a wish like "connect this side to that prompt" means for files: edits, and their reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from sa_builder.errors import EditRefused
from sa_builder.project import addresses
from sa_builder.project.addresses import Path
from sa_builder.project.edit import FileEditor
from sa_builder.project.read import FileReading
from sa_builder.project.shapes import Code, Edit, FileChange
from sa_builder.spec.kinds import FOLDERS, Kind
from sa_builder.spec.rules import PROMPT_ONLY

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


def _side_of(port: Port) -> Values:
    side = port.reading.values.get(port.side or "")
    return cast(Values, side) if isinstance(side, Mapping) else {}


def _wish_human(port: Port) -> Wish:
    if port.side is None:
        return _no("people back sides", f"A person cannot be given to {port.words}.")
    letter = port.side[-1].upper()
    if _side_of(port).get("human") is True:
        return _no(
            f"side {letter} is human already",
            f"{_first(port.words)} is human already.",
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
    side = _side_of(port)
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
    side = _side_of(port)
    kind, name = target.place.kind, _name(target)
    letter = (port.side or "a")[-1].upper()
    if isinstance(port.reading.values.get(port.side or ""), Code):
        return _no("the side is computed", f"{_first(port.words)} is computed.")
    match kind:
        case Kind.PROMPT | Kind.HANDLER:
            if side.get(kind.value) == name:
                return _no(f"backs side {letter} now", f"{name} backs {port.words} already.")
            return Wish(deed="back", says=_replaces(port, same_kind=kind.value))
        case Kind.AGENT:
            if side.get("human") is True:
                return _no(
                    "a human has no subagents",
                    f"{_first(port.words)} is human and cannot have subagents.",
                )
            exposed = target.values.get("expose_as_tool") is True
            if target.place.address == port.reading.place.address and not exposed:
                return _no("the agent itself", f"{name} is not exposed, so it has no subagent.")
            if name in _subagents(side):
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
    kind, name = target.place.kind, _name(target)
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
            if name in _tools(values):
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
            if name in _list(values, "hooks"):
                return _no("among its hooks", f"{name} is a hook of {port.words} already.")
            return Wish(deed="hook", says="becomes a hook")
        case Kind.HANDLER:
            return _no("a handler backs a side", f"{name} is a handler; give it to a side.")
        case _:
            return _no("does not fit a prompt", f"A prompt does not take {name}.")


def _wish_model(port: Port, target: FileReading, readings: Readings) -> Wish:
    name = _name(target)
    if target.place.kind is not Kind.MODEL:
        return _no("not a model", f"A model falls back to models only, and {name} is none.")
    if target.place.address == port.reading.place.address:
        return _no("the model itself", f"{name} cannot fall back to itself.")
    if name in _list(port.reading.values, "fallbacks"):
        return _no("a fallback already", f"{name} is a fallback of {port.words} already.")
    if _falls_back_to(target, _name(port.reading), readings):
        return _no(
            "would fall back in a circle",
            f"{name} falls back to {port.reading.place.stem}, which would make a circle.",
        )
    count = len(_list(port.reading.values, "fallbacks"))
    return Wish(deed="fallback", says=f"becomes fallback {count + 1}")


def _clash(target: FileReading, readings: Readings) -> Wish | None:
    """Why an agent that is not exposed cannot be: its name is taken among callables."""
    exposed = target.values.get("expose_as_tool")
    if exposed is True:
        return None
    name = _name(target)
    if isinstance(exposed, Code):
        return _no("its exposure is computed", f"Whether {name} is exposed is computed.")
    for reading in readings.values():
        if reading.place.kind in (Kind.PROMPT, Kind.TOOL) and _name(reading) == name:
            kind = reading.place.kind.value
            return _no(
                f"shares its name with a {kind}",
                f"{name} is not exposed, and cannot be while a {kind} has the same name; "
                "rename one of them first.",
            )
    return None


def _falls_back_to(start: FileReading, name: str, readings: Readings) -> bool:
    by_name = {_name(each): each for each in readings.values() if each.place.kind is Kind.MODEL}
    waiting, seen = [start], set[str]()
    while waiting:
        for fallback in _list(waiting.pop().values, "fallbacks"):
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
            if isinstance(side, Mapping) and cast(Values, side).get("prompt") == _name(
                port.reading
            ):
                owned |= set(_subagents(cast(Values, side)))
    return owned


def _name(reading: FileReading) -> str:
    name = reading.values.get("name")
    return name if isinstance(name, str) else reading.place.stem


def _first(words: str) -> str:
    return words[:1].upper() + words[1:]


def _list(values: Values, key: str) -> list[str]:
    found = values.get(key)
    return (
        [each for each in cast(list[Any], found) if isinstance(each, str)]
        if isinstance(found, list)
        else []
    )


def _subagents(side: Values) -> list[str]:
    found = side.get("subagents")
    if not isinstance(found, list):
        return []
    return [
        str(cast(Values, each).get("agent"))
        for each in cast(list[Any], found)
        if isinstance(each, Mapping)
    ]


def _tools(values: Values) -> list[str]:
    found = values.get("tools")
    if not isinstance(found, list):
        return []
    return [
        str(cast(Values, each).get("name")) if isinstance(each, Mapping) else str(each)
        for each in cast(list[Any], found)
    ]


# making edits


def plan_connect(source: str, target: str, readings: Readings) -> Edit:
    """Plan a connection.

    Raises:
        EditRefused: it may not be made, or the text does not allow it.
    """
    port = port_of(source, readings)
    wish = wish_of(port, target, readings)
    if wish.deed is None:
        raise EditRefused(wish.refusal, act="", code="edit.no_connection")
    editor = FileEditor(port.reading)
    notes: list[str] = []
    changes: list[FileChange] = []
    human = is_human(target)
    name = "a human" if human else _name(readings[target])
    match wish.deed:
        case "back":
            key = "human" if human else readings[target].place.kind.value
            _back(editor, port, key, True if human else name, notes)
        case "subagent":
            path = (port.side or "", "subagents")
            editor.insert(path, _length(editor.values, path), {"agent": name})
            changes += _expose(readings[target], notes)
        case "model":
            editor.set(("model",), name)
        case "tool" | "handoff":
            editor.insert(("tools",), _length(editor.values, ("tools",)), name)
            if wish.deed == "handoff":
                changes += _expose(readings[target], notes)
        case "hook":
            editor.insert(("hooks",), _length(editor.values, ("hooks",)), name)
        case "fallback":
            editor.insert(("fallbacks",), _length(editor.values, ("fallbacks",)), name)
    return edit_of(f"Connect {port.words} to {name}", [editor.finish(), *changes], notes, editor)


def _back(editor: FileEditor, port: Port, key: str, value: Any, notes: list[str]) -> None:
    side = port.side or "side_a"
    written = _side_of(port)
    present = [each for each in ("human", "prompt", "handler") if each in written]
    if key in present:
        editor.set((side, key), value)
        others = [each for each in present if each != key]
    elif present:
        editor.rename((side, present[0]), key, value)
        others = present[1:]
    else:
        editor.set((side, key), value)
        others = []
    for other in others:
        editor.unset((side, other))
    dropped: list[str] = []
    if key != "prompt":
        dropped += [each for each in PROMPT_ONLY if each in written]
    if key == "human" and "subagents" in written:
        dropped.append("subagents")
    for each in dropped:
        editor.unset((side, each))
    if dropped:
        notes.append(f"also removes {', '.join(dropped)}")


def _expose(target: FileReading, notes: list[str]) -> list[FileChange]:
    if target.values.get("expose_as_tool") is True:
        return []
    editor = FileEditor(target)
    editor.set(("expose_as_tool",), True)
    notes.append(f"also exposes {_name(target)}")
    if not target.values.get("tool_description"):
        editor.set(("tool_description",), _described(target))
        notes.append(f"also describes {_name(target)} to its callers")
    return [editor.finish()]


def _described(target: FileReading) -> str:
    description = target.values.get("description")
    if isinstance(description, str) and description.strip():
        return description.strip()
    return f"Runs the agent {_name(target).replace('_', ' ')} and returns its answer."


def _length(values: Values, path: Path) -> int:
    found: Any = values
    for step in path:
        found = cast(Values, found).get(str(step)) if isinstance(found, Mapping) else None
    return len(cast(list[Any], found)) if isinstance(found, list) else 0


def plan_disconnect(source: str, target: str, readings: Readings) -> Edit:
    """Plan to undo a connection.

    Args:
        target: a definition, `missing:<address>`, or `human`.

    Raises:
        EditRefused: they are not connected, or the text does not allow it.
    """
    port = port_of(source, readings)
    target = target.removeprefix("missing:")
    human = is_human(target)
    name, kind = "a human", None
    if not human:
        reading = readings.get(target)
        folder, _, stem = target.partition("/")
        kind = FOLDERS.get(folder)
        name = _name(reading) if reading is not None else stem
    editor = FileEditor(port.reading)
    notes: list[str] = []
    paths = (
        _side_paths(port, kind, name, human=human, notes=notes)
        if port.side is not None
        else _list_paths(port, kind, name)
    )
    if not paths:
        raise EditRefused(
            f"{_first(port.words)} is not connected to {name}.",
            act="There is nothing to remove.",
            code="edit.not_connected",
        )
    for path in reversed(paths):
        editor.unset(path)
    return edit_of(f"Disconnect {port.words} from {name}", [editor.finish()], notes, editor)


def _side_paths(
    port: Port, kind: Kind | None, name: str, *, human: bool, notes: list[str]
) -> list[Path]:
    side, key = _side_of(port), port.side or ""
    paths: list[Path] = []
    if human:
        if side.get("human") is True:
            paths.append((key, "human"))
    elif kind is not None and kind in (Kind.PROMPT, Kind.HANDLER) and side.get(kind) == name:
        paths.append((key, kind.value))
    if paths:
        notes.append(f"side {key[-1].upper()} is backed by nothing then")
    if kind is Kind.AGENT:
        paths += [
            (key, "subagents", index) for index, each in enumerate(_subagents(side)) if each == name
        ]
    for session in ("session_stop", "session_fail", "session_status"):
        tool = side.get(session)
        if (
            isinstance(tool, Mapping)
            and cast(Values, tool).get("name") == name
            and kind
            in (
                Kind.TOOL,
                Kind.PROMPT,
            )
        ):
            paths.append((key, session))
    if side.get("stop_tool") == name and kind in (Kind.TOOL, Kind.PROMPT):
        paths.append((key, "stop_tool"))
        if "stop_tool_response_property" in side:
            paths.append((key, "stop_tool_response_property"))
            notes.append("also removes stop_tool_response_property")
    return paths


def _list_paths(port: Port, kind: Kind | None, name: str) -> list[Path]:
    values = port.reading.values
    if kind is Kind.MODEL and port.reading.place.kind is Kind.PROMPT:
        if values.get("model") == name:
            raise EditRefused(
                f"A prompt needs a model, so {name} cannot be taken from {port.words}.",
                act="Connect another model instead.",
                code="edit.required",
            )
        return []
    keys: Sequence[str] = ("fallbacks",) if port.reading.place.kind is Kind.MODEL else ("tools",)
    if kind is Kind.HOOK:
        keys = ("hooks",)
    found: list[Path] = []
    for key in keys:
        names = _tools({"tools": values.get(key)})
        found += [(key, index) for index, each in enumerate(names) if each == name]
    return found


def edit_of(
    title: str,
    changes: Sequence[FileChange],
    notes: Sequence[str],
    editor: FileEditor | None = None,
) -> Edit:
    """An edit with its summary for the status bar."""
    kept = [change for change in changes if change.before != change.after]
    every = list(notes)
    if editor is not None and editor.lost_comments:
        count = len(editor.lost_comments)
        every.append(f"also removes {count} comment{'' if count == 1 else 's'} on its row")
    if not kept:
        return Edit(title=title, changes=(), notes=every, summary="Nothing to change.")
    first = kept[0]
    line = f":{first.spans[0].line}" if first.spans else ""
    characters = sum(change.characters for change in kept)
    words = f"{characters} character{'' if characters == 1 else 's'}"
    more = f" and {len(kept) - 1} more file" if len(kept) > 1 else ""
    return Edit(
        title=title,
        changes=kept,
        notes=every,
        summary=f"Wrote {first.path}{line}{more} · {words}",
    )
