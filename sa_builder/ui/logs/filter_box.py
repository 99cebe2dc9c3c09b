"""The filter field: terms become chips, the outline says whether the rest is understood."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from sa_builder.ui.logs.filter import LogFilter, read_filter
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.marks import Chip, Glyph, TextLabel
from sa_builder.ui.widgets.paint import paint_box

CHILDREN = "children:yes"
_KEYS = ("kind:", "status:", "model:", "tool:", "tokens>", CHILDREN)


class _Line(QLineEdit):
    """The part that is being written."""

    term_ended = Signal()
    chip_removal_wished = Signal()
    focus_changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("log_filter")
        self.setFont(theme.font("small"))
        self.setPlaceholderText("kind:model status:failed tokens>1000 tool:search")
        self.setAccessibleName(tr("Filter log rows"))
        self.setStyleSheet(
            "QLineEdit, QLineEdit:focus { border: 0; background: transparent;"
            " padding: 0; min-height: 20px; }"
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        at_start = self.cursorPosition() == 0 and not self.hasSelectedText()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.term_ended.emit()
            return
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
            return
        if event.key() == Qt.Key.Key_Backspace and at_start:
            self.chip_removal_wished.emit()
            return
        super().keyPressEvent(event)
        if event.key() == Qt.Key.Key_Space:
            self.term_ended.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()


class FilterBox(QWidget):
    """A field of chips and words.

    Signals:
        changed: a LogFilter that holds, and whether children are included, changed.
    """

    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._terms: list[str] = []
        self._chips: list[Chip] = []
        self._filter = LogFilter()
        self._told: tuple[LogFilter, bool] = (LogFilter(), False)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        self._box = QWidget(self)
        self._box.setFixedHeight(28)
        self._row = QHBoxLayout(self._box)
        self._row.setContentsMargins(9, 0, 8, 0)
        self._row.setSpacing(6)
        self._row.addWidget(Glyph(theme, "filter", "text.secondary", size_px=16, parent=self))
        self.line = _Line(theme, self)
        self.line.term_ended.connect(self._on_line_term_ended)
        self.line.chip_removal_wished.connect(self._on_line_chip_removal_wished)
        self.line.textChanged.connect(self._on_line_text_changed)
        self.line.focus_changed.connect(self.update)
        self._row.addWidget(self.line, 1)
        column.addWidget(self._box)
        self.fault = TextLabel(theme, "", "small", "state.failed_text", parent=self)
        self.fault.hide()
        column.addWidget(self.fault)
        theme.changed.connect(self.update)

    @property
    def filter(self) -> LogFilter:
        """The last filter that could be read whole."""
        return self._told[0]

    @property
    def includes_children(self) -> bool:
        """Whether rows of child threads are wanted."""
        return CHILDREN in self._terms

    @property
    def is_valid(self) -> bool:
        """Whether all that is written is understood."""
        return self._filter.fault is None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is filtered out."""
        filter_ = self._told[0]
        return not (filter_.terms or filter_.text)

    def set_includes_children(self, on: bool) -> None:
        """Put the chip of the children in or out."""
        if on != self.includes_children:
            if on:
                self._terms.insert(0, CHILDREN)
            else:
                self._terms.remove(CHILDREN)
            self._show_chips()
            self._read()

    def set_text(self, text: str) -> None:
        """Filter by a text in place of all that was written."""
        self._terms = [CHILDREN] if self.includes_children else []
        self.line.setText(text)
        self._on_line_term_ended()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        color = self._theme.color
        written = bool(self._filter.terms or self._filter.text or self._filter.fault)
        focused = self.line.hasFocus()
        if self._filter.fault is not None:
            outline = color("state.failed")
        elif written:
            outline = color("state.done")
        else:
            outline = color("accent.focus" if focused else "line.field")
        width = 2.0 if focused else 1.0
        rect = QRectF(self._box.geometry())
        paint_box(painter, rect, 6, fill=color("surface.field"), outline=outline, width_px=width)

    def _words(self, text: str) -> str:
        """All that is written, but for a last word that may still become the name of a key."""
        *before, last = text.split(" ")
        if last and any(key.startswith(last) for key in _KEYS):
            last = ""
        terms = [term for term in self._terms if term != CHILDREN]
        return " ".join((*terms, *before, last)).strip()

    def _read(self, *, whole: bool = False) -> None:
        text = f"{self.line.text()} " if whole else self.line.text()
        self._filter = read_filter(self._words(text))
        self.fault.setVisible(self._filter.fault is not None)
        self.fault.setText(self._filter.fault or "")
        self.line.setToolTip(self._filter.fault or "")
        self.update()
        now = (self._filter, self.includes_children)
        if self._filter.fault is None and now != self._told:
            self._told = now
            self.changed.emit()

    def _show_chips(self) -> None:
        for chip in self._chips:
            self._row.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self._chips.clear()
        for number, term in enumerate(self._terms):
            chip = Chip(self._theme, term, removable=True, parent=self)
            chip.setProperty("term", term)
            chip.removed.connect(self._on_chip_removed)
            self._row.insertWidget(1 + number, chip)
            self._chips.append(chip)

    @Slot()
    def _on_line_term_ended(self) -> None:
        """Turn whole terms into chips; words stay words."""
        kept: list[str] = []
        for word in self.line.text().split():
            if word == CHILDREN:
                self.set_includes_children(True)
            elif read_filter(word).terms and read_filter(word).fault is None:
                self._terms.append(word)
            else:
                kept.append(word)
        text = " ".join(kept) + (" " if kept and self.line.text().endswith(" ") else "")
        if text != self.line.text():
            self.line.setText(text)
        self._show_chips()
        self._read(whole=True)

    @Slot()
    def _on_line_chip_removal_wished(self) -> None:
        if self._terms:
            self._terms.pop()
            self._show_chips()
            self._read()

    @Slot()
    def _on_chip_removed(self) -> None:
        term = str(self.sender().property("term"))
        if term in self._terms:
            self._terms.remove(term)
            self._show_chips()
            self._read()
            self.line.setFocus()

    @Slot(str)
    def _on_line_text_changed(self, text: str) -> None:
        self._read()
