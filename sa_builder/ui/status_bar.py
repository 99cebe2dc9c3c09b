"""The line at the foot: what was written where, and how things stand."""

from __future__ import annotations

import html
import re

from PySide6.QtCore import QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.marks import Glyph, Separator, TextLabel
from sa_builder.ui.widgets.states import state_icon, state_token

_PATH = re.compile(r"(?<![\w/.\-])(/?(?:[\w.\-]+/)+[\w\-]+(?:\.[\w\-]+)*(?::\d+)?)")
_SAID_MS = 12_000


class _Entry(QWidget):
    """A glyph with a word, at the right end.

    Signals:
        clicked: pressed and released inside.
    """

    clicked = Signal()

    def __init__(self, theme: Theme, icon: str | None, token: str, parent: QWidget) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(5)
        self._glyph = Glyph(theme, icon or "info", token, size_px=14, parent=self)
        self._glyph.setVisible(icon is not None)
        self._label = TextLabel(theme, "", "small", "text.secondary", parent=self)
        row.addWidget(self._glyph)
        row.addWidget(self._label)
        self.hide()

    @property
    def text(self) -> str:
        """The word shown."""
        return self._label.text()

    def show_text(self, text: str, tip: str = "") -> None:
        """Show a word; an empty one hides the entry."""
        self._label.setText(text)
        self.setToolTip(tip)
        self.setAccessibleName(tip or text)
        self.setVisible(bool(text))

    def set_icon(self, icon: str, token: str) -> None:
        """Show another glyph."""
        self._glyph.set_icon(icon, token)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


class StatusBar(QWidget):
    """Says things at the left, shows states at the right.

    Signals:
        undo_wished: the link behind what was written.
        problems_wished: a problem count was clicked.
    """

    undo_wished = Signal()
    problems_wished = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedHeight(theme.size("statusbar"))
        self._said = ""
        self._kind = ""
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 1, 12, 0)
        row.setSpacing(10)
        self._glyph = Glyph(theme, "check", "state.done", size_px=14, parent=self)
        self._glyph.hide()
        self._text = QLabel(self)
        self._text.setFont(theme.font("small"))
        self._text.setTextFormat(Qt.TextFormat.RichText)
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._text.linkActivated.connect(self._on_link_activated)
        row.addWidget(self._glyph)
        row.addWidget(self._text, 1)
        self._errors = self._entry("error", "severity.error")
        self._warnings = self._entry("warning", "severity.warning")
        self._hints = self._entry("info", "severity.hint")
        self._branch = self._entry("branch", "text.secondary")
        self._mocks = self._entry("flask", "text.secondary")
        self._version = self._entry(None, "text.secondary")
        self._runtime = self._entry("state_waiting", "state.waiting")
        for entry in (self._errors, self._warnings, self._hints):
            entry.clicked.connect(self.problems_wished)
        for entry in (self._errors, self._warnings, self._hints):
            row.addWidget(entry)
        self._lines: list[tuple[_Entry, Separator]] = []
        for entry in (self._branch, self._mocks, self._version, self._runtime):
            line = Separator(theme, Qt.Orientation.Vertical, length_px=12, parent=self)
            line.hide()
            row.addWidget(line)
            row.addWidget(entry)
            self._lines.append((entry, line))
        self._fade = QTimer(self)
        self._fade.setSingleShot(True)
        self._fade.timeout.connect(self._on_fade_timeout)
        theme.changed.connect(self._on_theme_changed)

    @property
    def said(self) -> str:
        """What stands at the left, as plain text."""
        return self._said

    def say(self, sentence: str) -> None:
        """Say something that passes."""
        self._say(sentence, "")
        self._fade.start(_SAID_MS)

    def say_plain(self, sentence: str) -> None:
        """Say something that stays until something else is said."""
        self._fade.stop()
        self._say(sentence, "")

    def say_written(self, sentence: str, *, undo: bool = True) -> None:
        """Say what was written where; stays until something else is said."""
        self._fade.stop()
        self._say(sentence, "written_undo" if undo else "written")

    def say_trouble(self, sentence: str) -> None:
        """Say what went wrong; stays until something else is said."""
        self._fade.stop()
        self._say(sentence, "trouble")

    def show_problems(self, errors: int, warnings: int, hints: int) -> None:
        """Show how many problems there are."""
        for entry, count, word in (
            (self._errors, errors, "error"),
            (self._warnings, warnings, "warning"),
            (self._hints, hints, "hint"),
        ):
            plural = "" if count == 1 else "s"
            entry.show_text(f"{count}" if count else "", f"{count} {word}{plural}")
        self._align_lines()

    def show_branch(self, branch: str) -> None:
        """Show the git branch; empty hides it."""
        self._branch.show_text(branch, f"git branch {branch}" if branch else "")
        self._align_lines()

    def show_test_mode(self, on: bool, mock_count: int) -> None:
        """Show whether models answer from recordings."""
        plural = "" if mock_count == 1 else "s"
        self._mocks.show_text(f"answers from {mock_count} recorded mock{plural}" if on else "")
        self._align_lines()

    def show_version(self, version: str) -> None:
        """Show the product's version; empty hides it."""
        self._version.show_text(version)
        self._align_lines()

    def show_runtime(self, state: str, words: str) -> None:
        """Show the runtime's state: one of the five and its words."""
        self._runtime.set_icon(state_icon(state), state_token(state))
        self._runtime.show_text(words)
        self._align_lines()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("surface.window"))
        painter.fillRect(QRectF(0, 0, self.width(), 1), self._theme.color("line.default"))

    def _entry(self, icon: str | None, token: str) -> _Entry:
        return _Entry(self._theme, icon, token, self)

    def _align_lines(self) -> None:
        counts = (self._errors, self._warnings, self._hints)
        before = any(not entry.isHidden() for entry in counts)
        for entry, line in self._lines:
            line.setVisible(before and not entry.isHidden())
            before = before or not entry.isHidden()

    def _say(self, sentence: str, kind: str) -> None:
        self._said = sentence
        self._kind = kind
        icons = {"": "", "trouble": "warning"}
        icon = icons.get(kind, "check")
        self._glyph.setVisible(bool(icon))
        if icon:
            self._glyph.set_icon(icon, "state.parked" if kind == "trouble" else "state.done")
        self._paint_text()

    def _paint_text(self) -> None:
        color = self._theme.color
        font = self._theme.font("code_small")
        families = ",".join(f"'{family}'" for family in font.families())
        mono = f"font-family:{families};font-size:{font.pixelSize()}px"
        words = _PATH.sub(
            lambda found: f'<span style="{mono}">{found.group(1)}</span>',
            html.escape(self._said, quote=False),
        )
        text = f'<span style="color:{color("text.secondary").name()}">{words}</span>'
        if self._kind == "written_undo":
            link = color("text.link").name()
            text += f'&nbsp;&nbsp;<a href="undo" style="color:{link};text-decoration:none">Undo</a>'
        self._text.setText(text)
        self._text.setAccessibleName(self._said)
        self._text.setToolTip(self._said)

    @Slot(str)
    def _on_link_activated(self, link: str) -> None:
        self.undo_wished.emit()

    @Slot()
    def _on_fade_timeout(self) -> None:
        self._say("", "")

    @Slot()
    def _on_theme_changed(self) -> None:
        self._paint_text()
        self.update()
