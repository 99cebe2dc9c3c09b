"""The Threads page: list, chat, and the logs and figures of the open thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from sa_builder.client.base import RuntimeClient
from sa_builder.errors import KnownError
from sa_builder.spec.events import LogStored, RuntimeChanged, ThreadChanged, ThreadDeleted
from sa_builder.spec.threads import (
    AgentSummary,
    CreateThread,
    ThreadDetails,
    ThreadQuery,
    ThreadSummary,
)
from sa_builder.ui.actions import ActionRegistry
from sa_builder.ui.link import RuntimeLink
from sa_builder.ui.logs.panel import LogsPanel
from sa_builder.ui.tasks import Tasks
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads.asks import ask_delete, ask_terminate, ask_title
from sa_builder.ui.threads.chat_panel import ChatPanel
from sa_builder.ui.threads.inspector import Inspector
from sa_builder.ui.threads.list_panel import ThreadListPanel, copy_text
from sa_builder.ui.threads.memory import ThreadsMemory
from sa_builder.ui.threads.new_thread import LastChoice, NewThreadDialog, fitting_agent
from sa_builder.ui.threads.side_panel import SidePanel, make_tabs
from sa_builder.ui.threads.words import tr
from sa_builder.util.ids import ThreadId

_LOGS_BESIDE_FROM_PX = 1280 - 48
_LIST_BESIDE_FROM_PX = 1000 - 48
_LOGS_LEAST_PX = 504
_KEEP_AFTER_MS = 500
"""A pause in typing after which the draft is kept."""


class ThreadsPage(QWidget):
    """Puts the three columns together and carries wishes and events between them.

    Signals:
        status_said: what was done, in one sentence.
        open_definition_requested: an address such as "prompts/triage".
        memory_changed: there is something else to keep for the next window.
    """

    status_said = Signal(str)
    open_definition_requested = Signal(str)
    memory_changed = Signal()

    def __init__(
        self,
        client: RuntimeClient,
        link: RuntimeLink,
        tasks: Tasks,
        theme: Theme,
        actions: ActionRegistry,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._client = client
        self._link = link
        self._tasks = tasks
        self._theme = theme
        self._last = LastChoice()
        self._first_agent: Callable[[], str | None] = lambda: None
        self._details: ThreadDetails | None = None
        self._is_creating = False
        self._is_narrow = False
        self._has_drawer = False
        self.list_panel = ThreadListPanel(client, tasks, theme)
        self.chat = ChatPanel(client, tasks, theme)
        self.logs = LogsPanel(client, tasks, theme)
        self.inspector = Inspector(theme)
        self._keep_timer = QTimer(self, singleShot=True, interval=_KEEP_AFTER_MS)
        self.side = SidePanel(theme, self.logs, self.inspector)
        self._lay_out()
        self._connect()
        self._add_actions(actions)
        theme.changed.connect(self.update)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        self.splitter = QSplitter(Qt.Orientation.Horizontal, self)
        self.splitter.setObjectName("threads_splitter")
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        self._center = QWidget(self)
        center = QVBoxLayout(self._center)
        center.setContentsMargins(0, 0, 0, 0)
        center.setSpacing(0)
        self.narrow_tabs = make_tabs(self, (tr("Chat"), tr("Logs"), tr("Inspector")))
        self.narrow_tabs.currentChanged.connect(self._on_narrow_tabs_current_changed)
        self.narrow_tabs.setStyleSheet("QTabBar::tab { min-height: 34px; }")
        self.narrow_tabs.hide()
        strip = QHBoxLayout()
        strip.setContentsMargins(8, 0, 8, 0)
        strip.addWidget(self.narrow_tabs)
        center.addLayout(strip)
        self._center_stack = QStackedWidget(self._center)
        self._center_stack.addWidget(self.chat)
        center.addWidget(self._center_stack, 1)
        self.splitter.addWidget(self.list_panel)
        self.splitter.addWidget(self._center)
        self.splitter.addWidget(self.side)
        self.side.setMinimumWidth(_LOGS_LEAST_PX)
        for place, stretch in ((0, 0), (1, 1), (2, 0)):
            self.splitter.setStretchFactor(place, stretch)
        size = self._theme.size
        self.splitter.setSizes([size("thread_list_width"), 592, size("logs_width")])
        column.addWidget(self.splitter)

    def _connect(self) -> None:
        self._keep_timer.timeout.connect(self.memory_changed)
        self.chat.composer.field.textChanged.connect(self._keep_timer.start)
        self._link.event_arrived.connect(self._on_link_event_arrived)
        self.list_panel.thread_chosen.connect(self._on_thread_wished)
        self.list_panel.new_thread_wished.connect(self._on_new_thread_wished)
        self.list_panel.new_thread_choices_wished.connect(self._on_choices_wished)
        self.list_panel.act_wished.connect(self._on_act_wished)
        self.chat.thread_wished.connect(self._on_thread_wished)
        self.chat.act_wished.connect(self._on_act_wished)
        self.chat.link_wished.connect(self._on_link_wished)
        self.chat.loaded.connect(self._on_chat_loaded)
        self.chat.list_wished.connect(self._on_list_wished)
        self.chat.create_wished.connect(self._on_new_thread_wished)
        self.logs.said.connect(self.status_said)
        self.logs.definition_wished.connect(self.open_definition_requested)
        self.logs.total_changed.connect(self._on_logs_total_changed)
        self.logs.rows_learned.connect(self.chat.take_logs)
        self.inspector.thread_wished.connect(self._on_thread_wished)
        self.inspector.definition_wished.connect(self.open_definition_requested)
        for source in (self.list_panel, self.chat, self.logs):
            source.failed.connect(self._on_failed)

    def _add_actions(self, actions: ActionRegistry) -> None:
        actions.add(
            "threads.search",
            tr("Search threads"),
            self.focus_search,
            shortcut="Ctrl+F",
            icon="search",
            scope=self,
            group="View",
        )
        actions.add(
            "threads.filter_logs",
            tr("Filter log rows"),
            self.focus_filter,
            shortcut="Ctrl+Shift+L",
            icon="filter",
            scope=self,
            group="View",
        )
        actions.add(
            "threads.compose",
            tr("Write a message"),
            self.chat.focus_composer,
            shortcut="Ctrl+L",
            icon="edit",
            scope=self,
            group="Run",
        )
        if self._client.writable:
            actions.add(
                "threads.stop",
                tr("Stop the open thread"),
                self.stop_open_thread,
                shortcut="Ctrl+.",
                icon="stop",
                scope=self,
                group="Run",
            )

    # what the window calls

    def start(self) -> None:
        """Load the list; an archive opens its one thread at once."""
        self.list_panel.start()
        if not self._client.writable:
            self._tasks.start(self._open_first(), on_error=self._on_failed)

    @property
    def memory(self) -> ThreadsMemory:
        """What the next window is to know."""
        return ThreadsMemory(
            last_agent=self._last.agent_name,
            open_thread=self.chat.thread_id,
            drafts=self.chat.drafts,
        )

    def restore(self, memory: ThreadsMemory, first_agent: Callable[[], str | None]) -> None:
        """Go on where the window before ended.

        Args:
            first_agent: the agent New Thread starts as long as none was chosen.
        """
        self._last = LastChoice(memory.last_agent, self._last.tags)
        self._first_agent = first_agent
        self.chat.restore_drafts(memory.drafts)
        if memory.open_thread is not None:
            self._tasks.start(self._reopen(ThreadId(memory.open_thread)))

    @Slot()
    def new_thread(self, agent_name: str | None = None) -> None:
        """Start a thread at once when nothing has to be asked, else open the dialog.

        While one is being started, another wish is passed over.

        Args:
            agent_name: the agent to start; None takes the one chosen last, or the first.
        """
        if not self._is_creating:
            self._is_creating = True
            self._tasks.start(self._new_thread(agent_name), on_error=self._on_failed)

    def show_thread(self, thread_id: ThreadId) -> None:
        """Open a thread."""
        self.list_panel.select(thread_id)
        self.chat.show_thread(thread_id)

    def shutdown(self) -> None:
        """Stop timers and listening; nothing is loaded afterwards."""
        self._keep_timer.stop()
        self._link.event_arrived.disconnect(self._on_link_event_arrived)
        for panel in (self.list_panel, self.chat, self.logs):
            panel.shutdown()

    def focus_search(self) -> None:
        """Put the keyboard into the list's search."""
        if self._has_drawer:
            self._show_drawer(True)
        self.list_panel.search.setFocus()

    def focus_filter(self) -> None:
        """Put the keyboard into the logs' filter."""
        self.show_logs()
        self.logs.filter.line.setFocus()

    def show_logs(self) -> None:
        """Bring the logs to the front, wherever they are."""
        self.side.tabs.setCurrentIndex(0)
        self.narrow_tabs.setCurrentIndex(1)

    def stop_open_thread(self) -> None:
        """Cancel the running turn of the open thread."""
        if self.chat.thread_id is not None:
            self._tasks.start(
                self._client.stop_thread(self.chat.thread_id), on_error=self._on_failed
            )

    # making and opening threads

    async def _reopen(self, thread_id: ThreadId) -> None:
        try:
            await self._client.get_thread(thread_id)
        except KnownError:
            return  # it was deleted meanwhile
        if self.chat.thread_id is None:
            self.show_thread(thread_id)

    async def _open_first(self) -> None:
        page = await self._client.list_threads(ThreadQuery(limit=1))
        if page.rows:
            self.show_thread(page.rows[0].id)

    async def _new_thread(self, agent_name: str | None) -> None:
        try:
            await self._create_or_ask(agent_name)
        finally:
            self._is_creating = False

    async def _create_or_ask(self, agent_name: str | None) -> None:
        agents = [agent for agent in await self._client.list_agents() if agent.primary]
        named = agent_name or self._wanted_agent()
        known = await self._client.list_agents() if agent_name else agents
        chosen = fitting_agent(known, named)
        if chosen is not None and (agent_name is None or chosen.name == agent_name):
            await self._create(CreateThread(agent_name=chosen.name, tags=self._last.tags))
            return
        self._ask(known, LastChoice(named, self._last.tags))

    async def _choose(self) -> None:
        last = LastChoice(self._wanted_agent(), self._last.tags)
        self._ask(await self._client.list_agents(), last)

    def _wanted_agent(self) -> str | None:
        return self._last.agent_name or self._first_agent()

    def _ask(self, agents: Sequence[AgentSummary], last: LastChoice) -> None:
        dialog = NewThreadDialog(self._theme, agents, last, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.create_wished.connect(self._on_create_wished)
        dialog.open()

    async def _create(self, wish: CreateThread) -> None:
        self.status_said.emit(f"{tr('Starting a thread of')} {wish.agent_name}…")
        summary = await self._client.create_thread(wish)
        self._last = LastChoice(summary.agent_name, tuple(wish.tags))
        self.list_panel.take_change(summary)
        self.show_thread(summary.id)
        self.chat.focus_composer()
        self.status_said.emit(f"{tr('Started a thread of')} {summary.agent_name}.")

    async def _act(self, act: str, summary: ThreadSummary) -> None:
        client, thread_id = self._client, summary.id
        if act == "rename":
            title = await ask_title(self._theme, summary, self)
            if title is not None:
                await client.set_thread_title(thread_id, title)
        elif act == "stop":
            await client.stop_thread(thread_id)
        elif act == "terminate":
            if await ask_terminate(self._theme, summary, self):
                await client.terminate_thread(thread_id)
                self.status_said.emit(f"{tr('Terminated')} “{summary.title}”.")
        elif act == "delete":
            count = len((await client.get_thread(thread_id)).children)
            if await ask_delete(self._theme, summary, count, self):
                await client.delete_thread(thread_id)
                self.status_said.emit(f"{tr('Deleted')} “{summary.title}”.")
        elif act == "copy_id":
            copy_text(thread_id)
            self.status_said.emit(f"{tr('Copied')} {thread_id}.")
        elif act == "show_file":
            path = await client.thread_file(thread_id)
            self.status_said.emit(str(path))
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))

    # events

    @Slot(object)
    def _on_link_event_arrived(self, event: object) -> None:
        if isinstance(event, ThreadChanged):
            self.list_panel.take_change(event.summary)
            self.chat.take_event(event)
            self._refresh_inspector()
        elif isinstance(event, ThreadDeleted):
            self.list_panel.take_removal(event.thread_id)
            if self.chat.thread_id == event.thread_id:
                self.logs.show_thread(None)
            self.chat.forget(event.thread_id)
            self.memory_changed.emit()
        elif isinstance(event, LogStored):
            self.logs.take_event(event)
            self.chat.take_logs([event.row])
        elif isinstance(event, RuntimeChanged):
            self.list_panel.retry()
        else:
            self.chat.take_event(event)  # pyright: ignore[reportArgumentType]

    @Slot(object)
    def _on_chat_loaded(self, details: ThreadDetails) -> None:
        self._details = details
        self.logs.show_thread(details.summary.id)
        conversation = self.chat.conversation
        if conversation is not None:
            self.list_panel.take_children(
                [child.summary for child in conversation.children.values()]
            )
        self.list_panel.select(details.summary.id)
        self._refresh_inspector()
        self.memory_changed.emit()

    def _refresh_inspector(self) -> None:
        conversation = self.chat.conversation
        if conversation is not None:
            children = [child.summary for child in conversation.children.values()]
            self.inspector.show_thread(conversation.details, children)

    # wishes

    @Slot(str)
    def _on_thread_wished(self, thread_id: str) -> None:
        if self._has_drawer:
            self._show_drawer(False)
        if self.chat.thread_id != thread_id:
            self.show_thread(ThreadId(thread_id))

    @Slot()
    def _on_new_thread_wished(self) -> None:
        self.new_thread(None)

    @Slot()
    def _on_choices_wished(self) -> None:
        self._tasks.start(self._choose(), on_error=self._on_failed)

    @Slot(object)
    def _on_create_wished(self, wish: CreateThread) -> None:
        self._tasks.start(self._create(wish), on_error=self._on_failed)

    @Slot(str, object)
    def _on_act_wished(self, act: str, summary: ThreadSummary) -> None:
        self._tasks.start(self._act(act, summary), on_error=self._on_failed)

    @Slot(str)
    def _on_link_wished(self, link: str) -> None:
        url = QUrl(link)
        if url.scheme() in ("http", "https"):
            QDesktopServices.openUrl(url)
        else:
            self.status_said.emit(f"{tr('Not opened: only web links of a message are')}: {link}")

    @Slot(int)
    def _on_logs_total_changed(self, total: int) -> None:
        text = f"{tr('Logs')} {total:,}" if total else tr("Logs")
        self.side.tabs.setTabText(0, text)
        self.narrow_tabs.setTabText(1, text)

    def _on_failed(self, error: KnownError) -> None:
        self.status_said.emit(error.text())

    # room

    def sizeHint(self) -> QSize:
        return QSize(1552, 936)

    def minimumSizeHint(self) -> QSize:
        return QSize(480, 360)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(event.rect(), self._theme.color("surface.panel"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width = event.size().width()
        if (width < _LOGS_BESIDE_FROM_PX) != self._is_narrow:
            self._set_narrow(not self._is_narrow)
        if (width < _LIST_BESIDE_FROM_PX) != self._has_drawer:
            self._set_drawer(not self._has_drawer)
        self._place_drawer()

    def _set_narrow(self, narrow: bool) -> None:
        self._is_narrow = narrow
        self.narrow_tabs.setVisible(narrow)
        self.side.set_strip_visible(not narrow)
        if narrow:
            self._center_stack.addWidget(self.side)
            self.side.setMinimumWidth(0)
            self._on_narrow_tabs_current_changed(self.narrow_tabs.currentIndex())
        else:
            self.splitter.addWidget(self.side)
            self.side.setMinimumWidth(_LOGS_LEAST_PX)
            self.side.show()
            self._center_stack.setCurrentWidget(self.chat)
            size = self._theme.size
            logs = size("logs_width")
            list_width = self.list_panel.width()
            self.splitter.setSizes([list_width, self.width() - list_width - logs, logs])

    def _set_drawer(self, drawer: bool) -> None:
        self._has_drawer = drawer
        self.chat.header.list_button.setVisible(drawer)
        if drawer:
            self.list_panel.setParent(self)
            self.list_panel.hide()
        else:
            self.splitter.insertWidget(0, self.list_panel)
            self.list_panel.show()

    def _show_drawer(self, shown: bool) -> None:
        self.list_panel.setVisible(shown)
        self._place_drawer()
        self.list_panel.raise_()

    def _place_drawer(self) -> None:
        if self._has_drawer:
            width = self._theme.size("thread_list_width")
            self.list_panel.setGeometry(0, 0, width, self.height())

    @Slot()
    def _on_list_wished(self) -> None:
        self._show_drawer(not self.list_panel.isVisible())

    @Slot(int)
    def _on_narrow_tabs_current_changed(self, at: int) -> None:
        if not self._is_narrow:
            return
        self._center_stack.setCurrentWidget(self.side if at else self.chat)
        if at:
            self.side.tabs.setCurrentIndex(at - 1)
