"""The window's frame: opening, pages, menus, closing."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from sa_builder.project.shapes import Edit
from sa_builder.spec.events import RuntimeChanged
from sa_builder.ui.dialogs.about import AboutDialog, ShortcutsDialog
from sa_builder.ui.dialogs.new_project import NewProjectDialog
from sa_builder.ui.options import WindowOptions
from sa_builder.ui.settings import Settings
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads.memory import ThreadsMemory
from sa_builder.ui.welcome.page import WelcomePage
from sa_builder.ui.widgets.buttons import IconButton
from sa_builder.ui.window import MainWindow
from tests.ui.desk import Desk, ScriptedFactory, StandInComposePage, StandInThreadsPage
from tests.ui.hands import click, type_text


def _compose(desk: Desk) -> StandInComposePage:
    return cast("StandInComposePage", desk.window.workspace.compose)


def _threads(desk: Desk) -> StandInThreadsPage:
    return cast("StandInThreadsPage", desk.window.workspace.threads_page())


def _trigger(desk: Desk, action_id: str) -> None:
    action = desk.window.actions_registry.get(action_id)
    assert action is not None
    action.trigger()


def test_it_begins_with_the_welcome_page(desk: Desk) -> None:
    assert desk.window.page_name == "welcome"
    assert desk.window.rail.isHidden()
    assert desk.window.status.said == "No project is open. Nothing of yours has been run."


def test_opening_a_project_shows_its_composition(desk: Desk, project_root: Path) -> None:
    desk.open(project_root)

    assert desk.window.page_name == "compose"
    assert desk.window.windowTitle().startswith("sample - ")
    assert not desk.window.rail.isHidden()
    assert [one.path for one in desk.settings.recent] == [str(project_root)]


def test_opening_a_folder_without_agents_says_so_and_leaves_the_page(
    desk: Desk, tmp_path: Path
) -> None:
    desk.window.open_later(tmp_path)
    desk.run_until(lambda: not desk.window.notice.isHidden())

    assert "agents" in desk.window.notice.sentence
    assert desk.window.page_name == "welcome"


def test_a_file_that_is_no_thread_says_so(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "thread.db"
    file.write_text("nothing")

    desk.window.open_later(file)
    desk.run_until(lambda: not desk.window.notice.isHidden())

    assert "no thread file" in desk.window.notice.sentence


def test_a_thread_file_opens_alone_and_read_only(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "thread.db"
    file.write_bytes(b"SQLite format 3\0")

    desk.open(file)
    desk.run_until(lambda: desk.window.page_name == "threads")

    assert "read-only" in desk.window.windowTitle()
    assert desk.window.workspace.project is None
    new_thread = desk.window.actions_registry.get("run.new_thread")
    assert new_thread is not None
    assert not new_thread.isEnabled()


def test_the_rail_switches_pages(desk: Desk, project_root: Path, qtbot: QtBot) -> None:
    desk.open(project_root)

    for name in ("threads", "settings", "compose"):
        button = desk.window.rail.findChild(IconButton, f"rail_{name}")
        assert button is not None
        click(button)
        assert desk.window.page_name == name
        assert button.isChecked()


def test_closing_the_project_returns_to_welcome_with_it_among_the_recent(
    desk: Desk, project_root: Path
) -> None:
    desk.open(project_root)
    threads = _threads(desk)

    _trigger(desk, "file.close_project")
    desk.run_until(lambda: desk.window.page_name == "welcome")

    assert threads.asked == ["start", "shutdown"]
    assert desk.window.workspace.client is None


def test_a_new_window_fits_on_its_screen(
    qtbot: QtBot, theme: Theme, gui_loop: asyncio.AbstractEventLoop, tmp_path: Path
) -> None:
    window = MainWindow(
        theme, Settings(tmp_path), ScriptedFactory(), WindowOptions(), version="1.2.3"
    )
    room = window.screen().availableSize()

    assert window.width() <= max(room.width(), window.minimumWidth())
    assert window.height() < max(room.height(), window.minimumHeight())
    gui_loop.run_until_complete(window.shut_down())
    window.deleteLater()


def test_what_was_written_is_said_with_a_link_that_takes_it_back(
    desk: Desk, project_root: Path
) -> None:
    desk.open(project_root)

    _compose(desk).edited.emit(Edit(title="Connect", changes=(), summary="Wrote a/b.py:9"))
    desk.window.status.undo_wished.emit()

    assert desk.window.status.said == "Wrote a/b.py:9"
    assert _compose(desk).asked == ["undo"]


def test_what_was_taken_back_is_said_without_the_link(desk: Desk, project_root: Path) -> None:
    desk.open(project_root)

    edit = Edit(title="Connect", changes=(), summary="Undid: Connect", is_undone=True)
    _compose(desk).edited.emit(edit)

    said = desk.window.status
    assert said.said == "Undid: Connect"
    assert not any("undo" in label.text() for label in said.findChildren(QLabel))


def test_undo_belongs_to_the_text_field_that_has_the_focus(
    desk: Desk, project_root: Path, qtbot: QtBot
) -> None:
    desk.open(project_root)
    field = QLineEdit(_compose(desk))
    field.show()
    desk.window.activateWindow()
    field.setFocus()
    type_text(field, "abc")
    desk.run_until(field.hasFocus)

    _trigger(desk, "edit.undo")

    assert field.text() == ""
    assert _compose(desk).asked == []


def test_an_outside_change_is_read_anew(desk: Desk, project_root: Path) -> None:
    desk.open(project_root)
    desk.run_until(lambda: "list_threads" in desk.factory.client.reads)
    file = project_root / "agents" / "agents" / "echo_once.py"

    file.write_text(file.read_text() + "\n# touched\n")
    desk.run_until(lambda: "refresh" in _compose(desk).asked)

    assert "echo_once.py" in desk.window.status.said


def test_the_runtimes_state_reaches_the_status_bar(desk: Desk, project_root: Path) -> None:
    desk.open(project_root)

    desk.window.workspace.runtime_changed.emit(
        RuntimeChanged(running_turns=2, test_mode=True, mock_count=9)
    )

    words = " ".join(label.accessibleName() for label in desk.window.status.findChildren(QWidget))
    assert "answers from 9 recorded mocks" in words
    assert "2 turns run" in words
    assert desk.window.top_bar.test_mode_toggle.isChecked()


def test_the_test_mode_switch_reaches_the_runtime_and_the_settings(
    desk: Desk, project_root: Path, qtbot: QtBot
) -> None:
    desk.open(project_root)

    click(desk.window.top_bar.test_mode_toggle)
    desk.run_until(lambda: ("set_test_mode", True) in desk.factory.client.wishes)

    assert desk.settings.test_mode is True


def test_a_panel_is_hidden_and_shown_by_its_action(desk: Desk, project_root: Path) -> None:
    desk.open(project_root)

    _trigger(desk, "view.panel_left")
    was_hidden = _compose(desk).left.isHidden()
    _trigger(desk, "view.panel_left")

    assert was_hidden
    assert not _compose(desk).left.isHidden()
    bottom = desk.window.actions_registry.get("view.panel_bottom")
    assert bottom is not None
    assert not bottom.isEnabled()


def test_new_thread_asks_the_threads_page(desk: Desk, project_root: Path) -> None:
    desk.open(project_root)

    _compose(desk).new_thread_requested.emit("repo_assistant")

    assert desk.window.page_name == "threads"
    assert ("new", "repo_assistant") in _threads(desk).asked


def test_every_menu_entry_is_an_action_of_the_registry(desk: Desk, project_root: Path) -> None:
    desk.open(project_root)
    known = set(desk.window.actions_registry.all())

    for menu_action in desk.window.top_bar.menus.actions():
        menu = menu_action.menu()
        assert menu is not None
        if not menu_action.isVisible():
            continue
        entries = [one for one in cast("QWidget", menu).actions() if not one.isSeparator()]
        assert entries
        for entry in entries:
            assert entry in known or entry.menu() is not None


def test_dialogs_open_and_close_without_a_nested_loop(desk: Desk, qtbot: QtBot) -> None:
    for action_id, kind in (
        ("help.about", AboutDialog),
        ("help.shortcuts", ShortcutsDialog),
        ("file.new_project", NewProjectDialog),
    ):
        _trigger(desk, action_id)
        found: list[QDialog] = []

        def shown(kind: type[QDialog] = kind, found: list[QDialog] = found) -> bool:
            found[:] = [one for one in desk.window.findChildren(kind) if one.isVisible()]
            return bool(found)

        desk.run_until(shown)
        found[0].reject()
        desk.run_until(lambda shown=shown: not shown())


def test_a_new_project_is_made_and_opened(desk: Desk, tmp_path: Path, qtbot: QtBot) -> None:
    _trigger(desk, "file.new_project")
    desk.run_until(lambda: bool(desk.window.findChildren(NewProjectDialog)))
    dialog = desk.window.findChildren(NewProjectDialog)[0]

    dialog.template_box.setCurrentText("repo_assistant")
    dialog.place_field.setText(str(tmp_path))
    dialog.name_field.setText("mine")
    click(dialog.create_button)
    desk.run_until(lambda: desk.window.workspace.project is not None)

    assert (tmp_path / "mine" / "agents" / "agents" / "repo_assistant.py").is_file()


def test_a_taken_folder_cannot_be_chosen_for_a_new_project(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    dialog = NewProjectDialog(desk.window._theme, desk.window, start=tmp_path)  # pyright: ignore[reportPrivateUsage]

    dialog.name_field.setText("mine")

    assert not dialog.create_button.isEnabled()
    dialog.deleteLater()


def test_closing_the_window_is_quick_and_keeps_its_layout(desk: Desk, project_root: Path) -> None:
    desk.open(project_root)
    desk.window.show_threads()
    gone: list[float] = []
    desk.window.shut.connect(lambda: gone.append(time.monotonic()))

    begun = time.monotonic()
    desk.window.close()
    desk.run_until(lambda: bool(gone))

    assert gone[0] - begun < 3
    assert desk.settings.layout_of(project_root)["page"] == "threads"


def test_what_was_open_is_kept_while_the_window_is_used(desk: Desk, project_root: Path) -> None:
    desk.open(project_root)
    threads = _threads(desk)
    desk.window.show_page("threads")

    threads.memory = ThreadsMemory(
        last_agent="weather_agent", open_thread="t1", drafts={"t1": "Hi"}
    )
    threads.memory_changed.emit()

    kept = desk.settings.layout_of(project_root)
    assert kept["page"] == "threads"
    assert kept["threads"] == threads.memory.model_dump()


def test_a_project_opens_as_it_was_left(desk: Desk, project_root: Path) -> None:
    memory = ThreadsMemory(last_agent="weather_agent", open_thread="t1", drafts={"t1": "Hi"})
    layout = {"page": "threads", "threads": memory.model_dump()}
    desk.settings.set_layout_of(project_root, layout)

    desk.open(project_root)

    assert desk.window.page_name == "threads"
    assert _threads(desk).memory == memory


def test_a_layout_of_something_else_counts_as_none(desk: Desk, project_root: Path) -> None:
    desk.settings.set_layout_of(project_root, {"threads": {"drafts": 7}})

    desk.open(project_root)

    assert _threads(desk).memory == ThreadsMemory()


def test_the_theme_menu_changes_and_remembers(desk: Desk) -> None:
    _trigger(desk, "view.theme_dark")

    assert desk.settings.theme == "dark"
    action = cast("QAction", desk.window.actions_registry.get("view.theme_dark"))
    assert action.isChecked()
    _trigger(desk, "view.theme_light")


def test_a_runtime_that_hangs_does_not_keep_the_window(
    desk: Desk, project_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(*, deadline_s: float = 3.0) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("sa_builder.ui.workspace._CLOSE_S", 0.05)
    monkeypatch.setattr(desk.factory.client, "close", hang)
    desk.open(project_root)
    gone: list[bool] = []
    desk.window.shut.connect(lambda: gone.append(True))

    desk.window.close()

    desk.run_until(lambda: bool(gone), within_s=1)


def test_the_sample_opens_in_test_mode_and_is_trusted_for_this_time(desk: Desk) -> None:
    page = desk.window.stack.currentWidget()
    assert isinstance(page, WelcomePage)

    page.sample.open_button.click()
    desk.run_until(lambda: desk.window.workspace.project is not None)

    assert desk.factory.test_mode is True
    assert desk.factory.trusted is not None
    assert desk.factory.trusted()
    assert not desk.settings.trusted
