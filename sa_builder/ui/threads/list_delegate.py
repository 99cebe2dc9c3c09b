"""Paints the rows of the thread list."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import (
    QModelIndex as Index,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from sa_builder.ui.theme import Theme
from sa_builder.ui.threads import words
from sa_builder.ui.threads.list_model import ROW_ROLE, ListRow, ThreadListModel
from sa_builder.ui.widgets.paint import paint_pixmap_centered
from sa_builder.ui.widgets.states import state_icon, state_text_token, state_token

_DAY_HEIGHT_PX = 30
_EDGE_PX = 12
_TEXT_X_PX = 35
_VCENTER = Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ThreadDelegate(QStyledItemDelegate):
    """A thread in three lines, a child in one, a day as a heading."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index | QPersistentModelIndex) -> QSize:
        row = cast("ListRow", index.data(ROW_ROLE))
        if row.kind == "thread":
            return QSize(200, self._theme.size("row_thread"))
        if row.kind == "day":
            return QSize(200, _DAY_HEIGHT_PX)
        return QSize(200, self._theme.size("row_child"))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index | QPersistentModelIndex
    ) -> None:
        row = cast("ListRow", index.data(ROW_ROLE))
        view = cast("QListView", option.widget)
        state = option.state
        rect = option.rect
        painter.save()
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        self._paint_ground(painter, rect, view, state, row, chosen)
        if row.kind == "day":
            self._paint_day(painter, rect, row)
        elif row.kind == "thread":
            now_us = cast("ThreadListModel", index.model()).now_us()
            self._paint_thread(painter, rect, row, chosen, now_us)
        else:
            self._paint_child(painter, rect, row)
        painter.restore()

    def _paint_ground(
        self,
        painter: QPainter,
        rect: QRect,
        view: QListView,
        state: QStyle.StateFlag,
        row: ListRow,
        chosen: bool,
    ) -> None:
        color = self._theme.color
        active = view.isActiveWindow()
        if chosen:
            name = "selected" if active else "selected_inactive"
            painter.fillRect(rect, color(f"surface.{name}"))
        elif state & QStyle.StateFlag.State_MouseOver and row.kind != "day":
            painter.fillRect(rect, color("surface.hover"))
        if row.kind != "day":
            line = QRect(rect.x(), rect.bottom(), rect.width(), 1)
            painter.fillRect(line, color("line.subtle"))
        if chosen and active:
            painter.fillRect(QRect(rect.x(), rect.y(), 2, rect.height()), color("accent.base"))

    def _paint_day(self, painter: QPainter, rect: QRect, row: ListRow) -> None:
        inner = rect.adjusted(_EDGE_PX, 2, -_EDGE_PX, 0)
        self._text(painter, inner, row.title, self._theme.font("label", weight=600), "text.muted")
        count = QRectF(inner).adjusted(0, 0, 0, 0)
        painter.setFont(self._theme.font("caption", tabular=True))
        painter.drawText(count, _RIGHT, f"{row.count:,}")

    def _paint_thread(
        self, painter: QPainter, rect: QRect, row: ListRow, chosen: bool, now_us: int
    ) -> None:
        summary = row.summary
        if summary is None:
            return
        theme = self._theme
        state = words.state_of_thread(summary)
        glyph = QRectF(rect.x() + _EDGE_PX, rect.y() + 7, 14, 16)
        self._glyph(
            painter,
            glyph,
            "lock" if summary.state == "terminated" else state_icon(state),
            state_token(state),
            14,
        )
        left, right = rect.x() + _TEXT_X_PX, rect.right() - _EDGE_PX + 1
        when = words.age(summary.updated_at_us, now_us)
        title = QRect(left, rect.y() + 5, right - left, 20)
        title.setRight(right - self._right(painter, title, when, "text.muted") - 6)
        font = theme.font("body", weight=600 if chosen else 500)
        self._text(painter, title, summary.title, font, "text.primary")
        reason = summary.state_reason if state in ("failed", "parked", "running") else None
        line = QRect(left, rect.y() + 24, right - left, 16)
        token = state_text_token(state) if reason else "text.secondary"
        self._text(painter, line, reason or summary.preview, theme.font("small"), token)
        foot = QRect(left, rect.y() + 41, right - left, 14)
        figure = words.cost(summary.cost)
        if not figure and summary.total_tokens:
            figure = f"{summary.total_tokens:,} {words.tr('tokens')}"
        if figure:
            foot.setRight(right - self._right(painter, foot, figure, "text.muted") - 6)
        names = " · ".join((summary.agent_name, *summary.tags))
        self._text(painter, foot, names, theme.font("node_sub"), "text.muted")

    def _paint_child(self, painter: QPainter, rect: QRect, row: ListRow) -> None:
        summary = row.summary
        theme = self._theme
        y, height = rect.y(), rect.height()
        x = rect.x() + theme.size("space.6")
        if row.kind == "fold" or row.is_first:
            chevron = "chevron_right" if row.kind == "fold" else "chevron_down"
            self._glyph(painter, QRectF(x - 1, y, 14, height), chevron, "text.secondary", 12)
        self._glyph(painter, QRectF(x + 17, y, 16, height), "subagent", "kind.subagent", 16)
        left, right = x + 40, rect.right() - _EDGE_PX + 1
        if row.kind == "fold":
            area = QRect(left, y, right - left, height)
            self._text(painter, area, row.title, theme.font("small"), "text.muted")
            return
        if summary is None:
            return
        state = words.state_of_thread(summary)
        self._glyph(
            painter, QRectF(right - 12, y, 12, height), state_icon(state), state_token(state), 12
        )
        font = theme.font("small")
        area = QRect(left, y, right - left - 20, height)
        used = self._text(painter, area, row.title, font, "text.primary")
        area.setLeft(area.left() + used + 5)
        self._text(painter, area, summary.agent_name, font, "text.muted")

    def _text(self, painter: QPainter, rect: QRect, text: str, font: QFont, token: str) -> int:
        """Draw one elided line; returns the width it took."""
        metrics = QFontMetrics(font)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0, rect.width()))
        painter.setFont(font)
        painter.setPen(self._theme.color(token))
        painter.drawText(rect, _VCENTER, shown)
        return metrics.horizontalAdvance(shown)

    def _right(self, painter: QPainter, rect: QRect, text: str, token: str) -> int:
        font = self._theme.font("node_sub", tabular=True)
        painter.setFont(font)
        painter.setPen(self._theme.color(token))
        painter.drawText(rect, _RIGHT, text)
        return QFontMetrics(font).horizontalAdvance(text)

    def _glyph(self, painter: QPainter, rect: QRectF, name: str, token: str, size_px: int) -> None:
        dpr = painter.device().devicePixelRatio()
        paint_pixmap_centered(painter, rect, self._theme.pixmap(name, token, size_px, dpr))
