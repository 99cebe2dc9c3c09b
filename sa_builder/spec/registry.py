"""All definitions of a project at one moment, by kind and name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from sa_builder.errors import RuntimeRefused
from sa_builder.spec.definitions import (
    AgentDefinition,
    AnyDefinition,
    HandlerDefinition,
    ModelDefinition,
    PromptDefinition,
    ToolDefinition,
)
from sa_builder.spec.kinds import Kind

D = TypeVar("D")

_SHAPES: dict[Kind, type[AnyDefinition]] = {
    Kind.AGENT: AgentDefinition,
    Kind.PROMPT: PromptDefinition,
    Kind.MODEL: ModelDefinition,
    Kind.TOOL: ToolDefinition,
    Kind.HANDLER: HandlerDefinition,
}


def revive(kind: Kind, values: Mapping[str, Any]) -> AnyDefinition:
    """A definition from its JSON form; what only says the default counts as not written."""
    shape = _SHAPES[kind]
    whole = shape.model_validate(values)
    return shape.model_validate(whole.model_dump(mode="json", exclude_defaults=True))


def nearest(name: str, known: Iterable[str]) -> str:
    """ "Did you mean x?", or what there is, as the second sentence of a refusal."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1)
    if close:
        return f"Did you mean {close[0]}?"
    return f"There are: {', '.join(names)}." if names else "There are none."


class Registry:
    """Definitions by kind and name, and the hash of what they were made from."""

    def __init__(
        self,
        definitions: Iterable[AnyDefinition] = (),
        *,
        content_hash: str = "",
        problems: Mapping[str, str] | None = None,
    ) -> None:
        """Sort the definitions.

        Args:
            content_hash: SHA-256 hex over the files they come from.
            problems: "tools/x" → why that one did not load, for the sentence of a refusal.
        """
        self.content_hash = content_hash
        self.problems = dict(problems or {})
        self.agents: dict[str, AgentDefinition] = {}
        self.prompts: dict[str, PromptDefinition] = {}
        self.models: dict[str, ModelDefinition] = {}
        self.tools: dict[str, ToolDefinition] = {}
        self.handlers: dict[str, HandlerDefinition] = {}
        for definition in definitions:
            match definition:
                case AgentDefinition():
                    self.agents[definition.name] = definition
                case PromptDefinition():
                    self.prompts[definition.name] = definition
                case ModelDefinition():
                    self.models[definition.name] = definition
                case ToolDefinition():
                    self.tools[definition.name] = definition
                case HandlerDefinition():
                    self.handlers[definition.name] = definition

    def agent(self, name: str) -> AgentDefinition:
        """The agent of that name.

        Raises:
            RuntimeRefused: there is none; the sentence names the nearest. The same holds for
                the other kinds below.
        """
        return self._find(self.agents, "agent", "agents", name)

    def prompt(self, name: str) -> PromptDefinition:
        return self._find(self.prompts, "prompt", "prompts", name)

    def model(self, name: str) -> ModelDefinition:
        return self._find(self.models, "model", "models", name)

    def tool(self, name: str) -> ToolDefinition:
        return self._find(self.tools, "tool", "tools", name)

    def handler(self, name: str) -> HandlerDefinition:
        return self._find(self.handlers, "handler", "handlers", name)

    def all(self) -> list[AnyDefinition]:
        """Every definition, by kind and name."""
        tables = (self.agents, self.prompts, self.models, self.tools, self.handlers)
        return [table[name] for table in tables for name in sorted(table)]

    def _find(self, table: Mapping[str, D], word: str, folder: str, name: str) -> D:
        found = table.get(name)
        if found is not None:
            return found
        why = self.problems.get(f"{folder}/{name}")
        if why is not None:
            raise RuntimeRefused(f"{folder}/{name} did not load: {why}", code=f"{word}.broken")
        raise RuntimeRefused(
            f"There is no {word} named {name}.", act=nearest(name, table), code=f"{word}.missing"
        )
