"""A thread's log rows with those of its children beneath the rows that made them."""

from __future__ import annotations

from sa_builder.client.base import RuntimeClient
from sa_builder.errors import KnownError
from sa_builder.spec.logs import LogPage, LogQuery, LogRow
from sa_builder.util.ids import ThreadId

_MOST_ROWS = 1000


async def family_page(client: RuntimeClient, thread_id: ThreadId, query: LogQuery) -> LogPage:
    """One page of the thread's own rows; matching rows of its children stand among them.

    The keyset counts the thread's own rows alone. A child's rows are placed where it was made,
    even when the row that made it does not match.
    """
    page = await client.list_logs(thread_id, query)
    rows = await _merged(client, thread_id, page, query, {thread_id}, 0)
    return page.model_copy(update={"rows": rows})


async def _merged(
    client: RuntimeClient,
    thread_id: ThreadId,
    page: LogPage,
    query: LogQuery,
    seen: set[ThreadId],
    depth: int,
) -> list[LogRow]:
    makers = LogQuery(kinds=("child",), after_id=query.after_id, limit=_MOST_ROWS)
    places = {row.id: row for row in (await client.list_logs(thread_id, makers)).rows}
    own = {row.id: row for row in page.rows}
    last = page.rows[-1].id if page.has_more and page.rows else None
    rows: list[LogRow] = []
    for log_id in sorted({*places, *own}):
        if last is not None and log_id > last:
            break
        row = own.get(log_id)
        if row is not None:
            deeper = row.model_copy(update={"depth": row.depth + depth})
            rows.append(deeper if depth else row)
        maker = places.get(log_id)
        child_id = None if maker is None else maker.child_thread_id
        if child_id is not None and child_id not in seen:
            seen.add(child_id)
            rows += await _rows_of_child(client, child_id, query, seen, depth + 1)
    return rows


async def _rows_of_child(
    client: RuntimeClient, child_id: ThreadId, query: LogQuery, seen: set[ThreadId], depth: int
) -> list[LogRow]:
    inner = query.model_copy(update={"after_id": None, "limit": _MOST_ROWS})
    try:
        page = await client.list_logs(child_id, inner)
    except KnownError:
        return []  # a child that is gone: its parent's row stays, and says how it ended
    return await _merged(client, child_id, page, inner, seen, depth)
