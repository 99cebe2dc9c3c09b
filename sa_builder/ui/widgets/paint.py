"""Shapes that several widgets and delegates paint."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen, QPixmap

from sa_builder.project.card_look import kind_icon, kind_token
from sa_builder.ui.theme import Theme


def paint_box(
    painter: QPainter,
    rect: QRectF,
    radius_px: float,
    *,
    fill: QColor | None = None,
    outline: QColor | None = None,
    width_px: float = 1.0,
    dashes: list[float] | None = None,
) -> None:
    """A rounded box whose outline lies inside `rect`, sharp at whole pixels."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(QBrush(fill) if fill is not None else Qt.BrushStyle.NoBrush)
    if outline is None:
        painter.setPen(Qt.PenStyle.NoPen)
        inner = rect
    else:
        pen = QPen(outline, width_px)
        if dashes is not None:
            pen.setDashPattern(dashes)
        painter.setPen(pen)
        half = width_px / 2
        inner = rect.adjusted(half, half, -half, -half)
    radius = min(radius_px, inner.height() / 2, inner.width() / 2)
    painter.drawRoundedRect(inner, radius, radius)
    painter.restore()


def paint_pixmap_centered(painter: QPainter, rect: QRectF, pixmap: QPixmap) -> None:
    """An icon in the middle of a rectangle, on whole pixels."""
    size = pixmap.deviceIndependentSize()
    x = rect.x() + (rect.width() - size.width()) / 2
    y = rect.y() + (rect.height() - size.height()) / 2
    painter.drawPixmap(QPointF(round(x), round(y)), pixmap)


def paint_tile(
    painter: QPainter, theme: Theme, rect: QRectF, kind: str, dpr: float, *, glyph_px: int = 16
) -> None:
    """A kind's tile: its glyph in the card's colour on its hue."""
    fill = theme.color(kind_token(kind))
    paint_box(painter, rect, theme.size("radius.tile"), fill=fill)
    glyph = theme.pixmap(kind_icon(kind), "surface.card", glyph_px, dpr)
    paint_pixmap_centered(painter, rect, glyph)


def paint_side_disc(
    painter: QPainter, theme: Theme, rect: QRectF, letter: str, *, hollow: bool = False
) -> None:
    """The disc of side A or B; hollow when the side has no backing."""
    hue = theme.color("kind.agent")
    paint_box(
        painter,
        rect,
        rect.height() / 2,
        fill=theme.color("surface.card") if hollow else hue,
        outline=hue if hollow else None,
        width_px=1.5,
    )
    font = theme.font("caption", weight=700)
    font.setPixelSize(max(8, round(rect.height() * 0.62)))
    painter.setFont(font)
    painter.setPen(hue if hollow else theme.color("surface.card"))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, letter.upper())


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
