"""`make run`: the window where there is a display, else the journey with its pictures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sa_builder.cli import gui, journey
from sa_builder.ui import display
from sa_builder.util.resources import sample_root
from tests.cli.conftest import ROOT, Command

PICTURES = {"whole-project", "connect", "compose", "threads", "request", "archive"}


def test_with_a_display_the_sample_opens_trusted_and_in_test_mode(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[tuple[str | None, list[str]]] = []

    def open_window(place: str | None, options: list[str]) -> int:
        opened.append((place, options))
        return 0

    monkeypatch.setattr(display, "shows_windows", lambda: True)
    monkeypatch.setattr(gui, "open_window", open_window)

    assert journey.main() == 0
    assert opened == [(str(sample_root()), ["--test-mode", "--trust"])]


def test_without_a_display_the_journey_is_done_and_leaves_pictures(tmp_path: Path) -> None:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    before = (ROOT / "agents" / "agents" / "relay_agent.py").read_bytes()

    ended = subprocess.run(
        [sys.executable, "-m", "sa_builder.cli.journey"],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, ended.stderr) == (0, "")
    lines = ended.stdout.splitlines()
    assert lines[0].startswith("There is no display")
    named = [Path(line.removeprefix("Screenshot: ")) for line in lines if "Screenshot: " in line]
    assert {picture.stem for picture in named} == PICTURES
    for picture in named:
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
    assert (ROOT / "agents" / "agents" / "relay_agent.py").read_bytes() == before


def test_missing_libraries_are_one_sentence_with_the_command(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(display, "missing_packages", lambda: ["libegl1"])

    said = command("journey")

    assert said.code == 1
    assert said.err.count("\n") == 1
    assert "sudo apt-get install -y libegl1" in said.err


def test_a_failed_step_is_one_sentence_and_keeps_the_picture_of_it(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def walk(root: Path, home: Path, pictures: Path, factory: object) -> None:
        (pictures / "stuck.png").write_bytes(b"a picture")
        raise journey.KnownError("The journey could not draw.", code="journey.stuck")

    monkeypatch.setattr("sa_builder.ui.walk.walk", walk)

    said = command("journey", "--pictures", tmp_path / "kept")

    assert (said.code, said.err) == (1, "The journey could not draw.\n")
    assert said.out == f"Screenshot: {tmp_path / 'kept' / 'stuck.png'}\n"
    assert (tmp_path / "kept" / "stuck.png").read_bytes() == b"a picture"
