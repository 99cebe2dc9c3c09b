"""What is open in a window, with its pages: opened, watched, closed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QByteArray, QObject, Signal, Slot
from PySide6.QtWidgets import QSplitter, QWidget

from sa_builder.client.base import ClientFactory, RuntimeClient
from sa_builder.errors import KnownError
from sa_builder.project.project import Project
from sa_builder.project.shapes import Edit
from sa_builder.spec.events import RuntimeChanged
from sa_builder.spec.kinds import Kind
from sa_builder.spec.threads import ThreadQuery
from sa_builder.ui.actions import ActionRegistry
from sa_builder.ui.dialogs.asks import ask_for_trust
from sa_builder.ui.options import WindowOptions
from sa_builder.ui.session import ArchiveSession, ProjectSession
from sa_builder.ui.settings import RecentProject, Settings
from sa_builder.ui.tasks import Tasks
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads.memory import read_memory

if TYPE_CHECKING:
    from sa_builder.ui.compose.page import ComposePage
    from sa_builder.ui.threads.page import ThreadsPage

_CLOSE_S = 2.8
"""The process is gone within three seconds, whatever hangs."""


class Workspace(QObject):
    """A project or a thread file, and the pages that show it; or nothing.

    Signals:
        changed: something else is open now, or nothing.
        page_added: name, str, and page, QWidget: put it into the window.
        page_removed: the name of a page that goes, str: forget it.
        page_wished: a page's name, str: show it.
        said: a sentence that passes, str.
        written: an Edit was made to files.
        problems_counted: errors, warnings, hints, int each.
        runtime_changed: a spec.events.RuntimeChanged.
        trouble_met: a sentence that stays, str.
    """

    changed = Signal()
    page_added = Signal(str, QWidget)
    page_removed = Signal(str)
    page_wished = Signal(str)
    said = Signal(str)
    written = Signal(object)
    problems_counted = Signal(int, int, int)
    runtime_changed = Signal(object)
    trouble_met = Signal(str)

    def __init__(
        self,
        window: QWidget,
        *,
        theme: Theme,
        actions: ActionRegistry,
        tasks: Tasks,
        settings: Settings,
        factory: ClientFactory,
        options: WindowOptions,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._actions = actions
        self._tasks = tasks
        self._settings = settings
        self._factory = factory
        self._options = options
        self._project_session: ProjectSession | None = None
        self._archive_session: ArchiveSession | None = None
        self._compose: ComposePage | None = None
        self._threads: ThreadsPage | None = None
        self._threads_tasks: Tasks | None = None
        self._trusted_now: set[Path] = set()

    # what is open

    @property
    def project(self) -> Project | None:
        """The open project."""
        return self._project_session.project if self._project_session is not None else None

    @property
    def archive_file(self) -> Path | None:
        """The open thread file."""
        return self._archive_session.file if self._archive_session is not None else None

    @property
    def client(self) -> RuntimeClient | None:
        """The client of what is open."""
        session = self._project_session or self._archive_session
        return session.client if session is not None else None

    @property
    def compose(self) -> ComposePage | None:
        """The Compose page, while a project is open."""
        return self._compose

    # opening and closing

    async def open_project(
        self, root: Path, *, test_mode: bool | None = None, is_ours: bool = False
    ) -> None:
        """Close what is open and open a project.

        Args:
            test_mode: for a project that neither the command line nor the settings say it of.
            is_ours: it came with the product, so nobody is asked whether its code may run.

        Raises:
            KnownError: there is none; what was open stays so.
        """
        project = Project.open(_whole(root))
        await self.close()
        session = ProjectSession(
            project,
            self._factory,
            is_trusted=lambda: self._is_trusted(project.root),
            ask_trust=lambda: self._ask_trust(project),
            test_mode=self._wished_test_mode(test_mode),
            parent=self,
        )
        self._project_session = session
        if self._options.trusted or is_ours:
            self._trusted_now.add(project.root)
        session.outside_changed.connect(self._on_outside_changed)
        session.trouble_met.connect(self._on_known_error)
        session.link.event_arrived.connect(self._on_event_arrived)
        self._make_compose(project)
        self._remember(threads=0)
        self.changed.emit()
        self._count_problems()
        self._tasks.start(self._start_project(session), on_error=self._on_known_error)

    async def open_archive(self, file: Path) -> None:
        """Close what is open and show a thread file, read-only.

        Raises:
            KnownError: it cannot be read as one; what was open stays so.
        """
        session = ArchiveSession(_whole(file), self._factory, self)
        try:
            await session.start()
        except KnownError:
            await session.close()
            raise
        await self.close()
        self._archive_session = session
        self.changed.emit()
        self.show_threads()

    async def close(self) -> None:
        """Close what is open; quick, whatever hangs."""
        session = self._project_session or self._archive_session
        if session is None:
            return
        if self._threads is not None:
            self._threads.shutdown()
        if self._threads_tasks is not None:
            await self._threads_tasks.close()  # before the widgets go that its coroutines touch
            self._threads_tasks.deleteLater()
            self._threads_tasks = None
        self._drop_pages()
        self._project_session = None
        self._archive_session = None
        try:
            async with asyncio.timeout(_CLOSE_S):
                await session.close()
        except TimeoutError:
            self.trouble_met.emit("The runtime did not end in time; what it had begun is kept.")
        session.deleteLater()
        self.changed.emit()

    async def set_test_mode(self, on: bool) -> None:
        """Switch the test mode of turns that start from now on."""
        client = self.client
        if client is not None and client.writable:
            await client.set_test_mode(on)

    # pages

    def threads_page(self) -> ThreadsPage | None:
        """The Threads page, made when it is first wanted; None with nothing open."""
        session = self._project_session or self._archive_session
        if self._threads is None and session is not None:
            from sa_builder.ui.threads.page import ThreadsPage

            tasks = Tasks(self)
            tasks.failed.connect(self._on_known_error)
            page = ThreadsPage(session.client, session.link, tasks, self._theme, self._actions)
            self._threads_tasks = tasks
            page.memory_changed.connect(self._on_threads_memory_changed)
            page.status_said.connect(self.said)
            page.open_definition_requested.connect(self.show_definition)
            self._threads = page
            self.page_added.emit("threads", page)
            page.start()
            page.restore(read_memory(self._layout().get("threads", {})), self._shown_agent)
        return self._threads

    def show_threads(self) -> ThreadsPage | None:
        """Bring the Threads page to the front."""
        page = self.threads_page()
        if page is not None:
            self.page_wished.emit("threads")
        return page

    @Slot(str)
    def show_definition(self, address: str) -> None:
        """Bring a definition to the front, by its address."""
        if self._compose is not None:
            self.page_wished.emit("compose")
            self._compose.select_address(address)

    @Slot(str)
    def new_thread(self, agent_name: str = "") -> None:
        """Begin a new thread, with an agent already chosen or not."""
        page = self.show_threads()
        if page is not None:
            page.new_thread(agent_name or None)

    def show_thread(self, thread_id: str) -> None:
        """Bring a thread to the front."""
        page = self.show_threads()
        if page is not None:
            page.show_thread(cast("Any", thread_id))

    def keep_page(self, name: str) -> None:
        """Remember which page is shown, for a window that ends without closing."""
        if self.project is not None and self._layout().get("page") != name:
            self._keep_layout({"page": name})

    def save_layout(self, layout: Mapping[str, Any]) -> None:
        """Keep the pages' splitters with the rest of a project's layout."""
        project = self.project
        if project is None:
            return
        states = {
            splitter.objectName(): splitter.saveState().toBase64().toStdString()
            for page in (self._compose, self._threads)
            if page is not None
            for splitter in page.findChildren(QSplitter)
            if splitter.objectName()
        }
        merged = {**self._layout().get("splitters", {}), **states}
        self._keep_layout({**layout, "splitters": merged})

    def restore_layout(self, page: QWidget) -> None:
        """Give a page's splitters the places they had."""
        project = self.project
        if project is None:
            return
        kept = cast("dict[str, str]", self._layout().get("splitters", {}))
        for splitter in page.findChildren(QSplitter):
            state = kept.get(splitter.objectName())
            if state:
                splitter.restoreState(QByteArray.fromBase64(QByteArray(state.encode())))

    # inside

    def _layout(self) -> Mapping[str, Any]:
        """What is kept of the open project's layout."""
        project = self.project
        return {} if project is None else self._settings.layout_of(project.root)

    def _keep_layout(self, changed: Mapping[str, Any]) -> None:
        """Keep parts of the project's layout, with what the Threads page remembers."""
        project = self.project
        if project is None:
            return
        layout = {**self._layout(), **changed}
        if self._threads is not None:
            layout["threads"] = self._threads.memory.model_dump()
        self._settings.set_layout_of(project.root, layout)

    def _shown_agent(self) -> str | None:
        return self._compose.shown_agent if self._compose is not None else None

    def _make_compose(self, project: Project) -> None:
        from sa_builder.ui.compose.page import ComposePage

        page = ComposePage(project, self._theme, self._actions)
        page.new_thread_requested.connect(self.new_thread)
        page.status_said.connect(self.said)
        page.edited.connect(self._on_compose_edited)
        self._compose = page
        self.page_added.emit("compose", page)

    def _drop_pages(self) -> None:
        for name, page in (("compose", self._compose), ("threads", self._threads)):
            if page is not None:
                self.page_removed.emit(name)
                page.hide()
                page.setParent(None)
                page.deleteLater()
        self._compose = None
        self._threads = None

    async def _start_project(self, session: ProjectSession) -> None:
        await session.start()
        page = await session.client.list_threads(ThreadQuery(limit=1))
        if session is self._project_session:
            self._remember(threads=page.total)

    def _remember(self, *, threads: int) -> None:
        project = self.project
        if project is None:
            return
        agents = sum(1 for one in project.definitions() if one.kind == Kind.AGENT)
        self._settings.add_recent(
            RecentProject(
                path=str(project.root),
                opened_at_us=time.time_ns() // 1000,
                agents=agents,
                threads=threads,
            )
        )

    def _wished_test_mode(self, otherwise: bool | None) -> bool | None:
        for wish in (self._options.test_mode, self._settings.test_mode):
            if wish is not None:
                return wish
        return otherwise

    def _is_trusted(self, root: Path) -> bool:
        return root in self._trusted_now or self._settings.is_trusted(root)

    async def _ask_trust(self, project: Project) -> bool:
        if self._is_trusted(project.root):
            return True
        return await ask_for_trust(self._theme, self._settings, project, self._window)

    def _count_problems(self) -> None:
        project = self.project
        if project is None:
            return
        found = [problem.severity for problem in project.problems()]
        self.problems_counted.emit(
            found.count("error"), found.count("warning"), found.count("hint")
        )

    @Slot()
    def _on_threads_memory_changed(self) -> None:
        self._keep_layout({})

    @Slot(object)
    def _on_outside_changed(self, paths: object) -> None:
        if self._compose is not None:
            self._compose.refresh()
        self._count_problems()
        names = sorted(cast("frozenset[str]", paths))
        first = names[0] if len(names) == 1 else f"{len(names)} files"
        self.said.emit(f"Read anew, changed outside: {first}")

    @Slot(object)
    def _on_compose_edited(self, edit: object) -> None:
        self._count_problems()
        self.written.emit(cast("Edit", edit))

    @Slot(object)
    def _on_event_arrived(self, event: object) -> None:
        if isinstance(event, RuntimeChanged):
            self.runtime_changed.emit(event)

    @Slot(object)
    def _on_known_error(self, error: KnownError) -> None:
        self.trouble_met.emit(error.text())


def _whole(path: Path) -> Path:
    return path.expanduser().resolve()
