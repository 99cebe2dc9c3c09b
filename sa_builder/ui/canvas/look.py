"""Pens, brushes, fonts and pictures that the items of a scene share, each made once."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QSizeF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPen,
    QPixmap,
    QStaticText,
)

from sa_builder.ui.theme import Theme

PLAIN_DETAIL = 0.35
"""Below this zoom a card is a rectangle of its kind's colour, a trace a hairline."""
FULL_DETAIL = 0.7
"""From this zoom on everything is drawn."""
_MOST_FACES_BYTES = 24 * 1024 * 1024


def static_text(text: str, font: QFont, width_px: float) -> QStaticText:
    """One line, cut to a width, that is laid out once."""
    elided = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, width_px)
    made = QStaticText(elided)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
    return made


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
        self.caption_font = theme.font("caption")
        self._caption_metrics = QFontMetricsF(self.caption_font)
        self._glyphs: dict[tuple[str, str, int], QPixmap] = {}
        self._faces: dict[object, QPixmap] = {}
        self._faces_bytes = 0
        self._pens: dict[tuple[str, float, str], QPen] = {}
        self._brushes: dict[str, QBrush] = {}

    def color(self, token: str) -> QColor:
        return self.theme.color(token)

    def brush(self, token: str) -> QBrush:
        """A fill, made once."""
        known = self._brushes.get(token)
        if known is None:
            known = self._brushes[token] = QBrush(self.color(token))
        return known

    def pen(self, token: str, width_px: float = 1.0, dash: str = "") -> QPen:
        """A pen, made once; `dash` names a row of the tokens' dashes, empty is solid."""
        key = (token, width_px, dash)
        known = self._pens.get(key)
        if known is None:
            known = self._pens[key] = QPen(self.color(token), width_px)
            if dash:
                known.setDashPattern(self.theme.dash(dash, width_px))
        return known

    def caption_width(self, text: str) -> float:
        """How wide a label is on its plate, without padding."""
        return self._caption_metrics.horizontalAdvance(text)

    def glyph(self, name: str, token: str, size_px: int) -> QPixmap:
        """A tinted icon, made once."""
        key = (name, token, size_px)
        if key not in self._glyphs:
            self._glyphs[key] = self.theme.pixmap(name, token, size_px, self.dpr)
        return self._glyphs[key]

    def face(
        self, key: object, size: QSizeF, dpr: float, paint: Callable[[QPainter], None]
    ) -> QPixmap:
        """A picture that many cards share, in device pixels, made once.

        Args:
            key: equal for pictures that look the same.
            size: in device pixels.
            dpr: of the device it will be drawn on.
            paint: draws it; its painter counts in device pixels.
        """
        known = self._faces.get(key)
        if known is not None:
            return known
        made = QPixmap(math.ceil(size.width()), math.ceil(size.height()))
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint(painter)
        painter.end()
        made.setDevicePixelRatio(dpr)
        self._faces_bytes += 4 * made.width() * made.height()
        if self._faces_bytes > _MOST_FACES_BYTES:
            self._faces.clear()
            self._faces_bytes = 4 * made.width() * made.height()
        self._faces[key] = made
        return made
