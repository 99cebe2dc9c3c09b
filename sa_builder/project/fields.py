"""A definition's properties as rows of a form, in words for people."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal, cast

from sa_builder.project.addresses import Path, join
from sa_builder.project.edit import shape_at
from sa_builder.project.literals import record_name
from sa_builder.project.read import FileReading
from sa_builder.project.shapes import Code, FieldValue
from sa_builder.spec.kinds import BUILT_IN_PROVIDERS, Kind
from sa_builder.spec.properties import MODELS, RECORDS, Property, Shape, properties_of

FieldType = Literal[
    "text", "long_text", "bool", "int", "choice", "name", "names", "mapping", "records", "schema"
]
Readings = Mapping[str, FileReading]
Values = Mapping[str, Any]

_LABELS: Final[Mapping[str, str]] = {
    "primary": "In lists",
    "expose_as_tool": "As a tool",
    "tool_description": "Told to callers",
    "max_session_turns": "Turn limit",
    "parent_hooks": "Parent hooks",
    "stop_on_response": "Stops on text",
    "max_steps": "Step limit",
    "stop_tool": "Stop tool",
    "stop_tool_response_property": "Response from",
    "session_stop": "Ends session",
    "session_fail": "Fails session",
    "session_status": "Tells status",
    "manual_stop_condition": "Hooks stop it",
    "as_": "Called as",
    "parent_communication": "Reports back",
    "max_instances": "Instances",
    "init_user_message_property": "Text from",
    "init_attachments_property": "Files from",
    "init_agent_name_property": "Name from",
    "optional": "Only when",
    "scoped_env": "Scoped env",
    "include_chat": "Sends the chat",
    "include_past_tools": "Sends past tools",
    "parallel_tool_calls": "Calls in parallel",
    "required_schema": "Arguments",
    "recent_image_threshold": "Recent images",
    "args": "Arguments",
    "api_key_env": "Key variable",
    "base_url": "Base URL",
    "timeout_s": "Time limit (s)",
    "message_property": "Text from",
    "attachments_property": "Files from",
}
_PLACEHOLDERS: Final[Mapping[str, str]] = {
    "max_session_turns": "no cap",
    "max_steps": "no cap",
    "max_instances": "no cap",
    "optional": "variable that must be true",
    "timeout_s": "no limit",
}
_LONG: Final = frozenset({"prompt", "description", "tool_description"})
_NAMED: Final[Mapping[tuple[str, str], tuple[Kind, ...]]] = {
    ("agent", "hooks"): (Kind.HOOK,),
    ("agent", "parent_hooks"): (Kind.HOOK,),
    ("Relationship", "agent"): (Kind.AGENT,),
    ("prompt", "model"): (Kind.MODEL,),
    ("prompt", "tools"): (Kind.TOOL, Kind.PROMPT, Kind.AGENT),
    ("prompt", "hooks"): (Kind.HOOK,),
    ("model", "provider"): (Kind.PROVIDER,),
    ("model", "fallbacks"): (Kind.MODEL,),
    ("tool", "uses"): (Kind.TOOL, Kind.PROMPT),
}
_GROUPS: Final[Mapping[tuple[str, str], str]] = {
    ("agent", "max_session_turns"): "Session",
    ("agent", "hooks"): "Session",
    ("agent", "parent_hooks"): "Session",
    ("agent", "budget"): "Session",
    ("agent", "env"): "Session",
    ("agent", "package_name"): "Package",
    ("agent", "version"): "Package",
    ("agent", "author"): "Package",
    ("agent", "license"): "Package",
    ("Relationship", "init_user_message_property"): "First message",
    ("Relationship", "init_attachments_property"): "First message",
    ("Relationship", "init_agent_name_property"): "First message",
    ("Relationship", "hidden"): "Availability",
    ("Relationship", "optional"): "Availability",
    ("Relationship", "scoped_env"): "Availability",
    ("prompt", "include_chat"): "History",
    ("prompt", "include_past_tools"): "History",
    ("prompt", "recent_image_threshold"): "History",
    ("prompt", "tools"): "Tools",
    ("prompt", "parallel_tool_calls"): "Tools",
    ("prompt", "tool_choice"): "Tools",
    ("prompt", "required_schema"): "Tools",
    ("prompt", "hooks"): "More",
    ("prompt", "variables"): "More",
    ("prompt", "env"): "More",
    ("prompt", "reasoning"): "More",
    ("prompt", "provider_options"): "More",
    ("model", "input_price"): "Prices",
    ("model", "cached_price"): "Prices",
    ("model", "output_price"): "Prices",
    ("model", "reasoning_price"): "Prices",
    ("model", "price_currency"): "Prices",
    ("model", "prices_from"): "Prices",
    ("tool", "side_effects"): "Behaviour",
    ("tool", "idempotency"): "Behaviour",
    ("tool", "risk"): "Behaviour",
    ("tool", "durable"): "Behaviour",
    ("tool", "timeout_s"): "Behaviour",
    ("tool", "execution_mode"): "Behaviour",
    ("tool", "concurrency"): "Behaviour",
    ("tool", "auth"): "Behaviour",
}
_ORDER: Final[Mapping[str, Sequence[str]]] = {
    "agent": ("name", "description", "primary", "expose_as_tool", "tool_description", "icon"),
    "Relationship": (
        "agent",
        "as_",
        "description",
        "blocking",
        "immediate",
        "parent_communication",
        "max_instances",
        "init_user_message_property",
        "init_attachments_property",
        "init_agent_name_property",
    ),
    "Side": (
        "label",
        "stop_on_response",
        "max_steps",
        "stop_tool",
        "stop_tool_response_property",
        "session_stop",
        "session_fail",
        "session_status",
        "manual_stop_condition",
        "subagents",
    ),
}
_BACKINGS: Final = ("human", "prompt", "handler")


def fields_of(
    reading: FileReading, path: Path, readings: Readings, problems: Mapping[str, str]
) -> list[FieldValue]:
    """The form of a definition, or of a record inside it (a relationship, a side).

    Args:
        problems: address of a value → the sentence of its problem.
    """
    if reading.place.kind not in MODELS:
        return []
    return _Form(reading, readings, problems).rows(path)


class _Form:
    def __init__(
        self, reading: FileReading, readings: Readings, problems: Mapping[str, str]
    ) -> None:
        self._reading = reading
        self._readings = readings
        self._problems = problems

    def rows(self, path: Path) -> list[FieldValue]:
        kind = self._reading.place.kind
        if not path:
            if kind is not Kind.AGENT:
                return self._record(kind.value, properties_of(kind), (), kind.value.capitalize())
            properties = dict(properties_of(kind))
            sides = {key: properties.pop(key) for key in ("side_a", "side_b")}
            rows = self._record("agent", properties, (), "Agent")
            own = [row for row in rows if row.group == "Agent"]
            rest = [row for row in rows if row.group != "Agent"]
            middle = [row for key in sides for row in self._side(key)]
            return [*own, *middle, *rest]
        if len(path) == 1 and path[0] in ("side_a", "side_b"):
            return self._side(str(path[0]))
        shape = shape_at(kind, path, self._reading.values)
        value = self._value(path)
        values = cast(Values, value) if isinstance(value, Mapping) else dict[str, Any]()
        name = record_name(shape, values)
        if name is None:
            return []
        return self._record(name, properties_of(name), path, _words(name))

    def _side(self, key: str) -> list[FieldValue]:
        side = self._value((key,))
        values = cast(Values, side) if isinstance(side, Mapping) else dict[str, Any]()
        backing = next((each for each in _BACKINGS if values.get(each) is not None), None)
        group = f"Side {key[-1].upper()}"
        rows = [self._backing(key, values, backing, group)]
        properties = dict(properties_of("Side"))
        wanted = ["label"] if backing == "human" else ["label", "subagents"]
        if backing == "prompt":
            wanted = list(_ORDER["Side"])
        shown = {
            name: prop
            for name, prop in properties.items()
            if name not in _BACKINGS and (name in wanted or name in values)
        }
        return rows + self._record("Side", shown, (key,), group)

    def _backing(self, key: str, values: Values, backing: str | None, group: str) -> FieldValue:
        address = join(self._reading.place.address, (key,))
        value: Any = None
        if backing == "human":
            value = "human"
        elif backing is not None:
            name = values[backing]
            value = name if isinstance(name, Code) else f"{backing}s/{name}"
        choices = ["human"] + [
            each.place.address
            for each in self._readings.values()
            if each.place.kind in (Kind.PROMPT, Kind.HANDLER)
        ]
        inside = next(
            (
                self._problems[f"{address}.{each}"]
                for each in _BACKINGS
                if f"{address}.{each}" in self._problems
            ),
            None,
        )
        return FieldValue(
            address=address,
            name="backing",
            label="Backed by",
            group=group,
            type="name",
            value=value,
            written=backing is not None,
            choices=choices,
            help="Who takes the turns of this side: a person, a prompt or a handler.",
            placeholder="nothing",
            required=True,
            problem=self._problems.get(address) or inside,
        )

    def _record(
        self, owner: str, properties: Mapping[str, Property], path: Path, group: str
    ) -> list[FieldValue]:
        order = list(_ORDER.get(owner, ()))
        names = sorted(
            properties,
            key=lambda name: order.index(name) if name in order else len(order),
        )
        rows = [self._row(owner, properties[name], (*path, name), group) for name in names]
        groups = list(dict.fromkeys([group, *(row.group for row in rows)]))
        return sorted(rows, key=lambda row: groups.index(row.group))

    def _row(self, owner: str, prop: Property, path: Path, group: str) -> FieldValue:
        address = join(self._reading.place.address, path)
        value = self._value(path)
        written = value is not _MISSING
        kinds = _NAMED.get((owner, prop.name))
        row_type = _type_of(prop)
        choices: list[str] = []
        if kinds is not None:
            row_type = "names" if prop.shape.kind == "list" else "name"
            choices = self._names(kinds)
        elif prop.shape.kind == "choice":
            choices = [str(each) for each in prop.shape.choices]
        elif owner == "Relationship" and prop.name.startswith("init_"):
            choices = self._child_arguments(path)
            row_type = "name" if choices else "text"
        elif prop.name == "stop_tool":
            choices = self._side_tools(path)
            row_type = "name"
        return FieldValue(
            address=address,
            name=prop.name,
            label=_LABELS.get(prop.name, _words(prop.name)),
            group=_GROUPS.get((owner, prop.name), group),
            type=row_type,
            value=value if written else None,
            default=prop.default,
            written=written,
            choices=choices,
            help=_help(owner, prop.name),
            placeholder=self._placeholder(prop, path),
            required=prop.required,
            problem=self._problems.get(address),
        )

    def _placeholder(self, prop: Property, path: Path) -> str:
        if prop.name == "as_":
            agent = self._value((*path[:-1], "agent"))
            return agent if isinstance(agent, str) else ""
        return _PLACEHOLDERS.get(prop.name, "none" if not prop.required else "")

    def _names(self, kinds: Sequence[Kind]) -> list[str]:
        names = [
            str(each.values.get("name") or each.place.stem)
            for kind in kinds
            for each in self._readings.values()
            if each.place.kind is kind
        ]
        return [*BUILT_IN_PROVIDERS, *names] if kinds == (Kind.PROVIDER,) else names

    def _child_arguments(self, path: Path) -> list[str]:
        agent = self._value((*path[:-1], "agent"))
        child = self._readings.get(f"agents/{agent}")
        side = child.values.get("side_a") if child is not None else None
        prompt = cast(Values, side).get("prompt") if isinstance(side, Mapping) else None
        reading = self._readings.get(f"prompts/{prompt}")
        if reading is None or reading.declaration is None or reading.declaration.arguments is None:
            return []
        return list(reading.declaration.arguments.names)

    def _side_tools(self, path: Path) -> list[str]:
        prompt = self._value((*path[:-1], "prompt"))
        reading = self._readings.get(f"prompts/{prompt}")
        tools = reading.values.get("tools") if reading is not None else None
        if not isinstance(tools, list):
            return []
        return [
            str(cast(Values, each).get("name")) if isinstance(each, Mapping) else str(each)
            for each in cast(list[Any], tools)
        ]

    def _value(self, path: Path) -> Any:
        found: Any = self._reading.values
        for step in path:
            if isinstance(step, int):
                items = cast(list[Any], found) if isinstance(found, list) else []
                if step >= len(items):
                    return _MISSING
                found = items[step]
            else:
                if not isinstance(found, Mapping) or step not in found:
                    return _MISSING
                found = cast(Values, found)[step]
        return found


class _Missing:
    """Stands for what is not written."""


_MISSING: Final = _Missing()


def _type_of(prop: Property) -> FieldType:
    if prop.name in _LONG:
        return "long_text"
    shape: Shape = prop.shape
    match shape.kind:
        case "bool":
            return "bool"
        case "int" | "float":
            return "int"
        case "choice":
            return "choice"
        case "mapping" | "record":
            return "mapping"
        case "schema":
            return "schema"
        case "list":
            plain = shape.item is not None and shape.item.kind == "text"
            return "names" if plain else "records"
        case "either":
            return "choice" if prop.name == "tool_choice" else "records"
        case "text" | "any":
            return "text"


def _words(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").strip().lower()
    return spaced[:1].upper() + spaced[1:]


def _help(owner: str, name: str) -> str:
    """The docstring under a field of the spec; empty where the source is not at hand."""
    field = {"args": "args_schema", "output": "output_schema"}.get(name, name)
    model = RECORDS.get(owner)
    if model is None:
        model = next((MODELS[kind] for kind in MODELS if kind.value == owner), None)
    return _docs().get((model.__name__, field), "") if model is not None else ""


@cache
def _docs() -> Mapping[tuple[str, str], str]:
    spec = importlib.util.find_spec("sa_builder.spec.definitions")
    loader: Any = spec.loader if spec is not None else None
    try:
        text = loader.get_source("sa_builder.spec.definitions") if loader is not None else None
    except (OSError, ImportError):
        text = None
    if text is None:
        return {}
    found: dict[tuple[str, str], str] = {}
    for statement in ast.parse(text).body:
        if not isinstance(statement, ast.ClassDef):
            continue
        for before, after in zip(statement.body, statement.body[1:], strict=False):
            if (
                isinstance(before, ast.AnnAssign)
                and isinstance(before.target, ast.Name)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
                and isinstance(after.value.value, str)
            ):
                found[statement.name, before.target.id] = " ".join(after.value.value.split())
    return found
