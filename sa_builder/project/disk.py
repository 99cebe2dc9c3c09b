"""Files written so that they are whole or untouched, and undo that restores exact bytes."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sa_builder.errors import EditRefused
from sa_builder.project.shapes import Edit, FileChange


def read_bytes(path: Path) -> bytes | None:
    """A file's bytes, or None when there is no file."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file's bytes in one step, keeping its mode; a symlink keeps pointing where it did.

    Raises:
        OSError: the file or its folder cannot be written; the old bytes are still there.
    """
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        mode: int | None = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mode = None
    if mode is not None and not mode & 0o222:
        raise PermissionError(f"{path.name} is read-only")
    handle, temporary = tempfile.mkstemp(prefix=".sa-", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is None:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the rename durable, where the system can open folders."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_changes(root: Path, changes: Sequence[FileChange], *, forward: bool = True) -> None:
    """Make all changes of an edit, or none; first every file must be what it was.

    Raises:
        EditRefused: a file changed outside, or cannot be written.
    """
    wanted = [
        (change.path, change.before, change.after)
        if forward
        else (change.path, change.after, change.before)
        for change in changes
    ]
    for path, before, _ in wanted:
        _check(root, path, before)
    done: list[tuple[str, bytes | None]] = []
    try:
        for path, before, after in wanted:
            _check(root, path, before)
            _put(root / path, after)
            done.append((path, before))
    except (OSError, EditRefused) as error:
        for path, before in reversed(done):
            _put(root / path, before)
        if isinstance(error, EditRefused):
            raise
        reason = error.strerror or str(error)
        raise EditRefused(
            f"{wanted[len(done)][0]} cannot be written: {reason}.",
            act="Make the file and its folder writable and try again.",
            code="edit.not_writable",
        ) from error


def _check(root: Path, path: str, before: bytes | None) -> None:
    try:
        now = read_bytes(root / path)
    except OSError as error:
        raise EditRefused(
            f"{path} cannot be read: {error.strerror}.",
            act="Make it readable and try again.",
            code="edit.not_writable",
        ) from error
    if now == before:
        return
    if before is None:
        raise EditRefused(f"{path} exists already.", act="Choose another name.", code="edit.exists")
    raise EditRefused(
        f"{path} {'was deleted' if now is None else 'changed'} outside since it was read.",
        act="Nothing was written; look at the file and try again.",
        code="edit.changed_outside",
    )


def _put(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink()
    else:
        write_atomically(path, data)


@dataclass(slots=True)
class History:
    """Edits made, to take back and make again; each one restores exact bytes."""

    root: Path
    done: list[Edit]
    undone: list[Edit]
    most: int = 500

    def add(self, edit: Edit) -> None:
        """Remember an edit that was just made."""
        self.done.append(edit)
        del self.done[: -self.most]
        self.undone.clear()

    def join_last_two(self) -> Edit:
        """Make one undo step of the last two edits, named after the second."""
        first, second = self.done[-2:]
        changes = {change.path: change for change in first.changes}
        for change in second.changes:
            before = changes.pop(change.path, None)
            if before is not None:
                change = replace(change, before=before.before)
            changes[change.path] = change
        joined = replace(
            second, changes=tuple(reversed(changes.values())), notes=(*first.notes, *second.notes)
        )
        self.done[-2:] = [joined]
        return joined

    def forget_last(self) -> None:
        """Take the last edit back, with no way to make it again.

        Raises:
            EditRefused: a file changed outside since.
        """
        self.undo()
        self.undone.pop()

    def undo(self) -> Edit | None:
        """Restore the bytes before the last edit.

        Raises:
            EditRefused: a file changed outside since; the edit stays undoable.
        """
        if not self.done:
            return None
        edit = self.done[-1]
        write_changes(self.root, edit.changes, forward=False)
        self.undone.append(self.done.pop())
        return edit

    def redo(self) -> Edit | None:
        """Make the last undone edit again.

        Raises:
            EditRefused: a file changed outside since.
        """
        if not self.undone:
            return None
        edit = self.undone[-1]
        write_changes(self.root, edit.changes)
        self.done.append(self.undone.pop())
        return edit
