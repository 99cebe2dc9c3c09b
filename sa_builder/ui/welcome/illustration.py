"""The picture on the sample's card: its composition, drawn with the canvas's own rules."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from sa_builder.project.card_look import kind_icon, kind_token
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.paint import (
    paint_box,
    paint_pixmap_centered,
    paint_side_disc,
    paint_tile,
    rounded_route,
)

_WIDTH_PX = 562
_HEIGHT_PX = 302
_ARROW_PX = 8.0


class SamplePicture(QWidget):
    """repo_assistant with its two sides, its child and its human."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedHeight(_HEIGHT_PX)
        self.setMinimumWidth(480)
        self.setAccessibleName(
            "The sample: repo_assistant, side A a prompt with the blocking subagent "
            "issue_triage, side B a human."
        )
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        radius = self._theme.size("radius.card")
        clip = QPainterPath()
        clip.addRoundedRect(
            QRectF(1, 1, self.width() - 2, self.height() + 20), radius - 1, radius - 1
        )
        painter.setClipPath(clip)
        painter.fillRect(self.rect(), self._theme.color("surface.canvas"))
        self._paint_grid(painter)
        painter.translate((self.width() - _WIDTH_PX) / 2, 0)
        self._paint_edges(painter)
        self._paint_agent(painter, QRectF(36, 54, 192, 108))
        self._paint_leaf(painter, QRectF(332, 29, 184, 48), "prompt", "repo_assistant", "prompt")
        self._paint_leaf(
            painter, QRectF(332, 133, 184, 48), "agent", "issue_triage", "agent · one issue each"
        )
        self._paint_leaf(painter, QRectF(332, 231, 184, 48), "human", "Human", "backs side B")

    def _paint_grid(self, painter: QPainter) -> None:
        step = self._theme.size("grid_step")
        painter.setPen(QPen(self._theme.color("line.grid"), 1.5))
        dots = [
            QPointF(x + 12, y + 14)
            for x in range(0, self.width(), step)
            for y in range(0, self.height(), step)
        ]
        painter.drawPoints(dots)

    def _paint_edges(self, painter: QPainter) -> None:
        a, b = QPointF(228, 113), QPointF(228, 141)
        self._paint_edge(painter, (a, QPointF(252, 113), QPointF(252, 53), QPointF(332, 53)))
        subagent = (a, QPointF(288, 113), QPointF(288, 157), QPointF(332, 157))
        self._paint_edge(painter, subagent, token="edge.subagent")
        self._paint_edge(painter, (b, QPointF(252, 141), QPointF(252, 255), QPointF(332, 255)))
        plate = QRectF(258, 126, 60, 18)
        paint_box(
            painter,
            plate,
            self._theme.size("radius.plate"),
            fill=self._theme.color("edge.plate"),
            outline=self._theme.color("edge.subagent"),
        )
        painter.setFont(self._theme.font("caption"))
        painter.setPen(self._theme.color("edge.plate_text"))
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, "blocking")

    def _paint_edge(
        self, painter: QPainter, points: Sequence[QPointF], token: str = "edge.backing"
    ) -> None:
        color = self._theme.color(token)
        tip = points[-1]
        short = [*points[:-1], tip - QPointF(7, 0)]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, self._theme.length("line.edge_bold")))
        painter.drawPath(rounded_route(short, self._theme.length("line.corner")))
        half = self._theme.length("arrow_width") / 2
        base = tip - QPointF(_ARROW_PX, 0)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawPolygon(QPolygonF([tip, base + QPointF(0, half), base - QPointF(0, half)]))

    def _paint_card(self, painter: QPainter, rect: QRectF, radius: float) -> None:
        shadow = self._theme.color("line.shadow")
        paint_box(painter, rect.translated(0, 2), radius, fill=shadow)
        paint_box(
            painter,
            rect,
            radius,
            fill=self._theme.color("surface.card"),
            outline=self._theme.color("line.card"),
        )

    def _paint_agent(self, painter: QPainter, rect: QRectF) -> None:
        theme = self._theme
        dpr = self.devicePixelRatioF()
        self._paint_card(painter, rect, theme.size("radius.card"))
        x, y = rect.x(), rect.y()
        paint_tile(painter, theme, QRectF(x + 8, y + 8, 28, 28), "agent", dpr)
        self._paint_words(painter, x + 44, y + 6, "repo_assistant", "agent · primary")
        painter.fillRect(QRectF(x + 1, y + 44, rect.width() - 2, 1), theme.color("line.subtle"))
        rows = (("prompt", "repo_assistant", "A"), ("human", "human", "B"))
        for index, (kind, name, letter) in enumerate(rows):
            top = y + 45 + index * 28
            glyph = theme.pixmap(kind_icon(kind), kind_token(kind), 14, dpr)
            paint_pixmap_centered(painter, QRectF(x + 13, top, 14, 28), glyph)
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("text.secondary"))
            box = QRectF(x + 33, top, 140, 28)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, name)
            disc = QRectF(rect.right() - 8, top + 6, 16, 16)
            paint_side_disc(painter, theme, disc, letter)

    def _paint_leaf(self, painter: QPainter, rect: QRectF, kind: str, title: str, sub: str) -> None:
        human = kind == "human"
        self._paint_card(
            painter, rect, rect.height() / 2 if human else self._theme.size("radius.card")
        )
        inset = 12 if human else 10
        tile = QRectF(rect.x() + inset, rect.y() + 12, 24, 24)
        paint_tile(painter, self._theme, tile, kind, self.devicePixelRatioF())
        self._paint_words(painter, rect.x() + inset + 32, rect.y() + 8, title, sub)

    def _paint_words(self, painter: QPainter, x: float, y: float, title: str, sub: str) -> None:
        lines: tuple[tuple[str, QFont, str, float], ...] = (
            (title, self._theme.font("node_title"), "text.primary", 0),
            (sub, self._theme.font("node_sub"), "text.muted", 17),
        )
        for text, font, token, down in lines:
            painter.setFont(font)
            painter.setPen(self._theme.color(token))
            painter.drawText(QRectF(x, y + down, 150, 16), Qt.AlignmentFlag.AlignVCenter, text)
