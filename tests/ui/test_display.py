"""A missing display or library gives one sentence, never Qt's abort."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from sa_builder.errors import KnownError
from sa_builder.ui import display

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")


def test_without_a_display_it_names_the_commands_that_need_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)

    with pytest.raises(KnownError, match="no display") as caught:
        display.check_display()

    assert "sa-builder check" in caught.value.act


def test_offscreen_needs_no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")

    display.check_display()


def test_missing_libraries_are_named_with_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    missing = ("libEGL.so.1", "libxcb-cursor.so.0")
    monkeypatch.setattr(display, "_loads", lambda name: name not in missing)  # pyright: ignore

    with pytest.raises(KnownError) as caught:
        display.check_display()

    assert caught.value.act == ("Install them with: sudo apt-get install -y libegl1 libxcb-cursor0")


def test_a_display_that_does_not_answer_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":32123")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    monkeypatch.setattr(display, "_loads", lambda name: True)  # pyright: ignore

    with pytest.raises(KnownError, match=":32123 does not answer"):
        display.check_display()


def test_a_compositor_that_does_not_answer_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-7")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(display, "_loads", lambda name: True)  # pyright: ignore

    with pytest.raises(KnownError, match="wayland-7 does not answer"):
        display.check_display()


def test_one_of_two_displays_that_answers_is_enough(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.setenv("DISPLAY", ":32123")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-7")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(display, "_loads", lambda name: "xcb" not in name)  # pyright: ignore
    with socket.socket(socket.AF_UNIX) as compositor:
        compositor.bind(str(tmp_path / "wayland-7"))
        compositor.listen()

        display.check_display()


def test_libraries_are_asked_for_of_the_display_that_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-7")
    monkeypatch.setattr(display, "_loads", lambda name: "wayland" not in name)  # pyright: ignore

    assert display.missing_packages() == [
        "libwayland-client0", "libwayland-cursor0", "libwayland-egl1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("variables", "shown"),
    [
        ({}, False),
        ({"DISPLAY": ":0"}, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, True),
        ({"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}, False),
    ],
)
def test_a_window_is_seen_only_where_a_display_is(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], shown: bool
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert display.shows_windows() is shown
