"""Colours of Python source: pygments reads the whole text, Qt paints it block by block."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument

from sa_builder.ui.theme import Theme

_TOKENS = (
    ("Token.Keyword", "keyword"),
    ("Token.Literal.String.Escape", "escape"),
    ("Token.Literal.String.Interpol", "escape"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "number"),
    ("Token.Comment", "comment"),
    ("Token.Name.Function", "function"),
    ("Token.Name.Class", "class"),
    ("Token.Name.Builtin", "class"),
    ("Token.Name.Decorator", "decorator"),
    ("Token.Operator", "operator"),
    ("Token.Error", "error"),
)
_NAMES = (*dict.fromkeys(name for _, name in _TOKENS), "parameter")


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    pieces: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])
    """Column, length and token of each coloured piece."""
    is_open: bool = False
    """Whether a string goes on in the next line."""


class PythonColours(QSyntaxHighlighter):
    """Colours a document; the text is read again only when a line is not as it was read."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self._formats: dict[str, QTextCharFormat] = {}
        self._lines: list[_Line] = []
        self._take_colours()
        theme.changed.connect(self._on_theme_changed)

    def highlightBlock(self, text: str) -> None:
        number = self.currentBlock().blockNumber()
        if number >= len(self._lines) or self._lines[number].text != text:
            self._lines = read_lines(self.document().toPlainText())
        if number >= len(self._lines):
            return
        line = self._lines[number]
        for start, length, name in line.pieces:
            self.setFormat(start, length, self._formats[name])
        self.setCurrentBlockState(int(line.is_open))

    def _take_colours(self) -> None:
        for name in _NAMES:
            form = QTextCharFormat()
            form.setForeground(self._theme.color(f"code.{name}"))
            self._formats[name] = form

    @Slot()
    def _on_theme_changed(self) -> None:
        self._take_colours()
        self.rehighlight()


def read_lines(text: str) -> list[_Line]:
    """Cut a text into lines of coloured pieces; text that is no Python is coloured as far as it is.

    Lines end at a line feed only, as the blocks of a document do.
    """
    lexers: Any = importlib.import_module("pygments.lexers.python")
    tokens: list[tuple[str, str]] = [
        (str(kind), str(value))
        for kind, value in lexers.PythonLexer(stripnl=False, ensurenl=False).get_tokens(text)
    ]
    rows = text.split("\n")
    lines = [_Line(row) for row in rows]
    number = column = depth = 0
    for at, (kind, value) in enumerate(tokens):
        name = next((name for prefix, name in _TOKENS if kind.startswith(prefix)), "")
        if kind == "Token.Punctuation":
            depth += sum(value.count(mark) for mark in "([{")
            depth -= sum(value.count(mark) for mark in ")]}")
        elif kind == "Token.Name":
            name = _role_of_name(tokens, at, in_brackets=depth > 0)
        pieces = value.split("\n")
        for place, piece in enumerate(pieces):
            if place:
                if name == "string":
                    lines[number] = _Line(rows[number], lines[number].pieces, is_open=True)
                number, column = number + 1, 0
            if name and piece and number < len(lines):
                lines[number].pieces.append((column, len(piece), name))
            column += len(piece)
    return lines


def _role_of_name(tokens: list[tuple[str, str]], at: int, *, in_brackets: bool) -> str:
    """A called name is coloured as a function or class, the name of an argument as one."""
    following = next((value for _, value in tokens[at + 1 : at + 3] if value.strip(" ")), "")
    if following.startswith("("):
        return "class" if tokens[at][1][:1].isupper() else "function"
    is_argument = in_brackets and following.startswith("=") and not following.startswith("==")
    return "parameter" if is_argument else ""
