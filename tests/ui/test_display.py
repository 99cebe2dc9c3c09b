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
