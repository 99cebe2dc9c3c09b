"""The welcome page: its ways in, recent projects, dropping."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from pytestqt.qtbot import QtBot

from sa_builder.ui.settings import RecentProject
from sa_builder.ui.theme import Theme
from sa_builder.ui.welcome.page import WelcomePage, when_in_words
from sa_builder.ui.welcome.rows import DropZone, RecentRow, StartRow, dropped_path
from tests.ui.hands import args_of, click, press_key

NOW_US = 1_790_000_000_000_000


@pytest.fixture
def page(theme: Theme, qtbot: QtBot) -> WelcomePage:
    made = WelcomePage(
        theme, templates=["empty", "relay"], sample_files=11, keys={"open": ("Ctrl", "O")}
    )
    qtbot.addWidget(made)
    made.resize(1400, 900)
    made.show()
    return made


def test_each_row_and_button_tells_its_wish(page: WelcomePage, qtbot: QtBot) -> None:
    rows = page.findChildren(StartRow)
    signals = (
        (rows[0], page.open_project_wished),
        (rows[1], page.new_project_wished),
        (rows[2], page.open_thread_wished),
        (page.sample.open_button, page.open_sample_wished),
        (page.sample.copy_button, page.copy_sample_wished),
    )
    for button, signal in signals:
        with qtbot.waitSignal(signal):
            click(button)


def test_a_row_works_by_keyboard(page: WelcomePage, qtbot: QtBot) -> None:
    row = page.findChildren(StartRow)[0]

    with qtbot.waitSignal(page.open_project_wished):
        press_key(row, Qt.Key.Key_Space)

    assert row.accessibleName() == "Open a project folder"


def test_recent_projects_are_listed_and_opened(
    page: WelcomePage, qtbot: QtBot, tmp_path: Path
) -> None:
    page.show_recent([RecentProject(path=str(tmp_path), opened_at_us=time.time_ns() // 1000)])
    row = page.findChildren(RecentRow)[0]

    with qtbot.waitSignal(page.path_chosen) as caught:
        click(row)

    assert args_of(caught) == [tmp_path]


def test_below_1120_px_it_is_one_column(page: WelcomePage) -> None:
    wide = page.sample.x() > 0
    page.resize(900, 900)
    page.grab()

    assert wide
    assert page.sample.x() == 0


def test_a_dropped_folder_is_told(page: WelcomePage, qtbot: QtBot, tmp_path: Path) -> None:
    zone = page.findChildren(DropZone)[0]
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )

    with qtbot.waitSignal(page.path_chosen) as caught:
        zone.dropEvent(event)

    assert args_of(caught) == [tmp_path]


def test_only_folders_and_databases_may_be_dropped(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("x")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(file))])

    assert dropped_path(mime) is None


@pytest.mark.parametrize(
    ("ago_s", "words"), [(5, "now"), (600, "10 min ago"), (86_400 * 1, "yesterday")]
)
def test_times_are_said_in_words(ago_s: int, words: str) -> None:
    assert when_in_words(NOW_US - ago_s * 1_000_000, NOW_US) == words
