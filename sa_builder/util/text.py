"""Text from outside, made safe once, at the boundary."""

from __future__ import annotations

import re

_UNSAFE = re.compile("[\ud800-\udfff\x00]")


def sanitize(text: str) -> str:
    """Make text storable and showable: lone surrogates become U+FFFD, NUL becomes U+2400."""
    if _UNSAFE.search(text) is None:
        return text
    return _UNSAFE.sub(lambda found: "\u2400" if found.group() == "\0" else "\ufffd", text)


def shorten(text: str, most_chars: int) -> str:
    """The first line of a text, cut to `most_chars` with an ellipsis."""
    line = text.strip().split("\n", 1)[0].rstrip()
    if len(line) <= most_chars and line == text.strip():
        return line
    return line[: max(1, most_chars - 1)].rstrip() + "…"


def head_and_tail(text: str, most_chars: int) -> str:
    """A long text as its head, a marker that says how much is left out, and its tail."""
    if len(text) <= most_chars:
        return text
    half = max(1, most_chars // 2)
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"
