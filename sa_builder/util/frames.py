"""Frames on the private channel between the runtime and the code host.

A frame is a 4-byte big-endian length and that many bytes of UTF-8 JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from sa_builder.util.text import sanitize

PROTOCOL = 1
"""Grows when the two sides could no longer understand each other."""

MOST_BYTES = 256 * 1024 * 1024
"""A longer frame means that the stream is broken, not that somebody has much to say."""

_LENGTH_BYTES = 4
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class BrokenFrame(Exception):
    """What came is no frame; the channel cannot be used any longer."""


def sanitize_tree(value: Any) -> Any:
    """A JSON value with every string in it made safe, keys included."""
    if isinstance(value, str):
        return sanitize(value)
    if isinstance(value, Mapping):
        pairs = cast(Mapping[Any, Any], value).items()
        return {sanitize(str(key)): sanitize_tree(item) for key, item in pairs}
    if isinstance(value, list | tuple):
        return [sanitize_tree(item) for item in cast(list[Any], value)]
    return value


def pack(value: Mapping[str, Any]) -> bytes:
    """One frame; text that could not be stored or encoded is made safe first.

    Raises:
        TypeError: a value is not JSON.
        ValueError: it is longer than any frame may be.
    """
    return pack_bytes(safe_json(value).encode())


def safe_json(value: Any) -> str:
    """JSON text, its strings made safe; a value that is safe already is not walked.

    Raises:
        TypeError: a value is not JSON.
    """
    text = _ENCODER.encode(value)
    if "\\u0000" in text or sanitize(text) is not text:
        return _ENCODER.encode(sanitize_tree(value))
    return text


def pack_bytes(body: bytes) -> bytes:
    """One frame of a body that is JSON already."""
    if len(body) > MOST_BYTES:
        raise ValueError(f"A message of {len(body):,} bytes is too long for the code host.")
    return len(body).to_bytes(_LENGTH_BYTES, "big") + body


class FrameReader:
    """Cuts a byte stream into frames, however it arrives."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def feed(self, piece: bytes) -> Iterator[dict[str, Any]]:
        """Take what arrived and yield each frame that is whole now.

        Raises:
            BrokenFrame: the length or the body makes no sense.
        """
        waiting = self._waiting
        waiting += piece
        start = 0
        while len(waiting) - start >= _LENGTH_BYTES:
            length = int.from_bytes(waiting[start : start + _LENGTH_BYTES], "big")
            if length > MOST_BYTES:
                raise BrokenFrame(f"a frame of {length:,} bytes")
            end = start + _LENGTH_BYTES + length
            if len(waiting) < end:
                break
            body = bytes(waiting[start + _LENGTH_BYTES : end])
            start = end
            yield _read(body)
        del waiting[:start]


def _read(body: bytes) -> dict[str, Any]:
    try:
        value: Any = json.loads(body)
    except ValueError as error:
        raise BrokenFrame("a frame that is not JSON") from error
    if not isinstance(value, dict):
        raise BrokenFrame("a frame that is not an object")
    return cast(dict[str, Any], value)
