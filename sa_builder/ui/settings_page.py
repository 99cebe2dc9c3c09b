"""Settings: theme, test mode, trusted folders, and where things lie."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from sa_builder.ui.settings import Settings
from sa_builder.ui.theme import Preference, Theme
from sa_builder.ui.widgets.buttons import Button, Segments
from sa_builder.ui.widgets.marks import ElidedLabel, Glyph, Separator, TextLabel

_WIDTH_PX = 680


class SettingsPage(QScrollArea):
    """What may be set, each change kept at once.

    Signals:
        theme_chosen: "system", "light" or "dark", str.
        test_mode_chosen: True, False or None (as the project says), object.
    """

    theme_chosen = Signal(str)
    test_mode_chosen = Signal(object)

    def __init__(
        self,
        settings: Settings,
        theme: Theme,
        places: Sequence[tuple[str, Path]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._theme = theme
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        inner = QWidget()
        inner.setObjectName("panel")
        self.setWidget(inner)
        around = QHBoxLayout(inner)
        around.setContentsMargins(32, 28, 32, 28)
        block = QWidget(inner)
        block.setFixedWidth(_WIDTH_PX)
        around.addWidget(block, 0, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self._column = QVBoxLayout(block)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._column.addWidget(TextLabel(theme, "Settings", "title", parent=block))
        self._theme_segments = Segments(
            theme,
            (("system", "As the system"), ("light", "Light"), ("dark", "Dark")),
            value=settings.theme,
            name="Theme",
        )
        self._theme_segments.value_chosen.connect(self._on_theme_chosen)
        self._add("Theme", "Light and dark follow the system unless you say so.")
        self._column.addWidget(self._theme_segments)
        self._test_segments = Segments(
            theme,
            (("project", "As the project says"), ("on", "On"), ("off", "Off")),
            value=_word(settings.test_mode),
            name="Test mode",
        )
        self._test_segments.value_chosen.connect(self._on_test_mode_chosen)
        self._add(
            "Test mode",
            "Models and the web answer from the project's recordings (agents/mocks): no key, "
            "no network, no cost.",
        )
        self._column.addWidget(self._test_segments)
        self._add(
            "Trusted folders",
            "The code under agents/ of these folders may run. Every other folder is asked for "
            "once, before its code first runs.",
        )
        self._trusted = QVBoxLayout()
        self._trusted_rows: list[QWidget] = []
        self._trusted.setSpacing(0)
        self._column.addLayout(self._trusted)
        self._add("Where things lie", "")
        for word, path in places:
            self._add_place(word, path)
        self._column.addStretch(1)
        settings.changed.connect(self._on_settings_changed)
        self._on_settings_changed()

    def _add(self, title: str, sentence: str) -> None:
        self._column.addSpacing(12)
        self._column.addWidget(Separator(self._theme))
        self._column.addSpacing(8)
        self._column.addWidget(TextLabel(self._theme, title, "strong"))
        if sentence:
            label = TextLabel(self._theme, sentence, "small", "text.muted", wrap=True)
            self._column.addWidget(label)

    def _add_place(self, word: str, path: Path) -> None:
        row = QHBoxLayout()
        row.setSpacing(12)
        label = TextLabel(self._theme, word, "label", "text.secondary")
        label.setFixedWidth(120)
        row.addWidget(label)
        row.addWidget(ElidedLabel(self._theme, str(path), "code_small"), 1)
        button = Button(self._theme, "Show", small=True)
        button.setAccessibleName(f"Show {word.lower()} in the file browser")
        button.setProperty("path", str(path if path.is_dir() else path.parent))
        button.clicked.connect(self._on_show_clicked)
        row.addWidget(button)
        self._column.addLayout(row)

    @Slot()
    def _on_settings_changed(self) -> None:
        self._theme_segments.set_value(self._settings.theme)
        self._test_segments.set_value(_word(self._settings.test_mode))
        for widget in self._trusted_rows:
            self._trusted.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._trusted_rows = [self._trusted_row(path) for path in self._settings.trusted]
        if not self._trusted_rows:
            self._trusted_rows = [TextLabel(self._theme, "None yet.", "body", "text.muted")]
        for widget in self._trusted_rows:
            self._trusted.addWidget(widget)

    def _trusted_row(self, path: str) -> QWidget:
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 3, 0, 3)
        row.setSpacing(8)
        row.addWidget(Glyph(self._theme, "folder", parent=holder))
        row.addWidget(ElidedLabel(self._theme, path, "code", parent=holder), 1)
        button = Button(self._theme, "Take back", small=True, parent=holder)
        button.setAccessibleName(f"Take back the trust in {path}")
        button.setProperty("path", path)
        button.clicked.connect(self._on_take_back_clicked)
        row.addWidget(button)
        return holder

    @Slot(str)
    def _on_theme_chosen(self, value: str) -> None:
        self._settings.set_theme(cast("Preference", value))
        self.theme_chosen.emit(value)

    @Slot(str)
    def _on_test_mode_chosen(self, value: str) -> None:
        wish = {"project": None, "on": True, "off": False}[value]
        self._settings.set_test_mode(wish)
        self.test_mode_chosen.emit(wish)

    @Slot()
    def _on_take_back_clicked(self) -> None:
        self._settings.set_trusted(Path(str(self.sender().property("path"))), False)

    @Slot()
    def _on_show_clicked(self) -> None:
        path = str(self.sender().property("path"))
        QDesktopServices.openUrl(QUrl.fromLocalFile(path))


def _word(test_mode: bool | None) -> str:
    return "project" if test_mode is None else "on" if test_mode else "off"
