"""What a wish like "connect this side to that prompt" means for files: planned edits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sa_builder.errors import EditRefused
from sa_builder.project.addresses import Path
from sa_builder.project.edit import FileEditor
from sa_builder.project.read import FileReading
from sa_builder.project.shapes import Edit, FileChange
from sa_builder.project.wishes import (
    Port,
    Readings,
    Values,
    capitalized,
    is_human,
    name_of,
    port_of,
    side_of,
    subagents_of,
    tool_names,
    wish_of,
)
from sa_builder.spec.kinds import FOLDERS, Kind
from sa_builder.spec.rules import PROMPT_ONLY


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
    name = "a human" if human else name_of(readings[target])
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
    written = side_of(port)
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
    notes.append(f"also exposes {name_of(target)}")
    if not target.values.get("tool_description"):
        editor.set(("tool_description",), _described(target))
        notes.append(f"also describes {name_of(target)} to its callers")
    return [editor.finish()]


def _described(target: FileReading) -> str:
    description = target.values.get("description")
    if isinstance(description, str) and description.strip():
        return description.strip()
    return f"Runs the agent {name_of(target).replace('_', ' ')} and returns its answer."


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
        name = name_of(reading) if reading is not None else stem
    editor = FileEditor(port.reading)
    notes: list[str] = []
    paths = (
        _side_paths(port, kind, name, human=human, notes=notes)
        if port.side is not None
        else _list_paths(port, kind, name)
    )
    if not paths:
        raise EditRefused(
            f"{capitalized(port.words)} is not connected to {name}.",
            act="There is nothing to remove.",
            code="edit.not_connected",
        )
    for path in reversed(paths):
        editor.unset(path)
    return edit_of(f"Disconnect {port.words} from {name}", [editor.finish()], notes, editor)


def _side_paths(
    port: Port, kind: Kind | None, name: str, *, human: bool, notes: list[str]
) -> list[Path]:
    side, key = side_of(port), port.side or ""
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
            (key, "subagents", index)
            for index, each in enumerate(subagents_of(side))
            if each == name
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
        names = tool_names({"tools": values.get(key)})
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
