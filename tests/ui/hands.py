"""Mouse and keyboard for tests, with their types."""

from __future__ import annotations

from typing import Any, cast

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget


def click(widget: QWidget, place: QPoint | None = None) -> None:
    """Press and release the left button, in the middle or at a place."""
    at = place or widget.rect().center()
    none = Qt.KeyboardModifier.NoModifier
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton, none, at)


def press_key(
    widget: QWidget,
    key: Qt.Key,
    modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    """Press and release a key."""
    QTest.keyClick(widget, key, modifier)


def type_text(widget: QWidget, text: str) -> None:
    """Type, letter by letter."""
    QTest.keyClicks(widget, text)


def args_of(caught: object) -> list[object]:
    """What a signal that was waited for carried."""
    return list(cast("Any", caught).args)
