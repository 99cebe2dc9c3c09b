"""The canvas: shows a graph, is panned and zoomed, and lets a port be dragged to a card."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPixmap,
    QRegion,
    QResizeEvent,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QGraphicsItem, QGraphicsScene, QGraphicsView, QWidget

from sa_builder.project.arrange import arrange, moved_to
from sa_builder.project.arrange_routes import quick_route
from sa_builder.project.arrange_shapes import Arrangement, Route
from sa_builder.project.shapes import Graph, Target
from sa_builder.ui.canvas.cards import Card
from sa_builder.ui.canvas.edges import Trace
from sa_builder.ui.canvas.far import FarView, Ground
from sa_builder.ui.canvas.floating import Floating
from sa_builder.ui.canvas.look import PLAIN_DETAIL, Look
from sa_builder.ui.canvas.port_drag import PortDrag
from sa_builder.ui.theme import Theme

Point = tuple[float, float]
LEAST_ZOOM, MOST_ZOOM = 0.1, 3.0
_ZOOM_STEP = 1.0015
"""For each of the 120 parts of a wheel's notch."""
_BANNER_PX = 40


class Canvas(QGraphicsView):
    """A view over one graph.

    Signals:
        address_chosen: str; a card or trace was selected, "" when none is.
        opened: str; a card was double-clicked: its address.
        aimed: (str source, str target); in a drag, over a card that takes it ("" over none).
        dropped: (str source, str target); a port was dropped on a card that takes it.
        dropped_on_empty: (str source, QPoint global); a port was dropped on empty canvas.
        drag_began: str; the source's address. drag_ended: the drag is over, however.
        disconnect_wished: str; the selected trace is to go: its edge's id.
        connect_wished: str; the keyboard asks for what to connect an address to.
        menu_wished: (str address, QPoint global); a menu for what is selected, "" for none.
        moved: object; node id → top left corner of every card a person has moved.
        zoomed: int; per cent.
        resized: QSize; of the whole canvas, for what floats over it.
    """

    address_chosen = Signal(str)
    opened = Signal(str)
    aimed = Signal(str, str)
    dropped = Signal(str, str)
    dropped_on_empty = Signal(str, QPoint)
    drag_began = Signal(str)
    drag_ended = Signal()
    disconnect_wished = Signal(str)
    connect_wished = Signal(str)
    menu_wished = Signal(str, QPoint)
    moved = Signal(object)
    zoomed = Signal(int)
    resized = Signal(QSize)

    _shifted = Signal()

    def __init__(
        self,
        theme: Theme,
        targets: Callable[[str], Sequence[Target]],
        parent: QWidget | None = None,
    ) -> None:
        """Make an empty canvas.

        Args:
            targets: source address → what a drop on each node would do.
        """
        super().__init__(parent)
        self._theme = theme
        self._targets_of = targets
        self._scene = QGraphicsScene(self)
        self.setScene(self._scene)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.MinimalViewportUpdate)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setDragMode(QGraphicsView.DragMode.RubberBandDrag)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Canvas"))
        self.setMouseTracking(True)
        self._look = Look(theme, self.devicePixelRatioF())
        self._graph = Graph(nodes=(), edges=())
        self._unmoved = self._arrangement = Arrangement(boxes={}, routes={})
        self._moved: dict[str, Point] = {}
        self._content = QRectF()
        self._far = FarView()
        self._ground = Ground()
        self._is_far = False
        self.cards: dict[str, Card] = {}
        self.traces: dict[str, Trace] = {}
        self._drag: PortDrag | None = None
        self._is_fitted = False
        """Whether everything is shown, and nobody has panned or zoomed since."""
        self._pan_from: QPoint | None = None
        self._has_space = False
        self._press_places: dict[str, QPointF] = {}
        self._held_traces: list[Trace] = []
        self._still: QPixmap | None = None
        """While cards are being moved: all that stands still, so that a step paints little."""
        self._floating = Floating(theme, self.viewport())
        self.banner = self._floating.banner
        self.drop_card = self._floating.drop_card
        self.zoom_control = self._floating.zoom_control
        self.minimap = self._floating.minimap
        self.zoom_control.zoom_wished.connect(self.zoom_by)
        self.zoom_control.fit_wished.connect(self.fit)
        self.zoomed.connect(self.zoom_control.show_percent)
        self.minimap.centre_wished.connect(self._on_centre_wished)
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.valueChanged.connect(self._on_scrolled)
        self._shifted.connect(self._on_shifted, Qt.ConnectionType.QueuedConnection)
        self._scene.selectionChanged.connect(self._on_scene_selection_changed)
        theme.changed.connect(self._on_theme_changed)

    # showing

    def show_graph(self, graph: Graph, moved: Mapping[str, Point]) -> None:
        """Draw a graph; the selection is kept where its address is still there."""
        chosen = self.selected_address()
        self._graph = graph
        self._moved = {node.id: moved[node.id] for node in graph.nodes if node.id in moved}
        self._unmoved = arrange(graph)
        self._arrangement = self._unmoved
        if self._moved:
            self._arrangement = moved_to(graph, self._unmoved, self._moved)
        self._rebuild()
        if chosen:
            self.select(chosen)

    def select(self, address: str) -> None:
        """Select the card or trace of an address, silently when there is none."""
        self._scene.blockSignals(True)
        self._scene.clearSelection()
        self._scene.blockSignals(False)
        item = self.cards.get(address) or self.traces.get(address)
        if item is None:
            owner = address.split(".", 1)[0]
            item = self.cards.get(owner)
        if item is not None:
            item.setSelected(True)

    def selected_address(self) -> str:
        """The address of what is selected; empty when nothing is."""
        for item in self._scene.selectedItems():
            if isinstance(item, Card):
                return item.node.address
            if isinstance(item, Trace):
                return item.edge.id
        return ""

    def fit(self) -> None:
        """Show everything, at most at 100 %, below where a drag says what it takes."""
        rect = self._content
        if rect.isEmpty():
            return
        room = self.viewport().rect().adjusted(0, _BANNER_PX, 0, 0)
        scale = min(room.width() / rect.width(), room.height() / rect.height(), 1.0)
        self.setTransform(QTransform.fromScale(scale, scale))
        self.centerOn(rect.center() - QPointF(0, _BANNER_PX / 2 / scale))
        self._is_fitted = True
        self._note_zoom()

    def fit_selection(self) -> None:
        """Show what is selected in the middle, at 100 %; everything when nothing is."""
        items = self._scene.selectedItems()
        if not items:
            self.fit()
            return
        self.zoom_to_full()
        self.centerOn(items[0].sceneBoundingRect().center())

    def zoom_percent(self) -> int:
        return round(self.transform().m11() * 100)

    def zoom_by(self, factor: float) -> None:
        """Zoom about the cursor, or the middle."""
        self._is_fitted = False
        wanted = min(MOST_ZOOM, max(LEAST_ZOOM, self.transform().m11() * factor))
        # A whole number of steps: two ways to a zoom meet in one, whose faces and glyphs are kept.
        wanted = _ZOOM_STEP ** round(math.log(wanted, _ZOOM_STEP))
        self._floating.announce_repaint()
        self.setTransform(QTransform.fromScale(wanted, wanted))
        self._note_zoom()

    def zoom_to_full(self) -> None:
        """100 %."""
        self.zoom_by(1 / self.transform().m11())

    def port_point(self, address: str) -> QPoint | None:
        """Where a port is, in viewport pixels."""
        for card in self.cards.values():
            for port, centre in card.ports():
                if port == address:
                    return self.mapFromScene(card.mapToScene(centre))
        return None

    def card_point(self, node_id: str) -> QPoint | None:
        """The middle of a card, in viewport pixels."""
        card = self.cards.get(node_id)
        if card is None:
            return None
        return self.mapFromScene(card.mapToScene(QPointF(92, 24)))

    def says_of(self, node_id: str) -> str:
        """What the drag in progress says of a card; empty at rest."""
        return self._drag.says(node_id) if self._drag is not None else ""

    def place_overlays(self) -> None:
        """Put what floats into its corner."""
        self._floating.place(self.size(), has_cards=bool(self.cards))

    def place_drop_card(self, source: str, target: str) -> None:
        """Put the words of a drop under the card in the hand, or where they cover no end."""
        address = source.split(".", 1)[0]
        owner = next((c for c in self.cards.values() if c.node.address == address), None)
        aimed = self.cards.get(target)
        if owner is not None and aimed is not None:
            home, goal = self._in_view(owner), self._in_view(aimed)
            self._floating.place_drop_card(self.rect(), home, goal)

    def place_for_picker(self, source: str) -> QPoint:
        """Where on the screen the search for a port's target opens."""
        at = self.port_point(source)
        if at is None or not self.viewport().rect().contains(at):
            at = self.viewport().rect().center()
        return self.viewport().mapToGlobal(at + QPoint(16, -8))

    # Qt

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place_overlays()
        if self._is_fitted:
            self.fit()
        self._on_scrolled()
        self.resized.emit(event.size())

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        if self._floating.remember():
            self._shifted.emit()
        super().scrollContentsBy(dx, dy)

    def drawBackground(self, painter: QPainter, rect: QRectF | object) -> None:
        assert isinstance(rect, QRectF)
        if self._still is None:
            self._ground.paint(painter, self._look, rect)
            return
        painter.save()
        painter.resetTransform()
        painter.drawPixmap(0, 0, self._still)
        painter.restore()
        for trace in self._held_traces:
            trace.paint(painter)

    def drawForeground(self, painter: QPainter, rect: QRectF | object) -> None:
        if self._is_far:
            self._far.paint(painter, self._look, self.cards.values(), self.traces.values())
            self._far.paint_chosen(painter, self._look, self._scene.selectedItems())
        if self._drag is not None:
            self._drag.paint(painter, self._look, self.cards, self._arrangement.boxes.values())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        is_left = event.button() == Qt.MouseButton.LeftButton
        if event.button() == Qt.MouseButton.MiddleButton or (is_left and self._has_space):
            self._pan_from = event.position().toPoint()
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            return
        if event.button() == Qt.MouseButton.LeftButton:
            found = self._port_under(event.position().toPoint())
            if found is not None:
                self._begin_drag(*found)
                return
        super().mousePressEvent(event)
        self._press_places = {
            card.node.id: card.pos()
            for card in self._scene.selectedItems()
            if isinstance(card, Card)
        }
        self._held_traces = [
            trace
            for trace in self.traces.values()
            if trace.edge.source_node in self._press_places
            or trace.edge.target in self._press_places
        ]

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position().toPoint()
        if self._pan_from is not None:
            by = at - self._pan_from
            self._pan_from = at
            self._pan(by.x(), by.y())
            return
        if self._drag is not None:
            self._drag_to(self._drag, at)
            return
        super().mouseMoveEvent(event)
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._follow_moved_cards()
            return
        self.viewport().setCursor(
            Qt.CursorShape.CrossCursor if self._port_under(at) else Qt.CursorShape.ArrowCursor
        )

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pan_from is not None:
            self._pan_from = None
            self.unsetCursor()
            return
        if self._drag is not None:
            self._drag_to(self._drag, event.position().toPoint())
            self._drop(self._drag, event.globalPosition().toPoint())
            return
        super().mouseReleaseEvent(event)
        event.accept()
        places = {key: self.cards[key].pos() for key in self._press_places}
        changed = {
            key: (place.x(), place.y())
            for key, place in places.items()
            if place != self._press_places[key]
        }
        self._press_places, self._held_traces = {}, []
        self._let_go()
        if changed:
            self._moved.update(changed)
            self._show_routes(moved_to(self._graph, self._unmoved, self._moved))
            self._show_minimap()
            self.moved.emit(dict(self._moved))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        item = self.itemAt(event.position().toPoint())
        if isinstance(item, Card):
            self.opened.emit(item.node.address)
            return
        super().mouseDoubleClickEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom_by(_ZOOM_STEP ** delta.y())
        else:
            self._pan(delta.x() / 2, delta.y() / 2)
        event.accept()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """A menu for what is under the hand, or by the menu key for what is selected."""
        item = self.itemAt(event.pos())
        if isinstance(item, (Card, Trace)) and not item.isSelected():
            self._scene.clearSelection()
            item.setSelected(True)
        self.menu_wished.emit(self.selected_address(), event.globalPos())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key == Qt.Key.Key_Space:
            self._has_space = True
        elif key == Qt.Key.Key_Escape and self._drag is not None:
            self._end_drag()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            address = self.selected_address()
            if address in self.traces:
                self.disconnect_wished.emit(address)
        elif key == Qt.Key.Key_C and not event.modifiers():
            if address := self.selected_address():
                self.connect_wished.emit(address)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if address := self.selected_address():
                self.opened.emit(address)
        elif key in _VIEW_KEYS:
            _VIEW_KEYS[key](self)
        elif key in _ARROWS:
            self._walk(*_ARROWS[key])
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self._has_space = False
        super().keyReleaseEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._has_space = False
        super().focusOutEvent(event)

    # within

    def _rebuild(self) -> None:
        self._scene.blockSignals(True)
        self._scene.clear()
        self._scene.blockSignals(False)
        self.cards = {}
        self.traces = {}
        self._press_places, self._held_traces, self._still = {}, [], None
        for edge in self._graph.edges:
            route = self._arrangement.routes.get(edge.id)
            if route is not None:
                trace = Trace(edge, route, self._look)
                self.traces[edge.id] = trace
                self._scene.addItem(trace)
        for node in self._graph.nodes:
            box = self._arrangement.boxes[node.id]
            card = Card(node, self._look)
            card.setPos(box.x, box.y)
            self.cards[node.id] = card
            self._scene.addItem(card)
        if self._drag is not None:  # the files changed outside, with a port in the hand
            self._drag.light(self.cards, self.traces)
        self._measure(QRectF())
        if self._is_far:
            self._set_contents()
        self._show_minimap()

    def _measure(self, kept: QRectF) -> None:
        """Make room for what was laid out, with a margin to pan into, and for what is kept."""
        bounds = self._arrangement.bounds
        self._content = QRectF(bounds.x - 24, bounds.y - 24, bounds.width + 64, bounds.height + 64)
        room = self._content.adjusted(-2000, -2000, 2000, 2000)
        self._scene.setSceneRect(room.united(kept))
        self._far.forget()
        self.viewport().update()

    def _show_minimap(self) -> None:
        self.minimap.show_cards(
            [(QRectF(card.pos(), card.size()), card.node) for card in self.cards.values()]
        )
        self.place_overlays()
        self._on_scrolled()

    def _in_view(self, card: Card) -> QRect:
        rect = card.mapRectToScene(QRectF(QPointF(0, 0), card.size()))
        return self.mapFromScene(rect).boundingRect()

    def _note_zoom(self) -> None:
        """Tell what depends on the zoom that it changed."""
        is_far = self.transform().m11() < PLAIN_DETAIL
        if is_far != self._is_far:
            self._is_far = is_far
            self._set_contents()
        self._on_scrolled()
        self.zoomed.emit(self.zoom_percent())

    def _set_contents(self) -> None:
        """From far no item draws itself."""
        for items in (self.cards, self.traces):
            for item in items.values():
                item.setFlag(_NO_CONTENTS, self._is_far)

    def _pan(self, x: float, y: float) -> None:
        self._is_fitted = False
        horizontal, vertical = self.horizontalScrollBar(), self.verticalScrollBar()
        horizontal.setValue(round(horizontal.value() - x))
        vertical.setValue(round(vertical.value() - y))

    def _port_under(self, at: QPoint) -> tuple[str, QPointF] | None:
        reach = 10 / self.transform().m11()
        point = self.mapToScene(at)
        near = QRectF(point.x() - reach, point.y() - reach, 2 * reach, 2 * reach)
        for card in self._scene.items(near, Qt.ItemSelectionMode.IntersectsItemBoundingRect):
            if not isinstance(card, Card):
                continue
            address = card.port_at(card.mapFromScene(point), reach)
            if address is not None:
                centre = next(centre for port, centre in card.ports() if port == address)
                return address, card.mapToScene(centre)
        return None

    def _begin_drag(self, source: str, start: QPointF) -> None:
        self._drag = PortDrag(source, start, self._targets_of(source))
        self._drag.light(self.cards, self.traces)
        self.drag_began.emit(source)

    def _drag_to(self, drag: PortDrag, at: QPoint) -> None:
        zoom = self.transform().m11()
        if drag.move(self.mapToScene(at), self._scene, self.cards, zoom):
            self.aimed.emit(drag.source, drag.aim)
        self.viewport().update()

    def _drop(self, drag: PortDrag, at_global: QPoint) -> None:
        self._end_drag()
        if drag.aim:
            self.dropped.emit(drag.source, drag.aim)
        elif drag.is_on_empty(self._scene):
            self.dropped_on_empty.emit(drag.source, at_global)

    def _end_drag(self) -> None:
        self._drag = None
        for card in self.cards.values():
            card.show_light("none")
        for trace in self.traces.values():
            trace.set_dimmed(False)
        self.viewport().update()
        self.drag_ended.emit()

    def _follow_moved_cards(self) -> None:
        """Lead the traces of the cards in the hand a plain way; they are led well on release."""
        if all(self.cards[key].pos() == old for key, old in self._press_places.items()):
            return
        if self._still is None and not self._is_far:
            self._hold()
        legs = [leg for trace in self._held_traces for leg in trace.legs()]
        for trace in self._held_traces:
            base = self._arrangement.routes[trace.edge.id].points
            start = self._led(base[0], trace.edge.source_node)
            end = self._led(base[-1], trace.edge.target)
            trace.set_route(Route(points=quick_route(start, end)))
            legs += trace.legs()
        if self._is_far:
            self._far.forget()
            self.viewport().update()
            return
        world = self.viewportTransform()
        for leg in legs:
            self.viewport().update(world.mapRect(leg).toAlignedRect())

    def _hold(self) -> None:
        """Draw what stands still once, for all steps of a move."""
        held = [self.cards[key] for key in self._press_places]
        rest = {*self.cards.values(), *self.traces.values()}.difference(held, self._held_traces)
        for item in (*held, *self._held_traces):
            item.setFlag(_NO_CONTENTS, True)
        viewport = self.viewport()
        dpr = viewport.devicePixelRatioF()
        still = QPixmap(viewport.size() * dpr)
        still.setDevicePixelRatio(dpr)
        viewport.render(still, QPoint(), QRegion(), QWidget.RenderFlag.DrawWindowBackground)
        self._still = still
        for item in rest:
            item.setFlag(_NO_CONTENTS, True)
        for card in held:
            card.setFlag(_NO_CONTENTS, False)

    def _let_go(self) -> None:
        """Let each item draw itself again."""
        if self._still is not None:
            self._still = None
            self._set_contents()

    def _led(self, point: Point, node_id: str) -> Point:
        """A point of a card's outline, moved as far as the card is from where it was laid."""
        box, now = self._arrangement.boxes[node_id], self.cards[node_id].pos()
        return point[0] + now.x() - box.x, point[1] + now.y() - box.y

    def _show_routes(self, arrangement: Arrangement) -> None:
        self._arrangement = arrangement
        for edge_id, route in arrangement.routes.items():
            if self.traces[edge_id].route != route:
                self.traces[edge_id].set_route(route)
        self._measure(self._scene.sceneRect())

    def _walk(self, x: int, y: int) -> None:
        card = next((c for c in self.cards.values() if c.isSelected()), None)
        if card is None:
            if self.cards:
                next(iter(self.cards.values())).setSelected(True)
            return
        here = card.pos()

        def cost(other: Card) -> float:
            by = other.pos() - here
            along, across = by.x() * x + by.y() * y, abs(by.x() * y) + abs(by.y() * x)
            return along + 2 * across if along > 1 else float("inf")

        best = min((c for c in self.cards.values() if c is not card), key=cost, default=None)
        if best is not None and cost(best) < float("inf"):
            self._scene.clearSelection()
            best.setSelected(True)
            self.ensureVisible(best, 40, 40)

    def _on_scrolled(self, _: int = 0) -> None:
        self._let_go()
        self.minimap.show_sight(self.mapToScene(self.viewport().rect()).boundingRect())

    def _on_shifted(self) -> None:
        """Put back what floats, after all scrolling of one act and before it is painted."""
        self._floating.put_back()

    def _on_centre_wished(self, place: QPointF) -> None:
        self._is_fitted = False
        self.centerOn(place)

    def _on_scene_selection_changed(self) -> None:
        self.address_chosen.emit(self.selected_address())

    def _on_theme_changed(self) -> None:
        self._look = Look(self._theme, self.devicePixelRatioF())
        chosen = self.selected_address()
        self._rebuild()
        if chosen:
            self.select(chosen)
        self.viewport().update()


_NO_CONTENTS = QGraphicsItem.GraphicsItemFlag.ItemHasNoContents
_VIEW_KEYS: dict[int, Callable[[Canvas], None]] = {
    Qt.Key.Key_1: Canvas.fit,
    Qt.Key.Key_2: Canvas.fit_selection,
    Qt.Key.Key_Period: Canvas.fit_selection,
    Qt.Key.Key_0: Canvas.zoom_to_full,
    Qt.Key.Key_Plus: lambda canvas: canvas.zoom_by(1.25),
    Qt.Key.Key_Equal: lambda canvas: canvas.zoom_by(1.25),
    Qt.Key.Key_Minus: lambda canvas: canvas.zoom_by(1 / 1.25),
}
_ARROWS: dict[int, tuple[int, int]] = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
