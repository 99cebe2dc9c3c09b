"""Where a project's own data lies: `<project>/.sa_builder/`, which ignores itself in git."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from sa_builder.errors import ProjectError, RuntimeRefused
from sa_builder.util.ids import ThreadId


class DataFolder:
    """The paths below a project's `.sa_builder/`."""

    def __init__(self, project_root: Path) -> None:
        self.root = project_root / ".sa_builder"

    @property
    def registry(self) -> Path:
        return self.root / "registry.db"

    @property
    def threads(self) -> Path:
        return self.root / "threads"

    @property
    def secrets(self) -> Path:
        return self.root / "secrets.json"

    @property
    def error_log(self) -> Path:
        return self.root / "errors.log"

    def thread_folder(self, thread_id: ThreadId) -> Path:
        return self.threads / thread_id

    def thread_file(self, thread_id: ThreadId) -> Path:
        return self.threads / thread_id / "thread.db"

    def make(self) -> None:
        """Create the folders.

        Raises:
            ProjectError: the project cannot be written.
        """
        try:
            self.threads.mkdir(parents=True, exist_ok=True)
            ignore = self.root / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise _unwritable(self.root, error) from error


def _unwritable(path: Path, error: OSError) -> ProjectError:
    return ProjectError(
        f"{path} cannot be written: {error.strerror}.",
        act="Threads need it; open the project where you may write.",
        code="project.read_only",
    )


class ProjectLock:
    """An OS lock held by the one process that runs a project; it ends with the process."""

    def __init__(self, folder: DataFolder) -> None:
        self._path = folder.root / "lock"
        self._descriptor: int | None = None

    def take(self) -> None:
        """Hold the lock from now on.

        Raises:
            RuntimeRefused: another process holds it; the sentence names it.
            ProjectError: the project cannot be written.
        """
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _unwritable(self._path, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise RuntimeRefused(
                f"This project already runs in another process (pid {holder}).",
                act="Use that window, or close it first; reading threads works meanwhile.",
                code="runtime.elsewhere",
            ) from error
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor

    def release(self) -> None:
        """Let go; safe to call twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
