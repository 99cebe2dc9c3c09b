"""What commands share: the arguments that all take, and JSON as it is printed."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel


def add_project(parser: argparse.ArgumentParser) -> None:
    """Add `--project DIR`."""
    parser.add_argument(
        "--project",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the folder that holds agents/ (default: this folder)",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def print_json(value: object) -> None:
    """Print one JSON document, with escapes where stdout cannot say it otherwise."""
    document = plain(value)
    text = json.dumps(document, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2)
    print(text)


def plain(value: object) -> Any:
    """Values of ours as what JSON knows."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        pairs = cast(Mapping[object, object], value).items()
        return {str(key): plain(item) for key, item in pairs}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in cast(Iterable[object], value)]
    return str(value) if isinstance(value, Path) else value
