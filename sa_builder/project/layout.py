"""Which file of a project is what."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sa_builder.spec.kinds import FOLDER_OF, FOLDERS, Kind

AGENTS: Final = "agents"
"""The folder of a project that holds its definitions."""

NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
NESTED: Final = frozenset({Kind.EFFECT, Kind.ENDPOINT})
"""Kinds named by their path, whose folders nest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A definition file."""

    address: str
    """"prompts/triage"; endpoints keep their dots: "endpoints/foo.post"."""
    kind: Kind
    stem: str
    path: str
    """Relative to the project, forward slashes."""


def place_of(path: str) -> Place | None:
    """What a file of the project declares, by its path; None when it is no definition file."""
    parts = path.split("/")
    if len(parts) < 3 or parts[0] != AGENTS or not parts[-1].endswith(".py"):
        return None
    kind = FOLDERS.get(parts[1])
    if kind is None or any(part.startswith(("_", ".")) for part in parts[2:]):
        return None
    if len(parts) > 3 and kind not in NESTED:
        return None
    stem = "/".join([*parts[2:-1], parts[-1][:-3]])
    return Place(address=f"{parts[1]}/{stem}", kind=kind, stem=stem, path=path)


def path_of(kind: Kind, name: str) -> str:
    """Where the file of a definition lies; the stem of a model's `a-b` is `a_b`."""
    return f"{AGENTS}/{FOLDER_OF[kind]}/{name.replace('-', '_')}.py"


def scan(root: Path) -> Iterator[tuple[Place, os.stat_result]]:
    """Every definition file under `agents/`, in the order of its path, with its stat."""
    for folder in sorted(FOLDERS):
        yield from _scan_folder(root / AGENTS / folder, f"{AGENTS}/{folder}")


def snapshot(root: Path) -> Mapping[str, tuple[int, int, int]]:
    """Path → what tells that a file changed: time, size and inode."""
    return {place.path: (stat.st_mtime_ns, stat.st_size, stat.st_ino) for place, stat in scan(root)}


def _scan_folder(folder: Path, relative: str) -> Iterator[tuple[Place, os.stat_result]]:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    for entry in entries:
        path = f"{relative}/{entry.name}"
        try:
            if entry.name.endswith(".py"):
                place = place_of(path)
                if place is not None and entry.is_file():
                    yield place, entry.stat()
            elif (
                FOLDERS[relative.split("/")[1]] in NESTED
                and not entry.name.startswith(("_", "."))
                and entry.is_dir(follow_symlinks=False)
            ):
                yield from _scan_folder(folder / entry.name, path)
        except OSError:
            continue  # it vanished between the listing and the stat
