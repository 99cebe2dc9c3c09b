"""Writing a message."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from sa_builder.ui.theme import Theme
from sa_builder.ui.threads.composer import Composer
from tests.ui.hands import click, press_key, type_text


@pytest.fixture
def composer(qtbot: QtBot, theme: Theme) -> Iterator[Composer]:
    made = Composer(theme)
    made.resize(500, 120)
    made.show()
    yield made
    made.close()
    made.deleteLater()


def sent(composer: Composer) -> list[str]:
    texts: list[str] = []
    composer.send_wished.connect(texts.append)
    return texts


def compose(composer: Composer, preedit: str, commit: str = "") -> None:
    event = QInputMethodEvent(preedit, [])
    if commit:
        event.setCommitString(commit)
    QApplication.sendEvent(composer.field, event)


def test_enter_sends_and_shift_enter_breaks_the_line(composer: Composer) -> None:
    texts = sent(composer)

    type_text(composer.field, "one")
    press_key(composer.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    type_text(composer.field, "two")
    press_key(composer.field, Qt.Key.Key_Return)

    assert texts == ["one\ntwo"]


def test_enter_does_not_send_while_an_input_method_composes(composer: Composer) -> None:
    texts = sent(composer)
    type_text(composer.field, "a")

    compose(composer, "にほ")
    press_key(composer.field, Qt.Key.Key_Return)
    held = list(texts)
    compose(composer, "", "日本")
    press_key(composer.field, Qt.Key.Key_Return)

    assert held == []
    assert texts == ["a日本"]


def test_nothing_but_space_is_not_sent(composer: Composer) -> None:
    texts = sent(composer)

    type_text(composer.field, "   ")
    press_key(composer.field, Qt.Key.Key_Return)

    assert texts == []
    assert not composer.send.isEnabled()


def test_a_locked_composer_says_why_and_takes_nothing(composer: Composer) -> None:
    texts = sent(composer)

    composer.set_locked("This thread was terminated.")
    type_text(composer.field, "hello")
    press_key(composer.field, Qt.Key.Key_Return)

    assert texts == []
    assert composer.field.placeholderText() == "This thread was terminated."
    assert not composer.send.isVisible()


def test_the_bar_offers_to_continue(qtbot: QtBot, composer: Composer) -> None:
    composer.set_bar("failed", "openrouter: 429 after 2 retries.", "Continue")

    with qtbot.waitSignal(composer.continue_wished, timeout=1000):
        click(composer.bar.button)

    assert composer.bar.isVisible()


def test_the_field_grows_with_its_lines_up_to_ten(composer: Composer) -> None:
    before = composer.field.height()

    composer.set_text("\n".join(["line"] * 6))
    six = composer.field.height()
    composer.set_text("\n".join(["line"] * 60))

    assert before == 40
    assert six == 120
    assert composer.field.height() == 200
