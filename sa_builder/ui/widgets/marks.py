"""Small things that say one thing: pills, chips, tiles, key caps, glyphs, elided text."""

from __future__ import annotations

import html

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QSizePolicy, QWidget

from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.focus import FocusRing
from sa_builder.ui.widgets.paint import (
    paint_box,
    paint_pixmap_centered,
    paint_side_disc,
    paint_tile,
)
from sa_builder.ui.widgets.states import StateName, state_icon, state_text_token, state_token


class Pill(QWidget):
    """A state as glyph and word on its tint."""

    def __init__(
        self,
        theme: Theme,
        state: StateName,
        text: str | None = None,
        *,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._state: StateName = state
        self._text = state if text is None else text
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self._text)
        theme.changed.connect(self.update)

    @property
    def state(self) -> StateName:
        """The state shown."""
        return self._state

    @property
    def text(self) -> str:
        """The word shown."""
        return self._text

    def set_state(self, state: StateName, text: str | None = None) -> None:
        """Show another state; its own word when `text` is None."""
        self._state = state
        self._text = state if text is None else text
        self.setAccessibleName(self._text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._theme.font("label"))
        return QSize(26 + metrics.horizontalAdvance(self._text) + 8, self._theme.size("pill"))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._theme
        rect = QRectF(self.rect())
        paint_box(painter, rect, rect.height() / 2, fill=theme.color(f"state.{self._state}_tint"))
        glyph = theme.pixmap(
            state_icon(self._state), state_token(self._state), 14, self.devicePixelRatioF()
        )
        paint_pixmap_centered(painter, QRectF(7, 0, 14, self.height()), glyph)
        painter.setFont(theme.font("label"))
        painter.setPen(theme.color(state_text_token(self._state)))
        painter.drawText(rect.adjusted(26, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, self._text)


class StateGlyph(QWidget):
    """A state as its glyph alone; the word is its tooltip and accessible name."""

    def __init__(
        self,
        theme: Theme,
        state: StateName,
        *,
        size_px: int = 16,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._size_px = size_px
        self.setFixedSize(size_px, size_px)
        self.set_state(state)
        theme.changed.connect(self.update)

    def set_state(self, state: StateName, word: str | None = None) -> None:
        """Show another state."""
        self._state = state
        self.setToolTip(word or state)
        self.setAccessibleName(word or state)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        pixmap = self._theme.pixmap(
            state_icon(self._state),
            state_token(self._state),
            self._size_px,
            self.devicePixelRatioF(),
        )
        QPainter(self).drawPixmap(0, 0, pixmap)


class Tile(QWidget):
    """A kind as its glyph on its hue."""

    def __init__(
        self, theme: Theme, kind: str, *, size_px: int = 24, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedSize(size_px, size_px)
        self.set_kind(kind)
        theme.changed.connect(self.update)

    def set_kind(self, kind: str) -> None:
        """Show another kind."""
        self._kind = kind
        self.setAccessibleName(kind)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        dpr = self.devicePixelRatioF()
        paint_tile(QPainter(self), self._theme, QRectF(self.rect()), self._kind, dpr)


class SideDisc(QWidget):
    """The letter of a side in its disc."""

    def __init__(
        self, theme: Theme, letter: str, *, size_px: int = 16, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._letter = letter
        self.setFixedSize(size_px, size_px)
        self.setAccessibleName(f"side {letter.upper()}")
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_side_disc(painter, self._theme, QRectF(self.rect()), self._letter)


class Glyph(QWidget):
    """An icon that is not a button."""

    def __init__(
        self,
        theme: Theme,
        icon: str,
        token: str = "text.secondary",
        *,
        size_px: int = 16,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon = icon
        self._token = token
        self._size_px = size_px
        self.setFixedSize(size_px, size_px)
        theme.changed.connect(self.update)

    def set_icon(self, icon: str, token: str) -> None:
        """Show another icon in another colour."""
        self._icon = icon
        self._token = token
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        dpr = self.devicePixelRatioF()
        pixmap = self._theme.pixmap(self._icon, self._token, self._size_px, dpr)
        QPainter(self).drawPixmap(0, 0, pixmap)


class Chip(QPushButton):
    """A filter or a tag; chosen it is tinted, and with a cross it can be taken away.

    Signals:
        removed: the cross was pressed, or Delete while it had the focus.
    """

    removed = Signal()

    def __init__(
        self,
        theme: Theme,
        text: str,
        *,
        icon: str | None = None,
        checkable: bool = False,
        removable: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self._icon_name = icon
        self._removable = removable
        self.setProperty("kit", True)
        self.setCheckable(checkable)
        self.setFont(theme.font("label"))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        if not checkable and not removable:
            self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._ring = FocusRing(theme, self, theme.size("radius.chip"))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        width = 16 + QFontMetrics(self._theme.font("label", weight=600)).horizontalAdvance(
            self.text()
        )
        width += 18 if self._icon_name is not None else 0
        width += 16 if self._removable else 0
        return QSize(width, self._theme.size("chip"))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def mouseReleaseEvent(self, e: QMouseEvent) -> None:
        if self._removable and e.position().x() >= self.width() - 22:
            self.setDown(False)
            self.removed.emit()
            return
        super().mouseReleaseEvent(e)

    def keyPressEvent(self, e: QKeyEvent) -> None:
        if self._removable and e.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit()
            return
        super().keyPressEvent(e)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._theme
        chosen = self.isChecked() or self._removable
        fill = theme.color("accent.tint") if chosen else theme.color("surface.card")
        if not chosen and self.isCheckable() and self.underMouse():
            fill = theme.color("surface.hover")
        outline = theme.color("accent.base" if chosen else "line.card")
        paint_box(
            painter, QRectF(self.rect()), theme.size("radius.chip"), fill=fill, outline=outline
        )
        token = "accent.on_tint" if chosen else "text.secondary"
        dpr = self.devicePixelRatioF()
        x = 8
        if self._icon_name is not None:
            pixmap = theme.pixmap(self._icon_name, token, 14, dpr)
            paint_pixmap_centered(painter, QRectF(x - 1, 0, 14, self.height()), pixmap)
            x += 17
        painter.setFont(theme.font("label", weight=600 if chosen and self.isCheckable() else 500))
        painter.setPen(theme.color(token))
        painter.drawText(
            self.rect().adjusted(x, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, self.text()
        )
        if self._removable:
            pixmap = theme.pixmap("close", token, 12, dpr)
            paint_pixmap_centered(painter, QRectF(self.width() - 20, 0, 14, self.height()), pixmap)


class KeyCap(QWidget):
    """One key of a shortcut, as on a keyboard."""

    def __init__(self, theme: Theme, text: str, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text = text
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(text)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._theme.font("code_small"))
        return QSize(max(18, metrics.horizontalAdvance(self._text) + 12), 18)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_key_cap(painter, self._theme, QRectF(self.rect()), self._text)


def paint_key_cap(painter: QPainter, theme: Theme, rect: QRectF, text: str) -> None:
    """A key cap: flat, its lower edge a second line."""
    paint_box(
        painter,
        rect,
        theme.size("radius.chip"),
        fill=theme.color("line.card"),
    )
    paint_box(
        painter,
        rect.adjusted(0, 0, 0, -1),
        theme.size("radius.chip"),
        fill=theme.color("surface.card"),
        outline=theme.color("line.card"),
    )
    painter.setFont(theme.font("code_small"))
    painter.setPen(theme.color("text.secondary"))
    painter.drawText(rect.adjusted(0, 0, 0, -1), Qt.AlignmentFlag.AlignCenter, text)


class Separator(QFrame):
    """A line of one pixel."""

    def __init__(
        self,
        theme: Theme,
        orientation: Qt.Orientation = Qt.Orientation.Horizontal,
        *,
        token: str = "line.default",
        length_px: int | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._token = token
        self._flat = orientation == Qt.Orientation.Horizontal
        if self._flat:
            self.setFixedHeight(1)
            if length_px is not None:
                self.setFixedWidth(length_px)
        else:
            self.setFixedWidth(1)
            if length_px is not None:
                self.setFixedHeight(length_px)
        theme.changed.connect(self.update)

    def paintEvent(self, arg__1: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), self._theme.color(self._token))


class ElidedLabel(QLabel):
    """One line of text that ends in … when there is no room, whole in its tooltip.

    Signals:
        clicked: pressed and released inside, when `clickable`.
    """

    clicked = Signal()

    def __init__(
        self,
        theme: Theme,
        text: str = "",
        style: str = "body",
        token: str = "text.primary",
        *,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        clickable: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self._token = token
        self._mode = mode
        self._clickable = clickable
        self.setFont(theme.font(style))
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        if clickable:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self.update)

    def set_token(self, token: str) -> None:
        """Paint in another colour."""
        self._token = token
        self.update()

    def setText(self, arg__1: str) -> None:
        super().setText(arg__1)
        self._say_whole()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(self.text()) + 1, metrics.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(24, QFontMetrics(self.font()).height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._say_whole()

    def mouseReleaseEvent(self, ev: QMouseEvent) -> None:
        if self._clickable and self.rect().contains(ev.position().toPoint()):
            self.clicked.emit()
        super().mouseReleaseEvent(ev)

    def paintEvent(self, arg__1: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(self._theme.color(self._token if self.isEnabled() else "text.disabled"))
        shown = QFontMetrics(self.font()).elidedText(self.text(), self._mode, self.width())
        align = self.alignment() & Qt.AlignmentFlag.AlignHorizontal_Mask
        painter.drawText(self.rect(), align | Qt.AlignmentFlag.AlignVCenter, shown)

    def _say_whole(self) -> None:
        fits = QFontMetrics(self.font()).horizontalAdvance(self.text()) <= self.width()
        self.setToolTip("" if fits else self.text())


class TextLabel(QLabel):
    """Text in a type style and a token's colour, also after the scheme changed.

    Wrapped text keeps the line height of its style.
    """

    def __init__(
        self,
        theme: Theme,
        text: str = "",
        style: str = "body",
        token: str = "text.primary",
        *,
        wrap: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._token = token
        self._style = style
        self._plain = ""
        self.setFont(theme.font(style))
        self.setWordWrap(wrap)
        self.setTextFormat(Qt.TextFormat.RichText if wrap else Qt.TextFormat.PlainText)
        self.setText(text)
        self._tint()
        theme.changed.connect(self._tint)

    def setText(self, arg__1: str) -> None:
        self._plain = arg__1
        self.setAccessibleName(arg__1)
        if not self.wordWrap():
            super().setText(arg__1)
            return
        body = html.escape(arg__1).replace("\n", "<br>")
        height = self._theme.line_height(self._style)
        super().setText(f'<div style="line-height:{height}px">{body}</div>' if body else "")

    def text(self) -> str:
        return self._plain

    def set_token(self, token: str) -> None:
        """Paint in another colour."""
        self._token = token
        self._tint()

    def _tint(self) -> None:
        palette = self.palette()
        palette.setColor(self.foregroundRole(), self._theme.color(self._token))
        self.setPalette(palette)


__all__ = [
    "Chip",
    "ElidedLabel",
    "Glyph",
    "KeyCap",
    "Pill",
    "Separator",
    "SideDisc",
    "StateGlyph",
    "TextLabel",
    "Tile",
    "paint_key_cap",
]
