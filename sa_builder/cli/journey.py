"""What `make run` does: the window on the sample, or the same journey without a display."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from sa_builder.cli import gui
from sa_builder.errors import KnownError
from sa_builder.ui import display
from sa_builder.util.resources import sample_root

PICTURES = Path("screenshots")


def main() -> int:
    """Show the window; without a display walk through the product and keep pictures of it.

    Returns:
        The exit code: 1 when no window can be made, or a step of the journey failed.
    """
    try:
        if display.needs_display() and display.has_display():
            return gui.open_window(str(sample_root()), ("--test-mode", "--trust"))
        return walk_headless(PICTURES)
    except KnownError as error:
        print(error.text(), file=sys.stderr)
        return 1


def walk_headless(pictures: Path) -> int:
    """Do the journey offscreen, on a copy of the sample.

    Args:
        pictures: the folder that gets the screenshots; made when it is missing.

    Raises:
        KnownError: system libraries are missing, or a step failed.
    """
    print("There is no display, so the window is drawn offscreen and used by the program itself.")
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    display.check_display()
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sa-builder-") as folder:
        root = copy_sample(Path(folder))
        walk = importlib.import_module("sa_builder.ui.walk")
        walk.walk(root, Path(folder) / "settings", pictures, gui.Clients())
    for picture in sorted(pictures.glob("*.png")):
        print(f"Screenshot: {picture}")
    return 0


def copy_sample(folder: Path) -> Path:
    """Put the sample project into a folder; returns its root."""
    root = folder / "sample"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(sample_root() / "agents", root / "agents", ignore=ignored)
    shutil.copy2(sample_root() / ".env.test", root)
    return root


if __name__ == "__main__":
    sys.exit(main())
