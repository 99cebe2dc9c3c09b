"""What blocks of a transcript paint with: fonts, colours and pixmaps made once a scheme."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPixmap

from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.paint import paint_pixmap_centered, paint_side_disc
from sa_builder.ui.widgets.states import StateName, state_icon, state_text_token, state_token

LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


class Ink:
    """Fonts, metrics and colours by token, kept until the scheme changes."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.dpr = 1.0
        """Of the device that is painted on."""
        self.generation = 0
        """Counts scheme changes, so that a block can tell that its document is stale."""
        self.open_keys: set[str] = set()
        """Keys of the foldable blocks that are unfolded."""
        self.folded_keys: set[str] = set()
        """Keys of those that begin open and were folded."""
        self.whole_keys: set[str] = set()
        """Keys of the long texts that were asked for whole."""
        self._fonts: dict[tuple[str, int], QFont] = {}
        self._colors: dict[str, QColor] = {}
        self._discs: dict[tuple[str, float, int], QPixmap] = {}
        self._scheme = theme.scheme
        self._metrics: dict[tuple[str, int], QFontMetricsF] = {}

    def forget(self) -> None:
        """The scheme changed: every document is to be made anew."""
        self.generation += 1

    def font(self, style: str, weight: int = 0) -> QFont:
        """A type style, tabular, in another weight when one is given."""
        key = (style, weight)
        font = self._fonts.get(key)
        if font is None:
            font = self.theme.font(style, tabular=True, weight=weight or None)
            self._fonts[key] = font
        return font

    def width(self, style: str, text: str, weight: int = 0) -> float:
        """How wide a line of text is."""
        key = (style, weight)
        metrics = self._metrics.get(key)
        if metrics is None:
            metrics = QFontMetricsF(self.font(style, weight))
            self._metrics[key] = metrics
        return metrics.horizontalAdvance(text)

    def color(self, token: str) -> QColor:
        """A token's colour; not to be changed, it is kept."""
        color = self._colors.get(token)
        if color is None or self._scheme != self.theme.scheme:
            if self._scheme != self.theme.scheme:
                self._scheme = self.theme.scheme
                self._colors.clear()
                self._discs.clear()
            color = self.theme.color(token)
            self._colors[token] = color
        return color

    def disc(self, painter: QPainter, rect: QRectF, letter: str) -> None:
        """Paint the disc of side A or B."""
        self.color("kind.agent")
        key = (letter, self.dpr, round(rect.width()))
        disc = self._discs.get(key)
        if disc is None:
            size = rect.size()
            disc = QPixmap((size * self.dpr).toSize())
            disc.setDevicePixelRatio(self.dpr)
            disc.fill(Qt.GlobalColor.transparent)
            inner = QPainter(disc)
            paint_side_disc(inner, self.theme, QRectF(0, 0, size.width(), size.height()), letter)
            inner.end()
            self._discs[key] = disc
        paint_pixmap_centered(painter, rect, disc)

    def pixmap(self, name: str, token: str, size_px: int = 16) -> QPixmap:
        """An icon in a token's colour."""
        return self.theme.pixmap(name, token, size_px, self.dpr)

    def icon(
        self, painter: QPainter, rect: QRectF, name: str, token: str, size_px: int = 16
    ) -> None:
        """Paint an icon in the middle of a rectangle."""
        paint_pixmap_centered(painter, rect, self.pixmap(name, token, size_px))

    def line(
        self,
        painter: QPainter,
        rect: QRectF,
        text: str,
        style: str,
        token: str,
        *,
        weight: int = 0,
        right: bool = False,
    ) -> float:
        """Paint one line, elided where it has no room; returns the width it took."""
        self.width(style, "", weight)
        metrics = self._metrics[(style, weight)]
        shown, advance = text, metrics.horizontalAdvance(text)
        if advance > rect.width() + 0.5:
            room = max(0.0, rect.width()) + 0.5
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            advance = metrics.horizontalAdvance(shown)
        painter.setFont(self.font(style, weight))
        painter.setPen(self.color(token))
        painter.drawText(rect, RIGHT if right else LEFT, shown)
        return advance

    def state(self, painter: QPainter, rect: QRectF, state: StateName, size_px: int = 14) -> None:
        """Paint a state's glyph."""
        self.icon(painter, rect, state_icon(state), state_token(state), size_px)

    def pill(
        self, painter: QPainter, right: float, middle: float, state: StateName, word: str
    ) -> float:
        """Paint a state as glyph and word on its tint, ending at `right`; returns its left edge."""
        width = 34 + self.width("label", word)
        box = QRectF(right - width, middle - 10, width, 20)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.color(f"state.{state}_tint"))
        painter.drawRoundedRect(box, 10, 10)
        self.state(painter, QRectF(box.x() + 7, box.y(), 14, 20), state)
        self.line(painter, box.adjusted(26, 0, 0, 0), word, "label", state_text_token(state))
        return box.x()
