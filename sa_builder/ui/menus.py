"""The menus, filled from the registry of actions."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar

from sa_builder.ui.actions import ActionRegistry

_SHAPE: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "File",
        (
            "file.open_project",
            "file.new_project",
            "file.open_thread_file",
            ">recent",
            "-",
            "file.close_project",
            "-",
            "file.quit",
        ),
    ),
    ("Edit", ("edit.undo", "edit.redo", "-", "edit.palette")),
    (
        "View",
        (
            "view.compose",
            "view.threads",
            "view.settings",
            "-",
            "view.panel_left",
            "view.panel_bottom",
            "view.panel_right",
            "-",
            ">theme",
        ),
    ),
    ("Graph", ()),
    ("Run", ("run.new_thread", "run.test_mode")),
    ("Help", ("help.shortcuts", "help.about")),
)


class Menus(QObject):
    """Builds the menu bar; each menu is filled when it opens, so it shows what holds then."""

    def __init__(self, bar: QMenuBar, actions: ActionRegistry, parent: QObject) -> None:
        super().__init__(parent)
        self._actions = actions
        self._fixed = {action_id for _, ids in _SHAPE for action_id in ids}
        self._submenus: dict[str, QMenu] = {}
        self._menus: dict[str, QMenu] = {}
        for title, ids in _SHAPE:
            menu = bar.addMenu(title)
            menu.setObjectName(f"menu_{title.lower()}")
            menu.aboutToShow.connect(self._on_about_to_show)
            self._menus[title] = menu
            self._fill(title, menu, ids)
        self._actions.changed.connect(self._on_actions_changed)
        self._on_actions_changed()

    def add_submenu(self, key: str, menu: QMenu) -> None:
        """Put a menu where the shape says `>key`."""
        self._submenus[key] = menu

    def menu(self, title: str) -> QMenu:
        """A menu by its title, filled as it would show now."""
        menu = self._menus[title]
        self._fill(title, menu, dict(_SHAPE)[title])
        return menu

    def _of_pages(self, title: str) -> Sequence[QAction]:
        return [
            action
            for action in self._actions.all()
            if action.group == title and action.action_id not in self._fixed
        ]

    def _fill(self, title: str, menu: QMenu, ids: Sequence[str]) -> None:
        menu.clear()
        for action_id in ids:
            if action_id == "-":
                menu.addSeparator()
            elif action_id.startswith(">"):
                submenu = self._submenus.get(action_id[1:])
                if submenu is not None:
                    menu.addMenu(submenu)
            else:
                action = self._actions.get(action_id)
                if action is not None:
                    menu.addAction(action)
        of_pages = self._of_pages(title)
        if of_pages and ids:
            menu.addSeparator()
        menu.addActions(list(of_pages))

    @Slot()
    def _on_about_to_show(self) -> None:
        for title, ids in _SHAPE:
            if self._menus[title] is self.sender():
                self._fill(title, self._menus[title], ids)

    @Slot()
    def _on_actions_changed(self) -> None:
        self._menus["Graph"].menuAction().setVisible(bool(self._of_pages("Graph")))
