"""A chat-completions answer put together from its chunks, or from one JSON body.

Reads what gateways really send; what it cannot read it refuses in words. A stream that ends with
neither a finish_reason nor `[DONE]` was cut: its text is kept in the error, its calls are not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, cast

from sa_builder.providers.base import (
    Chunk,
    ContentDelta,
    ModelAnswer,
    ProviderError,
    ReasoningDelta,
    Usage,
)
from sa_builder.providers.call_parts import CallParts
from sa_builder.providers.failures import failure_of_object
from sa_builder.util.text import sanitize

_FINISH = {
    "stop": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "tool_calls": "tool_calls",
    "tool-calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
    "content-filter": "content_filter",
    "safety": "content_filter",
}
_HIGH_SURROGATE_LAST = re.compile("[\ud800-\udbff]$")
_SURROGATES = re.compile("[\ud800-\udfff]")


class _ExactFloat(float):
    """A number that remembers how it was written."""

    text: str

    def __new__(cls, text: str) -> _ExactFloat:
        number = super().__new__(cls, text)
        number.text = text
        return number


class _Pieces:
    """Text from deltas; joins a character that was cut between two of them."""

    def __init__(self) -> None:
        self._kept: list[str] = []
        self._half = ""

    def add(self, piece: str) -> str:
        """Take a piece; gives what can be shown of it."""
        piece = self._half + piece
        self._half = ""
        if _SURROGATES.search(piece):
            if _HIGH_SURROGATE_LAST.search(piece):
                piece, self._half = piece[:-1], piece[-1]
            piece = piece.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        piece = sanitize(piece)
        if piece:
            self._kept.append(piece)
        return piece

    def whole(self) -> str | None:
        """All of it; None when there was nothing."""
        return "".join(self._kept) or None


class ChatAssembler:
    """One answer in the making."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._content = _Pieces()
        self._reasoning = _Pieces()
        self._details: list[dict[str, Any]] = []
        self._calls = CallParts()
        self._usage: dict[str, Any] = {}
        self._finish: str | None = None
        self._is_done = False
        self._model: str | None = None
        self._served_by: str | None = None

    @property
    def is_done(self) -> bool:
        """Whether `[DONE]` came: nothing follows."""
        return self._is_done

    @property
    def is_complete(self) -> bool:
        """Whether the answer is whole, even if the connection broke now."""
        return self._is_done or self._finish is not None

    @property
    def partial_content(self) -> str | None:
        """The text so far."""
        return self._content.whole()

    def feed(self, data: str) -> Iterator[Chunk]:
        """Take the data of one event.

        Raises:
            ProviderError: it is an error object, or cannot be read.
        """
        if data.strip() == "[DONE]":
            self._is_done = True
            return
        if data.strip():
            yield from self._take(self._json(data))

    def feed_body(self, body: str) -> Iterator[Chunk]:
        """Take a whole answer that is not a stream.

        Raises:
            ProviderError: it is an error object, or no answer at all.
        """
        value = self._json(body)
        if not isinstance(value.get("choices"), list) and not value.get("error"):
            raise self._unreadable("an answer without choices")
        yield from self._take(value)
        self._is_done = True

    def answer(self) -> ModelAnswer:
        """The whole answer, once the stream has ended.

        Raises:
            ProviderError: it was cut before its end.
        """
        cut_call = self._finish is None and self._calls.is_broken_off()
        if not self.is_complete or cut_call:
            raise ProviderError(
                "truncated",
                f"{self._provider} broke off before the answer was whole.",
                partial_content=self.partial_content,
            )
        calls = self._calls.whole()
        finish = _FINISH.get((self._finish or "stop").lower(), "stop")
        if finish in ("stop", "tool_calls"):
            finish = "tool_calls" if calls else "stop"
        details = json.dumps(self._details, ensure_ascii=False) if self._details else None
        return ModelAnswer(
            content=self.partial_content,
            reasoning=self._reasoning.whole(),
            reasoning_details_json=None if details is None else sanitize(details),
            tool_calls=calls,
            finish_reason=finish,
            usage=self._whole_usage(),
            served_model=self._model,
            served_by=self._served_by,
        )

    def _json(self, data: str) -> dict[str, Any]:
        try:
            value: object = json.loads(data, parse_float=_ExactFloat)
        except (ValueError, RecursionError) as error:
            raise self._unreadable(f"something that is not JSON ({data.strip()[:80]!r})") from error
        if not isinstance(value, dict):
            raise self._unreadable(f"JSON that is no chunk ({data.strip()[:80]!r})")
        return cast(dict[str, Any], value)

    def _take(self, chunk: dict[str, Any]) -> Iterator[Chunk]:
        if chunk.get("error"):
            raise self._failed(chunk["error"])
        self._model = self._model or _text(chunk.get("model")) or None
        self._served_by = self._served_by or _text(chunk.get("provider")) or None
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            found = cast(dict[str, Any], usage)
            self._usage.update({name: value for name, value in found.items() if value is not None})
        choices = chunk.get("choices")
        for choice in cast(list[Any], choices) if isinstance(choices, list) else ():
            if isinstance(choice, dict):
                found = cast(dict[str, Any], choice)
                if found.get("index") in (None, 0):
                    yield from self._take_choice(found)

    def _take_choice(self, choice: dict[str, Any]) -> Iterator[Chunk]:
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            yield from self._take_delta(cast(dict[str, Any], delta))
        elif isinstance(choice.get("text"), str):
            yield from self._say(choice["text"])
        finish = choice.get("finish_reason")
        if choice.get("error") or finish == "error":
            raise self._failed(choice.get("error") or "the answer ended in an error")
        if isinstance(finish, str) and finish:
            self._finish = finish

    def _take_delta(self, delta: dict[str, Any]) -> Iterator[Chunk]:
        thought = _text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))
        details = delta.get("reasoning_details")
        if isinstance(details, list):
            for detail in cast(list[Any], details):
                if isinstance(detail, dict):
                    found = cast(dict[str, Any], detail)
                    self._keep_detail(found)
                    if not (delta.get("reasoning_content") or delta.get("reasoning")):
                        thought += _text(found.get("text")) or _text(found.get("summary"))
        if thought and (shown := self._reasoning.add(thought)):
            yield ReasoningDelta(text=shown)
        yield from self._say(_content_text(delta.get("content")))
        yield from self._say(_text(delta.get("refusal")))
        calls = delta.get("tool_calls")
        if isinstance(calls, dict):
            calls = [cast(dict[str, Any], calls)]
        for call in cast(list[Any], calls) if isinstance(calls, list) else ():
            if isinstance(call, dict):
                yield from self._calls.feed(cast(dict[str, Any], call))
        old_form = delta.get("function_call")
        if isinstance(old_form, dict) and not calls:
            yield from self._calls.feed({"index": 0, "function": old_form})

    def _say(self, text: str) -> Iterator[Chunk]:
        if text and (shown := self._content.add(text)):
            yield ContentDelta(text=shown)

    def _keep_detail(self, detail: dict[str, Any]) -> None:
        """Join the deltas of one reasoning detail; everything else in it stays as it came."""
        last = self._details[-1] if self._details else None
        same = last is not None and all(
            last.get(name) == detail.get(name) for name in ("type", "index")
        )
        if last is None or not same or detail.get("index") is None:
            self._details.append(dict(detail))
            return
        for name, value in detail.items():
            if name in ("text", "summary", "data") and isinstance(value, str):
                last[name] = _text(last.get(name)) + value
            elif value is not None:
                last[name] = value

    def _whole_usage(self) -> Usage:
        usage = self._usage
        into = _record(usage.get("prompt_tokens_details") or usage.get("input_tokens_details"))
        out = _record(usage.get("completion_tokens_details") or usage.get("output_tokens_details"))
        return Usage(
            input_tokens=_count(usage.get("prompt_tokens", usage.get("input_tokens"))),
            cached_tokens=_count(into.get("cached_tokens", usage.get("prompt_cache_hit_tokens"))),
            output_tokens=_count(usage.get("completion_tokens", usage.get("output_tokens"))),
            reasoning_tokens=_count(out.get("reasoning_tokens")),
            total_tokens=_count(usage.get("total_tokens")),
            cost=_decimal_text(usage.get("cost")),
        )

    def _failed(self, error: object) -> ProviderError:
        return failure_of_object(self._provider, error, partial_content=self.partial_content)

    def _unreadable(self, what: str) -> ProviderError:
        return ProviderError(
            "unreadable",
            f"{self._provider} sent {what}.",
            partial_content=self.partial_content,
        )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _record(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _content_text(content: Any) -> str:
    """The text of a content, which may be a list of parts."""
    if isinstance(content, list):
        parts = cast(list[Any], content)
        return "".join(
            part if isinstance(part, str) else _text(_record(part).get("text")) for part in parts
        )
    return _text(content)


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if value >= 0 and value == value and value < 2**53 else None


def _decimal_text(value: Any) -> str | None:
    """A cost as exact decimal text without an exponent."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = Decimal(value.text if isinstance(value, _ExactFloat) else str(value))
    except InvalidOperation:
        return None
    return format(number, "f") if number.is_finite() else None
