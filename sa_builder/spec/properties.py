"""What each kind of definition may say: names, order, shapes and defaults of its properties.

Derived once from the values in `spec.definitions`, so that the rules, the forms, the reader and
the editor agree on the language without a second list of it.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, Union

from annotated_types import Ge, Gt
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from sa_builder.spec.definitions import (
    AgentDefinition,
    Definition,
    EnvText,
    HandlerDefinition,
    Include,
    ModelDefinition,
    PromptDefinition,
    PromptTool,
    Reasoning,
    Relationship,
    SessionTool,
    Side,
    SubPrompt,
    Text,
    ToolChoiceName,
    ToolDefinition,
    Variable,
)
from sa_builder.spec.kinds import Kind

ShapeKind = Literal[
    "text", "bool", "int", "float", "choice", "record", "list", "mapping", "any", "schema", "either"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a value may be."""

    kind: ShapeKind
    record: str | None = None
    """Of a record: its constructor's name, "Side"."""
    item: Shape | None = None
    """Of a list or mapping: what it holds."""
    choices: tuple[Any, ...] = ()
    options: tuple[Shape, ...] = ()
    """Of an either: the shapes of which one must fit."""
    least: float | None = None
    """Of a number: the smallest one allowed, or the bound it must exceed when `above`."""
    above: bool = False
    or_none: bool = False
    """Whether None may be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """One property of a definition or record."""

    name: str
    shape: Shape
    required: bool
    default: Any
    """None for required ones; tuples and mappings as plain lists and dicts."""


RECORDS: Final[dict[str, type[Definition]]] = {
    model.__name__: model
    for model in (
        Side,
        Relationship,
        SessionTool,
        Text,
        Include,
        EnvText,
        SubPrompt,
        PromptTool,
        Reasoning,
        Variable,
    )
}
"""Constructors of nested values → their model."""

DECLARATIONS: Final[dict[str, Kind]] = {
    "define_agent": Kind.AGENT,
    "define_prompt": Kind.PROMPT,
    "define_model": Kind.MODEL,
    "define_tool": Kind.TOOL,
    "define_handler": Kind.HANDLER,
}
"""define_* → the kind it declares."""

DECLARATION_OF: Final[dict[Kind, str]] = {kind: name for name, kind in DECLARATIONS.items()}

MODELS: Final[dict[Kind, type[Definition]]] = {
    Kind.AGENT: AgentDefinition,
    Kind.PROMPT: PromptDefinition,
    Kind.MODEL: ModelDefinition,
    Kind.TOOL: ToolDefinition,
    Kind.HANDLER: HandlerDefinition,
}

DECORATED: Final = frozenset({Kind.TOOL, Kind.HANDLER})
"""Kinds declared by a decorator over a function; their name is the file's stem."""

POSITIONAL: Final[dict[str, tuple[str, ...]]] = {
    "define_agent": ("name", "side_a", "side_b"),
    "define_prompt": ("name", "tool_description", "prompt", "model"),
    "define_model": ("name", "provider", "model"),
    "define_tool": ("description",),
    "define_handler": ("description",),
    "Text": ("text",),
    "Include": ("prompt",),
    "EnvText": ("name",),
    "Relationship": ("agent",),
    "SessionTool": ("name",),
    "SubPrompt": ("name",),
    "PromptTool": ("name",),
    "Variable": ("name",),
}
"""What may be given by place, in order."""

_KEYWORDS: Final = {"args_schema": "args", "output_schema": "output"}
"""Fields of a tool's value → the keyword that a definition file uses."""

_SCHEMAS: Final = frozenset({"args", "output", "required_schema"})


@cache
def properties_of(owner: Kind | str) -> Mapping[str, Property]:
    """The properties of a kind or of a record's constructor, in the order of the spec."""
    if isinstance(owner, Kind):
        model: type[Definition] | None = MODELS.get(owner)
        skip = {"name"} if owner in DECORATED else set[str]()
    elif owner == "ToolChoiceName":
        model, skip = ToolChoiceName, set[str]()
    else:
        model, skip = RECORDS.get(owner), {"kind"}
    if model is None:
        return {}
    hints = typing.get_type_hints(model, include_extras=True)
    found: dict[str, Property] = {}
    for field_name, field in model.model_fields.items():
        if field_name in skip:
            continue
        name = _KEYWORDS.get(field_name, field_name)
        shape = Shape(kind="schema") if name in _SCHEMAS else _shape(hints[field_name])
        found[name] = Property(
            name=name, shape=shape, required=field.is_required(), default=_default(field)
        )
    return found


def child_shape(shape: Shape, key: str | int, value: Any = None) -> Shape | None:
    """The shape one level down, or None when the spec knows no such place.

    Args:
        value: what stands at `shape`; chooses among the shapes of an either.
    """
    match shape.kind:
        case "list":
            return shape.item if isinstance(key, int) else None
        case "mapping":
            return shape.item if isinstance(key, str) else None
        case "record":
            prop = properties_of(shape.record or "").get(str(key))
            return prop.shape if prop else None
        case "either":
            for option in shape.options:
                if (value is None or fits_roughly(option, value)) and (
                    found := child_shape(option, key, value)
                ) is not None:
                    return found
            return None
        case _:
            return None


def fits_roughly(shape: Shape, value: Any) -> bool:
    """Whether a plain value is of the shape's broad type (a record: has only its keys)."""
    match shape.kind:
        case "text":
            return isinstance(value, str)
        case "choice":
            return value in shape.choices
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "list":
            return isinstance(value, list | tuple)
        case "mapping":
            return isinstance(value, Mapping)
        case "record":
            if not isinstance(value, Mapping):
                return False
            known = properties_of(shape.record or "")
            keys = set(typing.cast(Mapping[str, Any], value)) - {"kind"}
            return keys <= set(known) and all(
                prop.name in keys for prop in known.values() if prop.required
            )
        case "either":
            return any(fits_roughly(option, value) for option in shape.options)
        case "any" | "schema":
            return True


def describe(shape: Shape) -> str:
    """The shape in words: "a text", "a whole number", "one of a, b"."""
    match shape.kind:
        case "text":
            return "a text"
        case "bool":
            return "True or False"
        case "int":
            return "a whole number"
        case "float":
            return "a number"
        case "choice":
            if shape.choices == (True,):
                return "True"
            return "one of " + ", ".join(f'"{choice}"' for choice in shape.choices)
        case "record":
            return f"{shape.record}(...)"
        case "list":
            return "a list"
        case "mapping":
            return "a dict"
        case "schema":
            return "a pydantic model"
        case "either":
            return " or ".join(dict.fromkeys(describe(option) for option in shape.options))
        case "any":
            return "a value"


def _default(field: FieldInfo) -> Any:
    if field.is_required():
        return None
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return None
    if isinstance(value, tuple):
        return list(typing.cast(tuple[Any, ...], value))
    return value


def _shape(hint: Any) -> Shape:
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        inner, *marks = typing.get_args(hint)
        shape = _shape(inner)
        for mark in _flat_marks(marks):
            if isinstance(mark, Ge):
                return Shape(kind=shape.kind, least=float(str(mark.ge)), or_none=shape.or_none)
            if isinstance(mark, Gt):
                return Shape(
                    kind=shape.kind, least=float(str(mark.gt)), above=True, or_none=shape.or_none
                )
        return shape
    if origin in (Union, types.UnionType):
        arguments = typing.get_args(hint)
        or_none = type(None) in arguments
        options = tuple(_shape(each) for each in arguments if each is not type(None))
        if len(options) == 1:
            only = options[0]
            return Shape(
                kind=only.kind,
                record=only.record,
                item=only.item,
                choices=only.choices,
                options=only.options,
                least=only.least,
                above=only.above,
                or_none=or_none,
            )
        return Shape(kind="either", options=options, or_none=or_none)
    if origin is Literal:
        return Shape(kind="choice", choices=typing.get_args(hint))
    if origin is not None and issubclass(origin, Sequence):
        return Shape(kind="list", item=_shape(typing.get_args(hint)[0]))
    if origin is not None and issubclass(origin, Mapping):
        return Shape(kind="mapping", item=_shape(typing.get_args(hint)[1]))
    simple: dict[Any, ShapeKind] = {str: "text", bool: "bool", int: "int", float: "float"}
    if hint in simple:
        return Shape(kind=simple[hint])
    if isinstance(hint, type) and issubclass(hint, Definition):
        return Shape(kind="record", record=hint.__name__)
    return Shape(kind="any")


def _flat_marks(marks: list[Any]) -> list[Any]:
    flat: list[Any] = []
    for mark in marks:
        flat.extend(mark.metadata if isinstance(mark, FieldInfo) else [mark])
    return flat
