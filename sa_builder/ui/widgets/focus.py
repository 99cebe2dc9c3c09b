"""The keyboard focus ring: 2 px, with a gap of 2 px, around controls that paint themselves."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.paint import paint_box

_REACH_PX = 4
_BY_POINTER = (Qt.FocusReason.MouseFocusReason, Qt.FocusReason.PopupFocusReason)


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
            if event.reason() not in _BY_POINTER:
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
        home = self._target.parentWidget()
        while isinstance(home, QSplitter | QStackedWidget):
            home = home.parentWidget()
        if home is None:
            return
        if self.parentWidget() is not home:
            self.setParent(home)
        corner = self._target.mapTo(home, QPoint(0, 0))
        around = QRect(corner, self._target.size())
        self.setGeometry(around.adjusted(-_REACH_PX, -_REACH_PX, _REACH_PX, _REACH_PX))
        self.raise_()
        self.show()
