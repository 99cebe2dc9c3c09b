"""The outline: the same graph as a tree, the accessible and keyboard path."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from sa_builder.project.project import Project
from sa_builder.project.shapes import Graph, GraphEdge, GraphNode
from sa_builder.spec.kinds import FOLDER_OF, Kind
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.kinds import kind_icon, kind_token
from sa_builder.ui.widgets.marks import Separator, TextLabel

_ADDRESS = Qt.ItemDataRole.UserRole
_SHOWN = (Kind.AGENT, Kind.PROMPT, Kind.MODEL, Kind.TOOL, Kind.HANDLER)


class OutlinePanel(QWidget):
    """A tree of the composition over a tree of all definitions.

    Signals:
        address_chosen: str; a row was chosen by a person.
    """

    address_chosen = Signal(str)

    def __init__(self, project: Project, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._project = project
        self._theme = theme
        self._graph = Graph(nodes=(), edges=())
        self._is_quiet = False
        self.tree = self._new_tree(self.tr("Outline"))
        self.all = self._new_tree(self.tr("All definitions"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head(self.tr("Outline")))
        column.addWidget(self.tree, 3)
        column.addWidget(Separator(theme))
        column.addWidget(self._head(self.tr("All definitions")))
        column.addWidget(self.all, 2)
        theme.changed.connect(self._on_theme_changed)

    def show_graph(self, graph: Graph, agent: str | None) -> None:
        """Show a composition; `agent` is its root, None shows every agent."""
        self._graph = graph
        self._agent = agent
        self._is_quiet = True
        try:
            self._fill_tree(graph, agent)
            self._fill_all()
        finally:
            self._is_quiet = False

    def select(self, address: str) -> None:
        """Mark the row of an address, or of the definition it belongs to."""
        self._is_quiet = True
        try:
            for wanted in (address, address.split(".", 1)[0]):
                found = self._find(wanted)
                if found is not None:
                    self.tree.setCurrentItem(found)
                    return
            self.tree.setCurrentItem(None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        finally:
            self._is_quiet = False

    def _new_tree(self, name: str) -> QTreeWidget:
        tree = QTreeWidget(self)
        tree.setHeaderHidden(True)
        tree.setColumnCount(2)
        tree.header().setStretchLastSection(False)
        tree.header().setSectionResizeMode(0, tree.header().ResizeMode.Stretch)
        tree.header().setSectionResizeMode(1, tree.header().ResizeMode.ResizeToContents)
        tree.setIndentation(14)
        tree.setIconSize(QSize(14, 14))
        tree.setUniformRowHeights(True)
        tree.setAccessibleName(name)
        tree.setFont(self._theme.font("body"))
        tree.itemSelectionChanged.connect(self._on_selection_changed)
        return tree

    def _head(self, words: str) -> QWidget:
        head = QWidget(self)
        head.setFixedHeight(36)
        column = QVBoxLayout(head)
        column.setContentsMargins(12, 0, 12, 0)
        column.addWidget(TextLabel(self._theme, words, "strong"))
        return head

    def _fill_tree(self, graph: Graph, agent: str | None) -> None:
        self.tree.clear()
        nodes = {node.id: node for node in graph.nodes}
        out: dict[str, list[GraphEdge]] = {}
        for edge in graph.edges:
            out.setdefault(edge.source_node, []).append(edge)
        for node in graph.nodes:
            if node.kind == "agent" and agent in (None, node.name):
                item = self._item(node, node.address, "")
                self.tree.addTopLevelItem(item)
                self._grow(item, node, nodes, out, (node.id,))
        self.tree.expandAll()

    def _grow(
        self,
        parent: QTreeWidgetItem,
        node: GraphNode,
        nodes: dict[str, GraphNode],
        out: dict[str, list[GraphEdge]],
        path: tuple[str, ...],
    ) -> None:
        for edge in sorted(out.get(node.id, ()), key=_edge_order):
            target = nodes.get(edge.target)
            if target is None or edge.kind == "session":
                continue
            letter = ""
            if ".side_" in edge.source:
                letter = edge.source.rsplit("_", 1)[1].upper() + "  "
            item = self._item(target, edge.id, letter, edge)
            parent.addChild(item)
            if target.id not in path:
                self._grow(item, target, nodes, out, (*path, target.id))

    def _item(
        self, node: GraphNode, address: str, letter: str, edge: GraphEdge | None = None
    ) -> QTreeWidgetItem:
        item = QTreeWidgetItem([f"{letter}{node.name}", edge.label if edge else ""])
        is_broken = node.kind == "missing" or (edge is not None and edge.broken is not None)
        icon = "subagent" if edge is not None and edge.kind == "subagent" else node.kind
        if is_broken:
            item.setIcon(0, self._theme.icon("error", "state.failed", 14))
            item.setForeground(0, self._theme.color("state.failed_text"))
            item.setToolTip(0, (edge.broken if edge else None) or node.subtitle)
        else:
            item.setIcon(0, self._theme.icon(kind_icon(icon), kind_token(icon), 14))
        item.setForeground(1, self._theme.color("text.muted"))
        item.setFont(1, self._theme.font("caption"))
        item.setData(0, _ADDRESS, address if edge is None or edge.kind == "subagent" else node.id)
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
        for kind in _SHOWN:
            own = [one for one in found if one.kind is kind]
            head = QTreeWidgetItem([FOLDER_OF[kind].capitalize(), str(len(own))])
            head.setIcon(0, self._theme.icon(kind_icon(kind), kind_token(kind), 14))
            head.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            head.setForeground(1, self._theme.color("text.muted"))
            self.all.addTopLevelItem(head)
            for one in own:
                item = QTreeWidgetItem([one.name, ""])
                item.setData(0, _ADDRESS, one.address)
                if one.problems:
                    item.setIcon(0, self._theme.icon("error", "state.failed", 14))
                head.addChild(item)
            head.setExpanded(head.text(0) in open_kinds)

    def _find(self, address: str) -> QTreeWidgetItem | None:
        waiting = [self.tree.topLevelItem(row) for row in range(self.tree.topLevelItemCount())]
        while waiting:
            item = waiting.pop(0)
            if item is None:
                continue
            if item.data(0, _ADDRESS) == address:
                return item
            waiting += [item.child(row) for row in range(item.childCount())]
        return None

    @Slot()
    def _on_selection_changed(self) -> None:
        tree = self.sender()
        if self._is_quiet or not isinstance(tree, QTreeWidget):
            return
        for item in tree.selectedItems():
            address = item.data(0, _ADDRESS)
            if address:
                self.address_chosen.emit(str(address))

    @Slot()
    def _on_theme_changed(self) -> None:
        self.show_graph(self._graph, self._agent)

    _agent: str | None = None


def _edge_order(edge: GraphEdge) -> tuple[int, str]:
    kinds = ("backing", "subagent", "uses", "handoff", "fallback", "session", "hook")
    side = 1 if edge.source.endswith("side_b") else 0
    return side * 10 + kinds.index(edge.kind), edge.id
