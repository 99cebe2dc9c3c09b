"""One file as bytes, as text, and as the UTF-8 that the syntax tree is made of.

Offsets in this room are bytes of that UTF-8 text ("utf8 offsets"), because that is what the tree
counts in; `Source` turns them into characters, lines and columns for people.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from sa_builder.errors import ProjectError
from sa_builder.project.shapes import Span

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_BLANK = re.compile(rb"^[ \t\f]*(?:#[^\r\n]*)?$")
_LINE_END = re.compile(r"\r\n|\r|\n")
_LONE_CR = re.compile(rb"\r(?!\n)")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment of a file, without its line end; utf8 offsets."""

    start: int
    end: int
    text: str


class Source:
    """The exact bytes of a file and what they say; never changes."""

    __slots__ = ("__dict__", "bom", "comments", "data", "digest", "encoding", "path", "text")

    def __init__(self, path: str, data: bytes) -> None:
        """Decode a file as Python does.

        Args:
            path: relative to the project, forward slashes.

        Raises:
            ProjectError: the bytes are not text in the encoding that the file declares.
        """
        self.path = path
        self.data = data
        self.comments: list[Comment] | None = None
        """Its comments, in order, once somebody looked for them."""
        self.digest = digest_of(data)
        self.bom = data.startswith(codecs.BOM_UTF8)
        body = data[3:] if self.bom else data
        self.encoding = _declared_encoding(path, body, bom=self.bom)
        try:
            self.text = body.decode(self.encoding)
        except UnicodeDecodeError as error:
            line = body.count(b"\n", 0, error.start) + 1
            raise ProjectError(
                f"{path} line {line} holds a byte that is not {self.encoding} text.",
                act="Save the file as UTF-8, or declare its encoding in the first line.",
                code="project.encoding",
            ) from error

    @cached_property
    def utf8(self) -> bytes:
        """The text in UTF-8; equal to the file's bytes for the common file."""
        if self.encoding == "utf-8" and not self.bom:
            return self.data
        return self.text.encode("utf-8", "surrogatepass")

    @cached_property
    def tree_text(self) -> bytes:
        """The UTF-8 as the parser gets it: equally long, a lone CR as the line end it is."""
        return _LONE_CR.sub(b"\n", self.utf8) if b"\r" in self.utf8 else self.utf8

    @cached_property
    def is_ascii(self) -> bool:
        return self.utf8.isascii()

    @cached_property
    def newline(self) -> str:
        """The line end that new lines get: the file's most frequent one."""
        crlf = self.text.count("\r\n")
        lone_cr = self.text.count("\r") - crlf
        lf = self.text.count("\n") - crlf
        best = max(crlf, lone_cr, lf)
        if best == 0 or best == lf:
            return "\n"
        return "\r\n" if best == crlf else "\r"

    @cached_property
    def line_starts(self) -> list[int]:
        """Character offsets at which lines begin."""
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    def char_offset(self, utf8_offset: int) -> int:
        """A utf8 offset in characters."""
        if self.is_ascii:
            return utf8_offset
        return len(self.utf8[:utf8_offset].decode("utf-8", "surrogatepass"))

    def utf8_offset(self, char_offset: int) -> int:
        """A character offset in bytes of the UTF-8 text."""
        if self.is_ascii:
            return char_offset
        return len(self.text[:char_offset].encode("utf-8", "surrogatepass"))

    def slice(self, start: int, end: int) -> str:
        """The text between two utf8 offsets."""
        return self.utf8[start:end].decode("utf-8", "surrogatepass")

    def span(self, start: int, end: int) -> Span:
        """The place between two utf8 offsets."""
        return self.char_span(self.char_offset(start), self.char_offset(end))

    def char_span(self, start: int, end: int) -> Span:
        """The place between two character offsets."""
        line, column = self.line_column(start)
        end_line, end_column = self.line_column(end)
        return Span(
            path=self.path,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            start_char=start,
            end_char=end,
        )

    def line_column(self, char_offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of a character."""
        line = bisect_right(self.line_starts, char_offset)
        return line, char_offset - self.line_starts[line - 1] + 1

    def encode(self, utf8: bytes) -> bytes:
        """New UTF-8 text as bytes in this file's own encoding.

        Raises:
            UnicodeEncodeError: a character does not exist in that encoding.
        """
        if self.encoding == "utf-8" and not self.bom:
            return utf8
        body = utf8.decode("utf-8", "surrogatepass").encode(self.encoding)
        return codecs.BOM_UTF8 + body if self.bom else body


def digest_of(data: bytes) -> str:
    """SHA-256 of a file's bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def _declared_encoding(path: str, body: bytes, *, bom: bool) -> str:
    head = body[:400]
    if b"coding" not in head:
        return "utf-8"
    for line in re.split(rb"\r\n|\r|\n", head)[:2]:
        if found := _COOKIE.match(line):
            name = found.group(1).decode("ascii")
            try:
                known = codecs.lookup(name).name
            except LookupError as error:
                raise ProjectError(
                    f"{path} declares the encoding {name}, which Python does not know.",
                    act="Correct the coding line, or save the file as UTF-8 without one.",
                    code="project.encoding",
                ) from error
            if bom and known != "utf-8":
                raise ProjectError(
                    f"{path} begins with a UTF-8 mark but declares {name}.",
                    act="Remove one of the two.",
                    code="project.encoding",
                )
            return known
        if not _BLANK.match(line):
            break
    return "utf-8"
