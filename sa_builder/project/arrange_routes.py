"""Where traces run: tracks in the gaps between layers, ways round cards, places of plates."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sa_builder.project.arrange_shapes import (
    OUT,
    PLATE_HEIGHT,
    Arrangement,
    Box,
    Point,
    Route,
    plate_width,
)
from sa_builder.project.shapes import GraphEdge

_KIND_ORDER = ("backing", "uses", "subagent", "handoff", "session", "fallback", "hook")
_CLEAR = 8.0
_CELL = 256.0
_TRACE, _PLATE, _CARD = 1, 100, 10_000
"""How bad it is to hide one."""
_PLATE_TRIES = 12
"""After so many places a trace may run under a plate; a card or another plate never does."""
_PLATE_STEP = 9.0
_MOST_PLATE_STEPS = 120
_Thing = tuple[str, int, float, float, float, float]
"""The edge a piece belongs to, empty for cards; its weight; left, top, right, bottom."""


@dataclass(slots=True, eq=False)
class GapLeg:
    """The vertical piece that edges of one port and kind share in one gap."""

    key: tuple[object, ...]
    kind: str
    start_y: float
    """Height of the port or lane it comes from."""
    top: float
    bottom: float


def legs_of(legs: Sequence[GapLeg]) -> tuple[dict[tuple[object, ...], int], int]:
    """A track for each leg, so that no two on one track meet; and how many tracks that takes.

    Legs that go up are taken from the top, those that go down from the bottom: they nest, and
    an inner one does not cross an outer one.
    """

    def order(leg: GapLeg) -> tuple[bool, float, int]:
        up = leg.start_y - leg.top > leg.bottom - leg.start_y
        return (not up, leg.start_y if up else -leg.start_y, _KIND_ORDER.index(leg.kind))

    tracks: list[list[tuple[float, float]]] = []
    chosen: dict[tuple[object, ...], int] = {}
    for leg in sorted(legs, key=order):
        reach = (leg.top - _CLEAR, leg.bottom + _CLEAR)
        for number, track in enumerate(tracks):
            at = bisect(track, reach)
            if (at == 0 or track[at - 1][1] < leg.top) and (
                at == len(track) or track[at][0] > leg.bottom
            ):
                track.insert(at, reach)
                chosen[leg.key] = number
                break
        else:
            chosen[leg.key] = len(tracks)
            tracks.append([reach])
    return chosen, max(1, len(tracks))


def track_x(track: int, tracks: int, gap: float) -> float:
    """Distance of a track from the left of its gap: 20 when there is room, then 16 to 36 apart."""
    if tracks == 1:
        return min(OUT, gap / 2)
    start = OUT if gap >= 72 else 16.0
    step = min(36.0, max(16.0, (gap - start - OUT) / (tracks - 1)))
    return start + track * step


def without_repeats(points: Sequence[Point]) -> tuple[Point, ...]:
    """The same way with no point twice and no corner on a straight line."""
    kept: list[Point] = []
    for point in points:
        if kept and abs(kept[-1][0] - point[0]) < 0.01 and abs(kept[-1][1] - point[1]) < 0.01:
            continue
        if len(kept) > 1 and (
            kept[-2][0] == kept[-1][0] == point[0] or kept[-2][1] == kept[-1][1] == point[1]
        ):
            kept.pop()
        kept.append(point)
    return tuple(kept)


def quick_route(start: Point, end: Point) -> tuple[Point, ...]:
    """A way that looks at no card: for the edge in the hand and for a card being dragged."""
    (x1, y1), (x2, y2) = start, end
    if x2 - x1 >= 2 * 12:
        if abs(y1 - y2) < 1:
            return ((x1, y1), (x2, y1))
        x = x1 + min(OUT, (x2 - x1) / 2)
        return ((x1, y1), (x, y1), (x, y2), (x2, y2))
    middle = (y1 + y2) / 2 if abs(y1 - y2) > 80 else max(y1, y2) + 64
    out, back = x1 + OUT, x2 - OUT
    return ((x1, y1), (out, y1), (out, middle), (back, middle), (back, y2), (x2, y2))


def free_route(start: Point, end: Point, boxes: Iterable[Box]) -> tuple[Point, ...]:
    """The shortest of the plain ways from port to card that crosses no card.

    Args:
        start: the port.
        end: where the trace arrives, at the left edge of a card.
        boxes: every card; the two ends' own included.
    """
    (x1, y1), (x2, y2) = start, end
    left, right = min(x1, x2) - 260, max(x1, x2) + 260
    top, bottom = min(y1, y2) - 260, max(y1, y2) + 260
    near = [
        box
        for box in boxes
        if box.x < right and box.right > left and box.y < bottom and box.bottom > top
    ]
    ways: list[tuple[Point, ...]] = []
    if x2 - x1 >= 24:
        if abs(y1 - y2) < 1:
            ways.append(((x1, y1), (x2, y2)))
        offsets = [OUT, x2 - x1 - OUT, (x2 - x1) / 2, 36.0, x2 - x1 - 36]
        ways += [
            ((x1, y1), (x1 + off, y1), (x1 + off, y2), (x2, y2))
            for off in offsets
            if 10 <= off <= x2 - x1 - 10
        ]
    lanes = {round(edge) for box in near for edge in (box.y - 12, box.bottom + 12)}
    out, back = x1 + OUT, x2 - OUT
    round_trips = [
        ((x1, y1), (out, y1), (out, lane), (back, lane), (back, y2), (x2, y2)) for lane in lanes
    ]
    for way in [*ways, *sorted(round_trips, key=_length)]:
        if not _is_blocked(way, near):
            return without_repeats(way)
    return without_repeats(quick_route(start, end))


def place_plates(edges: Sequence[GraphEdge], arrangement: Arrangement) -> Arrangement:
    """Put each label in the middle of its longest leg, or where it covers nothing."""
    labelled = [e for e in edges if e.label and e.id in arrangement.routes]
    if not labelled:
        return arrangement
    crowd = _Crowd(arrangement)
    routes = dict(arrangement.routes)
    for edge in labelled:
        points = routes[edge.id].points
        routes[edge.id] = Route(points=points, plate=crowd.place(edge, points))
    return Arrangement(boxes=arrangement.boxes, routes=routes)


class _Crowd:
    """Everything a plate could cover, found by where it lies."""

    def __init__(self, arrangement: Arrangement) -> None:
        self._cells: dict[tuple[int, int], list[_Thing]] = {}
        for box in arrangement.boxes.values():
            # Eight more on the right: ports stand out of the card.
            self._put("", _CARD, box.x - 4, box.y, box.right + 8, box.bottom)
        for edge_id, route in arrangement.routes.items():
            for (ax, ay), (bx, by) in pairwise(route.points):
                left, right = (ax, bx) if ax < bx else (bx, ax)
                top, bottom = (ay, by) if ay < by else (by, ay)
                self._put(edge_id, _TRACE, left - 1, top - 1, right + 1, bottom + 1)

    def place(self, edge: GraphEdge, points: Sequence[Point]) -> Point:
        """The best centre for an edge's plate, which from then on stands in the way of others."""
        across, down = plate_width(edge.label) / 2, PLATE_HEIGHT / 2
        best, fewest = points[0], -1
        for tried, (x, y) in enumerate(_plate_centres(points)):
            covered = self._covered(edge.id, x - across, y - down, x + across, y + down)
            if fewest < 0 or covered < fewest:
                best, fewest = (x, y), covered
            if covered == 0 or (tried >= _PLATE_TRIES and fewest < _PLATE):
                break
        x, y = best
        self._put(edge.id, _PLATE, x - across, y - down, x + across, y + down)
        return best

    def _put(
        self, owner: str, weight: int, left: float, top: float, right: float, bottom: float
    ) -> None:
        thing = (owner, weight, left, top, right, bottom)
        rows = range(int(top // _CELL), int(bottom // _CELL) + 1)
        for column in range(int(left // _CELL), int(right // _CELL) + 1):
            for row in rows:
                self._cells.setdefault((column, row), []).append(thing)

    def _covered(self, owner: str, left: float, top: float, right: float, bottom: float) -> int:
        """How much a plate would hide; its own trace does not count."""
        found: set[_Thing] = set()
        for column in range(int(left // _CELL), int(right // _CELL) + 1):
            for row in range(int(top // _CELL), int(bottom // _CELL) + 1):
                for thing in self._cells.get((column, row), ()):
                    other, _, x, y, far_x, far_y = thing
                    if x < right and left < far_x and y < bottom and top < far_y and other != owner:
                        found.add(thing)
        return sum(thing[1] for thing in found)


def _plate_centres(points: Sequence[Point]) -> Iterator[Point]:
    """Where a plate may lie, best first: over a jog lower than itself, then along the legs."""
    for (ax, ay), (dx, dy) in zip(points, points[3:], strict=False):
        if abs(ay - dy) < PLATE_HEIGHT:
            yield (ax + dx) / 2, (ay + dy) / 2
    pieces = sorted(
        pairwise(points),
        key=lambda piece: -abs(piece[0][0] - piece[1][0]) - abs(piece[0][1] - piece[1][1]),
    )
    for (ax, ay), (bx, by) in pieces[:2]:
        for share in (0.5, 0.35, 0.65, 0.2, 0.8):
            yield ax + (bx - ax) * share, ay + (by - ay) * share
    for (ax, ay), (bx, by) in pieces:
        steps = int((abs(ax - bx) + abs(ay - by)) / _PLATE_STEP)
        for at in range(1, min(steps, _MOST_PLATE_STEPS)):
            share = at / steps
            yield ax + (bx - ax) * share, ay + (by - ay) * share


def _length(way: Sequence[Point]) -> float:
    return sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairwise(way))


def _is_blocked(way: Sequence[Point], boxes: Sequence[Box]) -> bool:
    for (ax, ay), (bx, by) in pairwise(way):
        left, right, top, bottom = min(ax, bx), max(ax, bx), min(ay, by), max(ay, by)
        for box in boxes:
            if left < box.right and box.x < right and top < box.bottom and box.y < bottom:
                return True
            if left == right and box.x < left < box.right and top < box.bottom and box.y < bottom:
                return True
            if top == bottom and box.y < top < box.bottom and left < box.right and box.x < right:
                return True
    return False
