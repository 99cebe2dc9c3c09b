"""What a model call is: its request, what streams back, its answer, and how it fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sa_builder.errors import KnownError


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as it is offered to a model."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON Schema of an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request, in terms every wire can carry."""

    model: str
    """The provider's own model id."""
    messages: Sequence[Mapping[str, Any]]
    """Chat-completions form, the system message first:
    {role, content, tool_calls?, tool_call_id?, name?}."""
    tools: Sequence[ToolSpec] = ()
    tool_choice: Literal["auto", "none", "required"] | Mapping[str, str] = "auto"
    parallel_tool_calls: bool | None = None
    reasoning: Mapping[str, Any] | None = None
    """{effort?, max_tokens?, exclude?}"""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Provider options of model and prompt, merged; put on the wire as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call; None where the provider did not say."""

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None
    cost: str | None = None
    """What the provider itself says the call cost, exact decimal text in USD."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCall:
    """A tool call the model wrote."""

    id: str
    """The provider's id; may be empty or repeated, so it is only an alias."""
    name: str
    arguments_json: str
    continuation: str | None = None


@dataclass(slots=True, kw_only=True)
class Exchange:
    """What really went over the wire; filled while the call runs, complete also when it fails."""

    endpoint: str = ""
    request_body: bytes = b""
    request_headers: dict[str, str] = field(default_factory=dict[str, str])
    """Secret values already replaced."""
    status_code: int | None = None
    response_headers: dict[str, str] = field(default_factory=dict[str, str])
    response_body: bytearray = field(default_factory=bytearray)
    sent_at_us: int | None = None
    first_token_at_us: int | None = None
    ended_at_us: int | None = None
    """The three times are on the monotonic clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentDelta:
    kind: Literal["content"] = "content"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta:
    kind: Literal["reasoning"] = "reasoning"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallBegun:
    kind: Literal["tool_call_begun"] = "tool_call_begun"
    index: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallDelta:
    kind: Literal["tool_call_delta"] = "tool_call_delta"
    index: int
    arguments_json: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """The whole answer; always the last thing a stream yields."""

    kind: Literal["answer"] = "answer"
    content: str | None
    reasoning: str | None = None
    reasoning_details_json: str | None = None
    """Opaque JSON list that some models need handed back as it came, with `reasoning_details`."""
    tool_calls: Sequence[ProposedCall] = ()
    finish_reason: str = "stop"
    """stop, tool_calls, length, content_filter."""
    usage: Usage = field(default_factory=Usage)
    served_model: str | None = None
    served_by: str | None = None
    """The provider behind a gateway, when it says so."""


Chunk = ContentDelta | ReasoningDelta | ToolCallBegun | ToolCallDelta | ModelAnswer

ProviderErrorCode = Literal[
    "auth",
    "permission",
    "invalid_request",
    "context_length",
    "not_found",
    "rate_limit",
    "overloaded",
    "timeout",
    "network",
    "content_filter",
    "server",
    "truncated",
    "unreadable",
    "no_mock",
    "no_key",
    "unknown",
]

RETRYABLE: frozenset[ProviderErrorCode] = frozenset(
    {"rate_limit", "overloaded", "timeout", "network", "server", "truncated", "unreadable"}
)


class ProviderError(KnownError):
    """A model call that failed, with a sentence a person can act on."""

    def __init__(
        self,
        error_code: ProviderErrorCode,
        sentence: str,
        *,
        act: str = "",
        retry_after_s: float | None = None,
        partial_content: str | None = None,
    ) -> None:
        """Keep what failed.

        Args:
            error_code: which of the known ways it failed.
            retry_after_s: what the provider asked for, from seconds or a date.
            partial_content: text that had streamed before it failed; its tools never run.
        """
        super().__init__(sentence, act=act, code=f"provider.{error_code}")
        self.error_code: ProviderErrorCode = error_code
        self.retry_after_s = retry_after_s
        self.partial_content = partial_content

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed a little later."""
        return self.error_code in RETRYABLE


class Provider(Protocol):
    """A chat backend."""

    @property
    def name(self) -> str:
        """Such as "openrouter"."""
        ...

    def stream(self, request: ModelRequest, exchange: Exchange) -> AsyncIterator[Chunk]:
        """Make the call; yields deltas and at the end one `ModelAnswer`.

        `exchange` is filled on the way, also when it raises `ProviderError`. Closing the
        iterator (or cancelling its task) closes the socket at once.
        """
        ...
