"""Selecting in one place and seeing it in all; forms, source and problems."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from sa_builder.ui.compose.outline_delegate import ADDRESS
from sa_builder.ui.widgets.buttons import Button, Toggle
from tests.ui.compose.conftest import Bench
from tests.ui.hands import click, press_key, type_text

_SUBAGENT = "agents/repo_assistant.side_a.subagents[0]"


def _outline_address(bench: Bench) -> str:
    item = bench.page.outline.tree.currentItem()
    return str(item.data(0, ADDRESS)) if item is not None else ""


def test_clicking_a_card_shows_its_form_row_and_source(bench: Bench) -> None:
    at = bench.page.canvas.card_point("prompts/issue_triager")
    assert at is not None

    click(bench.page.canvas.viewport(), at)

    assert bench.page.source.shown_path == "agents/prompts/issue_triager.py"
    assert bench.page.inspector.row("tools") is not None
    assert _outline_address(bench) == "prompts/issue_triager"


def test_clicking_in_the_source_selects_the_innermost_thing_and_keeps_the_caret(
    bench: Bench,
) -> None:
    bench.page.select_address("agents/repo_assistant")
    editor = bench.page.source.editor
    editor.setFocus()
    place = editor.source().index("blocking=True") + 2
    cursor = editor.textCursor()
    cursor.setPosition(place)

    editor.setTextCursor(cursor)

    assert bench.page.canvas.selected_address() == _SUBAGENT
    assert editor.textCursor().position() == place


def test_a_toggle_writes_one_word_and_undo_takes_it_back(bench: Bench, qtbot: QtBot) -> None:
    bench.page.select_address(_SUBAGENT)
    before = bench.file("agents/repo_assistant.py")
    row = bench.page.inspector.row("blocking")
    assert row is not None

    toggle = row.findChild(Toggle)
    assert toggle is not None

    with qtbot.waitSignal(bench.page.edited):
        click(toggle, QPoint(10, 8))

    assert b"blocking=True" not in bench.file("agents/repo_assistant.py")
    bench.page.undo()
    assert bench.file("agents/repo_assistant.py") == before


def test_a_number_typed_in_the_form_lands_in_the_file(bench: Bench, qtbot: QtBot) -> None:
    bench.page.show_agent("issue_triage")
    row = bench.page.inspector.row("max_steps", "Side A")
    assert row is not None
    assert isinstance(row.editor, QLineEdit)

    row.editor.selectAll()
    type_text(row.editor, "7")
    with qtbot.waitSignal(bench.page.edited):
        press_key(row.editor, Qt.Key.Key_Return)

    assert b"max_steps=7," in bench.file("agents/issue_triage.py")


def test_a_value_that_breaks_a_rule_is_written_and_said_at_the_field(
    bench: Bench, qtbot: QtBot
) -> None:
    bench.page.show_agent("issue_triage")
    row = bench.page.inspector.row("max_steps", "Side A")
    assert row is not None

    assert isinstance(row.editor, QLineEdit)
    row.editor.selectAll()
    type_text(row.editor, "0")
    press_key(row.editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(bench.said or bench.edits))

    shown = bench.page.inspector.row("max_steps", "Side A")
    assert shown is not None
    assert shown.field.problem is not None or bench.said


def test_the_side_backing_is_chosen_in_the_form(bench: Bench, qtbot: QtBot) -> None:
    bench.page.show_agent("relay_agent")
    row = bench.page.inspector.row("backing", "Side A")
    assert row is not None
    combo = row.editor
    assert isinstance(combo, QComboBox)

    combo.setCurrentIndex(combo.findData("handlers/echo_once"))
    with qtbot.waitSignal(bench.page.edited):
        combo.activated.emit(combo.currentIndex())

    assert b'handler="echo_once"' in bench.file("agents/relay_agent.py")


def test_saving_the_source_keeps_windows_line_ends_and_a_mark(
    make_bench: Callable[[Path], Bench], project_root: Path
) -> None:
    path = project_root / "agents/agents/relay_agent.py"
    old = b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(old)
    bench = make_bench(project_root)
    bench.page.show_agent("relay_agent")
    editor = bench.page.source.editor

    cursor = editor.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.End)
    editor.setTextCursor(cursor)
    editor.insertPlainText("# the end\n")
    bench.page.source.save()

    assert path.read_bytes() == old + b"# the end\r\n"
    assert not bench.page.source.is_dirty


def test_typed_text_survives_a_change_outside_and_is_asked_about(bench: Bench) -> None:
    bench.page.show_agent("relay_agent")
    path = bench.project.root / "agents/agents/relay_agent.py"
    bench.page.source.editor.insertPlainText("# mine\n")
    path.write_bytes(path.read_bytes() + b"# theirs\n")

    bench.project.refresh()
    bench.page.refresh()

    assert "# mine" in bench.page.source.editor.source()
    notice = bench.page.source.findChild(type(bench.page.source._notice))  # pyright: ignore[reportPrivateUsage]
    assert notice is not None
    assert notice.isVisible()


def test_a_file_with_characters_no_view_can_hold_is_read_only_and_untouched(
    make_bench: Callable[[Path], Bench], project_root: Path
) -> None:
    path = project_root / "agents/agents/relay_agent.py"
    old = path.read_bytes() + "# odd \u2029 line\n".encode()
    path.write_bytes(old)
    bench = make_bench(project_root)

    bench.page.show_agent("relay_agent")
    bench.page.source.save()

    assert path.read_bytes() == old


def test_no_break_spaces_survive_saving(
    make_bench: Callable[[Path], Bench], project_root: Path
) -> None:
    path = project_root / "agents/agents/relay_agent.py"
    old = path.read_bytes() + "# a\u00a0b\n".encode()
    path.write_bytes(old)
    bench = make_bench(project_root)
    bench.page.show_agent("relay_agent")

    bench.page.source.editor.moveCursor(QTextCursor.MoveOperation.Start)
    bench.page.source.editor.insertPlainText("# first\n")
    bench.page.source.save()

    assert path.read_bytes() == b"# first\n" + old


def test_a_broken_reference_is_drawn_listed_and_repaired(
    make_bench: Callable[[Path], Bench], project_root: Path, qtbot: QtBot
) -> None:
    path = project_root / "agents/prompts/repo_assistant.py"
    text = path.read_text()
    path.write_text(
        text.replace(
            'model="conversational",', 'model="conversational",\n    tools=["search_docs"],'
        )
    )
    bench = make_bench(project_root)

    assert "missing:tools/search_docs" in bench.page.canvas.cards
    assert bench.page.problems.list.count() >= 1
    assert "search_docs" in bench.page.problems.list.item(0).text()


def test_a_syntax_error_keeps_the_last_good_picture(bench: Bench) -> None:
    cards = set(bench.page.canvas.cards)
    path = bench.project.root / "agents/prompts/repo_assistant.py"
    path.write_text(path.read_text() + "\n)(\n")

    bench.project.refresh()
    bench.page.refresh()

    assert set(bench.page.canvas.cards) == cards
    assert bench.page.problem_counts[0] == 1


def test_double_clicking_a_child_agent_drills_in(bench: Bench) -> None:
    at = bench.page.canvas.card_point("agents/issue_triage")
    assert at is not None

    QTest.mouseDClick(
        bench.page.canvas.viewport(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        at,
    )

    assert bench.page.shown_agent == "issue_triage"


def test_arrow_keys_walk_the_cards(bench: Bench) -> None:
    bench.page.select_address("agents/repo_assistant")

    press_key(bench.page.canvas, Qt.Key.Key_Right)

    assert bench.page.canvas.selected_address() in ("prompts/repo_assistant", "agents/issue_triage")


def test_an_empty_project_shows_words_and_makes_its_first_agent(
    make_bench: Callable[[Path], Bench], tmp_path: Path
) -> None:
    (tmp_path / "agents").mkdir()
    bench = make_bench(tmp_path)

    assert bench.page.canvas.cards == {}
    assert bench.page.empty.isVisible()


def test_narrow_windows_fold_the_outline_then_the_inspector(bench: Bench) -> None:
    bench.page.resize(1100, 900)
    assert not bench.page.outline.isVisible()
    assert bench.page.inspector.isVisible()

    bench.page.resize(1000, 650)
    assert not bench.page.inspector.isVisible()
    assert not bench.page.source.editor.isVisible()
    assert bench.page.source.isVisible()
    assert bench.page.source.height() < 40
    bench.page.resize(760, 480)
    bar = bench.page.toolbar
    assert bar.thread_button.geometry().right() <= bar.width()
    assert bar.scope.width() >= bar.scope.sizeHint().width()


def test_a_fitted_canvas_stays_fitted_until_a_person_zooms(bench: Bench) -> None:
    canvas = bench.page.canvas
    bench.page.resize(900, 600)
    small = canvas.zoom_percent()
    bench.page.resize(1550, 900)
    assert canvas.zoom_percent() > small

    canvas.zoom_by(0.5)
    zoomed = canvas.zoom_percent()
    bench.page.resize(1200, 800)

    assert canvas.zoom_percent() == zoomed


def test_a_broken_file_of_places_is_said_and_not_replaced(
    make_bench: Callable[[Path], Bench], project_root: Path
) -> None:
    path = project_root / "agents/canvas.json"
    path.write_text("<<<<<<< ours\n")
    bench = make_bench(project_root)

    bench.page.canvas.moved.emit({"agents/echo_once": (10.0, 20.0)})

    assert bench.said[-1].startswith("agents/canvas.json cannot be read: line 1")
    assert path.read_text() == "<<<<<<< ours\n"
    assert bench.page.canvas.cards


def _menu(qtbot: QtBot) -> QMenu:
    menus: list[QMenu] = []

    def is_open() -> bool:
        popup = QApplication.activePopupWidget()
        if isinstance(popup, QMenu):
            menus.append(popup)
        return bool(menus)

    qtbot.waitUntil(is_open)
    return menus[-1]


def _menu_words(qtbot: QtBot) -> list[str]:
    menu = _menu(qtbot)
    words = [action.text() for action in menu.actions() if action.text()]
    menu.close()
    return words


def _choose(qtbot: QtBot, words: str) -> None:
    """Click an entry of the menu that is open."""
    menu = _menu(qtbot)
    entry = next(action for action in menu.actions() if action.text() == words)
    click(menu, menu.actionGeometry(entry).center())


def _open_menu(bench: Bench, at: QPoint) -> None:
    viewport = bench.page.canvas.viewport()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, viewport.mapToGlobal(at))
    QApplication.sendEvent(viewport, event)


def test_a_card_has_a_menu_of_its_deeds(bench: Bench, qtbot: QtBot) -> None:
    at = bench.page.canvas.card_point("agents/issue_triage")
    assert at is not None

    _open_menu(bench, at)

    words = _menu_words(qtbot)
    assert words == ["Open composition", "New thread", "Connect…", "Show in source"]
    assert bench.page.canvas.selected_address() == "agents/issue_triage"


def test_a_connection_has_a_menu_that_removes_it(bench: Bench, qtbot: QtBot) -> None:
    bench.page.select_address(_SUBAGENT)
    trace = bench.page.canvas.traces[_SUBAGENT]
    corner = trace.corners.at(trace.corners.size() - 1)

    _open_menu(bench, bench.page.canvas.mapFromScene(corner) - QPoint(12, 0))

    assert "Remove connection" in _menu_words(qtbot)


def test_plus_minus_and_zero_zoom_the_canvas(bench: Bench) -> None:
    canvas = bench.page.canvas
    press_key(canvas, Qt.Key.Key_Minus)
    assert canvas.zoom_percent() == 80
    press_key(canvas, Qt.Key.Key_Plus)
    assert canvas.zoom_percent() == 100
    press_key(canvas, Qt.Key.Key_Minus)
    press_key(canvas, Qt.Key.Key_0)
    assert canvas.zoom_percent() == 100


def test_an_entry_of_a_menu_does_what_it_says(bench: Bench, qtbot: QtBot) -> None:
    at = bench.page.canvas.card_point("agents/issue_triage")
    assert at is not None
    _open_menu(bench, at)

    _choose(qtbot, "Open composition")

    assert bench.page.shown_agent == "issue_triage"


def test_a_new_definition_of_the_menu_is_a_file_and_selected(bench: Bench, qtbot: QtBot) -> None:
    click(bench.page.toolbar.new)

    _choose(qtbot, "Tool")

    assert (bench.project.root / "agents/tools/new_tool_1.py").is_file()
    assert bench.page.canvas.selected_address() == "tools/new_tool_1"


def test_the_toolbar_leads_to_another_agent(bench: Bench, qtbot: QtBot) -> None:
    click(bench.page.toolbar.pick)

    _choose(qtbot, "weather_agent")

    assert bench.page.shown_agent == "weather_agent"


def test_a_tool_added_in_the_form_stands_in_the_file(bench: Bench, qtbot: QtBot) -> None:
    bench.page.select_address("prompts/issue_triager")
    row = bench.page.inspector.row("tools")
    assert row is not None
    add = next(one for one in row.findChildren(Button) if one.text() == "Add a name")
    click(add)

    with qtbot.waitSignal(bench.page.edited):
        _choose(qtbot, "get_weather")

    assert b'"get_weather"' in bench.file("prompts/issue_triager.py")
