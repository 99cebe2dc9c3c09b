"""Request bodies are stored as differences and rebuilt to the byte."""

from __future__ import annotations

import json
import random

from hypothesis import given, strategies as st

from sa_builder.store.bodies import BodyChain, StoredBody, common_prefix, common_suffix, rebuild


def stored(bodies: list[bytes]) -> dict[int, StoredBody]:
    chain = BodyChain()
    return {row_id: chain.add(row_id, body) for row_id, body in enumerate(bodies, start=1)}


def rebuilt(rows: dict[int, StoredBody], row_id: int) -> tuple[bytes, int]:
    """A body again, and how many other rows that took."""
    visited = 0

    def read(base_id: int) -> StoredBody:
        nonlocal visited
        visited += 1
        return rows[base_id]

    return rebuild(rows[row_id], read), visited


def conversation(steps: int) -> list[bytes]:
    """Requests whose history grows and whose end stays the same."""
    chance = random.Random(7)
    messages: list[dict[str, str]] = []
    bodies: list[bytes] = []
    for step in range(steps):
        messages.append({"role": "user", "content": f"{step} {chance.random()} ü"})
        bodies.append(json.dumps({"messages": messages, "tools": ["x" * 500]}).encode())
    return bodies


def test_every_body_of_a_long_conversation_comes_back_to_the_byte() -> None:
    bodies = conversation(300)
    rows = stored(bodies)

    for row_id, body in enumerate(bodies, start=1):
        found, visited = rebuilt(rows, row_id)
        assert found == body
        assert visited < 140


def test_what_is_stored_grows_by_what_was_added() -> None:
    bodies = conversation(300)
    rows = stored(bodies)

    kept = sum(len(row.middle) for row in rows.values())
    assert kept < 6 * len(bodies[-1])
    assert kept * 20 < sum(len(body) for body in bodies)


def test_a_body_that_shares_little_is_stored_whole() -> None:
    rows = stored([b"a" * 1000, b"b" * 1000])

    assert rows[2].base_id is None
    assert rows[2].middle == b"b" * 1000


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=8))
def test_any_bodies_come_back_to_the_byte(bodies: list[bytes]) -> None:
    rows = stored(bodies)

    assert [rebuilt(rows, row_id)[0] for row_id in rows] == bodies


@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40))
def test_shared_ends_are_found_whole(head: bytes, tail: bytes, middle: bytes) -> None:
    a, b = head + tail, head + middle + tail

    prefix = common_prefix(a, b)
    assert prefix >= len(head)
    assert a[:prefix] == b[:prefix]
    assert a[prefix : prefix + 1] != b[prefix : prefix + 1] or prefix == min(len(a), len(b))
    suffix = common_suffix(a, b, min(len(a), len(b)) - prefix)
    assert suffix == min(len(a), len(b)) - prefix or a[-suffix - 1] != b[-suffix - 1]
    assert a[len(a) - suffix :] == b[len(b) - suffix :]


def test_shared_ends_longer_than_a_chunk_are_found() -> None:
    a = b"x" * 200_000 + b"1" + b"y" * 200_000
    b = b"x" * 200_000 + b"2" + b"y" * 200_000

    assert common_prefix(a, b) == 200_000
    assert common_suffix(a, b, 200_001) == 200_000
