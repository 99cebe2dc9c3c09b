"""Log table, JSON tree and journal as Qt models."""

from __future__ import annotations

import json

from PySide6.QtCore import QAbstractItemModel, QModelIndex
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from sa_builder.client.sample_threads import CHILD, sample_client
from sa_builder.spec.logs import LogPage, LogRow
from sa_builder.ui.logs.journal import JournalModel
from sa_builder.ui.logs.json_model import ENTRY_ROLE, JsonTreeModel
from sa_builder.ui.logs.json_source import JsonSource
from sa_builder.ui.logs.table_model import COST, STEP, TOKENS, TURN, LogTableModel
from sa_builder.ui.theme import Theme
from sa_builder.util.clock import FakeClock
from sa_builder.util.ids import LogId, ThreadId

OWN = ThreadId("own")


def watched(model: QAbstractItemModel) -> None:
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)


def row(number: int, *, thread: ThreadId = OWN, child: str | None = None, depth: int = 0) -> LogRow:
    return LogRow(
        id=LogId(number),
        thread_id=thread,
        kind="child" if child else "model",
        title=f"row {number}",
        turn=1,
        step=number,
        depth=depth,
        status="running",
        created_at_us=number,
        child_thread_id=None if child is None else ThreadId(child),
    )


def titles(model: LogTableModel) -> list[str]:
    return ["  " * one.depth + one.title for one in model.rows]


def test_cells_say_what_a_row_holds(qtbot: QtBot) -> None:
    model = LogTableModel(FakeClock())
    watched(model)
    found = sample_client()._logs[CHILD][2].row  # pyright: ignore[reportPrivateUsage]

    model.set_page(LogPage(rows=[found], total=1, has_more=False))

    cells = [model.index(0, column).data() for column in (STEP, TURN, TOKENS, COST)]
    assert cells == ["conversational", "2·2", "2,410", "$0.0083"]


def test_pages_are_appended_and_wished_once(qtbot: QtBot) -> None:
    model = LogTableModel(FakeClock())
    watched(model)
    wishes: list[int] = []
    model.more_wished.connect(lambda: wishes.append(1))
    model.set_page(LogPage(rows=[row(1), row(2)], total=3, has_more=True))

    model.fetchMore(QModelIndex())
    model.fetchMore(QModelIndex())
    model.append_page(LogPage(rows=[row(3)], total=3, has_more=False))

    assert wishes == [1]
    assert titles(model) == ["row 1", "row 2", "row 3"]


def test_a_live_row_is_added_once_and_then_changed(qtbot: QtBot) -> None:
    model = LogTableModel(FakeClock())
    watched(model)

    first = model.put_row(row(1))
    second = model.put_row(row(1).model_copy(update={"status": "done", "duration_ms": 5.0}))

    assert (first, second) == (True, False)
    assert model.rows[0].status == "done"
    assert model.total == 1


def test_rows_of_a_child_stand_under_what_made_it(qtbot: QtBot) -> None:
    model = LogTableModel(FakeClock())
    watched(model)
    kid = ThreadId("kid")
    model.set_page(LogPage(rows=[row(1, child="kid"), row(2)], total=2, has_more=False))

    model.put_row(row(1, thread=kid))
    model.put_row(row(2, thread=kid))
    model.put_row(row(3))

    assert titles(model) == ["row 1", "  row 1", "  row 2", "row 2", "row 3"]


def test_a_live_row_waits_for_its_page_while_more_exist(qtbot: QtBot) -> None:
    model = LogTableModel(FakeClock())
    model.set_page(LogPage(rows=[row(1)], total=9, has_more=True))

    assert model.put_row(row(9)) is False
    assert titles(model) == ["row 1"]


def test_a_json_branch_is_read_when_it_is_unfolded(qtbot: QtBot) -> None:
    source = JsonSource(json.dumps({"list": list(range(450)), "name": "x"}))
    asked: list[str] = []
    children = source.children
    source.children = lambda path: (asked.append(path), children(path))[1]
    model = JsonTreeModel(source)
    branch = model.index(0, 0)
    before = list(asked)

    model.fetchMore(branch)
    first = model.rowCount(branch)
    model.fetchMore(branch)
    model.fetchMore(branch)

    assert before == ["$"]
    assert first == 200
    assert model.rowCount(branch) == 450
    assert not model.canFetchMore(branch)
    assert model.index(449, 1, branch).data() == "449"
    assert model.index(3, 0, branch).data(ENTRY_ROLE).path == '$."list"[3]'


def test_a_json_tree_keeps_the_rules_of_a_model(qtbot: QtBot) -> None:
    model = JsonTreeModel(JsonSource('{"a": [{"b": 1}, [], {}, "x"], "c": {"d": [null]}}'))
    watched(model)

    for row_number in range(model.rowCount()):
        model.fetchMore(model.index(row_number, 0))

    inner = model.index(0, 0, model.index(0, 0))
    assert model.parent(inner) == model.index(0, 0)
    assert model.hasChildren(inner)


def test_the_journal_lists_acts_in_order(qtbot: QtBot, theme: Theme) -> None:
    model = JournalModel(theme)
    watched(model)

    model.set_acts(sample_client()._acts[CHILD])  # pyright: ignore[reportPrivateUsage]

    assert [model.index(at, 0).data() for at in range(model.rowCount())] == [
        "2/1/model",
        "2/1/1",
        "2/2/model",
        "2/2/1",
    ]
