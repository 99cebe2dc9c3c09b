"""Foldable rows of a transcript: tool calls, reasoning, child threads."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter

from sa_builder.ui.threads import words
from sa_builder.ui.threads.blocks import (
    INDENT_PX,
    Block,
    CodeBlock,
    SectionBlock,
    Target,
    TextBlock,
)
from sa_builder.ui.threads.ink import Ink
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.paint import paint_box
from sa_builder.ui.widgets.states import StateName

ROW_PX = 28.0
_BODY_PX = 10.0


class FoldBlock(Block):
    """A row that unfolds; its inner blocks are made when it is first opened."""

    indent_px = INDENT_PX
    begins_open = False

    def is_open(self, ink: Ink) -> bool:
        """Whether the inner blocks are in sight."""
        if self.begins_open:
            return self.key not in ink.folded_keys
        return self.key in ink.open_keys

    def toggle(self, ink: Ink) -> None:
        """Fold or unfold."""
        keys = ink.folded_keys if self.begins_open else ink.open_keys
        keys.symmetric_difference_update({self.key})
        self.invalidate()

    def inner(self) -> Sequence[Block]:
        """The blocks that unfold."""
        return ()

    def head_px(self) -> float:
        """The height of the row itself."""
        return ROW_PX

    def measure(self, ink: Ink, width: float) -> float:
        total = self.head_px()
        if self.is_open(ink):
            for block in self.inner():
                total += block.gap_px + block.height(ink, width - 2 * _BODY_PX)
            total += _BODY_PX
        return total

    def estimate(self, width: float) -> float:
        return self._height or self.head_px()

    def paint_inner(self, painter: QPainter, ink: Ink, x: float, y: float, width: float) -> None:
        """Paint the inner blocks below the row."""
        inside = width - 2 * _BODY_PX
        at = y + self.head_px()
        for block in self.inner():
            at += block.gap_px
            height = block.height(ink, inside)
            left = x + _BODY_PX + block.indent_px
            block.paint(painter, ink, left, at, inside - block.indent_px)
            at += height

    def targets(self, ink: Ink, width: float) -> Sequence[Target]:
        word = tr("Fold") if self.is_open(ink) else tr("Unfold")
        head = Target(
            rect=QRectF(0, 0, width, self.head_px()),
            kind="toggle",
            value=self.key,
            name=f"{word} {self.title()}",
        )
        return (head, *self._inner_targets(ink, width))

    def _inner_targets(self, ink: Ink, width: float) -> list[Target]:
        return [
            target.moved(left, top)
            for block, left, top, inside in self._placed(ink, width)
            for target in block.targets(ink, inside)
        ]

    def _placed(self, ink: Ink, width: float) -> list[tuple[Block, float, float, float]]:
        """The inner blocks with their left, top and inner width."""
        if not self.is_open(ink):
            return []
        found: list[tuple[Block, float, float, float]] = []
        inside = width - 2 * _BODY_PX
        at = self.head_px()
        for block in self.inner():
            at += block.gap_px
            found.append((block, _BODY_PX + block.indent_px, at, inside - block.indent_px))
            at += block.height(ink, inside)
        return found

    def block_of(self, ink: Ink, key: str, width: float) -> Block | None:
        """An inner block by its key, however deep."""
        for block, _, _, inside in self._placed(ink, width):
            if block.key == key:
                return block
            if isinstance(block, FoldBlock):
                deeper = block.block_of(ink, key, inside)
                if deeper is not None:
                    block.invalidate()
                    return deeper
        return None

    def text_at(self, ink: Ink, place: QPointF, width: float) -> tuple[TextBlock, QPointF] | None:
        for block, left, top, inside in self._placed(ink, width):
            if top <= place.y() < top + block.height(ink, inside + block.indent_px):
                return block.text_at(ink, place - QPointF(left, top), inside)
        return None

    def title(self) -> str:
        """What it is called aloud."""
        return self.key


class ToolBlock(FoldBlock):
    """A tool call in one row; open, its arguments and its result."""

    def __init__(
        self,
        key: str,
        *,
        name: str,
        arguments_json: str,
        state: StateName,
        result: str | None = None,
        is_error: bool = False,
        duration_ms: float | None = None,
        child_id: str | None = None,
    ) -> None:
        super().__init__(key)
        self.name = name
        self.arguments_json = arguments_json
        self.state: StateName = state
        self.result = result
        self.is_error = is_error
        self.duration_ms = duration_ms
        self.child_id = child_id
        """Set for a child thread that is too deep to be shown inline: the row links to it."""
        self._line = words.arguments_line(arguments_json)
        self._inner: list[Block] | None = None

    def title(self) -> str:
        return f"{tr('tool call')} {self.name}"

    def inner(self) -> Sequence[Block]:
        if self._inner is None:
            made: list[Block] = [
                SectionBlock(f"{self.key}/in", tr("Arguments")),
                CodeBlock(f"{self.key}/arguments", words.pretty_json(self.arguments_json)),
            ]
            if self.result is not None:
                word = tr("Error") if self.is_error else tr("Result")
                made += [
                    SectionBlock(f"{self.key}/out", word),
                    CodeBlock(f"{self.key}/result", words.pretty_json(self.result) or " "),
                ]
            made[0].gap_px = 0
            made[1].gap_px = 4
            if len(made) > 3:
                made[3].gap_px = 4
            self._inner = made
        return self._inner

    def paint(self, painter: QPainter, ink: Ink, x: float, y: float, width: float) -> None:
        box = QRectF(x, y, width, self._height)
        fill, outline = ink.color("surface.card"), ink.color("line.default")
        paint_box(painter, box, 6, fill=fill, outline=outline)
        is_open = self.is_open(ink)
        chevron = "chevron_down" if is_open else "chevron_right"
        ink.icon(painter, QRectF(x + 8, y, 14, ROW_PX), chevron, "text.secondary", 14)
        glyph, hue = ("subagent", "kind.subagent") if self.child_id else ("tool", "kind.tool")
        ink.icon(painter, QRectF(x + 28, y, 16, ROW_PX), glyph, hue)
        right = x + width - 10
        ink.state(painter, QRectF(right - 14, y, 14, ROW_PX), self.state)
        right -= 20
        if self.child_id:
            ink.icon(painter, QRectF(right - 16, y, 16, ROW_PX), "external", "text.secondary")
            right -= 24
        figure = "" if self.duration_ms is None else words.duration(self.duration_ms)
        if figure:
            place = QRectF(x, y, right - x, ROW_PX)
            right -= ink.line(painter, place, figure, "small", "text.muted", right=True) + 10
        rest = QRectF(x + 51, y, right - x - 51, ROW_PX)
        used = ink.line(painter, rest, self.name, "code", "text.primary", weight=600)
        rest.setLeft(rest.left() + used + 8)
        ink.line(painter, rest, self._line, "code_small", "text.muted")
        if is_open:
            self.paint_inner(painter, ink, x, y, width)

    def targets(self, ink: Ink, width: float) -> Sequence[Target]:
        found = list(super().targets(ink, width))
        if self.child_id:
            place = QRectF(width - 58, 0, 28, ROW_PX)
            name = f"{tr('Open')} {self.name}"
            found.insert(0, Target(rect=place, kind="open_thread", value=self.child_id, name=name))
        return found

    def spoken(self) -> str:
        return f"{self.name}({self.arguments_json})\n{self.result or ''}".strip()


class ReasoningBlock(FoldBlock):
    """What a model thought, in one row; open, the whole text."""

    def __init__(self, key: str, text: str, *, figure: str = "") -> None:
        super().__init__(key)
        self.text = text
        self.figure = figure
        self._inner: list[Block] | None = None

    def title(self) -> str:
        return tr("reasoning")

    def inner(self) -> Sequence[Block]:
        if self._inner is None:
            body = TextBlock(f"{self.key}/text", self.text, style="small", token="text.secondary")
            body.indent_px = 0
            body.gap_px = 2
            self._inner = [body]
        return self._inner

    def paint(self, painter: QPainter, ink: Ink, x: float, y: float, width: float) -> None:
        box = QRectF(x, y, width, self._height)
        fill, outline = ink.color("surface.card"), ink.color("line.default")
        paint_box(painter, box, 6, fill=fill, outline=outline)
        chevron = "chevron_down" if self.is_open(ink) else "chevron_right"
        ink.icon(painter, QRectF(x + 8, y, 14, ROW_PX), chevron, "text.secondary", 14)
        ink.icon(painter, QRectF(x + 28, y, 16, ROW_PX), "note", "text.secondary")
        right = x + width - 10
        if self.figure:
            place = QRectF(x, y, right - x, ROW_PX)
            right -= ink.line(painter, place, self.figure, "small", "text.muted", right=True) + 10
        rest = QRectF(x + 51, y, right - x - 51, ROW_PX)
        used = ink.line(painter, rest, tr("Reasoning"), "small", "text.secondary")
        rest.setLeft(rest.left() + used + 8)
        first = self.text[:400].strip().replace("\n", " ")
        ink.line(painter, rest, first, "small", "text.muted")
        if self.is_open(ink):
            self.paint_inner(painter, ink, x, y, width)

    def spoken(self) -> str:
        return self.text


class ChildBlock(FoldBlock):
    """A child thread in a box: its header, and its own messages one level deep."""

    begins_open = True
    gap_px = 8.0

    def __init__(
        self,
        key: str,
        *,
        thread_id: str,
        agent: str,
        caption: str,
        cost: str,
        state: StateName,
        state_word: str,
        blocks: Sequence[Block],
    ) -> None:
        super().__init__(key)
        self.thread_id = thread_id
        self.agent = agent
        self._caption = caption
        self._cost = cost
        self._state: StateName = state
        self._state_word = state_word
        self._blocks = blocks

    def spoken(self) -> str:
        inner = "\n".join(block.spoken() for block in self._blocks)
        return f"{self.agent}, {self._caption}, {self._state_word}\n{inner}".strip()

    def title(self) -> str:
        return f"{tr('child thread')} {self.agent}"

    def inner(self) -> Sequence[Block]:
        return self._blocks

    def head_px(self) -> float:
        return 36.0

    def measure(self, ink: Ink, width: float) -> float:
        extra = 6.0 if self.is_open(ink) and self._blocks else 0.0
        return super().measure(ink, width - 3) + extra

    def paint(self, painter: QPainter, ink: Ink, x: float, y: float, width: float) -> None:
        box = QRectF(x, y, width, self._height)
        paint_box(painter, box, 6, fill=ink.color("kind.subagent"))
        inside = box.adjusted(3, 0, 0, 0)
        paint_box(
            painter, inside, 5, fill=ink.color("surface.card"), outline=ink.color("line.card")
        )
        is_open = self.is_open(ink)
        chevron = "chevron_down" if is_open else "chevron_right"
        ink.icon(painter, QRectF(x + 11, y, 14, 36), chevron, "text.secondary", 14)
        ink.icon(painter, QRectF(x + 33, y, 16, 36), "subagent", "kind.subagent")
        right = x + width - 12
        ink.icon(painter, QRectF(right - 16, y, 16, 36), "external", "text.secondary")
        right = ink.pill(painter, right - 28, y + 18, self._state, self._state_word) - 8
        if self._cost:
            place = QRectF(x, y, right - x, 36)
            right -= ink.line(painter, place, self._cost, "small", "text.muted", right=True) + 8
        rest = QRectF(x + 57, y, right - x - 57, 36)
        used = ink.line(painter, rest, self.agent, "strong", "text.primary")
        rest.setLeft(rest.left() + used + 8)
        ink.line(painter, rest, self._caption, "caption", "text.muted")
        if is_open and self._blocks:
            line = QRectF(x + 4, y + 35.5, width - 5, 1)
            painter.fillRect(line, ink.color("line.default"))
            self.paint_inner(painter, ink, x + 3, y + 6, width - 3)

    def _placed(self, ink: Ink, width: float) -> list[tuple[Block, float, float, float]]:
        return [
            (block, left + 3, top + 6, inside)
            for block, left, top, inside in super()._placed(ink, width - 3)
        ]

    def targets(self, ink: Ink, width: float) -> Sequence[Target]:
        place = QRectF(width - 34, 4, 28, 28)
        name = f"{tr('Open')} {self.agent}"
        link = Target(rect=place, kind="open_thread", value=self.thread_id, name=name)
        return (link, *super().targets(ink, width))
