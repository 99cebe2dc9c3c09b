"""The traces of the canvas: right-angled, with dash, weight, end and plate by kind."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QPainter,
    QPainterPath,
    QPainterPathStroker,
    QPolygonF,
)
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from sa_builder.project.arrange_shapes import Route
from sa_builder.project.shapes import GraphEdge
from sa_builder.ui.canvas.look import FULL_DETAIL, Look
from sa_builder.ui.widgets.paint import rounded_route

_BOLD = ("backing", "subagent", "handoff")
_DASHED = ("handoff", "fallback", "session", "hook")


class Trace(QGraphicsItem):
    """One edge of the graph."""

    def __init__(self, edge: GraphEdge, route: Route, look: Look) -> None:
        super().__init__()
        self.edge = edge
        self._look = look
        self._is_dim = False
        self._is_hovered = False
        self._path: QPainterPath | None = None
        self._arrow = QPolygonF()
        """Made with the path."""
        self._hit: QPainterPath | None = None
        self._legs: list[QRectF] = []
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setAcceptHoverEvents(True)
        self.setToolTip(edge.broken or edge.label or edge.kind)
        self.setZValue(1)
        self.set_route(route)

    def set_route(self, route: Route) -> None:
        """Draw along other corners."""
        self.prepareGeometryChange()
        self.route = route
        self.corners = QPolygonF([QPointF(x, y) for x, y in route.points])
        self._path = self._hit = None
        self._legs = []
        self._plate_rect = QRectF()
        self._bounds = self.corners.boundingRect().adjusted(-18, -18, 18, 18)
        if route.plate is not None and self.edge.label:
            x, y = route.plate
            width = self._look.caption_width(self.edge.label) + 12
            self._plate_rect = QRectF(x - width / 2, y - 9, width, 18)
            self._bounds = self._bounds.united(self._plate_rect.adjusted(-2, -2, 2, 2))

    def legs(self) -> list[QRectF]:
        """The rects that hold what is drawn: of each straight piece, and of the plate."""
        if not self._legs:
            self._legs = [
                QRectF(start, end).normalized().adjusted(-8, -8, 8, 8)
                for start, end in pairwise(self.corners.toList())
            ]
            if not self._plate_rect.isEmpty():
                self._legs.append(self._plate_rect.adjusted(-2, -2, 2, 2))
        return self._legs

    def set_dimmed(self, is_dim: bool) -> None:
        """Step back while something else is in the hand."""
        self._is_dim = is_dim
        self.update()

    def boundingRect(self) -> QRectF:
        return self._bounds

    def shape(self) -> QPainterPath:
        if self._hit is None:
            stroker = QPainterPathStroker()
            stroker.setWidth(12)
            self._hit = stroker.createStroke(self._drawn_path())
        return self._hit

    def hoverEnterEvent(self, event: object) -> None:
        self._is_hovered = True
        self.update()

    def hoverLeaveEvent(self, event: object) -> None:
        self._is_hovered = False
        self.update()

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem | None = None,
        widget: QWidget | None = None,
    ) -> None:
        token = self.token()
        path = self._drawn_path()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = 2.0 if self.edge.kind in _BOLD else 1.5
        if self.isSelected():
            painter.setPen(self._look.pen("accent.selection_halo", 8))
            painter.drawPath(path)
            width += 0.5
        elif self._is_hovered:
            width = 2.5
        painter.setPen(self._look.pen(token, width, self._dash()))
        painter.drawPath(path)
        self._paint_end(painter, token)
        if (
            not self._plate_rect.isEmpty()
            and painter.worldTransform().m11() >= FULL_DETAIL
            and not self._is_dim
        ):
            self._paint_plate(painter, token)

    def token(self) -> str:
        """The token of its colour."""
        if self._is_dim:
            return "edge.dimmed"
        return "edge.broken" if self.edge.broken else f"edge.{self.edge.kind}"

    def _drawn_path(self) -> QPainterPath:
        if self._path is None:
            points = self.corners.toList()
            tip = points[-1]
            x, y = tip.x(), tip.y()
            self._arrow = QPolygonF([tip, QPointF(x - 8, y - 4.5), QPointF(x - 8, y + 4.5)])
            points[-1] = QPointF(x - 7, y)
            self._path = rounded_route(points)
        return self._path

    def _dash(self) -> str:
        if self.edge.broken:
            return "broken"
        if "explicit" in self.edge.label:
            return "explicit"
        return self.edge.kind if self.edge.kind in _DASHED else ""

    def _paint_end(self, painter: QPainter, token: str) -> None:
        tip = self.corners.last()
        if self.isSelected():
            painter.setPen(self._look.pen("accent.selection", 2))
            painter.setBrush(self._look.brush("surface.canvas"))
            painter.drawRect(QRectF(tip.x() - 8, tip.y() - 4, 8, 8))
        elif self.edge.broken:
            painter.setPen(self._look.pen(token, 2))
            painter.drawLine(QPointF(tip.x() - 9, tip.y() - 4), QPointF(tip.x() - 1, tip.y() + 4))
            painter.drawLine(QPointF(tip.x() - 9, tip.y() + 4), QPointF(tip.x() - 1, tip.y() - 4))
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._look.brush(token))
            painter.drawPolygon(self._arrow)

    def _paint_plate(self, painter: QPainter, token: str) -> None:
        rect = self._plate_rect
        painter.setPen(self._look.pen(token, 1))
        painter.setBrush(self._look.brush("edge.plate"))
        painter.drawRoundedRect(rect, 4, 4)
        painter.setFont(self._look.caption_font)
        painter.setPen(self._look.pen("edge.plate_text"))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self.edge.label)
