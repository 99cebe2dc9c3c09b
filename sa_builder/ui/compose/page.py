"""Compose: the graph, its outline, the form and the source of what is selected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from PySide6.QtCore import QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QSplitter, QVBoxLayout, QWidget

from sa_builder.errors import EditRefused, KnownError
from sa_builder.project.canvas_file import read_positions, write_positions
from sa_builder.project.project import Project
from sa_builder.project.shapes import Edit, Fix, Graph, Span
from sa_builder.spec.kinds import FOLDER_OF, Kind
from sa_builder.ui.actions import ActionRegistry
from sa_builder.ui.canvas.view import Canvas
from sa_builder.ui.compose.form_panel import FormPanel
from sa_builder.ui.compose.outline_panel import OutlinePanel
from sa_builder.ui.compose.problems_panel import ProblemsPanel
from sa_builder.ui.compose.source_panel import SourcePanel
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.buttons import Button, IconButton, Segments
from sa_builder.ui.widgets.marks import TextLabel

_CONNECTS: dict[str, Sequence[Kind]] = {
    "side": (Kind.PROMPT, Kind.HANDLER, Kind.AGENT),
    "prompts": (Kind.MODEL, Kind.TOOL),
    "models": (Kind.MODEL,),
}


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
        self._make_toolbar()
        self.canvas = Canvas(theme, self._project.targets)
        self.outline = OutlinePanel(project, theme)
        self.outline.setObjectName("panel_left")
        self.inspector = FormPanel(project, theme)
        self.inspector.setObjectName("panel_right")
        self.source = SourcePanel(project, theme)
        self.source.setObjectName("panel_bottom")
        self.problems = ProblemsPanel(theme)
        self._lay_out()
        self._connect_parts()
        agents = self._agent_names()
        first = "repo_assistant" if "repo_assistant" in agents else agents[0] if agents else None
        self.show_agent(first)
        QTimer.singleShot(0, self.canvas, self._show_start)

    # the page's face to the window

    @property
    def problem_counts(self) -> tuple[int, int, int]:
        """Errors, warnings and hints."""
        found = [problem.severity for problem in self._project.problems()]
        return found.count("error"), found.count("warning"), found.count("hint")

    def refresh(self) -> None:
        """Show what the files say now, keeping view and selection."""
        if self._agent is not None and self._agent not in self._agent_names():
            self._agent = None
        self._graph = self._project.graph(self._agent)
        self.canvas.show_graph(self._graph, read_positions(self._project.root))
        self.outline.show_graph(self._graph, self._agent)
        self.problems.show_problems(self._project.problems())
        self.inspector.refresh()
        self.source.refresh()
        self._tell_tools()
        if self._address:
            self._show_source(self._address)

    def show_agent(self, name: str | None) -> None:
        """Show one agent's composition, or with None the whole project."""
        self._agent = name
        self._scope.set_value("Composition" if name else "Whole project")
        self._name.setText(name or self._project.root.name)
        self.refresh()
        self.canvas.fit()
        if name:
            self.select_address(f"agents/{name}")

    def select_address(self, address: str) -> None:
        """Select a definition or property everywhere."""
        owner = address.split(".", 1)[0]
        shown = {node.address for node in self._graph.nodes}
        if owner not in shown and self._agent is not None:
            is_agent = owner.startswith("agents/")
            self._agent = owner.removeprefix("agents/") if is_agent else None
            self._scope.set_value("Composition" if is_agent else "Whole project")
            self._name.setText(self._agent or self._project.root.name)
            self.refresh()
            self.canvas.fit()
        self._select(address)

    def undo(self) -> None:
        """Take back the last edit of files."""
        self._again(self._project.undo, self.tr("Nothing to undo."))

    def redo(self) -> None:
        """Make again what was taken back."""
        self._again(self._project.redo, self.tr("Nothing to redo."))

    # making

    def _make_toolbar(self) -> None:
        self._bar = QWidget(self)
        self._bar.setObjectName("page_toolbar")
        self._bar.setFixedHeight(self._theme.size("toolbar"))
        row = QHBoxLayout(self._bar)
        row.setContentsMargins(8, 0, 8, 0)
        row.setSpacing(4)
        self._undo = IconButton(self._theme, "undo", self.tr("Undo"))
        self._redo = IconButton(self._theme, "redo", self.tr("Redo"))
        self._undo.clicked.connect(self.undo)
        self._redo.clicked.connect(self.redo)
        self._name = TextLabel(self._theme, "", style="strong")
        self._pick = IconButton(self._theme, "chevron_down", self.tr("Choose an agent"))
        self._pick.clicked.connect(self._on_pick_clicked)
        self._scope = Segments(
            self._theme,
            [("Composition", self.tr("Composition")), ("Whole project", self.tr("Whole project"))],
            name=self.tr("What the canvas shows"),
        )
        self._scope.value_chosen.connect(self._on_scope_changed)
        fit = IconButton(self._theme, "fit", self.tr("Fit all (1)"))
        fit.clicked.connect(self._on_fit_clicked)
        tidy = IconButton(self._theme, "layout", self.tr("Lay out anew"))
        tidy.clicked.connect(self._on_tidy_clicked)
        new = Button(self._theme, self.tr("New definition"), role="quiet")
        new.clicked.connect(self._on_new_clicked)
        self._new = new
        thread = Button(self._theme, self.tr("New Thread"), role="primary", icon="plus")
        thread.clicked.connect(self._on_thread_clicked)
        for widget in (self._undo, self._redo):
            row.addWidget(widget)
        row.addSpacing(8)
        row.addWidget(self._name)
        row.addWidget(self._pick)
        row.addSpacing(8)
        row.addWidget(self._scope)
        row.addStretch(1)
        for widget in (fit, tidy, new, thread):
            row.addWidget(widget)

    def _lay_out(self) -> None:
        middle = QSplitter(Qt.Orientation.Vertical)
        middle.setObjectName("compose_middle")
        middle.setHandleWidth(1)
        middle.addWidget(self.canvas)
        middle.addWidget(self.source)
        middle.setStretchFactor(0, 1)
        middle.setSizes([600, self._theme.size("source_height")])
        column = QWidget()
        below = QVBoxLayout(column)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(0)
        below.addWidget(middle, 1)
        below.addWidget(self.problems)
        across = QSplitter(Qt.Orientation.Horizontal)
        across.setObjectName("compose_across")
        across.setHandleWidth(1)
        across.addWidget(self.outline)
        across.addWidget(column)
        across.addWidget(self.inspector)
        across.setStretchFactor(1, 1)
        across.setSizes(
            [self._theme.size("outline_width"), 900, self._theme.size("inspector_width")]
        )
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self._bar)
        whole.addWidget(across, 1)
        self._banner = QLabel(self.canvas)
        self._banner.setObjectName("drag_banner")
        self._banner.setFont(self._theme.font("small"))
        self._banner.setAutoFillBackground(True)
        self._banner.setMargin(6)
        self._banner.hide()

    def _connect_parts(self) -> None:
        canvas = self.canvas
        canvas.address_chosen.connect(self._on_address_chosen)
        canvas.opened.connect(self._on_opened)
        canvas.drag_began.connect(self._on_drag_began)
        canvas.drag_ended.connect(self._on_drag_ended)
        canvas.aimed.connect(self._on_aimed)
        canvas.dropped.connect(self._on_dropped)
        canvas.dropped_on_empty.connect(self._on_dropped_on_empty)
        canvas.disconnect_wished.connect(self._on_disconnect_wished)
        canvas.connect_wished.connect(self._on_connect_wished)
        canvas.moved.connect(self._on_cards_moved)
        self.outline.address_chosen.connect(self._on_address_chosen)
        self.source.address_chosen.connect(self._on_address_chosen)
        self.source.save_wanted.connect(self._on_save_wanted)
        self.problems.address_chosen.connect(self._on_address_chosen)
        self.problems.fix_wanted.connect(self._on_fix_wanted)
        self.inspector.edit_wanted.connect(self._on_edit_wanted)
        self.inspector.address_chosen.connect(self._on_address_chosen)

    # selecting

    @Slot(str)
    def _on_address_chosen(self, address: str) -> None:
        if address and not self._is_selecting:
            self._select(address)

    def _select(self, address: str) -> None:
        self._is_selecting = True
        try:
            self._address = address
            self.canvas.select(address)
            self.outline.select(address)
            self.inspector.show_address(self._form_address(address))
            self._show_source(address)
        finally:
            self._is_selecting = False
        self.selection_changed.emit(address)

    def _form_address(self, address: str) -> str | None:
        """A relationship has a form of its own; anything else shows its definition's."""
        if address.startswith("missing:"):
            return None
        return address if ".subagents[" in address else address.split(".", 1)[0].split("#")[0]

    def _show_source(self, address: str) -> None:
        span = self._span(address)
        if span is not None:
            self.source.show_place(span.path, span)

    def _span(self, address: str) -> Span | None:
        plain = address.split("#", 1)[0]
        for wanted in (plain, plain.split(".", 1)[0]):
            try:
                return self._project.span(wanted)
            except KnownError:
                continue
        return None

    @Slot(str)
    def _on_opened(self, address: str) -> None:
        if address.startswith("agents/") and "." not in address:
            self.show_agent(address.removeprefix("agents/"))

    # connecting

    @Slot(str)
    def _on_drag_began(self, source: str) -> None:
        owner, _, port = source.partition(".")
        name = owner.split("/", 1)[1]
        if port:
            what = self.tr("takes a prompt, a handler, a human or an exposed agent")
            who = f"{name}, {port.replace('_', ' ').replace(' a', ' A').replace(' b', ' B')}"
        else:
            takes_models = owner.startswith("models/")
            what = self.tr("takes a fallback model" if takes_models else "takes a model or a tool")
            who = name
        self._banner.setText(
            self.tr("{0} {1}   ·   empty space: search and create   ·   Esc cancels").format(
                who, what
            )
        )
        self._banner.adjustSize()
        self._banner.move((self.canvas.width() - self._banner.width()) // 2, 10)
        self._banner.show()

    @Slot()
    def _on_drag_ended(self) -> None:
        self._banner.hide()
        self.source.preview(None)

    @Slot(str, str)
    def _on_aimed(self, source: str, target: str) -> None:
        if not target:
            self.source.preview(None)
            return
        try:
            self.source.preview(self._project.plan_connect(source, target))
        except KnownError as error:
            self.status_said.emit(error.text())

    @Slot(str, str)
    def _on_dropped(self, source: str, target: str) -> None:
        self._connect(source, target)

    def _connect(self, source: str, target: str) -> None:
        self._make(lambda: self._project.connect(source, target))

    @Slot(str, QPoint)
    def _on_dropped_on_empty(self, source: str, at: QPoint) -> None:
        self._offer_targets(source, at)

    @Slot(str)
    def _on_connect_wished(self, address: str) -> None:
        source = f"{address}.side_a" if _is_agent(address) else address.split("#", 1)[0]
        at = self.canvas.viewport().mapToGlobal(self.canvas.viewport().rect().center())
        self._offer_targets(source, at)

    def _offer_targets(self, source: str, at: QPoint) -> None:
        """A list of what fits, existing and new; letters jump to an entry."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        folder = source.split("/", 1)[0]
        kinds = _CONNECTS["side"] if ".side_" in source else _CONNECTS.get(folder, ())
        for one in self._project.definitions():
            if one.kind in kinds and one.address != source.split(".", 1)[0]:
                self._add_entry(menu, one.kind, one.name, self._connector(source, one.address))
        if ".side_" in source:
            self._add_entry(menu, "human", self.tr("human"), self._connector(source, "human"))
        menu.addSeparator()
        for kind in kinds:
            words = self.tr("New {0}").format(kind.value)
            self._add_entry(menu, kind, words, self._creator(kind, source))
        menu.popup(at)

    def _connector(self, source: str, target: str) -> Callable[[], None]:
        return lambda: self._connect(source, target)

    def _creator(self, kind: Kind, source: str | None) -> Callable[[], None]:
        return lambda: self._create(kind, source)

    def _add_entry(self, menu: QMenu, kind: str, words: str, act: Callable[[], None]) -> None:
        entry = QAction(self._theme.icon(str(kind), f"kind.{kind}"), words, menu)
        entry.triggered.connect(act)
        menu.addAction(entry)

    def _create(self, kind: Kind, source: str | None) -> None:
        known = {one.address for one in self._project.definitions()}
        number = 1
        while f"{FOLDER_OF[kind]}/new_{kind.value}_{number}" in known:
            number += 1
        name = f"new_{kind.value}_{number}"

        def make() -> Edit:
            made = self._project.apply(self._project.plan_new(kind, name))
            if source is None:
                return made
            return self._project.connect(source, f"{FOLDER_OF[kind]}/{name}")

        if self._make(make):
            self.select_address(f"{FOLDER_OF[kind]}/{name}")

    @Slot(str)
    def _on_disconnect_wished(self, edge_id: str) -> None:
        edge = next((e for e in self._graph.edges if e.id == edge_id), None)
        if edge is not None:
            self._make(lambda: self._project.disconnect(edge.source, edge.target))

    @Slot(object)
    def _on_cards_moved(self, moved: object) -> None:
        places = read_positions(self._project.root)
        places.update(cast("dict[str, tuple[float, float]]", moved))
        try:
            write_positions(self._project.root, places)
        except (KnownError, OSError) as error:
            self.status_said.emit(str(error))

    # editing

    @Slot(str, object)
    def _on_edit_wanted(self, title: str, make: object) -> None:
        self._make(cast("Callable[[], Edit]", make))

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
        except EditRefused as error:
            self.status_said.emit(error.text())
            self.inspector.refresh()
            return False
        except KnownError as error:
            self.status_said.emit(error.text())
            return False
        self.refresh()
        self.edited.emit(edit)
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

    def _tell_tools(self) -> None:
        self._undo.setEnabled(self._project.undo_title is not None)
        self._redo.setEnabled(self._project.redo_title is not None)

    @Slot()
    def _on_pick_clicked(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in self._agent_names():
            entry = menu.addAction(self._theme.icon("agent", "kind.agent"), name)
            entry.triggered.connect(self._shower(name))
        menu.popup(self._pick.mapToGlobal(QPoint(0, self._pick.height())))

    def _shower(self, name: str) -> Callable[[], None]:
        return lambda: self.show_agent(name)

    @Slot(str)
    def _on_scope_changed(self, value: str) -> None:
        if value == "Whole project":
            self.show_agent(None)
        elif self._agent is None:
            agents = self._agent_names()
            owner = self._address.split(".", 1)[0].removeprefix("agents/")
            self.show_agent(owner if owner in agents else agents[0] if agents else None)

    @Slot()
    def _on_fit_clicked(self) -> None:
        self.canvas.fit()

    @Slot()
    def _on_tidy_clicked(self) -> None:
        shown = {node.id for node in self._graph.nodes}
        kept = {k: v for k, v in read_positions(self._project.root).items() if k not in shown}
        write_positions(self._project.root, kept)
        self.refresh()
        self.canvas.fit()

    @Slot()
    def _on_new_clicked(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for kind in (Kind.AGENT, Kind.PROMPT, Kind.MODEL, Kind.TOOL, Kind.HANDLER):
            self._add_entry(menu, kind, kind.value.capitalize(), self._creator(kind, None))
        menu.popup(self._new.mapToGlobal(QPoint(0, self._new.height())))

    @Slot()
    def _on_thread_clicked(self) -> None:
        self.new_thread_requested.emit(self._agent or "")

    def _show_start(self) -> None:
        self.canvas.fit()


def _is_agent(address: str) -> bool:
    return address.startswith("agents/") and "." not in address
