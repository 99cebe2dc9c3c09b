"""Definitions as these tests write them: short, and of the language's own making."""

from __future__ import annotations

from typing import Any

from sa_builder.spec import Side, define_agent, define_model, define_prompt
from sa_builder.spec.definitions import (
    AgentDefinition,
    AnyDefinition,
    HandlerDefinition,
    ModelDefinition,
    PromptDefinition,
    ToolDefinition,
)

HUMAN = Side(human=True)


def agent(name: str, side_a: Side, side_b: Side = HUMAN, **values: Any) -> AgentDefinition:
    return define_agent(name=name, side_a=side_a, side_b=side_b, **values)


def prompt(name: str, *tools: str, model: str = "m", **values: Any) -> PromptDefinition:
    values = {"include_chat": True, "include_past_tools": True, **values}
    return define_prompt(
        name=name, tool_description="x", prompt=f"You are {name}.", model=model,
        tools=list(tools), **values,
    )  # fmt: skip


def model(name: str = "m", **values: Any) -> ModelDefinition:
    return define_model(name=name, provider="openrouter", model=name, **values)


def tool(name: str, **values: Any) -> ToolDefinition:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    return ToolDefinition(name=name, description="x", args_schema=schema, **values)


def handler(name: str) -> HandlerDefinition:
    return HandlerDefinition(name=name)


def chat(*tools: ToolDefinition, side: dict[str, Any] | None = None) -> list[AnyDefinition]:
    """A person and a model with some tools: the agent is "chat"."""
    names = [one.name for one in tools]
    return [
        agent("chat", Side(prompt="talk", **(side or {}))),
        prompt("talk", *names),
        model(),
        *tools,
    ]
