"""Mocks answer the first request that fits, and nothing leaves the machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sa_builder.errors import KnownError
from sa_builder.providers.base import ProviderError
from sa_builder.providers.catalog import Providers
from sa_builder.providers.mocks import MockBook, MockTransport
from sa_builder.spec.definitions import ModelDefinition
from tests.providers.conftest import listen, unset

URL = "https://api.example/x"


def book(tmp_path: Path, **files: object) -> MockBook:
    for name, value in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return MockBook.load(tmp_path)


def test_the_first_that_fits_answers_in_file_and_list_order(tmp_path: Path) -> None:
    mocks = book(
        tmp_path,
        b=[{"body": "from b"}],
        a=[
            {"match": {"method": "GET", "url_contains": "/y"}, "body": "not this"},
            {"match": {"url_contains": "/x", "body_contains": ["one", "two"]}, "body": "both"},
        ],
    )

    assert mocks.count == 3
    assert mocks.answer("post", URL, b"two and one").body == b"both"
    assert mocks.answer("post", URL, b"one").body == b"from b"


def test_a_number_chooses_among_the_requests_that_fit(tmp_path: Path) -> None:
    mocks = book(
        tmp_path,
        a=[
            {"match": {"url_contains": "x", "nth": 1}, "body": "first"},
            {"match": {"url_contains": "x", "nth": 2}, "body": "second", "status": 503},
            {"match": {"url_contains": "x"}, "body": "later"},
        ],
    )

    said = [mocks.answer("GET", URL, b"") for _ in range(4)]

    assert [answer.body for answer in said] == [b"first", b"second", b"later", b"later"]
    assert said[1].status == 503


def test_a_body_is_matched_without_its_escapes_too(tmp_path: Path) -> None:
    mocks = book(tmp_path, a={"match": {"body_contains": 'say "hi"\nthere'}, "body": {"ok": 1}})

    answer = mocks.answer("POST", URL, json.dumps({"t": ['say "hi"\nthere']}).encode())

    assert json.loads(answer.body) == {"ok": 1}
    assert answer.headers["content-type"] == "application/json"


def test_a_model_request_is_matched_by_its_last_message_alone(tmp_path: Path) -> None:
    mocks = book(
        tmp_path,
        a=[{"match": {"last_message_contains": "first"}, "body": "1"}, {"body": "2"}],
    )
    said = [{"role": "user", "content": "the first"}]
    later = [*said, {"role": "user", "content": "the second"}]

    assert mocks.answer("POST", URL, json.dumps({"messages": said}).encode()).body == b"1"
    assert mocks.answer("POST", URL, json.dumps({"messages": later}).encode()).body == b"2"


def test_no_mock_gives_a_skeleton_that_fits_once_pasted(tmp_path: Path) -> None:
    request = json.dumps({"messages": [{"role": "user", "content": "Hello there"}]}).encode()
    with pytest.raises(ProviderError) as caught:
        book(tmp_path).answer("POST", URL, request)

    assert caught.value.error_code == "no_mock"
    assert caught.value.sentence == f"Test mode has no mock for POST {URL}."
    skeleton = json.loads(caught.value.act[caught.value.act.index("{") :])
    assert skeleton["match"]["body_contains"] == "Hello there"
    pasted = book(tmp_path, pasted=skeleton)
    assert b"[DONE]" in pasted.answer("POST", URL, request).body


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "Expecting property name"),
        ('{"mach": {}}', "0.mach"),
        ('[{"status": 20}]', "0.status"),
        ("3", "0"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_an_unreadable_file_is_loud(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(text)

    with pytest.raises(KnownError) as caught:
        MockBook.load(tmp_path)

    assert "bad.json" in caught.value.sentence
    assert words in caught.value.sentence


def test_no_folder_is_no_mocks(tmp_path: Path) -> None:
    assert MockBook.load(tmp_path / "none").count == 0


@pytest.mark.parametrize("provider", ["offline", "openrouter", "openai"])
async def test_a_model_is_answered_from_mocks_without_a_key(
    provider: str, tmp_path: Path, providers: Providers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    chunk = {"choices": [{"delta": {"content": "Hello"}, "finish_reason": "stop"}]}
    transport = MockTransport(book(tmp_path, a={"stream": [chunk], "delay_ms": 1}))
    model = ModelDefinition(name="m", provider=provider, model="x")

    heard = await listen(providers.open(model, unset, transport))

    assert heard.answer.content == "Hello"


async def test_an_unmocked_model_call_fails_closed(tmp_path: Path, providers: Providers) -> None:
    model = ModelDefinition(name="m", provider="openrouter", model="x")

    with pytest.raises(ProviderError) as caught:
        await listen(providers.open(model, unset, MockTransport(book(tmp_path))))

    assert caught.value.error_code == "no_mock"
    assert not caught.value.retryable
