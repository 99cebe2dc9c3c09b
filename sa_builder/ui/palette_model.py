"""What the palette finds: fuzzy matching, and rows in groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Group = Literal["Definitions", "Threads", "Commands"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something the palette can open."""

    group: Group
    title: str
    detail: str = ""
    """Muted, behind the title: kind, agent and state, menu."""
    trailing: str = ""
    """At the right: a path or a time."""
    keys: tuple[str, ...] = ()
    icon: str = "file"
    icon_token: str = "text.secondary"
    trailing_mono: bool = False
    open: Callable[[], None]
    open_in_source: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the list: a heading (no entry) or an entry with what matched."""

    heading: str = ""
    count: str = ""
    entry: Entry | None = None
    matched: tuple[int, ...] = ()
    """Places of the matched characters in the title."""


def match(query: str, title: str) -> tuple[int, tuple[int, ...]] | None:
    """How well a title answers a query: score (less is better) and the matched places.

    A run of the very letters wins over letters scattered; the start of a word over its middle.
    None when the letters do not all occur in order.
    """
    wanted, text = query.casefold().replace(" ", ""), title.casefold()
    if not wanted:
        return 0, ()
    at = text.find(query.casefold().strip())
    if at >= 0:
        places = tuple(range(at, at + len(query.strip())))
        starts_word = at == 0 or not text[at - 1].isalnum()
        return (0 if at == 0 else 10 if starts_word else 20) + len(text) // 8, places
    found: list[int] = []
    start = 0
    for letter in wanted:
        at = text.find(letter, start)
        if at < 0:
            return None
        found.append(at)
        start = at + 1
    spread = found[-1] - found[0] - len(found) + 1
    return 100 + spread * 4 + found[0], tuple(found)


def rows_for(
    query: str,
    definitions: Sequence[Entry],
    threads: Sequence[Entry],
    commands: Sequence[Entry],
    *,
    thread_total: int | None = None,
    most_each: int = 8,
) -> list[Row]:
    """The palette's rows for what was typed; `>`, `@` and `#` in front keep to one group."""
    only: Group | None = None
    prefixes: dict[str, Group] = {">": "Commands", "@": "Definitions", "#": "Threads"}
    if query[:1] in prefixes:
        only = prefixes[query[0]]
        query = query[1:].lstrip()
        most_each = 40
    rows: list[Row] = []
    for group, entries in (
        ("Definitions", definitions),
        ("Threads", threads),
        ("Commands", commands),
    ):
        if only is not None and group != only:
            continue
        hits = [(found, entry) for entry in entries if (found := match(query, entry.title))]
        hits.sort(key=lambda hit: (hit[0][0], hit[1].title.casefold()))
        if not hits:
            continue
        shown = hits[:most_each]
        total = len(hits)
        if group == "Threads" and thread_total is not None:
            total = max(total, thread_total)
        count = str(total) if total == len(shown) else f"{len(shown)} of {total:,}"
        rows.append(Row(heading=group, count=count))
        rows += [Row(entry=entry, matched=places) for (_, places), entry in shown]
    return rows
