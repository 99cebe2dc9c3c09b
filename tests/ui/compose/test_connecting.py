"""Dragging a port to a card, and the same by the keyboard: what changes in the files."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sa_builder.ui.compose.target_picker import TargetPicker
from tests.ui.compose.conftest import Bench
from tests.ui.hands import press_key, type_text

_LEFT = Qt.MouseButton.LeftButton
_NONE = Qt.KeyboardModifier.NoModifier


def _move(bench: Bench, start: QPoint, end: QPoint) -> None:
    viewport = bench.page.canvas.viewport()
    for step in range(1, 9):
        at = QPointF(start + (end - start) * step / 8)
        event = QMouseEvent(
            QEvent.Type.MouseMove,
            at,
            QPointF(viewport.mapToGlobal(at.toPoint())),
            Qt.MouseButton.NoButton,
            _LEFT,
            _NONE,
        )
        QApplication.sendEvent(viewport, event)


def _hold(bench: Bench, source: str, target: str) -> QPoint:
    """Take a port and hold it over a card; returns where."""
    canvas = bench.page.canvas
    start, end = canvas.port_point(source), canvas.card_point(target)
    assert start is not None
    assert end is not None
    QTest.mousePress(canvas.viewport(), _LEFT, _NONE, start)
    _move(bench, start, end)
    return end


def _release(bench: Bench, at: QPoint) -> None:
    QTest.mouseRelease(bench.page.canvas.viewport(), _LEFT, _NONE, at)


def _drag(bench: Bench, source: str, target: str) -> None:
    _release(bench, _hold(bench, source, target))


def _picker(qtbot: QtBot) -> TargetPicker:
    found: list[TargetPicker] = []

    def is_open() -> bool:
        popup = QApplication.activePopupWidget()
        if isinstance(popup, TargetPicker):
            found.append(popup)
        return bool(found)

    qtbot.waitUntil(is_open)
    return found[-1]


def test_dropping_a_side_on_a_handler_changes_only_its_span(bench: Bench) -> None:
    bench.page.show_agent(None)
    before = bench.file("agents/relay_agent.py")

    _drag(bench, "agents/relay_agent.side_a", "handlers/echo_once")

    after = bench.file("agents/relay_agent.py")
    assert after == before.replace(b'handler="relay_pipe"', b'handler="echo_once"')
    assert after != before
    assert len(bench.edits) == 1


def test_undo_after_a_drop_gives_identical_bytes(bench: Bench) -> None:
    bench.page.show_agent(None)
    before = bench.file("agents/relay_agent.py")
    _drag(bench, "agents/relay_agent.side_a", "handlers/echo_once")

    bench.page.undo()

    assert bench.file("agents/relay_agent.py") == before


def test_a_drag_shows_the_lines_it_would_write_and_writes_nothing(bench: Bench) -> None:
    bench.page.show_agent(None)
    before = bench.file("agents/relay_agent.py")

    end = _hold(bench, "agents/relay_agent.side_a", "handlers/echo_once")

    assert 'handler="echo_once"' in bench.page.source.editor.source()
    assert bench.page.canvas.banner.isVisible()
    assert bench.page.canvas.drop_card.isVisible()
    assert bench.file("agents/relay_agent.py") == before
    press_key(bench.page.canvas, Qt.Key.Key_Escape)
    _release(bench, end)
    assert bench.file("agents/relay_agent.py") == before
    assert 'handler="relay_pipe"' in bench.page.source.editor.source()
    assert not bench.page.canvas.banner.isVisible()


def test_cards_that_do_not_fit_say_why_and_take_no_drop(bench: Bench) -> None:
    bench.page.show_agent(None)
    before = bench.file("agents/relay_agent.py")

    end = _hold(bench, "agents/relay_agent.side_a", "tools/get_weather")

    assert bench.page.canvas.says_of("tools/get_weather") == "give tools to a prompt"
    _release(bench, end)
    assert bench.file("agents/relay_agent.py") == before
    assert bench.edits == []


def test_a_port_dropped_on_its_own_card_does_nothing(bench: Bench) -> None:
    _drag(bench, "agents/repo_assistant.side_a", "agents/repo_assistant")

    assert bench.edits == []


def test_dropping_on_an_agent_that_is_not_exposed_exposes_it_in_the_same_step(
    bench: Bench,
) -> None:
    bench.page.show_agent(None)
    before = bench.file("agents/repo_assistant.py"), bench.file("agents/weather_agent.py")

    _drag(bench, "agents/repo_assistant.side_a", "agents/weather_agent")

    assert b'Relationship(agent="weather_agent")' in bench.file("agents/repo_assistant.py")
    assert b"expose_as_tool=True" in bench.file("agents/weather_agent.py")
    bench.page.undo()
    assert bench.file("agents/repo_assistant.py") == before[0]
    assert bench.file("agents/weather_agent.py") == before[1]


def test_dropping_on_empty_canvas_opens_a_search_that_connects(bench: Bench, qtbot: QtBot) -> None:
    bench.page.show_agent("relay_agent")
    canvas = bench.page.canvas
    start = canvas.port_point("agents/relay_agent.side_a")
    assert start is not None
    end = QPoint(start.x() + 30, canvas.viewport().height() - 60)
    QTest.mousePress(canvas.viewport(), _LEFT, _NONE, start)
    _move(bench, start, end)
    _release(bench, end)

    picker = _picker(qtbot)
    type_text(picker.field, "close_c")
    press_key(picker.field, Qt.Key.Key_Return)

    assert b'handler="close_command"' in bench.file("agents/relay_agent.py")


def test_a_name_that_is_new_creates_the_file_and_connects_it_in_one_step(
    bench: Bench, qtbot: QtBot
) -> None:
    bench.page.show_agent("relay_agent")
    before = bench.file("agents/relay_agent.py")
    bench.page.select_address("agents/relay_agent")

    press_key(bench.page.canvas, Qt.Key.Key_C)
    picker = _picker(qtbot)
    type_text(picker.field, "Mail pipe")
    names = [picker.list.item(row).text() for row in range(picker.list.count())]
    row = next(at for at, name in enumerate(names) if name.startswith("New handler mail_pipe"))
    for _ in range(row):
        press_key(picker.field, Qt.Key.Key_Down)
    press_key(picker.field, Qt.Key.Key_Return)

    assert b'handler="mail_pipe"' in bench.file("agents/relay_agent.py")
    assert (bench.project.root / "agents/handlers/mail_pipe.py").is_file()
    bench.page.undo()
    assert bench.file("agents/relay_agent.py") == before
    assert not (bench.project.root / "agents/handlers/mail_pipe.py").exists()


def test_the_delete_key_removes_the_selected_connection(bench: Bench) -> None:
    address = "agents/repo_assistant.side_a.subagents[0]"
    bench.page.select_address(address)

    press_key(bench.page.canvas, Qt.Key.Key_Delete)

    assert b"issue_triage" not in bench.file("agents/repo_assistant.py")
    bench.page.undo()
    assert b'agent="issue_triage"' in bench.file("agents/repo_assistant.py")


def test_connecting_a_file_that_changed_outside_keeps_both(bench: Bench) -> None:
    bench.page.show_agent(None)
    path = bench.project.root / "agents/agents/relay_agent.py"
    path.write_bytes(b"# a note from outside\n" + path.read_bytes())

    _drag(bench, "agents/relay_agent.side_a", "handlers/echo_once")

    text = path.read_bytes()
    assert text.startswith(b"# a note from outside\n")
    assert b'handler="echo_once"' in text


def test_files_that_change_outside_during_a_drag_leave_it_in_the_hand(bench: Bench) -> None:
    bench.page.show_agent(None)
    end = _hold(bench, "agents/relay_agent.side_a", "handlers/echo_once")
    (bench.project.root / "agents/handlers/echo_once.py").unlink()

    bench.project.refresh()
    bench.page.refresh()
    bench.page.canvas.viewport().repaint()

    _release(bench, end)
    assert "handlers/echo_once" not in bench.page.canvas.cards
    assert not bench.page.canvas.banner.isVisible()
