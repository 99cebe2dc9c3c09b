"""The line at the foot sets paths apart, whole."""

from __future__ import annotations

import re

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from sa_builder.ui.status_bar import StatusBar
from sa_builder.ui.theme import Theme


@pytest.mark.parametrize(
    ("sentence", "paths"),
    [
        ("Read-only: /var/sa-builder-x1/a/thread.db. No project is needed.",
         ["/var/sa-builder-x1/a/thread.db"]),
        ("Wrote agents/prompts/triage.py:12.", ["agents/prompts/triage.py:12"]),
        ("Read anew, changed outside: 3 files", []),
    ],
)  # fmt: skip
def test_a_path_is_set_apart_from_its_first_sign_to_its_last(
    theme: Theme, qtbot: QtBot, sentence: str, paths: list[str]
) -> None:
    bar = StatusBar(theme)
    qtbot.addWidget(bar)

    bar.say_plain(sentence)

    text = next(label.text() for label in bar.findChildren(QLabel) if sentence[:5] in label.text())
    assert re.findall(r'<span style="font-family[^>]*>([^<]*)</span>', text) == paths
