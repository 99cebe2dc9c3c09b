"""The cards of the canvas: one item a node.

What cards of one kind and state have in common is drawn once for each zoom, as a face, and laid
under the texts of each. A face lies on whole device pixels; so do the texts on it.
"""

from __future__ import annotations

import math
from functools import cached_property

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QStaticText, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from sa_builder.project.arrange_shapes import SIDE_A_Y, SIDE_B_Y, size_of
from sa_builder.project.card_look import kind_icon, kind_token
from sa_builder.project.shapes import GraphNode, GraphSide
from sa_builder.ui.canvas.look import FULL_DETAIL, Look, static_text

PORT_PX = 16.0
_MOST_FACE_SCALE = 3.0
_MARGINS = (-10.0, -6.0, 12.0, 8.0)
"""What ports, rings and shadow take beyond the card."""


class Card(QGraphicsItem):
    """A node of the graph; the scene tells it how to show itself, it decides nothing."""

    def __init__(self, node: GraphNode, look: Look) -> None:
        super().__init__()
        self.node = node
        self._look = look
        width, height = size_of(node)
        self._rect = QRectF(0, 0, width, height)
        self._bounds = self._rect.adjusted(*_MARGINS)
        self._hot_port: str | None = None
        self._light = "none"
        self._says = ""
        self._is_hovered = False
        self._left = 44.0 if node.kind == "agent" else 42.0
        self._sub: QStaticText | None = None
        self._sides = [
            (y, side)
            for y, side in ((SIDE_A_Y, node.side_a), (SIDE_B_Y, node.side_b))
            if side is not None
        ]
        self.setFlags(
            QGraphicsItem.GraphicsItemFlag.ItemIsSelectable
            | QGraphicsItem.GraphicsItemFlag.ItemIsMovable
        )
        self.setAcceptHoverEvents(True)
        self.setToolTip(f"{node.name}\n{node.problem or node.subtitle}")
        self.setZValue(2)

    def show_light(self, light: str, says: str = "", hot_port: str | None = None) -> None:
        """How a drag sees the card: "none", "target", "aimed", "dimmed" with a reason, "source"."""
        self._light = light
        self._hot_port = hot_port
        if says != self._says:
            self._says = says
            self._sub = None
        self.update()

    def port_at(self, point: QPointF, reach_px: float) -> str | None:
        """The address of the port under a point of the item, within `reach_px`."""
        for address, centre in self.ports():
            if abs(point.x() - centre.x()) <= reach_px and abs(point.y() - centre.y()) <= reach_px:
                return address
        return None

    def size(self) -> QSizeF:
        """Of the card itself, without ports and shadow."""
        return self._rect.size()

    def ports(self) -> list[tuple[str, QPointF]]:
        """Address and centre of each port, in item coordinates."""
        node = self.node
        right = self._rect.width()
        if node.kind == "agent":
            return [
                (f"{node.address}.side_a", QPointF(right, SIDE_A_Y)),
                (f"{node.address}.side_b", QPointF(right, SIDE_B_Y)),
            ]
        if node.kind in ("prompt", "model"):
            return [(node.address, QPointF(right, self._rect.height() / 2))]
        return []

    def in_point(self) -> QPointF:
        """Where a trace ends on this card, in item coordinates."""
        return QPointF(0, 22.0 if self.node.kind == "agent" else self._rect.height() / 2)

    def boundingRect(self) -> QRectF:
        return self._bounds

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(self._rect.adjusted(0, 0, PORT_PX / 2, 0))
        return path

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
        world = painter.worldTransform()
        scale = world.m11()
        dpr = painter.device().devicePixelRatioF()
        if scale * dpr > _MOST_FACE_SCALE:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_face(painter, scale)
        else:
            self._lay_face(painter, world, dpr)
        self._paint_texts(painter, scale)

    def hue(self) -> str:
        """The token of its colour when it is seen from far: its kind's, or grey in a drag."""
        if self._light == "dimmed":
            return "line.card"
        return "edge.broken" if self.node.kind == "missing" else kind_token(self.node.kind)

    @cached_property
    def _outline(self) -> QPainterPath:
        return self._shape_path()

    @cached_property
    def _title(self) -> QStaticText:
        room = self._rect.width() - self._left - 12
        return static_text(self.node.name, self._look.title_font, room)

    @cached_property
    def _names(self) -> list[QStaticText]:
        room = self._rect.width() - 58
        return [static_text(side.name, self._look.row_font, room) for _, side in self._sides]

    @cached_property
    def _own_key(self) -> tuple[object, ...]:
        """What of its face never changes."""
        node = self.node
        sides = tuple(side.backing for _, side in self._sides)
        return (node.kind, self._icon_kind(), bool(node.problem), sides)

    def _lay_face(self, painter: QPainter, world: QTransform, dpr: float) -> None:
        """Draw the face at the whole device pixel nearest to the card's place.

        Leaves the painter there, so that the texts keep their distance to the face.
        """
        scale = world.m11()
        in_device = scale * dpr
        hot = self._hot_port[-1:] if self._hot_port else ""
        key = (self._own_key, self._light, hot, self.isSelected(), self._is_hovered, in_device)
        bounds = self._bounds
        left, top = math.floor(bounds.x() * in_device), math.floor(bounds.y() * in_device)

        def paint(on: QPainter) -> None:
            on.setTransform(QTransform(in_device, 0, 0, in_device, -left, -top))
            self._paint_face(on, scale)

        size = QSizeF(bounds.right() * in_device - left, bounds.bottom() * in_device - top)
        face = self._look.face(key, size, dpr, paint)
        x, y = round(world.dx() * dpr), round(world.dy() * dpr)
        painter.setWorldTransform(QTransform.fromTranslate(x / dpr, y / dpr))
        painter.drawPixmap(QPointF(left / dpr, top / dpr), face)
        painter.setWorldTransform(QTransform(scale, 0, 0, scale, x / dpr, y / dpr))

    def _paint_face(self, painter: QPainter, detail: float) -> None:
        """All but the texts."""
        is_dim = self._light == "dimmed"
        is_broken = self.node.kind == "missing"
        if not is_dim and not is_broken and detail >= FULL_DETAIL:
            painter.fillPath(self._outline.translated(0, 2), self._look.brush("line.shadow"))
        painter.setPen(self._outline_pen(is_broken))
        painter.setBrush(self._look.brush(self._fill(is_broken, is_dim)))
        painter.drawPath(self._outline)
        self._paint_tile(painter, is_dim=is_dim, is_broken=is_broken, detail=detail)
        if detail >= FULL_DETAIL:
            for y, side in self._sides:
                self._paint_side_icon(painter, y, side, is_dim=is_dim)
        if self._sides:
            painter.setPen(self._look.pen("line.subtle"))
            painter.drawLine(QPointF(0.5, 44), QPointF(self._rect.width() - 0.5, 44))
        self._paint_ports(painter, is_dim=is_dim)

    def _paint_texts(self, painter: QPainter, detail: float) -> None:
        look, node = self._look, self.node
        is_agent, is_dim = node.kind == "agent", self._light == "dimmed"
        is_broken = node.kind == "missing"
        title = "text.disabled" if is_dim else "state.failed_text" if is_broken else "text.primary"
        painter.setPen(look.pen(title))
        painter.setFont(look.title_font)
        if detail < FULL_DETAIL:  # the second line is not drawn: the title has the middle
            top = self._tile().center().y() - self._title.size().height() / 2
            painter.drawStaticText(QPointF(self._left, top), self._title)
            return
        painter.drawStaticText(QPointF(self._left, 6.0 if is_agent else 7.0), self._title)
        if self._sub is None:
            words = self._says or node.problem or node.subtitle
            room = self._rect.width() - self._left - 12
            self._sub = static_text(words, look.sub_font, room)
        sub = "state.failed_text" if (is_broken or node.problem) and not is_dim else "text.muted"
        painter.setPen(look.pen(sub))
        painter.setFont(look.sub_font)
        painter.drawStaticText(QPointF(self._left, 23 if is_agent else 25), self._sub)
        if self._sides:
            painter.setPen(look.pen("text.disabled" if is_dim else "text.secondary"))
            painter.setFont(look.row_font)
            for (y, _), text in zip(self._sides, self._names, strict=True):
                painter.drawStaticText(QPointF(36, y - 8), text)

    def _fill(self, is_broken: bool, is_dim: bool) -> str:
        if is_broken or is_dim:
            return "surface.canvas"
        return "accent.tint" if self._light == "aimed" else "surface.card"

    def _outline_pen(self, is_broken: bool) -> QPen:
        look = self._look
        if is_broken:
            pen = QPen(look.color("state.failed"), 1.5)
            pen.setDashPattern(look.theme.dash("broken", 1.5))
            return pen
        if self._light in ("target", "aimed"):
            return look.pen("accent.base", 2.0 if self._light == "aimed" else 1.5)
        if self.isSelected():
            return look.pen("accent.selection", 2.0)
        if self._light == "dimmed":
            return look.pen("edge.dimmed")
        if self.node.problem:
            return look.pen("state.failed", 1.5)
        return look.pen("line.field" if self._is_hovered else "line.card")

    def _tile(self) -> QRectF:
        """Where the kind's icon stands."""
        return QRectF(8, 8, 28, 28) if self.node.kind == "agent" else QRectF(10, 12, 24, 24)

    def _icon_kind(self) -> str:
        if self.node.kind == "missing":
            return self.node.id.split(":", 1)[1].split("/", 1)[0].rstrip("s")
        return self.node.kind

    def _paint_tile(
        self, painter: QPainter, *, is_dim: bool, is_broken: bool, detail: float
    ) -> None:
        look, tile = self._look, self._tile()
        if is_broken or is_dim:
            pen = QPen(look.color("state.failed" if is_broken else "line.card"), 1)
            if is_broken:
                pen.setDashPattern([3, 3])
            painter.setPen(pen)
            painter.setBrush(
                Qt.BrushStyle.NoBrush if is_broken else look.brush("surface.field_readonly")
            )
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.brush(kind_token(self.node.kind)))
        painter.drawRoundedRect(tile, 6, 6)
        if detail < FULL_DETAIL:
            return
        token = "surface.card"
        if is_broken:
            token = "state.failed"
        elif is_dim:
            token = "text.disabled"
        glyph = look.glyph(kind_icon(self._icon_kind()), token, 16)
        painter.drawPixmap(QPointF(tile.center().x() - 8, tile.center().y() - 8), glyph)

    def _paint_side_icon(
        self, painter: QPainter, y: float, side: GraphSide, *, is_dim: bool
    ) -> None:
        if side.backing in ("human", "prompt", "handler"):
            token = "text.disabled" if is_dim else kind_token(side.backing)
            glyph = self._look.glyph(kind_icon(side.backing), token, 14)
            painter.drawPixmap(QPointF(14, y - 7), glyph)

    def _paint_ports(self, painter: QPainter, *, is_dim: bool) -> None:
        look = self._look
        for address, centre in self.ports():
            if self.node.kind != "agent":
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(look.brush("edge.dimmed" if is_dim else "edge.uses"))
                painter.drawEllipse(centre, 4, 4)
                continue
            letter = address[-1]
            if address == self._hot_port:
                painter.setPen(look.pen("accent.base", 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(centre, 11, 11)
            token = "edge.dimmed" if is_dim else "kind.agent"
            if address == self._hot_port:
                token = "accent.base"
            is_hollow = self._is_unbacked(letter) and address != self._hot_port
            painter.setPen(look.pen(token, 1.5) if is_hollow else Qt.PenStyle.NoPen)
            painter.setBrush(look.brush("surface.card" if is_hollow else token))
            radius = PORT_PX / 2 - (0.75 if is_hollow else 0)
            painter.drawEllipse(centre, radius, radius)
            painter.setPen(look.color(token if is_hollow else "surface.card"))
            painter.setFont(look.letter_font)
            painter.drawText(
                QRectF(centre.x() - 8, centre.y() - 8, 16, 16),
                Qt.AlignmentFlag.AlignCenter,
                letter.upper(),
            )
        if self._light in ("target", "aimed"):
            painter.setPen(look.pen("accent.base", 2))
            painter.setBrush(look.brush("surface.canvas"))
            painter.drawEllipse(self.in_point(), 5, 5)

    def _is_unbacked(self, letter: str) -> bool:
        side = self.node.side_a if letter == "a" else self.node.side_b
        return side is None or side.backing == "none"

    def _shape_path(self) -> QPainterPath:
        path = QPainterPath()
        rect = self._rect
        if self.node.kind == "human":
            path.addRoundedRect(rect, rect.height() / 2, rect.height() / 2)
        elif self.node.kind == "handler":
            cut = 7.0
            path.moveTo(cut, 0)
            for x, y in (
                (rect.width() - cut, 0),
                (rect.width(), cut),
                (rect.width(), rect.height() - cut),
                (rect.width() - cut, rect.height()),
                (cut, rect.height()),
                (0, rect.height() - cut),
                (0, cut),
            ):
                path.lineTo(x, y)
            path.closeSubpath()
        else:
            path.addRoundedRect(rect, 8, 8)
        return path
