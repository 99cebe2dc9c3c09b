"""The HTTP around a call: what is sent, how it fails, how long it takes, what is kept."""

from __future__ import annotations

import asyncio
import email.utils
import json
import subprocess
import sys
from contextlib import aclosing
from datetime import UTC, datetime

import pytest

from sa_builder.providers.base import Exchange, Provider, ProviderError
from sa_builder.providers.catalog import Providers
from sa_builder.providers.failures import retry_after_s
from sa_builder.providers.openai import Limits, endpoint_of
from sa_builder.spec.definitions import ModelDefinition
from sa_builder.util.clock import FakeClock
from tests.providers.conftest import RawServer, a_request, listen, unset

HELLO = b'data: {"choices":[{"delta":{"content":"Hello"}}]}\n\n'
STOP = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
KEY = "sk-very-secret-key"


async def fails(provider: Provider, exchange: Exchange | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await listen(provider, exchange)
    return caught.value


async def test_the_exchange_holds_what_went_over_the_wire(
    server: RawServer, provider: Provider
) -> None:
    server.streams(HELLO, STOP, DONE, headers="x-request-id: r1\r\n")

    heard = await listen(provider)

    exchange = heard.exchange
    sent = server.requests[0]
    assert sent.endswith(exchange.request_body)
    body = json.loads(exchange.request_body)
    assert body["stream_options"] == {"include_usage": True}
    assert body["tools"][0]["function"]["name"] == "f"
    assert f"authorization: Bearer {KEY}".encode() in sent.lower().replace(b"bearer", b"Bearer")
    assert KEY not in str(exchange)
    assert exchange.request_headers["authorization"] == "[redacted]"
    assert exchange.status_code == 200
    assert exchange.response_headers["x-request-id"] == "r1"
    assert exchange.sent_at_us is not None
    assert exchange.first_token_at_us is not None
    assert exchange.ended_at_us is not None


async def test_the_exchange_is_complete_also_when_the_call_fails(
    server: RawServer, provider: Provider
) -> None:
    server.says(401, json.dumps({"error": {"message": f"Incorrect API key: {KEY}"}}).encode())
    exchange = Exchange()

    error = await fails(provider, exchange)

    assert error.error_code == "auth"
    assert KEY not in error.text()
    assert KEY not in str(exchange)
    assert exchange.status_code == 401
    assert b"Incorrect API key" in exchange.response_body
    assert exchange.ended_at_us is not None


async def test_connections_are_used_again(server: RawServer, provider: Provider) -> None:
    for _ in range(3):
        server.streams(HELLO, STOP, DONE)
        await listen(provider)

    assert server.connections == 1


async def test_options_go_on_the_wire_as_they_are(server: RawServer, provider: Provider) -> None:
    server.streams(HELLO, STOP)
    request = a_request(
        options={"temperature": 0.2, "provider": {"order": ["x"]}},
        tool_choice={"name": "f"},
        parallel_tool_calls=False,
        reasoning={"effort": "low"},
        messages=[{"role": "user", "content": "half a pair: \ud83c"}],
    )

    exchange = Exchange()
    _ = [chunk async for chunk in provider.stream(request, exchange)]

    body = json.loads(exchange.request_body)
    assert body["temperature"] == 0.2
    assert body["provider"] == {"order": ["x"]}
    assert body["tool_choice"] == {"type": "function", "function": {"name": "f"}}
    assert body["parallel_tool_calls"] is False
    assert body["reasoning_effort"] == "low"
    assert body["messages"][0]["content"] == "half a pair: \ufffd"


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (
            400,
            {"error": {"message": "bad field", "type": "invalid_request_error"}},
            "invalid_request",
        ),
        (400, {"error": {"code": "context_length_exceeded", "message": "x"}}, "context_length"),
        (
            400,
            {"error": {"message": "maximum context length is 4096"}},
            "context_length",
        ),
        (500, {"error": {"type": "exceed_context_size_error", "message": "x"}}, "context_length"),
        (413, {}, "context_length"),
        (400, {"error": {"code": "content_filter", "message": "x"}}, "content_filter"),
        (402, {"error": {"message": "Insufficient credits"}}, "permission"),
        (403, {"error": {"message": "no"}}, "permission"),
        (403, {"error": {"message": "flagged by moderation"}}, "content_filter"),
        (404, {"detail": "Not Found"}, "not_found"),
        (408, {}, "timeout"),
        (422, {"detail": [{"msg": "field required"}]}, "invalid_request"),
        (429, {"error": {"message": "slow down"}}, "rate_limit"),
        (429, {"error": {"code": "insufficient_quota", "message": "x"}}, "permission"),
        (500, {"error": "boom"}, "server"),
        (502, [{"error": {"message": "x"}}], "server"),
        (503, {"error": {"message": "Loading model"}}, "overloaded"),
        (529, {}, "overloaded"),
        (302, {}, "invalid_request"),
    ],
)
async def test_a_refusal_is_typed(
    status: int, body: object, code: str, server: RawServer, provider: Provider
) -> None:
    server.says(status, json.dumps(body).encode())

    error = await fails(provider)

    assert error.error_code == code
    assert f"({status})" in error.sentence
    assert "\n" not in error.text()


async def test_a_page_of_html_is_not_quoted(server: RawServer, provider: Provider) -> None:
    server.says(502, b"<html><body>Bad gateway</body></html>")

    assert (await fails(provider)).sentence == "compatible failed (502)."


async def test_retry_after_reaches_the_error(server: RawServer, provider: Provider) -> None:
    server.says(429, b"{}", headers="Retry-After: 7\r\n")

    error = await fails(provider)

    assert error.retryable
    assert error.retry_after_s == 7.0


def test_retry_after_is_read_in_every_form() -> None:
    clock = FakeClock()
    in_a_minute = datetime.fromtimestamp(clock.now_us() / 1e6 + 60, UTC)
    date = email.utils.format_datetime(in_a_minute, usegmt=True)

    assert retry_after_s({"retry-after": "0"}, clock) == 0.0
    assert retry_after_s({"retry-after": "1.5"}, clock) == 1.5
    assert retry_after_s({"retry-after-ms": "250", "retry-after": "9"}, clock) == 0.25
    assert retry_after_s({"retry-after": date}, clock) == pytest.approx(60, abs=1)
    assert retry_after_s({"retry-after": date.replace("GMT", "-0000")}, clock) is not None
    assert retry_after_s({"retry-after": "Mon, 01 Jan 2001 00:00:00 GMT"}, clock) == 0.0
    assert retry_after_s({"retry-after": "soon"}, clock) is None
    assert retry_after_s({"retry-after": "inf"}, clock) is None
    assert retry_after_s({}, clock) is None


async def test_cancel_closes_the_socket(server: RawServer, provider: Provider) -> None:
    server.streams(HELLO, 5.0, STOP)
    began = asyncio.Event()

    async def call() -> None:
        async for _ in provider.stream(a_request(), Exchange()):
            began.set()

    task = asyncio.ensure_future(call())
    await began.wait()
    task.cancel()
    await asyncio.wait_for(server.client_left.wait(), 1)

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_closing_the_stream_closes_the_socket(server: RawServer, provider: Provider) -> None:
    server.streams(HELLO, 5.0, STOP)

    async with aclosing(provider.stream(a_request(), Exchange())) as chunks:  # pyright: ignore
        async for _ in chunks:  # pyright: ignore
            break

    await asyncio.wait_for(server.client_left.wait(), 1)


@pytest.mark.parametrize("limits", [Limits(read_s=0.1), Limits(total_s=0.1)])
async def test_silence_ends_in_a_timeout_that_keeps_the_text(
    limits: Limits, server: RawServer
) -> None:
    server.streams(HELLO, 3.0)
    opened = Providers(FakeClock(), limits=limits)
    model = ModelDefinition(name="m", provider="compatible", model="t", base_url=server.url)

    error = await fails(opened.open(model, unset, None))
    await opened.close()

    assert error.error_code == "timeout"
    assert error.partial_content == "Hello"


async def test_a_server_that_never_closes_after_done_holds_nobody_up(
    server: RawServer, provider: Provider
) -> None:
    server.streams(HELLO, STOP, DONE, 4.0)

    answer = await asyncio.wait_for(listen(provider), 1)

    assert answer.answer.content == "Hello"


async def test_a_dead_port_is_a_network_error_in_words(
    server: RawServer, provider: Provider, providers: Providers
) -> None:
    model = ModelDefinition(
        name="m", provider="compatible", model="t", base_url="http://127.0.0.1:1/v1"
    )

    error = await fails(providers.open(model, unset, None))

    assert error.error_code == "network"
    assert "127.0.0.1:1 cannot be reached" in error.sentence


async def test_an_address_that_is_none_is_refused_in_words(providers: Providers) -> None:
    for address in ("ftp://x/y", "http://[::1", "http://exa mple/x"):
        model = ModelDefinition(name="m", provider="compatible", model="t", base_url=address)
        try:
            error = await fails(providers.open(model, unset, None))
        except ProviderError as refused:
            error = refused
        assert error.error_code in ("invalid_request", "network")


@pytest.mark.parametrize("port", ["0", "99999", "x"])
def test_a_port_that_is_none_is_refused_before_any_call(port: str, providers: Providers) -> None:
    address = f"http://127.0.0.1:{port}/v1"
    model = ModelDefinition(name="m", provider="compatible", model="t", base_url=address)

    with pytest.raises(ProviderError, match="has the base URL"):
        providers.open(model, unset, None)


def test_base_urls_may_end_in_either_way() -> None:
    whole = "https://api.example/v1/chat/completions"

    assert endpoint_of("https://api.example/v1") == whole
    assert endpoint_of("https://api.example/v1/") == whole
    assert endpoint_of(whole) == whole
    assert endpoint_of("https://api.example") == whole
    assert endpoint_of("https://x/openai?v=1") == "https://x/openai/chat/completions?v=1"


async def test_a_missing_key_is_said_before_any_call(providers: Providers) -> None:
    model = ModelDefinition(name="talk", provider="openrouter", model="x/y")

    with pytest.raises(ProviderError) as caught:
        providers.open(model, unset, None)

    assert caught.value.error_code == "no_key"
    assert caught.value.sentence == "The model talk needs OPENROUTER_API_KEY, which is not set."


@pytest.mark.parametrize(
    ("provider", "extra", "code"),
    [
        ("compatible", {}, "invalid_request"),
        ("compatible", {"base_url": "http://x/y", "api_key_env": "GONE"}, "no_key"),
        ("offline", {}, "no_mock"),
        ("elsewhere", {}, "not_found"),
    ],
)
async def test_a_model_that_cannot_be_opened_says_why(
    provider: str, extra: dict[str, str], code: str, providers: Providers
) -> None:
    model = ModelDefinition(name="m", provider=provider, model="x", **extra)  # pyright: ignore

    with pytest.raises(ProviderError) as caught:
        providers.open(model, unset, None)

    assert caught.value.error_code == code


async def test_openai_takes_its_address_from_a_variable(
    server: RawServer, providers: Providers
) -> None:
    server.streams(HELLO, STOP, DONE)
    base = server.url.removesuffix("/chat/completions")
    model = ModelDefinition(name="m", provider="openai", model="gpt")
    provider = providers.open(model, {"OPENAI_BASE_URL": base}.get, None)

    heard = await listen(provider)

    assert heard.answer.content == "Hello"
    assert heard.exchange.endpoint == server.url


def test_opening_the_catalog_loads_no_http_library() -> None:
    code = (
        "import sys, sa_builder.providers.catalog, sa_builder.providers.mocks;"
        "print(sorted({'httpx', 'httpcore', 'anyio', 'h11'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
