"""The project's mocks: what every model and HTTP call is answered from in test mode."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from sa_builder.errors import ProjectError
from sa_builder.providers.base import ProviderError
from sa_builder.util.text import shorten

if TYPE_CHECKING:
    from sa_builder.providers.mock_transport import MockTransport as MockTransport


def __getattr__(name: str) -> object:
    """Fetch `MockTransport`, and with it httpx, when somebody asks for it."""
    if name == "MockTransport":
        return importlib.import_module("sa_builder.providers.mock_transport").MockTransport
    raise AttributeError(name)


class _Match(BaseModel):
    """Which requests a mock answers; what is not given fits everything."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str | None = None
    url_contains: str | None = None
    body_contains: str | Sequence[str] = ()
    last_message_contains: str | Sequence[str] = ()
    """Of a model request: what its last message says, whatever came before it."""
    nth: int | None = Field(default=None, ge=1)
    """Only the nth request, from 1, that fits the rest."""

    def fits(self, method: str, url: str, sent: _Sent) -> bool:
        """Whether a request fits, but for its number."""
        return (
            (self.method is None or self.method.upper() == method.upper())
            and (self.url_contains is None or self.url_contains in url)
            and all(sent.says(part) for part in _listed(self.body_contains))
            and all(part in (sent.last_words or "") for part in _listed(self.last_message_contains))
        )


class _Sent:
    """A request's body, read only as far as some mock asks about it."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def says(self, part: str) -> bool:
        """Whether a text stands in the body as it was sent, or in a string of its JSON."""
        return any(part in text for text in self._texts)

    @cached_property
    def last_words(self) -> str | None:
        """The text of a model request's last message; None when it is no model request."""
        value = self._json
        messages = cast(dict[str, object], value).get("messages") if _is_object(value) else None
        if not isinstance(messages, list) or not messages:
            return None
        last = cast(list[object], messages)[-1]
        content = cast(dict[str, object], last).get("content") if _is_object(last) else None
        return content if isinstance(content, str) else ""

    @cached_property
    def _json(self) -> object:
        try:
            return json.loads(self.body)
        except ValueError:
            return _NO_JSON

    @cached_property
    def _texts(self) -> Sequence[str]:
        text = self.body.decode("utf-8", "replace")
        if self._json is _NO_JSON:
            return (text,)
        strings: list[str] = []
        _collect(self._json, strings)
        return (text, "\n".join(strings))


_NO_JSON = object()


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _listed(wanted: str | Sequence[str]) -> Sequence[str]:
    return (wanted,) if isinstance(wanted, str) else wanted


class _Mock(BaseModel):
    """One entry of a mock file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    match: _Match = Field(default_factory=_Match)
    status: int = Field(default=200, ge=100, le=599)
    headers: Mapping[str, str] = Field(default_factory=dict[str, str])
    body: Any = None
    """Text, or JSON that is sent as such."""
    stream: Sequence[Any] | None = None
    """Chunks, each sent as one server-sent event; `[DONE]` is added."""
    delay_ms: int = Field(default=0, ge=0)
    """How long the answer takes to begin."""
    chunk_delay_ms: int = Field(default=0, ge=0)
    """How long each further chunk of a stream takes."""


_FILE = TypeAdapter(list[_Mock])


@dataclass(frozen=True, slots=True, kw_only=True)
class MockAnswer:
    """What a mock answers."""

    status: int
    headers: Mapping[str, str]
    pieces: Sequence[bytes]
    """The body, in the pieces that are sent one after the other."""
    delay_ms: int
    chunk_delay_ms: int = 0

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join(self.pieces)


class MockBook:
    """All mocks of a project, in file-name order and then as listed."""

    def __init__(self, mocks: Sequence[_Mock]) -> None:
        self._mocks = tuple(mocks)
        self._seen = [0] * len(self._mocks)

    @classmethod
    def load(cls, folder: Path) -> MockBook:
        """Read every `*.json` of a folder; a folder that is not there holds none.

        Raises:
            ProjectError: a file cannot be read, with its name and what is wrong.
        """
        mocks: list[_Mock] = []
        for path in sorted(folder.glob("*.json")):
            name = f"{'/'.join(folder.parts[-2:])}/{path.name}"
            try:
                value: object = json.loads(path.read_bytes())
                listed = cast(list[object], value) if isinstance(value, list) else [value]
                mocks.extend(_FILE.validate_python(listed))
            except OSError as error:
                raise _unreadable(name, error.strerror or str(error)) from error
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                place = ".".join(str(part) for part in first["loc"])
                raise _unreadable(name, f"entry {place}: {first['msg']}") from error
            except ValueError as error:
                raise _unreadable(name, str(error)) from error
            except RecursionError as error:
                raise _unreadable(name, "it is nested too deeply") from error
        return cls(mocks)

    @property
    def count(self) -> int:
        """How many mocks there are."""
        return len(self._mocks)

    def answer(self, method: str, url: str, body: bytes) -> MockAnswer:
        """The answer of the first mock that fits; counts the request for `nth`.

        Raises:
            ProviderError: none fits ("no_mock"), with an entry ready to paste.
        """
        sent = _Sent(body)
        chosen: _Mock | None = None
        for place, mock in enumerate(self._mocks):
            if mock.match.fits(method, url, sent):
                self._seen[place] += 1
                nth = mock.match.nth
                if chosen is None and (nth is None or nth == self._seen[place]):
                    chosen = mock
        if chosen is None:
            skeleton = json.dumps(_skeleton(method, url, sent.last_words), ensure_ascii=False)
            raise ProviderError(
                "no_mock",
                f"Test mode has no mock for {method.upper()} {url}.",
                act=f"Add one to a JSON file in agents/mocks: {skeleton}",
            )
        return _answer_of(chosen)


def _unreadable(name: str, why: str) -> ProjectError:
    return ProjectError(f"The mock file {name} cannot be read: {why}.", code="mocks.unreadable")


def _answer_of(mock: _Mock) -> MockAnswer:
    if mock.stream is not None:
        kind = "text/event-stream"
        chunks = [*mock.stream, "[DONE]"]
        pieces = [f"data: {_json_or_text(chunk)}\n\n".encode() for chunk in chunks]
    elif mock.body is None or isinstance(mock.body, str):
        kind = "text/plain; charset=utf-8"
        pieces = [(mock.body or "").encode()]
    else:
        kind = "application/json"
        pieces = [_json_or_text(mock.body).encode()]
    headers = {name.lower(): value for name, value in mock.headers.items()}
    return MockAnswer(
        status=mock.status,
        headers={"content-type": kind} | headers,
        pieces=pieces,
        delay_ms=mock.delay_ms,
        chunk_delay_ms=mock.chunk_delay_ms,
    )


def _json_or_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _collect(value: object, strings: list[str]) -> None:
    if isinstance(value, str):
        strings.append(value)
    elif isinstance(value, dict):
        for item in cast(dict[str, object], value).values():
            _collect(item, strings)
    elif isinstance(value, list):
        for item in cast(list[object], value):
            _collect(item, strings)


def _skeleton(method: str, url: str, said: str | None) -> dict[str, Any]:
    match: dict[str, Any] = {"method": method.upper(), "url_contains": url.partition("?")[0]}
    if said is None:
        return {"match": match, "status": 200, "body": {}}
    if said:
        match["body_contains"] = shorten(said, 60).rstrip("…")
    delta = {"choices": [{"index": 0, "delta": {"content": "…"}, "finish_reason": "stop"}]}
    return {"match": match, "stream": [delta]}
