"""The cards of the canvas: one item a node; every pen, brush, path and text is made once."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QStaticText,
)
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from sa_builder.project.arrange_shapes import SIDE_A_Y, SIDE_B_Y, size_of
from sa_builder.project.card_look import kind_icon, kind_token
from sa_builder.project.shapes import GraphNode, GraphSide
from sa_builder.ui.theme import Theme

PORT_PX = 16.0
LIGHT_STATES = ("none", "target", "dimmed", "source", "aimed")


class Look:
    """Pens, brushes, fonts and glyphs of one scheme, shared by all items of a scene."""

    def __init__(self, theme: Theme, dpr: float) -> None:
        self.theme = theme
        self.dpr = max(dpr, 2.0)
        self.title_font = theme.font("node_title")
        self.sub_font = theme.font("node_sub")
        self.row_font = theme.font("small")
        self.letter_font = theme.font("caption", weight=700)
        self.letter_font.setPixelSize(10)
        self._glyphs: dict[tuple[str, str, int], QPixmap] = {}
        self._pens: dict[tuple[str, float], QPen] = {}
        self._brushes: dict[str, QBrush] = {}

    def color(self, token: str) -> QColor:
        return self.theme.color(token)

    def brush(self, token: str) -> QBrush:
        """A fill, made once."""
        return self._brushes.setdefault(token, QBrush(self.color(token)))

    def pen(self, token: str, width_px: float = 1.0) -> QPen:
        """A solid pen, made once."""
        key = (token, width_px)
        if key not in self._pens:
            self._pens[key] = QPen(self.color(token), width_px)
        return self._pens[key]

    def glyph(self, name: str, token: str, size_px: int) -> QPixmap:
        """A tinted icon, made once."""
        key = (name, token, size_px)
        if key not in self._glyphs:
            self._glyphs[key] = self.theme.pixmap(name, token, size_px, self.dpr)
        return self._glyphs[key]


class Card(QGraphicsItem):
    """A node of the graph; the scene tells it how to show itself, it decides nothing."""

    def __init__(self, node: GraphNode, look: Look) -> None:
        super().__init__()
        self.node = node
        self._look = look
        width, height = size_of(node)
        self._rect = QRectF(0, 0, width, height)
        self._outline = self._shape_path()
        self._shadow = self._outline.translated(0, 2)
        self._hot_port: str | None = None
        self._light = "none"
        self._says = ""
        self._is_hovered = False
        left = 44.0 if node.kind == "agent" else 42.0
        self._left = left
        self._title = self._text(node.name, look.title_font, width - left - 12)
        self._sub = self._text(node.problem or node.subtitle, look.sub_font, width - left - 12)
        self._rows = [
            (y, letter, side, self._text(side.name, look.row_font, width - 58))
            for y, letter, side in (
                (SIDE_A_Y, "a", node.side_a),
                (SIDE_B_Y, "b", node.side_b),
            )
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
            words = says or self.node.problem or self.node.subtitle
            self._sub = self._text(words, self._look.sub_font, self._rect.width() - self._left - 12)
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
        return self._rect.adjusted(-10, -6, 12, 8)

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
        detail = option.levelOfDetailFromTransform(painter.worldTransform())
        hue = kind_token(self.node.kind) if self.node.kind != "missing" else "edge.broken"
        if detail < 0.35:
            painter.fillRect(self._rect, self._look.brush(hue))
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_dim = self._light == "dimmed"
        is_broken = self.node.kind == "missing"
        if not is_dim and not is_broken and detail >= 0.7:
            painter.fillPath(self._shadow, self._look.brush("line.shadow"))
        painter.setPen(self._outline_pen(is_broken))
        painter.setBrush(self._look.brush(self._fill(is_broken, is_dim)))
        painter.drawPath(self._outline)
        self._paint_head(painter, hue, is_dim=is_dim, is_broken=is_broken, detail=detail)
        if detail >= 0.7:
            for y, letter, side, text in self._rows:
                self._paint_row(painter, y, side, text, is_dim=is_dim)
                del letter
        if self._rows:
            painter.setPen(self._look.pen("line.subtle"))
            painter.drawLine(QPointF(0.5, 44), QPointF(self._rect.width() - 0.5, 44))
        self._paint_ports(painter, is_dim=is_dim)

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

    def _paint_head(
        self, painter: QPainter, hue: str, *, is_dim: bool, is_broken: bool, detail: float
    ) -> None:
        look, node = self._look, self.node
        is_agent = node.kind == "agent"
        side = 28.0 if is_agent else 24.0
        tile = QRectF(8 if is_agent else 10, 8 if is_agent else 12, side, side)
        kind = node.id.split(":", 1)[1].split("/", 1)[0].rstrip("s") if is_broken else node.kind
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
            painter.setBrush(look.brush(hue))
        painter.drawRoundedRect(tile, 6, 6)
        if detail >= 0.7:
            token = "surface.card"
            if is_broken:
                token = "state.failed"
            elif is_dim:
                token = "text.disabled"
            glyph = look.glyph(kind_icon(kind), token, 16)
            painter.drawPixmap(QPointF(tile.center().x() - 8, tile.center().y() - 8), glyph)
        title = "text.disabled" if is_dim else "state.failed_text" if is_broken else "text.primary"
        painter.setPen(look.color(title))
        painter.setFont(look.title_font)
        top = 6.0 if is_agent else 7.0
        if detail < 0.7:  # the second line is not drawn: the title has the middle
            top = tile.center().y() - self._title.size().height() / 2
        painter.drawStaticText(QPointF(self._left, top), self._title)
        if detail < 0.7:
            return
        sub = "state.failed_text" if (is_broken or node.problem) and not is_dim else "text.muted"
        painter.setPen(look.color(sub))
        painter.setFont(look.sub_font)
        painter.drawStaticText(QPointF(self._left, 23 if is_agent else 25), self._sub)

    def _paint_row(
        self, painter: QPainter, y: float, side: GraphSide, text: QStaticText, *, is_dim: bool
    ) -> None:
        look = self._look
        if side.backing in ("human", "prompt", "handler"):
            token = "text.disabled" if is_dim else kind_token(side.backing)
            painter.drawPixmap(QPointF(14, y - 7), look.glyph(kind_icon(side.backing), token, 14))
        painter.setPen(look.color("text.disabled" if is_dim else "text.secondary"))
        painter.setFont(look.row_font)
        painter.drawStaticText(QPointF(36, y - 8), text)

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
            painter.setPen(Qt.PenStyle.NoPen)
            token = "edge.dimmed" if is_dim else "kind.agent"
            if address == self._hot_port:
                token = "accent.base"
            painter.setBrush(look.brush(token))
            painter.drawEllipse(centre, PORT_PX / 2, PORT_PX / 2)
            painter.setPen(look.color("surface.card"))
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

    def _text(self, text: str, font: object, width: float) -> QStaticText:
        metrics = QFontMetricsF(font)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
        made = QStaticText(elided)
        made.setTextFormat(Qt.TextFormat.PlainText)
        made.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
        return made
