"""A missing display or library gives one sentence, never Qt's abort."""

from __future__ import annotations

import sys

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
    monkeypatch.setattr(display, "missing_packages", list[str])

    with pytest.raises(KnownError, match=":32123 does not answer"):
        display.check_display()


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
