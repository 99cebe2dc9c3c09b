"""What the window remembers between two starts: per user, and per project."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from PySide6.QtCore import QObject, Signal

_MOST_RECENT = 12


class RecentProject(BaseModel):
    """A project that was open."""

    model_config = ConfigDict(frozen=True)

    path: str
    opened_at_us: int
    agents: int = 0
    threads: int = 0


class _Stored(BaseModel):
    """The user's file."""

    theme: Literal["system", "light", "dark"] = "system"
    test_mode: bool | None = None
    recent: list[RecentProject] = Field(default_factory=list[RecentProject])
    trusted: list[str] = Field(default_factory=list[str])
    geometry: str = ""


def write_atomically(path: Path, text: str) -> None:
    """Replace a file's content whole, or not at all.

    Raises:
        OSError: the folder cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


class Settings(QObject):
    """The user's settings and each project's layout; every change is on the disk at once.

    Signals:
        changed: the user's settings are others now.
        trouble_met: a sentence, str: something could not be kept.
    """

    changed = Signal()
    trouble_met = Signal(str)

    def __init__(self, folder: Path | None = None, parent: QObject | None = None) -> None:
        """Read what is there; a file that cannot be read counts as empty.

        Args:
            folder: where the files lie; None is the user's own configuration folder.
        """
        super().__init__(parent)
        self._folder = folder or platformdirs.user_config_path("sa_builder", appauthor=False)
        self._file = self._folder / "settings.json"
        self._stored = self._read()

    @property
    def folder(self) -> Path:
        """Where the settings lie."""
        return self._folder

    @property
    def data_folder(self) -> Path:
        """Where things of the user's that are no settings lie, such as a copy of the sample."""
        return platformdirs.user_data_path("sa_builder", appauthor=False)

    @property
    def log_file(self) -> Path:
        """Where tracebacks of the window go."""
        return platformdirs.user_log_path("sa_builder", appauthor=False) / "window.log"

    @property
    def theme(self) -> Literal["system", "light", "dark"]:
        """The scheme asked for."""
        return self._stored.theme

    def set_theme(self, theme: Literal["system", "light", "dark"]) -> None:
        """Remember the scheme asked for."""
        self._change(theme=theme)

    @property
    def test_mode(self) -> bool | None:
        """Whether turns run offline; None leaves it to the project's environment."""
        return self._stored.test_mode

    def set_test_mode(self, test_mode: bool | None) -> None:
        """Remember the test mode."""
        self._change(test_mode=test_mode)

    @property
    def geometry(self) -> str:
        """The window's place, as Qt wrote it, in hexadecimal; empty at first."""
        return self._stored.geometry

    def set_geometry(self, geometry: str) -> None:
        """Remember the window's place."""
        self._change(geometry=geometry)

    # projects

    @property
    def recent(self) -> Sequence[RecentProject]:
        """Projects that were open and still lie where they did, latest first."""
        return [one for one in self._stored.recent if Path(one.path).is_dir()]

    def add_recent(self, project: RecentProject) -> None:
        """Put a project first."""
        others = [one for one in self._stored.recent if one.path != project.path]
        self._change(recent=[project, *others][:_MOST_RECENT])

    def clear_recent(self) -> None:
        """Forget the projects; their files stay."""
        self._change(recent=[])

    @property
    def trusted(self) -> Sequence[str]:
        """Folders whose code may run."""
        return tuple(self._stored.trusted)

    def is_trusted(self, root: Path) -> bool:
        """Whether a folder's code may run; may be asked from any OS thread."""
        return str(root.resolve()) in self._stored.trusted

    def set_trusted(self, root: Path, trusted: bool) -> None:
        """Allow a folder's code to run, or take that back."""
        path = str(root.resolve())
        others = [one for one in self._stored.trusted if one != path]
        self._change(trusted=sorted([*others, path] if trusted else others))

    def layout_of(self, root: Path) -> Mapping[str, Any]:
        """A project's layout: page, splitters; empty when there is none."""
        try:
            found: object = json.loads(self._layout_file(root).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}  # never saved, or written by something else: the layout starts anew
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}

    def set_layout_of(self, root: Path, layout: Mapping[str, Any]) -> None:
        """Keep a project's layout."""
        self._write(self._layout_file(root), json.dumps(dict(layout), indent=1, sort_keys=True))

    def _layout_file(self, root: Path) -> Path:
        digest = hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:16]
        return self._folder / "layouts" / f"{root.name}-{digest}.json"

    # the file

    def _read(self) -> _Stored:
        try:
            return _Stored.model_validate_json(self._file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return _Stored()
        except (OSError, ValueError, ValidationError):
            self._keep_unreadable()
            return _Stored()

    def _keep_unreadable(self) -> None:
        try:
            os.replace(self._file, self._file.with_suffix(".unreadable.json"))
        except OSError as error:
            self.trouble_met.emit(f"{self._file} cannot be read: {error.strerror}.")

    def _change(self, **values: Any) -> None:
        self._stored = self._stored.model_copy(update=values)
        self._write(self._file, self._stored.model_dump_json(indent=1))
        self.changed.emit()

    def _write(self, path: Path, text: str) -> None:
        try:
            write_atomically(path, text)
        except OSError as error:
            self.trouble_met.emit(f"{path} cannot be written: {error.strerror}.")
