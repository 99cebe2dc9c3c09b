"""What `make run` does: the window on the sample, or the same journey without a display."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sa_builder.cli import gui
from sa_builder.cli.main import main as run_command_line
from sa_builder.errors import KnownError
from sa_builder.ui import display
from sa_builder.ui.templates import SAMPLE, make_project
from sa_builder.util.resources import sample_root

if TYPE_CHECKING:
    import argparse

PICTURES = Path("screenshots")
_ONE_PICTURE = "threads.png"


def main() -> int:
    """Show the window on the sample; without a display walk through the product instead.

    The sample is ours and its answers are recorded, so that nothing is asked first.

    Returns:
        The exit code: 1 when no window can be made, or a step of the journey failed.
    """
    if display.shows_windows():
        return run_command_line([str(sample_root()), "--test-mode", "--trust"])
    print(
        "There is no display, so the window is drawn offscreen and used by the program itself.",
        flush=True,
    )
    return run_command_line(["journey"])


def configure(command: str, parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `journey`."""
    parser.add_argument(
        "--picture", metavar="FILE", type=Path, help="keep one picture, in this file"
    )
    parser.add_argument(
        "--pictures",
        metavar="DIR",
        type=Path,
        default=PICTURES,
        help=f"the folder that gets a picture a step (default: {PICTURES})",
    )


def perform(command: str, arguments: argparse.Namespace) -> int:
    """Do the journey in a window that nobody sees, on a copy of the sample.

    Raises:
        KnownError: system libraries are missing, a step failed, or a picture cannot be kept.
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    display.check_display()
    with tempfile.TemporaryDirectory(prefix="sa-builder-", ignore_cleanup_errors=True) as folder:
        made = Path(folder) / "pictures"
        made.mkdir()
        walk = importlib.import_module("sa_builder.ui.walk")
        try:
            root = make_project(SAMPLE, Path(folder) / "sample")
            walk.walk(root, Path(folder), made, gui.Clients())
        finally:
            for file in _keep(made, arguments.picture, arguments.pictures):
                print(f"Screenshot: {file}")
    return 0


def _keep(made: Path, one: Path | None, folder: Path) -> list[Path]:
    """Copy the pictures to where they are wanted; returns them in the order of their making."""
    wanted = list(made.glob(_ONE_PICTURE if one is not None else "*.png"))
    kept: list[Path] = []
    for picture in sorted(wanted, key=lambda file: file.stat().st_mtime_ns):
        target = one or folder / picture.name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(picture, target)
        except OSError as error:
            raise KnownError(
                f"The picture {target} cannot be written: {error.strerror}.",
                act="Choose another place with --picture or --pictures.",
                code="journey.picture",
            ) from error
        kept.append(target)
    return kept


if __name__ == "__main__":
    sys.exit(main())
