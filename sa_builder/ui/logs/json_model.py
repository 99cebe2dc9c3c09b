"""A JSON text as a tree whose branches are read when they are unfolded."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from sa_builder.ui.logs.json_source import JsonEntry, JsonSource

AnyIndex = QModelIndex | QPersistentModelIndex
ENTRY_ROLE = Qt.ItemDataRole.UserRole + 1
_AT_ONCE = 200


@dataclass(slots=True, eq=False)
class _Node:
    entry: JsonEntry
    parent: _Node | None
    row: int
    waiting: list[JsonEntry] | None = None
    """Children that were read but are not in the tree yet; None before they were read."""
    children: list[_Node] = field(default_factory=list["_Node"])


class JsonTreeModel(QAbstractItemModel):
    """Two columns, key and value; 200 children at a time."""

    def __init__(self, source: JsonSource, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source = source
        self._root = _Node(entry=source.root(), parent=None, row=0)
        self._alive: dict[int, _Node] = {}
        self._inserting = False
        """Whoever listens to an insertion may ask for more at once; that has to wait."""
        self.fetchMore(QModelIndex())

    @property
    def source(self) -> JsonSource:
        """Where values are read from."""
        return self._source

    def index(
        self,
        row: int,
        column: int,
        parent: AnyIndex = QModelIndex(),  # noqa: B008
    ) -> QModelIndex:
        node = self._node(parent)
        if not (0 <= row < len(node.children) and 0 <= column < 2):
            return QModelIndex()
        if parent.isValid() and parent.column() != 0:
            return QModelIndex()
        return self.createIndex(row, column, id(node.children[row]))

    def parent(self, child: AnyIndex = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        node = self._node(child)
        above = node.parent
        if above is None or above is self._root:
            return QModelIndex()
        return self.createIndex(above.row, 0, id(above))

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.column() > 0 else len(self._node(parent).children)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 2

    def hasChildren(self, parent: AnyIndex = QModelIndex()) -> bool:  # noqa: B008
        return parent.column() <= 0 and self._node(parent).entry.has_children

    def canFetchMore(self, parent: AnyIndex) -> bool:
        node = self._node(parent)
        if self._inserting or parent.column() > 0 or not node.entry.has_children:
            return False
        return node.waiting is None or bool(node.waiting)

    def fetchMore(self, parent: AnyIndex) -> None:
        if not self.canFetchMore(parent):
            return
        node = self._node(parent)
        if node.waiting is None:
            node.waiting = self._source.children(node.entry.path)
        now, node.waiting = node.waiting[:_AT_ONCE], node.waiting[_AT_ONCE:]
        if not now:
            return
        first = len(node.children)
        home = QModelIndex() if node is self._root else self.createIndex(node.row, 0, id(node))
        self._inserting = True
        self.beginInsertRows(home, first, first + len(now) - 1)
        for at, entry in enumerate(now):
            made = _Node(entry=entry, parent=node, row=first + at)
            node.children.append(made)
            self._alive[id(made)] = made
        self.endInsertRows()
        self._inserting = False

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        entry = self._node(index).entry
        if role == ENTRY_ROLE:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.key if index.column() == 0 else value_text(entry)
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == 1:
            return entry.value[:500] or None
        return None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        return None

    def _node(self, index: AnyIndex) -> _Node:
        if not index.isValid():
            return self._root
        return self._alive[index.internalId()]


def value_text(entry: JsonEntry) -> str:
    """A value in one line: a string quoted, a container by its size."""
    if entry.type == "object":
        return f"{{ {entry.count:,} }}"
    if entry.type == "array":
        return f"[ {entry.count:,} ]"
    if entry.type == "string":
        line = entry.value[:600].replace("\n", "⏎ ").replace("\r", "")
        return f'"{line}"'
    return entry.value
