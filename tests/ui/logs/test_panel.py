"""The right column with real mouse and key events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from sa_builder.client.sample_threads import CHILD, TRIAGE
from sa_builder.errors import KnownError
from sa_builder.spec.logs import LogDetails, LogRow
from sa_builder.ui.logs.details import BlocksPage
from sa_builder.ui.logs.panel import LogsPanel
from sa_builder.ui.logs.payload_view import PayloadView, write_payload
from sa_builder.ui.tasks import Tasks
from sa_builder.ui.theme import Theme
from sa_builder.util.ids import LogId, ThreadId
from tests.ui.hands import click, press_key, type_text
from tests.ui.threads.conftest import PageDesk, find_target


def panel_of(desk: PageDesk, thread_id: ThreadId = TRIAGE) -> LogsPanel:
    desk.open(thread_id)
    desk.run_until(lambda: desk.page.logs.model.rowCount())
    return desk.page.logs


def click_row(desk: PageDesk, number: int) -> None:
    table = desk.page.logs.table
    place = table.visualRect(table.model().index(number, 1)).center()
    click(table.viewport(), place)
    desk.run_until(
        lambda: (
            (found := desk.page.logs.details.details)
            and found.row.id == desk.page.logs.model.rows[number].id
        )
    )


def click_tab(desk: PageDesk, at: int) -> None:
    tabs = desk.page.logs.details.tabs
    click(tabs, tabs.tabRect(at).center())


def test_the_request_of_a_childs_second_step_is_read(desk: PageDesk) -> None:
    panel = panel_of(desk, CHILD)

    click_row(desk, 2)
    click_tab(desk, 1)
    panel.details.request.mode.set_value("text")
    panel.details.request.mode.value_chosen.emit("text")

    assert '"role": "tool"' in panel.details.request.shown_text
    assert "Signing out leaves" in panel.details.request.shown_text


def test_the_overview_says_time_tokens_and_cost(desk: PageDesk) -> None:
    panel = panel_of(desk, CHILD)

    click_row(desk, 2)

    shown = {name: one.value.text() for name, one in panel.details.overview.figures.items()}
    assert shown == {
        "Duration": "1.92\u2009s" if "\u2009" in shown["Duration"] else "1.92 s",
        "Input": "1,842",
        "Output": "568",
        "Cost": "$0.0083",
        "Finish": "tool_calls",
    }


def test_every_tab_shows_something_for_every_row(desk: PageDesk) -> None:
    panel = panel_of(desk, CHILD)

    for number in range(panel.model.rowCount()):
        click_row(desk, number)
        for at in range(panel.details.tabs.count()):
            panel.details.tabs.setCurrentIndex(at)
            panel.details.grab()


def test_a_prompt_part_links_to_its_definition(desk: PageDesk) -> None:
    panel = panel_of(desk, CHILD)
    click_row(desk, 0)
    panel.details.show_tab("System prompt")
    page = panel.details.page("System prompt")
    assert isinstance(page, BlocksPage)
    desk.settle(0.01)

    click(page.transcript.viewport(), QPoint(30, 20))

    assert desk.addresses == ["prompts/issue_triager"]


def test_children_are_included_and_left_out(desk: PageDesk) -> None:
    panel = panel_of(desk)
    alone = panel.model.rowCount()

    click(panel.children_button)
    desk.run_until(lambda: panel.model.rowCount() == 10)
    depths = [row.depth for row in panel.model.rows]
    said = desk.page.side.tabs.tabText(0)
    click(panel.children_button)
    desk.run_until(lambda: panel.model.rowCount() == alone)

    assert alone == 6
    assert depths == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert said == "Logs 10"
    assert desk.page.side.tabs.tabText(0) == "Logs 6"


def test_a_filter_term_becomes_a_chip_and_narrows_the_table(desk: PageDesk) -> None:
    panel = panel_of(desk)

    type_text(panel.filter.line, "kind:model ")
    desk.run_until(lambda: panel.model.rowCount() == 3)
    type_text(panel.filter.line, "status:failed")
    press_key(panel.filter.line, Qt.Key.Key_Return)
    desk.run_until(lambda: panel.model.rowCount() == 1)
    text_left = panel.filter.line.text()
    press_key(panel.filter.line, Qt.Key.Key_Backspace)
    press_key(panel.filter.line, Qt.Key.Key_Backspace)
    desk.run_until(lambda: panel.model.rowCount() == 6)

    assert text_left == ""


def test_a_filter_that_means_nothing_says_so_and_changes_nothing(desk: PageDesk) -> None:
    panel = panel_of(desk)

    type_text(panel.filter.line, "kind:nonsense")
    desk.settle(0.2)

    assert not panel.filter.is_valid
    assert panel.filter.fault.isVisible()
    assert panel.model.rowCount() == 6


def test_a_filter_without_matches_shows_words(desk: PageDesk) -> None:
    panel = panel_of(desk)

    type_text(panel.filter.line, "zebra")
    desk.run_until(lambda: panel.model.rowCount() == 0)

    assert not panel.table.isVisible()


def log(number: int) -> LogDetails:
    return LogDetails(
        row=LogRow(
            id=LogId(number),
            thread_id=TRIAGE,
            kind="tool",
            title=f"tool_{number}",
            turn=9,
            status="done",
            created_at_us=1_800_000_000_000_000 + number,
            duration_ms=3.0,
        )
    )


def test_the_table_follows_new_rows_until_the_reader_scrolls_away(desk: PageDesk) -> None:
    panel = panel_of(desk)
    bar = panel.table.verticalScrollBar()
    for number in range(100, 160):
        desk.script.store_log(log(number))
    desk.run_until(lambda: panel.model.rowCount() == 66)
    followed = bar.value() == bar.maximum() > 0

    click(panel.follow)
    bar.setValue(0)
    desk.script.store_log(log(200))
    desk.run_until(lambda: panel.model.rowCount() == 67)
    held = bar.value()
    offered = panel.new_button.text() if panel.new_button.isVisible() else ""
    click(panel.new_button)

    assert followed
    assert held == 0
    assert offered == "1 new"
    assert bar.value() == bar.maximum()
    assert panel.follow.isChecked()


def test_a_running_row_is_shown_anew_when_it_ends(desk: PageDesk) -> None:
    panel = panel_of(desk, CHILD)
    click_row(desk, 3)
    running = panel.model.rows[3]

    ended = running.model_copy(update={"status": "done", "duration_ms": 220.0})
    desk.script.store_log(LogDetails(row=ended, result="labelled"))
    desk.run_until(lambda: (found := panel.details.details) and found.result == "labelled")

    assert panel.model.rows[3].status == "done"


def test_a_tool_row_shows_arguments_and_result_unfolded(desk: PageDesk) -> None:
    panel = panel_of(desk, CHILD)
    click_row(desk, 1)

    panel.details.show_tab("Tools")
    page = panel.details.page("Tools")

    assert isinstance(page, BlocksPage)
    assert find_target(page.transcript, "Fold tool call get_github_issue")


# payloads


@pytest.fixture
def view(qtbot: QtBot, theme: Theme, gui_loop: asyncio.AbstractEventLoop) -> Iterator[PayloadView]:
    tasks = Tasks()
    made = PayloadView(theme, tasks, "request.json", ("Nothing", "There is none."))
    made.resize(600, 400)
    made.show()
    yield made
    made.close()
    made.deleteLater()
    tasks.deleteLater()


def test_a_payload_of_twenty_megabytes_opens_as_a_preview(view: PayloadView) -> None:
    text = '{"data": "' + "x" * 20_000_000 + '"}'
    begun = time.perf_counter()

    view.show_text(text)

    assert time.perf_counter() - begun < 0.2
    assert view.load_all.isVisible()
    assert "preview of 19.1" in view.caption.text().replace("\u2009", " ")
    assert len(view.shown_text) < 40_000


def test_a_large_payload_is_read_whole_on_demand(
    view: PayloadView, gui_loop: asyncio.AbstractEventLoop
) -> None:
    text = '{"items": [' + ", ".join(['{"name": "x"}'] * 40_000) + "]}"
    view.show_text(text)
    had_tree = view.tree.isVisible()

    click(view.load_all)
    for _ in range(200):
        gui_loop.run_until_complete(asyncio.sleep(0.01))
        if view.tree.isVisible():
            break

    model = view.tree.model()
    assert not had_tree
    assert model.index(0, 1).data() == "[ 40,000 ]"
    assert not view.load_all.isVisible()


def test_a_value_its_path_and_its_json_are_copied(view: PayloadView) -> None:
    view.show_text('{"messages": [{"role": "user"}]}')
    model = view.tree.model()
    index = model.index(0, 0)
    copied: list[str] = []

    for what in ("value", "path", "json"):
        view.tree.copy(what, '$."messages"[0]."role"')
        copied.append(QGuiApplication.clipboard().text())
    menu = view.tree.menu_for(index)
    words = [action.text() for action in menu.actions()]
    menu.deleteLater()

    assert copied == ["user", '$."messages"[0]."role"', '"user"']
    assert words == ["Copy value", "Copy path", "Copy as JSON"]


def test_nothing_shows_words(view: PayloadView) -> None:
    view.show_text(None)

    assert not view.tree.isVisible()
    assert not view.code.isVisible()


def test_a_payload_is_saved_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "payload.txt"

    write_payload(str(path), "a\r\nb\u2028c")

    assert path.read_bytes() == "a\r\nb\u2028c".encode()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(KnownError, match="cannot be written"):
        write_payload(str(tmp_path / "missing" / "x"), "text")


def test_rows_of_children_match_the_filter_even_when_their_maker_does_not(desk: PageDesk) -> None:
    panel = panel_of(desk)

    click(panel.children_button)
    type_text(panel.filter.line, "kind:tool ")
    desk.run_until(lambda: panel.model.rowCount() == 2)

    assert [row.title for row in panel.model.rows] == ["get_github_issue", "label_github_issue"]
    assert {row.depth for row in panel.model.rows} == {1}
