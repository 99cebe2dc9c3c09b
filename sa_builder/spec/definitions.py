"""What definitions hold, as values: the shapes that `define_*` returns and the runtime runs on.

Everything here is plain data that survives JSON: argument models have become JSON Schemas, and
functions stay behind in the code host, named by kind and name. Rules that look beyond one
property live in `spec.rules`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

JsonSchema = dict[str, Any]
"""A JSON Schema, draft 2020-12."""


class Definition(BaseModel):
    """Base of all definition values: frozen, and closed to unknown properties."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)


class SessionTool(Definition):
    """A tool whose successful call acts on the session."""

    name: str
    """The tool; it must be among the side's prompt's tools."""
    message_property: str | None = None
    """The tool's argument that becomes the session's text."""
    attachments_property: str | None = None
    """The tool's argument that holds one path or a list of paths."""


class Relationship(Definition):
    """A subagent that a side owns: an entry of `subagents`."""

    agent: str
    """The agent to run as a child thread; it must have `expose_as_tool=True`."""
    as_: str | None = None
    """Name of the relationship; the agent's name when None."""
    description: str | None = None
    """What the child is for, told to the model that may create it."""
    blocking: bool = False
    """True: the call that creates the child waits for its session to end."""
    immediate: bool = False
    """True: one instance is created with the thread, before any turn."""
    max_instances: Annotated[int, Field(ge=1)] | None = None
    """How many children that are not terminated may exist at once; None is no cap."""
    parent_communication: Literal["implicit", "explicit"] = "implicit"
    """Whether the end of the child's session queues a silent message here."""
    hidden: bool = False
    """True: only code may create it; no model is told of it."""
    optional: str | None = None
    """Name of a variable that must be true for the relationship to exist."""
    scoped_env: Sequence[str] = ()
    """Names of variables copied into each child."""
    init_user_message_property: str | None = None
    """The creation argument that becomes the child's first user message."""
    init_attachments_property: str | None = None
    """The creation argument that holds paths to copy to the child."""
    init_agent_name_property: str | None = None
    """The creation argument that becomes the instance's name."""

    @property
    def name(self) -> str:
        """The relationship's name: `as_`, else the agent's."""
        return self.as_ or self.agent


class Side(Definition):
    """One side of an agent: exactly one backing, and when its turns and sessions end."""

    human: Literal[True] | None = None
    """A person takes the turns."""
    prompt: str | None = None
    """The prompt that takes the turns."""
    handler: str | None = None
    """The handler that takes the turns."""
    label: str | None = None
    """A name for people."""
    subagents: Sequence[Relationship] = ()
    """Children this side may create."""
    stop_on_response: bool = True
    """Text without tool calls ends the turn."""
    stop_tool: str | None = None
    """Calling this tool ends the turn."""
    stop_tool_response_property: str | None = None
    """The property of that tool that becomes the response."""
    max_steps: Annotated[int, Field(ge=1)] | None = None
    """Steps before the turn ends by itself; None is no cap of its own."""
    session_stop: SessionTool | None = None
    """A tool that ends the session well."""
    session_fail: SessionTool | None = None
    """A tool that ends the session as failed."""
    session_status: SessionTool | None = None
    """A tool that tells the parent a status."""
    manual_stop_condition: bool = False
    """Hooks decide when the turn ends."""

    @property
    def backing(self) -> Literal["human", "prompt", "handler"]:
        """Which of the three backs the side (the first one given)."""
        if self.prompt is not None:
            return "prompt"
        return "handler" if self.handler is not None else "human"


class AgentDefinition(Definition):
    """Two sides and the limits of their conversation."""

    name: str
    side_a: Side
    """Acts on `user` messages and writes `assistant` ones."""
    side_b: Side
    """The mirror of side A."""
    max_session_turns: Annotated[int, Field(ge=1)] | None = None
    """Completed turns of both sides before the session ends; None is no cap."""
    expose_as_tool: bool = False
    """Whether other agents may use it as a subagent or hand over to it."""
    tool_description: str | None = None
    """Told to the calling model; needed when exposed."""
    primary: bool = True
    """False hides it from top-level lists."""
    description: str | None = None
    icon: str | None = None
    env: Mapping[str, str] = Field(default_factory=dict)
    """Values for variables, above those of tools and prompts."""
    budget: str | None = None
    """A cap such as "5.00 USD"."""
    hooks: Sequence[str] = ()
    """Hooks for prompts that list none, and for handler sides."""
    parent_hooks: Sequence[str] = ()
    package_name: str | None = None
    version: str | None = None
    author: str | None = None
    license: str | None = None

    def side(self, side: Literal["a", "b"]) -> Side:
        """Side A or side B."""
        return self.side_a if side == "a" else self.side_b


class Text(Definition):
    """A prompt part: literal text."""

    kind: Literal["text"] = "text"
    text: str


class Include(Definition):
    """A prompt part: another prompt's text."""

    kind: Literal["include"] = "include"
    prompt: str


class EnvText(Definition):
    """A prompt part: the value of a text variable."""

    kind: Literal["env_text"] = "env_text"
    name: str


PromptPart = Annotated[Text | Include | EnvText, Field(discriminator="kind")]


class SubPrompt(Definition):
    """A prompt used as a tool: a nested run in the same thread."""

    kind: Literal["sub_prompt"] = "sub_prompt"
    name: str
    include_text_response: bool = True
    include_tool_calls: bool = True
    include_errors: bool = True
    init_user_message_property: str | None = None
    init_attachments_property: str | None = None


class PromptTool(Definition):
    """A tool with values of its own for this prompt."""

    kind: Literal["prompt_tool"] = "prompt_tool"
    name: str
    env: Mapping[str, str] = Field(default_factory=dict)
    options: Mapping[str, Any] = Field(default_factory=dict)


class ToolChoiceName(Definition):
    """A tool the model must call."""

    name: str


class Reasoning(Definition):
    """How much a model thinks, and whether that is shown and sent back."""

    effort: Literal["low", "medium", "high"] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    exclude: bool = False
    include: bool = False


class Variable(Definition):
    """A value that a tool or prompt needs from its surroundings."""

    name: str
    type: Literal["text", "secret"] = "secret"
    required: bool = False
    description: str | None = None
    scoped: bool = False


class PromptDefinition(Definition):
    """What a model is told and may use on a turn."""

    name: str
    tool_description: str
    """Told to a model that may call this prompt as a tool."""
    prompt: str | Sequence[PromptPart]
    """The system text, or its parts in order."""
    model: str
    """Name of a model or router."""
    include_chat: bool = False
    """Whether the history of the thread is sent."""
    include_past_tools: bool = False
    """Whether earlier tool calls and results are sent."""
    parallel_tool_calls: bool = False
    tool_choice: Literal["auto", "none", "required"] | ToolChoiceName = "auto"
    required_schema: JsonSchema | None = None
    """Arguments the prompt, or an agent whose side A it backs, is created with."""
    tools: Sequence[str | SubPrompt | PromptTool] = ()
    """Names of tools, prompts and exposed agents; also `provider:x` and `mcp:server/x`."""
    hooks: Sequence[str] = ()
    variables: Sequence[Variable] = ()
    env: Mapping[str, str] = Field(default_factory=dict)
    reasoning: Reasoning | None = None
    recent_image_threshold: Annotated[int, Field(ge=0)] = 10
    provider_options: Mapping[str, Any] = Field(default_factory=dict)

    def tool_names(self) -> tuple[str, ...]:
        """The names among `tools`, in order."""
        return tuple(entry if isinstance(entry, str) else entry.name for entry in self.tools)


class ModelDefinition(Definition):
    """A provider, its model, and what to try after it."""

    name: str
    provider: str
    """A built-in provider's name, or one of the project's."""
    model: str
    """The provider's own id."""
    fallbacks: Sequence[str] = ()
    base_url: str | None = None
    """For `compatible`: the whole URL of chat completions."""
    api_key_env: str | None = None
    """For `compatible`: the variable that holds the key."""
    provider_options: Mapping[str, Any] = Field(default_factory=dict)
    provider_tools: Sequence[str] = ()
    capabilities: Mapping[str, Any] = Field(default_factory=dict)
    input_price: str | None = None
    """Decimal text per million tokens."""
    cached_price: str | None = None
    output_price: str | None = None
    reasoning_price: str | None = None
    price_currency: str = "USD"
    prices_from: str | None = None


class ToolDefinition(Definition):
    """A function that a prompt may call."""

    name: str
    description: str
    args_schema: JsonSchema | None = None
    """JSON Schema of the arguments; None takes no arguments."""
    variables: Sequence[Variable] = ()
    uses: Sequence[str] | None = None
    """Tools it may queue or invoke; None is any."""
    execution_mode: Literal["local", "provider"] = "local"
    side_effects: Literal["none", "read", "write", "destructive"] = "write"
    idempotency: Literal["idempotent", "keyed", "none"] = "none"
    risk: Literal["low", "medium", "high"] = "medium"
    auth: Any = None
    concurrency: Any = None
    output_schema: JsonSchema | None = None
    errors: Any = None
    durable: bool = False
    timeout_s: Annotated[float, Field(gt=0)] | None = None

    def repeats_safely(self) -> bool:
        """Whether a call with an unknown outcome may simply be made again."""
        return self.side_effects in ("none", "read") or self.idempotency in ("idempotent", "keyed")


class HandlerDefinition(Definition):
    """A function that takes one side's turns."""

    name: str
    description: str | None = None


class ToolResult(Definition):
    """What a tool's function returns; a str or a pydantic model is taken as success."""

    status: Literal["success", "error"] = "success"
    result: str | None = None
    error: str | None = None
    error_code: str | None = None
    error_data: Mapping[str, Any] | None = None
    attachments: Sequence[Mapping[str, Any]] = ()


AnyDefinition = (
    AgentDefinition | PromptDefinition | ModelDefinition | ToolDefinition | HandlerDefinition
)
