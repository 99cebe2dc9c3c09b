"""One payload: as a tree where it is JSON, as text, gated by its size, saved as it is."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QModelIndex, QPoint, QRect, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from sa_builder.errors import KnownError
from sa_builder.ui.dialogs.sheet import answer_of
from sa_builder.ui.logs.code_view import CodeView
from sa_builder.ui.logs.json_model import ENTRY_ROLE, JsonTreeModel, value_text
from sa_builder.ui.logs.json_source import LARGE_CHARS, JsonEntry, JsonSource
from sa_builder.ui.tasks import Tasks
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads import words
from sa_builder.ui.threads.ink import LEFT
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.bars import EmptyState
from sa_builder.ui.widgets.buttons import Button, Segments
from sa_builder.ui.widgets.marks import TextLabel

_PREVIEW_CHARS = 32 * 1024
_MOST_TEXT_CHARS = 4 * 1024 * 1024
"""A text view lays out every line at once: beyond this only its beginning, the tree shows all."""


class _ValueDelegate(QStyledItemDelegate):
    """Keys plain, values in mono and in the code's colours."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._font = theme.font("code")

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:  # type: ignore[override]
        entry: JsonEntry = index.data(ENTRY_ROLE)
        rect: QRect = option.rect
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self._theme.color("surface.selected"))
        token = {"string": "code.string", "number": "code.number"}.get(entry.type, "code.keyword")
        text = value_text(entry)
        if entry.type in ("object", "array"):
            token = "text.muted"
        if index.column() == 0:
            token, text = "text.primary", entry.key
        painter.setFont(self._font)
        painter.setPen(self._theme.color(token))
        room = rect.adjusted(4, 0, -4, 0)
        metrics = painter.fontMetrics()
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, LEFT, shown)
        painter.restore()


class JsonTree(QTreeView):
    """The tree, with what can be copied of each value."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("json_tree")
        self.setAccessibleName(tr("JSON"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHeaderHidden(True)
        self.setUniformRowHeights(True)
        self.setIndentation(16)
        self.setItemDelegate(_ValueDelegate(theme, self))
        self.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu_requested)

    def show_source(self, source: JsonSource) -> None:
        """Show a text, its first level unfolded, and its short containers too."""
        old = self.model()
        model = JsonTreeModel(source, self)
        self.setModel(model)
        if isinstance(old, JsonTreeModel):
            old.deleteLater()
        header = self.header()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        header.resizeSection(0, 190)
        header.setStretchLastSection(True)
        for row in range(min(40, model.rowCount())):
            index = model.index(row, 0)
            if 0 < index.data(ENTRY_ROLE).count <= 8:
                self.expand(index)

    def menu_for(self, index: QModelIndex) -> QMenu:
        """What can be copied of a value."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        icon = self._theme.icon("copy")
        for name, title in (
            ("value", tr("Copy value")),
            ("path", tr("Copy path")),
            ("json", tr("Copy as JSON")),
        ):
            action = menu.addAction(icon, title)
            action.setData((name, index.data(ENTRY_ROLE).path))
        menu.triggered.connect(self._on_menu_triggered)
        return menu

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        if event.matches(QKeySequence.StandardKey.Copy) and index.isValid():
            self.copy("value", index.data(ENTRY_ROLE).path)
            return
        super().keyPressEvent(event)

    def copy(self, what: str, path: str) -> None:
        """Put a value, its path or its JSON on the clipboard."""
        model = self.model()
        if not isinstance(model, JsonTreeModel):
            return
        text = path
        if what == "value":
            text = model.source.value_at(path)
        elif what == "json":
            text = model.source.json_at(path)
        QGuiApplication.clipboard().setText(text)

    @Slot(QPoint)
    def _on_menu_requested(self, place: QPoint) -> None:
        index = self.indexAt(place)
        if index.isValid():
            self.menu_for(index).popup(self.viewport().mapToGlobal(place))

    @Slot(object)
    def _on_menu_triggered(self, action: object) -> None:
        what, path = action.data()  # type: ignore[attr-defined]  # pyright: ignore
        self.copy(str(what), str(path))  # pyright: ignore


class PayloadView(QWidget):
    """A text of any size.

    Signals:
        said: a sentence for the status bar.
        failed: a KnownError.
    """

    said = Signal(str)
    failed = Signal(object)

    def __init__(
        self,
        theme: Theme,
        tasks: Tasks,
        file_name: str,
        empty: tuple[str, str],
        parent: QWidget | None = None,
    ) -> None:
        """Begin empty.

        Args:
            file_name: proposed by "Save as".
            empty: the line and the sentence shown when there is nothing.
        """
        super().__init__(parent)
        self._tasks = tasks
        self._file_name = file_name
        self._text = ""
        self._source: JsonSource | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._head = QWidget(self)
        row = QHBoxLayout(self._head)
        row.setContentsMargins(12, 6, 8, 6)
        row.setSpacing(8)
        choices = (("tree", tr("Tree")), ("text", tr("Text")))
        self.mode = Segments(theme, choices, name=tr("Show as"), parent=self)
        self.mode.value_chosen.connect(self._on_mode_value_chosen)
        self.caption = TextLabel(theme, "", "small", "text.muted", parent=self)
        self.load_all = Button(theme, tr("Load all"), small=True, parent=self)
        self.load_all.clicked.connect(self._on_load_all_clicked)
        self.copy_all = Button(theme, tr("Copy"), small=True, parent=self)
        self.copy_all.clicked.connect(self._on_copy_clicked)
        self.save = Button(theme, tr("Save as…"), small=True, parent=self)
        self.save.clicked.connect(self._on_save_clicked)
        row.addWidget(self.mode)
        row.addWidget(self.caption)
        row.addStretch(1)
        for button in (self.load_all, self.copy_all, self.save):
            row.addWidget(button)
        column.addWidget(self._head)
        self._stack = QStackedWidget(self)
        self.tree = JsonTree(theme, self)
        self.code = CodeView(theme, self)
        self._empty = EmptyState(theme, "file", *empty, parent=self)
        for page in (self.tree, self.code, self._empty):
            self._stack.addWidget(page)
        column.addWidget(self._stack, 1)
        self.show_text(None)

    @property
    def shown_text(self) -> str:
        """What the text view holds now."""
        return self.code.toPlainText()

    def show_text(self, text: str | None) -> None:
        """Show a payload; None or nothing shows the empty state, a large one its beginning."""
        self._text = text or ""
        self._source = None
        self._head.setVisible(bool(self._text))
        if not self._text:
            self._stack.setCurrentWidget(self._empty)
            return
        is_large = len(self._text) > LARGE_CHARS
        self.load_all.setVisible(is_large)
        size = size_words(self._text)
        self.caption.setText(f"{tr('preview of')} {size}" if is_large else size)
        if is_large:
            self.code.show_text(self._text[:_PREVIEW_CHARS])
            self._show_source(None)
        else:
            source = source_of(self._text)
            text = self._text if source is None else source.pretty()
            self.code.show_text(text, is_json=source is not None)
            self._show_source(source)

    def _show_source(self, source: JsonSource | None) -> None:
        self._source = source
        self.mode.setVisible(source is not None)
        if source is not None:
            self.tree.show_source(source)
        self._show_mode()

    def _show_mode(self) -> None:
        is_tree = self._source is not None and self.mode.value == "tree"
        self._stack.setCurrentWidget(self.tree if is_tree else self.code)

    async def _load(self, text: str) -> None:
        """Read the whole payload in a worker OS thread, then show it."""
        source, pretty = await asyncio.to_thread(_read_whole, text)
        if text is not self._text:
            return
        self.load_all.hide()
        size = size_words(text)
        if len(pretty) > _MOST_TEXT_CHARS:
            first = size_words(pretty[:_MOST_TEXT_CHARS])
            size = f"{size}, {tr('as text the first')} {first}"
        self.caption.setText(size)
        self.code.show_text(pretty[:_MOST_TEXT_CHARS])
        self._show_source(source)

    async def _save(self) -> None:
        dialog = QFileDialog(self, tr("Save payload"), self._file_name)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        chosen: list[str] = []
        dialog.filesSelected.connect(chosen.extend)
        text = self._text
        if await answer_of(dialog) != QDialog.DialogCode.Accepted or not chosen:
            return
        await asyncio.to_thread(write_payload, chosen[0], text)
        self.said.emit(f"{tr('Saved')} {chosen[0]}")

    @Slot(str)
    def _on_mode_value_chosen(self, value: str) -> None:
        self._show_mode()

    @Slot()
    def _on_load_all_clicked(self) -> None:
        self._tasks.start(self._load(self._text), on_error=self.failed.emit)

    @Slot()
    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
        self.said.emit(tr("Copied the whole payload."))

    @Slot()
    def _on_save_clicked(self) -> None:
        self._tasks.start(self._save(), on_error=self.failed.emit)


def write_payload(path: str, text: str) -> None:
    """Write a payload as it was received.

    Raises:
        KnownError: the file cannot be written.
    """
    try:
        with open(path, "w", encoding="utf-8", newline="", errors="surrogatepass") as file:
            file.write(text)
    except OSError as error:
        raise KnownError(
            f"{path} cannot be written: {error.strerror}.",
            act="Choose another place.",
            code="ui.save_failed",
        ) from error


def size_words(text: str) -> str:
    """How large a text is as UTF-8."""
    return words.size(len(text) if text.isascii() else len(text.encode("utf-8", "replace")))


def source_of(text: str) -> JsonSource | None:
    """The text as JSON that has something to unfold; None when it is none."""
    try:
        source = JsonSource(text)
    except ValueError:
        return None
    return source if source.root().has_children else None


def _read_whole(text: str) -> tuple[JsonSource | None, str]:
    source = source_of(text)
    return source, text if source is None else source.pretty()
