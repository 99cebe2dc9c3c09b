"""The right column of the Threads page: the log table over the details of one row."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QSplitter,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from sa_builder.client.base import RuntimeClient
from sa_builder.errors import KnownError
from sa_builder.spec.events import LogStored
from sa_builder.spec.logs import LogPage, LogQuery, LogRow
from sa_builder.ui.logs.details import LogDetailsView
from sa_builder.ui.logs.filter_box import FilterBox
from sa_builder.ui.logs.row_delegate import LogDelegate
from sa_builder.ui.logs.table_model import (
    COST,
    ROW_ROLE,
    SIDE,
    STATE,
    STEP,
    TIME,
    TIMELINE,
    TOKENS,
    TURN,
    LogTableModel,
)
from sa_builder.ui.tasks import Tasks
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads.ink import Ink
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.bars import EmptyState
from sa_builder.ui.widgets.buttons import Button, IconButton
from sa_builder.ui.widgets.marks import Separator
from sa_builder.util.clock import SystemClock
from sa_builder.util.ids import LogId, ThreadId

PAGE_ROWS = 200
_FOLLOW_PAGE_ROWS = 1000
_FOLLOW_MOST_ROWS = 5000
_FRAME_MS = 33
_FILTER_DELAY_MS = 150
_WIDTHS = {TIME: 100, SIDE: 40, TURN: 36, TIMELINE: 152, TOKENS: 60, COST: 64, STATE: 36}
_HIDDEN_BELOW = ((TURN, 620), (SIDE, 590), (TOKENS, 560))


class LogTable(QTableView):
    """The table of rows.

    Signals:
        resized: its width changed.
    """

    resized = Signal()

    def __init__(self, theme: Theme, model: LogTableModel, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("log_table")
        self.setAccessibleName(tr("Log rows"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setModel(model)
        self._ink = Ink(theme)
        self.setItemDelegate(LogDelegate(theme, self._ink, self))
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setDefaultSectionSize(theme.size("row_log"))
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(20)
        header.setStyleSheet("QHeaderView::section:first { padding-left: 12px; }")
        for column, width in _WIDTHS.items():
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            self.setColumnWidth(column, width)
        header.setSectionResizeMode(STEP, QHeaderView.ResizeMode.Stretch)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._set_hover(self.indexAt(event.position().toPoint()))
        super().mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._set_hover(QModelIndex())
        super().leaveEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        for column, least in _HIDDEN_BELOW:
            self.setColumnHidden(column, event.size().width() < least)
        super().resizeEvent(event)
        self.resized.emit()

    def _set_hover(self, index: QModelIndex) -> None:
        place = self.visualRect(index).y() if index.isValid() else -1
        if place != self.property("hover_row"):
            self.setProperty("hover_row", place)
            self.viewport().update()


class LogsPanel(QWidget):
    """Rows of the open thread and what was kept of the chosen one.

    Signals:
        said: a sentence for the status bar.
        failed: a KnownError.
        definition_wished: an address.
        total_changed: how many rows match, with those of children that are shown, int.
        rows_learned: a list of LogRow that were fetched.
    """

    said = Signal(str)
    failed = Signal(object)
    definition_wished = Signal(str)
    total_changed = Signal(int)
    rows_learned = Signal(object)

    def __init__(
        self, client: RuntimeClient, tasks: Tasks, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._client = client
        self._tasks = tasks
        self._theme = theme
        self._thread_id: ThreadId | None = None
        self._chosen: tuple[ThreadId, LogId] | None = None
        self._live: list[LogRow] = []
        self._new_count = 0
        self._asked = 0
        self.model = LogTableModel(SystemClock(), self)
        self.model.more_wished.connect(self._on_model_more_wished)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._make_filter_row())
        self.splitter = QSplitter(Qt.Orientation.Vertical, self)
        self.splitter.setObjectName("logs_splitter")
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        self._stack = QStackedWidget(self)
        self.table = LogTable(theme, self.model, self)
        self._empty = EmptyState(theme, "waterfall", "", "", parent=self)
        self._stack.addWidget(self.table)
        self._stack.addWidget(self._empty)
        self.splitter.addWidget(self._stack)
        self.splitter.addWidget(self._make_details())
        self.splitter.setStretchFactor(0, 1)
        self.splitter.setSizes([490, 410])
        column.addWidget(self.splitter, 1)
        self.table.selectionModel().currentRowChanged.connect(self._on_table_current_changed)
        self.table.verticalScrollBar().valueChanged.connect(self._on_bar_value_changed)
        self.table.resized.connect(self._place_new_button)
        self.new_button = Button(theme, "", icon="chevron_down", small=True, parent=self.table)
        self.new_button.hide()
        self.new_button.clicked.connect(self.scroll_to_end)
        self._frame = QTimer(self, singleShot=True, interval=_FRAME_MS)
        self._frame.timeout.connect(self._on_frame_timeout)
        self._delay = QTimer(self, singleShot=True, interval=_FILTER_DELAY_MS)
        self._delay.timeout.connect(self.reload)
        self._show_figures()

    def _make_filter_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(10, 8, 10, 8)
        row.setSpacing(6)
        self.filter = FilterBox(self._theme, self)
        self.filter.changed.connect(self._on_filter_changed)
        row.addWidget(self.filter, 1)
        self.children_button = IconButton(
            self._theme,
            "subagent",
            tr("Include rows of child threads"),
            checkable=True,
            parent=self,
        )
        self.children_button.setObjectName("include_children")
        self.children_button.toggled.connect(self.filter.set_includes_children)
        row.addWidget(self.children_button, 0, Qt.AlignmentFlag.AlignTop)
        self.follow = IconButton(
            self._theme, "follow", tr("Follow new rows"), checkable=True, parent=self
        )
        self.follow.setObjectName("follow_tail")
        self.follow.setChecked(True)
        self.follow.toggled.connect(self._on_follow_toggled)
        row.addWidget(self.follow, 0, Qt.AlignmentFlag.AlignTop)
        return row

    def _make_details(self) -> QWidget:
        self._details_stack = QStackedWidget(self)
        self._details_stack.setMinimumHeight(160)
        self._details_stack.addWidget(
            EmptyState(
                self._theme,
                "waterfall",
                tr("No row is chosen"),
                tr("Choose one to see its request, response, tools, time and cost."),
                parent=self,
            )
        )
        holder = QWidget(self)
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Separator(self._theme, parent=holder))
        self.details = LogDetailsView(self._theme, self._tasks, holder)
        self.details.said.connect(self.said)
        self.details.failed.connect(self.failed)
        self.details.definition_wished.connect(self.definition_wished)
        column.addWidget(self.details, 1)
        self._details_stack.addWidget(holder)
        return self._details_stack

    def sizeHint(self) -> QSize:
        return QSize(self._theme.size("logs_width"), 800)

    # what the page calls

    def show_thread(self, thread_id: ThreadId | None) -> None:
        """Show a thread's rows; None shows nothing."""
        self._thread_id = thread_id
        self._chosen = None
        self._live.clear()
        self._details_stack.setCurrentIndex(0)
        self.model.clear()
        self.follow.setChecked(True)
        self._set_new_count(0)
        if thread_id is None:
            self._show_figures()
        else:
            self.reload()

    @Slot()
    def reload(self) -> None:
        """Ask for the first page anew, with the filter as it stands."""
        if self._thread_id is None:
            return
        self._asked += 1
        self._tasks.start(self._load_first(self._thread_id, self._asked), on_error=self._on_failed)

    def take_event(self, event: LogStored) -> None:
        """Show a row that began or ended."""
        row = event.row
        if self._thread_id is None:
            return
        if row.thread_id != self._thread_id and not self.filter.includes_children:
            return
        self._live.append(row)
        if not self._frame.isActive():
            self._frame.start()

    def choose(self, thread_id: ThreadId, log_id: LogId) -> bool:
        """Mark a loaded row and show its details; False when it is not loaded."""
        place = self.model.place_of(thread_id, log_id)
        if place is None:
            return False
        self.table.selectRow(place)
        self.table.scrollTo(self.model.index(place, 0))
        return True

    def row_point(self, thread_id: ThreadId, log_id: LogId) -> QPoint | None:
        """The middle of a row in the table's viewport; None when it is not in sight."""
        place = self.model.place_of(thread_id, log_id)
        if place is None:
            return None
        rect = self.table.visualRect(self.model.index(place, 0))
        return rect.center() if self.table.viewport().rect().contains(rect.center()) else None

    @Slot()
    def scroll_to_end(self) -> None:
        """Go to the last row and follow from there."""
        self.follow.setChecked(True)
        self.table.scrollToBottom()
        self._set_new_count(0)

    def shutdown(self) -> None:
        """Stop every timer."""
        self._frame.stop()
        self._delay.stop()

    # loading

    async def _load_first(self, thread_id: ThreadId, asked: int) -> None:
        """Show the first page, unless it was asked for again meanwhile."""
        page = await self._page(thread_id, self.filter.filter.query(limit=PAGE_ROWS))
        if thread_id != self._thread_id or asked != self._asked:
            return
        chosen = self._chosen
        self.model.set_page(page)
        self.rows_learned.emit(list(page.rows))
        self._show_figures()
        if chosen is not None:
            self.choose(*chosen)
        await self._load_tail(thread_id)

    async def _load_tail(self, thread_id: ThreadId) -> None:
        while (
            self.follow.isChecked()
            and self.model.has_more
            and len(self.model.rows) < _FOLLOW_MOST_ROWS
            and thread_id == self._thread_id
        ):
            await self._load_more(thread_id, _FOLLOW_PAGE_ROWS)
        if self.follow.isChecked():
            self.table.scrollToBottom()

    async def _load_more(self, thread_id: ThreadId, limit: int) -> None:
        own = [row.id for row in self.model.rows if row.thread_id == thread_id]
        query = self.filter.filter.query(limit=limit, after_id=own[-1] if own else None)
        page = await self._page(thread_id, query)
        if thread_id == self._thread_id:
            self.model.append_page(page)
            self.rows_learned.emit(list(page.rows))
            self._show_figures()

    async def _page(self, thread_id: ThreadId, query: LogQuery) -> LogPage:
        """A page of the thread's own rows, with the children's where they are wanted."""
        wide = query.model_copy(update={"include_children": self.filter.includes_children})
        return await self._client.list_logs(thread_id, wide)

    async def _load_details(self, row: LogRow) -> None:
        details = await self._client.get_log(row.thread_id, row.id)
        acts = await self._client.list_acts(row.thread_id)
        if self._chosen == (row.thread_id, row.id):
            self.details.show_details(details, self._related(row), acts)
            self._details_stack.setCurrentIndex(1)

    def _related(self, row: LogRow) -> Sequence[LogRow]:
        """What the same step called, for the waterfall."""
        if row.kind != "model" or not row.tools_called:
            return ()
        return [
            other
            for other in self.model.rows
            if other.thread_id == row.thread_id
            and (other.turn, other.step) == (row.turn, row.step)
            and other.kind in ("tool", "child", "policy", "hook")
            and other.created_at_us >= row.created_at_us
        ]

    # what is shown

    def _show_figures(self) -> None:
        of_children = sum(1 for row in self.model.rows if row.thread_id != self._thread_id)
        self.total_changed.emit(self.model.total + of_children)
        if self.model.rowCount():
            self._stack.setCurrentWidget(self.table)
            return
        if self._thread_id is None:
            self._empty.set_text(tr("No thread is open"), tr("Its log rows appear here."))
        elif self.filter.is_empty:
            self._empty.set_text(
                tr("No log rows yet"), tr("Each model call, tool call and handler leaves one.")
            )
        else:
            self._empty.set_text(tr("No row matches"), tr("Take a chip away to see more."))
        self._stack.setCurrentWidget(self._empty)

    def _set_new_count(self, count: int) -> None:
        self._new_count = count
        self.new_button.setVisible(count > 0)
        self.new_button.setText(f"{count:,} {tr('new')}")
        self._place_new_button()

    @Slot()
    def _place_new_button(self) -> None:
        size = self.new_button.sizeHint()
        x = (self.table.width() - size.width()) // 2
        self.new_button.setGeometry(x, self.table.height() - 34, size.width(), size.height())
        self.new_button.raise_()

    # slots

    @Slot()
    def _on_frame_timeout(self) -> None:
        rows, self._live = self._live, []
        if not self.filter.is_empty:
            self._delay.start()
            return
        new = 0
        for row in rows:
            new += self.model.put_row(row)
            if self._chosen == (row.thread_id, row.id) and row.status != "running":
                self._tasks.start(self._load_details(row), on_error=self._on_failed)
        self.rows_learned.emit(rows)
        self._show_figures()
        if self.follow.isChecked():
            self.table.scrollToBottom()
        elif new:
            self._set_new_count(self._new_count + new)

    @Slot()
    def _on_filter_changed(self) -> None:
        self.children_button.blockSignals(True)
        self.children_button.setChecked(self.filter.includes_children)
        self.children_button.blockSignals(False)
        self._delay.start()

    @Slot(bool)
    def _on_follow_toggled(self, on: bool) -> None:
        if on:
            self._set_new_count(0)
            self.table.scrollToBottom()

    @Slot(int)
    def _on_bar_value_changed(self, value: int) -> None:
        bar = self.table.verticalScrollBar()
        if value < bar.maximum() - 2 and self.table.underMouse() and self.follow.isChecked():
            self.follow.setChecked(False)
        elif value >= bar.maximum() - 2:
            self._set_new_count(0)

    @Slot()
    def _on_model_more_wished(self) -> None:
        if self._thread_id is not None:
            self._tasks.start(self._load_more(self._thread_id, PAGE_ROWS), on_error=self._on_failed)

    @Slot(QModelIndex, QModelIndex)
    def _on_table_current_changed(self, current: QModelIndex, before: QModelIndex) -> None:
        row: LogRow | None = current.data(ROW_ROLE)
        if row is None:
            return
        self._chosen = (row.thread_id, row.id)
        self._tasks.start(self._load_details(row), on_error=self._on_failed)

    def _on_failed(self, error: KnownError) -> None:
        if not self.model.rowCount():
            self._empty.set_text(error.sentence, error.act)
            self._stack.setCurrentWidget(self._empty)
        self.failed.emit(error)
