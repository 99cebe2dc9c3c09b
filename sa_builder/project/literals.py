"""Values as text: how a literal is written, and how a string keeps the form it has."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from sa_builder.errors import EditRefused
from sa_builder.spec.properties import Shape, child_shape, fits_roughly, properties_of

_FORM = re.compile(r"([A-Za-z]*)(\"\"\"|'''|\"|')")
_KIND_OF: Mapping[str, str] = {
    "text": "Text",
    "include": "Include",
    "env_text": "EnvText",
    "sub_prompt": "SubPrompt",
    "prompt_tool": "PromptTool",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How new text is written in a file."""

    quote: str = '"'
    newline: str = "\n"
    ascii_only: bool = False
    """The file's encoding does not hold every character."""
    constructor: Callable[[str], str | None] = lambda name: None
    """A record's name → how the file calls its constructor; None writes a dict."""


def write_value(value: Any, shape: Shape | None, style: Style) -> str:
    """A plain value as a Python expression on one line.

    Raises:
        EditRefused: it is not a literal.
    """
    match value:
        case None | bool() | int() | float():
            return repr(value)
        case str():
            return write_string(value, style)
        case list() | tuple():
            items = cast(list[Any], value)
            inside = [
                write_value(
                    item, child_shape(shape, index, item) if shape is not None else None, style
                )
                for index, item in enumerate(items)
            ]
            return f"[{', '.join(inside)}]"
        case Mapping():
            return _write_mapping(cast(Mapping[str, Any], value), shape, style)
        case _:
            raise EditRefused(
                f"A {type(value).__name__} cannot be written into a definition.",
                act="Give a text, number, True, False, None, list or dict.",
                code="edit.not_a_literal",
            )


def record_name(shape: Shape | None, value: Mapping[str, Any]) -> str | None:
    """The constructor that writes a mapping, when its shape is a record."""
    if shape is None:
        return None
    if shape.kind == "record":
        return shape.record
    if shape.kind == "either":
        if (named := _KIND_OF.get(str(value.get("kind")))) is not None:
            return named
        for option in shape.options:
            if option.kind == "record" and fits_roughly(option, value):
                return option.record
    return None


def _write_mapping(value: Mapping[str, Any], shape: Shape | None, style: Style) -> str:
    name = record_name(shape, value)
    callee = style.constructor(name) if name is not None else None
    entries = {key: item for key, item in value.items() if not (name and key == "kind")}
    if name is not None and callee is None and "kind" in value:
        entries = dict(value)
    inner_shape = Shape(kind="record", record=name) if name is not None else shape
    if name is not None:
        order = list(properties_of(name))
        keys = sorted(entries, key=lambda key: order.index(key) if key in order else len(order))
        entries = {key: entries[key] for key in keys}
    written = {
        key: write_value(item, child_shape(inner_shape, key, item) if inner_shape else None, style)
        for key, item in entries.items()
    }
    if callee is not None and all(key.isidentifier() for key in written):
        return f"{callee}({', '.join(f'{key}={text}' for key, text in written.items())})"
    inside = ", ".join(f"{write_string(key, style)}: {text}" for key, text in written.items())
    return "{" + inside + "}"


def write_string(value: str, style: Style) -> str:
    """A string on one line, in the file's own quotes where they fit."""
    quote = style.quote
    other = "'" if quote == '"' else '"'
    if quote in value and other not in value:
        quote = other
    return quote + _escaped(value, quote, style) + quote


def rewrite_string(old: str, value: str, style: Style) -> str:
    """A new value in the form of the old literal; plain where the form cannot say it.

    Args:
        old: the text of the literal that is replaced; may be several joined ones.
    """
    found = _FORM.match(old)
    if found is None:
        return write_string(value, style)
    prefix, quote = found.groups()
    plain_prefix = prefix if prefix.lower() == "u" else ""
    candidate = write_string(value, style)
    if "r" in prefix.lower():
        candidate = f"{prefix}{quote}{_line_ends(value, quote, style)}{quote}"
    elif len(quote) == 3:
        core = value.rstrip(quote[0])
        body = core.replace("\\", "\\\\").replace(quote, f"\\{quote[0]}" * 3)
        body += f"\\{quote[0]}" * (len(value) - len(core))
        body = "".join(
            char if char in "\n\t" or char.isprintable() else _escape(char, style) for char in body
        )
        if style.ascii_only:
            body = "".join(char if char.isascii() else _escape(char, style) for char in body)
        candidate = f"{plain_prefix}{quote}{_line_ends(body, quote, style)}{quote}"
    else:
        use = quote
        other = "'" if quote == '"' else '"'
        if quote in value and other not in value:
            use = other
        candidate = plain_prefix + use + _escaped(value, use, style) + use
    try:
        says = ast.literal_eval(candidate.replace("\r\n", "\n").replace("\r", "\n"))
    except (ValueError, SyntaxError, MemoryError):
        says = None
    return candidate if says == value else write_string(value, style)


def _line_ends(text: str, quote: str, style: Style) -> str:
    return text.replace("\n", style.newline) if len(quote) == 3 else text


def _escaped(value: str, quote: str, style: Style) -> str:
    pieces: list[str] = []
    for char in value:
        if char in ("\\", quote):
            pieces.append("\\" + char)
        elif char.isprintable() and (char.isascii() or not style.ascii_only):
            pieces.append(char)
        else:
            pieces.append(_escape(char, style))
    return "".join(pieces)


def _escape(char: str, style: Style) -> str:
    simple = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    if char in simple:
        return simple[char]
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
