"""Where the bytes go when an item enters or leaves a bracket: pure text, no meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sa_builder.project.source import Comment, Source

_SPACE = b" \t\f"


@dataclass(frozen=True, slots=True)
class Splice:
    """Replace the bytes from start to end by others."""

    start: int
    end: int
    new: bytes


@dataclass(frozen=True, slots=True)
class Bracket:
    """A list, tuple, dict or argument list; offsets of its brackets and items."""

    open: int
    close: int
    items: Sequence[tuple[int, int]]
    is_tuple: bool = False


@dataclass(frozen=True, slots=True)
class Removal:
    """What leaves with an item."""

    splices: list[Splice]
    same_row_comment: Comment | None


class Rows:
    """A text as rows; knows its comments.

    Args:
        comments: all comments of the text, in order.
    """

    def __init__(self, source: Source, comments: Sequence[Comment]) -> None:
        self._data = source.tree_text
        self._exact = source.utf8
        self._comments = comments
        self._newline = source.newline.encode()

    # looking

    def row_start(self, at: int) -> int:
        """Where the row of an offset begins."""
        return self._data.rfind(b"\n", 0, at) + 1

    def white_before(self, at: int) -> bytes | None:
        """The whitespace between the row's start and an offset; None when more stands there."""
        white = self._data[self.row_start(at) : at]
        return white if not white.strip(_SPACE) else None

    def indent_of(self, at: int) -> bytes:
        """The whitespace at the start of an offset's row."""
        start = self.row_start(at)
        end = start
        while end < len(self._data) and self._data[end : end + 1] in (b" ", b"\t", b"\f"):
            end += 1
        return self._data[start:end]

    def comments_in(self, start: int, end: int) -> list[Comment]:
        """The comments between two offsets."""
        return [each for each in self._comments if start <= each.start and each.end <= end]

    def _row_end(self, at: int) -> int | None:
        """After the line end, when only whitespace stands between an offset and it."""
        place = at
        while place < len(self._data) and self._data[place : place + 1] in (b" ", b"\t", b"\f"):
            place += 1
        if self._data[place : place + 2] == b"\r\n":
            return place + 2
        return place + 1 if self._data[place : place + 1] == b"\n" else None

    def _comma(self, start: int, end: int) -> int | None:
        place = start
        while place < end:
            inside = next((each for each in self._comments if each.start == place), None)
            if inside is not None:
                place = inside.end
            elif self._data[place : place + 1] == b",":
                return place
            else:
                place += 1
        return None

    def _same_row_comment(self, at: int, end: int) -> Comment | None:
        for comment in self._comments:
            if at <= comment.start < end:
                return None if b"\n" in self._data[at : comment.start] else comment
        return None

    def _after(self, bracket: Bracket, index: int) -> int:
        """Where the gap after an item ends."""
        items = bracket.items
        return items[index + 1][0] if index + 1 < len(items) else bracket.close

    # removing

    def removal(self, bracket: Bracket, index: int) -> Removal:
        """Take an item out, with its comma and the comment on its row."""
        removal = self._removal(bracket, index)
        if bracket.is_tuple and len(bracket.items) == 2 and index == 0:
            end = bracket.items[1][1]
            if self._comma(end, bracket.close) is None:  # a tuple of one keeps a comma
                removal.splices.append(Splice(end, end, b","))
        return removal

    def _removal(self, bracket: Bracket, index: int) -> Removal:
        items = bracket.items
        start, end = items[index]
        is_last = index == len(items) - 1
        gap_end = self._after(bracket, index)
        comma = self._comma(end, gap_end)
        comment = self._same_row_comment(end, gap_end)
        if comment is not None and comma is not None and comma > comment.end:
            # a comma on a row of its own: each piece goes by itself
            pieces = [
                Splice(start, end, b""),
                Splice(comment.start, comment.end, b""),
                Splice(comma, comma + 1, b""),
            ]
            return Removal(pieces, comment)
        stop = comma + 1 if comma is not None else end
        if comment is not None:
            stop = comment.end
        if len(items) == 1:
            return Removal(self._empty(bracket, start, stop, comment), comment)
        row_end = self._row_end(stop)
        starts_row = self.white_before(start) is not None
        before = items[index - 1] if index else None
        before_comma = self._comma(before[1], start) if before is not None else None
        leaves_one = bracket.is_tuple and len(items) == 2
        drop_comma = is_last and comma is None and before_comma is not None and not leaves_one
        comma_splice = (
            [Splice(before_comma, before_comma + 1, b"")]
            if drop_comma and before_comma is not None
            else []
        )
        if starts_row and row_end is not None:
            return Removal([*comma_splice, Splice(self.row_start(start), row_end, b"")], comment)
        if not is_last and (index == 0 or starts_row):
            between = self.comments_in(stop, gap_end)
            reach = stop if between else gap_end
            return Removal([Splice(start, reach, b"")], comment)
        assert before is not None
        if self.comments_in(before[1], start):
            return Removal([*comma_splice, Splice(start, stop, b"")], comment)
        if before_comma is None:
            return Removal([Splice(start, stop, b"")], comment)
        reach = before_comma if drop_comma else before_comma + 1
        return Removal([Splice(reach, stop, b"")], comment)

    def _empty(
        self, bracket: Bracket, start: int, stop: int, comment: Comment | None
    ) -> list[Splice]:
        others = [
            each for each in self.comments_in(bracket.open + 1, bracket.close) if each != comment
        ]
        outside = [each for each in others if not (start <= each.start < stop)]
        if not outside:
            return [Splice(bracket.open + 1, bracket.close, b"")]
        row_end = self._row_end(stop)
        if self.white_before(start) is not None and row_end is not None:
            return [Splice(self.row_start(start), row_end, b"")]
        return [Splice(start, stop, b"")]

    # inserting

    def insertion(self, bracket: Bracket, index: int, text: bytes) -> list[Splice]:
        """Put an item before the one at `index`; at the end when there is none."""
        items = bracket.items
        if not items:
            return self._first(bracket, text)
        last_white = self.white_before(items[-1][0])
        if index == 0:
            return self._before_first(bracket, text, own_row=last_white is not None)
        end = items[index - 1][1]
        is_last = index >= len(items)
        gap_end = self._after(bracket, index - 1)
        comma = self._comma(end, gap_end)
        after_comma = comma + 1 if comma is not None else end
        comment = self._same_row_comment(after_comma, gap_end)
        row_stop = comment.end if comment is not None else after_comma
        ends_row = self._row_end(row_stop) is not None
        if last_white is not None and (is_last or ends_row):
            row = self._newline + last_white + text
            if comma is not None:
                return [Splice(row_stop, row_stop, row + b",")]
            if row_stop == end:
                return [Splice(end, end, b"," + row)]
            return [Splice(end, end, b","), Splice(row_stop, row_stop, row)]
        if comma is None:
            return [Splice(end, end, b", " + text)]
        tail = b"" if is_last and bracket.is_tuple and len(items) == 1 else b","
        return [Splice(comma + 1, comma + 1, b" " + text + tail)]

    def _first(self, bracket: Bracket, text: bytes) -> list[Splice]:
        inside = self._data[bracket.open + 1 : bracket.close]
        tail = b"," if bracket.is_tuple else b""
        if b"\n" not in inside:
            return [Splice(bracket.open + 1, bracket.close, text + tail)]
        comments = self.comments_in(bracket.open, bracket.close)
        own = [each for each in comments if self.white_before(each.start) is not None]
        outer = self.indent_of(bracket.open)
        indent = self.indent_of(own[-1].start) if own else outer + self._unit(outer)
        at = self.row_start(bracket.close)
        return [Splice(at, at, indent + text + b"," + self._newline)]

    def _unit(self, indent: bytes) -> bytes:
        return b"\t" if b"\t" in indent or b"\n\t" in self._data else b"    "

    def _before_first(self, bracket: Bracket, text: bytes, *, own_row: bool) -> list[Splice]:
        start = bracket.items[0][0]
        white = self.white_before(start)
        if white is None or not own_row:
            return [Splice(start, start, text + b", ")]
        at = self.block_start(start, bracket.open)
        return [Splice(at, at, white + text + b"," + self._newline)]

    def block_start(self, start: int, limit: int) -> int:
        """The row start of an item's block: with the own-row comments directly above it."""
        at = self.row_start(start)
        while True:
            above = next(
                (
                    each
                    for each in self._comments
                    if each.start > limit
                    and self._row_end(each.end) == at
                    and self.white_before(each.start) is not None
                ),
                None,
            )
            if above is None:
                return at
            at = self.row_start(above.start)

    # moving

    def permutation(self, bracket: Bracket, order: Sequence[int]) -> list[Splice] | None:
        """Put items into a new order; None when comments stand where they cannot move along.

        Args:
            order: for each place, the index of the item that comes there.
        """
        items = bracket.items
        if not self._comments_between(bracket):
            return [
                Splice(*items[place], self._exact[items[source][0] : items[source][1]])
                for place, source in enumerate(order)
                if place != source
            ]
        blocks: list[tuple[int, int, int | None]] = []
        for index, (start, end) in enumerate(items):
            gap_end = self._after(bracket, index)
            comma = self._comma(end, gap_end)
            stop = comma + 1 if comma is not None else end
            if (comment := self._same_row_comment(stop, gap_end)) is not None:
                stop = comment.end
            row_end = self._row_end(stop)
            if self.white_before(start) is None or row_end is None:
                return None
            if comma is not None and self._comments_in_gap(end, comma):
                return None
            if index == 0 and self.row_start(start) <= bracket.open:
                return None
            blocks.append((self.block_start(start, bracket.open), row_end, comma))
        texts: list[bytes] = []
        last = len(items) - 1
        trailing = blocks[last][2] is not None
        for place, source in enumerate(order):
            begin, finish, comma = blocks[source]
            block = self._exact[begin:finish]
            end = items[source][1]
            wants = place != last or trailing
            if wants and comma is None:
                block = self._exact[begin:end] + b"," + self._exact[end:finish]
            elif not wants and comma is not None:
                block = self._exact[begin:comma] + self._exact[comma + 1 : finish]
            texts.append(block)
        return [
            Splice(blocks[place][0], blocks[place][1], texts[place])
            for place in range(len(items))
            if texts[place] != self._exact[blocks[place][0] : blocks[place][1]]
        ]

    def _comments_between(self, bracket: Bracket) -> bool:
        return any(
            not any(start <= each.start < end for start, end in bracket.items)
            for each in self.comments_in(bracket.open, bracket.close)
        )

    def _comments_in_gap(self, start: int, end: int) -> bool:
        return bool(self.comments_in(start, end))


def apply(data: bytes, splices: Sequence[Splice]) -> tuple[bytes, list[tuple[int, int]]]:
    """The text after the splices, and where each new piece stands in it."""
    pieces: list[bytes] = []
    spans: list[tuple[int, int]] = []
    place = 0
    length = 0
    for splice in sorted(splices, key=lambda each: (each.start, each.end)):
        kept = data[place : splice.start]
        pieces += [kept, splice.new]
        length += len(kept)
        spans.append((length, length + len(splice.new)))
        length += len(splice.new)
        place = splice.end
    pieces.append(data[place:])
    return b"".join(pieces), spans
