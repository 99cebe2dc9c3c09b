"""The problems strip: counts, the worst problem with its fixes, and a list behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sa_builder.project.shapes import Fix, Problem
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.buttons import Button, IconButton
from sa_builder.ui.widgets.marks import ElidedLabel, Glyph, Separator, TextLabel

_ICONS = {"error": "error", "warning": "warning", "hint": "info"}
_ORDER = ("error", "warning", "hint")
_MOST_LISTED = 500
_LIST_PX = 168


class ProblemsPanel(QWidget):
    """One row that opens into a list; nothing wrong is said in words too.

    Signals:
        problem_chosen: Problem; its place is to be shown.
        fix_wanted: Fix; a repair is to be made.
    """

    problem_chosen = Signal(object)
    fix_wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._problems: Sequence[Problem] = ()
        self._acts: list[QWidget] = []
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setObjectName("problems_strip")
        strip = QWidget(self)
        strip.setFixedHeight(theme.size("problems_strip"))
        self._row = QHBoxLayout(strip)
        self._row.setContentsMargins(12, 0, 8, 0)
        self._row.setSpacing(8)
        self._row.addWidget(TextLabel(theme, self.tr("Problems"), "label", parent=strip))
        self._counts: dict[str, tuple[Glyph, TextLabel]] = {}
        for severity in _ORDER:
            glyph = Glyph(theme, _ICONS[severity], f"severity.{severity}", size_px=14, parent=strip)
            count = TextLabel(theme, "", "label", "text.secondary", parent=strip)
            self._counts[severity] = (glyph, count)
            self._row.addWidget(glyph)
            self._row.addWidget(count)
        self._fine = Glyph(theme, "check", "state.done", size_px=14, parent=strip)
        self._row.addWidget(self._fine)
        self._code = TextLabel(theme, "", "code_small", "text.muted", parent=strip)
        self._words = ElidedLabel(theme, "", "small", parent=strip)
        self._place = Button(theme, "", "quiet", small=True, parent=strip)
        self._place.setFont(theme.font("code_small"))
        self._place.clicked.connect(self._on_place_clicked)
        self._row.addSpacing(4)
        self._row.addWidget(self._code)
        self._row.addWidget(self._words, 1)
        self._row.addWidget(self._place)
        self._more = IconButton(theme, "chevron_up", self.tr("All problems"), parent=strip)
        self._more.clicked.connect(self._on_more_clicked)
        self._row.addWidget(self._more)
        self.list = QListWidget(self)
        self.list.setAccessibleName(self.tr("Problems"))
        self.list.setFixedHeight(_LIST_PX)
        self.list.setUniformItemSizes(True)
        self.list.setIconSize(QSize(14, 14))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemClicked.connect(self._on_item_chosen)
        self.list.itemActivated.connect(self._on_item_chosen)
        self.list.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Separator(theme))
        column.addWidget(strip)
        column.addWidget(self.list)
        self.show_problems(())
        theme.changed.connect(self._on_theme_changed)

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Show what is wrong, the worst first."""
        self._problems = sorted(problems, key=lambda one: _ORDER.index(one.severity))
        for widget in self._acts:
            self._row.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._acts = []
        for severity, (glyph, label) in self._counts.items():
            count = sum(one.severity == severity for one in problems)
            glyph.setVisible(count > 0)
            label.setVisible(count > 0)
            label.setText(f"{count:,}")
        has_any = bool(self._problems)
        self._fine.setVisible(not has_any)
        self._code.setVisible(has_any)
        self._place.setVisible(has_any)
        self._more.setEnabled(has_any)
        self._fill_list()
        if not has_any:
            self._words.setText(self.tr("Every definition holds."))
            self._set_open(is_open=False)
            return
        first = self._problems[0]
        self._code.setText(first.code)
        self._words.setText(first.sentence)
        self._place.setText(f"{first.span.path}:{first.span.line}")
        for fix in list(first.fixes)[:2]:
            role = "quiet" if self._acts else "secondary"
            button = Button(self._theme, fix.title, role, small=True, parent=self)
            button.clicked.connect(self._fixer(fix))
            self._row.insertWidget(self._row.count() - 1, button)
            self._acts.append(button)

    def _fill_list(self) -> None:
        self.list.clear()
        for problem in self._problems[:_MOST_LISTED]:
            place = f"{problem.span.path}:{problem.span.line}"
            item = QListWidgetItem(f"{problem.code}   {problem.sentence}   {place}")
            token = f"severity.{problem.severity}"
            item.setIcon(self._theme.icon(_ICONS[problem.severity], token, 14))
            item.setToolTip(f"{problem.severity}: {problem.sentence}\n{place}")
            item.setSizeHint(QSize(0, self._theme.size("row")))
            self.list.addItem(item)

    def _fixer(self, fix: Fix) -> Callable[[], None]:
        return lambda: self.fix_wanted.emit(fix)

    def _set_open(self, *, is_open: bool) -> None:
        self.list.setVisible(is_open)
        self._more.set_icon_name("chevron_down" if is_open else "chevron_up")

    @Slot()
    def _on_more_clicked(self) -> None:
        self._set_open(is_open=not self.list.isVisible())
        if self.list.isVisible():
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _on_place_clicked(self) -> None:
        if self._problems:
            self.problem_chosen.emit(self._problems[0])

    @Slot(QListWidgetItem)
    def _on_item_chosen(self, item: QListWidgetItem) -> None:
        self.problem_chosen.emit(self._problems[self.list.row(item)])

    @Slot()
    def _on_theme_changed(self) -> None:
        self._fill_list()
