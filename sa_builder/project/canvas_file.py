"""`agents/canvas.json`: where a person put cards. Only moved ones, sorted, one a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from sa_builder.errors import ProjectError
from sa_builder.project.arrange_shapes import Point

CANVAS_PATH = "agents/canvas.json"


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
        ProjectError: the file is there and is not what this module writes.
    """
    path = root / CANVAS_PATH
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ProjectError(
            f"{CANVAS_PATH} cannot be read: {error}.",
            act="Correct it or delete it; only the places of cards are lost.",
            code="project.canvas",
        ) from error
    positions: dict[str, Point] = {}
    for node_id, place in cast(dict[str, Any], found if isinstance(found, dict) else {}).items():
        match place:
            case [int() | float() as x, int() | float() as y]:
                positions[node_id] = (float(x), float(y))
            case _:
                continue
    return positions


def write_positions(root: Path, positions: Mapping[str, Point]) -> None:
    """Write the file through a temporary one; with no positions it goes away.

    Raises:
        ProjectError: the folder cannot be written.
    """
    path = root / CANVAS_PATH
    beside = path.with_name("." + path.name + ".new")
    try:
        if not positions:
            path.unlink(missing_ok=True)
            return
        beside.write_text(canvas_text(positions), encoding="utf-8", newline="\n")
        beside.replace(path)
    except OSError as error:
        raise ProjectError(
            f"{CANVAS_PATH} cannot be written: {error.strerror}.",
            act="The cards stay where they are until the window closes.",
            code="project.canvas",
        ) from error
