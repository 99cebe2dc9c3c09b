"""How a window is started."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowOptions:
    """What the command line says about the window."""

    test_mode: bool | None = None
    """None leaves it to the settings, and those to the project's environment."""
    trusted: bool = False
    """True: the project's code may run without asking, for this time only."""
    scheme: Literal["light", "dark"] | None = None
    """A scheme for this time only."""
    settings_folder: Path | None = None
    """Where settings lie; None is the user's own folder."""
    version: str = ""
    """The product's version, for the status bar and About."""
