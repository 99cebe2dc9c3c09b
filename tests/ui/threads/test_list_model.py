"""The thread list's rows."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from sa_builder.spec.threads import ThreadPage, ThreadSummary
from sa_builder.ui.threads.list_model import ROW_ROLE, ListRow, ThreadListModel
from sa_builder.util.clock import FakeClock
from sa_builder.util.ids import ThreadId

NOW_US = 1_790_000_000_000_000


def summary(number: int, *, parent: int | None = None, hours: float = 0.0) -> ThreadSummary:
    at_us = NOW_US - int(hours * 3_600_000_000) - number
    return ThreadSummary(
        id=ThreadId(f"t{number}"),
        agent_name="agent",
        origin_agent_name="agent",
        title=f"Thread {number}",
        parent_id=None if parent is None else ThreadId(f"t{parent}"),
        created_at_us=at_us,
        updated_at_us=at_us,
    )


def made(qtbot: QtBot) -> ThreadListModel:
    model = ThreadListModel(FakeClock(NOW_US))
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)
    return model


def shown(model: ThreadListModel) -> list[str]:
    rows: list[ListRow] = [model.index(at, 0).data(ROW_ROLE) for at in range(model.rowCount())]
    return [f"{row.kind} {row.title}" for row in rows]


def test_rows_are_grouped_by_day_newest_first(qtbot: QtBot) -> None:
    model = made(qtbot)

    model.set_page(ThreadPage(rows=[summary(2, hours=50), summary(1)], total=2))

    kinds = [row.split()[0] for row in shown(model)]
    assert kinds == ["day", "thread", "day", "thread"]
    assert shown(model)[:2] == ["day Today", "thread Thread 1"]


def test_children_are_folded_into_one_row_until_opened(qtbot: QtBot) -> None:
    model = made(qtbot)
    model.set_page(ThreadPage(rows=[summary(1)], total=1))

    model.add_children([summary(5, parent=1), summary(6, parent=1)])
    folded = shown(model)[2:]
    model.set_open(ThreadId("t1"), True)

    assert folded == ["fold 2 children"]
    assert shown(model)[2:] == ["child Thread 5", "child Thread 6"]


def test_more_is_wished_once_and_only_while_there_is_more(qtbot: QtBot) -> None:
    model = made(qtbot)
    wishes: list[int] = []
    model.more_wished.connect(lambda: wishes.append(1))
    model.set_page(ThreadPage(rows=[summary(1), summary(2)], total=4))

    model.fetchMore(QModelIndex())
    model.fetchMore(QModelIndex())
    model.append_page(ThreadPage(rows=[summary(3), summary(4)], total=4))

    assert wishes == [1]
    assert not model.canFetchMore(QModelIndex())
    assert model.rowCount() == 5


def test_a_change_moves_a_thread_to_the_top(qtbot: QtBot) -> None:
    model = made(qtbot)
    model.set_page(ThreadPage(rows=[summary(n) for n in range(1, 6)], total=5))

    model.update_thread(summary(4).model_copy(update={"updated_at_us": NOW_US + 1}))

    assert shown(model)[1] == "thread Thread 4"
    assert model.rowCount() == 6


def test_a_thread_that_no_longer_matches_goes(qtbot: QtBot) -> None:
    model = made(qtbot)
    model.set_page(ThreadPage(rows=[summary(1), summary(2)], total=2))

    model.update_thread(summary(1), matches=False)
    model.remove_thread(ThreadId("t2"))

    assert model.rowCount() == 0
