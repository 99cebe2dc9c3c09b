"""The log table: rows as they were fetched, and the live ones among them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from sa_builder.spec.logs import LogPage, LogRow
from sa_builder.ui.logs.time_scale import TimeScale, scale_of
from sa_builder.ui.threads import words
from sa_builder.util.clock import Clock
from sa_builder.util.ids import LogId, ThreadId

AnyIndex = QModelIndex | QPersistentModelIndex
ROW_ROLE = Qt.ItemDataRole.UserRole + 1
TIME, STEP, SIDE, TURN, TIMELINE, TOKENS, COST, STATE = range(8)
HEADS = ("Time", "Step", "Side", "T·S", "Timeline", "Tokens", "Cost", "")


class LogTableModel(QAbstractTableModel):
    """Holds what was fetched; asks for more by a signal and does no I/O.

    Signals:
        more_wished: the last row came into sight and more pages exist.
    """

    more_wished = Signal()

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self._rows: list[LogRow] = []
        self._places: dict[tuple[ThreadId, LogId], int] = {}
        self._scale: TimeScale | None = None
        self._has_more = False
        self._wished = False
        self.total = 0

    @property
    def rows(self) -> Sequence[LogRow]:
        """What is loaded, in order."""
        return self._rows

    @property
    def has_more(self) -> bool:
        """Whether further pages exist."""
        return self._has_more

    def now_us(self) -> int:
        """The moment that running rows last until."""
        return self._clock.now_us()

    @property
    def scale(self) -> TimeScale:
        """The scale of the timeline column."""
        if self._scale is None:
            self._scale = scale_of(self._rows, self._clock.now_us())
        return self._scale

    def set_page(self, page: LogPage) -> None:
        """Show a first page in place of all there was."""
        self.beginResetModel()
        self._rows = list(page.rows)
        self._take_figures(page)
        self._index()
        self.endResetModel()

    def append_page(self, page: LogPage) -> None:
        """Show a further page below."""
        new = [row for row in page.rows if (row.thread_id, row.id) not in self._places]
        self._take_figures(page)
        self._insert(len(self._rows), new)
        self._repaint_scale()

    def clear(self) -> None:
        """Show nothing."""
        self.set_page(LogPage(rows=(), total=0, has_more=False))

    def put_row(self, row: LogRow) -> bool:
        """Show a row's new state, or a new row after its own kin; True when it was new."""
        known = self._places.get((row.thread_id, row.id))
        if known is not None:
            depth = self._rows[known].depth
            self._rows[known] = row.model_copy(update={"depth": depth}) if depth else row
            self._scale = None
            self.dataChanged.emit(self.index(known, 0), self.index(known, len(HEADS) - 1))
            self._repaint_scale()
            return False
        place, depth = self._place_for(row)
        if place < 0:
            return False
        self.total += 1 if depth == 0 else 0
        self._insert(place, [row.model_copy(update={"depth": depth}) if depth else row])
        self._repaint_scale()
        return True

    def place_of(self, thread_id: ThreadId, log_id: LogId) -> int | None:
        """The row number of a log row."""
        return self._places.get((thread_id, log_id))

    # the Qt model

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(HEADS)

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(HEADS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return words.tr(HEADS[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = section in (TOKENS, COST)
            side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return cell_text(row, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.error or f"{row.title} {row.detail}".strip()
        return None

    def canFetchMore(self, parent: AnyIndex) -> bool:
        return not parent.isValid() and self._has_more and not self._wished

    def fetchMore(self, parent: AnyIndex) -> None:
        if self.canFetchMore(parent):
            self._wished = True
            self.more_wished.emit()

    # inside

    def _take_figures(self, page: LogPage) -> None:
        self.total = page.total
        self._has_more = page.has_more
        self._wished = False
        self._scale = None

    def _index(self) -> None:
        self._places = {(row.thread_id, row.id): at for at, row in enumerate(self._rows)}

    def _insert(self, place: int, rows: Sequence[LogRow]) -> None:
        if not rows:
            return
        self.beginInsertRows(QModelIndex(), place, place + len(rows) - 1)
        self._rows[place:place] = rows
        self._scale = None
        self._index()
        self.endInsertRows()

    def _place_for(self, row: LogRow) -> tuple[int, int]:
        """Where a new row belongs and how deep; (-1, 0) when its page is not loaded yet."""
        own = self._rows[0].thread_id if self._rows else row.thread_id
        if row.thread_id == own:
            return (-1, 0) if self._has_more else (len(self._rows), row.depth)
        for at in range(len(self._rows) - 1, -1, -1):
            found = self._rows[at]
            if found.thread_id == row.thread_id:
                while at + 1 < len(self._rows) and self._rows[at + 1].depth > found.depth:
                    at += 1
                return at + 1, found.depth
            if found.child_thread_id == row.thread_id:
                return at + 1, found.depth + 1
        return -1, 0

    def _repaint_scale(self) -> None:
        if self._rows:
            last = len(self._rows) - 1
            self.dataChanged.emit(self.index(0, TIMELINE), self.index(last, TIMELINE))


def cell_text(row: LogRow, column: int) -> str:
    """What a cell says in words."""
    if column == TIME:
        return words.clock_time(row.created_at_us, millis=True)
    if column == STEP:
        return f"{row.title} {row.detail}".strip()
    if column == SIDE:
        return (row.side or "").upper()
    if column == TURN:
        return f"{row.turn}·{row.step}" if row.step else str(row.turn)
    if column == TIMELINE:
        return "" if row.duration_ms is None else words.duration(row.duration_ms)
    if column == TOKENS:
        return "" if row.total_tokens is None else f"{row.total_tokens:,}"
    if column == COST:
        if row.cost_total:
            return words.cost(row.cost_total, row.currency)
        return "–" if row.kind == "model" else ""
    return row.status
