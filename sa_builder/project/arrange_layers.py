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
_HEIGHT_SWEEPS = 8


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
        layers[place] = cells
        _number(cells)


def set_heights(layers: list[list[Cell]], row_gap: float) -> None:
    """Give each cell its top: near its neighbours, in order, never nearer than the gaps."""
    steps: list[list[float]] = []
    for cells in layers:
        along, offsets = 0.0, [0.0]
        for above, below in pairwise(cells):
            along += above.height + _gap(above, below, row_gap)
            offsets.append(along)
        steps.append(offsets if cells else [])
        for cell, offset in zip(cells, steps[-1], strict=False):
            cell.y = offset
    order = list(range(len(layers)))
    for sweep in range(_HEIGHT_SWEEPS):
        last = sweep >= _HEIGHT_SWEEPS - 2
        for place in order if sweep % 2 == 0 else reversed(order):
            cells = layers[place]
            wanted = [_wish(cell, both=last, forward=sweep % 2 == 0) for cell in cells]
            for cell, top in zip(cells, _spread(wanted, steps[place]), strict=True):
                cell.y = top


def _number(cells: list[Cell]) -> None:
    for place, cell in enumerate(cells):
        cell.place = place


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
        ends = [
            link.right.place
            for cell in cells
            for link in sorted(cell.after, key=lambda link: (link.left_y, link.right.place))
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


def _wish(cell: Cell, *, both: bool, forward: bool) -> tuple[float, float]:
    """The top a cell would take if it stood alone, and how much that counts."""
    total = weight = 0.0
    if both or forward or not cell.after:
        for link in cell.before:
            total += link.weight * (link.left.y + link.left_y - link.right_y)
            weight += link.weight
    if both or not forward or not cell.before:
        for link in cell.after:
            total += link.weight * (link.right.y + link.right_y - link.left_y)
            weight += link.weight
    return (total / weight, weight) if weight else (cell.y, 0.1)


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
        for _ in range(count):
            tops.append(round(mean) + offsets[len(tops)])
    return tops
