"""Paints the rows of the outline: side disc, glyph, name, and a note at the right."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import (
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QWidget,
)

from sa_builder.ui.theme import Theme
from sa_builder.ui.widgets.paint import paint_pixmap_centered, paint_side_disc

ADDRESS = int(Qt.ItemDataRole.UserRole)
ROW = ADDRESS + 1


@dataclass(frozen=True, slots=True)
class OutlineRow:
    """What a row shows."""

    name: str
    icon: str
    token: str
    side: str = ""
    """A or B, of what is connected to a side."""
    note: str = ""
    """At the right: blocking, stop, or a count."""
    is_broken: bool = False

    def with_note(self, note: str) -> OutlineRow:
        """The same with another note."""
        return replace(self, note=note)


class OutlineTree(QTreeWidget):
    """A tree that paints chevrons, and bands over the whole width."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def drawBranches(
        self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        chosen = self.selectionModel().isSelected(index)
        state = QStyle.StateFlag.State_Selected if chosen else QStyle.StateFlag.State_None
        painter.fillRect(rect, _band(self._theme, self, state))
        if chosen and self.hasFocus():
            mark = QRectF(0, rect.top(), self._theme.size("line.active_mark"), rect.height())
            painter.fillRect(mark, self._theme.color("accent.base"))
        item = self.itemFromIndex(index)
        if item.childCount():
            name = "chevron_down" if item.isExpanded() else "chevron_right"
            glyph = self._theme.pixmap(name, "text.secondary", 12, self.devicePixelRatioF())
            box = QRectF(rect.right() - 12, rect.top(), 12, rect.height())
            paint_pixmap_centered(painter, box, glyph)


def _band(
    theme: Theme,
    tree: QTreeWidget,
    state: QStyle.StateFlag,
) -> QColor:
    if state & QStyle.StateFlag.State_Selected:
        return theme.color("surface.selected" if tree.hasFocus() else "surface.selected_inactive")
    if state & QStyle.StateFlag.State_MouseOver:
        return theme.color("surface.hover")
    return theme.color("surface.panel")


class OutlineDelegate(QStyledItemDelegate):
    """Rows of one height; the branch arrows are the view's."""

    def __init__(self, theme: Theme, tree: QTreeWidget) -> None:
        super().__init__(tree)
        self._theme = theme
        self._tree = tree

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(80, self._theme.size("row_tree"))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        theme = self._theme
        row = cast("OutlineRow", index.data(ROW))
        rect = QRectF(self._tree.visualRect(index))
        painter.fillRect(rect, _band(theme, self._tree, option.state))
        x = rect.left() + 2
        dpr = self._tree.devicePixelRatioF()
        if row.side:
            paint_side_disc(painter, theme, QRectF(x, rect.center().y() - 7, 14, 14), row.side)
            x += 20
        token = "state.failed" if row.is_broken else row.token
        glyph = theme.pixmap(row.icon, token, 14, dpr)
        paint_pixmap_centered(painter, QRectF(x, rect.top(), 14, rect.height()), glyph)
        x += 21
        right = rect.right() - 8
        if row.is_broken:
            mark = theme.pixmap("error", "state.failed", 14, dpr)
            paint_pixmap_centered(painter, QRectF(right - 14, rect.top(), 14, rect.height()), mark)
            right -= 20
        right = self._paint_note(painter, QRectF(x, rect.top(), right - x, rect.height()), row)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("state.failed_text" if row.is_broken else "text.primary"))
        room = QRectF(x, rect.top(), max(0.0, right - x), rect.height())
        words = painter.fontMetrics().elidedText(
            row.name, Qt.TextElideMode.ElideRight, int(room.width())
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, words)

    def _paint_note(self, painter: QPainter, room: QRectF, row: OutlineRow) -> float:
        if not row.note:
            return room.right()
        painter.setFont(self._theme.font("caption", tabular=True, weight=400))
        painter.setPen(self._theme.color("text.muted"))
        painter.drawText(
            room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, row.note
        )
        return room.right() - painter.fontMetrics().horizontalAdvance(row.note) - 8
