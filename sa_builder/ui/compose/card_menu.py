"""The menu of a card or connection: its deeds, with the keys that do the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from sa_builder.ui.theme import Theme


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """One entry."""

    icon: str
    words: str
    keys: str = ""
    """Shown beside it; the canvas itself does it by key."""
    act: Callable[[], None]


def open_menu(theme: Theme, deeds: Sequence[Deed], at: QPoint, parent: QWidget) -> QMenu:
    """Open a menu at a place of the screen; it goes away by itself."""
    menu = QMenu(parent)
    for deed in deeds:
        entry = menu.addAction(theme.icon(deed.icon, "text.secondary"), deed.words)
        entry.setShortcut(QKeySequence(deed.keys))
        entry.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        entry.triggered.connect(deed.act)
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(at)
    return menu
