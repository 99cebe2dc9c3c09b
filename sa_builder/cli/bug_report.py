"""Keeps the traceback of an error of ours, so that people see a sentence and can report it."""

from __future__ import annotations

import platform
import tempfile
import time
import traceback
from pathlib import Path

import platformdirs

from sa_builder.cli.version import VERSION


def keep_traceback() -> Path:
    """Write the exception that is being handled to a file of its own; returns where."""
    text = (
        f"sa-builder {VERSION}, Python {platform.python_version()}, {platform.platform()}\n\n"
        f"{traceback.format_exc()}"
    )
    name = f"error-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}.log"
    for folder in (platformdirs.user_log_path("sa-builder"), Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        except OSError:
            continue  # the next place
        return folder / name
    return Path("(none could be written)")
