"""The journal of a thread: its acts in order, the chosen row's marked."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStackedWidget,
    QTableView,
    QWidget,
)

from sa_builder.spec.logs import Act, LogDetails
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads import words
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.bars import EmptyState
from sa_builder.ui.widgets.states import state_icon, state_token

AnyIndex = QModelIndex | QPersistentModelIndex
_HEADS = ("Act", "Kind", "Name", "Status", "Attempts", "Started", "Took")


class JournalModel(QAbstractTableModel):
    """One act a row."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._acts: Sequence[Act] = ()

    def set_acts(self, acts: Sequence[Act]) -> None:
        """Show other acts."""
        self.beginResetModel()
        self._acts = acts
        self.endResetModel()

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._acts)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(_HEADS)

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(_HEADS[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        act = self._acts[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return _cells(act)[index.column()]
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 3:
            state = words.state_of_log(act.status)
            return self._theme.icon(state_icon(state), state_token(state), 14)
        if role == Qt.ItemDataRole.FontRole and index.column() == 0:
            return self._theme.font("code_small")
        return None


class JournalView(QStackedWidget):
    """The table, or words where there are no acts."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = JournalModel(theme, self)
        self.table = QTableView(self)
        self.table.setFrameShape(QFrame.Shape.NoFrame)
        self.table.setAccessibleName(tr("Journal"))
        self.table.setModel(self.model)
        self.table.setFont(theme.font("small"))
        self.table.setShowGrid(False)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(theme.size("row_log"))
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        header.setHighlightSections(False)
        for column, width in enumerate((112, 68, 120, 84, 68, 100, 76)):
            self.table.setColumnWidth(column, width)
        self.addWidget(self.table)
        self.addWidget(
            EmptyState(
                theme,
                "clock",
                tr("No acts"),
                tr("This thread has done nothing outside yet."),
                parent=self,
            )
        )

    def show_acts(self, acts: Sequence[Act], details: LogDetails) -> None:
        """Show a thread's acts and mark those of a row."""
        self.model.set_acts(acts)
        self.setCurrentIndex(0 if acts else 1)
        for number, act in enumerate(acts):
            if act.key == details.act_key or act.log_id == details.row.id:
                self.table.selectRow(number)
                self.table.scrollTo(self.model.index(number, 0))
                break


def _cells(act: Act) -> tuple[str, ...]:
    took = ""
    if act.ended_at_us is not None:
        took = words.duration((act.ended_at_us - act.started_at_us) / 1000)
    return (
        act.key,
        act.kind,
        act.name,
        act.status,
        str(act.attempts),
        words.clock_time(act.started_at_us, millis=True),
        took,
    )
