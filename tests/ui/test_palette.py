"""The palette finds by name, keeps to groups, and opens by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from sa_builder.spec.threads import ThreadSummary
from sa_builder.ui.palette import Palette
from sa_builder.ui.palette_model import Entry, Row, match, rows_for
from sa_builder.util.ids import ThreadId
from tests.ui.desk import Desk
from tests.ui.hands import click, press_key, type_text


def _entry(title: str, opened: list[str] | None = None) -> Entry:
    return Entry(
        group="Definitions",
        title=title,
        open=lambda: (opened if opened is not None else []).append(title),
    )


@pytest.mark.parametrize(
    ("query", "title", "places"),
    [
        ("tri", "issue_triage", (6, 7, 8)),
        ("nt", "New Thread", (0, 4)),
        ("itri", "issue_triager", (0, 6, 7, 8)),
        ("", "anything", ()),
    ],
)
def test_names_are_found_by_runs_and_word_starts(
    query: str, title: str, places: tuple[int, ...]
) -> None:
    found = match(query, title)

    assert found is not None
    assert found[1] == places


@pytest.mark.parametrize(
    ("query", "title"), [("xyz", "issue_triage"), ("tri", "New Thread with a")]
)
def test_scattered_letters_find_nothing(query: str, title: str) -> None:
    assert match(query, title) is None


def test_a_name_that_begins_so_comes_first() -> None:
    rows = rows_for("rep", [_entry("my_repo"), _entry("repo_assistant")], [], [])

    assert [row.entry.title for row in rows if row.entry] == ["repo_assistant", "my_repo"]


def test_a_prefix_keeps_to_one_group() -> None:
    rows = rows_for("#re", [_entry("repo")], [_entry("read this")], [_entry("Redo")])

    assert [row.heading for row in rows if row.heading] == ["Threads"]


def _open(desk: Desk, root: Path) -> Palette:
    desk.open(root)
    desk.window.open_palette()
    view = desk.window.palette_view
    assert view is not None
    return view


def test_enter_opens_the_chosen_definition(desk: Desk, project_root: Path, qtbot: QtBot) -> None:
    view = _open(desk, project_root)

    type_text(view.field, "@submit")
    press_key(view.field, Qt.Key.Key_Return)

    assert desk.window.page_name == "compose"
    asked = getattr(desk.window.workspace.compose, "asked", [])
    assert asked == ["tools/submit_triage"]
    assert view.isHidden()


def test_threads_are_asked_for_and_shown(desk: Desk, project_root: Path, qtbot: QtBot) -> None:
    desk.factory.client.add_thread(
        ThreadSummary(
            id=ThreadId("t1"),
            agent_name="repo_assistant",
            origin_agent_name="repo_assistant",
            title="Triage acme/widgets #482",
            created_at_us=1,
            updated_at_us=1,
        )
    )
    view = _open(desk, project_root)

    type_text(view.field, "#acme")

    def titles(rows: list[Row]) -> list[str]:
        return [row.entry.title for row in rows if row.entry is not None]

    desk.run_until(lambda: titles(view.rows) == ["Triage acme/widgets #482"])
    press_key(view.field, Qt.Key.Key_Return)
    assert desk.window.page_name == "threads"


def test_escape_and_a_press_outside_close_it(desk: Desk, project_root: Path, qtbot: QtBot) -> None:
    view = _open(desk, project_root)
    press_key(view.field, Qt.Key.Key_Escape)
    hidden_by_key = view.isHidden()

    desk.window.open_palette()
    click(view, QPoint(5, 5))

    assert hidden_by_key
    assert view.isHidden()


def test_arrows_skip_headings_and_wrap(desk: Desk, project_root: Path, qtbot: QtBot) -> None:
    view = _open(desk, project_root)
    first = view.list_view.currentIndex().row()

    press_key(view.field, Qt.Key.Key_Up)
    last = view.list_view.currentIndex().row()
    press_key(view.field, Qt.Key.Key_Down)

    assert first == 1
    assert last == len(view.rows) - 1
    assert view.list_view.currentIndex().row() == first
