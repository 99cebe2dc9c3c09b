"""The first text of a new definition file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sa_builder.spec.kinds import Kind


def template(kind: Kind, name: str, *, prompt: str, model: str) -> str | None:
    """A new definition's text; None for kinds that have none yet.

    Args:
        name: the definition's name.
        prompt: the prompt that a new agent's side A is backed by.
        model: the model that a new prompt uses.
    """
    write = _TEMPLATES.get(kind)
    return write(name, prompt, model) if write is not None else None


def _agent(name: str, prompt: str, model: str) -> str:
    return f'''from sa_builder.spec import Side, define_agent

agent = define_agent(
    name="{name}",
    side_a=Side(
        prompt="{prompt}",
    ),
    side_b=Side(human=True),
)
'''


def _prompt(name: str, prompt: str, model: str) -> str:
    return f'''from sa_builder.spec import define_prompt

prompt = define_prompt(
    name="{name}",
    tool_description="Answers a request",
    prompt="You are a helpful assistant.",
    model="{model}",
    include_chat=True,
    tools=[],
)
'''


def _model(name: str, prompt: str, model: str) -> str:
    return f'''from sa_builder.spec import define_model

model = define_model(
    name="{name}",
    provider="offline",
    model="{name}",
)
'''


def _tool(name: str, prompt: str, model: str) -> str:
    title = "".join(part.capitalize() for part in name.split("_"))
    return f'''from pydantic import BaseModel, Field

from sa_builder.spec import ThreadState, ToolResult, define_tool


class {title}Args(BaseModel):
    """What {name} is called with."""

    text: str = Field(description="What to work on")


@define_tool(
    description="Gives back the text it gets.",
    side_effects="none",
)
async def execute(state: ThreadState, args: {title}Args) -> ToolResult:
    return ToolResult(result=args.text)
'''


def _handler(name: str, prompt: str, model: str) -> str:
    return """from sa_builder.spec import Message, ThreadState, define_handler


@define_handler(description="Repeats what it hears.")
async def execute(state: ThreadState, message: Message) -> None:
    await state.inject_message(role="assistant", content=message.content or "")
"""


_TEMPLATES: Mapping[Kind, Callable[[str, str, str], str]] = {
    Kind.AGENT: _agent,
    Kind.PROMPT: _prompt,
    Kind.MODEL: _model,
    Kind.TOOL: _tool,
    Kind.HANDLER: _handler,
}
