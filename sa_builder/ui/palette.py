"""Definitions, threads and commands in one list, over a flat scrim."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import cast

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from sa_builder.ui.palette_model import Entry, Row, rows_for
from sa_builder.ui.tasks import Tasks
from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.marks import Glyph, KeyCap, Separator, TextLabel, paint_key_cap
from sa_builder.ui.widgets.paint import paint_box, paint_pixmap_centered

_ROW_ROLE = int(Qt.ItemDataRole.UserRole) + 1
_TOP_PX = 72
_HEADING_PX = 27
_WAIT_MS = 120
Index = QModelIndex | QPersistentModelIndex

FindThreads = Callable[[str], Awaitable[tuple[Sequence[Entry], int]]]
"""Threads that match a text, and how many do in all."""


class _Rows(QAbstractListModel):
    """Headings and entries."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._rows: list[Row] = []

    def set_rows(self, rows: list[Row]) -> None:
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def row(self, number: int) -> Row | None:
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        row = self.row(index.row())
        if row is None:
            return None
        if role == _ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            entry = row.entry
            return row.heading if entry is None else f"{entry.title} {entry.detail}".strip()
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self.row(index.row())
        if row is None or row.entry is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class _RowPainter(QStyledItemDelegate):
    """Paints a row: icon, title with the match underlined, detail, path or keys."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(view)
        self._theme = theme
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row = cast("Row", index.data(_ROW_ROLE))
        height = _HEADING_PX if row.entry is None else self._theme.size("row_palette")
        return QSize(100, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = cast("Row", index.data(_ROW_ROLE))
        view = QRectF(self._view.visualRect(index))
        if row.entry is None:
            self._paint_heading(painter, view, row)
            return
        self._paint_entry(painter, view, row, index.row() == self._view.currentIndex().row())

    def _paint_heading(self, painter: QPainter, rect: QRectF, row: Row) -> None:
        inner = rect.adjusted(12, 3, -12, 0)
        painter.setFont(self._theme.font("caption", weight=600))
        painter.setPen(self._theme.color("text.secondary"))
        painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, row.heading)
        painter.setFont(self._theme.font("small", tabular=True))
        painter.setPen(self._theme.color("text.muted"))
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(inner, right, row.count)

    def _paint_entry(self, painter: QPainter, rect: QRectF, row: Row, chosen: bool) -> None:
        theme, entry = self._theme, cast("Entry", row.entry)
        if chosen:
            paint_box(
                painter,
                rect.adjusted(0, 1, 0, -1),
                theme.size("radius.button"),
                fill=theme.color("surface.selected"),
            )
        dpr = painter.device().devicePixelRatio() if painter.device() else 1.0
        icon = theme.pixmap(entry.icon, entry.icon_token, 16, float(dpr))
        paint_pixmap_centered(painter, QRectF(rect.x() + 12, rect.y(), 16, rect.height()), icon)
        right = self._paint_trailing(painter, rect, entry)
        x = self._paint_title(painter, rect, row, right)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text.muted"))
        room = max(0.0, right - x - 20)
        shown = painter.fontMetrics().elidedText(
            entry.detail, Qt.TextElideMode.ElideRight, int(room)
        )
        box = QRectF(x + 10, rect.y(), room, rect.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)

    def _paint_trailing(self, painter: QPainter, rect: QRectF, entry: Entry) -> float:
        theme = self._theme
        right = rect.right() - 12
        if entry.keys:
            painter.setFont(theme.font("code_small"))
            for key in reversed(entry.keys):
                width = max(18, painter.fontMetrics().horizontalAdvance(key) + 12)
                cap = QRectF(right - width, rect.center().y() - 9, width, 18)
                paint_key_cap(painter, theme, cap, key)
                right -= width + 4
            return right
        style = "code_small" if entry.trailing_mono else "small"
        painter.setFont(theme.font(style, tabular=not entry.trailing_mono))
        painter.setPen(theme.color("text.muted"))
        shown = painter.fontMetrics().elidedText(
            entry.trailing, Qt.TextElideMode.ElideMiddle, int(rect.width() * 0.5)
        )
        width = painter.fontMetrics().horizontalAdvance(shown)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(rect.adjusted(0, 0, -12, 0), flags, shown)
        return right - width

    def _paint_title(self, painter: QPainter, rect: QRectF, row: Row, right: float) -> float:
        theme, entry = self._theme, cast("Entry", row.entry)
        plain, strong = theme.font("body"), theme.font("body", weight=600)
        x = rect.x() + 38
        shown = QFontMetrics(strong).elidedText(
            entry.title, Qt.TextElideMode.ElideRight, int(right - x - 12)
        )
        matched = set(row.matched)
        start = 0
        while start < len(shown):
            hit = start in matched
            end = start
            while end < len(shown) and (end in matched) == hit:
                end += 1
            part = shown[start:end]
            font = strong if hit else plain
            width = QFontMetrics(font).horizontalAdvance(part)
            painter.setFont(font)
            painter.setPen(theme.color("accent.on_tint" if hit else "text.primary"))
            box = QRectF(x, rect.y(), width + 2, rect.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, part)
            if hit:
                line = QRectF(x, rect.center().y() + 8, width, 2)
                painter.fillRect(line, theme.color("accent.base"))
            x += width
            start = end
        return x


class _Panel(QFrame):
    """The palette's surface."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paintEvent(self, arg__1: QPaintEvent) -> None:
        paint_box(
            QPainter(self),
            QRectF(self.rect()),
            self._theme.size("radius.popup"),
            fill=self._theme.color("surface.raised"),
            outline=self._theme.color("line.card"),
        )


class Palette(QWidget):
    """Covers the window while it is open; Enter opens, Escape closes.

    Signals:
        closed: it is gone again.
    """

    closed = Signal()

    def __init__(self, theme: Theme, tasks: Tasks, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._tasks = tasks
        self._window = window
        self._definitions: Sequence[Entry] = ()
        self._threads: Sequence[Entry] = ()
        self._thread_total = 0
        self._commands: Sequence[Entry] = ()
        self._find_threads: FindThreads | None = None
        self._before: QWidget | None = None
        self._asked = 0
        self.setObjectName("palette")
        self.hide()
        window.installEventFilter(self)
        self._panel = _Panel(theme, self)
        column = QVBoxLayout(self._panel)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addLayout(self._make_head())
        column.addWidget(Separator(theme, token="line.subtle", parent=self._panel))
        self._model = _Rows(self)
        self.list_view = QListView(self._panel)
        self.list_view.setModel(self._model)
        self.list_view.setItemDelegate(_RowPainter(theme, self.list_view))
        self.list_view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list_view.setMouseTracking(True)
        self.list_view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list_view.setStyleSheet(
            "QListView { background: transparent; padding: 6px; }QListView::item { height: auto; }"
        )
        self.list_view.setAccessibleName("What was found")
        self.list_view.clicked.connect(self._on_list_clicked)
        column.addWidget(self.list_view, 1)
        column.addWidget(Separator(theme, token="line.subtle", parent=self._panel))
        column.addLayout(self._make_foot())
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(_WAIT_MS)
        self._wait.timeout.connect(self._on_wait_timeout)
        theme.changed.connect(self.update)

    def open_with(
        self,
        definitions: Sequence[Entry],
        commands: Sequence[Entry],
        find_threads: FindThreads | None,
        text: str = "",
    ) -> None:
        """Open over the window.

        Args:
            find_threads: asked, a moment after typing, for the threads that match.
        """
        self._definitions = definitions
        self._commands = commands
        self._find_threads = find_threads
        self._threads, self._thread_total = (), 0
        self._before = cast("QWidget | None", self.window().focusWidget())
        self.setGeometry(self._window.rect())
        self.field.setText(text)
        self._refill()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)
        self._wait.start()

    def close_palette(self) -> None:
        """Close and give the focus back."""
        if self.isHidden():
            return
        self._wait.stop()
        self.hide()
        if self._before is not None:
            self._before.setFocus(Qt.FocusReason.PopupFocusReason)
            self._before = None
        self.closed.emit()

    @property
    def rows(self) -> list[Row]:
        """What is shown now."""
        found = (self._model.row(number) for number in range(self._model.rowCount()))
        return [row for row in found if row is not None]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self.setGeometry(self._window.rect())
            self._lay()
        pressed = event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent)
        if watched is self.field and pressed and self._take_key(cast("QKeyEvent", event)):
            return True
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self._panel.geometry().contains(event.position().toPoint()):
            self.close_palette()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("surface.scrim"))
        shadow = QRectF(self._panel.geometry()).translated(0, 2)
        paint_box(
            painter,
            shadow,
            self._theme.size("radius.popup"),
            fill=self._theme.color("line.shadow"),
        )

    def _make_head(self) -> QHBoxLayout:
        theme = self._theme
        row = QHBoxLayout()
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(10)
        row.addWidget(Glyph(theme, "search", "text.muted", parent=self._panel))
        self.field = QLineEdit(self._panel)
        self.field.setPlaceholderText("Go to a definition, thread or command")
        self.field.setAccessibleName("Go to a definition, thread or command")
        self.field.setFont(theme.font("heading", weight=400))
        self.field.setStyleSheet(
            "QLineEdit, QLineEdit:focus { border: 0; background: transparent; padding: 0;"
            " min-height: 46px; max-height: 46px; }"
        )
        self.field.textChanged.connect(self._on_text_changed)
        self.field.installEventFilter(self)
        row.addWidget(self.field, 1)
        for key, word in ((">", "commands"), ("@", "definitions"), ("#", "threads")):
            row.addWidget(KeyCap(theme, key, parent=self._panel))
            row.addSpacing(-4)
            row.addWidget(TextLabel(theme, word, "small", "text.muted", parent=self._panel))
        return row

    def _make_foot(self) -> QHBoxLayout:
        theme = self._theme
        row = QHBoxLayout()
        row.setContentsMargins(18, 7, 18, 7)
        row.setSpacing(5)
        acts = (
            (("↑", "↓"), "choose"),
            (("Enter",), "open"),
            (("Ctrl", "Enter"), "open in source"),
            ((), ""),
            (("Esc",), "close"),
        )
        for keys, word in acts:
            if not word:
                row.addStretch(1)
                continue
            for key in keys:
                row.addWidget(KeyCap(theme, key, parent=self._panel))
            row.addWidget(TextLabel(theme, word, "small", "text.secondary", parent=self._panel))
            row.addSpacing(14 if keys != ("Esc",) else 0)
        return row

    def _lay(self) -> None:
        width = min(self._theme.size("palette_width"), self.width() - 48)
        rows = sum(
            _HEADING_PX if row.entry is None else self._theme.size("row_palette")
            for row in self.rows
        )
        wanted = 48 + rows + 12 + 36
        height = min(wanted, round(self.height() * 0.6))
        self._panel.setGeometry((self.width() - width) // 2, _TOP_PX, width, height)
        self.update()

    def _refill(self) -> None:
        rows = rows_for(
            self.field.text(),
            self._definitions,
            self._threads,
            self._commands,
            thread_total=self._thread_total,
        )
        if not rows:
            rows = [Row(heading="Nothing has this name.")]
        self._model.set_rows(rows)
        self._lay()
        self._choose(0, 1)

    def _choose(self, number: int, step: int) -> None:
        count = self._model.rowCount()
        for _ in range(count):
            row = self._model.row(number % count)
            if row is not None and row.entry is not None:
                index = self._model.index(number % count, 0)
                self.list_view.setCurrentIndex(index)
                if number % count <= 1:
                    self.list_view.scrollToTop()
                return
            number += step

    def _take_key(self, event: QKeyEvent) -> bool:
        key = event.key()
        here = self.list_view.currentIndex().row()
        if key == Qt.Key.Key_Escape:
            self.close_palette()
        elif key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            step = 1 if key == Qt.Key.Key_Down else -1
            self._choose(here + step, step)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            in_source = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            self._open(here, in_source=in_source)
        else:
            return False
        return True

    def _open(self, number: int, *, in_source: bool = False) -> None:
        row = self._model.row(number)
        if row is None or row.entry is None:
            return
        entry = row.entry
        self.close_palette()
        if in_source and entry.open_in_source is not None:
            entry.open_in_source()
        else:
            entry.open()

    @Slot(str)
    def _on_text_changed(self, text: str) -> None:
        if self.isVisible():
            self._refill()
            self._wait.start()

    @Slot(QModelIndex)
    def _on_list_clicked(self, index: QModelIndex) -> None:
        self._open(index.row())

    @Slot()
    def _on_wait_timeout(self) -> None:
        text = self.field.text()
        if self._find_threads is None or text[:1] in (">", "@"):
            return
        self._asked += 1
        self._tasks.start(self._ask_threads(self._asked, text.lstrip("#").strip()))

    async def _ask_threads(self, asked: int, text: str) -> None:
        if self._find_threads is None:
            return
        entries, total = await self._find_threads(text)
        if asked == self._asked and self.isVisible():
            self._threads, self._thread_total = entries, total
            self._refill()
