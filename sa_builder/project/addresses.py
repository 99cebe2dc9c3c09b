"""Addresses: `agents/repo_assistant.side_a.subagents[0].blocking`."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Final

from sa_builder.errors import ProjectError

Path = tuple[str | int, ...]
"""Keys and list places, from the definition inwards."""

_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


def split(address: str, known: Container[str]) -> tuple[str, Path]:
    """The definition's address and the path inside it.

    Args:
        known: addresses of the project's definitions; names with dots are found by it.

    Raises:
        ProjectError: it is not an address.
    """
    if address in known:
        return address, ()
    slash = address.rfind("/")
    cut = len(address)
    best: tuple[str, str] | None = None
    for found in re.finditer(r"[.\[]", address):
        if found.start() <= slash:
            continue
        head = address[: found.start()]
        if best is None or head in known:
            best = (head, address[found.start() :])
    head, rest = best if best is not None else (address[:cut], "")
    steps: list[str | int] = []
    place = 0
    while place < len(rest):
        found = _STEP.match(rest, place)
        if found is None:
            raise ProjectError(
                f"{address} is not an address.",
                act="Write it like agents/name.side_a.subagents[0].",
                code="project.address",
            )
        key, index = found.groups()
        steps.append(key if key is not None else int(index))
        place = found.end()
    return head, tuple(steps)


def join(definition: str, path: Path) -> str:
    """The address of a path in a definition."""
    return definition + "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in path
    )
