"""A code editor: line numbers, bands and bars for lines, an outline around the chosen span."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Slot
from PySide6.QtGui import (
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCursor,
    QTextLine,
    QWheelEvent,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from sa_builder.project.shapes import Span
from sa_builder.ui.compose.python_colours import PythonColours
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.paint import paint_box


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMark:
    """A band behind a line and a bar at its number."""

    band: str
    """A colour token."""
    bar: str
    """A colour token."""
    sign: str = ""
    """Stands in place of the number; lines with a sign are not counted."""


class CodeEditor(QPlainTextEdit):
    """Python text with marks; it knows no file."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._marks: dict[int, LineMark] = {}
        self._outlined: Span | None = None
        self._words: Sequence[tuple[Span, str]] = ()
        self.setObjectName("code")
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(theme.font("code"))
        self.setTabStopDistance(self.fontMetrics().horizontalAdvance(" ") * 4)
        self.document().setDocumentMargin(4)
        self._colours = PythonColours(self.document(), theme)
        self._gutter = _Gutter(self)
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)
        self.updateRequest.connect(self._on_update_requested)
        theme.changed.connect(self._on_theme_changed)

    def gutter_width(self) -> int:
        """Room for the bar and four figures."""
        return 18 + self.fontMetrics().horizontalAdvance("9999")

    def source(self) -> str:
        """The text, lines ended by a line feed; unlike `toPlainText` it keeps every character."""
        return self.document().toRawText().replace("\u2029", "\n")

    def show_marks(
        self,
        marks: dict[int, LineMark],
        outlined: Span | None = None,
        words: Sequence[tuple[Span, str]] = (),
    ) -> None:
        """Mark the text; what was marked before goes.

        Args:
            marks: by line, counted from 0.
            outlined: a span to draw a line around.
            words: spans to fill with a colour token each, over the bands.
        """
        self._marks = marks
        self._outlined = outlined
        self._words = words
        self._paint_bands()
        self.viewport().update()
        self._gutter.update()

    def show_line(self, line: int) -> None:
        """Scroll so that a line, counted from 1, is in sight with some before it."""
        block = self.document().findBlockByNumber(max(0, line - 1))
        if not block.isValid():
            return
        cursor = QTextCursor(block)
        self.setTextCursor(cursor)
        first = self.firstVisibleBlock().blockNumber()
        rows = max(1, self.viewport().height() // max(1, self.fontMetrics().lineSpacing()))
        if not first + 1 <= line - 1 <= first + rows - 3:
            self.verticalScrollBar().setValue(max(0, line - 1 - rows // 3))
        self.horizontalScrollBar().setValue(0)

    def resizeEvent(self, e: QResizeEvent) -> None:
        super().resizeEvent(e)
        inside = self.contentsRect()
        self._gutter.setGeometry(
            QRect(inside.left(), inside.top(), self.gutter_width(), inside.height())
        )

    def wheelEvent(self, e: QWheelEvent) -> None:
        if e.modifiers() & Qt.KeyboardModifier.ControlModifier:
            return  # the size of the type belongs to the theme
        super().wheelEvent(e)

    def paintEvent(self, e: QPaintEvent) -> None:
        super().paintEvent(e)
        span = self._outlined
        if span is None:
            return
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = self._theme.color("code.span_line")
        if span.line == span.end_line:
            block = self.document().findBlockByNumber(span.line - 1)
            rect = self._rect_in(block, span.column - 1, span.end_column - 1)
            if rect is not None:
                paint_box(painter, rect.adjusted(-2, 0, 2, 0), 3, outline=colour)
            return
        whole = self._rect_of_lines(span)
        if whole is not None:
            paint_box(painter, whole, 3, outline=colour)

    def paint_gutter(self, event: QPaintEvent) -> None:
        """Numbers and bars of the lines in sight."""
        painter = QPainter(self._gutter)
        theme = self._theme
        painter.fillRect(event.rect(), theme.color("surface.code"))
        painter.setFont(theme.font("code"))
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        uncounted = sum(
            bool(mark.sign) for line, mark in self._marks.items() if line < block.blockNumber()
        )
        width = self.gutter_width()
        while block.isValid() and top <= event.rect().bottom():
            height = self.blockBoundingRect(block).height()
            rect = QRectF(0, top, width, height)
            mark = self._marks.get(block.blockNumber())
            words = str(block.blockNumber() + 1 - uncounted)
            token = "code.line_number"
            if mark is not None:
                painter.fillRect(rect, theme.color(mark.band))
                painter.fillRect(QRectF(0, top, 3, height), theme.color(mark.bar))
                if mark.sign:
                    words, token = mark.sign, mark.bar
                    uncounted += 1
            painter.setPen(theme.color(token))
            painter.drawText(
                rect.adjusted(0, 0, -10, 0),
                Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                words,
            )
            top += height
            block = block.next()

    def position_of(self, line: int, column: int) -> int:
        """The document's offset of a place, both counted from 1; past the end is the end."""
        block = self.document().findBlockByNumber(line - 1)
        if not block.isValid():
            return max(0, self.document().characterCount() - 1)
        return block.position() + min(column - 1, max(0, block.length() - 1))

    def _paint_bands(self) -> None:
        painted: list[QTextEdit.ExtraSelection] = []
        for line, mark in self._marks.items():
            block = self.document().findBlockByNumber(line)
            if block.isValid():
                painted.append(self._selection(QTextCursor(block), mark.band, whole_line=True))
        for span, token in self._words:
            painted += [
                self._selection(cursor, token, whole_line=False) for cursor in self._pieces(span)
            ]
        self.setExtraSelections(painted)

    def _pieces(self, span: Span) -> list[QTextCursor]:
        """A span line by line, without the indents of its further lines."""
        cursors: list[QTextCursor] = []
        for number in range(span.line, span.end_line + 1):
            text = self.document().findBlockByNumber(number - 1).text()
            indent = len(text) - len(text.lstrip())
            start = span.column if number == span.line else indent + 1
            end = span.end_column if number == span.end_line else len(text) + 1
            cursor = QTextCursor(self.document())
            cursor.setPosition(self.position_of(number, start))
            cursor.setPosition(self.position_of(number, end), QTextCursor.MoveMode.KeepAnchor)
            cursors.append(cursor)
        return cursors

    def _selection(
        self, cursor: QTextCursor, token: str, *, whole_line: bool
    ) -> QTextEdit.ExtraSelection:
        one = QTextEdit.ExtraSelection()
        one.cursor = cursor
        form = one.format
        form.setBackground(self._theme.color(token))
        if whole_line:
            form.setProperty(int(form.Property.FullWidthSelection.value), True)
        return one

    def _rect_in(self, block: QTextBlock, start: int, end: int) -> QRectF | None:
        if not block.isValid():
            return None
        offset = self.blockBoundingGeometry(block).translated(self.contentOffset())
        line = block.layout().lineAt(0)
        if not line.isValid():
            return None
        left, right = _x_of(line, start), _x_of(line, min(end, block.length() - 1))
        return QRectF(
            offset.left() + left, offset.top() + line.y(), max(2.0, right - left), line.height()
        )

    def _rect_of_lines(self, span: Span) -> QRectF | None:
        whole: QRectF | None = None
        for number in range(span.line - 1, span.end_line):
            block = self.document().findBlockByNumber(number)
            text = block.text()
            indent = len(text) - len(text.lstrip())
            start = span.column - 1 if number == span.line - 1 else indent
            end = span.end_column - 1 if number == span.end_line - 1 else len(text)
            rect = self._rect_in(block, start, end)
            if rect is not None and text.strip():
                whole = rect if whole is None else whole.united(rect)
        return whole.adjusted(-3, 0, 4, 0) if whole is not None else None

    @Slot(QRect, int)
    def _on_update_requested(self, rect: QRect, by: int) -> None:
        if by:
            self._gutter.scroll(0, by)
        else:
            self._gutter.update(0, rect.y(), self._gutter.width(), rect.height())

    @Slot()
    def _on_theme_changed(self) -> None:
        self.setFont(self._theme.font("code"))
        self._paint_bands()
        self._gutter.update()


def _x_of(line: QTextLine, column: int) -> float:
    x, _ = cast("tuple[float, int]", line.cursorToX(column))
    return x


class _Gutter(QWidget):
    def __init__(self, editor: CodeEditor) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._editor.paint_gutter(event)
