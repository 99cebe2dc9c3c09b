"""A mouse and a keyboard outside the process: every event comes from the X server."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Awaitable, Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QWidget

_KEYS = {Qt.Key.Key_Return: "Return", Qt.Key.Key_Z: "z", Qt.Key.Key_Q: "q"}
_MODIFIERS = {Qt.KeyboardModifier.ControlModifier: "ctrl+"}
_STEPS = 8


class X11Hands:
    """`sa_builder.ui.journey.Hands` by xdotool; widgets are asked for places alone."""

    async def focus(self, window: QWidget) -> None:
        """Do what a window manager would: give a window the keyboard."""
        await _do("windowfocus", "--sync", str(int(window.winId())))

    async def click(self, widget: QWidget, at: QPoint) -> None:
        await _do("mousemove", *_place(widget, at), "click", "1")

    async def drag(
        self, widget: QWidget, start: QPoint, end: QPoint, held: Callable[[], Awaitable[None]]
    ) -> None:
        await _do("mousemove", *_place(widget, start), "mousedown", "1")
        for step in range(1, _STEPS + 1):
            await _do("mousemove", *_place(widget, start + (end - start) * step / _STEPS))
        await held()
        await _do("mouseup", "1")

    async def type_text(self, widget: QWidget, text: str) -> None:
        await _do("type", "--delay", "4", text)

    async def press(self, widget: QWidget, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
        await _do("key", _MODIFIERS.get(modifiers, "") + _KEYS[key])


def _place(widget: QWidget, at: QPoint) -> tuple[str, str]:
    place = widget.mapToGlobal(at)
    return str(place.x()), str(place.y())


async def _do(*words: str) -> None:
    await asyncio.to_thread(subprocess.run, ["xdotool", *words], check=True, timeout=10)
