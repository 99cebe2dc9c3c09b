"""The canvas by itself: what is painted in a step, from far, and while cards are moved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QPaintEvent, QRegion
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QGraphicsItem
from pytestqt.qtbot import QtBot

from sa_builder.project.project import Project
from sa_builder.ui.canvas.view import Canvas
from sa_builder.ui.theme import Theme
from tests.ui.hands import args_of, click

_LEFT, _NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
_CARD = "prompts/weather"
_TRACE = "agents/weather_agent.side_a.prompt"


class Paints(QObject):
    """Notes what of a widget is painted."""

    def __init__(self) -> None:
        super().__init__()
        self.region = QRegion()
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.region = self.region.united(event.region())
            self.count += 1
        return False


@pytest.fixture
def canvas(qtbot: QtBot, theme: Theme, project_root: Path) -> Iterator[Canvas]:
    """The whole sample project at 100 %, in a window."""
    project = Project.open(project_root)
    made = Canvas(theme, project.targets)
    made.resize(1000, 700)
    made.show()
    qtbot.waitExposed(made)
    made.show_graph(project.graph(), {})
    made.fit()
    made.zoom_to_full()
    yield made
    made.close()
    made.deleteLater()


def _drag(canvas: Canvas, by: QPoint) -> QPoint:
    """Press on a card and move it, without letting go; returns where the hand is."""
    at = canvas.card_point(_CARD)
    assert at is not None
    QTest.mousePress(canvas.viewport(), _LEFT, _NONE, at)
    for part in (4, 2, 1):
        QTest.mouseMove(canvas.viewport(), at + by / part)
    return at + by


def _area(region: QRegion) -> int:
    return sum(rect.width() * rect.height() for rect in region)  # pyright: ignore


def _pan(canvas: Canvas, qtbot: QtBot, by: int) -> QRegion:
    watch = Paints()
    canvas.viewport().installEventFilter(watch)
    canvas.horizontalScrollBar().setValue(canvas.horizontalScrollBar().value() + by)
    qtbot.waitUntil(lambda: not watch.region.isEmpty())
    canvas.viewport().removeEventFilter(watch)
    return watch.region


def _paint_what_waits(canvas: Canvas) -> None:
    QCoreApplication.sendPostedEvents()
    QCoreApplication.sendEvent(canvas.window(), QEvent(QEvent.Type.UpdateRequest))


def test_what_floats_stays_in_its_corner_when_the_canvas_is_panned(
    canvas: Canvas, qtbot: QtBot
) -> None:
    before = canvas.zoom_control.pos(), canvas.minimap.pos()

    _pan(canvas, qtbot, 60)

    qtbot.waitUntil(lambda: (canvas.zoom_control.pos(), canvas.minimap.pos()) == before)


def test_a_pan_paints_a_strip_and_what_floats_only(canvas: Canvas, qtbot: QtBot) -> None:
    canvas.viewport().repaint()

    region = _pan(canvas, qtbot, 20)

    viewport = canvas.viewport()
    assert _area(region) < viewport.width() * viewport.height() / 3


def test_a_zoom_paints_each_place_once(canvas: Canvas) -> None:
    _paint_what_waits(canvas)
    watch = Paints()
    canvas.viewport().installEventFilter(watch)

    for factor in (1.1, 1 / 1.1, 1.1):
        canvas.zoom_by(factor)
        _paint_what_waits(canvas)

    canvas.viewport().removeEventFilter(watch)
    assert watch.count == 3


def test_two_ways_to_a_zoom_end_in_the_very_same_one(canvas: Canvas) -> None:
    turn = 1.0015**60
    for _ in range(3):
        canvas.zoom_by(turn)
    by_turns = canvas.transform().m11()
    canvas.zoom_to_full()

    canvas.zoom_by(turn**3)

    assert canvas.transform().m11() == by_turns


def test_a_moved_card_is_told_with_its_place_and_its_traces_follow(
    canvas: Canvas, qtbot: QtBot
) -> None:
    before = canvas.cards[_CARD].pos()

    with qtbot.waitSignal(canvas.moved, timeout=2000) as caught:
        QTest.mouseRelease(canvas.viewport(), _LEFT, _NONE, _drag(canvas, QPoint(40, 60)))

    now = canvas.cards[_CARD].pos()
    assert now != before
    assert args_of(caught) == [{_CARD: (now.x(), now.y())}]
    trace = canvas.traces[_TRACE]
    assert trace.corners.last() == canvas.cards[_CARD].mapToScene(canvas.cards[_CARD].in_point())


def test_a_trace_follows_the_hand_before_the_card_is_let_go(canvas: Canvas) -> None:
    at = _drag(canvas, QPoint(30, 50))

    end = canvas.traces[_TRACE].corners.last()
    assert end == canvas.cards[_CARD].mapToScene(canvas.cards[_CARD].in_point())

    QTest.mouseRelease(canvas.viewport(), _LEFT, _NONE, at)


def test_the_picture_after_a_move_is_the_one_drawn_anew(
    canvas: Canvas, qtbot: QtBot, project_root: Path
) -> None:
    with qtbot.waitSignal(canvas.moved, timeout=2000) as caught:
        QTest.mouseRelease(canvas.viewport(), _LEFT, _NONE, _drag(canvas, QPoint(40, 60)))
    routes = {key: trace.route for key, trace in canvas.traces.items()}
    moved = cast("dict[str, tuple[float, float]]", args_of(caught)[0])

    canvas.show_graph(Project.open(project_root).graph(), moved)

    assert {key: trace.route for key, trace in canvas.traces.items()} == routes


def test_a_click_moves_nothing(canvas: Canvas, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(canvas.moved):
        click(canvas.viewport(), canvas.card_point(_CARD))

    assert canvas.selected_address() == _CARD


def test_a_graph_shown_while_a_card_is_in_the_hand_ends_the_move(
    canvas: Canvas, qtbot: QtBot, project_root: Path
) -> None:
    at = _drag(canvas, QPoint(30, 50))

    canvas.show_graph(Project.open(project_root).graph("close_bot"), {})

    with qtbot.assertNotEmitted(canvas.moved):
        QTest.mouseRelease(canvas.viewport(), _LEFT, _NONE, at)
    assert _CARD not in canvas.cards


def test_zooming_while_a_card_is_in_the_hand_keeps_the_move(canvas: Canvas, qtbot: QtBot) -> None:
    at = _drag(canvas, QPoint(30, 50))
    canvas.zoom_by(0.8)

    with qtbot.waitSignal(canvas.moved, timeout=2000):
        QTest.mouseRelease(canvas.viewport(), _LEFT, _NONE, at)

    no_contents = QGraphicsItem.GraphicsItemFlag.ItemHasNoContents
    assert not [card for card in canvas.cards.values() if card.flags() & no_contents]


def _colors(canvas: Canvas) -> set[str]:
    image = canvas.viewport().grab().toImage()
    room = canvas.minimap.geometry()
    return {
        image.pixelColor(x, y).name()
        for x in range(0, image.width(), 2)
        for y in range(0, image.height(), 2)
        if not room.contains(x, y)
    }


def test_from_far_a_card_is_a_rectangle_of_its_kind_and_the_selected_one_is_ringed(
    canvas: Canvas, theme: Theme
) -> None:
    canvas.select("")
    canvas.zoom_by(0.3)

    plain = _colors(canvas)
    canvas.select(_CARD)
    chosen = _colors(canvas)

    assert theme.color("kind.agent").name() in plain
    assert theme.color("accent.selection").name() in chosen - plain


def test_a_card_draws_itself_again_when_seen_from_near(canvas: Canvas, theme: Theme) -> None:
    canvas.select("")
    canvas.zoom_by(0.3)
    far = _colors(canvas)

    canvas.zoom_to_full()

    title = theme.color("text.primary").name()
    assert title not in far
    assert title in _colors(canvas)


def test_a_port_is_found_within_reach_at_any_zoom(canvas: Canvas) -> None:
    for zoom in (1.0, 0.5, 0.4):
        canvas.zoom_by(zoom / canvas.transform().m11())
        at = canvas.port_point("agents/weather_agent.side_a")
        assert at is not None
        with_signal: list[str] = []
        canvas.drag_began.connect(with_signal.append)

        QTest.mousePress(canvas.viewport(), _LEFT, _NONE, at + QPoint(0, 3))
        QTest.keyClick(canvas, Qt.Key.Key_Escape)

        assert with_signal == ["agents/weather_agent.side_a"]
        canvas.drag_began.disconnect(with_signal.append)
