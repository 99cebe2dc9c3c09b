"""The whole graph in a few strokes: what is seen of it from far, and the ground under it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QPixmap, QTransform

from sa_builder.ui.canvas.cards import Card
from sa_builder.ui.canvas.edges import Trace
from sa_builder.ui.canvas.look import Look

_GRID_PX = 24
_LEAST_GRID_ZOOM = 0.5
_DOT_PX = 1.5


class FarView:
    """Draws all cards and traces at once, where drawing each by itself would take longer.

    Below `PLAIN_DETAIL` the canvas tells its items that they have no contents, and asks this.
    """

    def __init__(self) -> None:
        self._rects: dict[str, list[QRectF]] | None = None
        self._paths: dict[str, QPainterPath] = {}

    def forget(self) -> None:
        """Something moved, came, went or changed its colour."""
        self._rects = None

    def paint(
        self, painter: QPainter, look: Look, cards: Iterable[Card], traces: Iterable[Trace]
    ) -> None:
        """Draw hairlines and rectangles; `painter` counts in the scene's coordinates."""
        if self._rects is None:
            self._rects, self._paths = _rects_of(cards), _paths_of(traces)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for token, path in self._paths.items():
            painter.setPen(look.pen(token, 0))
            painter.drawPath(path)
        painter.setPen(Qt.PenStyle.NoPen)
        for token, rects in self._rects.items():
            painter.setBrush(look.brush(token))
            painter.drawRects(rects)

    def paint_chosen(self, painter: QPainter, look: Look, items: Iterable[object]) -> None:
        """Draw what is selected, over the rest."""
        pen = QPen(look.color("accent.selection"), 2)
        pen.setCosmetic(True)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for item in items:
            if isinstance(item, Card):
                painter.drawRect(QRectF(item.pos(), item.size()))
            elif isinstance(item, Trace):
                painter.drawPolyline(item.corners)


class Ground:
    """The canvas under the cards: its colour, and points on a grid."""

    def __init__(self) -> None:
        self._row: QPixmap | None = None
        self._row_key: tuple[object, ...] = ()

    def paint(self, painter: QPainter, look: Look, rect: QRectF) -> None:
        """Fill a part of the scene; no points below 50 %."""
        painter.fillRect(rect, look.brush("surface.canvas"))
        world = painter.worldTransform()
        if world.m11() < _LEAST_GRID_ZOOM:
            return
        dpr = painter.device().devicePixelRatioF()
        step = _GRID_PX * world.m11() * dpr
        on_device = world.mapRect(rect)
        left = math.floor((on_device.left() - world.dx()) * dpr / step)
        right = math.ceil((on_device.right() - world.dx()) * dpr / step)
        top = math.floor((on_device.top() - world.dy()) * dpr / step)
        bottom = math.ceil((on_device.bottom() - world.dy()) * dpr / step)
        row = self._row_of(look, dpr, step, left, right)
        x0, y0 = round(world.dx() * dpr), round(world.dy() * dpr)
        x = (x0 + round(left * step) - 2) / dpr
        painter.save()
        painter.setWorldTransform(QTransform())
        for place in range(top, bottom + 1):
            painter.drawPixmap(QPointF(x, (y0 + round(place * step) - 2) / dpr), row)
        painter.restore()

    def _row_of(self, look: Look, dpr: float, step: float, left: int, right: int) -> QPixmap:
        """One row of points, each on the same place of a device pixel, made once for a zoom."""
        key = (look, dpr, step, left, right)
        if self._row is None or key != self._row_key:
            first = round(left * step)
            row = QPixmap(round(right * step) - first + 4, 4)
            row.fill(Qt.GlobalColor.transparent)
            pen = QPen(look.color("line.grid"), _DOT_PX * dpr)
            painter = QPainter(row)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(pen)
            painter.drawPoints(
                [QPointF(round(at * step) - first + 2, 2) for at in range(left, right + 1)]
            )
            painter.end()
            row.setDevicePixelRatio(dpr)
            self._row, self._row_key = row, key
        return self._row


def _rects_of(cards: Iterable[Card]) -> dict[str, list[QRectF]]:
    found: dict[str, list[QRectF]] = {}
    for card in cards:
        found.setdefault(card.hue(), []).append(QRectF(card.pos(), card.size()))
    return found


def _paths_of(traces: Iterable[Trace]) -> dict[str, QPainterPath]:
    found: dict[str, QPainterPath] = {}
    for trace in traces:
        found.setdefault(trace.token(), QPainterPath()).addPolygon(trace.corners)
    return found
