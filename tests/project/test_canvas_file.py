"""agents/canvas.json: only moved cards, sorted, one a line; never destroyed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sa_builder.errors import ProjectError
from sa_builder.project.canvas_file import (
    CANVAS_PATH,
    canvas_text,
    read_positions,
    write_positions,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project folder with nothing in it."""
    (tmp_path / "agents").mkdir()
    return tmp_path


def _file(root: Path, content: str | bytes) -> Path:
    path = root / CANVAS_PATH
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_project_without_the_file_has_no_moved_cards(root: Path) -> None:
    assert read_positions(root) == {}


def test_cards_are_written_sorted_one_a_line_in_whole_pixels(root: Path) -> None:
    write_positions(root, {"tools/b": (12.4, -3.6), "agents/a": (0.0, 640.5), "tools/ä": (1, 2)})

    assert (root / CANVAS_PATH).read_text(encoding="utf-8") == (
        '{\n  "agents/a": [0, 640],\n  "tools/b": [12, -4],\n  "tools/ä": [1, 2]\n}\n'
    )


def test_what_is_written_is_read_back(root: Path) -> None:
    places = {"agents/a": (10.0, 20.0), 'odd "name"\n\\': (-5.0, 0.0)}

    write_positions(root, places)

    assert read_positions(root) == places


def test_the_same_places_give_the_same_bytes_in_any_order(root: Path) -> None:
    assert canvas_text({"b": (1, 2), "a": (3, 4)}) == canvas_text({"a": (3, 4), "b": (1, 2)})


def test_without_moved_cards_the_file_goes_away(root: Path) -> None:
    path = _file(root, '{"a": [1, 2]}')

    write_positions(root, {})
    write_positions(root, {})

    assert not path.exists()


def test_a_file_written_by_hand_is_read(root: Path) -> None:
    _file(root, '\ufeff\r\n{ "agents/a" :\t[ 1.5 ,\r\n -2e1 ], "agents/b":[3,4] }\r\n')

    assert read_positions(root) == {"agents/a": (1.5, -20.0), "agents/b": (3.0, 4.0)}


@pytest.mark.parametrize("content", ["", " \n", "{}", "{\n}\n"])
def test_an_empty_file_holds_no_moved_cards(root: Path, content: str) -> None:
    _file(root, content)

    assert read_positions(root) == {}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{\n  "a": [1, 2],\n}', "line 3 is no JSON"),
        ('<<<<<<< ours\n{"a": [1, 2]}', "line 1 is no JSON"),
        (b'{"a\xff": [1, 2]}', "no JSON text in UTF-8"),
        ("[" * 100_000, "no JSON"),
        ("[1, 2]", "not an object"),
        ("null", "not an object"),
        ('{"a": [1]}', "'a' is not two numbers"),
        ('{"a": [1, 2, 3]}', "'a' is not two numbers"),
        ('{"a": {"x": 1}}', "'a' is not two numbers"),
        ('{"a": ["1", "2"]}', "'a' is not two numbers"),
        ('{"a": [true, false]}', "'a' is not two numbers"),
        ('{"a": [NaN, 0]}', "'a' is not two numbers"),
        ('{"a": [Infinity, 0]}', "'a' is not two numbers"),
        ('{"a": [1e300, 0]}', "'a' is not two numbers"),
        ('{"a": [1' + "0" * 400 + ", 0]}", "'a' is not two numbers"),
        ('{"a": [1' + "0" * 5000 + ", 0]}", "no JSON"),
    ],
)
def test_a_broken_file_is_told_in_a_sentence_and_left_alone(
    root: Path, content: str | bytes, says: str
) -> None:
    path = _file(root, content)
    before = path.read_bytes()

    with pytest.raises(ProjectError, match=says) as caught:
        read_positions(root)

    assert str(caught.value).startswith("agents/canvas.json cannot be read: ")
    assert caught.value.code == "project.canvas"
    assert path.read_bytes() == before


def test_a_folder_of_that_name_is_told_in_a_sentence(root: Path) -> None:
    (root / CANVAS_PATH).mkdir()

    with pytest.raises(ProjectError, match="cannot be read"):
        read_positions(root)
    with pytest.raises(ProjectError, match="cannot be written"):
        write_positions(root, {"a": (1, 2)})


def test_a_write_that_fails_keeps_the_old_file_and_leaves_nothing_beside(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _file(root, '{"a": [1, 2]}')

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)

    with pytest.raises(ProjectError, match="No space left"):
        write_positions(root, {"a": (3, 4)})

    assert json.loads(path.read_text()) == {"a": [1, 2]}
    assert [one.name for one in path.parent.iterdir()] == ["canvas.json"]


def test_a_read_only_file_is_told_and_kept(root: Path) -> None:
    path = _file(root, '{"a": [1, 2]}')
    path.chmod(0o444)

    with pytest.raises(ProjectError, match="read-only"):
        write_positions(root, {"a": (3, 4)})

    assert read_positions(root) == {"a": (1.0, 2.0)}
