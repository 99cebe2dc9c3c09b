"""What is open in a window: a project with its runtime, or a thread file alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot

from sa_builder.client.base import ClientFactory, RuntimeClient
from sa_builder.errors import KnownError
from sa_builder.project.project import Project
from sa_builder.project.watch import Watcher
from sa_builder.ui.link import RuntimeLink
from sa_builder.ui.trust import TrustedClient


class ArchiveSession(QObject):
    """A thread's database, opened read-only with no project."""

    def __init__(self, file: Path, factory: ClientFactory, parent: QObject | None = None) -> None:
        """Open it.

        Raises:
            KnownError: it is no thread file, or cannot be read.
        """
        super().__init__(parent)
        self.file = file
        self.client: RuntimeClient = factory.archive(file)
        self.link = RuntimeLink(self.client, self)

    async def start(self) -> None:
        """Make it readable."""
        await self.client.start()

    async def close(self, *, deadline_s: float = 2.5) -> None:
        """Let go of the file."""
        self.link.close()
        await self.client.close(deadline_s=deadline_s)


class ProjectSession(QObject):
    """A project: its text, the watch over its files, and the runtime beside it.

    Signals:
        outside_changed: files changed on the disk and were read anew; their paths, frozenset.
        trouble_met: a KnownError while reading them.
    """

    outside_changed = Signal(object)
    trouble_met = Signal(object)
    _watch_fired = Signal()

    def __init__(
        self,
        project: Project,
        factory: ClientFactory,
        *,
        is_trusted: Callable[[], bool],
        ask_trust: Callable[[], Awaitable[bool]],
        test_mode: bool | None,
        parent: QObject | None = None,
    ) -> None:
        """Begin with text only; `start` begins the runtime."""
        super().__init__(parent)
        self.project = project
        inner = factory.local(project.root, trusted=is_trusted, test_mode=test_mode)
        self.client: RuntimeClient = TrustedClient(inner, ask_trust)
        self.link = RuntimeLink(self.client, self)
        self._watch_fired.connect(self._on_watch_fired, Qt.ConnectionType.QueuedConnection)
        self._watcher = Watcher(project.root, self._watch_fired.emit)
        self._closed = False

    async def start(self) -> None:
        """Watch the files and start the runtime."""
        self._watcher.start()
        await self.client.start()

    async def close(self, *, deadline_s: float = 2.5) -> None:
        """Stop watching, then the runtime, whatever hangs, within the deadline."""
        self._closed = True
        self._watcher.stop()
        self.link.close()
        await self.client.close(deadline_s=deadline_s)

    @Slot()
    def _on_watch_fired(self) -> None:
        if self._closed:
            return
        try:
            paths = self.project.refresh()
        except KnownError as error:
            self.trouble_met.emit(error)
            return
        if paths:
            self.outside_changed.emit(paths)


def git_branch(root: Path) -> str:
    """The branch that .git/HEAD names; empty when there is none to tell."""
    for folder in (root, *root.parents):
        head = folder / ".git" / "HEAD"
        try:
            text = head.read_text(encoding="utf-8").strip()
        except OSError:
            continue
        prefix = "ref: refs/heads/"
        return text.removeprefix(prefix) if text.startswith(prefix) else text[:8]
    return ""
