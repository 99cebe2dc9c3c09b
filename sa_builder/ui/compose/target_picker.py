"""A search over what may be connected: definitions that fit, and new ones by the typed name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from sa_builder.project.card_look import kind_icon, kind_token
from sa_builder.spec.kinds import Kind
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.bars import SearchField
from sa_builder.ui.widgets.marks import TextLabel

_WIDTH_PX = 340
_MOST_ROWS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A definition that fits."""

    kind: str
    name: str
    detail: str
    """What connecting it does: "replaces repo_assistant"."""
    act: Callable[[], None]


class TargetPicker(QFrame):
    """A popup under the hand: type, arrow keys, Enter; Esc or a click beside it closes it."""

    def __init__(
        self,
        theme: Theme,
        title: str,
        choices: Sequence[Choice],
        kinds: Sequence[Kind],
        create: Callable[[Kind, str], None],
        parent: QWidget,
    ) -> None:
        """List `choices`, then one new definition for each of `kinds`.

        Args:
            create: makes a definition of a kind by a name; an empty name leaves it to the maker.
        """
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("popup")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._theme = theme
        self._choices = choices
        self._kinds = kinds
        self._create = create
        self._acts: list[Callable[[], None]] = []
        self.field = SearchField(theme, self.tr("Search, or type a new name"), parent=self)
        self.field.textChanged.connect(self._fill)
        self.field.dismissed.connect(self.close)
        self.field.installEventFilter(self)
        self.list = QListWidget(self)
        self.list.setIconSize(QSize(16, 16))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemClicked.connect(self._on_item_clicked)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(6)
        column.addWidget(TextLabel(theme, title, "label", "text.secondary", parent=self))
        column.addWidget(self.field)
        column.addWidget(self.list)
        self.setFixedWidth(_WIDTH_PX)
        self._fill("")

    def show_at(self, at: QPoint) -> None:
        """Open at a place of the screen, kept inside it."""
        self.adjustSize()
        screen = QGuiApplication.screenAt(at) or QGuiApplication.primaryScreen()
        room = screen.availableGeometry()
        x = max(room.left(), min(at.x(), room.right() - self.width()))
        y = max(room.top(), min(at.y(), room.bottom() - self.height()))
        self.move(x, y)
        self.show()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            key = event.key()
            if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                step = 1 if key == Qt.Key.Key_Down else -1
                count = max(1, self.list.count())
                self.list.setCurrentRow((self.list.currentRow() + step) % count)
                return True
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._do(self.list.currentRow())
                return True
        return super().eventFilter(watched, event)

    @Slot(str)
    def _fill(self, text: str) -> None:
        wanted = text.strip().lower()
        self.list.clear()
        self._acts = []
        for choice in self._choices:
            if wanted in choice.name.lower() or wanted in choice.kind:
                self._add(choice.kind, choice.name, choice.detail, choice.act)
        name = re.sub(r"[^a-z0-9_]+", "_", wanted).strip("_")
        taken = {(choice.kind, choice.name) for choice in self._choices}
        for kind in self._kinds:
            if (kind.value, name) not in taken:
                words = self.tr("New {0} {1}").format(kind.value, name).strip()
                self._add(kind.value, words, self.tr("creates a file"), self._maker(kind, name))
        self.list.setCurrentRow(0)
        rows = max(1, min(_MOST_ROWS, self.list.count()))
        self.list.setFixedHeight(rows * 28 + 4)
        self.adjustSize()

    def _add(self, kind: str, name: str, detail: str, act: Callable[[], None]) -> None:
        item = QListWidgetItem(self._theme.icon(kind_icon(kind), kind_token(kind)), name)
        item.setText(f"{name}   ·   {detail}" if detail else name)
        item.setSizeHint(QSize(0, 28))
        self.list.addItem(item)
        self._acts.append(act)

    def _maker(self, kind: Kind, name: str) -> Callable[[], None]:
        return lambda: self._create(kind, name)

    def _do(self, row: int) -> None:
        if 0 <= row < len(self._acts):
            act = self._acts[row]
            self.close()
            act()

    @Slot(QListWidgetItem)
    def _on_item_clicked(self, item: QListWidgetItem) -> None:
        self._do(self.list.row(item))
