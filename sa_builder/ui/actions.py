"""The one registry of actions: menus, shortcuts and the palette read from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from sa_builder.ui.theme import Theme

Shortcut = str | QKeySequence | QKeySequence.StandardKey


class RegisteredAction(QAction):
    """A `QAction` that knows its id and draws its icon from the theme."""

    def __init__(
        self,
        action_id: str,
        title: str,
        callback: Callable[[], object],
        *,
        icon_name: str | None,
        group: str,
        theme: Theme,
        parent: QObject,
    ) -> None:
        super().__init__(title, parent)
        self.action_id = action_id
        self.icon_name = icon_name
        self.group = group
        self._callback = callback
        self._theme = theme
        self.setObjectName(action_id)
        self.triggered.connect(self._on_triggered)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    @Slot()
    def _on_triggered(self) -> None:
        self._callback()

    @Slot()
    def _on_theme_changed(self) -> None:
        if self.icon_name is not None:
            self.setIcon(self._theme.icon(self.icon_name))


class ActionRegistry(QObject):
    """Every deed of the window, by id.

    Signals:
        changed: an action was added or is gone.
    """

    changed = Signal()

    def __init__(self, theme: Theme, window: QWidget, parent: QObject | None = None) -> None:
        """Begin empty.

        Args:
            window: owns the actions that hold everywhere in the window.
        """
        super().__init__(parent or window)
        self._theme = theme
        self._window = window
        self._actions: dict[str, RegisteredAction] = {}

    def add(
        self,
        action_id: str,
        title: str,
        callback: Callable[[], object],
        *,
        shortcut: Shortcut | Sequence[Shortcut] | None = None,
        icon: str | None = None,
        scope: QWidget | None = None,
        group: str = "",
        checkable: bool = False,
    ) -> QAction:
        """Make an action and hang it on its scope.

        Args:
            action_id: dotted and stable, such as "thread.new"; one added again is replaced.
            title: what menus and the palette show; "…" at the end when it asks for more.
            shortcut: works while the scope has the focus, or anywhere when there is no scope.
            icon: a name of `resources/icons`, drawn in the theme's colour.
            scope: the page or view it belongs to; it dies with it.
            group: the word the palette shows behind it, such as "Run".
        """
        self.remove(action_id)
        owner = scope or self._window
        action = RegisteredAction(
            action_id,
            title,
            callback,
            icon_name=icon,
            group=group,
            theme=self._theme,
            parent=owner,
        )
        action.setCheckable(checkable)
        if shortcut is not None:
            wishes = [shortcut] if isinstance(shortcut, str | QKeySequence) else shortcut
            several = wishes if isinstance(wishes, Sequence) else [wishes]
            action.setShortcuts([QKeySequence(one) for one in several])
        action.setShortcutContext(
            Qt.ShortcutContext.WindowShortcut
            if scope is None
            else Qt.ShortcutContext.WidgetWithChildrenShortcut
        )
        owner.addAction(action)
        self._actions[action_id] = action
        self.changed.emit()
        return action

    def remove(self, action_id: str) -> None:
        """Take an action away; nothing happens when there is none of that id."""
        action = self._actions.pop(action_id, None)
        if action is not None and shiboken6.isValid(action):
            action.setParent(None)
            action.deleteLater()
            self.changed.emit()

    def get(self, action_id: str) -> QAction | None:
        """The action of an id, if it still lives."""
        action = self._actions.get(action_id)
        return action if action is not None and shiboken6.isValid(action) else None

    def all(self) -> Sequence[RegisteredAction]:
        """Every living action, in the order they were added."""
        return [action for action in self._actions.values() if shiboken6.isValid(action)]
