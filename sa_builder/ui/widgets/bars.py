"""Bars, headers, fields and empty states."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.buttons import Button
from sa_builder.ui.widgets.focus import FocusRing
from sa_builder.ui.widgets.marks import ElidedLabel, Glyph, TextLabel
from sa_builder.ui.widgets.paint import paint_box, paint_pixmap_centered

BarTone = Literal["parked", "failed", "running", "done", "waiting"]
_BAR_ICONS: dict[BarTone, str] = {
    "parked": "warning",
    "failed": "state_failed",
    "running": "info",
    "done": "state_done",
    "waiting": "info",
}


class NoticeBar(QWidget):
    """One sentence and at most three small buttons, above a view; never modal.

    Signals:
        act_chosen: the id of the button, str.
    """

    act_chosen = Signal(str)

    def __init__(
        self,
        theme: Theme,
        tone: BarTone,
        sentence: str,
        acts: tuple[tuple[str, str], ...] = (),
        *,
        parent: QWidget | None = None,
    ) -> None:
        """Say `sentence`; `acts` are ids and words of the buttons."""
        super().__init__(parent)
        self._theme = theme
        self._tone: BarTone = tone
        self.setFixedHeight(36)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(12, 0, 6, 0)
        self._row.setSpacing(8)
        self._glyph = Glyph(theme, _BAR_ICONS[tone], f"state.{tone}", parent=self)
        self._label = ElidedLabel(theme, sentence, "body", parent=self)
        self._row.addWidget(self._glyph)
        self._row.addWidget(self._label, 1)
        self._buttons: list[Button] = []
        self.set_notice(tone, sentence, acts)
        theme.changed.connect(self.update)

    @property
    def sentence(self) -> str:
        """What it says."""
        return self._label.text()

    def set_notice(
        self, tone: BarTone, sentence: str, acts: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """Say something else."""
        self._tone = tone
        self._glyph.set_icon(_BAR_ICONS[tone], f"state.{tone}")
        self._label.setText(sentence)
        self.setAccessibleName(sentence)
        for button in self._buttons:
            self._row.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons.clear()
        for act_id, word in acts:
            button = Button(self._theme, word, small=True, parent=self)
            button.setProperty("act", act_id)
            button.clicked.connect(self._on_button_clicked)
            self._row.addWidget(button)
            self._buttons.append(button)
        self.update()

    @Slot()
    def _on_button_clicked(self) -> None:
        self.act_chosen.emit(str(self.sender().property("act")))

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_box(
            QPainter(self),
            QRectF(self.rect()),
            self._theme.size("radius.chip"),
            fill=self._theme.color(f"state.{self._tone}_tint"),
            outline=self._theme.color(f"state.{self._tone}"),
        )


class EmptyState(QWidget):
    """What a view shows when it has nothing: a glyph, a strong line, a sentence, one button.

    Signals:
        act_wished: the button was pressed.
    """

    act_wished = Signal()

    def __init__(
        self,
        theme: Theme,
        icon: str,
        line: str,
        sentence: str = "",
        act: str | None = None,
        *,
        role: Literal["primary", "secondary"] = "secondary",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(4)
        column.addStretch(1)
        glyph = Glyph(theme, icon, "text.muted", size_px=theme.size("icon.empty"), parent=self)
        column.addWidget(glyph, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(8)
        self._line = TextLabel(theme, line, "strong", parent=self)
        self._sentence = TextLabel(theme, sentence, "small", "text.muted", wrap=True, parent=self)
        for label in (self._line, self._sentence):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(label)
        self._button: Button | None = None
        if act is not None:
            self._button = Button(theme, act, role, parent=self)
            self._button.clicked.connect(self._on_button_clicked)
            column.addSpacing(12)
            column.addWidget(self._button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)

    @property
    def button(self) -> Button | None:
        """Its one button, if it has one."""
        return self._button

    def set_text(self, line: str, sentence: str) -> None:
        """Say something else."""
        self._line.setText(line)
        self._sentence.setText(sentence)

    @Slot()
    def _on_button_clicked(self) -> None:
        self.act_wished.emit()


class SearchField(QLineEdit):
    """A field with a magnifier; Escape empties it, then leaves it.

    Signals:
        dismissed: Escape in an empty field.
    """

    dismissed = Signal()

    def __init__(
        self, theme: Theme, placeholder: str, *, icon: str = "search", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon_name = icon
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setTextMargins(22, 0, 0, 0)
        self.setClearButtonEnabled(False)
        theme.changed.connect(self.update)

    def paintEvent(self, arg__1: QPaintEvent) -> None:
        super().paintEvent(arg__1)
        pixmap = self._theme.pixmap(self._icon_name, "text.muted", 16, self.devicePixelRatioF())
        paint_pixmap_centered(QPainter(self), QRectF(8, 0, 16, self.height()), pixmap)

    def keyPressEvent(self, arg__1: QKeyEvent) -> None:
        if arg__1.key() == Qt.Key.Key_Escape:
            if self.text():
                self.clear()
            else:
                self.dismissed.emit()
            return
        super().keyPressEvent(arg__1)


class SectionHeader(QPushButton):
    """The heading of a group in a form or list; with `folds` it opens and closes the group.

    Signals:
        open_changed: bool; by a person only.
    """

    open_changed = Signal(bool)

    def __init__(
        self,
        theme: Theme,
        text: str,
        *,
        folds: bool = False,
        count: int | None = None,
        style: str = "label",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self._folds = folds
        self._count = count
        self._open = True
        self._style = style
        self.setProperty("kit", True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if folds else Qt.FocusPolicy.NoFocus)
        self._ring = FocusRing(theme, self, 2)
        self.clicked.connect(self._on_clicked)
        theme.changed.connect(self.update)

    @property
    def is_open(self) -> bool:
        """Whether its group is to be seen."""
        return self._open

    def set_open(self, is_open: bool) -> None:
        """Open or close without a signal."""
        self._open = is_open
        self.update()

    def set_count(self, count: int | None) -> None:
        """The figure at the right; None shows none."""
        self._count = count
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._theme.font(self._style, weight=600))
        return QSize(metrics.horizontalAdvance(self.text()) + 60, 32)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, 32)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._theme
        x = 12
        if self._folds:
            name = "chevron_down" if self._open else "chevron_right"
            pixmap = theme.pixmap(name, "text.secondary", 12, self.devicePixelRatioF())
            paint_pixmap_centered(painter, QRectF(8, 0, 12, self.height()), pixmap)
            x = 24
        painter.setFont(theme.font(self._style, weight=600))
        painter.setPen(theme.color("text.primary"))
        rest = self.rect().adjusted(x, 0, -12, 0)
        painter.drawText(rest, Qt.AlignmentFlag.AlignVCenter, self.text())
        if self._count is not None:
            painter.setFont(theme.font("small", tabular=True))
            painter.setPen(theme.color("text.muted"))
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            painter.drawText(rest, flags, f"{self._count:,}")

    @Slot()
    def _on_clicked(self) -> None:
        if self._folds:
            self._open = not self._open
            self.update()
            self.open_changed.emit(self._open)
