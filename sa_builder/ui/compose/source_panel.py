"""The source of what is selected: coloured, its span outlined, editable, saved by Ctrl+S."""

from __future__ import annotations

import difflib
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sa_builder.errors import KnownError
from sa_builder.project.project import Project
from sa_builder.project.shapes import Edit, FileChange, Problem, Span
from sa_builder.project.source import Source
from sa_builder.ui.compose.code_editor import CodeEditor, LineMark
from sa_builder.ui.compose.source_text import (
    disk_offset,
    merged_text,
    newline_name,
    shown_text,
)
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.bars import NoticeBar
from sa_builder.ui.widgets.buttons import Button, IconButton
from sa_builder.ui.widgets.marks import Glyph, Separator, TextLabel

_CHOSEN = LineMark(band="code.current_line", bar="accent.selection")
_ADDED = LineMark(band="diff.added", bar="diff.added_bar", sign="+")
_CHANGED = LineMark(band="diff.added", bar="diff.added_bar")
_MOST_COMPARED_LINES = 4000
_MOST_FILLED_LINES = 8


class SourcePanel(QWidget):
    """One definition file at a time.

    Signals:
        save_wanted: (str path, str text).
        address_chosen: str; the cursor was put on what this address names.
        fold_wished: bool; whether only the header is to be seen.
    """

    save_wanted = Signal(str, str)
    address_chosen = Signal(str)
    fold_wished = Signal(bool)

    def __init__(self, project: Project, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._project = project
        self._theme = theme
        self._path = ""
        self._disk = ""
        self._span: Span | None = None
        self._problems: dict[int, Problem] = {}
        self._typed: str | None = None
        self._is_quiet = False
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.editor = CodeEditor(theme, self)
        self.editor.setAccessibleName(self.tr("Source"))
        self._notice = NoticeBar(
            theme,
            "parked",
            self.tr("The file changed on disk while you edited it."),
            (("reload", self.tr("Reload")), ("keep", self.tr("Keep mine"))),
            parent=self,
        )
        self._notice.act_chosen.connect(self._on_notice_act_chosen)
        self._notice.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head())
        column.addWidget(Separator(theme))
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
        self.editor.cursorPositionChanged.connect(self._on_cursor_moved)

    # what it shows

    @property
    def is_dirty(self) -> bool:
        """Whether something was typed that is not in the file."""
        if not self._path or self.editor.isReadOnly():
            return self._typed is not None
        return self.editor.source() != shown_text(self._disk)

    @property
    def shown_path(self) -> str:
        """The file in sight, relative to the project; empty when there is none."""
        return self._path

    def show_place(self, path: str, span: Span | None) -> None:
        """Show a file with a span outlined; what was typed elsewhere and not saved stays open."""
        if path != self._path:
            if self.is_dirty:
                return
            self._path = path
            self._load()
        self._span = span
        self._mark(follow=not self._is_cursor_in(span))

    def show_problems(self, problems: dict[int, Problem]) -> None:
        """Mark the lines with problems of the file in sight, counted from 1."""
        self._problems = problems
        if self._typed is None:
            self._mark(follow=False)

    def refresh(self) -> None:
        """Take the file anew; what was typed is never overwritten without a word."""
        if not self._path:
            return
        try:
            disk = self._project.text(self._path)
        except KnownError:
            self._path = self._disk = ""
            self._set_text("")
            self._say_place()
            return
        if disk == self._disk:
            return
        was_dirty = self.is_dirty
        self._disk = disk
        if was_dirty and self.is_dirty:
            self._notice.show()
            return
        self._load()

    def preview(self, edit: Edit | None) -> None:
        """Show the file as an edit would leave it; None shows it as it is."""
        if edit is None:
            if self._typed is not None:
                typed, self._typed = self._typed, None
                self._set_text(typed)
                self.editor.setReadOnly(not self._is_kept_whole())
                self._mark(follow=True)
            self._pill.hide()
            return
        change = next((one for one in edit.changes if one.after is not None), None)
        if change is None or (self._typed is None and self.is_dirty):
            return
        if self._typed is None:
            self._typed = self.editor.source()
        self.editor.setReadOnly(True)
        self._show_change(change, more_files=len(edit.changes) - 1)

    @Slot()
    def save(self) -> None:
        """Ask for the text to be written."""
        if self.is_dirty and self._typed is None:
            self.save_wanted.emit(self._path, merged_text(self._disk, self.editor.source()))
            self.refresh()
            self._say_state()

    def set_folded(self, is_folded: bool) -> None:
        """Show the header alone, or all of it."""
        self.editor.setVisible(not is_folded)
        self._fold.set_icon_name("chevron_up" if is_folded else "chevron_down")
        self._fold.set_tip(self.tr("Show the source") if is_folded else self.tr("Fold the source"))
        self.setMaximumHeight(33 if is_folded else 16_777_215)

    # within

    def _head(self) -> QWidget:
        theme = self._theme
        head = QWidget(self)
        head.setFixedHeight(32)
        row = QHBoxLayout(head)
        row.setContentsMargins(12, 0, 8, 0)
        row.setSpacing(8)
        row.addWidget(Glyph(theme, "file", "text.secondary", parent=head))
        self._folder = TextLabel(theme, "", "code", "text.secondary", parent=head)
        self._name = TextLabel(theme, "", "code", parent=head)
        self._name.setFont(theme.font("code", weight=600))
        self._place = TextLabel(theme, "", "small", "text.muted", parent=head)
        self._pill = TextLabel(theme, "", "label", "accent.on_tint", parent=head)
        self._pill.setObjectName("preview_pill")
        self._pill.hide()
        self._state = TextLabel(theme, "", "small", "text.muted", parent=head)
        self._save = Button(theme, self.tr("Save"), small=True, parent=head)
        self._save.setToolTip(self.tr("Save the file (Ctrl+S)"))
        self._save.hide()
        self._save.clicked.connect(self.save)
        self._open = IconButton(theme, "external", self.tr("Open in your editor"), parent=head)
        self._open.clicked.connect(self._on_open_clicked)
        self._fold = IconButton(theme, "chevron_down", self.tr("Fold the source"), parent=head)
        self._fold.clicked.connect(self._on_fold_clicked)
        names = QHBoxLayout()
        names.setSpacing(0)
        names.addWidget(self._folder)
        names.addWidget(self._name)
        row.addLayout(names)
        row.addWidget(self._place)
        row.addWidget(self._pill)
        row.addStretch(1)
        row.addWidget(self._state)
        row.addWidget(self._save)
        row.addWidget(self._open)
        row.addWidget(self._fold)
        self._say_place()
        return head

    def _load(self) -> None:
        self._disk = self._project.text(self._path)
        self._notice.hide()
        self._typed = None
        self._pill.hide()
        self._set_text(shown_text(self._disk))
        self.editor.setReadOnly(not self._is_kept_whole())
        self._say_state()
        self._mark(follow=True)

    def _is_kept_whole(self) -> bool:
        """Whether the editor can hold every character of the file."""
        return self._typed is not None or self.editor.source() == shown_text(self._disk)

    def _set_text(self, text: str) -> None:
        self._is_quiet = True
        try:
            self.editor.show_marks({})
            self.editor.setPlainText(text)
        finally:
            self._is_quiet = False
        self._say_state()

    def _mark(self, *, follow: bool) -> None:
        span = self._span
        if self._typed is not None:
            return
        marks: dict[int, LineMark] = {}
        for line, problem in self._problems.items():
            token = f"severity.{problem.severity}"
            marks[line - 1] = LineMark(band="surface.code", bar=token)
        is_here = span is not None and span.path == self._path
        if span is not None and is_here:
            marks |= dict.fromkeys(range(span.line - 1, span.end_line), _CHOSEN)
        self._is_quiet = True
        try:
            if span is None or not is_here:
                self.editor.show_marks(marks)
            else:
                is_short = span.end_line - span.line < _MOST_FILLED_LINES
                self.editor.show_marks(marks, span, [(span, "code.span")] if is_short else [])
                if follow:
                    self.editor.show_line(span.line)
        finally:
            self._is_quiet = False
        self._say_place()

    def _say_place(self) -> None:
        span = self._span
        path = Path(self._path)
        self._folder.setText(f"{path.parent.as_posix()}/" if self._path else "")
        self._name.setText(path.name if self._path else self.tr("Select a card to see its source"))
        words = ""
        if self._path and span is not None and span.path == self._path:
            if span.line == span.end_line:
                words = self.tr("line {0} · columns {1}–{2}").format(
                    span.line, span.column, span.end_column
                )
            else:
                words = self.tr("lines {0}–{1}").format(span.line, span.end_line)
        self._place.setText(words)
        self._open.setEnabled(bool(self._path))

    def _say_state(self) -> None:
        is_dirty = self._typed is None and self.is_dirty
        self._save.setVisible(is_dirty)
        if not self._path:
            self._state.setText("")
            return
        words = self.tr("changed") if is_dirty else self.tr("saved")
        if self._typed is None and not self._is_kept_whole() and self.editor.isReadOnly():
            words = self.tr("read-only: it holds characters that no text view can show")
        encoding = self._project.encoding(self._path)
        self._state.setText(f"{words} · {newline_name(self._disk)} · {encoding}")

    def _show_change(self, change: FileChange, *, more_files: int) -> None:
        assert change.after is not None
        before = shown_text(Source(change.path, change.before or b"").text).split("\n")
        text = shown_text(Source(change.path, change.after).text)
        after = text.split("\n")
        self._set_text(text)
        marks, lines = _marks_of(before, after)
        words = [] if lines else [(span, "diff.added_word") for span in change.spans]
        self.editor.show_marks(marks, words=words)
        first = min(marks, default=0)
        self._is_quiet = True
        self.editor.show_line(first + 1)
        self._is_quiet = False
        path = Path(change.path)
        self._folder.setText(f"{path.parent.as_posix()}/")
        self._name.setText(path.name)
        self._place.setText("")
        size = self.tr("{0} characters").format(change.characters)
        if lines:
            many = self.tr("1 line") if lines == 1 else self.tr("{0} lines").format(lines)
            size = f"{many}, {size}"
        if more_files:
            size += self.tr(", {0} more file(s)").format(more_files)
        self._pill.setText(self.tr("preview of the drop: {0}").format(size))
        self._pill.show()

    def _is_cursor_in(self, span: Span | None) -> bool:
        if span is None or not self.editor.hasFocus():
            return False
        return span.line - 1 <= self.editor.textCursor().blockNumber() <= span.end_line - 1

    @Slot()
    def _on_text_changed(self) -> None:
        if not self._is_quiet:
            self._span = None
            self.editor.show_marks({})
            self._say_place()
            self._say_state()

    @Slot()
    def _on_cursor_moved(self) -> None:
        if self._is_quiet or self._typed is not None or not self.editor.hasFocus():
            return
        if self.is_dirty:
            return
        offset = disk_offset(self._disk, self.editor.textCursor().position())
        address = self._project.address_at(self._path, offset)
        if address is not None:
            self.address_chosen.emit(address)

    @Slot(str)
    def _on_notice_act_chosen(self, act: str) -> None:
        self._notice.hide()
        if act == "reload":
            self._load()

    @Slot()
    def _on_open_clicked(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._project.root / self._path)))

    @Slot()
    def _on_fold_clicked(self) -> None:
        self.fold_wished.emit(self.editor.isVisible())


def _marks_of(before: list[str], after: list[str]) -> tuple[dict[int, LineMark], int]:
    """Marks of the lines that an edit writes, and how many of them are wholly new."""
    marks: dict[int, LineMark] = {}
    new = 0
    if len(after) > _MOST_COMPARED_LINES:
        return marks, new
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, old_start, old_end, start, end in matcher.get_opcodes():
        if tag in ("insert", "replace"):
            replaced = old_end - old_start
            for place, line in enumerate(range(start, end)):
                is_new = place >= replaced
                marks[line] = _ADDED if is_new else _CHANGED
                new += is_new
    return marks, new
