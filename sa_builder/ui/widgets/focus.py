"""The keyboard focus ring: 2 px, with a gap of 2 px, around controls that paint themselves."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractScrollArea, QSplitter, QStackedWidget, QWidget

from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.paint import paint_box

_REACH_PX = 4
_BY_KEYBOARD = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class FocusRing(QWidget):
    """Lies over the surroundings of one control while that has the focus by keyboard."""

    def __init__(self, theme: Theme, target: QWidget, radius_px: float) -> None:
        """Watch `target`; the ring shows itself.

        Args:
            radius_px: of the target's own corners.
        """
        super().__init__(target)
        self._theme = theme
        self._target = target
        self._radius_px = radius_px
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        target.installEventFilter(self)
        theme.changed.connect(self.update)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.FocusIn and isinstance(event, QFocusEvent):
            if event.reason() in _BY_KEYBOARD:
                self._place()
        elif kind in (QEvent.Type.FocusOut, QEvent.Type.Hide):
            self.hide()
        elif kind in (QEvent.Type.Move, QEvent.Type.Resize) and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_box(
            painter,
            QRectF(self.rect()),
            self._radius_px + _REACH_PX,
            outline=self._theme.color("accent.focus"),
            width_px=self._theme.length("line.focus"),
        )

    def _place(self) -> None:
        home = self._home()
        if home is None:
            return
        if self.parentWidget() is not home:
            self.setParent(home)
        self.setGeometry(self._around(home))
        self.raise_()
        self.show()

    def _around(self, home: QWidget) -> QRect:
        corner = self._target.mapTo(home, QPoint(0, 0))
        around = QRect(corner, self._target.size())
        return around.adjusted(-_REACH_PX, -_REACH_PX, _REACH_PX, _REACH_PX)

    def _home(self) -> QWidget | None:
        """The nearest ancestor in which the whole ring is seen, but no further than a scroll
        area's view, out of which it would hang."""
        home = self._target.parentWidget()
        while home is not None and not home.isWindow():
            above = home.parentWidget()
            takes_children = not isinstance(home, QSplitter | QStackedWidget)
            if takes_children and home.rect().contains(self._around(home)):
                break
            if isinstance(above, QAbstractScrollArea):
                break
            home = above
        return home
