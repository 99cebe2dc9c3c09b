"""What a definition file declares, found in the module it became."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, cast

from pydantic import BaseModel

from sa_builder.errors import DefinitionError
from sa_builder.host.running import Runnable, positions_of
from sa_builder.host.sources import Source
from sa_builder.spec.definitions import (
    AgentDefinition,
    AnyDefinition,
    HandlerDefinition,
    ModelDefinition,
    PromptDefinition,
    ToolDefinition,
)
from sa_builder.spec.kinds import FOLDERS, Kind
from sa_builder.spec.user import definition_of

_TYPES: dict[Kind, type[AnyDefinition]] = {
    Kind.AGENT: AgentDefinition,
    Kind.PROMPT: PromptDefinition,
    Kind.MODEL: ModelDefinition,
    Kind.TOOL: ToolDefinition,
    Kind.HANDLER: HandlerDefinition,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One file's definition."""

    kind: Kind
    definition: AnyDefinition
    runnable: Runnable | None
    """Of a tool or handler: its function."""


def kind_of(source: Source) -> Kind | None:
    """The kind a file declares, from its folder; None for helpers."""
    parts = source.module.split(".")
    if len(parts) != 3 or source.is_package or parts[2].startswith("_"):
        return None
    return FOLDERS.get(parts[1])


def declared_in(module: ModuleType, source: Source) -> Declared:
    """Find the one definition of a file's kind.

    Raises:
        DefinitionError: there is none, or more than one, or it has another name than the file.
    """
    kind = kind_of(source)
    assert kind is not None
    found = _definitions(module, kind)
    path = source.relative_path
    if not found:
        raise DefinitionError(f"{path} declares no {kind}.", code="definition.none")
    if len(found) > 1:
        raise DefinitionError(f"{path} declares {len(found)} {kind}s.", code="definition.several")
    bound, function = found[0]
    definition = definition_of(bound, source.path.stem)
    if function is None:
        return Declared(kind=kind, definition=definition, runnable=None)
    runnable = Runnable(
        name=definition.name,
        path=path,
        function=function,
        arguments_model=_arguments_model(function) if kind is Kind.TOOL else None,
        positions=positions_of(function),
        is_async=inspect.iscoroutinefunction(inspect.unwrap(function)),
    )
    return Declared(kind=kind, definition=definition, runnable=runnable)


def _definitions(module: ModuleType, kind: Kind) -> list[tuple[object, Callable[..., Any] | None]]:
    """What of the kind the file made itself, imported ones left out, with its function."""
    found: dict[int, tuple[object, Callable[..., Any] | None]] = {}
    for name, value in tuple(vars(module).items()):
        if kind in (Kind.TOOL, Kind.HANDLER):
            definition = getattr(value, "__sa_definition__", None)
            if callable(value) and getattr(value, "__module__", None) == module.__name__:
                function = cast(Callable[..., Any], value)
                if isinstance(definition, _TYPES[kind]):
                    found[id(definition)] = (function, function)
        elif name == kind.value and isinstance(value, _TYPES[kind]):
            found[id(value)] = (value, None)
    return list(found.values())


def _arguments_model(function: Callable[..., Any]) -> type[BaseModel] | None:
    """The pydantic model of a tool's arguments, as given or as annotated."""
    given = getattr(function, "__sa_args__", None)
    if isinstance(given, type) and issubclass(given, BaseModel):
        return given
    parameters = list(inspect.signature(function, eval_str=True).parameters.values())
    annotation = parameters[1].annotation if len(parameters) > 1 else None
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None
