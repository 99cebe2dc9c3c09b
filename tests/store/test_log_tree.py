"""A thread's logs with its children's: where they stand, and what a filter leaves of them."""

from __future__ import annotations

from collections.abc import Sequence

from sa_builder.errors import StoreError
from sa_builder.spec.logs import LogKind, LogPage, LogQuery, LogRow
from sa_builder.store.log_tree import read_logs
from sa_builder.util.ids import LogId, ThreadId

PARENT, CHILD = ThreadId("parent"), ThreadId("child")


class Rows:
    """The rows of one thread, in memory."""

    def __init__(self, thread_id: ThreadId, rows: Sequence[LogRow]) -> None:
        self.thread_id = thread_id
        self.rows = rows

    def logs(self, query: LogQuery) -> LogPage:
        own = [row for row in self.rows if not query.kinds or row.kind in query.kinds]
        after = query.after_id
        left = own if after is None else [row for row in own if row.id > after]
        return LogPage(rows=left[: query.limit], total=len(own), has_more=len(left) > query.limit)


class Broken(Rows):
    """A file that opens and cannot be read."""

    def logs(self, query: LogQuery) -> LogPage:
        raise StoreError("It is damaged.", code="store.corrupt")


def _row(thread: ThreadId, number: int, kind: LogKind, child: ThreadId | None = None) -> LogRow:
    return LogRow(
        id=LogId(number), thread_id=thread, kind=kind, title=kind, status="done",
        created_at_us=number, child_thread_id=child, turn=1,
    )  # fmt: skip


def _parent() -> Rows:
    kinds: list[tuple[LogKind, ThreadId | None]] = [
        ("model", None),
        ("child", CHILD),
        ("model", None),
    ]
    return Rows(PARENT, [_row(PARENT, at + 1, kind, to) for at, (kind, to) in enumerate(kinds)])


def _child() -> Rows:
    return Rows(CHILD, [_row(CHILD, 1, "model"), _row(CHILD, 2, "tool")])


def _shown(page: LogPage) -> list[tuple[str, int, int]]:
    return [(row.thread_id, row.id, row.depth) for row in page.rows]


def test_a_childs_rows_stand_beneath_the_row_that_made_it() -> None:
    page = read_logs(_parent(), LogQuery(include_children=True), lambda _: _child())

    assert _shown(page) == [
        ("parent", 1, 0), ("parent", 2, 0), ("child", 1, 1), ("child", 2, 1), ("parent", 3, 0),
    ]  # fmt: skip


def test_a_filter_that_hides_the_maker_keeps_what_matches_of_the_child() -> None:
    query = LogQuery(kinds=("tool",), include_children=True)

    page = read_logs(_parent(), query, lambda _: _child())

    assert _shown(page) == [("child", 2, 1)]


def test_pages_bring_each_child_once() -> None:
    first = read_logs(_parent(), LogQuery(include_children=True, limit=1), lambda _: _child())
    query = LogQuery(include_children=True, limit=2, after_id=LogId(1))
    second = read_logs(_parent(), query, lambda _: _child())

    assert _shown(first) == [("parent", 1, 0)]
    assert _shown(second) == [
        ("parent", 2, 0), ("child", 1, 1), ("child", 2, 1), ("parent", 3, 0),
    ]  # fmt: skip


def test_a_child_that_cannot_be_read_leaves_its_parents_rows() -> None:
    for lost in (None, Broken(CHILD, [])):
        page = read_logs(_parent(), LogQuery(include_children=True), lambda _, it=lost: it)

        assert [row.id for row in page.rows] == [1, 2, 3]
