"""The chat-completions wire over httpx: OpenRouter, OpenAI, and whatever speaks like them.

Source: https://platform.openai.com/docs/api-reference/chat
Source: https://openrouter.ai/docs/api-reference/chat-completion
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit, urlunsplit

from sa_builder.providers.base import Chunk, Exchange, ModelRequest, ProviderError
from sa_builder.providers.chat_stream import ChatAssembler
from sa_builder.providers.failures import failure_of_response
from sa_builder.providers.sse import SseDecoder
from sa_builder.util.clock import Clock
from sa_builder.util.frames import safe_json
from sa_builder.util.redact import MARK, SHORTEST_CHARS, Redactor, redact_headers

if TYPE_CHECKING:
    import httpx

_MOST_ERROR_BYTES = 1024 * 1024
_AFTER_END_S = 0.25
_AFTER_FINISH_S = 5.0

Wire = Literal["openrouter", "openai", "compatible", "offline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a call may take, in seconds, and how much it may answer."""

    connect_s: float = 10.0
    read_s: float = 120.0
    """Between two pieces of the answer, and before the first."""
    total_s: float = 900.0
    most_bytes: int = 128 * 1024 * 1024
    """Of the answer's body, which is kept whole; the longest real ones stay below half of it."""


def endpoint_of(base_url: str) -> str:
    """The address of chat completions from a base URL, with or without its last parts."""
    parts = urlsplit(base_url.strip())
    path = parts.path.rstrip("/")
    if not path.endswith("/chat/completions"):
        path = f"{path or '/v1'}/chat/completions"
    return urlunsplit(parts._replace(path=path))


class ChatCompletions:
    """A provider that speaks chat completions; makes each call once and never retries."""

    def __init__(
        self,
        *,
        name: Wire,
        endpoint: str,
        key: str | None,
        client: httpx.AsyncClient,
        clock: Clock,
        limits: Limits,
    ) -> None:
        """Keep where to call and with what.

        Args:
            endpoint: the whole URL.
            key: sent as a bearer token; None sends none.
            client: shared and owned by the caller.
        """
        self._name: Wire = name
        self._endpoint = endpoint
        self._key = key
        self._client = client
        self._clock = clock
        self._limits = limits
        self._redactor = Redactor([key] if key else [])

    @property
    def name(self) -> str:
        return self._name

    async def stream(self, request: ModelRequest, exchange: Exchange) -> AsyncGenerator[Chunk]:
        """Make the call; see `Provider.stream`."""
        response: httpx.Response | None = None
        deadline = asyncio.get_running_loop().time() + self._limits.total_s
        assembler = ChatAssembler(self._name)
        try:
            response = await self._send(request, exchange, deadline)
            async with aclosing(self._read(response, exchange, assembler, deadline)) as chunks:
                async for chunk in chunks:
                    if exchange.first_token_at_us is None:
                        exchange.first_token_at_us = self._clock.monotonic_us()
                    yield chunk
            exchange.ended_at_us = self._clock.monotonic_us()
            yield assembler.answer()
        finally:
            exchange.ended_at_us = exchange.ended_at_us or self._clock.monotonic_us()
            self._hide_key(exchange)
            if response is not None:
                await response.aclose()

    async def _send(
        self, request: ModelRequest, exchange: Exchange, deadline: float
    ) -> httpx.Response:
        import httpx

        exchange.endpoint = self._endpoint
        exchange.request_body = _body(self._name, request)
        headers = {"content-type": "application/json", "accept": "text/event-stream"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        try:
            outgoing = self._client.build_request(
                "POST",
                self._endpoint,
                content=exchange.request_body,
                headers=headers,
                timeout=httpx.Timeout(self._limits.read_s, connect=self._limits.connect_s),
            )
        except (httpx.InvalidURL, UnicodeEncodeError, ValueError) as error:
            raise ProviderError(
                "invalid_request", f"{self._endpoint!r} or its key cannot be used: {error}."
            ) from error
        exchange.request_headers = redact_headers(dict(outgoing.headers), self._redactor)
        exchange.sent_at_us = self._clock.monotonic_us()
        try:
            async with asyncio.timeout_at(deadline):
                response = await self._client.send(outgoing, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            raise self._unreached(error) from error
        exchange.status_code = response.status_code
        exchange.response_headers = redact_headers(dict(response.headers), self._redactor)
        return response

    async def _read(
        self,
        response: httpx.Response,
        exchange: Exchange,
        assembler: ChatAssembler,
        deadline: float,
    ) -> AsyncGenerator[Chunk]:
        """Read the body to its end and yield what it says."""
        if response.status_code != 200:
            await self._read_refusal(response, exchange, deadline)
        decoder = SseDecoder()
        is_stream: bool | None = None
        async with aclosing(self._pieces(response, assembler, deadline)) as pieces:
            async for piece in pieces:
                if len(exchange.response_body) + len(piece) > self._limits.most_bytes:
                    raise self._endless(assembler)
                exchange.response_body += piece
                if is_stream is None:
                    is_stream = _looks_like_stream(response.headers, exchange.response_body)
                if is_stream:
                    for event in decoder.feed(piece):
                        for chunk in self._feed(assembler, event.event, event.data):
                            yield chunk
        if is_stream:
            for event in decoder.end():
                for chunk in self._feed(assembler, event.event, event.data):
                    yield chunk
        elif exchange.response_body.strip():
            body = exchange.response_body.decode("utf-8", "replace")
            for chunk in assembler.feed_body(body):
                yield chunk

    def _feed(self, assembler: ChatAssembler, event: str, data: str) -> Iterator[Chunk]:
        if event == "error" and '"error"' not in data:
            data = json.dumps({"error": data or "the stream ended in an error"})
        return assembler.feed(data)

    async def _pieces(
        self, response: httpx.Response, assembler: ChatAssembler, deadline: float
    ) -> AsyncGenerator[bytes]:
        """The body as it comes; a break after the answer's end is no fault."""
        import httpx

        pieces = response.aiter_bytes()
        loop = asyncio.get_running_loop()
        while True:
            # What a server sends after the end is waited for only to use the connection again.
            until = deadline
            if assembler.is_complete:
                patience_s = _AFTER_END_S if assembler.is_done else _AFTER_FINISH_S
                until = min(deadline, loop.time() + patience_s)
            try:
                async with asyncio.timeout_at(until):
                    piece = await anext(pieces, None)
            except (httpx.HTTPError, TimeoutError) as error:
                if assembler.is_complete:
                    return
                raise self._broken_off(error, assembler) from error
            if piece is None:
                return
            yield piece

    async def _read_refusal(
        self, response: httpx.Response, exchange: Exchange, deadline: float
    ) -> None:
        """Read the body of an answer that is not 200, and raise what it means."""
        import httpx

        try:
            async with asyncio.timeout_at(deadline):
                async for piece in response.aiter_bytes():
                    exchange.response_body += piece
                    if len(exchange.response_body) > _MOST_ERROR_BYTES:
                        break
        except (httpx.HTTPError, TimeoutError):
            pass  # the status alone says what is wrong; its words were cut
        self._hide_key(exchange)
        raise failure_of_response(
            self._name,
            response.status_code,
            {name.lower(): value for name, value in response.headers.items()},
            bytes(exchange.response_body),
            self._clock,
        )

    def _unreached(self, error: Exception) -> ProviderError:
        import httpx

        host = urlsplit(self._endpoint).netloc
        if isinstance(error, httpx.ConnectTimeout):
            sentence = f"{host} did not accept a connection within {self._limits.connect_s:g} s."
            return ProviderError("timeout", sentence)
        if isinstance(error, httpx.TimeoutException | TimeoutError):
            return ProviderError("timeout", f"{host} did not answer in time.")
        if isinstance(error, httpx.UnsupportedProtocol | httpx.InvalidURL):
            return ProviderError("invalid_request", f"{self._endpoint!r} is not an HTTP address.")
        if isinstance(error, httpx.ConnectError):
            why = str(error) or "the connection failed"
            return ProviderError(
                "network",
                f"{host} cannot be reached: {why}.",
                act="Check the network and the base URL, or switch on test mode.",
            )
        why = str(error).rstrip(".") or type(error).__name__
        return ProviderError("network", f"The connection to {host} broke before an answer: {why}.")

    def _broken_off(self, error: Exception, assembler: ChatAssembler) -> ProviderError:
        import httpx

        partial = assembler.partial_content
        if isinstance(error, httpx.TimeoutException | TimeoutError):
            return ProviderError(
                "timeout", f"{self._name} stopped sending its answer.", partial_content=partial
            )
        why = str(error).rstrip(".") or type(error).__name__
        return ProviderError(
            "truncated",
            f"{self._name} broke off before the answer was whole: {why}.",
            partial_content=partial,
        )

    def _endless(self, assembler: ChatAssembler) -> ProviderError:
        most_mb = self._limits.most_bytes / 1_000_000
        return ProviderError(
            "invalid_request",
            f"{self._name} sent more than {most_mb:.3g} MB and came to no end.",
            act="Check the base URL and the model.",
            partial_content=assembler.partial_content,
        )

    def _hide_key(self, exchange: Exchange) -> None:
        """Some gateways repeat the key in their answer."""
        if self._key and len(self._key) >= SHORTEST_CHARS:
            key = self._key.encode()
            if key in exchange.response_body:
                exchange.response_body[:] = exchange.response_body.replace(key, MARK.encode())


def _looks_like_stream(headers: Mapping[str, str], body: bytes | bytearray) -> bool:
    """Whether events follow; some gateways send a plain answer, or a stream as plain text."""
    kind = headers.get("content-type", "").lower()
    if "event-stream" in kind:
        return True
    return not body.lstrip().startswith((b"{", b"[")) and "json" not in kind


def _body(name: Wire, request: ModelRequest) -> bytes:
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [dict(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in request.tools
        ]
        if isinstance(request.tool_choice, Mapping):
            named = {"name": request.tool_choice["name"]}
            body["tool_choice"] = {"type": "function", "function": named}
        elif request.tool_choice != "auto":
            body["tool_choice"] = request.tool_choice
        if request.parallel_tool_calls is not None:
            body["parallel_tool_calls"] = request.parallel_tool_calls
    reasoning = {key: value for key, value in (request.reasoning or {}).items() if value}
    if name == "openrouter":
        body["usage"] = {"include": True}
        if reasoning:
            body["reasoning"] = reasoning
    elif "effort" in reasoning:
        body["reasoning_effort"] = reasoning["effort"]
    body.update(request.options)
    return safe_json(body).encode()
