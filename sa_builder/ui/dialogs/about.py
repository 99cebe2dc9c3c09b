"""What this is, which version, and where its things lie; and the list of shortcuts."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path

import PySide6
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from sa_builder.ui.actions import RegisteredAction
from sa_builder.ui.dialogs.sheet import Sheet
from sa_builder.ui.theme import Theme
from sa_builder.ui.top_bar import LogoMark
from sa_builder.ui.widgets.marks import KeyCap, TextLabel


class AboutDialog(Sheet):
    """Version, licence, and the folders that a bug report may need."""

    def __init__(
        self, theme: Theme, version: str, places: Sequence[tuple[str, Path]], parent: QWidget
    ) -> None:
        super().__init__(theme, "About Standard Agents Builder", parent, width_px=520)
        self.setObjectName("about_dialog")
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(LogoMark(theme, 32, self))
        words = (
            f"Version {version}. Python {platform.python_version()}, "
            f"PySide6 {PySide6.__version__}, {platform.system()} {platform.machine()}. "
            "MIT licence."
        )
        head.addWidget(TextLabel(theme, words, wrap=True, parent=self), 1)
        self.body.addLayout(head)
        grid = QGridLayout()
        grid.setContentsMargins(0, 12, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setColumnStretch(1, 1)
        for row, (word, path) in enumerate(places):
            grid.addWidget(TextLabel(theme, word, "label", "text.secondary", parent=self), row, 0)
            shown = TextLabel(theme, str(path), "code_small", wrap=True, parent=self)
            shown.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(shown, row, 1)
        self.body.addLayout(grid)
        close = self.add_button("Close", "primary")
        close.clicked.connect(self.accept)


class ShortcutsDialog(Sheet):
    """Every action that has keys, by group."""

    def __init__(self, theme: Theme, actions: Sequence[RegisteredAction], parent: QWidget) -> None:
        super().__init__(theme, "Keyboard shortcuts", parent, width_px=520)
        self.setObjectName("shortcuts_dialog")
        area = QScrollArea(self)
        area.setWidgetResizable(True)
        area.setMinimumHeight(360)
        inner = QWidget()
        inner.setObjectName("panel")
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 12, 0)
        column.setSpacing(6)
        groups: dict[str, list[RegisteredAction]] = {}
        for action in actions:
            if action.shortcuts():
                groups.setdefault(action.group or "Window", []).append(action)
        for group, members in groups.items():
            column.addWidget(TextLabel(theme, group, "strong", parent=inner))
            for action in members:
                row = QHBoxLayout()
                row.setSpacing(4)
                title = action.text().replace("&", "")
                row.addWidget(TextLabel(theme, title, "body", "text.secondary", parent=inner))
                row.addStretch(1)
                for key in key_caps(action.shortcut()):
                    row.addWidget(KeyCap(theme, key, parent=inner))
                column.addLayout(row)
            column.addSpacing(8)
        column.addStretch(1)
        area.setWidget(inner)
        self.body.addWidget(area, 1)
        close = self.add_button("Close", "primary")
        close.clicked.connect(self.accept)


def key_caps(sequence: QKeySequence) -> tuple[str, ...]:
    """The keys of a shortcut, one cap each."""
    text = sequence.toString(QKeySequence.SequenceFormat.NativeText)
    if not text:
        return ()
    first = text.split(", ")[0]
    if first.endswith("++"):
        return (*[part for part in first[:-2].split("+") if part], "+")
    return tuple(first.split("+"))
