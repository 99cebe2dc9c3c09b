"""The Inspector tab: what a thread is, its children, what it used."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from sa_builder.spec.threads import ThreadDetails, ThreadSummary
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads import words
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.bars import SectionHeader
from sa_builder.ui.widgets.buttons import Button
from sa_builder.ui.widgets.marks import ElidedLabel, Glyph, Pill, TextLabel


class Inspector(QScrollArea):
    """Figures and links of the open thread.

    Signals:
        thread_wished: a child's or the parent's ThreadId.
        definition_wished: an address.
    """

    thread_wished = Signal(str)
    definition_wished = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._details: ThreadDetails | None = None
        self._children: Sequence[ThreadSummary] = ()
        self._show()

    def show_thread(self, details: ThreadDetails, children: Sequence[ThreadSummary]) -> None:
        """Show a thread and its children's latest states."""
        if self._details == details and list(self._children) == list(children):
            return
        self._details, self._children = details, children
        self._show()

    def _show(self) -> None:
        body = QWidget(self)
        body.setObjectName("panel")
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 4, 0, 16)
        column.setSpacing(0)
        if self._details is not None:
            self._add_settings(column, body, self._details)
            self._add_usage(column, body, self._details.summary)
            self._add_children(column, body)
        column.addStretch(1)
        self.setWidget(body)

    def _add_settings(self, column: QVBoxLayout, body: QWidget, details: ThreadDetails) -> None:
        summary = details.summary
        column.addWidget(SectionHeader(self._theme, tr("Thread"), parent=body))
        rows = [
            (tr("Title"), summary.title),
            (tr("Agent"), summary.agent_name),
            (tr("Side A"), details.side_a),
            (tr("Side B"), details.side_b),
            (tr("Tags"), ", ".join(summary.tags)),
            (tr("State"), _state_words(summary)),
            (tr("Created"), words.date_time(summary.created_at_us)),
            (tr("Last activity"), words.date_time(summary.updated_at_us)),
            (tr("Id"), summary.id),
        ]
        if summary.origin_agent_name != summary.agent_name:
            rows.insert(2, (tr("Began as"), summary.origin_agent_name))
        if summary.test_mode:
            rows.append((tr("Test mode"), tr("answers came from recorded mocks")))
        column.addLayout(self._grid(rows, body))
        links = QHBoxLayout()
        links.setContentsMargins(12, 8, 12, 4)
        links.setSpacing(8)
        agent = Button(self._theme, tr("Show agent"), icon="agent", small=True, parent=body)
        agent.clicked.connect(self._on_agent_clicked)
        links.addWidget(agent)
        if summary.parent_id is not None:
            parent = Button(
                self._theme, tr("Open parent"), icon="external", small=True, parent=body
            )
            parent.clicked.connect(self._on_parent_clicked)
            links.addWidget(parent)
        links.addStretch(1)
        column.addLayout(links)

    def _add_usage(self, column: QVBoxLayout, body: QWidget, summary: ThreadSummary) -> None:
        column.addWidget(SectionHeader(self._theme, tr("Usage"), parent=body))
        rows = [
            (tr("Messages"), f"{summary.message_count:,}"),
            (tr("Tokens"), f"{summary.total_tokens:,}"),
            (tr("Cost"), words.cost(summary.cost) or tr("nothing priced")),
        ]
        tokens = sum(child.total_tokens for child in self._children)
        if tokens:
            rows.append((tr("Children's tokens"), f"{tokens:,}"))
        column.addLayout(self._grid(rows, body))

    def _add_children(self, column: QVBoxLayout, body: QWidget) -> None:
        header = SectionHeader(self._theme, tr("Children"), count=len(self._children), parent=body)
        column.addWidget(header)
        if not self._children:
            none = TextLabel(
                self._theme, tr("This thread has no children."), "small", "text.muted", parent=body
            )
            none.setContentsMargins(12, 0, 12, 0)
            column.addWidget(none)
        for child in self._children:
            column.addWidget(_ChildRow(self._theme, child, self, body))

    def _grid(self, rows: Sequence[tuple[str, str]], body: QWidget) -> QGridLayout:
        grid = QGridLayout()
        grid.setContentsMargins(12, 0, 12, 4)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnMinimumWidth(0, 108)
        grid.setColumnStretch(1, 1)
        shown = [(name, value) for name, value in rows if value]
        for number, (name, value) in enumerate(shown):
            label = TextLabel(self._theme, name, "small", "text.muted", parent=body)
            text = QLabel(value, body)
            text.setFont(self._theme.font("small"))
            text.setTextFormat(Qt.TextFormat.PlainText)
            text.setWordWrap(True)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(label, number, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(text, number, 1)
        return grid

    @Slot()
    def _on_agent_clicked(self) -> None:
        if self._details is not None:
            self.definition_wished.emit(f"agents/{self._details.summary.agent_name}")

    @Slot()
    def _on_parent_clicked(self) -> None:
        if self._details is not None and self._details.summary.parent_id is not None:
            self.thread_wished.emit(self._details.summary.parent_id)


class _ChildRow(QWidget):
    """A child: glyph, name, agent, state, and a way to it."""

    def __init__(
        self, theme: Theme, child: ThreadSummary, inspector: Inspector, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._child = child
        self._inspector = inspector
        self.setFixedHeight(34)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 12, 0)
        row.setSpacing(8)
        row.addWidget(Glyph(theme, "subagent", "kind.subagent", parent=self))
        name = child.instance_name or child.title
        row.addWidget(ElidedLabel(theme, f"{name} · {child.agent_name}", "small", parent=self), 1)
        state = words.state_of_thread(child)
        row.addWidget(Pill(theme, state, words.thread_state_word(child), parent=self))
        link = Button(theme, tr("Open"), small=True, parent=self)
        link.clicked.connect(self._on_link_clicked)
        row.addWidget(link)

    @Slot()
    def _on_link_clicked(self) -> None:
        self._inspector.thread_wished.emit(self._child.id)


def _state_words(summary: ThreadSummary) -> str:
    word = words.thread_state_word(summary)
    reason = summary.state_reason
    return f"{word}: {reason}" if reason and reason != word else word
