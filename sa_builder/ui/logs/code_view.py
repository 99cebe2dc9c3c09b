"""A read-only view of text that never wraps and never chokes on one long line."""

from __future__ import annotations

import re
from itertools import pairwise

from PySide6.QtCore import Slot
from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from sa_builder.ui.theme import Theme

_LONGEST_LINE = 4000
_MOST_COLOURED = 2000
_TOKEN = re.compile(
    r'(?P<key>"(?:\\.|[^"\\])*"(?=\s*:))|(?P<string>"(?:\\.|[^"\\])*")'
    r"|(?P<number>-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(?P<keyword>\b(?:true|false|null)\b)"
)


class JsonColours(QSyntaxHighlighter):
    """Colours JSON, line by line, from the code tokens."""

    def __init__(self, theme: Theme, document: QTextDocument) -> None:
        super().__init__(document)
        self._theme = theme
        self._looks: dict[str, QTextCharFormat] = {}
        theme.changed.connect(self._on_theme_changed)
        self._take()

    def _take(self) -> None:
        tokens = {"key": "string", "string": "string", "number": "number", "keyword": "keyword"}
        for name, token in tokens.items():
            look = QTextCharFormat()
            look.setForeground(self._theme.color(f"code.{token}"))
            self._looks[name] = look
        self._looks["key"].setForeground(self._theme.color("code.number"))

    @Slot()
    def _on_theme_changed(self) -> None:
        self._take()
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        for found in _TOKEN.finditer(text[:_MOST_COLOURED]):
            look = self._looks[str(found.lastgroup)]
            self.setFormat(found.start(), found.end() - found.start(), look)


class CodeView(QPlainTextEdit):
    """Text in mono without wrapping; overlong lines are broken for show only."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("code")
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setReadOnly(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(theme.font("code"))
        self.document().setDocumentMargin(10)
        self._colours = JsonColours(theme, self.document())

    def show_text(self, text: str, *, is_json: bool = False) -> None:
        """Show a text."""
        self._colours.setDocument(self.document() if is_json else None)  # pyright: ignore
        self.setPlainText(broken(text))


def broken(text: str) -> str:
    """The text with every line longer than some thousand characters broken."""
    if len(text) <= _LONGEST_LINE or max(map(len, text.split("\n"))) <= _LONGEST_LINE:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        cuts = [*range(0, len(line), _LONGEST_LINE), len(line)] if line else [0, 0]
        lines += [line[start:end] for start, end in pairwise(cuts)]
    return "\n".join(lines)
