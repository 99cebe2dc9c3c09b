"""The logs of a thread and its children as one list, each child's beneath the row that made it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from sa_builder.errors import StoreError
from sa_builder.spec.logs import LogPage, LogQuery, LogRow
from sa_builder.util.ids import ThreadId

MOST_CHILD_ROWS = 1000
"""Rows that are read of one child."""


class LogSource(Protocol):
    """What holds the logs of one thread; a `ThreadReader` does."""

    @property
    def thread_id(self) -> ThreadId: ...

    def logs(self, query: LogQuery) -> LogPage:
        """A page of the thread's own rows by keyset, oldest first."""
        ...


Children = Callable[[ThreadId], LogSource | None]
"""Opens a child's logs; None when they are not there or cannot be read."""


def read_logs(source: LogSource, query: LogQuery, child: Children) -> LogPage:
    """A page of a thread's logs, with its children's where the query asks for them.

    The keyset counts the thread's own rows alone. A child's rows stand where it was made, even
    when the row that made it does not match.
    """
    page = source.logs(query)
    if not query.include_children:
        return page
    rows = _merged(source, page, query, child, {source.thread_id}, 0)
    return page.model_copy(update={"rows": rows})


def _merged(
    source: LogSource,
    page: LogPage,
    query: LogQuery,
    child: Children,
    seen: set[ThreadId],
    depth: int,
) -> list[LogRow]:
    makers = LogQuery(kinds=("child",), after_id=query.after_id, limit=MOST_CHILD_ROWS)
    made = {row.id: row.child_thread_id for row in source.logs(makers).rows}
    own = {row.id: row for row in page.rows}
    last = page.rows[-1].id if page.has_more and page.rows else None
    rows: list[LogRow] = []
    for log_id in sorted({*made, *own}):
        if last is not None and log_id > last:
            break
        row = own.get(log_id)
        if row is not None:
            deeper = row.model_copy(update={"depth": row.depth + depth})
            rows.append(deeper if depth else row)
        child_id = made.get(log_id)
        if child_id is not None and child_id not in seen:
            seen.add(child_id)
            rows += _rows_of_child(child_id, query, child, seen, depth + 1)
    return rows


def _rows_of_child(
    child_id: ThreadId, query: LogQuery, child: Children, seen: set[ThreadId], depth: int
) -> list[LogRow]:
    inner = query.model_copy(update={"after_id": None, "limit": MOST_CHILD_ROWS})
    source = child(child_id)
    if source is None:
        return []
    try:
        return _merged(source, source.logs(inner), inner, child, seen, depth)
    except StoreError:
        return []  # a child that cannot be read: its parent's row stays, and says how it ended
