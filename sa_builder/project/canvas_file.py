"""`agents/canvas.json`: where a person put cards. Only moved ones, sorted, one a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from sa_builder.errors import ProjectError
from sa_builder.project.arrange_shapes import Point
from sa_builder.project.disk import write_atomically

CANVAS_PATH = "agents/canvas.json"
_FARTHEST = 1_000_000
"""Pixels from the origin; what lies further out was not put there by hand."""


def canvas_text(positions: Mapping[str, Point]) -> str:
    """The file's text: one card a line, so that two people's moves merge."""
    rows = [
        f"  {json.dumps(node_id, ensure_ascii=False)}: [{round(x)}, {round(y)}]"
        for node_id, (x, y) in sorted(positions.items())
    ]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def read_positions(root: Path) -> dict[str, Point]:
    """The moved cards' top left corners by node id; empty when the file is not there.

    Raises:
        ProjectError: the file is there and is not what this module writes. Whoever would write
            it next must not: what it holds would be lost.
    """
    try:
        text = (root / CANVAS_PATH).read_text(encoding="utf-8-sig")
        found: Any = json.loads(text) if text.strip() else {}
    except FileNotFoundError:
        return {}
    except json.JSONDecodeError as error:
        raise _unreadable(f"line {error.lineno} is no JSON ({error.msg})") from error
    except OSError as error:
        raise _unreadable(error.strerror or "it is no file") from error
    except (ValueError, RecursionError) as error:
        raise _unreadable("it is no JSON text in UTF-8") from error
    if not isinstance(found, dict):
        raise _unreadable("it is not an object of cards and places")
    return {key: _place(key, value) for key, value in cast("dict[str, Any]", found).items()}


def write_positions(root: Path, positions: Mapping[str, Point]) -> None:
    """Write the file whole or not at all; with no positions it goes away.

    Raises:
        ProjectError: the folder cannot be written.
    """
    path = root / CANVAS_PATH
    try:
        if positions:
            write_atomically(path, canvas_text(positions).encode())
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise ProjectError(
            f"{CANVAS_PATH} cannot be written: {error.strerror or error}.",
            act="The cards stay where they are until the window closes.",
            code="project.canvas",
        ) from error


def _place(node_id: str, value: object) -> Point:
    match value:
        case [int() | float() as x, int() | float() as y] if not (
            isinstance(x, bool) or isinstance(y, bool)
        ):
            if abs(x) <= _FARTHEST and abs(y) <= _FARTHEST:
                return float(x), float(y)
        case _:
            pass
    raise _unreadable(f"the place of {node_id!r} is not two numbers of pixels")


def _unreadable(reason: str) -> ProjectError:
    return ProjectError(
        f"{CANVAS_PATH} cannot be read: {reason}.",
        act="Correct it or delete it; only the places of cards are lost.",
        code="project.canvas",
    )
