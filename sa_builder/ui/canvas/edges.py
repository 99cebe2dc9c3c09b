"""The traces of the canvas: right-angled, with dash, weight, end and plate by kind."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPainterPathStroker,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from sa_builder.project.arrange_shapes import Route
from sa_builder.project.shapes import GraphEdge
from sa_builder.ui.canvas.look import Look

_BOLD = ("backing", "subagent", "handoff")


def rounded_route(points: Sequence[QPointF], corner_px: float = 8) -> QPainterPath:
    """A trace through its corners, each rounded, at most by half its shorter leg."""
    path = QPainterPath(points[0])
    for before, at, after in zip(points, points[1:], points[2:], strict=False):
        back, ahead = QLineF(at, before), QLineF(at, after)
        reach_px = min(corner_px, back.length() / 2, ahead.length() / 2)
        back.setLength(reach_px)
        ahead.setLength(reach_px)
        path.lineTo(back.p2())
        path.quadTo(at, ahead.p2())
    path.lineTo(points[-1])
    return path


class Trace(QGraphicsItem):
    """One edge of the graph."""

    def __init__(self, edge: GraphEdge, route: Route, look: Look) -> None:
        super().__init__()
        self.edge = edge
        self._look = look
        self._is_dim = False
        self._is_hovered = False
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        self.setAcceptHoverEvents(True)
        self.setToolTip(edge.broken or edge.label or edge.kind)
        self.setZValue(1)
        self.set_route(route)

    def set_route(self, route: Route) -> None:
        """Draw along other corners."""
        self.prepareGeometryChange()
        points = [QPointF(x, y) for x, y in route.points]
        self.end = points[-1]
        self.start = points[0]
        drawn = [*points[:-1], QPointF(points[-1].x() - 7, points[-1].y())]
        self._path = rounded_route(drawn)
        self._plate = QPointF(*route.plate) if route.plate is not None else None
        stroker = QPainterPathStroker()
        stroker.setWidth(12)
        self._hit = stroker.createStroke(self._path)
        self._bounds = self._hit.boundingRect().adjusted(-12, -12, 12, 12)
        if self._plate is not None:
            self._bounds = self._bounds.united(self._plate_rect().adjusted(-2, -2, 2, 2))

    def set_dimmed(self, is_dim: bool) -> None:
        """Step back while something else is in the hand."""
        self._is_dim = is_dim
        self.update()

    def boundingRect(self) -> QRectF:
        return self._bounds

    def shape(self) -> QPainterPath:
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
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        detail = option.levelOfDetailFromTransform(painter.worldTransform())
        token = self._token()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if detail < 0.35:
            painter.setPen(QPen(self._look.color(token), 0))
            painter.drawPath(self._path)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = 2.0 if self.edge.kind in _BOLD else 1.5
        if self.isSelected():
            painter.setPen(self._look.pen("accent.selection_halo", 8))
            painter.drawPath(self._path)
            width += 0.5
        elif self._is_hovered:
            width = 2.5
        painter.setPen(self._pen(token, width))
        painter.drawPath(self._path)
        self._paint_end(painter, token)
        if self._plate is not None and self.edge.label and detail >= 0.7 and not self._is_dim:
            self._paint_plate(painter, token)

    def _token(self) -> str:
        if self._is_dim:
            return "edge.dimmed"
        return "edge.broken" if self.edge.broken else f"edge.{self.edge.kind}"

    def _pen(self, token: str, width: float) -> QPen:
        dash = (
            self.edge.kind if self.edge.kind in ("handoff", "fallback", "session", "hook") else ""
        )
        if self.edge.label == "explicit" or "explicit" in self.edge.label:
            dash = "explicit"
        if self.edge.broken:
            dash = "broken"
        if not dash:
            return self._look.pen(token, width)
        pen = QPen(self._look.color(token), width)
        pen.setDashPattern(self._look.theme.dash(dash, width))
        return pen

    def _paint_end(self, painter: QPainter, token: str) -> None:
        tip = self.end
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
            painter.drawPolygon(
                QPolygonF(
                    [tip, QPointF(tip.x() - 8, tip.y() - 4.5), QPointF(tip.x() - 8, tip.y() + 4.5)]
                )
            )

    def _plate_rect(self) -> QRectF:
        assert self._plate is not None
        font = self._look.theme.font("caption")
        width = QFontMetricsF(font).horizontalAdvance(self.edge.label) + 12
        return QRectF(self._plate.x() - width / 2, self._plate.y() - 9, width, 18)

    def _paint_plate(self, painter: QPainter, token: str) -> None:
        rect = self._plate_rect()
        painter.setPen(self._look.pen(token, 1))
        painter.setBrush(self._look.brush("edge.plate"))
        painter.drawRoundedRect(rect, 4, 4)
        painter.setFont(self._look.theme.font("caption"))
        painter.setPen(self._look.color("edge.plate_text"))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, self.edge.label)
