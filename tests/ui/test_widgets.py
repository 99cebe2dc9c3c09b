"""The kit: sizes, keyboard, accessible names, another scheme."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.bars import EmptyState, NoticeBar, SearchField, SectionHeader
from sa_builder.ui.widgets.buttons import Button, IconButton, Segments, Toggle
from sa_builder.ui.widgets.focus import FocusRing
from sa_builder.ui.widgets.marks import Chip, ElidedLabel, KeyCap, Pill, StateGlyph, TextLabel, Tile
from tests.ui.hands import args_of, click, press_key

Make = Callable[[Theme], QWidget]


SIZED: list[tuple[Make, int]] = [
    (lambda theme: Button(theme, "Go"), 28),
    (lambda theme: Button(theme, "Go", small=True), 24),
    (lambda theme: IconButton(theme, "plus", "Add"), 28),
    (lambda theme: Pill(theme, "done"), 20),
    (lambda theme: Chip(theme, "kind:model"), 22),
    (lambda theme: Tile(theme, "agent"), 24),
    (lambda theme: StateGlyph(theme, "failed"), 16),
    (lambda theme: Toggle(theme), 16),
    (lambda theme: NoticeBar(theme, "parked", "Changed on disk"), 36),
    (lambda theme: SearchField(theme, "Search"), 28),
]
NAMED: list[Make] = [
    lambda theme: IconButton(theme, "plus", "Add"),
    lambda theme: Pill(theme, "done"),
    lambda theme: StateGlyph(theme, "failed"),
    lambda theme: KeyCap(theme, "Ctrl"),
    lambda theme: NoticeBar(theme, "failed", "openrouter refused the key (401)."),
    lambda theme: SearchField(theme, "Search messages"),
]


@pytest.mark.parametrize(("make", "height"), SIZED)
def test_heights_are_those_of_the_look(theme: Theme, qtbot: QtBot, make: Make, height: int) -> None:
    home = QWidget()
    qtbot.addWidget(home)
    row = QVBoxLayout(home)
    widget = make(theme)
    row.addWidget(widget)
    row.addStretch(1)
    home.resize(400, 300)
    home.show()

    assert widget.height() == height


@pytest.mark.parametrize("make", NAMED)
def test_what_is_not_text_has_an_accessible_name(theme: Theme, qtbot: QtBot, make: Make) -> None:
    widget = make(theme)
    qtbot.addWidget(widget)

    assert widget.accessibleName()


def test_the_ring_shows_for_the_keyboard_and_not_for_the_mouse(theme: Theme, qtbot: QtBot) -> None:
    home = QWidget()
    qtbot.addWidget(home)
    row = QHBoxLayout(home)
    first, second = Button(theme, "One"), Button(theme, "Two")
    row.addWidget(first)
    row.addWidget(second)
    home.show()
    home.activateWindow()
    qtbot.waitUntil(home.isActiveWindow)

    def rings() -> int:
        return sum(ring.isVisible() for ring in home.findChildren(FocusRing))

    second.setFocus(Qt.FocusReason.MouseFocusReason)
    by_mouse = rings()
    first.setFocus(Qt.FocusReason.TabFocusReason)
    by_key = rings()
    second.setFocus(Qt.FocusReason.MouseFocusReason)

    assert (by_mouse, by_key, rings()) == (0, 1, 0)


def test_segments_choose_by_arrow_and_tell_it(theme: Theme, qtbot: QtBot) -> None:
    segments = Segments(theme, [("a", "implicit"), ("b", "explicit")], name="Reports back")
    qtbot.addWidget(segments)
    segments.show()
    second = segments.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)[1]

    with qtbot.waitSignal(segments.value_chosen) as caught:
        click(second)

    assert args_of(caught) == ["b"]
    assert segments.value == "b"


def test_setting_a_segment_tells_nothing(theme: Theme, qtbot: QtBot) -> None:
    segments = Segments(theme, [("a", "A"), ("b", "B")])
    qtbot.addWidget(segments)

    with qtbot.assertNotEmitted(segments.value_chosen):
        segments.set_value("b")
        segments.set_value("nothing")

    assert segments.value == "b"


def test_a_toggle_flips_by_space_and_click(theme: Theme, qtbot: QtBot) -> None:
    toggle = Toggle(theme, "parent waits")
    qtbot.addWidget(toggle)
    toggle.show()

    press_key(toggle, Qt.Key.Key_Space)
    on = toggle.isChecked()
    click(toggle)

    assert on
    assert not toggle.isChecked()


def test_a_chips_cross_and_delete_remove_it(theme: Theme, qtbot: QtBot) -> None:
    chip = Chip(theme, "kind:model", removable=True)
    qtbot.addWidget(chip)
    chip.resize(chip.sizeHint())
    chip.show()

    with qtbot.waitSignal(chip.removed):
        place = QPoint(chip.width() - 8, chip.height() // 2)
        click(chip, place)
    with qtbot.waitSignal(chip.removed):
        press_key(chip, Qt.Key.Key_Delete)


def test_a_label_without_room_says_the_whole_in_its_tip(theme: Theme, qtbot: QtBot) -> None:
    label = ElidedLabel(theme, "agents/agents/repo_assistant.py")
    qtbot.addWidget(label)
    label.show()
    label.resize(60, 20)
    narrow = label.toolTip()
    label.resize(600, 20)

    assert narrow == "agents/agents/repo_assistant.py"
    assert label.toolTip() == ""


def test_wrapped_text_is_given_back_as_it_was(theme: Theme, qtbot: QtBot) -> None:
    label = TextLabel(theme, "a < b & c", wrap=True)
    qtbot.addWidget(label)

    assert label.text() == "a < b & c"


def test_a_bars_button_tells_its_id(theme: Theme, qtbot: QtBot) -> None:
    bar = NoticeBar(theme, "parked", "Changed on disk", (("reload", "Reload"), ("keep", "Keep")))
    qtbot.addWidget(bar)

    with qtbot.waitSignal(bar.act_chosen) as caught:
        bar.findChildren(Button)[1].click()

    assert args_of(caught) == ["keep"]


def test_escape_empties_a_search_then_leaves_it(theme: Theme, qtbot: QtBot) -> None:
    field = SearchField(theme, "Search")
    qtbot.addWidget(field)
    field.setText("abc")

    press_key(field, Qt.Key.Key_Escape)
    emptied = field.text() == ""
    with qtbot.waitSignal(field.dismissed):
        press_key(field, Qt.Key.Key_Escape)

    assert emptied


def test_a_header_folds_its_group(theme: Theme, qtbot: QtBot) -> None:
    header = SectionHeader(theme, "Relationship", folds=True)
    qtbot.addWidget(header)

    with qtbot.waitSignal(header.open_changed) as caught:
        header.click()

    assert args_of(caught) == [False]
    assert not header.is_open


def test_an_empty_state_has_at_most_one_button(theme: Theme, qtbot: QtBot) -> None:
    empty = EmptyState(theme, "threads", "No threads yet", "Start one.", "New Thread")
    qtbot.addWidget(empty)

    with qtbot.waitSignal(empty.act_wished):
        assert empty.button is not None
        empty.button.click()


def test_every_widget_paints_in_both_schemes(theme: Theme, qtbot: QtBot) -> None:
    widget = Pill(theme, "running")
    qtbot.addWidget(widget)
    widget.resize(widget.sizeHint())
    light = widget.grab().toImage().pixelColor(widget.width() // 2, 2).name()

    theme.set_preference("dark")
    dark = widget.grab().toImage().pixelColor(widget.width() // 2, 2).name()

    assert (light, dark) == ("#e0effc", "#162a3a")
