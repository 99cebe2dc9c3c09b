"""What definition files call: `define_*` and the values that go into them.

Each returns plain, frozen values (or the decorated function, unchanged) and refuses at once, with
the sentence of the broken rule, what is wrong in a single definition.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from pydantic import BaseModel

from sa_builder.errors import DefinitionError
from sa_builder.spec import definitions
from sa_builder.spec.definitions import (
    AgentDefinition,
    AnyDefinition,
    Definition,
    HandlerDefinition,
    ModelDefinition,
    PromptDefinition,
    ToolDefinition,
    ToolResult,
)
from sa_builder.spec.kinds import Kind
from sa_builder.spec.messages import Message
from sa_builder.spec.properties import DECLARATIONS, POSITIONAL, properties_of
from sa_builder.spec.rules import plain, require, require_record
from sa_builder.spec.state import SyncThreadState, ThreadState

F = TypeVar("F", bound=Callable[..., Any])
Schema = type[BaseModel] | Mapping[str, Any]
"""A pydantic model, or a JSON Schema."""


def _told(declare: F) -> F:
    """Have a wrong call of a define_* answered by a rule's sentence, not by a TypeError."""
    signature = inspect.signature(declare)
    name = str(getattr(declare, "__name__", ""))

    @functools.wraps(declare)
    def checked(*places: Any, **values: Any) -> Any:
        if len(places) == 1 and inspect.isroutine(places[0]):
            raise DefinitionError(
                f"@{name} stands without its parentheses.",
                act=f"Write @{name}(description=…).",
                code="SA013",
            )
        heads = [each for each in signature.parameters if each not in values]
        given = {**dict(zip(heads, places, strict=False)), **values}
        try:
            signature.bind(*places, **values)
        except TypeError as error:
            require(DECLARATIONS[name], plain(given))
            raise DefinitionError(f"{name}(...): {error}.", code="SA015") from error
        return declare(*places, **values)

    return cast(F, checked)


class _Record(Definition):
    """Base of the values that definition files build: a wrong one gets a sentence, not a dump."""

    if not TYPE_CHECKING:

        def __init__(self, *places: Any, **values: Any) -> None:
            name = type(self).__name__
            heads = POSITIONAL.get(name, ())
            if len(places) > len(heads):
                raise DefinitionError(
                    f"{name}(...) takes its values by name.",
                    act=f"Write {name}({', '.join(f'{key}=…' for key in properties_of(name))}).",
                    code="SA015",
                )
            for key, value in zip(heads, places, strict=False):
                if key in values:
                    raise DefinitionError(f"{name}(...) is given {key} twice.", code="SA015")
                values[key] = value
            require_record(name, plain(values))
            super().__init__(**_revived(values))


class Side(_Record, definitions.Side):
    """One side of an agent: exactly one of human, prompt, handler, and when its turns end."""


class Relationship(_Record, definitions.Relationship):
    """A subagent that a side owns: an entry of `subagents`."""


class SessionTool(_Record, definitions.SessionTool):
    """A tool whose successful call ends the session or tells its status."""


class SubPrompt(_Record, definitions.SubPrompt):
    """A prompt used as a tool: a nested run in the same thread."""


class PromptTool(_Record, definitions.PromptTool):
    """A tool with values of its own for this prompt."""


class Reasoning(_Record, definitions.Reasoning):
    """How much a model thinks, and whether that is shown and sent back."""


class Variable(_Record, definitions.Variable):
    """A value that a tool or prompt needs from its surroundings."""


class Text(_Record, definitions.Text):
    """A prompt part: literal text."""

    if TYPE_CHECKING:

        def __init__(self, text: str) -> None: ...


class Include(_Record, definitions.Include):
    """A prompt part: another prompt's text."""

    if TYPE_CHECKING:

        def __init__(self, prompt: str) -> None: ...


class EnvText(_Record, definitions.EnvText):
    """A prompt part: the value of a text variable."""

    if TYPE_CHECKING:

        def __init__(self, name: str) -> None: ...


PromptPart = Text | Include | EnvText
Plain = Mapping[str, Any]
"""A dict literal in the place of a record."""


@_told
def define_agent(
    name: str,
    side_a: Side | Plain,
    side_b: Side | Plain,
    *,
    max_session_turns: int | None = None,
    expose_as_tool: bool = False,
    tool_description: str | None = None,
    primary: bool = True,
    description: str | None = None,
    icon: str | None = None,
    env: Mapping[str, str] = {},
    budget: str | None = None,
    hooks: Sequence[str] = (),
    parent_hooks: Sequence[str] = (),
    package_name: str | None = None,
    version: str | None = None,
    author: str | None = None,
    license: str | None = None,
) -> AgentDefinition:
    """Declare an agent: two sides and the limits of their conversation.

    Args:
        name: the file's stem.
        side_a: acts on `user` messages and writes `assistant` ones.
        side_b: the mirror of side A.
        max_session_turns: turns of both sides before the session ends; None is no cap.
        expose_as_tool: whether other agents may use it as a subagent or hand over to it.
        tool_description: told to the calling model; needed when exposed.
        primary: False hides it from top-level lists.
        env: values for variables, above those of tools and prompts.
        budget: a cap such as "5.00 USD".
        hooks: hooks for prompts that list none, and for handler sides.

    Raises:
        DefinitionError: a rule is broken; the sentence says which and what to do.
    """
    return cast(AgentDefinition, _define(Kind.AGENT, locals()))


@_told
def define_prompt(
    name: str,
    tool_description: str,
    prompt: str | Sequence[PromptPart | Plain],
    model: str,
    *,
    include_chat: bool = False,
    include_past_tools: bool = False,
    parallel_tool_calls: bool = False,
    tool_choice: Literal["auto", "none", "required"] | Plain = "auto",
    required_schema: Schema | None = None,
    tools: Sequence[str | SubPrompt | PromptTool | Plain] = (),
    hooks: Sequence[str] = (),
    variables: Sequence[Variable | Plain] = (),
    env: Mapping[str, str] = {},
    reasoning: Reasoning | Plain | None = None,
    recent_image_threshold: int = 10,
    provider_options: Mapping[str, Any] = {},
) -> PromptDefinition:
    """Declare what a model is told and may use on a turn.

    Args:
        name: the file's stem.
        tool_description: told to a model that may call this prompt as a tool.
        prompt: the system text, or its parts in order.
        model: name of a model.
        include_chat: whether the history of the thread is sent.
        include_past_tools: whether earlier tool calls and results are sent.
        required_schema: arguments that the prompt, or an agent it backs, is created with.
        tools: names of tools, prompts and exposed agents.

    Raises:
        DefinitionError: a rule is broken; the sentence says which and what to do.
    """
    return cast(PromptDefinition, _define(Kind.PROMPT, locals()))


@_told
def define_model(
    name: str,
    provider: str,
    model: str,
    *,
    fallbacks: Sequence[str] = (),
    base_url: str | None = None,
    api_key_env: str | None = None,
    provider_options: Mapping[str, Any] = {},
    provider_tools: Sequence[str] = (),
    capabilities: Mapping[str, Any] = {},
    input_price: str | None = None,
    cached_price: str | None = None,
    output_price: str | None = None,
    reasoning_price: str | None = None,
    price_currency: str = "USD",
    prices_from: str | None = None,
) -> ModelDefinition:
    """Declare a provider, its model, and what to try after it.

    Args:
        name: the file's stem (with - where the stem has _, if you like).
        provider: a built-in provider's name, or one of the project's.
        model: the provider's own id.
        fallbacks: model names, tried in order after the primary's retries.
        base_url: for `compatible`, the whole URL of chat completions.
        api_key_env: for `compatible`, the variable that holds the key.
        input_price: decimal text per million tokens; likewise the other prices.

    Raises:
        DefinitionError: a rule is broken; the sentence says which and what to do.
    """
    return cast(ModelDefinition, _define(Kind.MODEL, locals()))


@_told
def define_tool(
    description: str,
    *,
    args: Schema | None = None,
    variables: Sequence[Variable | Plain] = (),
    uses: Sequence[str] | None = None,
    execution_mode: Literal["local", "provider"] = "local",
    side_effects: Literal["none", "read", "write", "destructive"] = "write",
    idempotency: Literal["idempotent", "keyed", "none"] = "none",
    risk: Literal["low", "medium", "high"] = "medium",
    auth: Any = None,
    concurrency: Any = None,
    output: Schema | None = None,
    errors: Any = None,
    durable: bool = False,
    timeout_s: float | None = None,
) -> Callable[[F], F]:
    """Declare a function that a prompt may call, sync or async: `execute(state, args)`.

    Args:
        description: told to the model.
        args: model of the arguments; else the annotation of the second parameter.
        uses: tools it may queue or invoke; None is any.
        side_effects: what a call does to the world; decides what recovery may repeat.
        idempotency: whether an equal call may be made again.
        timeout_s: seconds before a call is given up; None is no limit of its own.

    Raises:
        DefinitionError: a rule is broken; the sentence says which and what to do.
    """
    given = _given(define_tool, locals())

    def mark(function: F) -> F:
        values = dict(given)
        model = values.pop("args", None)
        if model is None:
            model = _annotated_model(function)
        output_model = values.pop("output", None)
        require(Kind.TOOL, {**plain(values), **({"args": _schema(model)} if model else {})})
        built = ToolDefinition.model_validate(
            {
                **_revived(values),
                "name": _stem_of(function),
                "args_schema": _schema(model),
                "output_schema": _schema(output_model),
            }
        )
        _mark(function, built, model if isinstance(model, type) else None)
        return function

    return mark


@_told
def define_handler(description: str | None = None) -> Callable[[F], F]:
    """Declare a function that takes one side's turns: `execute(state, message)`.

    Args:
        description: what it does, for people.

    Raises:
        DefinitionError: a rule is broken; the sentence says which and what to do.
    """
    given = _given(define_handler, locals())

    def mark(function: F) -> F:
        require(Kind.HANDLER, plain(given))
        built = HandlerDefinition(name=_stem_of(function), description=given.get("description"))
        _mark(function, built, None)
        return function

    return mark


def definition_of(obj: object, stem: str) -> AnyDefinition:
    """The definition that a loaded module's bound value or function stands for.

    Args:
        obj: what `define_*` returned, or the function that it decorated.
        stem: the file's stem, which names tools and handlers.

    Raises:
        DefinitionError: it is no definition, or its name is not the file's.
    """
    marked = getattr(obj, "__sa_definition__", None)
    if isinstance(marked, ToolDefinition | HandlerDefinition):
        return marked.model_copy(update={"name": stem})
    if isinstance(obj, AgentDefinition | PromptDefinition | ModelDefinition):
        expected = obj.name.replace("-", "_") if isinstance(obj, ModelDefinition) else obj.name
        if expected != stem:
            raise DefinitionError(
                f'The name "{obj.name}" differs from the file\'s name {stem}; make the two equal.',
                code="SA010",
            )
        return obj
    raise DefinitionError(f"{stem}.py holds a value that no define_* made.", code="SA002")


def _define(kind: Kind, given: Mapping[str, Any]) -> AnyDefinition:
    functions: dict[Kind, Callable[..., Any]] = {
        Kind.AGENT: define_agent,
        Kind.PROMPT: define_prompt,
        Kind.MODEL: define_model,
    }
    values = _given(functions[kind], given)
    if kind is Kind.PROMPT and "required_schema" in values:
        values["required_schema"] = _schema(values["required_schema"])
    written = plain(values)
    require(kind, written)
    types: dict[Kind, type[AnyDefinition]] = {
        Kind.AGENT: AgentDefinition,
        Kind.PROMPT: PromptDefinition,
        Kind.MODEL: ModelDefinition,
    }
    return types[kind].model_validate(_revived(written))


def _given(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that are not left at their defaults."""
    found: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is parameter.empty or values[name] is not parameter.default:
            found[name] = values[name]
    return found


def _revived(value: Any) -> Any:
    """Plain values with the `kind` that unions are told apart by."""
    if isinstance(value, BaseModel):
        return _revived(plain(value))
    if isinstance(value, Mapping):
        values = {key: _revived(item) for key, item in cast(Plain, value).items()}
        for key in ("prompt", "tools"):
            if isinstance(values.get(key), list):
                values[key] = [_with_kind(key, item) for item in cast(list[Any], values[key])]
        return values
    if isinstance(value, list | tuple):
        return [_revived(item) for item in cast(Sequence[Any], value)]
    return value


def _with_kind(key: str, item: Any) -> Any:
    if not isinstance(item, dict) or "kind" in item:
        return cast(Any, item)
    entry = cast(dict[str, Any], item)
    if key == "prompt":
        kind = "text" if "text" in entry else "include" if "prompt" in entry else "env_text"
    else:
        kind = "prompt_tool" if {"env", "options"} & set(entry) else "sub_prompt"
    return {**entry, "kind": kind}


def _schema(model: Any) -> Any:
    if isinstance(model, type) and issubclass(model, BaseModel):
        return model.model_json_schema()
    return cast(Any, model)


def _annotated_model(function: Callable[..., Any]) -> type[BaseModel] | None:
    parameters = list(inspect.signature(function).parameters.values())
    if len(parameters) < 2:
        return None
    annotation: Any = parameters[1].annotation
    if isinstance(annotation, str):
        try:
            annotation = typing.get_type_hints(function).get(parameters[1].name)
        except NameError as error:
            raise DefinitionError(
                f"The annotation {parameters[1].annotation} of {parameters[1].name} "
                f"is not known: {error}.",
                act="Define the class above the function, or give it as args=.",
                code="SA015",
            ) from error
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def _mark(function: Any, built: AnyDefinition, model: type[BaseModel] | None) -> None:
    function.__sa_definition__ = built
    function.__sa_args__ = model


def _stem_of(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__module__", "")).rpartition(".")[2] or function.__name__


__all__ = [
    "EnvText",
    "Include",
    "Message",
    "PromptTool",
    "Reasoning",
    "Relationship",
    "SessionTool",
    "Side",
    "SubPrompt",
    "SyncThreadState",
    "Text",
    "ThreadState",
    "ToolResult",
    "Variable",
    "define_agent",
    "define_handler",
    "define_model",
    "define_prompt",
    "define_tool",
    "definition_of",
]
