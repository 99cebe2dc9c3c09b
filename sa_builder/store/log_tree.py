"""The logs of a thread and its children as one list, each child's beneath the row that made it."""

from __future__ import annotations

from collections.abc import Callable

from sa_builder.spec.logs import LogPage, LogQuery, LogRow
from sa_builder.store.thread_reader import ThreadReader
from sa_builder.util.ids import ThreadId

MOST_CHILD_ROWS = 1000
"""Rows that are read of one child."""


def read_logs(
    reader: ThreadReader, query: LogQuery, child: Callable[[ThreadId], ThreadReader | None]
) -> LogPage:
    """A page of a thread's logs, with its children's where the query asks for them.

    Args:
        child: opens a child's file; None when it is not there or cannot be read.
    """
    page = reader.logs(query)
    if not query.include_children:
        return page
    rows: list[LogRow] = []
    seen = {reader.thread_id}
    for row in page.rows:
        rows.append(row)
        rows += _child_rows(row, query, child, seen)
    return page.model_copy(update={"rows": rows})


def _child_rows(
    row: LogRow,
    query: LogQuery,
    child: Callable[[ThreadId], ThreadReader | None],
    seen: set[ThreadId],
) -> list[LogRow]:
    """A child's rows beneath the first row that names it."""
    child_id = row.child_thread_id
    if child_id is None or child_id in seen:
        return []
    seen.add(child_id)
    reader = child(child_id)
    if reader is None:
        return []
    inner = query.model_copy(update={"after_id": None, "limit": MOST_CHILD_ROWS})
    rows: list[LogRow] = []
    for found in reader.logs(inner).rows:
        deeper = found.model_copy(update={"depth": row.depth + 1 + found.depth})
        rows.append(deeper)
        rows += _child_rows(deeper, query, child, seen)
    return rows
