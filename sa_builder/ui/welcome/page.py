"""What one sees with nothing open: ways to begin, recent projects, the sample."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QRectF, Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from sa_builder.ui.settings import RecentProject
from sa_builder.ui.theme import Theme
from sa_builder.ui.top_bar import LogoMark
from sa_builder.ui.welcome.illustration import SamplePicture
from sa_builder.ui.welcome.rows import DropZone, RecentRow, StartRow
from sa_builder.ui.widgets.buttons import Button
from sa_builder.ui.widgets.marks import Chip, TextLabel
from sa_builder.ui.widgets.paint import paint_box

_ONE_COLUMN_BELOW_PX = 1120
_MOST_RECENT = 4
_DAY_US = 86_400_000_000


class _StepDisc(QWidget):
    """A number in a ring."""

    def __init__(self, theme: Theme, number: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._number = number
        self.setFixedSize(18, 18)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        rect = QRectF(self.rect())
        paint_box(painter, rect, 9, outline=self._theme.color("line.field"))
        painter.setFont(self._theme.font("caption", weight=600))
        painter.setPen(self._theme.color("text.secondary"))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, str(self._number))


class _Foot(QWidget):
    """The three acts, on the window's surface, at the foot of the sample's card."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        row = QHBoxLayout(self)
        row.setContentsMargins(24, 14, 16, 16)
        row.setSpacing(16)
        acts = (
            ("Drag to connect", "From side A or B to a card. The file gets just those characters."),
            ("+ New Thread", "A chat with the agent, its tools and its children."),
            ("Inspect", "Every request and answer, kept in the thread file."),
        )
        for number, (title, words) in enumerate(acts, start=1):
            column = QVBoxLayout()
            column.setSpacing(4)
            head = QHBoxLayout()
            head.setSpacing(7)
            head.addWidget(_StepDisc(theme, number, self))
            head.addWidget(TextLabel(theme, title, "strong", parent=self), 1)
            column.addLayout(head)
            column.addWidget(
                TextLabel(theme, words, "small", "text.secondary", wrap=True, parent=self)
            )
            column.addStretch(1)
            row.addLayout(column, 1)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._theme
        rect = QRectF(self.rect())
        radius = theme.size("radius.card")
        painter.setClipRect(rect)
        fill = theme.color("surface.window")
        paint_box(painter, rect.adjusted(1, -20, -1, -1), radius - 1, fill=fill)
        painter.fillRect(QRectF(0, 0, rect.width(), 1), theme.color("line.default"))


class SampleCard(QFrame):
    """The sample: its picture, what it does, two buttons, the three acts.

    Signals:
        open_wished, copy_wished: its two buttons.
    """

    open_wished = Signal()
    copy_wished = Signal()

    def __init__(self, theme: Theme, file_count: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(SamplePicture(theme, self))
        middle = QVBoxLayout()
        middle.setContentsMargins(24, 17, 24, 19)
        middle.setSpacing(6)
        head = QHBoxLayout()
        head.setSpacing(9)
        head.addWidget(TextLabel(theme, "Try the sample, offline", "heading", parent=self))
        head.addWidget(Chip(theme, "no key, no network", icon="flask", parent=self))
        head.addStretch(1)
        middle.addLayout(head)
        words = (
            "A person asks repo_assistant. It starts issue_triage, which reads and labels one "
            "GitHub issue. Model and web answers are recorded, so it runs right away."
        )
        middle.addWidget(TextLabel(theme, words, "body", "text.secondary", wrap=True, parent=self))
        middle.addSpacing(8)
        acts = QHBoxLayout()
        acts.setSpacing(8)
        self.open_button = Button(theme, "Open the sample", "primary", icon="play", parent=self)
        self.copy_button = Button(theme, "Copy it to a folder…", parent=self)
        self.open_button.clicked.connect(self.open_wished)
        self.copy_button.clicked.connect(self.copy_wished)
        acts.addWidget(self.open_button)
        acts.addWidget(self.copy_button)
        acts.addStretch(1)
        count = TextLabel(theme, f"{file_count} files", "small", "text.muted", parent=self)
        acts.addWidget(count)
        middle.addLayout(acts)
        whole.addLayout(middle)
        whole.addWidget(_Foot(theme, self))
        theme.changed.connect(self.update)

    def paintEvent(self, arg__1: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._theme
        radius = theme.size("radius.card")
        paint_box(
            painter,
            QRectF(self.rect()),
            radius,
            fill=theme.color("surface.panel"),
            outline=theme.color("line.default"),
        )
        painter.fillRect(QRectF(0, 302, self.width(), 1), theme.color("line.default"))


class WelcomePage(QScrollArea):
    """The first page.

    Signals:
        open_project_wished, new_project_wished, open_thread_wished: a row at the left.
        open_sample_wished, copy_sample_wished: the sample's buttons.
        path_chosen: a pathlib.Path, a recent project or something dropped.
    """

    open_project_wished = Signal()
    new_project_wished = Signal()
    open_thread_wished = Signal()
    open_sample_wished = Signal()
    copy_sample_wished = Signal()
    path_chosen = Signal(object)

    def __init__(
        self,
        theme: Theme,
        *,
        templates: Sequence[str],
        sample_files: int,
        keys: dict[str, tuple[str, ...]],
        parent: QWidget | None = None,
    ) -> None:
        """Lay it out.

        Args:
            templates: names for the second row's second line.
            keys: "open" and "new" → key caps.
        """
        super().__init__(parent)
        self._theme = theme
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        inner = QWidget()
        inner.setObjectName("panel")
        self.setWidget(inner)
        around = QVBoxLayout(inner)
        around.setContentsMargins(24, 32, 24, 32)
        around.addStretch(1)
        self._block = QWidget(inner)
        self._block.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        around.addWidget(self._block, 0, Qt.AlignmentFlag.AlignHCenter)
        around.addStretch(1)
        block = QVBoxLayout(self._block)
        block.setContentsMargins(0, 0, 0, 0)
        block.setSpacing(40)
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._columns.setSpacing(theme.size("space.7"))
        block.addLayout(self._columns)
        self._left = QWidget(self._block)
        self._fill_left(templates, keys)
        self.sample = SampleCard(theme, sample_files, self._block)
        self.sample.open_wished.connect(self.open_sample_wished)
        self.sample.copy_wished.connect(self.copy_sample_wished)
        self._columns.addWidget(self._left, 440, Qt.AlignmentFlag.AlignTop)
        self._columns.addWidget(self.sample, 564, Qt.AlignmentFlag.AlignTop)
        drop = DropZone(theme, self._block)
        drop.path_dropped.connect(self.path_chosen)
        block.addWidget(drop)
        self._fit()

    def show_recent(self, recent: Sequence[RecentProject]) -> None:
        """Show the projects that were open, latest first."""
        for row in self._recent_rows:
            self._recent.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._recent_rows.clear()
        for project in recent[:_MOST_RECENT]:
            row = RecentRow(
                self._theme,
                Path(project.path),
                _content(project),
                when_in_words(project.opened_at_us, time.time_ns() // 1000),
                parent=self._left,
            )
            row.clicked.connect(self._on_recent_clicked)
            self._recent.addWidget(row)
            self._recent_rows.append(row)
        self._recent_title.setVisible(bool(recent))
        self._recent_count.setVisible(bool(recent))
        self._recent_count.setText(str(len(recent)))

    def resizeEvent(self, arg__1: QResizeEvent) -> None:
        super().resizeEvent(arg__1)
        self._fit()

    def _fit(self) -> None:
        wide = self.width() >= _ONE_COLUMN_BELOW_PX
        whole = self._theme.size("welcome_width")
        direction = QBoxLayout.Direction
        self._columns.setDirection(direction.LeftToRight if wide else direction.TopToBottom)
        self._left.setFixedWidth(440 if wide else min(564, max(320, self.width() - 64)))
        self.sample.setFixedWidth(564 if wide else min(564, max(480, self.width() - 64)))
        self._block.setFixedWidth(whole if wide else max(480, min(564, self.width() - 64)))

    def _fill_left(self, templates: Sequence[str], keys: dict[str, tuple[str, ...]]) -> None:
        theme = self._theme
        column = QVBoxLayout(self._left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = QHBoxLayout()
        head.setSpacing(14)
        head.addWidget(LogoMark(theme, 36, self._left))
        head.addWidget(TextLabel(theme, "Standard Agents Builder", "title", parent=self._left))
        head.addStretch(1)
        column.addLayout(head)
        column.addSpacing(8)
        words = (
            "Agents are Python files in a folder. Compose them here, run them here, and read "
            "what happened, also offline."
        )
        about = TextLabel(theme, words, "body", "text.secondary", wrap=True, parent=self._left)
        about.setMaximumWidth(380)
        column.addWidget(about)
        column.addSpacing(28)
        rows = (
            (
                "folder",
                "Open a project folder",
                "any folder that has agents/ in it",
                keys.get("open", ()),
                self.open_project_wished,
            ),
            (
                "plus",
                "New project from a template",
                ", ".join(templates),
                keys.get("new", ()),
                self.new_project_wished,
            ),
            (
                "waterfall",
                "Open a thread file",
                "thread.db, read-only",
                (),
                self.open_thread_wished,
            ),
        )
        for icon, title, sub, caps, wish in rows:
            row = StartRow(theme, icon, title, sub, caps, parent=self._left)
            row.clicked.connect(wish)
            column.addWidget(row)
        column.addSpacing(30)
        recent_head = QHBoxLayout()
        self._recent_title = TextLabel(theme, "Recent projects", "strong", parent=self._left)
        self._recent_count = TextLabel(theme, "", "small", "text.muted", parent=self._left)
        recent_head.addWidget(self._recent_title)
        recent_head.addStretch(1)
        recent_head.addWidget(self._recent_count)
        column.addLayout(recent_head)
        column.addSpacing(4)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(0)
        self._recent_rows: list[RecentRow] = []
        column.addLayout(self._recent)

    @Slot()
    def _on_recent_clicked(self) -> None:
        row = self.sender()
        if isinstance(row, RecentRow):
            self.path_chosen.emit(row.path)


def _content(project: RecentProject) -> str:
    agents = f"{project.agents:,} agent{'' if project.agents == 1 else 's'}"
    if not project.threads:
        return agents
    return f"{agents}, {project.threads:,} thread{'' if project.threads == 1 else 's'}"


def when_in_words(at_us: int, now_us: int) -> str:
    """A time as a person says it: "now", "10 min ago", "yesterday", "12 Nov"."""
    ago_s = max(0, now_us - at_us) // 1_000_000
    if ago_s < 60:
        return "now"
    if ago_s < 3600:
        return f"{ago_s // 60} min ago"
    then, today = time.localtime(at_us / 1e6), time.localtime(now_us / 1e6)
    if then[:3] == today[:3]:
        return f"{ago_s // 3600} h ago"
    if time.localtime((now_us - _DAY_US) / 1e6)[:3] == then[:3]:
        return "yesterday"
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    day = f"{then.tm_mday} {months[then.tm_mon - 1]}"
    return day if then.tm_year == today.tm_year else f"{day} {then.tm_year}"
