"""Paints the cells of the log table."""

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
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from sa_builder.spec.logs import LogRow
from sa_builder.ui.logs.table_model import (
    COST,
    ROW_ROLE,
    SIDE,
    STATE,
    STEP,
    TIME,
    TIMELINE,
    TOKENS,
    LogTableModel,
    cell_text,
)
from sa_builder.ui.logs.time_scale import span_of
from sa_builder.ui.theme import Theme
from sa_builder.ui.threads import words
from sa_builder.ui.threads.ink import Ink
from sa_builder.ui.widgets.paint import paint_box

BAR_PX = 8.0
_LEAST_PX = 2.0
_INDENT_PX = 14
KIND_GLYPHS: dict[str, tuple[str, str]] = {
    "message": ("human", "kind.human"),
    "model": ("model", "kind.model"),
    "tool": ("tool", "kind.tool"),
    "handler": ("handler", "kind.handler"),
    "hook": ("hook", "kind.hook"),
    "child": ("subagent", "kind.subagent"),
    "policy": ("policy", "kind.policy"),
    "effect": ("effect", "text.secondary"),
}


class LogDelegate(QStyledItemDelegate):
    """One cell at a time, from the row itself."""

    def __init__(self, theme: Theme, ink: Ink, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._ink = ink

    def sizeHint(self, option: QStyleOptionViewItem, index: Index | QPersistentModelIndex) -> QSize:
        return QSize(40, self._theme.size("row_log"))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index | QPersistentModelIndex
    ) -> None:
        row = cast("LogRow", index.data(ROW_ROLE))
        rect = option.rect
        view = cast("QTableView", option.widget)
        painter.save()
        self._ink.dpr = painter.device().devicePixelRatio()
        self._paint_ground(painter, option, rect, view, index.column())
        column = index.column()
        cell = QRectF(rect).adjusted(0, 0, 0, -1)
        if column == TIME:
            inner = cell.adjusted(12, 0, 0, 0)
            self._ink.line(painter, inner, cell_text(row, TIME), "small", "text.muted")
        elif column == STEP:
            self._paint_step(painter, cell, row)
        elif column == SIDE:
            if row.side:
                disc = QRectF(cell.x() + 8, cell.center().y() - 6.5, 14, 14)
                self._ink.disc(painter, disc, row.side)
        elif column == TIMELINE:
            self._paint_bar(painter, cell, row, cast("LogTableModel", index.model()))
        elif column in (TOKENS, COST):
            inner = cell.adjusted(0, 0, -5, 0)
            text = cell_text(row, column)
            self._ink.line(painter, inner, text, "small", "text.primary", right=True)
        elif column == STATE:
            box = QRectF(cell.right() - 28, cell.y(), 14, cell.height())
            self._ink.state(painter, box, words.state_of_log(row.status))
        else:
            inner = cell.adjusted(8, 0, 0, 0)
            self._ink.line(painter, inner, cell_text(row, column), "small", "text.secondary")
        painter.restore()

    def _paint_ground(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        rect: QRect,
        view: QTableView,
        column: int,
    ) -> None:
        color = self._ink.color
        if option.state & QStyle.StateFlag.State_Selected:
            active = view.isActiveWindow()
            painter.fillRect(
                rect, color("surface.selected" if active else "surface.selected_inactive")
            )
            if column == TIME and active:
                painter.fillRect(QRect(rect.x(), rect.y(), 2, rect.height()), color("accent.base"))
        elif view.property("hover_row") == rect.y():
            painter.fillRect(rect, color("surface.hover"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), color("line.subtle"))

    def _paint_step(self, painter: QPainter, cell: QRectF, row: LogRow) -> None:
        left = cell.x() + 8 + _INDENT_PX * row.depth
        glyph, token = KIND_GLYPHS.get(row.kind, ("file", "text.secondary"))
        self._ink.icon(painter, QRectF(left, cell.y(), 14, cell.height()), glyph, token, 14)
        rest = QRectF(left + 20, cell.y(), cell.right() - left - 24, cell.height())
        used = self._ink.line(painter, rest, row.title, "small", "text.primary")
        rest.setLeft(rest.left() + used + 4)
        if rest.width() > 12:
            self._ink.line(painter, rest, row.detail, "small", "text.muted")

    def _paint_bar(
        self, painter: QPainter, cell: QRectF, row: LogRow, model: LogTableModel
    ) -> None:
        room = cell.adjusted(4, 0, -8, 0)
        start_us, end_us = span_of(row, model.now_us())
        left = room.x() + model.scale.place(start_us) * room.width()
        right = room.x() + model.scale.place(end_us) * room.width()
        right = min(room.right(), max(right, left + _LEAST_PX))
        left = min(left, right - _LEAST_PX)
        bar = QRectF(left, cell.center().y() - BAR_PX / 2 + 0.5, right - left, BAR_PX)
        hue = self._theme.color(KIND_GLYPHS.get(row.kind, ("", "text.secondary"))[1])
        if row.status == "parked":
            paint_hatched(painter, self._theme, bar)
            return
        wait_us = round((row.time_to_first_token_ms or 0) * 1000)
        if row.status == "failed":
            hue = self._theme.color("state.failed")
        if not wait_us or end_us <= start_us:
            paint_box(painter, bar, 2, fill=hue)
            return
        middle = room.x() + model.scale.place(min(start_us + wait_us, end_us)) * room.width()
        paint_wait_and_work(painter, bar, min(max(middle, left), right), hue)


def paint_wait_and_work(painter: QPainter, bar: QRectF, middle: float, hue: QColor) -> None:
    """A bar that is hollow until `middle` and filled after it."""
    waits = QRectF(bar.x(), bar.y(), max(3.0, middle - bar.x()), bar.height())
    paint_box(painter, waits, 2, outline=hue, width_px=1.5)
    work = QRectF(waits.right(), bar.y(), bar.right() - waits.right(), bar.height())
    if work.width() >= 1:
        paint_box(painter, work, 2, fill=hue)


def paint_hatched(painter: QPainter, theme: Theme, bar: QRectF) -> None:
    """A bar of time in which a person or a child is awaited."""
    hue = theme.color("state.parked")
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    path = QPainterPath()
    path.addRoundedRect(bar.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
    painter.fillPath(path, theme.color("state.parked_tint"))
    painter.setClipPath(path)
    painter.setPen(QPen(hue, 1.6))
    x = bar.x() - bar.height()
    while x < bar.right():
        painter.drawLine(round(x), round(bar.bottom()), round(x + bar.height()), round(bar.y()))
        x += 5
    painter.setClipping(False)
    painter.setBrush(QBrush(Qt.BrushStyle.NoBrush))
    painter.setPen(QPen(hue, 1))
    painter.drawPath(path)
    painter.restore()
