"""The toolbar of the Compose page."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from sa_builder.ui.compose.deed_menu import Deed, open_menu
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.buttons import Button, IconButton, Segments
from sa_builder.ui.widgets.marks import Glyph, Separator, TextLabel

COMPOSITION = "composition"
PROJECT = "project"
_WAY_BACK_PX, _NEW_PX = 860, 760
_VERTICAL = Qt.Orientation.Vertical


class ComposeToolbar(QWidget):
    """Undo, where one is, what the canvas shows, layout, new things.

    Signals:
        undo_wished, redo_wished, tidy_wished, thread_wished: pressed.
        agent_wished: str; the composition of this agent is to be shown.
        scope_wished: str; COMPOSITION or PROJECT.
        menu_wanted: QPoint; the menu of new definitions is to open at this place of the screen.
    """

    undo_wished = Signal()
    redo_wished = Signal()
    tidy_wished = Signal()
    thread_wished = Signal()
    agent_wished = Signal(str)
    scope_wished = Signal(str)
    menu_wanted = Signal(QPoint)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._agents: list[str] = []
        self._has_agent = False
        self.setObjectName("page_toolbar")
        self.setFixedHeight(theme.size("toolbar"))
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 8, 0)
        row.setSpacing(4)
        self._undo = IconButton(theme, "undo", self.tr("Undo"), parent=self)
        self._redo = IconButton(theme, "redo", self.tr("Redo"), parent=self)
        self._undo.clicked.connect(self.undo_wished)
        self._redo.clicked.connect(self.redo_wished)
        self._project = Button(theme, self.tr("Project"), "quiet", small=True, parent=self)
        self._project.clicked.connect(lambda: self.scope_wished.emit(PROJECT))
        self._arrow = Glyph(theme, "chevron_right", "text.muted", size_px=12, parent=self)
        self._glyph = Glyph(theme, "agent", "kind.agent", size_px=16, parent=self)
        self._name = TextLabel(theme, "", "strong", parent=self)
        self._count = TextLabel(theme, "", "small", "text.muted", parent=self)
        self.pick = IconButton(theme, "chevron_down", self.tr("Choose an agent"), parent=self)
        self.pick.clicked.connect(self._on_pick_clicked)
        self.scope = Segments(
            theme,
            [(COMPOSITION, self.tr("Composition")), (PROJECT, self.tr("Whole project"))],
            name=self.tr("What the canvas shows"),
            parent=self,
        )
        self.scope.value_chosen.connect(self.scope_wished)
        tidy = IconButton(theme, "layout", self.tr("Lay out anew"), parent=self)
        tidy.clicked.connect(self.tidy_wished)
        self.new = Button(theme, self.tr("New definition"), "quiet", parent=self)
        self.new.clicked.connect(self._on_new_clicked)
        self.thread_button = Button(
            theme, self.tr("New Thread"), "primary", icon="plus", parent=self
        )
        self.thread_button.clicked.connect(self.thread_wished)
        row.addWidget(self._undo)
        row.addWidget(self._redo)
        row.addSpacing(4)
        row.addWidget(Separator(theme, _VERTICAL, length_px=18, parent=self))
        row.addSpacing(4)
        for widget in (self._project, self._arrow, self._glyph, self._name, self._count, self.pick):
            row.addWidget(widget)
        row.addSpacing(8)
        row.addWidget(self.scope)
        row.addStretch(1)
        row.addWidget(tidy)
        row.addSpacing(4)
        row.addWidget(Separator(theme, _VERTICAL, length_px=18, parent=self))
        row.addSpacing(4)
        row.addWidget(self.new)
        row.addSpacing(4)
        row.addWidget(self.thread_button)

    def show_place(self, project: str, agent: str | None, agents: list[str]) -> None:
        """Say where the canvas is.

        Args:
            project: the project's name.
            agent: whose composition is shown; None is the whole project.
            agents: every agent's name.
        """
        self._agents = agents
        self._has_agent = agent is not None
        self._make_room(self.width())
        self._name.setText(agent or project)
        many = self.tr("{0} agents").format(len(agents))
        self._count.setText("" if agent else self.tr("1 agent") if len(agents) == 1 else many)
        self._count.setVisible(agent is None)
        self.pick.setEnabled(bool(agents))
        self.scope.set_value(COMPOSITION if agent else PROJECT)
        self.thread_button.setEnabled(bool(agents))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room(event.size().width())

    def _make_room(self, width_px: int) -> None:
        """Leave out what can be had elsewhere: the way back, then new definitions."""
        for widget in (self._project, self._arrow):
            widget.setVisible(self._has_agent and width_px >= _WAY_BACK_PX)
        self._glyph.setVisible(self._has_agent)
        self.new.setVisible(width_px >= _NEW_PX)

    def show_steps(self, undo: str | None, redo: str | None) -> None:
        """Say what undo and redo would do; None switches them off."""
        self._undo.setEnabled(undo is not None)
        self._redo.setEnabled(redo is not None)
        self._undo.set_tip(self.tr("Undo: {0}").format(undo) if undo else self.tr("Undo"))
        self._redo.set_tip(self.tr("Redo: {0}").format(redo) if redo else self.tr("Redo"))

    @Slot()
    def _on_pick_clicked(self) -> None:
        deeds = [
            Deed(
                icon="agent",
                token="kind.agent",
                words=name,
                act=partial(self.agent_wished.emit, name),
            )
            for name in self._agents
        ]
        open_menu(self._theme, deeds, self.pick.mapToGlobal(QPoint(0, self.pick.height())), self)

    @Slot()
    def _on_new_clicked(self) -> None:
        self.menu_wanted.emit(self.new.mapToGlobal(QPoint(0, self.new.height())))
