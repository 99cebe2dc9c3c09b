"""The kit on one sheet: `python -m sa_builder.ui.kit light kit.png`, to hold beside the look."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from sa_builder.ui import kit_canvas
from sa_builder.ui.theme import Preference, Theme
from sa_builder.ui.widgets.bars import EmptyState, NoticeBar, SearchField, SectionHeader
from sa_builder.ui.widgets.buttons import Button, IconButton, Segments, Toggle
from sa_builder.ui.widgets.marks import (
    Chip,
    ElidedLabel,
    Glyph,
    KeyCap,
    Pill,
    Separator,
    SideDisc,
    TextLabel,
    Tile,
)
from sa_builder.ui.widgets.states import StateName
from sa_builder.util.resources import resources_root

_KINDS = ("agent", "prompt", "handler", "human", "model", "tool", "subagent", "hook", "policy")
_STATES: tuple[StateName, ...] = ("running", "waiting", "done", "failed", "parked")
_STYLES = ("title", "heading", "strong", "body", "label", "small", "caption", "code")


class KitSheet(QWidget):
    """Every widget of the kit, labelled, in columns."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("panel")
        row = QHBoxLayout(self)
        row.setContentsMargins(24, 24, 24, 24)
        row.setSpacing(32)
        columns = (self._fill_canvas, self._fill_controls, self._fill_marks, self._fill_bars)
        for fill in columns:
            column = QVBoxLayout()
            column.setSpacing(10)
            fill(column)
            column.addStretch(1)
            row.addLayout(column, 1)

    def _title(self, column: QVBoxLayout, text: str) -> None:
        column.addSpacing(6)
        column.addWidget(TextLabel(self._theme, text, "label", "text.secondary"))

    def _row(self, column: QVBoxLayout, widgets: Sequence[QWidget], spacing_px: int = 8) -> None:
        row = QHBoxLayout()
        row.setSpacing(spacing_px)
        for widget in widgets:
            row.addWidget(widget)
        row.addStretch(1)
        column.addLayout(row)

    def _fill_canvas(self, column: QVBoxLayout) -> None:
        theme = self._theme
        self._title(column, "Kinds: tile, glyph and outline say it, colour repeats it")
        column.addWidget(kit_canvas.kinds(theme))
        self._title(column, "Card states")
        column.addWidget(kit_canvas.states(theme))
        self._title(column, "Levels of detail")
        self._row(column, [kit_canvas.detail(theme, scale) for scale in (1.0, 0.5)])
        self._title(column, "Traces")
        column.addWidget(kit_canvas.edges(theme))

    def _fill_controls(self, column: QVBoxLayout) -> None:
        theme = self._theme
        self._title(column, "Controls")
        self.focus_button = Button(theme, "Focus")
        disabled = Button(theme, "Disabled")
        disabled.setEnabled(False)
        self._row(
            column,
            (
                Button(theme, "Primary", "primary"),
                Button(theme, "Secondary"),
                self.focus_button,
                Button(theme, "Quiet", "quiet"),
            ),
        )
        follow = IconButton(theme, "follow", "Follow", checkable=True)
        follow.setChecked(True)
        badge = IconButton(theme, "approvals", "Approvals", size_px=40, icon_px=20)
        badge.set_badge(2)
        self._row(
            column,
            (
                Button(theme, "Deny…", "danger"),
                disabled,
                Button(theme, "Small 24", small=True),
                follow,
                IconButton(theme, "filter", "Filter"),
                IconButton(theme, "more", "More"),
                badge,
            ),
        )
        self._row(column, (Button(theme, "New Thread", "primary", icon="plus"),))
        self._fill_fields(column)
        on = Toggle(theme, "parent waits")
        on.setChecked(True)
        ticked = QCheckBox()
        ticked.setChecked(True)
        segments = Segments(theme, (("implicit", "implicit"), ("explicit", "explicit")))
        self._row(column, (on, Toggle(theme), ticked, QCheckBox(), segments))
        progress = QProgressBar()
        progress.setTextVisible(False)
        progress.setValue(62)
        column.addWidget(progress)

    def _fill_fields(self, column: QVBoxLayout) -> None:
        theme = self._theme
        grid = QGridLayout()
        grid.setVerticalSpacing(6)
        grid.setColumnMinimumWidth(0, theme.size("form_label"))
        choice = QComboBox()
        choice.addItems(["conversational", "fast"])
        default = QLineEdit()
        default.setPlaceholderText("no cap")
        wrong = QLineEdit("0")
        wrong.setProperty("state", "error")
        computed = QLineEdit('os.environ["MODEL"]')
        computed.setReadOnly(True)
        computed.setFont(theme.font("code"))
        fields = (
            ("In the file", choice),
            ("Default", default),
            ("Wrong", wrong),
            ("Computed", computed),
        )
        for number, (word, field) in enumerate(fields):
            grid.addWidget(TextLabel(theme, word, "label", "text.secondary"), number, 0)
            grid.addWidget(field, number, 1)
        column.addLayout(grid)
        column.addWidget(SearchField(theme, "Search messages, tags, ids"))

    def _fill_marks(self, column: QVBoxLayout) -> None:
        theme = self._theme
        self._title(column, "Kind hues")
        tiles: list[QWidget] = [Tile(theme, kind) for kind in _KINDS]
        self._row(column, [*tiles, SideDisc(theme, "a"), SideDisc(theme, "b")])
        self._title(column, "States")
        self._row(column, [Pill(theme, state) for state in _STATES])
        self._title(column, "Chips and keys")
        chosen = Chip(theme, "All", checkable=True)
        chosen.setChecked(True)
        self._row(
            column,
            (
                Chip(theme, "kind:model", removable=True),
                chosen,
                Chip(theme, "Parked 2", checkable=True),
                KeyCap(theme, "Ctrl"),
                KeyCap(theme, "K"),
            ),
        )
        self._title(column, "Icons, 16 grid, 1.5 px")
        grid = QGridLayout()
        grid.setSpacing(12)
        names = sorted(one.stem for one in (resources_root() / "icons").glob("*.svg"))
        for number, name in enumerate(names):
            token = "text.secondary" if not name.startswith("state_") else name.replace("_", ".")
            grid.addWidget(Glyph(theme, name, token), number // 12, number % 12)
        column.addLayout(grid)
        self._title(column, "Type")
        for style in _STYLES:
            line = QHBoxLayout()
            line.addWidget(TextLabel(theme, f"{style} 00 1lI", style))
            line.addStretch(1)
            size = f"{theme.font(style).pixelSize()} / {theme.line_height(style)}"
            line.addWidget(TextLabel(theme, size, "small", "text.muted"))
            column.addLayout(line)

    def _fill_bars(self, column: QVBoxLayout) -> None:
        theme = self._theme
        self._title(column, "Bars and empty states")
        acts = (("reload", "Reload"), ("keep", "Keep mine"), ("diff", "Diff"))
        column.addWidget(NoticeBar(theme, "parked", "Changed on disk", acts))
        column.addWidget(
            NoticeBar(
                theme, "failed", "openrouter refused the key (401).", (("key", "Set the key…"),)
            )
        )
        column.addWidget(
            EmptyState(
                theme, "threads", "No threads yet", "A thread is a running agent.", "New Thread"
            )
        )
        self._title(column, "Headers")
        column.addWidget(SectionHeader(theme, "Relationship", folds=True))
        column.addWidget(Separator(theme))
        column.addWidget(SectionHeader(theme, "All definitions", count=12))
        label = ElidedLabel(theme, "agents/agents/a_name_that_has_no_room.py", "code")
        label.setFixedWidth(180)
        column.addWidget(label)
        self._title(column, "Menu")
        menu = QMenu()
        for icon, text, keys in (
            ("subagent", "Connect…", "C"),
            ("code", "Show in source", "Ctrl+E"),
            ("edit", "Rename everywhere…", "F2"),
        ):
            action = menu.addAction(theme.icon(icon), text)
            action.setShortcut(keys)
        menu.addSeparator()
        menu.addAction(theme.icon("trash", "state.failed_text"), "Delete…").setShortcut("Del")
        menu.setWindowFlags(Qt.WindowType.Widget)
        column.addWidget(menu)
        menu.show()


def main(arguments: Sequence[str]) -> int:
    """Save the sheet as a picture: scheme, file."""
    app = QApplication(["kit"])
    theme = Theme(_preference(arguments[0]))
    theme.apply(app)
    sheet = KitSheet(theme)
    sheet.resize(1960, 1090)
    sheet.show()
    sheet.activateWindow()
    app.processEvents()
    sheet.focus_button.setFocus(Qt.FocusReason.TabFocusReason)
    app.processEvents()
    return 0 if sheet.grab().save(arguments[1]) else 1


def _preference(word: str) -> Preference:
    return "dark" if word == "dark" else "light"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
