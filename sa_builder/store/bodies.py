"""Request bodies kept small and rebuilt to the byte.

A conversation's requests repeat its history, so each body is stored as what differs from an
earlier one: a prefix and a suffix taken from there, and the bytes between. The earlier one is
the row whose number in the chain is `k` with its lowest set bit cleared, so that rebuilding the
k-th body visits at most log2(k) rows and storage grows by what was added, not by what was sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

_CHUNK_BYTES = 1 << 16


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


def split(base_id: int, base: bytes, body: bytes) -> StoredBody:
    """`body` as what differs from `base`; a whole copy where they share less than half."""
    prefix = common_prefix(base, body)
    rest = min(len(base), len(body)) - prefix
    suffix = common_prefix(base[len(base) - rest :][::-1], body[len(body) - rest :][::-1])
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
    """The bodies of one frame of a running thread; holds at most log2(n) of them."""

    def __init__(self) -> None:
        self._count = 0
        self._kept: dict[int, tuple[int, bytes]] = {}

    def add(self, row_id: int, body: bytes) -> StoredBody:
        """How the body of a new row is to be stored."""
        place = self._count
        self._count += 1
        base = self._kept.get(place & (place - 1)) if place else None
        stored = (
            split(base[0], base[1], body)
            if base is not None
            else StoredBody(base_id=None, prefix_bytes=0, suffix_bytes=0, middle=body)
        )
        self._kept[place] = (row_id, body)
        needed = _ancestors(self._count)
        self._kept = {number: kept for number, kept in self._kept.items() if number in needed}
        return stored


def _ancestors(number: int) -> set[int]:
    """The places that later rows may still refer to: `number` with its low bits cleared in turn."""
    found: set[int] = set()
    while number:
        number &= number - 1
        found.add(number)
    return found
