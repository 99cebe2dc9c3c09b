"""The parts a transcript is made of: each knows its height at a width, and paints itself."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QPainter,
    QPalette,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextLength,
    QTextOption,
    QTextTable,
)

from sa_builder.ui.threads import words
from sa_builder.ui.threads.ink import Ink
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.paint import paint_box, paint_tile

INDENT_PX = 34
TEXT_MOST_PX = 640
GATE_CHARS = 256 * 1024
PREVIEW_CHARS = 8 * 1024
_LONGEST_RUN = 400
_RUN = re.compile(rf"\S{{{_LONGEST_RUN}}}")

ActKind = Literal["toggle", "open_thread", "load_all", "link"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A place in a block that does something when it is pressed."""

    rect: QRectF
    kind: ActKind
    value: str
    """The block's key, the thread's id, or the address of a link."""
    name: str
    """What a screen reader and a test call it."""

    def moved(self, left: float, top: float) -> Target:
        """The same in the coordinates of what contains the block."""
        return replace(self, rect=self.rect.translated(left, top))


class Block(ABC):
    """A part of a transcript; heights are cached for one width."""

    gap_px = 6.0
    """Space above it."""
    indent_px = 0.0

    def __init__(self, key: str) -> None:
        self.key = key
        self._measured: tuple[float, int] | None = None
        self._height = 0.0

    def height(self, ink: Ink, width: float) -> float:
        """The exact height at a width."""
        wanted = (width, ink.generation)
        if self._measured != wanted:
            self._height = self.measure(ink, width - self.indent_px)
            self._measured = wanted
        return self._height

    def is_measured(self, ink: Ink, width: float) -> bool:
        """Whether `height` costs nothing now."""
        return self._measured == (width, ink.generation)

    def estimate(self, width: float) -> float:
        """A cheap guess for a block that was never in sight."""
        return self._height or 28.0

    def invalidate(self) -> None:
        """Its contents changed: measure it again."""
        self._measured = None

    @abstractmethod
    def measure(self, ink: Ink, width: float) -> float:
        """The height at an inner width."""

    @abstractmethod
    def paint(self, painter: QPainter, ink: Ink, x: float, y: float, width: float) -> None:
        """Paint at a place; `width` is the inner one."""

    def targets(self, ink: Ink, width: float) -> Sequence[Target]:
        """What can be pressed, in the block's own coordinates."""
        return ()

    def text_at(self, ink: Ink, place: QPointF, width: float) -> tuple[TextBlock, QPointF] | None:
        """The text under a place, and the place in that text's own coordinates."""
        return None

    def spoken(self) -> str:
        """Its contents as plain text, to copy or to read out."""
        return ""


class HeadBlock(Block):
    """Who speaks: tile, name, caption, time."""

    gap_px = 14.0

    def __init__(
        self,
        key: str,
        *,
        tile: str,
        name: str,
        caption: str,
        time: str,
        is_muted: bool = False,
    ) -> None:
        super().__init__(key)
        self.tile = tile
        self.name = name
        self.caption = caption
        self.time = time
        self.is_muted = is_muted

    def measure(self, ink: Ink, width: float) -> float:
        return 22.0

    def estimate(self, width: float) -> float:
        return 22.0

    def paint(self, painter: QPainter, ink: Ink, x: float, y: float, width: float) -> None:
        if self.is_muted:
            box = QRectF(x, y, 24, 24)
            paint_box(painter, box, 6, outline=ink.color("line.card"))
            ink.icon(painter, box, self.tile, "text.muted")
        else:
            paint_tile(painter, ink.theme, QRectF(x, y, 24, 24), self.tile, ink.dpr)
        left = x + INDENT_PX
        time_width = ink.width("small", self.time)
        rest = QRectF(left, y, width - INDENT_PX - time_width - 12, 24)
        token = "text.muted" if self.is_muted else "text.primary"
        used = ink.line(painter, rest, self.name, "strong", token)
        rest.setLeft(left + used + 6)
        ink.line(painter, rest, self.caption, "caption", "text.muted")
        whole = QRectF(x, y, width, 24)
        ink.line(painter, whole, self.time, "small", "text.muted", right=True)

    def spoken(self) -> str:
        return f"{self.name}, {self.caption}, {self.time}"


class _Document(QTextDocument):
    """A document that loads nothing: no image of a message reaches the disk or the network."""

    def loadResource(self, type: int, name: object) -> object:
        return None


class TextBlock(Block):
    """A message's text: markdown once it is whole, plain while it is streamed."""

    gap_px = 0.0
    indent_px = INDENT_PX

    def __init__(
        self,
        key: str,
        text: str,
        *,
        markdown: bool = True,
        style: str = "body",
        token: str = "text.primary",
        most_px: float = TEXT_MOST_PX,
    ) -> None:
        super().__init__(key)
        self.text = text
        self._markdown = markdown
        self._style = style
        self._token = token
        self._most_px = most_px
        self._document: QTextDocument | None = None
        self._made_for = (-1, False)
        self.selection: tuple[int, int] | None = None
        """Anchor and end of the selected text."""

    def append(self, more: str) -> None:
        """Add streamed text at the end."""
        self.text += more
        if self._document is not None:
            cursor = QTextCursor(self._document)
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(more)
        self.invalidate()

    def is_gated(self, ink: Ink) -> bool:
        """Whether only a preview is in sight."""
        return len(self.text) > GATE_CHARS and self.key not in ink.whole_keys

    def document(self, ink: Ink) -> QTextDocument:
        """The laid out text, made when it is first wanted in this scheme."""
        wanted = (ink.generation, self.is_gated(ink))
        if self._document is None or self._made_for != wanted:
            self._document = self._made(ink)
            self._made_for = wanted
        return self._document

    def estimate(self, width: float) -> float:
        if self._height:
            return self._height
        per_line = max(20.0, min(self._most_px, width) / 6.6)
        lines = sum(1 + len(line) // per_line for line in self.text[:4000].split("\n"))
        return 20.0 * max(1.0, lines)

    def measure(self, ink: Ink, width: float) -> float:
        document = self.document(ink)
        document.setTextWidth(max(60.0, min(self._most_px, width)))
        foot = 24.0 if self.is_gated(ink) else 0.0
        return float(document.size().height()) + foot

    def paint(self, painter: QPainter, ink: Ink, x: float, y: float, width: float) -> None:
        document = self.document(ink)
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.Text, ink.color(self._token))
        context.palette = palette  # pyright: ignore[reportAttributeAccessIssue]
        if self.selection is not None:
            chosen = QAbstractTextDocumentLayout.Selection()
            cursor = QTextCursor(document)
            cursor.setPosition(self.selection[0])
            cursor.setPosition(self.selection[1], QTextCursor.MoveMode.KeepAnchor)
            chosen.cursor = cursor  # pyright: ignore[reportAttributeAccessIssue]
            look = QTextCharFormat()
            look.setBackground(ink.color("accent.text_selection"))
            look.setForeground(ink.color("text.primary"))
            chosen.format = look  # pyright: ignore[reportAttributeAccessIssue]
            context.selections = [chosen]  # pyright: ignore[reportAttributeAccessIssue]
        painter.save()
        painter.translate(x, y)
        document.documentLayout().draw(painter, context)
        painter.restore()
        if self.is_gated(ink):
            row = QRectF(x, y + self._height - 22, width, 20)
            ink.line(painter, row, self._gate_words(), "label", "text.link")

    def targets(self, ink: Ink, width: float) -> Sequence[Target]:
        if not self.is_gated(ink):
            return ()
        row = QRectF(0, self._height - 22, ink.width("label", self._gate_words()), 20)
        return (Target(rect=row, kind="load_all", value=self.key, name=self._gate_words()),)

    def text_at(self, ink: Ink, place: QPointF, width: float) -> tuple[TextBlock, QPointF] | None:
        return self, place

    def position_at(self, ink: Ink, place: QPointF) -> int:
        """The character nearest to a place."""
        layout = self.document(ink).documentLayout()
        return layout.hitTest(place, Qt.HitTestAccuracy.FuzzyHit)

    def link_at(self, ink: Ink, place: QPointF) -> str:
        """The address of the link at a place, or nothing."""
        return self.document(ink).documentLayout().anchorAt(place)

    def selected_text(self, ink: Ink) -> str:
        """What is selected, with plain line breaks."""
        if self.selection is None:
            return ""
        cursor = QTextCursor(self.document(ink))
        cursor.setPosition(self.selection[0])
        cursor.setPosition(self.selection[1], QTextCursor.MoveMode.KeepAnchor)
        return cursor.selectedText().replace("\u2029", "\n").replace("\u2028", "\n")

    def spoken(self) -> str:
        return self.text

    def _gate_words(self) -> str:
        return f"{tr('Load all')} {words.size(len(self.text))}"

    def _made(self, ink: Ink) -> QTextDocument:
        document = _Document()
        document.setUndoRedoEnabled(False)
        document.setDocumentMargin(0)
        document.setDefaultFont(ink.font(self._style))
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(option)
        text = self.text[:PREVIEW_CHARS] if self.is_gated(ink) else self.text
        text = _RUN.sub(lambda run: run.group() + "\u200b", text)
        if self._markdown and not self.is_gated(ink):
            document.setMarkdown(
                text,
                QTextDocument.MarkdownFeature.MarkdownDialectGitHub
                | QTextDocument.MarkdownFeature.MarkdownNoHTML,
            )
        else:
            document.setPlainText(text)
        _dress(document, ink, self._style, spaced=self._markdown and self._style == "body")
        return document


def _dress(document: QTextDocument, ink: Ink, style: str, *, spaced: bool) -> None:
    """Give paragraphs the look's line height, code its face, links and tables their colours."""
    block = document.begin()
    line_px = ink.theme.line_height(style)
    while block.isValid():
        cursor = QTextCursor(block)
        cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
        layout = QTextBlockFormat(block.blockFormat())
        in_fence = layout.hasProperty(QTextFormat.Property.BlockCodeFence) or layout.hasProperty(
            QTextFormat.Property.BlockCodeLanguage
        )
        level = layout.headingLevel()
        is_list = block.blockFormat().objectIndex() >= 0
        height = 18 if in_fence else line_px
        layout.setLineHeight(height, QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
        last = not block.next().isValid()
        first = block == document.begin()
        layout.setTopMargin(4 if spaced and level and not first else 0)
        layout.setBottomMargin(0 if last or in_fence or is_list or not spaced else 6)
        QTextCursor(block).setBlockFormat(layout)
        if level:
            look = QTextCharFormat()
            look.setProperty(QTextFormat.Property.FontSizeAdjustment, 0)
            look.setFont(ink.font("heading" if level <= 2 else "strong"))
            cursor.mergeCharFormat(look)
        _dress_fragments(block, ink, document)
        block = block.next()
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            table = frame.format().toTableFormat()
            table.setCellPadding(4)
            table.setCellSpacing(0)
            table.setBorder(1)
            table.setBorderCollapse(True)
            table.setBorderBrush(ink.color("line.card"))
            table.setWidth(QTextLength(QTextLength.Type.VariableLength, 0))
            frame.setFormat(table)


def _dress_fragments(block: QTextBlock, ink: Ink, document: QTextDocument) -> None:
    spans: list[tuple[int, int, QTextCharFormat]] = []
    found = block.begin()
    while not found.atEnd():
        fragment = found.fragment()
        kind = fragment.charFormat()
        look = QTextCharFormat()
        if kind.fontFixedPitch():
            look.setFont(ink.font("code"))
        if kind.isAnchor():
            look.setForeground(ink.color("text.link"))
            look.setFontUnderline(False)
        if look.propertyCount():
            spans.append((fragment.position(), fragment.length(), look))
        found += 1  # pyright: ignore
    for start, length, look in spans:
        cursor = QTextCursor(document)
        cursor.setPosition(start)
        cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(look)


class CodeBlock(TextBlock):
    """Text in mono on the code surface, in a box."""

    gap_px = 6.0
    indent_px = 0.0
    _PADDING_PX = 8.0

    def __init__(self, key: str, text: str) -> None:
        super().__init__(key, text, markdown=False, style="code", token="code.text", most_px=1e9)

    def measure(self, ink: Ink, width: float) -> float:
        return super().measure(ink, width - 2 * self._PADDING_PX) + 2 * self._PADDING_PX - 2

    def paint(self, painter: QPainter, ink: Ink, x: float, y: float, width: float) -> None:
        paint_box(
            painter,
            QRectF(x, y, width, self._height),
            6,
            fill=ink.color("surface.code"),
            outline=ink.color("line.default"),
        )
        pad = self._PADDING_PX
        super().paint(painter, ink, x + pad, y + pad - 1, width - 2 * pad)

    def text_at(self, ink: Ink, place: QPointF, width: float) -> tuple[TextBlock, QPointF] | None:
        return self, place - QPointF(self._PADDING_PX, self._PADDING_PX - 1)


class NoticeBlock(Block):
    """A sentence in a state's colours: why a message failed, or what is missing."""

    indent_px = INDENT_PX

    def __init__(self, key: str, sentence: str, state: Literal["failed", "parked"]) -> None:
        super().__init__(key)
        self.sentence = sentence
        self._state: Literal["failed", "parked"] = state
        self._text = TextBlock(
            f"{key}/text", sentence, markdown=False, style="small", token=f"state.{state}_text"
        )

    def measure(self, ink: Ink, width: float) -> float:
        inner = min(TEXT_MOST_PX, width) - 40
        return self._text.height(ink, inner + INDENT_PX) + 12

    def paint(self, painter: QPainter, ink: Ink, x: float, y: float, width: float) -> None:
        box = QRectF(x, y, min(TEXT_MOST_PX, width), self._height)
        paint_box(
            painter,
            box,
            6,
            fill=ink.color(f"state.{self._state}_tint"),
            outline=ink.color(f"state.{self._state}"),
        )
        ink.state(painter, QRectF(x + 8, y, 16, 28), self._state)
        self._text.paint(painter, ink, x + 32, y + 6, box.width() - 40)

    def text_at(self, ink: Ink, place: QPointF, width: float) -> tuple[TextBlock, QPointF] | None:
        return self._text, place - QPointF(32, 6)

    def spoken(self) -> str:
        return self.sentence


class LabelBlock(Block):
    """A muted word and its value on one line: `request  acme/widgets #482`."""

    gap_px = 8.0

    def __init__(self, key: str, label: str, value: str) -> None:
        super().__init__(key)
        self._label = label
        self._value = value

    def measure(self, ink: Ink, width: float) -> float:
        return 20.0

    def paint(self, painter: QPainter, ink: Ink, x: float, y: float, width: float) -> None:
        ink.line(painter, QRectF(x, y, 54, 20), self._label, "caption", "text.muted")
        rest = QRectF(x + 60, y, width - 60, 20)
        ink.line(painter, rest, self._value, "small", "text.primary")

    def spoken(self) -> str:
        return f"{self._label}: {self._value}"


class SectionBlock(Block):
    """A small heading over a part of an unfolded row."""

    gap_px = 8.0

    def __init__(self, key: str, word: str) -> None:
        super().__init__(key)
        self._word = word

    def measure(self, ink: Ink, width: float) -> float:
        return 16.0

    def paint(self, painter: QPainter, ink: Ink, x: float, y: float, width: float) -> None:
        ink.line(painter, QRectF(x, y, width, 16), self._word, "caption", "text.muted")


def stacked_height(blocks: Sequence[Block], ink: Ink, width: float) -> float:
    """The height of blocks one below the other, the first one's gap left out."""
    total = 0.0
    for number, block in enumerate(blocks):
        total += (block.gap_px if number else 0.0) + block.height(ink, width)
    return total
