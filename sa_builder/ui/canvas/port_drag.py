"""A port in the hand: which cards take it, which one the magnet holds, and the trace to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGraphicsScene

from sa_builder.project.arrange_routes import free_route, quick_route
from sa_builder.project.arrange_shapes import Box
from sa_builder.project.shapes import Target
from sa_builder.ui.canvas.cards import Card
from sa_builder.ui.canvas.edges import Trace
from sa_builder.ui.canvas.look import Look
from sa_builder.ui.widgets.paint import rounded_route

MAGNET_PX = 20
"""How near the hand must come to a card, in screen pixels."""


class PortDrag:
    """From the press on a port to its release; all places are in scene coordinates."""

    def __init__(self, source: str, start: QPointF, targets: Iterable[Target]) -> None:
        """Take a port.

        Args:
            source: the port's address.
            start: the port's centre.
            targets: what a drop on each node would do.
        """
        self.source = source
        self.aim = ""
        """The node that the magnet holds; empty over none."""
        self._home = source.split(".", 1)[0]
        self._start = start
        self._hand = start
        self._targets = {target.node: target for target in targets}

    def says(self, node_id: str) -> str:
        """What a drop on a card would do, or why it would do nothing."""
        target = self._targets.get(node_id)
        return target.says if target is not None else ""

    def light(self, cards: Mapping[str, Card], traces: Mapping[str, Trace]) -> None:
        """Light what takes the port, and dim the rest with its reason; also of cards made anew."""
        self.aim = self.aim if self.aim in cards else ""
        for node_id, card in cards.items():
            target = self._targets.get(node_id)
            if card.node.address == self._home:
                card.show_light("source", hot_port=self.source)
            elif target is not None and target.allowed:
                card.show_light("aimed" if node_id == self.aim else "target", target.says)
            else:
                card.show_light("dimmed", self.says(node_id))
        for trace in traces.values():
            trace.set_dimmed(True)

    def move(
        self, hand: QPointF, scene: QGraphicsScene, cards: Mapping[str, Card], zoom: float
    ) -> bool:
        """Follow the hand.

        Args:
            zoom: of the view; the magnet's reach is in screen pixels.

        Returns:
            Whether the magnet now holds another card, or let one go.
        """
        self._hand = hand
        reach = MAGNET_PX / zoom
        around = QRectF(hand.x() - reach, hand.y() - reach, 2 * reach, 2 * reach)
        found = ""
        for card in scene.items(around, Qt.ItemSelectionMode.IntersectsItemBoundingRect):
            if not isinstance(card, Card) or card.node.address == self._home:
                continue
            target = self._targets.get(card.node.id)
            near = card.mapRectToScene(card.shape().boundingRect())
            if target is not None and target.allowed and near.intersects(around):
                found = card.node.id
                if near.contains(hand):
                    break
        if found == self.aim:
            return False
        for node_id, light in ((self.aim, "target"), (found, "aimed")):
            if node_id:
                cards[node_id].show_light(light, self.says(node_id))
        self.aim = found
        return True

    def is_on_empty(self, scene: QGraphicsScene) -> bool:
        """Whether the hand is well away from where it began, and over no card."""
        is_far = (self._hand - self._start).manhattanLength() > 2 * MAGNET_PX
        return is_far and not any(isinstance(item, Card) for item in scene.items(self._hand))

    def paint(
        self, painter: QPainter, look: Look, cards: Mapping[str, Card], boxes: Iterable[Box]
    ) -> None:
        """Draw the trace in the hand: to the card the magnet holds round the others, else plain."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        start = (self._start.x(), self._start.y())
        if self.aim:
            card = cards[self.aim]
            end = card.mapToScene(card.in_point())
            points = free_route(start, (end.x(), end.y()), boxes)
        else:
            points = quick_route(start, (self._hand.x(), self._hand.y()))
        painter.setPen(look.pen("edge.preview", 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(rounded_route([QPointF(x, y) for x, y in points]))
