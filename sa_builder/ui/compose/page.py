"""Compose: the graph, its outline, the form and the source of what is selected."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from PySide6.QtCore import QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from sa_builder.errors import KnownError
from sa_builder.project.canvas_file import read_positions, write_positions
from sa_builder.project.card_look import kind_icon, kind_token
from sa_builder.project.project import Project
from sa_builder.project.shapes import Edit, Fix, Graph, Problem, Span
from sa_builder.spec.kinds import Kind
from sa_builder.ui.actions import ActionRegistry
from sa_builder.ui.canvas.view import Canvas
from sa_builder.ui.compose.deed_menu import Deed, open_menu
from sa_builder.ui.compose.form_panel import FormPanel
from sa_builder.ui.compose.outline_panel import OutlinePanel
from sa_builder.ui.compose.port_acts import PortActs
from sa_builder.ui.compose.problems_panel import ProblemsPanel
from sa_builder.ui.compose.source_panel import SourcePanel
from sa_builder.ui.compose.toolbar import PROJECT, ComposeToolbar
from sa_builder.ui.compose.words import definition_of, nearest
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.bars import EmptyState

_NEW_KINDS = (Kind.AGENT, Kind.PROMPT, Kind.MODEL, Kind.TOOL, Kind.HANDLER)
_RAIL_PX = 48
_NARROW_PX, _NARROWEST_PX, _LOW_PX = 1280 - _RAIL_PX, 1080 - _RAIL_PX, 760 - 64
_FIRST = "repo_assistant"


class ComposePage(QWidget):
    """The page of a project's definitions.

    Signals:
        new_thread_requested: str; an agent's name, or "".
        status_said: str; a sentence for the status bar.
        edited: Edit; files were changed, one undo step.
        selection_changed: str; the selected address.
    """

    new_thread_requested = Signal(str)
    status_said = Signal(str)
    edited = Signal(object)
    selection_changed = Signal(object)

    def __init__(
        self,
        project: Project,
        theme: Theme,
        actions: ActionRegistry,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._project = project
        self._theme = theme
        self._actions = actions
        self._agent: str | None = None
        self._address = ""
        self._graph = Graph(nodes=(), edges=())
        self._is_selecting = False
        self._widths: tuple[bool, bool, bool] | None = None
        self.toolbar = ComposeToolbar(theme, self)
        self.ports = PortActs(project, theme, self)
        self.canvas = Canvas(theme, self.ports.targets)
        self.outline = OutlinePanel(project, theme)
        self.outline.setObjectName("panel_left")
        self.inspector = FormPanel(project, theme)
        self.inspector.setObjectName("panel_right")
        self.source = SourcePanel(project, theme)
        self.source.setObjectName("panel_bottom")
        self.problems = ProblemsPanel(theme)
        self.empty = EmptyState(
            theme,
            "agent",
            self.tr("No agents yet"),
            self.tr("An agent is one Python file under agents/agents."),
            self.tr("New agent"),
            role="primary",
            parent=self.canvas,
        )
        self.empty.act_wished.connect(self._on_first_agent_wished)
        self.ports.attend(self.canvas, self.inspector, self.source)
        self._lay_out()
        self._connect_parts()
        agents = self._agent_names()
        self.show_agent(_FIRST if _FIRST in agents else agents[0] if agents else None)
        QTimer.singleShot(0, self.canvas, self.canvas.fit)

    # the page's face to the window

    @property
    def problem_counts(self) -> tuple[int, int, int]:
        """Errors, warnings and hints."""
        found = [problem.severity for problem in self._project.problems()]
        return found.count("error"), found.count("warning"), found.count("hint")

    @property
    def shown_agent(self) -> str | None:
        """Whose composition is on the canvas; None is the whole project."""
        return self._agent

    def refresh(self) -> None:
        """Show what the files say now, keeping view and selection."""
        if self._agent is not None and self._agent not in self._agent_names():
            self._agent = None
        self._graph = self._project.graph(self._agent)
        self.ports.take_graph(self._graph.nodes, self._graph.edges)
        self._is_selecting = True
        try:
            self.canvas.show_graph(self._graph, self._places() or {})
            self.outline.show_graph(self._graph, self._agent)
        finally:
            self._is_selecting = False
        self.empty.setVisible(not self._graph.nodes)
        self.problems.show_problems(self._project.problems())
        self.inspector.refresh()
        self.source.refresh()
        self.toolbar.show_place(self._project.root.name, self._agent, self._agent_names())
        self.toolbar.show_steps(self._project.undo_title, self._project.redo_title)
        if self._address:
            self._show_source(self._address)

    def show_agent(self, name: str | None) -> None:
        """Show one agent's composition, or with None the whole project."""
        self._agent = name
        self.refresh()
        self.canvas.fit()
        if name:
            self.select_address(f"agents/{name}")

    def select_address(self, address: str) -> None:
        """Select a definition or property everywhere."""
        owner = definition_of(address)
        shown = {node.address for node in self._graph.nodes}
        if owner not in shown and self._agent is not None:
            is_agent = owner.startswith("agents/")
            self._agent = owner.removeprefix("agents/") if is_agent else None
            self.refresh()
            self.canvas.fit()
        self._select(address)

    def undo(self) -> None:
        """Take back the last edit of files."""
        self._again(self._project.undo, self.tr("Nothing to undo."))

    def redo(self) -> None:
        """Make again what was taken back."""
        self._again(self._project.redo, self.tr("Nothing to redo."))

    # Qt

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        width, height = event.size().width(), event.size().height()
        widths = (width < _NARROW_PX, width < _NARROWEST_PX, height < _LOW_PX)
        if widths == self._widths:
            return
        before, self._widths = self._widths, widths
        if before is None or widths[0] != before[0]:
            self.outline.setVisible(not widths[0])
        if before is None or widths[1] != before[1]:
            self.inspector.setVisible(not widths[1])
        if before is None or widths[2] != before[2]:
            self._fold_source(widths[2])

    # making

    def _lay_out(self) -> None:
        self._middle = QSplitter(Qt.Orientation.Vertical)
        self._middle.setObjectName("compose_middle")
        self._middle.setHandleWidth(1)
        self._middle.setChildrenCollapsible(False)
        self._middle.addWidget(self.canvas)
        self._middle.addWidget(self.source)
        self._middle.setStretchFactor(0, 1)
        self._middle.setSizes([600, self._theme.size("source_height")])
        column = QWidget()
        below = QVBoxLayout(column)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(0)
        below.addWidget(self._middle, 1)
        below.addWidget(self.problems)
        across = QSplitter(Qt.Orientation.Horizontal)
        across.setObjectName("compose_across")
        across.setHandleWidth(1)
        across.setChildrenCollapsible(False)
        across.addWidget(self.outline)
        across.addWidget(column)
        across.addWidget(self.inspector)
        across.setStretchFactor(1, 1)
        self.outline.setMinimumWidth(160)
        column.setMinimumWidth(320)
        across.setSizes(
            [self._theme.size("outline_width"), 900, self._theme.size("inspector_width")]
        )
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.toolbar)
        whole.addWidget(across, 1)

    def _connect_parts(self) -> None:
        bar, canvas = self.toolbar, self.canvas
        bar.undo_wished.connect(self.undo)
        bar.redo_wished.connect(self.redo)
        bar.agent_wished.connect(self.show_agent)
        bar.scope_wished.connect(self._on_scope_wished)
        bar.tidy_wished.connect(self._on_tidy_wished)
        bar.menu_wanted.connect(self._on_new_menu_wanted)
        bar.thread_wished.connect(self._on_thread_wished)
        canvas.resized.connect(self.empty.resize)
        canvas.address_chosen.connect(self._on_address_chosen)
        canvas.opened.connect(self._on_opened)
        canvas.moved.connect(self._on_cards_moved)
        canvas.menu_wished.connect(self._on_menu_wished)
        self.outline.address_chosen.connect(self._on_address_chosen)
        self.outline.opened.connect(self._on_opened)
        self.outline.new_wanted.connect(self._on_new_menu_wanted)
        self.source.address_chosen.connect(self._on_address_chosen)
        self.source.save_wanted.connect(self._on_save_wanted)
        self.source.fold_wished.connect(self._fold_source)
        self.problems.problem_chosen.connect(self._on_problem_chosen)
        self.problems.fix_wanted.connect(self._on_fix_wanted)
        self.inspector.edit_wanted.connect(self._on_edit_wanted)
        self.inspector.address_chosen.connect(self.select_address)
        self.inspector.agent_opened.connect(self.show_agent)
        self.inspector.remove_wanted.connect(self.ports.disconnect_edge)
        self.ports.edit_wished.connect(self._on_port_edit_wished)
        self.ports.select_wished.connect(self._select)
        self.ports.said.connect(self.status_said)
        for keys, act in (
            (QKeySequence(Qt.Key.Key_C), self._on_connect_key),
            (QKeySequence(Qt.Key.Key_Delete), self._on_delete_key),
        ):
            context = Qt.ShortcutContext.WidgetWithChildrenShortcut
            QShortcut(keys, self.outline.tree, act, context=context)

    # selecting

    @Slot(str)
    def _on_address_chosen(self, address: str) -> None:
        if address and not self._is_selecting:
            self._select(address)

    def _select(self, address: str) -> None:
        self._is_selecting = True
        try:
            self._address = address
            shown = nearest(address, {*self.canvas.cards, *self.canvas.traces})
            self.canvas.select(shown)
            self.outline.select(shown)
            self.inspector.show_address(_form_address(address))
            self._show_source(address)
        finally:
            self._is_selecting = False
        self.selection_changed.emit(address)

    def _show_source(self, address: str) -> None:
        span = self._span(address)
        if span is not None:
            self.source.show_place(span.path, span)
            self.source.show_problems(self._problems_in(span.path))

    def _problems_in(self, path: str) -> dict[int, Problem]:
        return {p.span.line: p for p in self._project.problems() if p.span.path == path}

    def _span(self, address: str) -> Span | None:
        plain = address.split("#", 1)[0]
        for wanted in (plain, definition_of(plain)):
            try:
                return self._project.span(wanted)
            except KnownError:
                continue
        return None

    @Slot(str)
    def _on_opened(self, address: str) -> None:
        """A child's card or row opens its composition; anything else shows its source."""
        agent = self._agent_at(address)
        if agent is not None and agent != self._agent:
            self.show_agent(agent)
        else:
            self._select(address)
            self.source.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _agent_at(self, address: str) -> str | None:
        edge = next((e for e in self._graph.edges if e.id == address), None)
        target = edge.target if edge is not None else address
        name = target.removeprefix("agents/")
        return name if target.startswith("agents/") and name in self._agent_names() else None

    @Slot(object)
    def _on_problem_chosen(self, chosen: object) -> None:
        problem = cast("Problem", chosen)
        if problem.address is not None:
            self.select_address(problem.address)
        self.source.show_place(problem.span.path, problem.span)
        self.source.show_problems(self._problems_in(problem.span.path))

    @Slot()
    def _on_connect_key(self) -> None:
        if self._address:
            self.ports.offer_for(self._address)

    @Slot()
    def _on_delete_key(self) -> None:
        self.ports.disconnect_edge(self._address)

    @Slot(object)
    def _on_cards_moved(self, moved: object) -> None:
        places = self._places()
        if places is not None:
            places.update(cast("dict[str, tuple[float, float]]", moved))
            self._keep_places(places)

    def _places(self) -> dict[str, tuple[float, float]] | None:
        """Where cards were put; None, and said, when the file cannot be read nor so replaced."""
        try:
            return read_positions(self._project.root)
        except KnownError as error:
            self.status_said.emit(error.text())
            return None

    def _keep_places(self, places: dict[str, tuple[float, float]]) -> None:
        try:
            write_positions(self._project.root, places)
        except (KnownError, OSError) as error:
            self.status_said.emit(
                self.tr("The places of the cards are not kept: {0}").format(error)
            )

    # editing

    @Slot(object, str)
    def _on_port_edit_wished(self, make: object, address: str) -> None:
        if self._make(cast("Callable[[], Edit]", make)) and address:
            self.select_address(address)

    @Slot(str, object)
    def _on_edit_wanted(self, title: str, make: object) -> None:
        if not self._make(cast("Callable[[], Edit]", make)):
            self.inspector.rebuild()

    @Slot(str, str)
    def _on_save_wanted(self, path: str, text: str) -> None:
        self._make(lambda: self._project.apply(self._project.plan_write(path, text)))

    @Slot(object)
    def _on_fix_wanted(self, fix: object) -> None:
        wanted = cast("Fix", fix)
        values = dict(wanted.arguments)
        project = self._project
        doers: dict[str, Callable[[], Edit]] = {
            "set": lambda: project.set(**values),
            "unset": lambda: project.unset(**values),
            "remove": lambda: project.unset(**values),
            "connect": lambda: project.connect(**values),
            "disconnect": lambda: project.disconnect(**values),
            "create": lambda: project.apply(project.plan_new(**values)),
        }
        self._make(doers[wanted.act])

    def _make(self, make: Callable[[], Edit]) -> bool:
        """Make an edit and show what came of it; says whether it was made."""
        try:
            edit = make()
        except KnownError as error:
            self.status_said.emit(error.text())
            return False
        self.refresh()
        if edit.changes:
            self.edited.emit(edit)
        else:
            self.status_said.emit(edit.summary)
        return True

    def _again(self, act: Callable[[], Edit | None], nothing: str) -> None:
        try:
            edit = act()
        except KnownError as error:
            self.status_said.emit(error.text())
            return
        if edit is None:
            self.status_said.emit(nothing)
            return
        self.refresh()
        self.edited.emit(edit)

    # the toolbar

    def _agent_names(self) -> list[str]:
        return [one.name for one in self._project.definitions() if one.kind is Kind.AGENT]

    @Slot(str)
    def _on_scope_wished(self, scope: str) -> None:
        if scope == PROJECT:
            self.show_agent(None)
            return
        agents = self._agent_names()
        owner = definition_of(self._address).removeprefix("agents/")
        self.show_agent(owner if owner in agents else agents[0] if agents else None)

    @Slot()
    def _on_tidy_wished(self) -> None:
        shown = {node.id for node in self._graph.nodes}
        places = self._places()
        if places is None:
            return
        self._keep_places({key: place for key, place in places.items() if key not in shown})
        self.refresh()
        self.canvas.fit()

    @Slot(str, QPoint)
    def _on_menu_wished(self, address: str, at: QPoint) -> None:
        """The deeds for a card or connection; on empty canvas, new definitions."""
        if not address:
            self._on_new_menu_wanted(at)
            return
        deeds: list[Deed] = []
        agent = self._agent_at(address)
        if agent is not None and agent != self._agent:
            words = self.tr("Open composition")
            show = partial(self.show_agent, agent)
            deeds.append(Deed(icon="compose", words=words, keys="Return", act=show))
        if agent is not None:
            start = partial(self.new_thread_requested.emit, agent)
            deeds.append(Deed(icon="threads", words=self.tr("New thread"), act=start))
        connect = partial(self.ports.offer_for, address)
        deeds.append(Deed(icon="subagent", words=self.tr("Connect…"), keys="C", act=connect))
        show_source = partial(self._show_in_source, address)
        deeds.append(Deed(icon="code", words=self.tr("Show in source"), act=show_source))
        if address in self.canvas.traces:
            remove = partial(self.ports.disconnect_edge, address)
            words = self.tr("Remove connection")
            deeds.append(Deed(icon="trash", words=words, keys="Del", act=remove))
        open_menu(self._theme, deeds, at, self)

    def _show_in_source(self, address: str) -> None:
        self._fold_source(is_folded=False)
        self._select(address)
        self.source.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot(QPoint)
    def _on_new_menu_wanted(self, at: QPoint) -> None:
        deeds = [
            Deed(
                icon=kind_icon(kind),
                token=kind_token(kind),
                words=kind.value.capitalize(),
                act=partial(self.ports.create, kind, "", None),
            )
            for kind in _NEW_KINDS
        ]
        open_menu(self._theme, deeds, at, self)

    @Slot()
    def _on_first_agent_wished(self) -> None:
        self.ports.create(Kind.AGENT, "", None)

    @Slot()
    def _on_thread_wished(self) -> None:
        self.new_thread_requested.emit(self._agent or "")

    @Slot(bool)
    def _fold_source(self, is_folded: bool) -> None:
        self.source.set_folded(is_folded)
        whole = max(600, self._middle.height())
        height = 33 if is_folded else self._theme.size("source_height")
        self._middle.setSizes([whole - height, height])


def _form_address(address: str) -> str | None:
    """A relationship has a form of its own; anything else shows its definition's."""
    if address.startswith("missing:"):
        return None
    head, is_relation, rest = address.partition(".subagents[")
    if is_relation and "]" in rest:
        return f"{head}.subagents[{rest.split(']', 1)[0]}]"
    return definition_of(address)
