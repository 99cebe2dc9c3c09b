"""The right column of the Threads page: logs and figures of the open thread, under tabs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from sa_builder.ui.logs.panel import LogsPanel
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads.inspector import Inspector
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.marks import Separator


class SidePanel(QWidget):
    """Logs and Inspector under one strip of tabs."""

    def __init__(self, theme: Theme, logs: LogsPanel, inspector: Inspector) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("panel_right")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.strip = QWidget(self)
        self.strip.setFixedHeight(theme.size("page_header"))
        row = QHBoxLayout(self.strip)
        row.setContentsMargins(8, 0, 10, 0)
        self.tabs = make_tabs(self, (tr("Logs"), tr("Inspector")))
        self.tabs.setStyleSheet("QTabBar::tab { min-height: 42px; }")
        row.addWidget(self.tabs, 0, Qt.AlignmentFlag.AlignBottom)
        row.addStretch(1)
        column.addWidget(self.strip)
        self._line = Separator(theme, parent=self)
        column.addWidget(self._line)
        self.stack = QStackedWidget(self)
        self.stack.addWidget(logs)
        self.stack.addWidget(inspector)
        self.tabs.currentChanged.connect(self.stack.setCurrentIndex)
        column.addWidget(self.stack, 1)

    def set_strip_visible(self, visible: bool) -> None:
        """Show the tabs here, or leave them to the page."""
        self.strip.setVisible(visible)
        self._line.setVisible(visible)


def make_tabs(parent: QWidget, names: Sequence[str]) -> QTabBar:
    """A strip of tabs without a base line."""
    tabs = QTabBar(parent)
    tabs.setDrawBase(False)
    tabs.setExpanding(False)
    for name in names:
        tabs.addTab(name)
    return tabs
