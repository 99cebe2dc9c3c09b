"""The dialog of "+ New Thread": agent, title, tags, and the variables it still needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QDialog, QGridLayout, QLineEdit, QWidget

from sa_builder.spec.threads import AgentSummary, CreateThread
from sa_builder.ui.dialogs.sheet import Sheet
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.bars import NoticeBar
from sa_builder.ui.widgets.marks import TextLabel


@dataclass(slots=True)
class LastChoice:
    """What was chosen last, for the next thread of this window."""

    agent_name: str | None = None
    tags: tuple[str, ...] = field(default_factory=tuple)


def fitting_agent(agents: Sequence[AgentSummary], last: str | None) -> AgentSummary | None:
    """The agent a click starts without asking: the last one, else the first that can run.

    None when that agent lacks variables, or nothing can run: then the dialog has to ask.
    """
    chosen = next((one for one in agents if one.name == last), None)
    if chosen is None:
        runnable = [one for one in agents if one.primary and one.problem is None]
        chosen = runnable[0] if runnable else None
    if chosen is None or chosen.problem is not None or chosen.missing_variables:
        return None
    return chosen


class NewThreadDialog(Sheet):
    """Asks for what a new thread needs.

    Signals:
        create_wished: a spec.threads.CreateThread.
    """

    create_wished = Signal(object)

    def __init__(
        self,
        theme: Theme,
        agents: Sequence[AgentSummary],
        last: LastChoice,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, tr("New thread"), parent, width_px=480)
        self._agents = agents
        self._variables: dict[str, QLineEdit] = {}
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnMinimumWidth(0, theme.size("form_label"))
        self._grid.setColumnStretch(1, 1)
        self.agent = QComboBox(self)
        self.agent.setObjectName("agent")
        self.agent.setAccessibleName(tr("Agent"))
        for agent in agents:
            self.agent.addItem(theme.icon("agent", "kind.agent"), agent.name)
        names = [agent.name for agent in agents]
        if last.agent_name in names:
            self.agent.setCurrentIndex(names.index(last.agent_name))
        self.agent.currentIndexChanged.connect(self._on_agent_index_changed)
        self._add_row(0, tr("Agent"), self.agent)
        self._about = TextLabel(theme, "", "small", "text.muted", wrap=True, parent=self)
        self._grid.addWidget(self._about, 1, 1)
        self.title_field = self._field(tr("Title"), tr("from the first message"))
        self._add_row(2, tr("Title"), self.title_field)
        self.tags = self._field(tr("Tags"), tr("team:core, release"))
        self.tags.setText(", ".join(last.tags))
        self._add_row(3, tr("Tags"), self.tags)
        self.body.addLayout(self._grid)
        self._notice = NoticeBar(theme, "parked", "", parent=self)
        self.body.addWidget(self._notice)
        self._problem = NoticeBar(theme, "failed", "", parent=self)
        self.body.addWidget(self._problem)
        self._cancel = self.add_button(tr("Cancel"))
        self._cancel.clicked.connect(self.reject)
        self.create_button = self.add_button(tr("Create thread"), "primary")
        self.create_button.setObjectName("create")
        self.create_button.clicked.connect(self._on_create_clicked)
        self._show_agent()

    @property
    def variable_fields(self) -> Mapping[str, QLineEdit]:
        """The fields of what the chosen agent lacks, by name."""
        return self._variables

    def _field(self, name: str, placeholder: str) -> QLineEdit:
        field_ = QLineEdit(self)
        field_.setAccessibleName(name)
        field_.setPlaceholderText(placeholder)
        return field_

    def _add_row(self, row: int, label: str, widget: QWidget) -> None:
        word = TextLabel(self.theme, label, "label", "text.secondary", parent=self)
        word.setBuddy(widget)
        self._grid.addWidget(word, row, 0)
        self._grid.addWidget(widget, row, 1)

    def _chosen(self) -> AgentSummary | None:
        index = self.agent.currentIndex()
        return self._agents[index] if 0 <= index < len(self._agents) else None

    def _show_agent(self) -> None:
        for row in range(4, self._grid.rowCount()):
            for column in (0, 1):
                item = self._grid.itemAtPosition(row, column)
                widget = item.widget() if item is not None else None
                if widget is not None:
                    self._grid.removeWidget(widget)
                    widget.hide()
                    widget.deleteLater()
        self._variables.clear()
        agent = self._chosen()
        self._about.setText((agent.description or "") if agent else "")
        self._about.setVisible(bool(self._about.text()))
        problem = tr("This project has no agent.") if agent is None else agent.problem
        self._problem.setVisible(problem is not None)
        if problem is not None:
            self._problem.set_notice("failed", problem)
        self.create_button.setEnabled(problem is None)
        missing = agent.missing_variables if agent is not None else ()
        for number, variable in enumerate(missing):
            hint = variable.description or f"{tr('needed by')} {variable.needed_by}"
            value = self._field(variable.name, hint)
            value.setObjectName(f"variable_{variable.name}")
            value.setToolTip(f"{tr('Needed by')} {variable.needed_by}")
            if variable.type == "secret":
                value.setEchoMode(QLineEdit.EchoMode.Password)
            self._add_row(4 + number, variable.name, value)
            self._variables[variable.name] = value
        self._notice.setVisible(bool(missing))
        if missing:
            self._notice.set_notice(
                "parked",
                tr("Without these its tools say that they lack them; they stay in this thread."),
            )
        self.adjustSize()

    @Slot(int)
    def _on_agent_index_changed(self, index: int) -> None:
        self._show_agent()

    @Slot()
    def _on_create_clicked(self) -> None:
        agent = self._chosen()
        if agent is None:
            return
        tags = [tag.strip() for tag in self.tags.text().split(",")]
        env = {name: box.text() for name, box in self._variables.items() if box.text()}
        self.create_wished.emit(
            CreateThread(
                agent_name=agent.name,
                title=self.title_field.text().strip() or None,
                tags=[tag for tag in tags if tag],
                env=env,
            )
        )
        self.done(QDialog.DialogCode.Accepted)
