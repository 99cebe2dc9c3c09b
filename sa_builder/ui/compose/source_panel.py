"""The source of what is selected: coloured, its span marked, editable, saved by Ctrl+S."""

from __future__ import annotations

import importlib
from typing import Any

from PySide6.QtCore import QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QTextEdit, QVBoxLayout, QWidget

from sa_builder.errors import KnownError
from sa_builder.project.project import Project
from sa_builder.project.shapes import Edit, Span
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.bars import NoticeBar
from sa_builder.ui.widgets.buttons import Button
from sa_builder.ui.widgets.marks import ElidedLabel, TextLabel

_TOKENS = (
    ("Token.Keyword", "keyword"),
    ("Token.Literal.String.Escape", "escape"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "number"),
    ("Token.Comment", "comment"),
    ("Token.Name.Function", "function"),
    ("Token.Name.Class", "class"),
    ("Token.Name.Decorator", "decorator"),
    ("Token.Operator", "operator"),
    ("Token.Error", "error"),
)


class PythonColours(QSyntaxHighlighter):
    """Colours a document by pygments; lexes it whole once a change, paints by the block."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self._formats: dict[str, QTextCharFormat] = {}
        self._lines: list[list[tuple[int, int, str]]] = []
        self._revision = -1
        self.recolour()

    @Slot()
    def recolour(self) -> None:
        """Take the theme's colours anew."""
        self._formats = {}
        for _, name in _TOKENS:
            form = QTextCharFormat()
            form.setForeground(self._theme.color(f"code.{name}"))
            self._formats[name] = form
        self._revision = -1
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        document = self.document()
        if self._revision != document.revision():
            self._revision = document.revision()
            self._lines = _lexed(document.toPlainText())
        number = self.currentBlock().blockNumber()
        if number < len(self._lines):
            for start, length, name in self._lines[number]:
                self.setFormat(start, length, self._formats[name])


def _lexed(text: str) -> list[list[tuple[int, int, str]]]:
    lexers: Any = importlib.import_module("pygments.lexers")
    lines: list[list[tuple[int, int, str]]] = [[]]
    column = 0
    lexer: Any = lexers.get_lexer_by_name("python", stripnl=False, ensurenl=False)
    for kind, value in lexer.get_tokens(text):
        word = str(kind)
        name = next((name for prefix, name in _TOKENS if word.startswith(prefix)), "")
        for place, piece in enumerate(str(value).split("\n")):
            if place:
                lines.append([])
                column = 0
            if name and piece:
                lines[-1].append((column, len(piece), name))
            column += len(piece)
    return lines


class _Editor(QPlainTextEdit):
    """A code editor with line numbers."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("code")
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(theme.font("code"))
        self.setTabStopDistance(self.fontMetrics().horizontalAdvance(" ") * 4)
        self._gutter = _Gutter(self)
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)
        self.updateRequest.connect(self._on_update_requested)

    def gutter_width(self) -> int:
        return 20 + self.fontMetrics().horizontalAdvance("9999")

    def resizeEvent(self, e: QResizeEvent) -> None:
        super().resizeEvent(e)
        inside = self.contentsRect()
        self._gutter.setGeometry(
            QRect(inside.left(), inside.top(), self.gutter_width(), inside.height())
        )

    def paint_gutter(self, event: QPaintEvent) -> None:
        painter = QPainter(self._gutter)
        painter.fillRect(event.rect(), self._theme.color("surface.code"))
        painter.setPen(self._theme.color("code.line_number"))
        painter.setFont(self._theme.font("code_small"))
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= event.rect().bottom():
            height = self.blockBoundingRect(block).height()
            painter.drawText(
                QRect(0, round(top), self.gutter_width() - 12, round(height)),
                Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                str(block.blockNumber() + 1),
            )
            top += height
            block = block.next()

    @Slot(QRect, int)
    def _on_update_requested(self, rect: QRect, by: int) -> None:
        if by:
            self._gutter.scroll(0, by)
        else:
            self._gutter.update(0, rect.y(), self._gutter.width(), rect.height())


class _Gutter(QWidget):
    def __init__(self, editor: _Editor) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.gutter_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._editor.paint_gutter(event)


class SourcePanel(QWidget):
    """One definition file at a time.

    Signals:
        save_wanted: (str path, str text).
        address_chosen: str; the cursor was put on what this address names.
    """

    save_wanted = Signal(str, str)
    address_chosen = Signal(str)

    def __init__(self, project: Project, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._project = project
        self._theme = theme
        self._path = ""
        self._disk = ""
        self._span: Span | None = None
        self._is_previewing = False
        self._kept: tuple[str, bool] = ("", False)
        self.editor = _Editor(theme)
        self.editor.setAccessibleName(self.tr("Source"))
        self._colours = PythonColours(self.editor.document(), theme)
        theme.changed.connect(self._colours.recolour)
        self._title = ElidedLabel(theme, "", "code", parent=self)
        self._state = TextLabel(theme, "", "small", "text.muted")
        self._save = Button(theme, self.tr("Save"), small=True)
        self._save.setVisible(False)
        self._save.clicked.connect(self.save)
        head = QWidget(self)
        head.setFixedHeight(32)
        row = QHBoxLayout(head)
        row.setContentsMargins(12, 0, 12, 0)
        row.addWidget(self._title, 1)
        row.addWidget(self._state)
        row.addWidget(self._save)
        self._notice = NoticeBar(
            theme,
            "parked",
            self.tr("The file changed on disk while you edited it."),
            (("reload", self.tr("Reload")), ("keep", self.tr("Keep mine"))),
        )
        self._notice.act_chosen.connect(self._on_notice_act_chosen)
        self._notice.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(self._notice)
        column.addWidget(self.editor, 1)
        self.setMinimumHeight(32)
        QShortcut(
            QKeySequence(QKeySequence.StandardKey.Save),
            self,
            self.save,
            context=Qt.ShortcutContext.WidgetWithChildrenShortcut,
        )
        self.editor.textChanged.connect(self._on_text_changed)

    @property
    def is_dirty(self) -> bool:
        """Whether something was typed that is not in the file."""
        text = self._kept[0] if self._is_previewing else self.editor.toPlainText()
        return bool(self._path) and text != self._shown(self._disk)

    def show_place(self, path: str, span: Span | None) -> None:
        """Show a file with a span marked; what was typed elsewhere and not saved stays open."""
        if path != self._path:
            if self.is_dirty:
                return
            self._path = path
            self._load()
        self._span = span
        self._mark()

    def refresh(self) -> None:
        """Take the file anew; what was typed is never overwritten without a word."""
        if not self._path:
            return
        try:
            disk = self._project.text(self._path)
        except KnownError:
            self._path = ""
            self.editor.setPlainText("")
            self._title.setText("")
            return
        if disk == self._disk:
            return
        if self.is_dirty:
            self._disk = disk
            if self.editor.toPlainText() != self._shown(disk):
                self._notice.show()
                return
        self._load()
        self._mark()

    def preview(self, edit: Edit | None) -> None:
        """Show the file as it would be after an edit, on a band; None shows it as it is."""
        if edit is None:
            if self._is_previewing:
                self._is_previewing = False
                self._set_text(self._kept[0])
                self._mark()
            return
        change = edit.changes[0]
        if not self._is_previewing:
            if self.is_dirty:
                return
            self._kept = (self.editor.toPlainText(), True)
            self._is_previewing = True
        if change.after is None:
            return
        self._path_shown = change.path
        self._set_text(change.after.decode("utf-8", "replace"))
        lines = sum(span.end_line - span.line + 1 for span in change.spans)
        words = self.tr("preview of the drop: {0} line{1}, {2} characters").format(
            lines, "" if lines == 1 else "s", change.characters
        )
        self._title.setText(f"{change.path}   {words}")
        self._paint_spans([(span, "diff.added") for span in change.spans])

    @Slot()
    def save(self) -> None:
        """Ask for the text to be written."""
        if self.is_dirty and not self._is_previewing:
            self.save_wanted.emit(self._path, self._with_newlines(self.editor.toPlainText()))
            self.refresh()
            self._on_text_changed()

    def _load(self) -> None:
        self._disk = self._project.text(self._path)
        self._notice.hide()
        self._is_previewing = False
        self._set_text(self._shown(self._disk))

    def _shown(self, text: str) -> str:
        return text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")

    def _with_newlines(self, text: str) -> str:
        newline = "\r\n" if "\r\n" in self._disk else "\n"
        mark = "\ufeff" if self._disk.startswith("\ufeff") else ""
        return mark + text.replace("\n", newline)

    def _set_text(self, text: str) -> None:
        self.editor.blockSignals(True)
        self.editor.setPlainText(self._shown(text))
        self.editor.blockSignals(False)
        self.editor.setExtraSelections([])
        self._on_text_changed()

    def _mark(self) -> None:
        span = self._span
        if span is None or self._is_previewing:
            return
        self._title.setText(
            f"{self._path}   line {span.line} · columns {span.column}–{span.end_column}"
        )
        self._paint_spans([(span, "code.span")])

    def _paint_spans(self, spans: list[tuple[Span, str]]) -> None:
        marked: list[QTextEdit.ExtraSelection] = []
        for span, token in spans:
            start = self._position(span.line, span.column)
            end = self._position(span.end_line, span.end_column)
            cursor = QTextCursor(self.editor.document())
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            one = QTextEdit.ExtraSelection()
            one.cursor = cursor  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
            one.format.setBackground(self._theme.color(token))  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            marked.append(one)
        self.editor.setExtraSelections(marked)
        if spans:
            cursor = QTextCursor(self.editor.document())
            cursor.setPosition(self._position(spans[0][0].line, 1))
            self.editor.setTextCursor(cursor)
            self.editor.ensureCursorVisible()

    def _position(self, line: int, column: int) -> int:
        block = self.editor.document().findBlockByNumber(line - 1)
        if not block.isValid():
            return max(0, self.editor.document().characterCount() - 1)
        return block.position() + min(column - 1, max(0, block.length() - 1))

    @Slot()
    def _on_text_changed(self) -> None:
        dirty = self.is_dirty
        self._save.setVisible(dirty and not self._is_previewing)
        newline = "CRLF" if "\r\n" in self._disk else "LF"
        words = self.tr("changed") if dirty else self.tr("saved")
        self._state.setText(f"{words} · {newline} · UTF-8" if self._path else "")

    @Slot(str)
    def _on_notice_act_chosen(self, act: str) -> None:
        self._notice.hide()
        if act == "reload":
            self._load()
            self._mark()
