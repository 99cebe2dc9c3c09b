"""The thread list as rows: day headings, threads, and their children folded beneath."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from sa_builder.spec.threads import ThreadPage, ThreadSummary
from sa_builder.ui.threads import words
from sa_builder.util.clock import Clock
from sa_builder.util.ids import ThreadId

AnyIndex = QModelIndex | QPersistentModelIndex
ROW_ROLE = Qt.ItemDataRole.UserRole + 1
"""The `ListRow` itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRow:
    """One line of the list."""

    kind: Literal["day", "thread", "fold", "child"]
    key: str
    """Unique in the list, stable over changes."""
    title: str = ""
    count: int = 0
    summary: ThreadSummary | None = None
    parent_id: ThreadId | None = None
    is_first: bool = False
    """Of a child: the first beneath its parent, which carries the chevron."""


class ThreadListModel(QAbstractListModel):
    """Holds the pages that were fetched; asks for more by a signal and does no I/O.

    Signals:
        more_wished: the last row came into sight and more pages exist.
    """

    more_wished = Signal()

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self._threads: dict[ThreadId, ThreadSummary] = {}
        self._children: dict[ThreadId, dict[ThreadId, ThreadSummary]] = {}
        self._open: set[ThreadId] = set()
        self._rows: list[ListRow] = []
        self._total = 0
        self._counts: dict[str, int] = {}
        self._wished = False
        self._has_more = False

    # contents

    @property
    def total(self) -> int:
        """How many threads match in all."""
        return self._total

    @property
    def counts(self) -> Mapping[str, int]:
        """State → how many match without the state filter."""
        return self._counts

    @property
    def last_thread(self) -> ThreadSummary | None:
        """The oldest thread that is loaded: where the next page begins."""
        ordered = self._ordered()
        return ordered[-1] if ordered else None

    def now_us(self) -> int:
        """The moment ages are counted from."""
        return self._clock.now_us()

    def summary_of(self, thread_id: ThreadId) -> ThreadSummary | None:
        """A loaded thread or child."""
        found = self._threads.get(thread_id)
        if found is not None:
            return found
        for children in self._children.values():
            if thread_id in children:
                return children[thread_id]
        return None

    def children_of(self, thread_id: ThreadId) -> Sequence[ThreadSummary]:
        """The children known of a thread, oldest first."""
        return list(self._children.get(thread_id, {}).values())

    def set_page(self, page: ThreadPage) -> None:
        """Show a first page in place of all there was."""
        self._threads = {summary.id: summary for summary in page.rows}
        self._take_figures(page)
        self._rebuild()

    def append_page(self, page: ThreadPage) -> None:
        """Show a further page below."""
        for summary in page.rows:
            self._threads.setdefault(summary.id, summary)
        self._take_figures(page)
        self._rebuild()

    def set_counts(self, page: ThreadPage) -> None:
        """Take the figures of a page and leave the rows."""
        self._total = page.total
        self._counts = dict(page.counts)

    def add_children(self, summaries: Iterable[ThreadSummary]) -> None:
        """Enter children under their parents."""
        changed = False
        for summary in summaries:
            if summary.parent_id is not None:
                known = self._children.setdefault(summary.parent_id, {})
                changed = changed or known.get(summary.id) != summary
                known[summary.id] = summary
        if changed:
            self._rebuild()

    def update_thread(self, summary: ThreadSummary, *, matches: bool = True) -> None:
        """Show a thread's new state; one that no longer matches the filter goes."""
        if summary.parent_id is not None:
            self.add_children([summary])
            return
        if matches:
            self._threads[summary.id] = summary
        else:
            self._threads.pop(summary.id, None)
        self._rebuild()

    def remove_thread(self, thread_id: ThreadId) -> None:
        """Take a thread or child away."""
        self._threads.pop(thread_id, None)
        self._children.pop(thread_id, None)
        for children in self._children.values():
            children.pop(thread_id, None)
        self._rebuild()

    def set_open(self, thread_id: ThreadId, is_open: bool) -> None:
        """Unfold or fold a thread's children."""
        if is_open == (thread_id in self._open):
            return
        if is_open:
            self._open.add(thread_id)
        else:
            self._open.discard(thread_id)
        self._rebuild()

    def is_open(self, thread_id: ThreadId) -> bool:
        """Whether a thread's children are unfolded."""
        return thread_id in self._open

    def index_of(self, thread_id: ThreadId) -> QModelIndex:
        """Where a thread or child stands; invalid when it is not in sight."""
        for number, row in enumerate(self._rows):
            if row.summary is not None and row.summary.id == thread_id and row.kind != "fold":
                return self.index(number, 0)
        return QModelIndex()

    def touch_ages(self) -> None:
        """Have every row painted again: time has passed."""
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, 0))

    # the Qt model

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return _spoken(row)
        if role == Qt.ItemDataRole.ToolTipRole and row.summary is not None:
            return row.summary.state_reason or row.summary.title
        return None

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        if self._rows[index.row()].kind == "day":
            return Qt.ItemFlag.ItemIsEnabled
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def canFetchMore(self, parent: AnyIndex) -> bool:
        return not parent.isValid() and self._has_more and not self._wished

    def fetchMore(self, parent: AnyIndex) -> None:
        if self.canFetchMore(parent):
            self._wished = True
            self.more_wished.emit()

    # rows

    def _take_figures(self, page: ThreadPage) -> None:
        self.set_counts(page)
        self._wished = False
        self._has_more = bool(page.rows) and len(self._threads) < page.total

    def _ordered(self) -> list[ThreadSummary]:
        return sorted(
            self._threads.values(), key=lambda one: (one.updated_at_us, one.id), reverse=True
        )

    def _wanted_rows(self) -> list[ListRow]:
        today = words.local(self._clock.now_us()).date()
        rows: list[ListRow] = []
        day: date | None = None
        heading = 0
        for summary in self._ordered():
            its_day = min(today, words.local_day(summary.updated_at_us))
            if its_day != day:
                day, heading = its_day, len(rows)
                rows.append(ListRow(kind="day", key=f"day:{day}", title=words.day_name(day, today)))
            rows.append(
                ListRow(kind="thread", key=summary.id, title=summary.title, summary=summary)
            )
            rows += self._child_rows(summary.id)
            rows[heading] = ListRow(
                kind="day",
                key=rows[heading].key,
                title=rows[heading].title,
                count=rows[heading].count + 1,
            )
        return rows

    def _child_rows(self, parent_id: ThreadId) -> list[ListRow]:
        children = list(self._children.get(parent_id, {}).values())
        if not children:
            return []
        if parent_id not in self._open:
            count = len(children)
            word = words.tr("1 child") if count == 1 else f"{count} {words.tr('children')}"
            return [
                ListRow(
                    kind="fold",
                    key=f"fold:{parent_id}",
                    title=word,
                    count=count,
                    parent_id=parent_id,
                    summary=children[-1],
                )
            ]
        return [
            ListRow(
                kind="child",
                key=child.id,
                title=child.instance_name or child.title,
                summary=child,
                parent_id=parent_id,
                is_first=number == 0,
            )
            for number, child in enumerate(children)
        ]

    def _rebuild(self) -> None:
        """Go from the rows in sight to the wanted ones by the smallest block that differs."""
        new, old = self._wanted_rows(), self._rows
        top = 0
        while top < min(len(old), len(new)) and old[top].key == new[top].key:
            top += 1
        bottom = 0
        while (
            bottom < min(len(old), len(new)) - top and old[-1 - bottom].key == new[-1 - bottom].key
        ):
            bottom += 1
        gone, come = len(old) - top - bottom, len(new) - top - bottom
        if gone:
            self.beginRemoveRows(QModelIndex(), top, top + gone - 1)
            self._rows = old[:top] + old[len(old) - bottom :]
            self.endRemoveRows()
        if come:
            self.beginInsertRows(QModelIndex(), top, top + come - 1)
            kept = self._rows
            self._rows = kept[:top] + new[top : top + come] + kept[top:]
            self.endInsertRows()
        changed = [number for number, row in enumerate(new) if self._rows[number] != row]
        self._rows = new
        for number in changed:
            self.dataChanged.emit(self.index(number, 0), self.index(number, 0))


def _spoken(row: ListRow) -> str:
    if row.summary is None or row.kind == "fold":
        return f"{row.title}, {row.count}"
    state = words.thread_state_word(row.summary)
    return ", ".join(
        part for part in (row.title, state, row.summary.state_reason or row.summary.preview) if part
    )
