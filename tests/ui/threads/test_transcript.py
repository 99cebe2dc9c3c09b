"""Blocks in a scrolled view."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from sa_builder.ui.theme import Theme
from sa_builder.ui.threads.blocks import GATE_CHARS, Block, HeadBlock, TextBlock
from sa_builder.ui.threads.fold_blocks import ToolBlock
from sa_builder.ui.threads.transcript import Transcript
from tests.ui.hands import click, press_key
from tests.ui.threads.conftest import find_target


@pytest.fixture
def transcript(qtbot: QtBot, theme: Theme) -> Iterator[Transcript]:
    made = Transcript(theme)
    made.resize(600, 500)
    made.show()
    yield made
    made.close()
    made.deleteLater()


def blocks(count: int) -> list[Block]:
    made: list[Block] = []
    for number in range(count):
        made.append(HeadBlock(f"{number}/h", tile="human", name="You", caption="", time=""))
        text = f"Message **{number}** says `something` of some length. " * (1 + number % 5)
        made.append(TextBlock(f"{number}/t", text))
    return made


def test_two_thousand_messages_open_at_their_end_at_once(transcript: Transcript) -> None:
    begun = time.perf_counter()

    transcript.set_blocks(blocks(2000), fresh=True)
    transcript.grab()
    took_s = time.perf_counter() - begun

    bar = transcript.verticalScrollBar()
    assert bar.value() == bar.maximum() > 50_000
    assert took_s < 1.0


def test_what_is_in_sight_stays_when_older_blocks_come(transcript: Transcript) -> None:
    newer = blocks(60)
    transcript.set_blocks(newer, fresh=True)
    bar = transcript.verticalScrollBar()
    bar.setValue(bar.value() - 700)
    seen = next(block for block in newer if _top_of(transcript, block) > 100)
    before = _top_of(transcript, seen)

    older: list[Block] = [TextBlock(f"old{n}", f"Older {n}. " * 30) for n in range(80)]
    transcript.set_blocks([*older, *newer])

    assert abs(_top_of(transcript, seen) - before) <= 1


def test_new_content_scrolls_only_while_the_reader_is_at_the_end(transcript: Transcript) -> None:
    shown = blocks(40)
    transcript.set_blocks(shown, fresh=True)
    bar = transcript.verticalScrollBar()
    tail = TextBlock("tail", "more", markdown=False)

    transcript.set_blocks([*shown, tail])
    followed = bar.value() == bar.maximum()
    bar.setValue(bar.maximum() - 400)
    held = bar.value()
    tail.append("\nand\nmore" * 30)
    transcript.block_changed(tail)
    transcript.add_new()

    assert followed
    assert bar.value() == held
    assert transcript.new_button.isVisible()
    assert transcript.new_button.text() == "1 new"

    click(transcript.new_button)

    assert bar.value() == bar.maximum()
    assert not transcript.new_button.isVisible()


def test_a_tool_row_unfolds_by_mouse_and_folds_by_key(transcript: Transcript) -> None:
    row = ToolBlock(
        "call", name="get", arguments_json='{"number": 42}', state="done", result="fine"
    )
    transcript.set_blocks([row], fresh=True)
    place = find_target(transcript, "Unfold tool call get").rect.center()

    click(transcript.viewport(), QPoint(round(place.x()), round(place.y())))
    tall = row.height(transcript.ink, transcript._width())  # pyright: ignore[reportPrivateUsage]
    transcript.setFocus()
    press_key(transcript, Qt.Key.Key_Return)

    assert tall > 100
    find_target(transcript, "Unfold tool call get")


def test_selected_text_is_copied_without_the_markup(transcript: Transcript) -> None:
    transcript.set_blocks([TextBlock("t", "Some **bold** words")], fresh=True)
    view = transcript.viewport()
    none = Qt.KeyboardModifier.NoModifier

    QTest.mousePress(view, Qt.MouseButton.LeftButton, none, QPoint(51, 22))
    QTest.mouseMove(view, QPoint(590, 22))
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, none, QPoint(590, 22))
    transcript.copy_selection()

    assert QGuiApplication.clipboard().text() == "Some bold words"


def test_a_huge_text_is_gated_and_loads_on_demand(transcript: Transcript) -> None:
    text = TextBlock("big", "word " * (GATE_CHARS // 4))
    transcript.set_blocks([text], fresh=True)
    transcript.scroll_to_end()
    short = transcript.verticalScrollBar().maximum()
    place = find_target(transcript, "Load all").rect.center()

    click(transcript.viewport(), QPoint(round(place.x()), round(place.y())))

    assert transcript.verticalScrollBar().maximum() > 10 * max(short, 1)


def test_a_long_line_without_spaces_opens_quickly(transcript: Transcript) -> None:
    begun = time.perf_counter()

    transcript.set_blocks([TextBlock("run", "x" * 200_000, markdown=False)], fresh=True)

    assert time.perf_counter() - begun < 1.0


def test_images_and_html_of_a_message_are_not_loaded(transcript: Transcript) -> None:
    text = TextBlock("t", "![a](file:///etc/passwd) <b>raw</b> ![b](http://tracker.example/x.png)")

    transcript.set_blocks([text], fresh=True)
    transcript.grab()

    assert "<b>raw</b>" in text.document(transcript.ink).toPlainText()


def _top_of(transcript: Transcript, block: Block) -> float:
    at = list(transcript.blocks).index(block)
    tops = transcript._tops  # pyright: ignore[reportPrivateUsage]
    return tops[at] - transcript.verticalScrollBar().value()
