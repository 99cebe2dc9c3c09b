"""Streams as gateways really send them, over a real socket."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from sa_builder.providers.base import Exchange, Provider, ProviderError
from sa_builder.providers.openai import ChatCompletions, Limits
from sa_builder.util.clock import FakeClock
from tests.providers.conftest import RawServer, listen


def data(value: object, end: str = "\n\n", begin: str = "data: ") -> bytes:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{begin}{text}{end}".encode()


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call(
    index: int | None = None,
    id: str | None = None,
    name: str | None = None,
    arguments: str | None = None,
) -> dict[str, Any]:
    entry: dict[str, Any] = {"function": {"name": name, "arguments": arguments}, "id": id}
    if index is not None:
        entry["index"] = index
    return delta(tool_calls=[entry])


DONE = data("[DONE]")
STOP = data(delta("stop"))
HELLO = data(delta(content="Hello"))
HERE = "Hello — “you”"

TEXTS: dict[str, tuple[Sequence[bytes], str]] = {
    "plain": ([HELLO, STOP, DONE], "Hello"),
    "crlf": ([data(delta(content="Hello"), "\r\n\r\n"), data(delta("stop"), "\r\n\r\n")], "Hello"),
    "cr": ([data(delta(content="Hello"), "\r\r"), data(delta("stop"), "\r\r")], "Hello"),
    "crlf_cut_in_the_middle": (
        [data(delta(content="He"), "\r"), b"\n\r", b"\n", data(delta("stop", content="llo"))],
        "Hello",
    ),
    "no_space_after_data": ([data(delta("stop", content="Hello"), begin="data:")], "Hello"),
    "comments": ([b": OPENROUTER PROCESSING\n\n", HELLO, b":\n\n: still here\n", STOP], "Hello"),
    "comment_inside_an_event": ([b": wait\n" + data(delta("stop", content="Hello"))], "Hello"),
    "byte_order_mark": ([b"\xef\xbb", b"\xbf" + HELLO, STOP], "Hello"),
    "split_utf8": (
        [bytes([byte]) for byte in data(delta("stop", content=HERE))],
        HERE,
    ),
    "line_separators_in_text": (
        [data(delta("stop", content="a\u2028b\u0085c\u000cd"))],
        "a\u2028b\u0085c\u000cd",
    ),
    "no_done": ([HELLO, STOP], "Hello"),
    "done_without_finish_reason": ([HELLO, DONE], "Hello"),
    "no_last_empty_line": ([HELLO, STOP.rstrip()], "Hello"),
    "event_and_id_fields": ([b"event: message\nid: 7\nretry: 3\n" + HELLO, STOP], "Hello"),
    "data_on_two_lines": (
        [b'data: {"choices":[{"delta":{"content":\ndata: "Hello"},"finish_reason":"stop"}]}\n\n'],
        "Hello",
    ),
    "null_content": ([data(delta(role="assistant", content=None)), HELLO, STOP], "Hello"),
    "null_choices": ([data({"choices": None}), HELLO, STOP], "Hello"),
    "no_choices_key": ([HELLO, STOP, data({"usage": {"prompt_tokens": 1}})], "Hello"),
    "null_delta": ([HELLO, data({"choices": [{"delta": None, "finish_reason": "stop"}]})], "Hello"),
    "other_choice_ignored": (
        [HELLO, data({"choices": [{"index": 1, "delta": {"content": "No"}}]}), STOP],
        "Hello",
    ),
    "content_parts": (
        [data(delta("stop", content=[{"type": "text", "text": "Hel"}, {"text": "lo"}]))],
        "Hello",
    ),
    "message_instead_of_delta": (
        [data({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]})],
        "Hello",
    ),
    "refusal": ([data(delta("stop", content=None, refusal="I cannot."))], "I cannot."),
    "unknown_finish_reason": ([HELLO, data(delta("eos_token"))], "Hello"),
    "empty_data_line": ([b"data:\n\n", HELLO, STOP], "Hello"),
    "surrogate_pair_in_two_deltas": (
        [
            b'data: {"choices":[{"delta":{"content":"\\ud83c"}}]}\n\n',
            b'data: {"choices":[{"delta":{"content":"\\udf78"},"finish_reason":"stop"}]}\n\n',
        ],
        "\U0001f378",
    ),
}

CALLS: dict[str, tuple[Sequence[bytes], list[tuple[str, str]]]] = {
    "in_pieces": (
        [
            data(call(0, "c1", "f", "")),
            data(call(0, None, None, '{"a"')),
            data(call(0, "", "", ":1}")),
            data(delta("tool_calls")),
            DONE,
        ],
        [("f", '{"a":1}')],
    ),
    "finish_stop": ([data(call(0, "c1", "f", "{}")), STOP], [("f", "{}")]),
    "no_index": (
        [
            data(call(None, "c1", "f", '{"a":')),
            data(call(None, None, None, "1}")),
            data(call(None, "c2", "g", '{"b":2}')),
            STOP,
        ],
        [("f", '{"a":1}'), ("g", '{"b":2}')],
    ),
    "no_index_and_no_id": (
        [data(call(None, None, "f", '{"a":1}')), data(call(None, None, "f", '{"a":2}')), STOP],
        [("f", '{"a":1}'), ("f", '{"a":2}')],
    ),
    "all_at_index_0": (
        [data(call(0, "c1", "f", '{"a":1}')), data(call(0, "c2", "f", '{"a":2}')), STOP],
        [("f", '{"a":1}'), ("f", '{"a":2}')],
    ),
    "repeated_id_and_name": (
        [data(call(0, "c1", "f", '{"a"')), data(call(0, "c1", "f", ":1}")), STOP],
        [("f", '{"a":1}')],
    ),
    "id_and_name_apart": (
        [data(call(0, "c1")), data(call(0, None, "f")), data(call(0, None, None, "{}")), STOP],
        [("f", "{}")],
    ),
    "indices_out_of_order": (
        [
            data(call(1, "c2", "g", "{")),
            data(call(0, "c1", "f", "{")),
            data(call(1, None, None, "}")),
            data(call(0, None, None, "}")),
            STOP,
        ],
        [("g", "{}"), ("f", "{}")],
    ),
    "indexed_and_not": (
        [data(call(0, "c1", "f", "{}")), data(call(None, "c2", "g", "{}")), STOP],
        [("f", "{}"), ("g", "{}")],
    ),
    "empty_arguments": ([data(call(0, "c1", "f", "")), STOP], [("f", "{}")]),
    "arguments_as_an_object": (
        [data(delta("stop", tool_calls=[{"function": {"name": "f", "arguments": {"a": 1}}}]))],
        [("f", '{"a": 1}')],
    ),
    "old_function_call": (
        [data(delta("function_call", function_call={"name": "f", "arguments": "{}"}))],
        [("f", "{}")],
    ),
}


@pytest.mark.parametrize("shape", TEXTS)
async def test_text_arrives_whole_from(shape: str, server: RawServer, provider: Provider) -> None:
    pieces, text = TEXTS[shape]
    server.streams(*pieces)

    heard = await listen(provider)

    assert heard.answer.content == heard.streamed_text == text
    assert heard.answer.finish_reason == "stop"
    assert bytes(heard.exchange.response_body) == b"".join(pieces)


@pytest.mark.parametrize("shape", CALLS)
async def test_calls_arrive_whole_from(shape: str, server: RawServer, provider: Provider) -> None:
    pieces, calls = CALLS[shape]
    server.streams(*pieces)

    answer = (await listen(provider)).answer

    assert [(call.name, call.arguments_json) for call in answer.tool_calls] == calls
    assert answer.finish_reason == "tool_calls"


async def test_usage_and_exact_cost_come_from_a_last_chunk(
    server: RawServer, provider: Provider
) -> None:
    usage = (
        '{"choices":[],"model":"served","provider":"Somebody","usage":{"prompt_tokens":12,'
        '"completion_tokens":3,"total_tokens":15,"cost":0.000010234500,'
        '"prompt_tokens_details":{"cached_tokens":8},'
        '"completion_tokens_details":{"reasoning_tokens":2}}}'
    )
    server.streams(HELLO, STOP, data(usage), DONE)

    answer = (await listen(provider)).answer

    assert answer.usage.input_tokens == 12
    assert answer.usage.cached_tokens == 8
    assert answer.usage.output_tokens == 3
    assert answer.usage.reasoning_tokens == 2
    assert answer.usage.total_tokens == 15
    assert answer.usage.cost == "0.000010234500"
    assert (answer.served_model, answer.served_by) == ("served", "Somebody")


@pytest.mark.parametrize(
    "fields",
    [
        {"reasoning_content": "Hm."},
        {"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
        {"reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
    ],
)
async def test_reasoning_is_told_once(
    fields: dict[str, Any], server: RawServer, provider: Provider
) -> None:
    server.streams(data(delta(**fields)), HELLO, STOP, DONE)

    answer = (await listen(provider)).answer

    assert answer.reasoning == "Hm."
    assert answer.content == "Hello"


async def test_reasoning_details_are_joined_and_kept_as_they_came(
    server: RawServer, provider: Provider
) -> None:
    first = {"type": "reasoning.text", "index": 0, "text": "Hm", "format": "x"}
    second = {"type": "reasoning.text", "index": 0, "text": ".", "signature": "s"}
    sealed = {"type": "reasoning.encrypted", "index": 1, "data": "abc"}
    server.streams(
        data(delta(reasoning_details=[first])),
        data(delta("stop", reasoning_details=[second, sealed])),
    )

    answer = (await listen(provider)).answer

    assert json.loads(answer.reasoning_details_json or "") == [
        {"type": "reasoning.text", "index": 0, "text": "Hm.", "format": "x", "signature": "s"},
        sealed,
    ]


async def test_a_plain_json_answer_is_accepted(server: RawServer, provider: Provider) -> None:
    body = {
        "choices": [
            {"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 4},
    }
    server.says(200, json.dumps(body).encode())

    answer = (await listen(provider)).answer

    assert (answer.content, answer.usage.input_tokens) == ("Hello", 4)


CUT: dict[str, Sequence[bytes]] = {
    "clean_end": [HELLO],
    "half_an_event": [HELLO, b'data: {"choi'],
    "half_a_call": [HELLO, data(call(0, "c1", "f", '{"a":'))],
    "half_a_call_and_done": [HELLO, data(call(0, "c1", "f", '{"a":')), DONE],
}


@pytest.mark.parametrize("shape", CUT)
async def test_a_cut_stream_is_an_error_that_keeps_its_text(
    shape: str, server: RawServer, provider: Provider
) -> None:
    server.streams(*CUT[shape])

    with pytest.raises(ProviderError) as caught:
        await listen(provider)

    assert caught.value.error_code in ("truncated", "unreadable")
    assert caught.value.retryable
    assert caught.value.partial_content == "Hello"


async def test_a_broken_connection_is_a_cut_stream(server: RawServer, provider: Provider) -> None:
    server.streams(HELLO, cut=True)

    with pytest.raises(ProviderError) as caught:
        await listen(provider)

    assert caught.value.error_code == "truncated"
    assert caught.value.partial_content == "Hello"


async def test_a_break_after_the_finish_is_no_fault(server: RawServer, provider: Provider) -> None:
    server.streams(HELLO, STOP, cut=True)

    assert (await listen(provider)).answer.content == "Hello"


async def test_an_empty_answer_is_truncated(server: RawServer, provider: Provider) -> None:
    server.streams()

    with pytest.raises(ProviderError) as caught:
        await listen(provider)

    assert caught.value.error_code == "truncated"


ERRORS: list[tuple[dict[str, Any], str]] = [
    ({"error": {"code": 429, "message": "Slow down"}}, "rate_limit"),
    ({"error": {"code": 502, "message": "Bad gateway"}, "choices": []}, "server"),
    ({"error": "The engine is overloaded"}, "overloaded"),
    ({"error": {"message": "maximum context length is 4096 tokens"}}, "context_length"),
    ({"choices": [{"delta": {}, "finish_reason": "error"}]}, "server"),
    ({"choices": [{"delta": {}, "error": {"code": 401, "message": "Bad key"}}]}, "auth"),
]


@pytest.mark.parametrize(("event", "code"), ERRORS)
async def test_an_error_inside_a_stream_is_typed_and_keeps_the_text(
    event: dict[str, Any], code: str, server: RawServer, provider: Provider
) -> None:
    server.streams(HELLO, data(call(0, "c1", "f", '{"a":')), data(event), DONE)

    with pytest.raises(ProviderError) as caught:
        await listen(provider)

    assert caught.value.error_code == code
    assert caught.value.partial_content == "Hello"


@pytest.mark.parametrize("event", ["<html>", "[1, 2]", "{"])
async def test_what_cannot_be_read_is_refused_in_words(
    event: str, server: RawServer, provider: Provider
) -> None:
    server.streams(HELLO, data(event), STOP)

    with pytest.raises(ProviderError) as caught:
        await listen(provider)

    assert caught.value.error_code == "unreadable"
    assert "compatible sent" in caught.value.sentence


async def test_an_endless_answer_is_given_up_and_not_asked_for_again(server: RawServer) -> None:
    server.streams(HELLO, *[b"x" * 1_000] * 20, 1.0)
    async with httpx.AsyncClient() as client:
        provider = ChatCompletions(
            name="compatible",
            endpoint=server.url,
            key=None,
            client=client,
            clock=FakeClock(),
            limits=Limits(most_bytes=10_000),
        )
        exchange = Exchange()

        with pytest.raises(ProviderError, match=r"more than 0\.01 MB") as caught:
            await listen(provider, exchange=exchange)

    assert not caught.value.retryable
    assert caught.value.partial_content == "Hello"
    assert len(exchange.response_body) <= 10_000
