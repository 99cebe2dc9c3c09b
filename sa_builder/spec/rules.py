"""The rules of definitions, once: asked when one is made, on its text, and before it runs.

Pure functions of plain values. A value that is `COMPUTED` is known to exist but not what it is;
no rule says anything about it. Codes are stable:

    SA001–SA009  the file: syntax, none, several, wrong folder, unreadable, computed, circle
    SA010–SA019  the definition alone: name, duplicates, missing, unknown, wrong type, numbers
    SA020–SA029  names that nothing declares
    SA030–SA039  what does not go together
    SA040–SA049  what does not fit across definitions
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, cast

from pydantic import BaseModel

from sa_builder.errors import DefinitionError
from sa_builder.spec.cross_rules import check_together
from sa_builder.spec.definitions import AnyDefinition
from sa_builder.spec.findings import (
    COMPUTED,
    ArgumentNames,
    Computed,
    Entry,
    Finding,
    Remedy,
    Values,
    backing_of,
    error,
    removal,
)
from sa_builder.spec.kinds import FOLDER_OF, Kind
from sa_builder.spec.properties import (
    DECORATED,
    MODELS,
    Property,
    Shape,
    describe,
    fits_roughly,
    properties_of,
)

PROMPT_ONLY: Final = (
    "stop_on_response",
    "stop_tool",
    "stop_tool_response_property",
    "max_steps",
    "session_stop",
    "session_fail",
    "session_status",
    "manual_stop_condition",
)
"""Properties of a side that only a prompt can back."""


def entry_of(definition: AnyDefinition) -> Entry:
    """A definition value as the rules see it."""
    kind = next(kind for kind, model in MODELS.items() if isinstance(definition, model))
    values = definition.model_dump(mode="python", exclude_unset=True)
    schema_key = {Kind.TOOL: "args_schema", Kind.PROMPT: "required_schema"}.get(kind, "")
    schema: Any = values.get(schema_key)
    if kind is Kind.TOOL:
        values.pop("name", None)
        for old, new in (("args_schema", "args"), ("output_schema", "output")):
            if old in values:
                values[new] = values.pop(old)
    if kind is Kind.HANDLER:
        values.pop("name", None)
    return Entry(
        kind=kind,
        name=definition.name,
        stem=definition.name.replace("-", "_") if kind is Kind.MODEL else definition.name,
        address=f"{FOLDER_OF[kind]}/{definition.name.replace('-', '_')}",
        values=plain(values),
        arguments=arguments_of(schema),
    )


def arguments_of(schema: Any) -> ArgumentNames | None:
    """The argument names of a JSON Schema (None is no arguments)."""
    if schema is None:
        return ArgumentNames()
    if not isinstance(schema, Mapping):
        return None
    whole = cast(Mapping[str, Any], schema)
    properties: Mapping[str, Any] = whole.get("properties", {})
    return ArgumentNames(names=frozenset(properties), required=frozenset(whole.get("required", ())))


def plain(value: Any) -> Any:
    """Models, tuples and mappings as dicts and lists."""
    if isinstance(value, BaseModel):
        kept = value.model_dump(mode="python", exclude_unset=True)
        if "kind" in type(value).model_fields:
            kept["kind"] = getattr(value, "kind", None)
        return plain(kept)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast(Sequence[Any], value)]
    return value


def require(kind: Kind, values: Values) -> None:
    """Raise the first error of the rules about one definition alone.

    Raises:
        DefinitionError: with the sentence and code of the rule.
    """
    name = values.get("name")
    stem = name.replace("-", "_") if isinstance(name, str) else ""
    entry = Entry(
        kind=kind,
        name=name if isinstance(name, str) else "",
        stem=stem,
        address=f"{FOLDER_OF[kind]}/{stem}" if stem else kind.value,
        values=values,
    )
    for finding in check_one(entry):
        if finding.severity == "error":
            raise DefinitionError(f"{finding.address}: {finding.sentence}", code=finding.code)


def require_record(name: str, values: Values) -> None:
    """Raise the first error about the types of one nested value, such as a `Side`.

    Raises:
        DefinitionError: with the sentence and code of the rule.
    """
    findings = list(_check_types(name, properties_of(name), values))
    if findings:
        first = findings[0]
        raise DefinitionError(first.sentence, code=first.code)


# one definition


def check_one(entry: Entry) -> list[Finding]:
    """The rules that need no other definition."""
    if not entry.known or entry.kind not in MODELS:
        return []
    found: list[Finding] = list(_check_name(entry))
    found += _check_types(entry.address, properties_of(entry.kind), entry.values)
    if entry.kind is Kind.AGENT:
        found += _check_agent(entry)
    return found


def _check_name(entry: Entry) -> list[Finding]:
    address = f"{entry.address}.name"
    allowed = r"[a-z][a-z0-9_-]*" if entry.kind is Kind.MODEL else r"[a-z][a-z0-9_]*"
    if entry.kind in DECORATED or not isinstance(entry.values.get("name"), str):
        if entry.stem and not re.fullmatch(r"[a-z][a-z0-9_]*", entry.stem):
            return [
                error(
                    "SA018",
                    entry.address,
                    f"The name {entry.stem} is not allowed; "
                    "use lower-case letters, digits and _, beginning with a letter.",
                )
            ]
        return []
    if not re.fullmatch(allowed, entry.name):
        return [
            error(
                "SA018",
                address,
                f'The name "{entry.name}" is not allowed; '
                "use lower-case letters, digits and _, beginning with a letter.",
            )
        ]
    wanted = entry.name.replace("-", "_") if entry.kind is Kind.MODEL else entry.name
    if wanted != entry.stem:
        return [
            error(
                "SA010",
                address,
                f'The name "{entry.name}" differs from the file\'s name {entry.stem}; '
                "make the two equal.",
                Remedy(
                    title="Use the file's name",
                    act="set",
                    arguments={"address": address, "value": entry.stem},
                ),
            )
        ]
    return []


def _check_types(address: str, properties: Mapping[str, Property], values: Values) -> list[Finding]:
    found: list[Finding] = []
    unpacked = "**" in values
    for key, value in values.items():
        if key == "**":
            continue
        prop = properties.get(key)
        if prop is None:
            if key != "kind" or "kind" in properties:
                found.append(_unknown(address, key, properties))
        else:
            found += _check_value(f"{address}.{key}", prop.shape, value)
    for prop in properties.values():
        if prop.required and prop.name not in values and not unpacked:
            found.append(
                error(
                    "SA013",
                    address,
                    f"The property {prop.name} is missing; give it {describe(prop.shape)}.",
                )
            )
    return found


def _unknown(address: str, key: str, properties: Mapping[str, Property]) -> Finding:
    place = f"{address}.{key}"
    remove = Remedy(title="Remove it", act="unset", arguments={"address": place})
    if key == "type" and "side_a" in properties:
        return error(
            "SA017",
            place,
            "Agents have no type any more; remove it and say what backs each side: "
            "human=True, prompt=… or handler=….",
            remove,
        )
    close = get_close_matches(key, properties, n=1)
    hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(properties)}."
    return error("SA014", place, f"There is no property {key}; {hint}", remove)


def _check_value(address: str, shape: Shape, value: Any) -> list[Finding]:
    if isinstance(value, Computed) or (value is None and (shape.or_none or shape.kind == "any")):
        return []
    if shape.kind == "schema":
        if value is None or isinstance(value, Mapping):
            return []
        return [_wrong_type(address, shape, value)]
    if shape.kind == "either":
        return _check_either(address, shape, value)
    if shape.kind == "record":
        if not isinstance(value, Mapping):
            return [_wrong_type(address, shape, value)]
        name = shape.record or ""
        return _check_types(address, properties_of(name), cast(Values, value))
    if not fits_roughly(shape, value):
        return [_wrong_type(address, shape, value)]
    found: list[Finding] = []
    if shape.kind == "list" and shape.item is not None:
        for index, item in enumerate(cast(Sequence[Any], value)):
            found += _check_value(f"{address}[{index}]", shape.item, item)
    elif shape.kind == "mapping" and shape.item is not None:
        for key, item in cast(Values, value).items():
            found += _check_value(f"{address}.{key}", shape.item, item)
    elif shape.least is not None:
        least, number = shape.least, float(cast(float, value))
        too_small = number <= least if shape.above else number < least
        if too_small:
            bound = f"{'more than' if shape.above else 'at least'} {shape.least:g}"
            found.append(
                error(
                    "SA016",
                    address,
                    f"{_last(address)} is {value}, but must be {bound}; leave it out for no limit.",
                )
            )
    return found


def _check_either(address: str, shape: Shape, value: Any) -> list[Finding]:
    if any(fits_roughly(option, value) for option in shape.options if option.kind != "record"):
        for option in shape.options:
            if fits_roughly(option, value) and option.kind != "record":
                return _check_value(address, option, value)
    records = [option for option in shape.options if option.kind == "record"]
    if isinstance(value, Mapping) and records:
        written = cast(Values, value)
        if "agent" in written and not any(
            "agent" in properties_of(option.record or "") for option in records
        ):
            return [
                error(
                    "SA035",
                    address,
                    "A Relationship stands among a prompt's tools; "
                    "move it to the subagents of the side that the prompt backs.",
                )
            ]
        option = _closest_record(records, written)
        return _check_value(address, option, written)
    return [_wrong_type(address, shape, value)]


def _closest_record(records: Sequence[Shape], value: Values) -> Shape:
    kind = value.get("kind")
    if isinstance(kind, str):
        named = "".join(part.capitalize() for part in kind.split("_"))
        for option in records:
            if option.record == named:
                return option
    return max(
        records,
        key=lambda option: len(set(properties_of(option.record or "")) & set(value)),
    )


def _wrong_type(address: str, shape: Shape, value: Any) -> Finding:
    shown = repr(value) if isinstance(value, str | int | float | None) else _type_name(value)
    if len(shown) > 40:
        shown = f"{shown[:39]}…"
    return error("SA015", address, f"{_last(address)} is {shown}, but must be {describe(shape)}.")


def _type_name(value: Any) -> str:
    if isinstance(value, dict):
        return "a dict"
    return "a list" if isinstance(value, list) else f"a {type(value).__name__}"


def _check_agent(entry: Entry) -> list[Finding]:
    found: list[Finding] = []
    values = entry.values
    sides = {key: values.get(key) for key in ("side_a", "side_b")}
    for key, side in sides.items():
        if isinstance(side, Mapping):
            found += _check_side(f"{entry.address}.{key}", cast(Values, side))
    if all(backing_of(side) == "human" for side in sides.values()):
        found.append(
            error(
                "SA030",
                entry.address,
                "Both sides are human; back one of them with a prompt or a handler.",
            )
        )
    exposed = values.get("expose_as_tool")
    if exposed is True and values.get("tool_description") in (None, "") and "**" not in values:
        found.append(
            error(
                "SA037",
                f"{entry.address}.expose_as_tool",
                "The agent is exposed as a tool but has no tool_description; "
                "say in a sentence what it does for its caller.",
            )
        )
    return found


def _check_side(address: str, side: Values) -> list[Finding]:
    found: list[Finding] = []
    place = _side_words(address)
    given = [
        key
        for key in ("human", "prompt", "handler")
        if side.get(key) is not None and side.get(key) is not False
    ]
    if len(given) != 1 and "**" not in side:
        what = "nothing" if not given else " and ".join(given)
        found.append(
            error(
                "SA031",
                address,
                f"{place} is backed by {what}; "
                "give it exactly one of human=True, prompt=… and handler=….",
            )
        )
    backing = given[0] if len(given) == 1 else None
    subagents = side.get("subagents")
    if backing == "human" and subagents and not isinstance(subagents, Computed):
        found.append(
            error(
                "SA032",
                f"{address}.subagents",
                f"{place} is human and cannot have subagents; "
                "move them to the other side or back this one with a prompt.",
                removal(f"{address}.subagents"),
            )
        )
    if backing in ("handler", "human"):
        found += [
            error(
                "SA033",
                f"{address}.{key}",
                f"{place} is backed by a {backing}, so {key} has no meaning there; "
                "remove it or back the side with a prompt.",
                removal(f"{address}.{key}"),
            )
            for key in PROMPT_ONLY
            if key in side
        ]
    stops = side.get("stop_tool") is not None
    if stops and side.get("stop_tool_response_property") is None and "**" not in side:
        found.append(
            error(
                "SA036",
                f"{address}.stop_tool",
                f"{place} has a stop_tool but no stop_tool_response_property; "
                "name the argument that becomes the response.",
            )
        )
    return found


# definitions together


def check(entries: Sequence[Entry]) -> Sequence[Finding]:
    """Every broken rule of a whole project, in the order of its definitions."""
    found: list[Finding] = []
    for entry in entries:
        found += check_one(entry)
    found += check_together(entries)
    order = {entry.address: index for index, entry in enumerate(entries)}
    return sorted(found, key=lambda each: order.get(_head(each.address, order), len(order)))


def _head(address: str, known: Mapping[str, int]) -> str:
    while address and address not in known:
        cut = max(address.rfind("."), address.rfind("["))
        if cut <= 0:
            return address
        address = address[:cut]
    return address


def _last(address: str) -> str:
    tail = address.rsplit("/", 1)[-1]
    return tail.split(".", 1)[1] if "." in tail else tail


def _side_words(address: str) -> str:
    return "Side A" if address.endswith("side_a") else "Side B"


__all__ = [
    "COMPUTED",
    "ArgumentNames",
    "Computed",
    "Entry",
    "Finding",
    "Remedy",
    "arguments_of",
    "backing_of",
    "check",
    "check_one",
    "check_together",
    "entry_of",
    "plain",
    "require",
    "require_record",
]
