"""What ports do: a drag is shown while it lasts, a drop is made, a search finds what fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QPoint, Signal, Slot
from PySide6.QtWidgets import QWidget

from sa_builder.errors import KnownError
from sa_builder.project.project import Project
from sa_builder.project.shapes import Edit, GraphEdge, GraphNode, Target
from sa_builder.spec.kinds import FOLDER_OF, Kind
from sa_builder.ui.canvas.view import Canvas
from sa_builder.ui.compose import connecting
from sa_builder.ui.compose.form_panel import FormPanel
from sa_builder.ui.compose.source_panel import SourcePanel
from sa_builder.ui.compose.target_picker import Choice, TargetPicker
from sa_builder.ui.compose.words import definition_of, side_letter
from sa_builder.ui.theme import Theme


class PortActs(QObject):
    """Connects, creates and disconnects for the page it belongs to.

    Signals:
        edit_wished: object, a callable that makes the Edit; and str, what to select then.
        select_wished: str; an address is to be selected.
        said: str; a sentence for the status bar.
    """

    edit_wished = Signal(object, str)
    select_wished = Signal(str)
    said = Signal(str)

    def __init__(self, project: Project, theme: Theme, page: QWidget) -> None:
        super().__init__(page)
        self._project = project
        self._theme = theme
        self._page = page
        self._nodes: dict[str, GraphNode] = {}
        self._edges: dict[str, GraphEdge] = {}

    def attend(self, canvas: Canvas, inspector: FormPanel, source: SourcePanel) -> None:
        """Take what is dragged on a canvas, and show it in the form and the source."""
        self._canvas = canvas
        self._inspector = inspector
        self._source = source
        canvas.drag_began.connect(self._on_drag_began)
        canvas.drag_ended.connect(self._on_drag_ended)
        canvas.aimed.connect(self._on_aimed)
        canvas.dropped.connect(self.connect_to)
        canvas.dropped_on_empty.connect(self.offer_targets)
        canvas.disconnect_wished.connect(self.disconnect_edge)
        canvas.connect_wished.connect(self.offer_for)

    def take_graph(self, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> None:
        """Know what is on the canvas now."""
        self._nodes = {node.id: node for node in nodes}
        self._edges = {edge.id: edge for edge in edges}

    def targets(self, source: str) -> Sequence[Target]:
        """What a drop of a port on each card would do; nothing, and said, when it has no port."""
        try:
            return self._project.targets(source)
        except KnownError as error:
            self.said.emit(error.text())
            return ()

    @Slot(str, str)
    def connect_to(self, source: str, target: str) -> None:
        """Connect a port to a card."""
        self.edit_wished.emit(lambda: self._project.connect(source, target), "")

    def create(self, kind: Kind, name: str, source: str | None) -> None:
        """Make a definition, connected to a port when one is named, as one step.

        Args:
            name: its name; empty takes the first free one.
        """
        known = {one.address for one in self._project.definitions()}
        named = name or connecting.new_name(kind, known)

        def make() -> Edit:
            if source is None:
                return self._project.apply(self._project.plan_new(kind, named))
            return self._project.connect_new(source, kind, named)

        self.edit_wished.emit(make, f"{FOLDER_OF[kind]}/{named}")

    @Slot(str)
    def disconnect_edge(self, edge_id: str) -> None:
        """Take a connection away; any other address is left alone."""
        edge = self._edges.get(edge_id)
        if edge is None:
            return

        def make() -> Edit:
            if edge_id.endswith("]"):  # one entry of a list, even where two name the same
                return self._project.unset(edge_id)
            return self._project.disconnect(edge.source, edge.target)

        self.edit_wished.emit(make, definition_of(edge.source))

    @Slot(str)
    def offer_for(self, address: str) -> None:
        """Open the search for the port that an address stands for."""
        source = _port_of(address)
        if source is None:
            self.said.emit(self.tr("Nothing can be connected from {0}.").format(address))
        else:
            self.offer_targets(source, self._canvas.place_for_picker(source))

    @Slot(str, QPoint)
    def offer_targets(self, source: str, at: QPoint) -> None:
        """Open the search of what fits a port, existing and new, at a place of the screen."""
        found = connecting.offered(source, list(self.targets(source)), self._project.graph())
        choices = [
            Choice(
                kind=str(node.kind),
                name="human" if node.kind == "human" else node.name,
                detail=says,
                act=self._connector(source, connecting.target_address(node)),
            )
            for node, says in found
        ]
        picker = TargetPicker(
            self._theme,
            self.tr("Connect {0} to").format(connecting.source_words(source)),
            choices,
            connecting.kinds_for(source),
            lambda kind, name: self.create(kind, name, source),
            self._page,
        )
        picker.show_at(at)

    def _connector(self, source: str, target: str) -> Callable[[], None]:
        return lambda: self.connect_to(source, target)

    @Slot(str)
    def _on_drag_began(self, source: str) -> None:
        self.select_wished.emit(definition_of(source))
        self._canvas.banner.say(
            letter=side_letter(source),
            who=connecting.source_words(source),
            takes=connecting.takes_words(source),
        )
        self._canvas.place_overlays()

    @Slot()
    def _on_drag_ended(self) -> None:
        self._canvas.banner.hide()
        self._show_no_drop()

    def _show_no_drop(self) -> None:
        self._canvas.drop_card.hide()
        self._source.preview(None)
        self._inspector.show_coming(None)

    @Slot(str, str)
    def _on_aimed(self, source: str, target: str) -> None:
        node = self._nodes.get(target)
        if node is None:
            self._show_no_drop()
            return
        try:
            edit = self._project.plan_connect(source, connecting.target_address(node))
        except KnownError as error:
            self.said.emit(error.text())
            return
        words = connecting.drop_words(source, node, self._canvas.says_of(target), edit)
        self._source.preview(edit)
        self._inspector.show_coming(words.row)
        self._canvas.drop_card.say(
            icon=words.icon,
            token=words.token,
            title=words.title,
            note=words.note,
            sentence=words.sentence,
            size=words.size,
            place=words.place,
        )
        self._canvas.place_drop_card(source, target)
        self.said.emit(connecting.release_words(source, words, node))


def _port_of(address: str) -> str | None:
    """The port that an address stands for: the side it is in, else side A of its agent."""
    owner = definition_of(address)
    if owner.startswith("agents/"):
        letter = side_letter(address) or "A"
        return f"{owner}.side_{letter.lower()}"
    return owner if connecting.kinds_for(owner) else None
