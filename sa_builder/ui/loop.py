"""The asyncio loop that runs inside Qt's: for the window's own coroutines."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from PySide6.QtWidgets import QApplication


def make_loop(app: QApplication) -> asyncio.AbstractEventLoop:
    """A qasync loop over an application; not yet the current one, and not running."""
    import qasync  # pyright: ignore[reportMissingTypeStubs]

    make = cast("Any", qasync).QEventLoop
    return cast("asyncio.AbstractEventLoop", make(app, set_running_loop=False))
