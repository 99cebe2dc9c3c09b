"""The scrolled view of blocks: only what is in sight is laid out and painted."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QMenu, QWidget

from sa_builder.ui.theme import Theme
from sa_builder.ui.threads.blocks import Block, Target, TextBlock
from sa_builder.ui.threads.fold_blocks import FoldBlock
from sa_builder.ui.threads.ink import Ink
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.buttons import Button
from sa_builder.ui.widgets.paint import paint_box

_LEFT_PX = 16
_RIGHT_PX = 17
_TOP_PX = 12
_BOTTOM_PX = 16
_AHEAD_PX = 300.0
_NEAR_END_PX = 24


class Transcript(QAbstractScrollArea):
    """Blocks one below the other; stays at the end while the reader is there.

    Blocks never seen have a guessed height; it becomes exact before they come into sight, and
    the place of what is in sight does not move when it does.

    Signals:
        older_wished: the reader came near the top.
        thread_wished: a ThreadId.
        link_wished: the address of a link, str.
        end_reached: the reader is at the end again.
    """

    older_wished = Signal()
    thread_wished = Signal(str)
    link_wished = Signal(str)
    end_reached = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.ink = Ink(theme)
        self._blocks: list[Block] = []
        self._empty_words = ("", "")
        self._heights: list[float] = []
        self._tops: list[float] = []
        self._total = 0.0
        self._follows = True
        self._new_count = 0
        self._current: str | None = None
        self._selected: TextBlock | None = None
        self._selected_at = QPointF()
        self._hover = ""
        self._settling = False
        self.setObjectName("transcript")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Messages"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        self.verticalScrollBar().setSingleStep(40)
        self.verticalScrollBar().valueChanged.connect(self._on_bar_value_changed)
        self.new_button = Button(theme, "", icon="chevron_down", small=True, parent=self)
        self.new_button.setObjectName("jump_to_new")
        self.new_button.hide()
        self.new_button.clicked.connect(self.scroll_to_end)
        theme.changed.connect(self._on_theme_changed)

    # contents

    @property
    def blocks(self) -> Sequence[Block]:
        """What is shown, top to bottom."""
        return self._blocks

    @property
    def follows(self) -> bool:
        """Whether new content scrolls into sight by itself."""
        return self._follows

    def set_blocks(self, blocks: Sequence[Block], *, fresh: bool = False) -> None:
        """Show other blocks, keeping the place of what is in sight.

        Args:
            fresh: it is another conversation: begin at its end.
        """
        anchor = None if fresh else self._anchor()
        known = {
            block.key: height for block, height in zip(self._blocks, self._heights, strict=True)
        }
        self._blocks = list(blocks)
        width = self._width()
        self._heights = [
            block.height(self.ink, width)
            if block.is_measured(self.ink, width)
            else known.get(block.key) or block.estimate(width)
            for block in self._blocks
        ]
        if fresh:
            self._follows = True
            self._selected = None
            self._current = None
            self.set_new_count(0)
        self._settle(anchor)

    def set_empty_words(self, line: str, sentence: str) -> None:
        """What stands in the middle while there is no block."""
        self._empty_words = (line, sentence)
        self.viewport().update()

    def block_changed(self, block: Block) -> None:
        """A block's content grew; its height is taken anew."""
        block.invalidate()
        self._settle(self._anchor())

    def set_new_count(self, count: int) -> None:
        """Offer to jump to what came while the reader was elsewhere."""
        self._new_count = count
        self.new_button.setVisible(count > 0 and not self._follows)
        self.new_button.setText(f"{count:,} {tr('new')}")
        self._place_button()

    def add_new(self) -> None:
        """One more thing came; counted only while the reader is elsewhere."""
        if not self._follows:
            self.set_new_count(self._new_count + 1)

    @Slot()
    def scroll_to_end(self) -> None:
        """Go to the end and stay there."""
        self._follows = True
        self.set_new_count(0)
        self._settle(None)

    def scroll_to_start(self) -> None:
        """Go to the top."""
        self._follows = False
        self._settle((self._blocks[0].key, -float(_TOP_PX)) if self._blocks else None)

    def targets(self) -> Sequence[Target]:
        """Everything that can be pressed now, in the viewport's coordinates."""
        found: list[Target] = []
        width, offset = self._width(), self.verticalScrollBar().value()
        first, last = self._seen(0)
        for number in range(first, last):
            block = self._blocks[number]
            left, top = _LEFT_PX + block.indent_px, self._tops[number] - offset
            inside = width - block.indent_px
            found += [target.moved(left, top) for target in block.targets(self.ink, inside)]
        return found

    def text(self) -> str:
        """All of it as plain text."""
        return "\n".join(block.spoken() for block in self._blocks)

    # geometry

    def _width(self) -> float:
        return max(120.0, float(self.viewport().width() - _LEFT_PX - _RIGHT_PX))

    def _anchor(self) -> tuple[str, float] | None:
        """The key of what is at the top edge and how far it is scrolled out; None at the end."""
        return None if self._follows or not self._tops else self._top_anchor()

    def _top_anchor(self) -> tuple[str, float]:
        value = self.verticalScrollBar().value()
        number = max(0, bisect_right(self._tops, value) - 1)
        return self._blocks[number].key, value - self._tops[number]

    def _seen(self, ahead_px: float) -> tuple[int, int]:
        if not self._tops:
            return 0, 0
        top = self.verticalScrollBar().value()
        first = max(0, bisect_right(self._tops, top - ahead_px) - 1)
        last = bisect_right(self._tops, top + self.viewport().height() + ahead_px)
        return first, last

    def _place_blocks(self) -> None:
        steps = [
            (block.gap_px if number else float(_TOP_PX))
            + (self._heights[number - 1] if number else 0.0)
            for number, block in enumerate(self._blocks)
        ]
        self._tops = list(accumulate(steps))
        self._total = (self._tops[-1] + self._heights[-1] if self._tops else 0.0) + _BOTTOM_PX

    def _settle(self, anchor: tuple[str, float] | None) -> None:
        """Make every height in sight exact, holding the anchor (or the end) in place."""
        if self._settling:
            return
        self._settling = True
        try:
            at = -1
            if anchor is not None:
                keys = (n for n, block in enumerate(self._blocks) if block.key == anchor[0])
                at = next(keys, -1)
            width = self._width()
            for _ in range(12):
                self._place_blocks()
                self._set_bar(None if anchor is None or at < 0 else self._tops[at] + anchor[1])
                first, last = self._seen(_AHEAD_PX)
                changed = False
                for number in range(first, last):
                    height = self._blocks[number].height(self.ink, width)
                    if abs(height - self._heights[number]) > 0.01:
                        self._heights[number] = height
                        changed = True
                if not changed:
                    break
        finally:
            self._settling = False
        self._place_button()
        self.viewport().update()

    def _set_bar(self, value: float | None) -> None:
        bar = self.verticalScrollBar()
        height = self.viewport().height()
        most = max(0, round(self._total - height))
        bar.setPageStep(height)
        bar.setRange(0, most)
        if value is not None:
            bar.setValue(round(value))
        elif self._follows:
            bar.setValue(most)

    def _place_button(self) -> None:
        size = self.new_button.sizeHint()
        x = (self.width() - size.width()) // 2
        self.new_button.setGeometry(x, self.height() - 36, size.width(), size.height())
        self.new_button.raise_()

    # events

    def resizeEvent(self, event: QResizeEvent) -> None:
        anchor = self._anchor()
        super().resizeEvent(event)
        self._settle(anchor)

    def sizeHint(self) -> QSize:
        return QSize(560, 480)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, 120)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self._theme.color("surface.panel"))
        self.ink.dpr = self.devicePixelRatioF()
        width, offset = self._width(), self.verticalScrollBar().value()
        if not self._blocks:
            self._paint_empty(painter)
        first, last = self._seen(0)
        for number in range(first, last):
            block = self._blocks[number]
            top = self._tops[number] - offset
            if top + self._heights[number] < event.rect().top() or top > event.rect().bottom():
                continue
            block.height(self.ink, width)
            left = _LEFT_PX + block.indent_px
            block.paint(painter, self.ink, left, top, width - block.indent_px)
        if self.hasFocus() and self._current is not None:
            for target in self.targets():
                if _name_of(target) == self._current:
                    ring = target.rect.adjusted(-3, -3, 3, 3)
                    color = self._theme.color("accent.focus")
                    paint_box(painter, ring, 8, outline=color, width_px=2)

    def _paint_empty(self, painter: QPainter) -> None:
        middle = QRectF(self.viewport().rect())
        for words, style, token, by in zip(
            self._empty_words,
            ("strong", "small"),
            ("text.primary", "text.muted"),
            (-12, 12),
            strict=True,
        ):
            painter.setFont(self._theme.font(style))
            painter.setPen(self._theme.color(token))
            painter.drawText(middle.translated(0, by), Qt.AlignmentFlag.AlignCenter, words)

    @Slot(int)
    def _on_bar_value_changed(self, value: int) -> None:
        if self._settling:
            return
        bar = self.verticalScrollBar()
        at_end = value >= bar.maximum() - _NEAR_END_PX
        if at_end and not self._follows:
            self._follows = True
            self.set_new_count(0)
            self.end_reached.emit()
        elif not at_end:
            self._follows = False
        self._settle(self._anchor())
        if value < 400:
            self.older_wished.emit()

    @Slot()
    def _on_theme_changed(self) -> None:
        self.ink.forget()
        self._settle(self._anchor())

    def _target_at(self, place: QPointF) -> Target | None:
        return next((one for one in self.targets() if one.rect.contains(place)), None)

    def _text_at(self, place: QPointF) -> tuple[TextBlock, QPointF] | None:
        number = bisect_right(self._tops, place.y() + self.verticalScrollBar().value()) - 1
        if not 0 <= number < len(self._blocks):
            return None
        block = self._blocks[number]
        corner = QPointF(
            _LEFT_PX + block.indent_px, self._tops[number] - self.verticalScrollBar().value()
        )
        if place.y() > corner.y() + self._heights[number]:
            return None
        return block.text_at(self.ink, place - corner, self._width() - block.indent_px)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._clear_selection()
        found = self._text_at(event.position())
        if found is not None and self._target_at(event.position()) is None:
            self._selected = found[0]
            self._selected_at = event.position() - found[1]
            start = found[0].position_at(self.ink, found[1])
            if start >= 0:
                found[0].selection = (start, start)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position()
        if event.buttons() & Qt.MouseButton.LeftButton and self._selected is not None:
            if self._selected.selection is not None:
                end = self._selected.position_at(self.ink, place - self._selected_at)
                if end >= 0:
                    self._selected.selection = (self._selected.selection[0], end)
                    self.viewport().update()
            return
        found = self._text_at(place)
        link = found[0].link_at(self.ink, found[1]) if found is not None else ""
        if self._target_at(place) is not None or link:
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        elif found is not None:
            self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        else:
            self.viewport().unsetCursor()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        block = self._selected
        if block is not None and block.selection is not None:
            start, end = block.selection
            if start != end:
                return
            block.selection = None
            link = block.link_at(self.ink, event.position() - self._selected_at)
            if link:
                self.link_wished.emit(link)
                return
        target = self._target_at(event.position())
        if target is not None:
            self._current = _name_of(target)
            self._follow_target(target)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        found = self._text_at(event.position())
        if found is None or self._target_at(event.position()) is not None:
            self.mousePressEvent(event)
            return
        cursor = QTextCursor(found[0].document(self.ink))
        cursor.setPosition(max(0, found[0].position_at(self.ink, found[1])))
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        self._clear_selection()
        self._selected = found[0]
        self._selected_at = event.position() - found[1]
        found[0].selection = (cursor.anchor(), cursor.position())
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_selection()
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._step_current(1 if event.key() == Qt.Key.Key_Down else -1)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            for target in self.targets():
                if _name_of(target) == self._current:
                    self._follow_target(target)
                    break
        elif event.key() == Qt.Key.Key_End:
            self.scroll_to_end()
        elif event.key() == Qt.Key.Key_Home:
            self.scroll_to_start()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def contextMenuEvent(self, event: object) -> None:
        place = self.viewport().mapFromGlobal(self.cursor().pos())
        self.menu_at(place).popup(self.viewport().mapToGlobal(place))

    def menu_at(self, place: QPoint) -> QMenu:
        """What can be copied at a place."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        icon = self._theme.icon("copy")
        chosen = menu.addAction(icon, tr("Copy selection"), self.copy_selection)
        chosen.setEnabled(bool(self._selected and self._selected.selected_text(self.ink)))
        number = bisect_right(self._tops, place.y() + self.verticalScrollBar().value()) - 1
        if 0 <= number < len(self._blocks):
            spoken = self._blocks[number].spoken()
            whole = menu.addAction(icon, tr("Copy this block"), lambda: _copy(spoken))
            whole.setEnabled(bool(spoken))
        menu.addAction(icon, tr("Copy all that is loaded"), lambda: _copy(self.text()))
        return menu

    @Slot()
    def copy_selection(self) -> None:
        """Put the selected text on the clipboard."""
        if self._selected is not None:
            text = self._selected.selected_text(self.ink)
            if text:
                _copy(text)

    def _clear_selection(self) -> None:
        if self._selected is not None:
            self._selected.selection = None
            self._selected = None
            self.viewport().update()

    def _step_current(self, step: int) -> None:
        names = [_name_of(target) for target in self.targets()]
        if self._current in names:
            at = names.index(self._current) + step
            if 0 <= at < len(names):
                self._current = names[at]
                self.viewport().update()
                return
        elif names and self._current is None:
            self._current = names[0 if step > 0 else -1]
            self.viewport().update()
            return
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + step * bar.singleStep())
        names = [_name_of(target) for target in self.targets()]
        if self._current not in names:
            self._current = None

    def _follow_target(self, target: Target) -> None:
        if target.kind == "open_thread":
            self.thread_wished.emit(target.value)
        elif target.kind == "link":
            self.link_wished.emit(target.value)
        else:
            self._change(target)

    def _change(self, target: Target) -> None:
        """Fold, unfold or show whole, and keep what is above in its place."""
        anchor = self._top_anchor() if self._tops else None
        width = self._width()
        for block in self._blocks:
            inner = None
            if isinstance(block, FoldBlock):
                inner = block.block_of(self.ink, target.value, width - block.indent_px)
            wanted = block if block.key == target.value else inner
            if wanted is None:
                continue
            if target.kind == "load_all":
                self.ink.whole_keys.add(target.value)
                wanted.invalidate()
            elif isinstance(wanted, FoldBlock):
                wanted.toggle(self.ink)
            block.invalidate()
            break
        self._follows = False
        self._settle(anchor)
        bar = self.verticalScrollBar()
        self._follows = bar.value() >= bar.maximum() - 1


def _name_of(target: Target) -> str:
    return f"{target.kind}:{target.value}"


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
