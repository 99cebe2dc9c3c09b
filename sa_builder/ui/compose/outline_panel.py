"""The outline: the same graph as a tree, the accessible and keyboard path."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QPoint, QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sa_builder.project.card_look import kind_icon, kind_token
from sa_builder.project.project import Project
from sa_builder.project.shapes import Graph, GraphEdge, GraphNode
from sa_builder.spec.kinds import FOLDER_OF, Kind
from sa_builder.ui.compose.outline_delegate import (
    ADDRESS,
    ROW,
    OutlineDelegate,
    OutlineRow,
    OutlineTree,
)
from sa_builder.ui.compose.words import definition_of, side_letter
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.bars import SearchField
from sa_builder.ui.widgets.buttons import IconButton
from sa_builder.ui.widgets.marks import Separator, TextLabel

_SHOWN = (Kind.AGENT, Kind.PROMPT, Kind.MODEL, Kind.TOOL, Kind.HANDLER)


class OutlinePanel(QWidget):
    """A tree of the composition over a tree of all definitions.

    Signals:
        address_chosen: str; a row was chosen by a person.
        opened: str; a row was double-clicked, or Enter was pressed on it.
        new_wanted: QPoint; a new definition is to be made, its menu at this place of the screen.
    """

    address_chosen = Signal(str)
    opened = Signal(str)
    new_wanted = Signal(QPoint)

    def __init__(self, project: Project, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._project = project
        self._theme = theme
        self._graph = Graph(nodes=(), edges=())
        self._agent: str | None = None
        self._folded: set[str] = set()
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._is_quiet = False
        self.tree = self._new_tree(self.tr("Outline"))
        self.all = self._new_tree(self.tr("All definitions"))
        self.search = SearchField(theme, self.tr("Find a definition"), parent=self)
        self.search.hide()
        self.search.textChanged.connect(self._on_search_changed)
        self.search.dismissed.connect(self._on_search_dismissed)
        self._total = TextLabel(theme, "", "small", "text.muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        upper, lower = QWidget(), QWidget()
        above, below = QVBoxLayout(upper), QVBoxLayout(lower)
        for each in (above, below):
            each.setContentsMargins(0, 0, 0, 0)
            each.setSpacing(0)
        above.addWidget(self._head())
        above.addWidget(Separator(theme))
        field = QHBoxLayout()
        field.setContentsMargins(8, 0, 8, 0)
        field.addWidget(self.search)
        above.addLayout(field)
        above.addWidget(self.tree, 1)
        below.addWidget(self._all_head())
        below.addWidget(self.all, 1)
        halves = QSplitter(Qt.Orientation.Vertical)
        halves.setObjectName("outline_halves")
        halves.setHandleWidth(1)
        halves.addWidget(upper)
        halves.addWidget(lower)
        halves.setStretchFactor(0, 1)
        halves.setSizes([560, 224])
        column.addWidget(halves)
        theme.changed.connect(self._on_theme_changed)

    def show_graph(self, graph: Graph, agent: str | None) -> None:
        """Show a composition; `agent` is its root, None shows every agent."""
        if agent != self._agent:
            self._folded = set()
        self._graph = graph
        self._agent = agent
        chosen = self._chosen()
        self._is_quiet = True
        try:
            self._fill_tree(graph, agent)
            self._fill_all()
        finally:
            self._is_quiet = False
        if chosen:
            self.select(chosen)

    def select(self, address: str) -> None:
        """Mark the row of an address, or of the definition it belongs to."""
        self._is_quiet = True
        try:
            current = self.tree.currentItem()
            if current is not None and current.data(0, ADDRESS) == address:
                return
            for wanted in (address, address.split("#", 1)[0], definition_of(address)):
                found = self._find(self.tree, wanted)
                if found is not None:
                    self.tree.setCurrentItem(found)
                    self.tree.scrollToItem(found)
                    return
            self.tree.setCurrentItem(None)  # pyright: ignore[reportArgumentType]
            self.tree.clearSelection()
        finally:
            self._is_quiet = False

    # making

    def _new_tree(self, name: str) -> QTreeWidget:
        tree = OutlineTree(self._theme, self)
        tree.setHeaderHidden(True)
        tree.setColumnCount(1)
        tree.setIndentation(13)
        tree.setRootIsDecorated(True)
        tree.setUniformRowHeights(True)
        tree.setFrameShape(tree.Shape.NoFrame)
        tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        tree.setExpandsOnDoubleClick(False)
        tree.setAccessibleName(name)
        tree.setItemDelegate(OutlineDelegate(self._theme, tree))
        tree.itemSelectionChanged.connect(self._on_selection_changed)
        tree.itemActivated.connect(self._on_item_activated)
        tree.itemExpanded.connect(self._on_item_expanded)
        tree.itemCollapsed.connect(self._on_item_collapsed)
        return tree

    def _head(self) -> QWidget:
        head = QWidget(self)
        head.setFixedHeight(35)
        row = QHBoxLayout(head)
        row.setContentsMargins(12, 0, 6, 0)
        row.setSpacing(0)
        row.addWidget(TextLabel(self._theme, self.tr("Outline"), "label"), 1)
        find = IconButton(self._theme, "search", self.tr("Find a definition"))
        find.clicked.connect(self._on_find_clicked)
        new = IconButton(self._theme, "plus", self.tr("New definition"))
        new.clicked.connect(lambda: self.new_wanted.emit(new.mapToGlobal(QPoint(0, new.height()))))
        row.addWidget(find)
        row.addWidget(new)
        return head

    def _all_head(self) -> QWidget:
        head = QWidget(self)
        head.setFixedHeight(30)
        row = QHBoxLayout(head)
        row.setContentsMargins(12, 0, 12, 0)
        row.addWidget(TextLabel(self._theme, self.tr("All definitions"), "label"), 1)
        row.addWidget(self._total)
        return head

    # filling

    def _fill_tree(self, graph: Graph, agent: str | None) -> None:
        self.tree.clear()
        nodes = {node.id: node for node in graph.nodes}
        out: dict[str, list[GraphEdge]] = {}
        for edge in graph.edges:
            out.setdefault(edge.source_node, []).append(edge)
        for node in graph.nodes:
            if node.kind == "agent" and agent in (None, node.name):
                item = self._item(node, node.address)
                self.tree.addTopLevelItem(item)
                self._grow(item, node, nodes, out, (node.id,))
        self._unfold(self.tree)
        self._filter()

    def _grow(
        self,
        parent: QTreeWidgetItem,
        node: GraphNode,
        nodes: dict[str, GraphNode],
        out: dict[str, list[GraphEdge]],
        path: tuple[str, ...],
    ) -> None:
        ends = {edge.target for edge in out.get(node.id, ()) if edge.kind == "session"}
        for edge in sorted(out.get(node.id, ()), key=_edge_order):
            target = nodes.get(edge.target)
            if target is None or edge.kind == "session":
                continue
            item = self._item(target, edge.id, edge)
            parent.addChild(item)
            if target.id not in path and len(path) < 12:
                self._grow(item, target, nodes, out, (*path, target.id))
        self._mark_session_tools(parent, ends)

    def _mark_session_tools(self, parent: QTreeWidgetItem, ends: set[str]) -> None:
        """Say beside a tool that calling it ends the session."""
        for item in _children(parent):
            for child in _children(item):
                shown = cast("OutlineRow", child.data(0, ROW))
                if child.data(0, ADDRESS) in ends and not shown.note:
                    child.setData(0, ROW, shown.with_note("stop"))

    def _item(
        self, node: GraphNode, address: str, edge: GraphEdge | None = None
    ) -> QTreeWidgetItem:
        item = QTreeWidgetItem([node.name])
        problem = (edge.broken if edge is not None else None) or (
            node.subtitle if node.kind == "missing" else None
        )
        kind = "subagent" if edge is not None and edge.kind == "subagent" else str(node.kind)
        if node.kind == "missing":
            kind = node.id.split(":", 1)[1].split("/", 1)[0].rstrip("s")
        side = side_letter(edge.source) if edge is not None else ""
        note = edge.label.split(" ")[0] if edge is not None and edge.kind == "subagent" else ""
        row = OutlineRow(
            name="human" if node.kind == "human" else node.name,
            icon=kind_icon(kind),
            token=kind_token(kind),
            side=side,
            note=note,
            is_broken=problem is not None,
        )
        item.setData(0, ROW, row)
        item.setToolTip(0, problem or node.subtitle)
        says = f"side {side}, " if side else ""
        item.setData(
            0, Qt.ItemDataRole.AccessibleTextRole, f"{says}{kind} {node.name} {note}".strip()
        )
        is_relation = edge is not None and (edge.kind == "subagent" or node.kind == "missing")
        item.setData(0, ADDRESS, address if edge is None or is_relation else node.id)
        item.setSizeHint(0, QSize(0, self._theme.size("row_tree")))
        return item

    def _fill_all(self) -> None:
        open_kinds = {
            item.text(0)
            for row in range(self.all.topLevelItemCount())
            if (item := self.all.topLevelItem(row)) is not None and item.isExpanded()
        }
        self.all.clear()
        found = self._project.definitions()
        self._total.setText(f"{len(found):,}")
        for kind in _SHOWN:
            own = [one for one in found if one.kind is kind]
            icon, token = kind_icon(kind), kind_token(kind)
            head = QTreeWidgetItem([FOLDER_OF[kind].capitalize()])
            head.setData(0, ROW, OutlineRow(head.text(0), icon, token, note=str(len(own))))
            head.setSizeHint(0, QSize(0, self._theme.size("row_tree")))
            self.all.addTopLevelItem(head)
            for one in own:
                item = QTreeWidgetItem([one.name])
                row = OutlineRow(one.name, icon, token, is_broken=one.problems > 0)
                item.setData(0, ROW, row)
                item.setData(0, ADDRESS, one.address)
                item.setToolTip(0, one.path)
                head.addChild(item)
            head.setExpanded(head.text(0) in open_kinds)
        self._filter()

    def _unfold(self, tree: QTreeWidget) -> None:
        for item in _items(tree):
            item.setExpanded(str(item.data(0, ADDRESS)) not in self._folded)

    def _filter(self) -> None:
        text = self.search.text().strip().lower()
        for tree in (self.tree, self.all):
            for item in reversed(_items(tree)):
                below = _children(item)
                is_shown = text in item.text(0).lower() or any(not one.isHidden() for one in below)
                item.setHidden(not is_shown)
                if text and below:
                    item.setExpanded(True)

    def _find(self, tree: QTreeWidget, address: str) -> QTreeWidgetItem | None:
        return next((one for one in _items(tree) if one.data(0, ADDRESS) == address), None)

    def _chosen(self) -> str:
        item = self.tree.currentItem()
        return str(item.data(0, ADDRESS) or "") if item is not None and item.isSelected() else ""

    @Slot()
    def _on_selection_changed(self) -> None:
        tree = self.sender()
        if self._is_quiet or not isinstance(tree, QTreeWidget):
            return
        for item in tree.selectedItems():
            if address := item.data(0, ADDRESS):
                self.address_chosen.emit(str(address))

    @Slot(QTreeWidgetItem, int)
    def _on_item_activated(self, item: QTreeWidgetItem, column: int) -> None:
        address = item.data(0, ADDRESS)
        if address is None:
            item.setExpanded(not item.isExpanded())
        else:
            self.opened.emit(str(address))

    @Slot(QTreeWidgetItem)
    def _on_item_expanded(self, item: QTreeWidgetItem) -> None:
        self._folded.discard(str(item.data(0, ADDRESS)))

    @Slot(QTreeWidgetItem)
    def _on_item_collapsed(self, item: QTreeWidgetItem) -> None:
        if not self._is_quiet:
            self._folded.add(str(item.data(0, ADDRESS)))

    @Slot()
    def _on_find_clicked(self) -> None:
        self.search.setVisible(not self.search.isVisible())
        if self.search.isVisible():
            self.search.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.search.clear()

    @Slot()
    def _on_search_dismissed(self) -> None:
        self.search.hide()
        self.tree.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot(str)
    def _on_search_changed(self, text: str) -> None:
        self._filter()

    @Slot()
    def _on_theme_changed(self) -> None:
        self.show_graph(self._graph, self._agent)


def _children(item: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    children = (item.child(row) for row in range(item.childCount()))
    return [child for child in children if child is not None]


def _items(tree: QTreeWidget) -> list[QTreeWidgetItem]:
    """Every item, a parent before its children."""
    found: list[QTreeWidgetItem] = []
    waiting = _children(tree.invisibleRootItem())
    while waiting:
        item = waiting.pop(0)
        found.append(item)
        waiting = [*_children(item), *waiting]
    return found


def _edge_order(edge: GraphEdge) -> tuple[int, str]:
    kinds = ("backing", "subagent", "uses", "handoff", "fallback", "session", "hook")
    side = 1 if edge.source.endswith("side_b") else 0
    return side * 10 + kinds.index(edge.kind), edge.id
