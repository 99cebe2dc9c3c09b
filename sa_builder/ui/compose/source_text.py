"""Between a file's own text and the text of an editor, whose lines end by a line feed alone."""

from __future__ import annotations

import re
from itertools import accumulate

_NEWLINE = re.compile("\r\n|\r|\n")
_MARK = "\ufeff"


def shown_text(disk: str) -> str:
    """What an editor shows of a file's text."""
    return _NEWLINE.sub("\n", disk.removeprefix(_MARK))


def disk_offset(disk: str, shown: int) -> int:
    """Where an offset of the shown text lies in the file's text, both in characters."""
    return _places(disk)[shown]


def merged_text(disk: str, edited: str) -> str:
    """The file's text with what was edited in its shown text; the rest keeps its line ends.

    New lines end as most lines of the file do.
    """
    before = shown_text(disk)
    start = 0
    least = min(len(before), len(edited))
    while start < least and before[start] == edited[start]:
        start += 1
    end = 0
    while end < least - start and before[-1 - end] == edited[-1 - end]:
        end += 1
    ends = _NEWLINE.findall(disk)
    newline = max(("\n", "\r\n", "\r"), key=ends.count) if ends else "\n"
    middle = edited[start : len(edited) - end].replace("\n", newline)
    places = _places(disk)
    return disk[: places[start]] + middle + disk[places[len(before) - end] :]


def newline_name(disk: str) -> str:
    """LF, CRLF, CR, or mixed; LF for a text of one line."""
    kinds = set(_NEWLINE.findall(disk))
    names = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
    return names[kinds.pop()] if len(kinds) == 1 else "mixed" if kinds else "LF"


def _places(disk: str) -> list[int]:
    """For each offset of the shown text, and its end, the offset in the file's text."""
    body = disk.removeprefix(_MARK)
    lengths = [len(piece) for piece in re.findall("\r\n|[\\s\\S]", body)]
    return [*accumulate(lengths, initial=len(disk) - len(body))]
