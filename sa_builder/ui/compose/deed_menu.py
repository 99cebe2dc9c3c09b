"""Menus of deeds, made when they are opened and gone when they close."""

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

    icon: str = ""
    """Without one the words stand alone."""
    token: str = "text.secondary"
    words: str
    keys: str = ""
    """Shown beside it; the canvas itself does it by key."""
    act: Callable[[], None]


def open_menu(theme: Theme, deeds: Sequence[Deed], at: QPoint, parent: QWidget) -> QMenu:
    """Open a menu at a place of the screen; it goes away by itself."""
    menu = QMenu(parent)
    for deed in deeds:
        entry = menu.addAction(deed.words)
        if deed.icon:
            entry.setIcon(theme.icon(deed.icon, deed.token))
        entry.setShortcut(QKeySequence(deed.keys))
        entry.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        entry.triggered.connect(deed.act)
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(at)
    return menu
