"""The problems strip: counts, the first problem with its fixes, and a list behind it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from sa_builder.project.shapes import Fix, Problem
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.buttons import Button, IconButton
from sa_builder.ui.widgets.marks import ElidedLabel, Glyph, TextLabel


class ProblemsPanel(QWidget):
    """One row; nothing wrong is said in words too.

    Signals:
        address_chosen: str; a problem's place is to be shown.
        fix_wanted: Fix; a repair is to be made.
    """

    address_chosen = Signal(str)
    fix_wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._problems: Sequence[Problem] = ()
        self._fixes: list[Button] = []
        self.setFixedHeight(theme.size("problems_strip"))
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 8, 0)
        row.setSpacing(8)
        row.addWidget(TextLabel(theme, self.tr("Problems"), "label"))
        self._mark = Glyph(theme, "error", "state.failed", parent=self)
        self._count = TextLabel(theme, "", "small")
        self._words = ElidedLabel(theme, "", "small", parent=self)
        row.addWidget(self._mark)
        row.addWidget(self._count)
        row.addWidget(self._words, 1)
        self._row = row
        self._more = IconButton(theme, "chevron_up", self.tr("All problems"))
        self._more.clicked.connect(self._on_more_clicked)
        row.addWidget(self._more)

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Show what is wrong, the worst first."""
        order = {"error": 0, "warning": 1, "hint": 2}
        self._problems = sorted(problems, key=lambda one: order[one.severity])
        for button in self._fixes:
            self._row.removeWidget(button)
            button.deleteLater()
        self._fixes = []
        self._more.setEnabled(bool(self._problems))
        if not self._problems:
            self._mark.set_icon("check", "state.done")
            self._count.setText("0")
            self._words.setText(self.tr("Every definition holds."))
            return
        first = self._problems[0]
        is_error = first.severity == "error"
        self._mark.set_icon(
            "error" if is_error else "warning" if first.severity == "warning" else "info",
            f"severity.{first.severity}",
        )
        self._count.setText(str(len(self._problems)))
        self._words.setText(f"{first.code}  {first.sentence}  {first.span.path}:{first.span.line}")
        for fix in list(first.fixes)[:2]:
            button = Button(self._theme, fix.title, small=True, parent=self)
            button.clicked.connect(self._fixer(fix))
            self._row.insertWidget(self._row.count() - 1, button)
            self._fixes.append(button)

    def _fixer(self, fix: Fix) -> object:
        return lambda: self.fix_wanted.emit(fix)

    @Slot()
    def _on_more_clicked(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for problem in self._problems[:50]:
            words = f"{problem.code}  {problem.sentence}   {problem.span.path}:{problem.span.line}"
            entry = menu.addAction(words)
            entry.setEnabled(problem.address is not None)
            entry.triggered.connect(self._shower(problem.address or ""))
        menu.popup(self.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def _shower(self, address: str) -> object:
        return lambda: self.address_chosen.emit(address)
