"""The left column of the Threads page: search, filters, and the list itself."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from PySide6.QtCore import QModelIndex, QPoint, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QListView,
    QMenu,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from sa_builder.client.base import RuntimeClient
from sa_builder.errors import KnownError
from sa_builder.spec.threads import ThreadPage, ThreadQuery, ThreadState, ThreadSummary
from sa_builder.ui.tasks import Tasks
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads.list_delegate import ThreadDelegate
from sa_builder.ui.threads.list_model import ROW_ROLE, ListRow, ThreadListModel
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.bars import EmptyState, SearchField
from sa_builder.ui.widgets.buttons import Button
from sa_builder.ui.widgets.marks import Chip, Separator, TextLabel
from sa_builder.ui.widgets.paint import paint_pixmap_centered
from sa_builder.util.clock import SystemClock
from sa_builder.util.ids import ThreadId

_PAGE_ROWS = 100
_SEARCH_DELAY_MS = 150
_AGES_EVERY_MS = 30_000
_FRAME_MS = 33
_FILTERS: tuple[tuple[str, tuple[ThreadState, ...]], ...] = (
    ("All", ()),
    ("Running", ("running",)),
    ("Waiting", ("awaiting_human", "parked")),
    ("Failed", ("failed",)),
)


class NewThreadButton(QWidget):
    """One primary button in two parts: create at once, or choose first.

    Signals:
        pressed_main: the wide part.
        pressed_choose: the arrow.
    """

    pressed_main = Signal()
    pressed_choose = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.main = _JoinedButton(theme, tr("New Thread"), "plus", is_left=True, parent=self)
        self.main.setObjectName("new_thread")
        self.choose = _JoinedButton(theme, "", "chevron_down", is_left=False, parent=self)
        self.choose.setAccessibleName(tr("New thread with choices"))
        self.choose.setToolTip(tr("Choose agent, title and tags…"))
        row.addWidget(self.main)
        row.addWidget(self.choose)
        self.main.clicked.connect(self.pressed_main)
        self.choose.clicked.connect(self.pressed_choose)


class _JoinedButton(Button):
    """A primary button that is square where it meets the other half."""

    def __init__(
        self, theme: Theme, text: str, icon: str, *, is_left: bool, parent: QWidget
    ) -> None:
        super().__init__(theme, text, "primary", icon=icon, parent=parent)
        self._joined_theme = theme
        self._is_left = is_left
        if not is_left:
            self.setFixedWidth(26)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._joined_theme
        name = "pressed" if self.isDown() else "hover" if self.underMouse() else "base"
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color(f"accent.{name}"))
        radius = theme.size("radius.button")
        body = self.rect().adjusted(0, 0, 10, 0) if self._is_left else self.rect()
        if not self._is_left:
            body = body.adjusted(-10, 0, 0, 0)
        painter.drawRoundedRect(body, radius, radius)
        dpr = self.devicePixelRatioF()
        if self._is_left:
            icon = theme.pixmap("plus", "text.on_accent", 16, dpr)
            paint_pixmap_centered(painter, self.rect().toRectF().adjusted(10, 0, 0, 0), icon) if (
                not self.text()
            ) else painter.drawPixmap(QPoint(10, (self.height() - 16) // 2), icon)
            painter.setFont(self.font())
            painter.setPen(theme.color("text.on_accent"))
            rest = self.rect().adjusted(33, 0, 0, 0)
            painter.drawText(rest, Qt.AlignmentFlag.AlignVCenter, self.text())
            return
        line = theme.color("text.on_accent")
        line.setAlpha(90)
        painter.fillRect(QRect(0, 6, 1, self.height() - 12), line)
        icon = theme.pixmap("chevron_down", "text.on_accent", 12, dpr)
        paint_pixmap_centered(painter, self.rect().toRectF(), icon)


class _ListView(QListView):
    """The list; Enter opens, Left and Right fold, and a click on a fold row unfolds.

    Signals:
        opened: a ThreadId.
        fold_wished: a ThreadId and whether its children shall be in sight.
    """

    opened = Signal(str)
    fold_wished = Signal(str, bool)

    def _row_at(self, index: QModelIndex) -> ListRow | None:
        return index.data(ROW_ROLE) if index.isValid() else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        row = self._row_at(index)
        if event.button() == Qt.MouseButton.LeftButton and row is not None and row.parent_id:
            in_chevron = event.position().x() < 48
            if row.kind == "fold":
                self.fold_wished.emit(row.parent_id, True)
                return
            if row.is_first and in_chevron:
                self.fold_wished.emit(row.parent_id, False)
                return
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self._row_at(self.currentIndex())
        owner = None if row is None else row.parent_id or (row.summary and row.summary.id)
        if owner and event.key() in (Qt.Key.Key_Right, Qt.Key.Key_Left):
            self.fold_wished.emit(owner, event.key() == Qt.Key.Key_Right)
            return
        if row is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if row.kind == "fold" and row.parent_id:
                self.fold_wished.emit(row.parent_id, True)
            elif row.summary is not None:
                self.opened.emit(row.summary.id)
            return
        super().keyPressEvent(event)


class ThreadListPanel(QWidget):
    """Lists threads, newest activity first, and says which one is wanted.

    Signals:
        thread_chosen: a ThreadId.
        new_thread_wished: at once, with the agent chosen last.
        new_thread_choices_wished: with the dialog.
        act_wished: an act ("rename", "stop", "terminate", "delete", "copy_id", "show_file") and
            the ThreadSummary.
        failed: a KnownError.
    """

    thread_chosen = Signal(str)
    new_thread_wished = Signal()
    new_thread_choices_wished = Signal()
    act_wished = Signal(str, object)
    failed = Signal(object)

    def __init__(
        self, client: RuntimeClient, tasks: Tasks, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._client = client
        self._tasks = tasks
        self._theme = theme
        self._states: tuple[ThreadState, ...] = ()
        self._asked = 0
        self._holding = 0
        self._has_failed = False
        self._open_id: ThreadId | None = None
        self.setObjectName("panel_left")
        self.setMinimumWidth(220)
        self.model = ThreadListModel(SystemClock(), self)
        self.model.more_wished.connect(self._on_model_more_wished)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._make_head())
        column.addLayout(self._make_search())
        column.addLayout(self._make_chips())
        column.addWidget(Separator(theme, parent=self))
        self._stack = QStackedWidget(self)
        self.view = self._make_view()
        self._empty = EmptyState(theme, "threads", "", "", parent=self)
        self._stack.addWidget(self.view)
        self._stack.addWidget(self._empty)
        column.addWidget(self._stack, 1)
        self._search_timer = QTimer(self, singleShot=True, interval=_SEARCH_DELAY_MS)
        self._search_timer.timeout.connect(self.reload)
        self._changes: dict[ThreadId, ThreadSummary] = {}
        self._frame = QTimer(self, singleShot=True, interval=_FRAME_MS)
        self._frame.timeout.connect(self.show_changes)
        self._age_timer = QTimer(self, interval=_AGES_EVERY_MS)
        self._age_timer.timeout.connect(self.model.touch_ages)
        theme.changed.connect(self.update)

    def _make_head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(12, 8, 10, 8)
        row.setSpacing(6)
        row.addWidget(TextLabel(self._theme, tr("Threads"), "heading", parent=self))
        self._count = TextLabel(self._theme, "", "small", "text.muted", parent=self)
        row.addWidget(self._count)
        row.addStretch(1)
        self.new_button = NewThreadButton(self._theme, self)
        self.new_button.pressed_main.connect(self.new_thread_wished)
        self.new_button.pressed_choose.connect(self.new_thread_choices_wished)
        self.new_button.setVisible(self._client.writable)
        row.addWidget(self.new_button)
        return row

    def _make_search(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(10, 8, 10, 8)
        self.search = SearchField(self._theme, tr("Search messages, tags, ids"), parent=self)
        self.search.textChanged.connect(self._on_search_text_changed)
        row.addWidget(self.search)
        return row

    def _make_chips(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(10, 0, 10, 8)
        row.setSpacing(5)
        self.chips: dict[str, Chip] = {}
        for name, states in _FILTERS:
            chip = Chip(self._theme, tr(name), checkable=True, parent=self)
            chip.setChecked(not states)
            chip.setProperty("filter", name)
            chip.clicked.connect(self._on_chip_clicked)
            self.chips[name] = chip
            row.addWidget(chip)
        row.addStretch(1)
        return row

    def _make_view(self) -> _ListView:
        view = _ListView(self)
        view.setObjectName("thread_list")
        view.setAccessibleName(tr("Threads"))
        view.setModel(self.model)
        view.setItemDelegate(ThreadDelegate(self._theme, view))
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setMouseTracking(True)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._on_view_menu_requested)
        view.selectionModel().currentChanged.connect(self._on_view_current_changed)
        view.opened.connect(self.thread_chosen)
        view.fold_wished.connect(self._on_view_fold_wished)
        return view

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(event.rect(), self._theme.color("surface.panel"))

    # what the page calls

    def start(self) -> None:
        """Load the first page and keep ages true from now on."""
        self._age_timer.start()
        self.reload()

    def shutdown(self) -> None:
        """Stop every timer."""
        self._age_timer.stop()
        self._frame.stop()
        self._search_timer.stop()

    @Slot()
    def reload(self) -> None:
        """Ask for the first page anew."""
        self._asked += 1
        self._tasks.start(self._load_first(self._asked), on_error=self._on_failed)

    def retry(self) -> None:
        """Ask again if the last answer was a refusal: the runtime was not up yet."""
        if self._has_failed:
            self._has_failed = False
            self.reload()

    def select(self, thread_id: ThreadId) -> None:
        """Mark a thread as the open one, without opening it again."""
        self.show_changes()
        summary = self.model.summary_of(thread_id)
        is_other = self._open_id != thread_id
        self._open_id = thread_id
        with self._held():
            if summary is not None and summary.parent_id is not None:
                self.model.set_open(summary.parent_id, True)
            elif summary is not None and is_other:
                self.model.set_open(thread_id, True)
        if is_other:
            self.view.scrollTo(self.model.index_of(thread_id))

    def take_change(self, summary: ThreadSummary) -> None:
        """Show a thread's new state, if it belongs in this list; at most 30 times a second."""
        self._changes[summary.id] = summary
        if not self._frame.isActive():
            self._frame.start()

    @Slot()
    def show_changes(self) -> None:
        """Show at once what changed since the last frame."""
        self._frame.stop()
        changes, self._changes = self._changes, {}
        if not changes:
            return
        for summary in changes.values():
            known = self.model.summary_of(summary.id)
            if summary.parent_id is None and (known is None or known.state != summary.state):
                self._recount(known, summary)
        with self._held():
            for summary in changes.values():
                self.model.update_thread(summary, matches=self._matches(summary))
        self._show_figures()

    def take_removal(self, thread_id: ThreadId) -> None:
        """Take a deleted thread away."""
        self._changes.pop(thread_id, None)
        if self._open_id == thread_id:
            self._open_id = None
        with self._held():
            self.model.remove_thread(thread_id)
        self.reload()

    def take_children(self, children: Sequence[ThreadSummary]) -> None:
        """Enter a thread's children."""
        with self._held():
            self.model.add_children(children)

    @contextmanager
    def _held(self) -> Generator[None, None, None]:
        """Change rows while the mark stays on the open thread, and open nothing by it."""
        self._holding += 1
        self.view.setAutoScroll(False)
        try:
            yield
            found = self.model.index_of(self._open_id) if self._open_id else QModelIndex()
            self.view.setCurrentIndex(found)
        finally:
            self._holding -= 1
            self.view.setAutoScroll(True)

    # loading

    def _query(self) -> ThreadQuery:
        return ThreadQuery(text=self.search.text().strip(), states=self._states, limit=_PAGE_ROWS)

    async def _load_first(self, asked: int) -> None:
        """Show the first page, unless it was asked for again meanwhile."""
        query = self._query()
        page = await self._client.list_threads(query)
        if asked != self._asked:
            return
        with self._held():
            self.model.set_page(page)
        await self._load_children(query, page)
        self._show_figures()

    async def _load_more(self) -> None:
        last = self.model.last_thread
        if last is None:
            return
        query = self._query().model_copy(
            update={"before_us": last.updated_at_us, "before_id": last.id}
        )
        page = await self._client.list_threads(query)
        with self._held():
            self.model.append_page(page)
        await self._load_children(query, page)

    async def _load_children(self, query: ThreadQuery, page: ThreadPage) -> None:
        """Find the page's children by one more query of the same stretch of time."""
        if not page.rows:
            return
        wide = ThreadQuery(top_level_only=False, before_us=query.before_us, limit=1000)
        found = await self._client.list_threads(wide)
        self.take_children([one for one in found.rows if one.parent_id is not None])

    def _show_figures(self) -> None:
        self._count.setText(f"{self.model.total:,}")
        counts = self.model.counts
        for name, states in _FILTERS:
            if states:
                count = sum(counts.get(state, 0) for state in states)
                self.chips[name].setText(f"{tr(name)} {count:,}")
                self.chips[name].updateGeometry()
        if self.model.rowCount():
            self._stack.setCurrentWidget(self.view)
            return
        if self.search.text().strip() or self._states:
            self._empty.set_text(tr("No thread matches"), tr("Other words or All show more."))
        else:
            self._empty.set_text(
                tr("No threads yet"), tr("New Thread starts one with an agent of this project.")
            )
        self._stack.setCurrentWidget(self._empty)

    def _recount(self, known: ThreadSummary | None, now: ThreadSummary) -> None:
        counts = dict(self.model.counts)
        if known is not None:
            counts[known.state] = max(0, counts.get(known.state, 0) - 1)
        counts[now.state] = counts.get(now.state, 0) + 1
        total = self.model.total
        if known is None and self._matches(now):
            total += 1
        self.model.set_counts(ThreadPage(rows=(), total=total, counts=counts))

    def _matches(self, summary: ThreadSummary) -> bool:
        if self._states and summary.state not in self._states:
            return False
        where = " ".join((summary.title, summary.preview, summary.id, *summary.tags)).lower()
        return all(word in where for word in self.search.text().lower().split())

    # slots

    @Slot(str)
    def _on_search_text_changed(self, text: str) -> None:
        self._search_timer.start()

    @Slot()
    def _on_chip_clicked(self) -> None:
        name = str(self.sender().property("filter"))
        for other, chip in self.chips.items():
            chip.setChecked(other == name)
        self._states = dict(_FILTERS)[name]
        self.reload()

    @Slot()
    def _on_model_more_wished(self) -> None:
        self._tasks.start(self._load_more(), on_error=self._on_failed)

    @Slot(QModelIndex, QModelIndex)
    def _on_view_current_changed(self, current: QModelIndex, before: QModelIndex) -> None:
        row = current.data(ROW_ROLE)
        if self._holding or row is None or row.summary is None:
            return
        if row.kind in ("thread", "child"):
            self.thread_chosen.emit(row.summary.id)

    @Slot(str, bool)
    def _on_view_fold_wished(self, thread_id: str, is_open: bool) -> None:
        with self._held():
            self.model.set_open(ThreadId(thread_id), is_open)

    @Slot(QPoint)
    def _on_view_menu_requested(self, place: QPoint) -> None:
        row = self.view.indexAt(place).data(ROW_ROLE)
        if row is None or row.summary is None or row.kind == "fold":
            return
        menu = thread_menu(self._theme, row.summary, self._client.writable, self)
        menu.triggered.connect(
            lambda action: self.act_wished.emit(str(action.data()), row.summary)  # pyright: ignore
        )
        menu.popup(self.view.viewport().mapToGlobal(place))

    def _on_failed(self, error: KnownError) -> None:
        self._has_failed = True
        self._empty.set_text(error.sentence, error.act)
        if not self.model.rowCount():
            self._stack.setCurrentWidget(self._empty)
        self.failed.emit(error)


def thread_menu(
    theme: Theme, summary: ThreadSummary, writable: bool, parent: QWidget | QToolButton
) -> QMenu:
    """What can be done with a thread; each action's data is the act's name."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    ended = summary.state == "terminated"
    acts: list[tuple[str, str, str, bool]] = []
    if writable:
        acts += [
            ("rename", tr("Rename…"), "edit", True),
            ("stop", tr("Stop"), "stop", summary.state in ("running", "parked")),
            ("terminate", tr("Terminate…"), "lock", not ended),
            ("", "", "", False),
        ]
    acts += [
        ("copy_id", tr("Copy id"), "copy", True),
        ("show_file", tr("Show thread file"), "folder", True),
    ]
    if writable:
        acts += [("", "", "", False), ("delete", tr("Delete…"), "trash", True)]
    for act, title, icon, enabled in acts:
        if not act:
            menu.addSeparator()
            continue
        token = "state.failed_text" if act == "delete" else "text.secondary"
        action = menu.addAction(theme.icon(icon, token), title)
        action.setData(act)
        action.setEnabled(enabled)
    return menu


def copy_text(text: str) -> None:
    """Put text on the clipboard."""
    QGuiApplication.clipboard().setText(text)
