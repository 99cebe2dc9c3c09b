"""The definitions one turn runs with, rendered once and kept with the turn to its end."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import Field

from sa_builder.errors import RuntimeRefused
from sa_builder.spec.definitions import (
    AgentDefinition,
    ModelDefinition,
    PromptDefinition,
    Relationship,
    Side,
    ToolDefinition,
)
from sa_builder.spec.messages import Frozen, SideName
from sa_builder.spec.registry import Registry


class ChildOffer(Frozen):
    """A relationship as it is offered to a model, with what the child must be given."""

    relationship: Relationship
    agent_description: str = ""
    arguments_schema: dict[str, Any] | None = None
    """The child's side A prompt's `required_schema`."""
    backing_a: str = ""
    backing_b: str = ""


class TurnFrame(Frozen):
    """What a turn runs with; stored as one blob, so that a restart runs the same."""

    agent: AgentDefinition
    side: SideName
    prompt: PromptDefinition | None = None
    system_prompt: str = ""
    prompt_parts: Sequence[dict[str, Any]] = ()
    """{prompt, path, text} of each part of the system prompt."""
    models: Sequence[ModelDefinition] = ()
    """The prompt's model and its fallbacks, in the order they are tried."""
    tools: dict[str, ToolDefinition] = Field(default_factory=dict)
    children: Sequence[ChildOffer] = ()
    definitions_hash: str = ""

    @property
    def own_side(self) -> Side:
        return self.agent.side(self.side)

    def child(self, relationship: str) -> ChildOffer | None:
        """The relationship of that name."""
        return next((c for c in self.children if c.relationship.name == relationship), None)

    def encoded(self) -> tuple[str, bytes]:
        """SHA-256 hex and the bytes of the frame."""
        body = self.model_dump_json(exclude_defaults=True).encode()
        return hashlib.sha256(body).hexdigest(), body


def backing_words(side: Side) -> str:
    """A side's backing as the thread's row keeps it: "human", "prompt x", "handler y"."""
    match side.backing:
        case "human":
            return "human"
        case "prompt":
            return f"prompt {side.prompt}"
        case "handler":
            return f"handler {side.handler}"


def child_offers(registry: Registry, side: Side) -> list[ChildOffer]:
    """The relationships of a side, each with its child's needs."""
    offers: list[ChildOffer] = []
    for relationship in side.subagents:
        agent = registry.agent(relationship.agent)
        if not agent.expose_as_tool:
            raise RuntimeRefused(
                f"{agent.name} is used as a subagent, but is not exposed.",
                act=f"Set expose_as_tool=True in agents/{agent.name}.",
                code="agent.not_exposed",
            )
        prompt = registry.prompts.get(agent.side_a.prompt or "")
        offers.append(
            ChildOffer(
                relationship=relationship,
                agent_description=relationship.description or agent.tool_description or "",
                arguments_schema=prompt.required_schema if prompt else None,
                backing_a=backing_words(agent.side_a),
                backing_b=backing_words(agent.side_b),
            )
        )
    return offers


def build_frame(
    registry: Registry,
    agent: AgentDefinition,
    side: SideName,
    *,
    text_variable: Callable[[str], str | None],
) -> TurnFrame:
    """Render what a turn of one side runs with.

    Args:
        text_variable: name → value of a text variable, for `EnvText` parts.

    Raises:
        RuntimeRefused: a definition it needs is missing or broken.
    """
    own = agent.side(side)
    children = child_offers(registry, own)
    if own.handler is not None:
        registry.handler(own.handler)
    if own.prompt is None:
        return TurnFrame(
            agent=agent, side=side, children=children, definitions_hash=registry.content_hash
        )
    prompt = registry.prompt(own.prompt)
    parts = _parts(registry, prompt, (), text_variable)
    return TurnFrame(
        agent=agent,
        side=side,
        prompt=prompt,
        system_prompt="".join(part["text"] for part in parts),
        prompt_parts=parts,
        models=_models(registry, prompt.model),
        tools={name: _tool(registry, prompt, name) for name in prompt.tool_names()},
        children=children,
        definitions_hash=registry.content_hash,
    )


def _tool(registry: Registry, prompt: PromptDefinition, name: str) -> ToolDefinition:
    if name in registry.handlers and name not in registry.tools:
        raise RuntimeRefused(
            f"{prompt.name} lists the handler {name} among its tools.",
            act="A handler backs a side; list a tool instead.",
            code="prompt.handler_as_tool",
        )
    if name not in registry.tools and (name in registry.prompts or name in registry.agents):
        kind = "prompt" if name in registry.prompts else "agent"
        raise RuntimeRefused(
            f"{prompt.name} lists the {kind} {name} among its tools; this version runs tools and"
            " subagents only.",
            act=f"Take {name} out of tools, or make it a subagent of the side.",
            code="prompt.callable_unsupported",
        )
    return registry.tool(name)


def _models(registry: Registry, name: str) -> list[ModelDefinition]:
    models: list[ModelDefinition] = []
    waiting = [name]
    while waiting:
        model = registry.model(waiting.pop(0))
        if all(known.name != model.name for known in models):
            models.append(model)
            waiting.extend(model.fallbacks)
    return models


def _parts(
    registry: Registry,
    prompt: PromptDefinition,
    path: tuple[str, ...],
    text_variable: Callable[[str], str | None],
) -> list[dict[str, Any]]:
    if prompt.name in path:
        raise RuntimeRefused(
            f"Prompts include each other in a circle: {' → '.join((*path, prompt.name))}.",
            code="prompt.include_cycle",
        )
    place = {"prompt": prompt.name, "path": f"agents/prompts/{prompt.name}.py"}
    if isinstance(prompt.prompt, str):
        return [{**place, "text": prompt.prompt}]
    parts: list[dict[str, Any]] = []
    for part in prompt.prompt:
        match part.kind:
            case "text":
                parts.append({**place, "text": part.text})
            case "include":
                included = registry.prompt(part.prompt)
                parts += _parts(registry, included, (*path, prompt.name), text_variable)
            case "env_text":
                parts.append(
                    {**place, "text": text_variable(part.name) or "", "variable": part.name}
                )
    return parts
