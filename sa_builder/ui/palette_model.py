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

    The very letters in a run win, at the start of a word over its middle; then initials and
    beginnings of words ("nt" for New Thread, "itri" for issue_triager). None otherwise.
    """
    wanted, text = query.casefold().strip(), title.casefold()
    if len(text) != len(title):  # a letter that folds to two: places would not fit
        text = title.lower() if len(title.lower()) == len(title) else title
    if not wanted:
        return 0, ()
    at = text.find(wanted)
    if at >= 0:
        starts_word = at == 0 or not text[at - 1].isalnum()
        rank = 0 if at == 0 else 10 if starts_word else 20
        return rank + len(text) // 8, tuple(range(at, at + len(wanted)))
    places = _word_starts(wanted.replace(" ", ""), text, 0, 0)
    return None if places is None else (100 + places[-1] - places[0], places)


def _word_starts(wanted: str, text: str, done: int, start: int) -> tuple[int, ...] | None:
    """Places of `wanted[done:]` in `text`, each at the start of a word or next to the last."""
    if done == len(wanted):
        return ()
    at = text.find(wanted[done], start)
    while at >= 0:
        follows = done > 0 and at == start
        begins = at == 0 or not text[at - 1].isalnum()
        if follows or begins:
            rest = _word_starts(wanted, text, done + 1, at + 1)
            if rest is not None:
                return (at, *rest)
        at = text.find(wanted[done], at + 1)
    return None


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
