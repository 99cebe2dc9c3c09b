"""The rail at the left edge: one button a page."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.buttons import IconButton


class Rail(QWidget):
    """Chooses the page.

    Signals:
        page_wished: the page's name, str.
    """

    page_wished = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._buttons: dict[str, IconButton] = {}
        self._chosen = ""
        self.setFixedWidth(theme.size("rail"))
        self.setAccessibleName("Pages")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(4, 6, 4, 6)
        self._column.setSpacing(2)
        self._column.addStretch(1)
        theme.changed.connect(self.update)

    def add_page(self, name: str, icon: str, tip: str, *, at_bottom: bool = False) -> None:
        """Add a page's button; those at the bottom stand below the gap."""
        size_px = self._theme.size("rail_button")
        button = IconButton(
            self._theme,
            icon,
            tip,
            size_px=size_px,
            icon_px=self._theme.size("icon.rail"),
            checkable=True,
            parent=self,
        )
        button.setObjectName(f"rail_{name}")
        button.setProperty("page", name)
        button.clicked.connect(self._on_button_clicked)
        above = sum(1 for one in self._buttons.values() if not one.property("at_bottom"))
        button.setProperty("at_bottom", at_bottom)
        if at_bottom:
            self._column.addWidget(button)
        else:
            self._column.insertWidget(above, button)
        self._buttons[name] = button

    def button(self, name: str) -> IconButton:
        """A page's button, for its badge."""
        return self._buttons[name]

    def show_only(self, names: tuple[str, ...]) -> None:
        """Show the buttons of these pages; without any the rail itself is hidden."""
        for key, button in self._buttons.items():
            button.setVisible(key in names)
        self.setVisible(bool(names))

    def choose(self, name: str) -> None:
        """Mark the page that is shown."""
        self._chosen = name
        for key, button in self._buttons.items():
            button.setChecked(key == name)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("surface.window"))
        line = QRectF(self.width() - 1, 0, 1, self.height())
        painter.fillRect(line, self._theme.color("line.default"))
        chosen = self._buttons.get(self._chosen)
        if chosen is not None:
            mark = QRectF(0, chosen.y() + 6, 2, chosen.height() - 12)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("accent.base"))
            painter.drawRoundedRect(mark, 1, 1)

    @Slot()
    def _on_button_clicked(self) -> None:
        name = str(self.sender().property("page"))
        self.choose(self._chosen)  # the page itself says when it is shown
        self.page_wished.emit(name)
