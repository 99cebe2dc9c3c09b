"""JSON read a level at a time: small texts by Python, large ones by SQLite without the lock.

`json.loads` of 20 MB holds the interpreter lock for a tenth of a second in whatever OS thread;
SQLite's functions read the same text in a tenth of that and hold nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, cast

import apsw

LARGE_CHARS = 256 * 1024
_MOST_CHILDREN = 2000
_MOST_VALUE_CHARS = 4000

JsonType = Literal["object", "array", "string", "number", "true", "false", "null"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonEntry:
    """One value and where it stands."""

    key: str
    """Its key in an object, or its number in an array; empty at the root."""
    path: str
    """A JSON path such as $.messages[2]."content"."""
    type: JsonType
    value: str
    """A scalar as text, shortened; of a container nothing."""
    count: int = 0
    """How many children a container has."""

    @property
    def has_children(self) -> bool:
        """Whether it can be unfolded."""
        return self.count > 0


class JsonSource:
    """A JSON text, asked for one level at a time; use it on one OS thread at a time.

    A large text is better given to it in a worker OS thread: 20 MB take two tenths of a second,
    without the interpreter lock; every question afterwards takes some milliseconds.
    """

    def __init__(self, text: str) -> None:
        """Take the text.

        Raises:
            ValueError: it is no JSON.
        """
        self.text = text
        self._base: Any = None
        self._root: Any = None
        if len(text) <= LARGE_CHARS:
            self._root = json.loads(text)
        else:
            self._base = apsw.Connection(":memory:")
            try:
                self._value("CREATE TABLE document AS SELECT jsonb(?) AS body", (text,))
            except apsw.SQLError as error:
                raise ValueError("no JSON") from error

    def root(self) -> JsonEntry:
        """The whole."""
        if self._base is None:
            return _entry("", "$", self._root)
        kind, count = self._base.execute(
            "SELECT json_type(body), CASE json_type(body)"
            " WHEN 'array' THEN json_array_length(body)"
            " WHEN 'object' THEN (SELECT count(*) FROM json_each(body)) ELSE 0 END FROM document"
        ).fetchall()[0]
        return JsonEntry(key="", path="$", type=_sqlite_type(str(kind)), value="", count=int(count))

    def children(self, path: str) -> list[JsonEntry]:
        """What a container holds, at most some thousand of it."""
        if self._base is None:
            value = self._walk(path)
            if isinstance(value, dict):
                pairs = list(cast("dict[str, Any]", value).items())[:_MOST_CHILDREN]
                return [_entry(key, _join(path, key), one) for key, one in pairs]
            if isinstance(value, list):
                items = cast("list[Any]", value)[:_MOST_CHILDREN]
                return [_entry(str(at), f"{path}[{at}]", one) for at, one in enumerate(items)]
            return []
        rows = self._base.execute(
            "SELECT key, type, CASE WHEN type IN ('object','array') THEN ''"
            " ELSE substr(CAST(atom AS TEXT), 1, ?) END, fullkey,"
            " CASE type WHEN 'array' THEN json_array_length(value)"
            " WHEN 'object' THEN (SELECT count(*) FROM json_each(each.value)) ELSE 0 END"
            " FROM document, json_each(body, ?) AS each LIMIT ?",
            (_MOST_VALUE_CHARS, path, _MOST_CHILDREN),
        )
        return [
            JsonEntry(
                key=str(key),
                path=str(full),
                type=_sqlite_type(str(kind)),
                value="null" if atom is None and kind == "null" else str(atom or ""),
                count=int(count),
            )
            for key, kind, atom, full, count in rows.fetchall()
        ]

    def json_at(self, path: str) -> str:
        """The value at a path as JSON on several lines."""
        if self._base is None:
            return json.dumps(self._walk(path), indent=2, ensure_ascii=False)
        return str(self._value("SELECT json_pretty(body -> ?) FROM document", (path,)))

    def value_at(self, path: str) -> str:
        """The value at a path: a string bare, everything else as JSON."""
        if self._base is None:
            value = self._walk(path)
            return value if isinstance(value, str) else self.json_at(path)
        return str(self._value("SELECT body ->> ? FROM document", (path,)))

    def pretty(self) -> str:
        """The whole on several lines."""
        if self._base is None:
            return json.dumps(self._root, indent=2, ensure_ascii=False)
        return str(self._value("SELECT json_pretty(body) FROM document", ()))

    def _value(self, sql: str, values: tuple[str, ...]) -> Any:
        rows = self._base.execute(sql, values).fetchall()
        return rows[0][0] if rows else None

    def _walk(self, path: str) -> Any:
        value = self._root
        for step in _steps(path):
            value = value[step]
        return value


def _join(path: str, key: str) -> str:
    return f"{path}.{json.dumps(key, ensure_ascii=False)}"


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    at = 1
    decoder = json.JSONDecoder()
    while at < len(path):
        if path[at] == "[":
            end = path.index("]", at)
            steps.append(int(path[at + 1 : end]))
            at = end + 1
        else:
            key, end = decoder.raw_decode(path, at + 1)
            steps.append(str(key))
            at = end
    return steps


def _entry(key: str, path: str, value: Any) -> JsonEntry:
    if isinstance(value, dict):
        count = len(cast("dict[str, Any]", value))
        return JsonEntry(key=key, path=path, type="object", value="", count=count)
    if isinstance(value, list):
        count = len(cast("list[Any]", value))
        return JsonEntry(key=key, path=path, type="array", value="", count=count)
    if isinstance(value, str):
        return JsonEntry(key=key, path=path, type="string", value=value[:_MOST_VALUE_CHARS])
    if value is None:
        return JsonEntry(key=key, path=path, type="null", value="null")
    if isinstance(value, bool):
        word: Literal["true", "false"] = "true" if value else "false"
        return JsonEntry(key=key, path=path, type=word, value=word)
    return JsonEntry(key=key, path=path, type="number", value=json.dumps(value))


def _sqlite_type(name: str) -> JsonType:
    types: dict[str, JsonType] = {
        "text": "string",
        "integer": "number",
        "real": "number",
        "object": "object",
        "array": "array",
        "true": "true",
        "false": "false",
    }
    return types.get(name, "null")
