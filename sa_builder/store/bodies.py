"""Request bodies kept small and rebuilt to the byte.

A conversation's requests repeat its history, so each body is stored as what differs from an
earlier one: a prefix and a suffix taken from there, and the bytes between. The earlier one is
the row before, or for every 64th the 64th before, and so on, so that rebuilding any body visits
a few dozen rows, and storage grows by what was added, not by what was sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

_CHUNK_BYTES = 1 << 16
_FAN = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBody:
    """A body as its row keeps it; without a base, `middle` is all of it."""

    base_id: int | None
    prefix_bytes: int
    suffix_bytes: int
    middle: bytes


def common_prefix(a: bytes, b: bytes) -> int:
    """How many bytes two texts share at their start."""
    most = min(len(a), len(b))
    at = 0
    while at < most and a[at : at + _CHUNK_BYTES] == b[at : at + _CHUNK_BYTES]:
        at += _CHUNK_BYTES
    low, high = min(at, most), min(at + _CHUNK_BYTES, most)
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(a: bytes, b: bytes, most: int) -> int:
    """How many bytes two texts share at their end, `most` at the most."""
    shared = 0
    while shared < most:
        reach = min(_CHUNK_BYTES, most - shared)
        end_a, end_b = len(a) - shared, len(b) - shared
        if a[end_a - reach : end_a] != b[end_b - reach : end_b]:
            return shared + common_prefix(
                a[end_a - reach : end_a][::-1], b[end_b - reach : end_b][::-1]
            )
        shared += reach
    return shared


def split(base_id: int, base: bytes, body: bytes) -> StoredBody:
    """`body` as what differs from `base`; a whole copy where they share less than half."""
    prefix = common_prefix(base, body)
    suffix = common_suffix(base, body, min(len(base), len(body)) - prefix)
    if prefix + suffix < len(body) // 2:
        return StoredBody(base_id=None, prefix_bytes=0, suffix_bytes=0, middle=body)
    return StoredBody(
        base_id=base_id,
        prefix_bytes=prefix,
        suffix_bytes=suffix,
        middle=body[prefix : len(body) - suffix],
    )


def rebuild(stored: StoredBody, read: Callable[[int], StoredBody]) -> bytes:
    """The exact body again.

    Args:
        read: fetches the stored body of a row by its id.
    """
    chain = [stored]
    while (base_id := chain[-1].base_id) is not None:
        chain.append(read(base_id))
    body = chain.pop().middle
    while chain:
        step = chain.pop()
        tail = body[len(body) - step.suffix_bytes :] if step.suffix_bytes else b""
        body = body[: step.prefix_bytes] + step.middle + tail
    return body


class BodyChain:
    """The bodies of one frame of a running thread; holds one a level of them."""

    def __init__(self) -> None:
        self._count = 0
        self._kept: dict[int, tuple[int, bytes]] = {}

    def add(self, row_id: int, body: bytes) -> StoredBody:
        """How the body of a new row is to be stored."""
        place = self._count
        self._count += 1
        base = self._kept.get(_base_of(place)) if place else None
        stored = (
            split(base[0], base[1], body)
            if base is not None
            else StoredBody(base_id=None, prefix_bytes=0, suffix_bytes=0, middle=body)
        )
        self._kept[place] = (row_id, body)
        needed = _needed_after(place)
        self._kept = {number: kept for number, kept in self._kept.items() if number in needed}
        return stored


def _base_of(place: int) -> int:
    """The place a body is stored against: one step back, on the coarsest level it stands on."""
    step = 1
    while place % (step * _FAN) == 0:
        step *= _FAN
    return place - step


def _needed_after(place: int) -> set[int]:
    """The places that later bodies may be stored against: the last one of each level."""
    found = {0, place}
    step = _FAN
    while step <= place:
        found.add(place - place % step)
        step *= _FAN
    return found
