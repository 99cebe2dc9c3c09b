"""Buttons, icon buttons, toggles and segments, painted from tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.focus import FocusRing
from sa_builder.ui.widgets.paint import paint_box, paint_pixmap_centered

ButtonRole = Literal["primary", "secondary", "danger", "quiet"]
_ICON_PX = 16
_ICON_GAP_PX = 7


class Button(QPushButton):
    """A push button: one primary a view, the rest secondary, danger or quiet."""

    def __init__(
        self,
        theme: Theme,
        text: str,
        role: ButtonRole = "secondary",
        *,
        icon: str | None = None,
        small: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self._role: ButtonRole = role
        self._icon_name = icon
        self._small = small
        self.setProperty("kit", True)
        self.setFont(theme.font("label" if small else "body", weight=self._weight()))
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self._ring = FocusRing(theme, self, theme.size("radius.button"))
        theme.changed.connect(self.update)

    @property
    def role(self) -> ButtonRole:
        """How much it weighs."""
        return self._role

    def set_icon_name(self, icon: str | None) -> None:
        """Show another icon, or none."""
        self._icon_name = icon
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        width = metrics.horizontalAdvance(self.text().replace("&", "")) + 2 * self._padding()
        if self._icon_name is not None:
            width += _ICON_PX + (_ICON_GAP_PX if self.text() else 0)
        if self._has_menu():
            width += _ICON_PX
        return QSize(width, self._theme.size("button_small" if self._small else "button"))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        fill, outline = self._box()
        radius = self._theme.size("radius.button")
        paint_box(painter, QRectF(self.rect()), radius, fill=fill, outline=outline)
        token = self._text_token()
        content = self.rect().adjusted(self._padding(), 0, -self._padding(), 0)
        width = self.sizeHint().width() - 2 * self._padding()
        x = content.x() + max(0, (content.width() - width) // 2)
        if self._icon_name is not None:
            dpr = self.devicePixelRatioF()
            pixmap = self._theme.pixmap(self._icon_name, token, _ICON_PX, dpr)
            box = QRectF(x, 0, _ICON_PX, self.height())
            paint_pixmap_centered(painter, box, pixmap)
            x += _ICON_PX + _ICON_GAP_PX
        painter.setFont(self.font())
        painter.setPen(self._theme.color(token))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextShowMnemonic
        rest = QRect(x, 0, self.width() - x, self.height())
        painter.drawText(rest, int(flags), self.text())
        if self._has_menu():
            pixmap = self._theme.pixmap("chevron_down", token, 12, self.devicePixelRatioF())
            box = QRectF(self.width() - self._padding() - 12, 0, 12, self.height())
            paint_pixmap_centered(painter, box, pixmap)

    def _has_menu(self) -> bool:
        return cast("QMenu | None", self.menu()) is not None

    def _weight(self) -> int:
        return 600 if self._role == "primary" else 500

    def _padding(self) -> int:
        return 9 if self._small else 13

    def _text_token(self) -> str:
        if not self.isEnabled():
            return "text.disabled"
        return {
            "primary": "text.on_accent",
            "secondary": "text.primary",
            "danger": "state.failed_text",
            "quiet": "text.secondary",
        }[self._role]

    def _box(self) -> tuple[QColor | None, QColor | None]:
        color = self._theme.color
        pressed = self.isDown() or self.isChecked()
        hover = self.underMouse() and self.isEnabled()
        if self._role == "quiet":
            if pressed:
                return color("surface.selected"), None
            return (color("surface.hover") if hover else None), None
        if not self.isEnabled():
            return color("surface.button"), color("line.default")
        if self._role == "primary":
            name = "pressed" if pressed else "hover" if hover else "base"
            return color(f"accent.{name}"), None
        suffix = "_pressed" if pressed else "_hover" if hover else ""
        return color(f"surface.button{suffix}"), color("line.field")


class IconButton(QToolButton):
    """A square button with an icon; its tip is its accessible name."""

    def __init__(
        self,
        theme: Theme,
        icon: str,
        tip: str,
        *,
        size_px: int = 28,
        icon_px: int = 16,
        checkable: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon_name = icon
        self._icon_px = icon_px
        self._badge_count = 0
        self.setProperty("kit", True)
        self.setFixedSize(size_px, size_px)
        self._size_px = size_px
        self.setCheckable(checkable)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.set_tip(tip)
        self._ring = FocusRing(theme, self, theme.size("radius.button"))
        theme.changed.connect(self.update)

    def set_tip(self, tip: str) -> None:
        """Say what it does, to the eye and to a screen reader."""
        self.setToolTip(tip)
        self.setAccessibleName(tip)

    def set_icon_name(self, icon: str) -> None:
        """Show another icon."""
        self._icon_name = icon
        self.update()

    def set_badge(self, count: int) -> None:
        """Show a number at the corner; 0 shows none."""
        self._badge_count = count
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._size_px, self._size_px)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        token = "text.secondary"
        fill = None
        if not self.isEnabled():
            token = "text.disabled"
        elif self.isChecked() or self.isDown():
            token, fill = "accent.on_tint", color("surface.selected")
        elif self.underMouse():
            token, fill = "text.primary", color("surface.hover")
        if fill is not None:
            paint_box(painter, QRectF(self.rect()), self._theme.size("radius.button"), fill=fill)
        pixmap = self._theme.pixmap(self._icon_name, token, self._icon_px, self.devicePixelRatioF())
        paint_pixmap_centered(painter, QRectF(self.rect()), pixmap)
        if self._badge_count:
            self._paint_badge(painter)

    def _paint_badge(self, painter: QPainter) -> None:
        font = self._theme.font("caption", weight=600)
        font.setPixelSize(10)
        text = str(self._badge_count) if self._badge_count < 100 else "99+"
        width = max(16, QFontMetrics(font).horizontalAdvance(text) + 8)
        box = QRectF(self.width() - width - 1, 1, width, 16)
        paint_box(
            painter,
            box,
            8,
            fill=self._theme.color("state.parked_tint"),
            outline=self._theme.color("state.parked"),
        )
        painter.setFont(font)
        painter.setPen(self._theme.color("state.parked_text"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


class Toggle(QCheckBox):
    """An on/off switch of 28 × 16, with an optional word behind it."""

    def __init__(self, theme: Theme, text: str = "", *, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self.setFont(theme.font("small"))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._ring = FocusRing(theme, self, theme.size("toggle_height") / 2)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        width = self._theme.size("toggle_width")
        if self.text():
            width += 8 + QFontMetrics(self.font()).horizontalAdvance(self.text())
        return QSize(width, max(self._theme.size("toggle_height"), 20 if self.text() else 0))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: object) -> bool:
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        width, height = self._theme.size("toggle_width"), self._theme.size("toggle_height")
        track = QRectF(0, (self.height() - height) / 2, width, height)
        on, enabled = self.isChecked(), self.isEnabled()
        if on:
            fill = color("accent.hover" if self.underMouse() else "accent.base")
            if not enabled:
                fill = color("line.default")
            paint_box(painter, track, height / 2, fill=fill)
        else:
            outline = color("line.field" if enabled else "line.default")
            fill = color("surface.hover" if self.underMouse() and enabled else "surface.field")
            paint_box(painter, track, height / 2, fill=fill, outline=outline)
        knob_px = 10.0 if on else 8.0
        x = track.right() - knob_px - 3 if on else track.x() + 4
        knob = QRectF(x, track.center().y() - knob_px / 2, knob_px, knob_px)
        token = "text.on_accent" if on else "line.field" if enabled else "line.default"
        paint_box(painter, knob, knob_px / 2, fill=color(token))
        if self.text():
            painter.setFont(self.font())
            painter.setPen(color("text.secondary" if enabled else "text.disabled"))
            rest = self.rect().adjusted(width + 8, 0, 0, 0)
            painter.drawText(rest, Qt.AlignmentFlag.AlignVCenter, self.text())


class _Segment(QToolButton):
    """One choice of `Segments`."""

    def __init__(self, theme: Theme, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kit", True)
        self.setText(text)
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self.is_first = False
        self.is_last = False

    def sizeHint(self) -> QSize:
        strong = QFontMetrics(self._theme.font("label", weight=600))
        return QSize(strong.horizontalAdvance(self.text()) + 18, 24)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._theme
        radius = theme.size("radius.field")
        whole = QRectF(self.rect())
        left = 0.0 if self.is_first else -2.0 * radius
        right = 0.0 if self.is_last else 2.0 * radius
        painter.save()
        painter.setClipRect(self.rect())
        chosen = self.isChecked()
        fill = "surface.selected" if chosen else "surface.field"
        if not chosen and self.underMouse() and self.isEnabled():
            fill = "surface.hover"
        outline = "line.field" if self.isEnabled() else "line.default"
        paint_box(
            painter,
            whole.adjusted(left, 0, right, 0),
            radius,
            fill=theme.color(fill),
            outline=theme.color(outline),
        )
        if not self.is_first:
            painter.fillRect(QRectF(0, 0, 1, self.height()), theme.color(outline))
        painter.restore()
        token = "accent.on_tint" if chosen else "text.primary"
        if not self.isEnabled():
            token = "text.disabled"
        painter.setFont(theme.font("label", weight=600 if chosen else 500))
        painter.setPen(theme.color(token))
        painter.drawText(whole, Qt.AlignmentFlag.AlignCenter, self.text())


class Segments(QWidget):
    """A choice of two or three, all in sight; the arrow keys move in it.

    Signals:
        value_chosen: the value, str; by a person only.
    """

    value_chosen = Signal(str)

    def __init__(
        self,
        theme: Theme,
        choices: Sequence[tuple[str, str]],
        *,
        value: str | None = None,
        name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """Lay the choices side by side.

        Args:
            choices: value and word of each.
            value: the one chosen at first; None takes the first.
            name: the accessible name of the group.
        """
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._values: list[str] = []
        self._segments: list[_Segment] = []
        for index, (key, word) in enumerate(choices):
            segment = _Segment(theme, word, self)
            segment.is_first = index == 0
            segment.is_last = index == len(choices) - 1
            segment.setAccessibleName(f"{name}: {word}" if name else word)
            self._group.addButton(segment, index)
            FocusRing(theme, segment, theme.size("radius.field"))
            row.addWidget(segment)
            self._values.append(key)
            self._segments.append(segment)
        self.set_value(value if value is not None else self._values[0])
        self._group.idClicked.connect(self._on_group_clicked)
        theme.changed.connect(self.update)

    @property
    def value(self) -> str:
        """The chosen value."""
        return self._values[max(0, self._group.checkedId())]

    def set_value(self, value: str) -> None:
        """Choose without a signal; an unknown value changes nothing."""
        if value in self._values:
            self._segments[self._values.index(value)].setChecked(True)

    def segment(self, value: str) -> QToolButton:
        """The button of a choice."""
        return self._segments[self._values.index(value)]

    @Slot(int)
    def _on_group_clicked(self, index: int) -> None:
        self.value_chosen.emit(self._values[index])
