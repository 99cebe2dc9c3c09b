"""The top bar: mark, menus, the way to everything, test mode, panels."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenuBar, QPushButton, QSizePolicy, QWidget

from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.buttons import IconButton, Toggle
from sa_builder.ui.widgets.focus import FocusRing
from sa_builder.ui.widgets.marks import Glyph, Separator, TextLabel, paint_key_cap
from sa_builder.ui.widgets.paint import paint_box, paint_pixmap_centered

_SEARCH_PX = 440
_PANELS = (
    ("left", "panel_left", "Show or hide the left panel"),
    ("bottom", "panel_bottom", "Show or hide the bottom panel"),
    ("right", "panel_right", "Show or hide the right panel"),
)


class LogoMark(QWidget):
    """The product's mark: a part with two terminals."""

    def __init__(self, theme: Theme, size_px: int = 20, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedSize(size_px, size_px)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        unit = self.width() / 16
        painter.scale(unit, unit)
        stroke = 1.5
        pen = painter.pen()
        pen.setWidthF(stroke)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setColor(self._theme.color("accent.base"))
        painter.setPen(pen)
        painter.drawLine(QRectF(0.8, 8, 2.6, 0).topLeft(), QRectF(0.8, 8, 2.6, 0).topRight())
        painter.drawLine(QRectF(12.6, 8, 2.6, 0).topLeft(), QRectF(12.6, 8, 2.6, 0).topRight())
        pen.setColor(self._theme.color("text.primary"))
        painter.setPen(pen)
        painter.drawRoundedRect(QRectF(4, 2.6, 8, 10.8), 2.4, 2.4)
        painter.drawLine(QRectF(8, 2.6, 0, 10.8).topLeft(), QRectF(8, 2.6, 0, 10.8).bottomLeft())


class SearchButton(QPushButton):
    """Looks like a field and opens the palette."""

    def __init__(self, theme: Theme, keys: tuple[str, ...], parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._keys = keys
        self.setProperty("kit", True)
        self.setText("Go to a definition, thread or command")
        self.setAccessibleName(self.text())
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        FocusRing(theme, self, theme.size("radius.field"))
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(_SEARCH_PX, 28)

    def minimumSizeHint(self) -> QSize:
        return QSize(40, 28)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._theme
        fill = "surface.hover" if self.underMouse() else "surface.field"
        paint_box(
            painter,
            QRectF(self.rect()),
            theme.size("radius.field"),
            fill=theme.color(fill),
            outline=theme.color("line.field"),
        )
        pixmap = theme.pixmap("search", "text.muted", 16, self.devicePixelRatioF())
        paint_pixmap_centered(painter, QRectF(10, 0, 16, self.height()), pixmap)
        right = self.width() - 6
        painter.setFont(theme.font("code_small"))
        for key in reversed(self._keys):
            width = max(18, painter.fontMetrics().horizontalAdvance(key) + 12)
            if right - width < 240:
                break
            paint_key_cap(painter, theme, QRectF(right - width, 5, width, 18), key)
            right -= width + 9
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text.muted"))
        room = right - 40
        shown = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(34, 0, room, self.height()), Qt.AlignmentFlag.AlignVCenter, shown)


class TopBar(QWidget):
    """Stands where the menu bar does.

    Signals:
        search_wished: the search field was pressed.
        test_mode_wished: bool, by a person.
        panel_wished: "left", "bottom" or "right", str.
    """

    search_wished = Signal()
    test_mode_wished = Signal(bool)
    panel_wished = Signal(str)

    def __init__(self, theme: Theme, keys: tuple[str, ...], parent: QWidget | None = None) -> None:
        """Lay it out.

        Args:
            keys: the caps of the palette's shortcut.
        """
        super().__init__(parent)
        self._theme = theme
        self.setFixedHeight(theme.size("topbar"))
        self.menus = QMenuBar(self)
        self.menus.setFont(theme.font("body"))
        self.menus.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._left = QWidget(self)
        left = QHBoxLayout(self._left)
        left.setContentsMargins(14, 0, 0, 1)
        left.setSpacing(12)
        left.addWidget(LogoMark(theme, 20, self._left))
        left.addWidget(self.menus)
        self._search = SearchButton(theme, keys, self)
        self._search.clicked.connect(self.search_wished)
        self._right = QWidget(self)
        right = QHBoxLayout(self._right)
        right.setContentsMargins(0, 0, 8, 1)
        right.setSpacing(4)
        flask = Glyph(theme, "flask", "text.secondary", parent=self._right)
        word = TextLabel(theme, "Test mode", "body", "text.secondary", parent=self._right)
        self._toggle = Toggle(theme, parent=self._right)
        self._toggle.setAccessibleName("Test mode: models and the web answer from recordings")
        self._toggle.setToolTip("Models and the web answer from the project's recordings")
        self._toggle.setObjectName("test_mode")
        self._toggle.clicked.connect(self._on_toggle_clicked)
        for widget, after in ((flask, 2), (word, 2), (self._toggle, 8)):
            right.addWidget(widget)
            right.addSpacing(after)
        self._line = Separator(theme, Qt.Orientation.Vertical, length_px=20, parent=self._right)
        right.addWidget(self._line)
        right.addSpacing(4)
        self._panels: dict[str, IconButton] = {}
        for name, icon, tip in _PANELS:
            button = IconButton(theme, icon, tip, parent=self._right)
            button.setProperty("panel", name)
            button.clicked.connect(self._on_panel_clicked)
            right.addWidget(button)
            self._panels[name] = button
        self._left.installEventFilter(self)
        self._right.installEventFilter(self)
        self.show_panels(())
        theme.changed.connect(self.update)

    @property
    def test_mode_toggle(self) -> Toggle:
        """The switch itself."""
        return self._toggle

    def set_test_mode(self, on: bool) -> None:
        """Show the test mode without a signal."""
        self._toggle.setChecked(on)

    def show_panels(self, names: tuple[str, ...]) -> None:
        """Show the buttons of the panels that the page has."""
        for name, button in self._panels.items():
            button.setVisible(name in names)
        self._line.setVisible(bool(names))
        self._lay()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._lay()
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("surface.window"))
        line = QRectF(0, self.height() - 1, self.width(), 1)
        painter.fillRect(line, self._theme.color("line.default"))

    def _lay(self) -> None:
        height = self.height()
        left_px = self._left.sizeHint().width()
        right_px = self._right.sizeHint().width()
        self._left.setGeometry(0, 0, left_px, height)
        self._right.setGeometry(self.width() - right_px, 0, right_px, height)
        half = self.width() / 2 - max(left_px, right_px) - 16
        width = min(_SEARCH_PX, round(2 * half))
        x = (self.width() - width) // 2
        if width < 200:  # no room in the middle: what is left between the two
            x = left_px + 12
            width = self.width() - left_px - right_px - 24
        self._search.setVisible(width >= 60)
        self._search.setGeometry(x, (height - 1 - 28) // 2, max(0, width), 28)

    @Slot()
    def _on_toggle_clicked(self) -> None:
        self.test_mode_wished.emit(self._toggle.isChecked())

    @Slot()
    def _on_panel_clicked(self) -> None:
        self.panel_wished.emit(str(self.sender().property("panel")))
