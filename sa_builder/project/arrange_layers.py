"""Layers, order and heights of a layered layout: the part of `arrange` that knows no routes.

A composition may hold cycles and separate parts. Edges that close a cycle are turned round for
the layout only; an edge over several layers gets a lane (a cell without a card) in each layer
between, so that it never crosses a card.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

LANE_GAP = 12.0
CARD_LANE_GAP = 16.0
LANE_WEIGHT = 8.0
_SWEEPS = 4
_HEIGHT_SWEEPS = 6
_HEIGHT_SWEEPS_AGAIN = 3


@dataclass(slots=True, eq=False)
class Cell:
    """One place in a layer: a card, or a lane that edges pass through."""

    layer: int
    height: float
    is_lane: bool
    rank: int
    """Where it was met first; settles every tie."""
    y: float = 0.0
    """Top."""
    before: list[Link] = field(default_factory=list["Link"])
    after: list[Link] = field(default_factory=list["Link"])
    home: Cell | None = None
    """Of a lane that leads back: the card in its layer that it comes from and lies below."""
    place: int = 0
    """Its place in the layer, from the top."""


@dataclass(slots=True, eq=False)
class Link:
    """A piece of an edge between two neighbouring layers."""

    left: Cell
    right: Cell
    left_y: float
    """Where it leaves, from the left cell's top."""
    right_y: float
    """Where it arrives, from the right cell's top."""
    weight: float = 1.0


def join(left: Cell, right: Cell, left_y: float, right_y: float) -> None:
    """Tie two cells of neighbouring layers, so that each draws the other to its height."""
    link = Link(left, right, left_y, right_y, LANE_WEIGHT if left.is_lane and right.is_lane else 1)
    left.after.append(link)
    right.before.append(link)


def turned_round(count: int, pairs: Sequence[tuple[int, int]]) -> set[int]:
    """Places in `pairs` of the edges that close a cycle, met depth first from the sources.

    Args:
        count: how many nodes there are; they are numbered from 0.
        pairs: source and target of each edge.
    """
    out: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    entered = [0] * count
    for place, (source, target) in enumerate(pairs):
        out[source].append((place, target))
        if source != target:
            entered[target] += 1
    closing: set[int] = set()
    state = [0] * count
    for root in sorted(range(count), key=lambda node: (entered[node] > 0, node)):
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(out[root]))]
        while stack:
            node, rest = stack[-1]
            for place, target in rest:
                if state[target] == 1:
                    closing.add(place)
                elif state[target] == 0:
                    state[target] = 1
                    stack.append((target, iter(out[target])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return closing


def layers_of(count: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """The longest way from a source to each node; `pairs` hold no cycle."""
    out: list[list[int]] = [[] for _ in range(count)]
    missing = [0] * count
    for source, target in pairs:
        out[source].append(target)
        missing[target] += 1
    layer = [0] * count
    ready = [node for node in range(count) if not missing[node]]
    for node in ready:
        for target in out[node]:
            layer[target] = max(layer[target], layer[node] + 1)
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    return layer


def parts_of(count: int, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The separate parts, each in node order, in the order of their first nodes."""
    parent = list(range(count))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for source, target in pairs:
        a, b = root(source), root(target)
        if a != b:
            parent[max(a, b)] = min(a, b)
    parts: dict[int, list[int]] = {}
    for node in range(count):
        parts.setdefault(root(node), []).append(node)
    return list(parts.values())


def set_order(layers: list[list[Cell]]) -> None:
    """Order each layer by its neighbours' middle, keeping the order with the fewest crossings."""
    for cells in layers:
        cells.sort(key=lambda cell: cell.rank)
        _number(cells)
    best = [list(cells) for cells in layers]
    fewest = _crossings(layers)
    for sweep in range(_SWEEPS):
        if fewest == 0:
            break
        forward = sweep % 2 == 0
        for cells in layers[1:] if forward else reversed(layers[:-1]):
            cells.sort(key=lambda cell: (_middle(cell, forward=forward), cell.place))
            _number(cells)
        found = _crossings(layers)
        if found < fewest:
            fewest, best = found, [list(cells) for cells in layers]
    for place, cells in enumerate(best):
        layers[place] = _at_home(cells)
        _number(layers[place])


def set_heights(layers: list[list[Cell]], row_gap: float, *, again: bool = False) -> None:
    """Give each cell its top: near its neighbours, in order, never nearer than the gaps.

    Args:
        again: begin where the cells stand, after the heights of ends have changed.
    """
    steps = [_offsets(cells, row_gap) for cells in layers]
    if not again:
        for cells, offsets in zip(layers, steps, strict=True):
            for cell, offset in zip(cells, offsets, strict=True):
                cell.y = offset
    pulls = [[_pulls(cell) for cell in cells] for cells in layers]
    order = range(len(layers))
    sweeps = _HEIGHT_SWEEPS_AGAIN if again else _HEIGHT_SWEEPS
    for sweep in range(sweeps):
        way = 2 if sweep >= sweeps - 2 else sweep % 2
        for place in reversed(order) if sweep % 2 else order:
            cells = layers[place]
            wanted: list[tuple[float, float]] = []
            for cell, ways in zip(cells, pulls[place], strict=True):
                near, weight = ways[way]
                total = 0.0
                for heavy, other, shift in near:
                    total += heavy * (other.y + shift)
                wanted.append((total / weight, weight) if near else (cell.y, 0.1))
            for cell, top in zip(cells, _spread(wanted, steps[place]), strict=True):
                cell.y = top


def _offsets(cells: list[Cell], row_gap: float) -> list[float]:
    """How far each cell is at least below the first."""
    along, found = 0.0, [0.0] if cells else []
    for above, below in pairwise(cells):
        along += above.height + _gap(above, below, row_gap)
        found.append(along)
    return found


_Pulls = tuple[list[tuple[float, Cell, float]], float]
"""Weight, cell and shift of all that draw a cell to a height; and the sum of the weights."""


def _pulls(cell: Cell) -> tuple[_Pulls, _Pulls, _Pulls]:
    """What draws a cell on the way right, on the way back, and at the end from both sides."""
    before = [(link.weight, link.left, link.left_y - link.right_y) for link in cell.before]
    after = [(link.weight, link.right, link.right_y - link.left_y) for link in cell.after]
    if cell.home is not None:
        before.append((1.0, cell.home, cell.home.height + CARD_LANE_GAP))
    heavy = sum(pull[0] for pull in before)
    heavy_after = sum(pull[0] for pull in after)
    right, back = (before, heavy), (after, heavy_after)
    return (
        right if before else back,
        back if after else right,
        (
            before + after,
            heavy + heavy_after,
        ),
    )


def _number(cells: list[Cell]) -> None:
    for place, cell in enumerate(cells):
        cell.place = place


def _at_home(cells: list[Cell]) -> list[Cell]:
    """The same order, but each lane with a home right below it."""
    guests: dict[int, list[Cell]] = {}
    for cell in cells:
        if cell.home is not None:
            guests.setdefault(id(cell.home), []).append(cell)
    if not guests:
        return cells
    return [one for cell in cells if cell.home is None for one in (cell, *guests.get(id(cell), ()))]


def _middle(cell: Cell, *, forward: bool) -> float:
    links = cell.before if forward else cell.after
    if not links:
        return float(cell.place)
    if forward:
        return sum(link.left.place + link.left_y / 1000 for link in links) / len(links)
    return sum(link.right.place + link.right_y / 1000 for link in links) / len(links)


def _crossings(layers: list[list[Cell]]) -> int:
    """How many pairs of links cross, counted with a Fenwick tree for each gap."""
    total = 0
    for cells, others in pairwise(layers):
        ends: list[int] = []
        for cell in cells:
            if len(cell.after) == 1:
                ends.append(cell.after[0].right.place)
            elif cell.after:
                ends += [
                    end for _, end in sorted((link.left_y, link.right.place) for link in cell.after)
                ]
        size = len(others)
        tree = [0] * (size + 1)
        for seen, end in enumerate(ends):
            at, not_after = end + 1, 0
            while at:
                not_after += tree[at]
                at &= at - 1
            total += seen - not_after
            at = end + 1
            while at <= size:
                tree[at] += 1
                at += at & -at
    return total


def _gap(above: Cell, below: Cell, row_gap: float) -> float:
    if above.is_lane and below.is_lane:
        return LANE_GAP
    return CARD_LANE_GAP if above.is_lane or below.is_lane else row_gap


def _spread(wanted: list[tuple[float, float]], offsets: list[float]) -> list[float]:
    """The tops nearest to those wanted that keep order and gaps (pool adjacent violators)."""
    blocks: list[tuple[float, float, int]] = []
    for (top, weight), offset in zip(wanted, offsets, strict=True):
        mean, heavy, count = top - offset, weight, 1
        while blocks and blocks[-1][0] > mean:
            other, other_heavy, other_count = blocks.pop()
            mean = (mean * heavy + other * other_heavy) / (heavy + other_heavy)
            heavy, count = heavy + other_heavy, count + other_count
        blocks.append((mean, heavy, count))
    tops: list[float] = []
    for mean, _, count in blocks:
        first, at = round(mean), len(tops)
        tops += [first + offset for offset in offsets[at : at + count]]
    return tops
