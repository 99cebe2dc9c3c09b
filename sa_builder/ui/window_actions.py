"""The deeds of the window itself, in the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu

from sa_builder.ui.actions import ActionRegistry

if TYPE_CHECKING:
    from sa_builder.ui.window import MainWindow

_KEY = QKeySequence.StandardKey


def add_window_actions(window: MainWindow, actions: ActionRegistry) -> None:
    """Register what works whatever page is shown."""
    add = actions.add
    add(
        "file.open_project",
        "Open Project Folder…",
        window.wish_open_project,
        shortcut="Ctrl+O",
        icon="folder",
        group="File",
    )
    add(
        "file.new_project",
        "New Project from Template…",
        window.wish_new_project,
        shortcut="Ctrl+Shift+N",
        icon="plus",
        group="File",
    )
    add(
        "file.open_thread_file",
        "Open Thread File…",
        window.wish_open_thread_file,
        icon="waterfall",
        group="File",
    )
    add(
        "file.close_project",
        "Close Project",
        window.wish_close_content,
        shortcut="Ctrl+W",
        icon="close",
        group="File",
    )
    add("file.quit", "Quit", window.close, shortcut=_KEY.Quit, group="File")
    add("edit.undo", "Undo", window.undo, shortcut=_KEY.Undo, icon="undo", group="Edit")
    add(
        "edit.redo",
        "Redo",
        window.redo,
        shortcut=["Ctrl+Shift+Z", "Ctrl+Y"],
        icon="redo",
        group="Edit",
    )
    add(
        "edit.palette",
        "Go To…",
        window.open_palette,
        shortcut="Ctrl+Shift+P",
        icon="search",
        group="Edit",
    )
    add(
        "view.compose",
        "Compose",
        window.show_compose,
        shortcut="Ctrl+1",
        icon="compose",
        group="View",
    )
    add(
        "view.threads",
        "Threads",
        window.show_threads,
        shortcut="Ctrl+2",
        icon="threads",
        group="View",
    )
    add(
        "view.settings",
        "Settings",
        window.show_settings,
        shortcut="Ctrl+,",
        icon="settings",
        group="View",
    )
    for side, title, shortcut in (
        ("left", "Left Panel", "Ctrl+B"),
        ("bottom", "Bottom Panel", "Ctrl+J"),
        ("right", "Right Panel", "Ctrl+Alt+B"),
    ):
        add(
            f"view.panel_{side}",
            title,
            getattr(window, f"toggle_{side}_panel"),
            shortcut=shortcut,
            icon=f"panel_{side}",
            group="View",
        )
    add(
        "run.new_thread",
        "New Thread",
        window.wish_new_thread,
        shortcut="Ctrl+T",
        icon="plus",
        group="Run",
    )
    add(
        "run.test_mode",
        "Test Mode",
        window.toggle_test_mode,
        icon="flask",
        group="Run",
        checkable=True,
    )
    add(
        "help.shortcuts",
        "Keyboard Shortcuts",
        window.show_shortcuts,
        shortcut="Ctrl+K, Ctrl+S",
        icon="keyboard",
        group="Help",
    )
    add("help.about", "About", window.show_about, icon="info", group="Help")


def make_theme_menu(window: MainWindow, actions: ActionRegistry) -> QMenu:
    """System, light, dark: one of three."""
    menu = QMenu("Theme", window)
    group = QActionGroup(menu)
    for preference, title, choose in (
        ("system", "Theme: As the System", window.choose_system_theme),
        ("light", "Theme: Light", window.choose_light_theme),
        ("dark", "Theme: Dark", window.choose_dark_theme),
    ):
        action = actions.add(
            f"view.theme_{preference}", title, choose, group="Theme", checkable=True
        )
        group.addAction(action)
        menu.addAction(action)
    return menu
