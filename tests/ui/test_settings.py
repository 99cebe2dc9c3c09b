"""What the window remembers, and how it survives bad files."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from sa_builder.ui.settings import RecentProject, Settings, write_atomically
from sa_builder.ui.settings_page import SettingsPage
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.buttons import Button
from tests.ui.hands import args_of


def test_what_was_set_is_there_after_a_restart(tmp_path: Path, qtbot: QtBot) -> None:
    first = Settings(tmp_path)
    first.set_theme("dark")
    first.set_test_mode(True)
    first.set_trusted(tmp_path, True)
    first.add_recent(RecentProject(path=str(tmp_path), opened_at_us=1, agents=2))
    first.set_layout_of(tmp_path, {"page": "threads"})

    again = Settings(tmp_path)

    assert again.theme == "dark"
    assert again.test_mode is True
    assert again.is_trusted(tmp_path)
    assert [one.path for one in again.recent] == [str(tmp_path)]
    assert again.layout_of(tmp_path) == {"page": "threads"}


def test_trust_can_be_taken_back(tmp_path: Path, qtbot: QtBot) -> None:
    settings = Settings(tmp_path)
    settings.set_trusted(tmp_path, True)

    settings.set_trusted(tmp_path, False)

    assert not settings.is_trusted(tmp_path)


def test_trust_is_of_the_real_folder_behind_a_link(tmp_path: Path, qtbot: QtBot) -> None:
    real = tmp_path / "real"
    real.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    settings = Settings(tmp_path / "s")

    settings.set_trusted(link, True)

    assert settings.is_trusted(real)


@pytest.mark.parametrize("content", ["{", "[]", '{"theme": "pink"}'])
def test_an_unreadable_file_is_kept_aside(tmp_path: Path, qtbot: QtBot, content: str) -> None:
    (tmp_path / "settings.json").write_text(content)

    settings = Settings(tmp_path)

    assert settings.theme == "system"
    assert (tmp_path / "settings.unreadable.json").read_text() == content


def test_a_folder_that_is_gone_is_not_recent(tmp_path: Path, qtbot: QtBot) -> None:
    settings = Settings(tmp_path)

    settings.add_recent(RecentProject(path=str(tmp_path / "gone"), opened_at_us=1))

    assert list(settings.recent) == []


def test_a_failed_write_leaves_the_old_file_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.json"
    write_atomically(file, "old")

    def refuse(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(OSError, match="No space"):
        write_atomically(file, "new")

    assert file.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]


def test_a_full_disk_is_said(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(tmp_path)

    def refuse(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", refuse)
    with qtbot.waitSignal(settings.trouble_met) as caught:
        settings.set_theme("dark")

    assert "No space left on device" in str(args_of(caught)[0])


def test_the_page_takes_trust_back(tmp_path: Path, theme: Theme, qtbot: QtBot) -> None:
    settings = Settings(tmp_path)
    settings.set_trusted(tmp_path, True)
    page = SettingsPage(settings, theme, [("Settings", tmp_path)])
    qtbot.addWidget(page)
    button = next(one for one in page.findChildren(Button) if one.text() == "Take back")

    button.click()

    assert list(settings.trusted) == []
