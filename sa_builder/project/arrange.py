"""Lays a graph out left to right: agents, what backs them, what those use.

Deterministic: the same graph gives the same picture, on every machine. No Qt; the window and
`graph --svg` both draw from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sa_builder.project.arrange_layers import (
    Cell,
    Link,
    join,
    layers_of,
    parts_of,
    set_heights,
    set_order,
    turned_round,
)
from sa_builder.project.arrange_routes import (
    GapLeg,
    free_route,
    legs_of,
    place_plates,
    track_x,
    without_repeats,
)
from sa_builder.project.arrange_shapes import (
    END_STEP,
    LAYER_GAP,
    MOST_ENDS,
    PLATE_HEIGHT,
    PLATE_LAYER_GAP,
    PLATE_MARGIN,
    ROW_GAP,
    SHORT_PLATE,
    Arrangement,
    Box,
    Point,
    Route,
    in_y,
    out_y,
    plate_width,
    size_of,
)
from sa_builder.project.shapes import Graph, GraphEdge, GraphNode

_PART_GAP = 56.0
_LEAST_SHELF = 1000.0


def arrange(graph: Graph, moved: Mapping[str, Point] | None = None) -> Arrangement:
    """Lay out every card and trace.

    Args:
        graph: nodes and edges in a stable order; cycles, loops and separate parts are welcome.
        moved: top left corners that a person chose, by node id; they hold, and the traces that
            touch those cards go round the others.
    """
    nodes = list(graph.nodes)
    place = {node.id: at for at, node in enumerate(nodes)}
    edges = [e for e in graph.edges if e.source_node in place and e.target in place]
    pairs = [(place[edge.source_node], place[edge.target]) for edge in edges]
    parts = parts_of(len(nodes), pairs)
    part_of = {node: number for number, part in enumerate(parts) for node in part}
    part_edges: list[list[GraphEdge]] = [[] for _ in parts]
    for edge, (source, _) in zip(edges, pairs, strict=True):
        part_edges[part_of[source]].append(edge)
    done = [
        _Part([nodes[at] for at in part], own).arrangement()
        for part, own in zip(parts, part_edges, strict=True)
    ]
    whole = _on_shelves(done)
    return moved_to(graph, whole, moved) if moved else whole


def moved_to(graph: Graph, base: Arrangement, moved: Mapping[str, Point]) -> Arrangement:
    """The same layout with some cards elsewhere and the traces that this touches led anew.

    Args:
        graph: the graph that `base` was made from.
        base: a finished layout.
        moved: top left corners by node id; ids that the graph does not hold are passed over.
    """
    boxes = dict(base.boxes)
    new: list[Box] = []
    gone: set[str] = set()
    for node_id, (x, y) in moved.items():
        old = boxes.get(node_id)
        if old is not None:
            boxes[node_id] = Box(x=x, y=y, width=old.width, height=old.height)
            new.append(boxes[node_id])
            gone.add(node_id)
    nodes = {node.id: node for node in graph.nodes}
    routes = dict(base.routes)
    ends: dict[str, int] = {}
    touched: list[GraphEdge] = []
    for edge in graph.edges:
        route = routes.get(edge.id)
        if route is None:
            continue
        if edge.source_node in gone or edge.target in gone or _crosses(route, new):
            touched.append(edge)
            ends[edge.target] = ends.get(edge.target, 0) + 1
    for edge in touched:
        source, target = boxes[edge.source_node], boxes[edge.target]
        start = (source.right, source.y + out_y(nodes[edge.source_node], edge))
        old_end = base.routes[edge.id].points[-1][1] - base.boxes[edge.target].y
        points = free_route(start, (target.x, target.y + old_end), boxes.values())
        routes[edge.id] = Route(points=points)
    return place_plates(graph.edges, Arrangement(boxes=boxes, routes=routes))


def _crosses(route: Route, boxes: list[Box]) -> bool:
    for (x1, y1), (x2, y2) in zip(route.points, route.points[1:], strict=False):
        piece = Box(x=min(x1, x2), y=min(y1, y2), width=abs(x2 - x1), height=abs(y2 - y1))
        if any(piece.overlaps(box) for box in boxes):
            return True
    return False


def _on_shelves(parts: list[Arrangement]) -> Arrangement:
    """Set separate parts side by side, then below, the way words fill lines."""
    bounds = [part.bounds for part in parts]
    area = sum((b.width + _PART_GAP) * (b.height + _PART_GAP) for b in bounds)
    most = max([_LEAST_SHELF, (area * 1.6) ** 0.5, *(b.width for b in bounds)])
    boxes: dict[str, Box] = {}
    routes: dict[str, Route] = {}
    x = y = tallest = 0.0
    for part, bound in zip(parts, bounds, strict=True):
        if x and x + bound.width > most:
            x, y, tallest = 0.0, y + tallest + _PART_GAP, 0.0
        dx, dy = x - bound.x, y - bound.y
        x += bound.width + _PART_GAP
        tallest = max(tallest, bound.height)
        if dx == dy == 0:
            boxes.update(part.boxes)
            routes.update(part.routes)
            continue
        for node_id, box in part.boxes.items():
            boxes[node_id] = Box(x=box.x + dx, y=box.y + dy, width=box.width, height=box.height)
        for edge_id, route in part.routes.items():
            plate = route.plate and (route.plate[0] + dx, route.plate[1] + dy)
            routes[edge_id] = Route(
                points=tuple((px + dx, py + dy) for px, py in route.points), plate=plate
            )
    return Arrangement(boxes=boxes, routes=routes)


@dataclass(slots=True, eq=False)
class _Chain:
    """An edge on its way through the layers."""

    edge: GraphEdge
    key: tuple[str, str, bool, str]
    """Edges of one key share legs: port, kind, whether broken, label."""
    cells: list[Cell]
    gaps: list[int]
    """The gap (right of that layer) between each cell and the next."""
    last: Link | None
    """Its final piece, when that runs forward."""
    end_y: float = 0.0
    """Where it arrives, from the target's top."""

    def levels(self, nodes: Mapping[int, GraphNode]) -> list[float]:
        """Height of each horizontal piece."""
        first = self.cells[0].y + out_y(nodes[id(self.cells[0])], self.edge)
        return [first, *(cell.y for cell in self.cells[1:-1]), self.cells[-1].y + self.end_y]


class _Part:
    """One connected part of a graph."""

    def __init__(self, nodes: list[GraphNode], edges: list[GraphEdge]) -> None:
        self._nodes = nodes
        self._edges = edges
        place = {node.id: at for at, node in enumerate(nodes)}
        pairs = [(place[edge.source_node], place[edge.target]) for edge in edges]
        closing = turned_round(len(nodes), pairs)
        layer = layers_of(len(nodes), [p for at, p in enumerate(pairs) if at not in closing])
        self._layers: list[list[Cell]] = [[] for _ in range(max(layer, default=0) + 1)]
        self._ranks = 0
        self._lanes: dict[tuple[object, ...], Cell] = {}
        self._cells: list[Cell] = []
        self._node_of: dict[int, GraphNode] = {}
        for at in self._visit_order(pairs):
            cell = self._cell(layer[at], size_of(nodes[at])[1], is_lane=False)
            self._node_of[id(cell)] = nodes[at]
            self._cells.append(cell)
        cell_of = {self._node_of[id(cell)].id: cell for cell in self._cells}
        self._chains = [
            self._chain(edge, cell_of[edge.source_node], cell_of[edge.target], at in closing)
            for at, edge in enumerate(edges)
        ]
        self._plate_rooms = self._find_plate_rooms()

    def arrangement(self) -> Arrangement:
        """Order, heights, tracks, places, routes, plates."""
        set_order(self._layers)
        set_heights(self._layers, ROW_GAP)
        self._share_ends()
        set_heights(self._layers, ROW_GAP, again=True)
        self._share_ends()
        levels = [chain.levels(self._node_of) for chain in self._chains]
        legs = self._legs(levels)
        count = len(self._layers)
        tracks = {gap: legs_of(legs.get(gap, [])) for gap in range(-1, count)}
        left, starts, widths = 0.0, list[float](), list[float]()
        for number, cells in enumerate(self._layers):
            starts.append(left)
            cards = [self._node_of[id(cell)] for cell in cells if not cell.is_lane]
            widths.append(max((size_of(node)[0] for node in cards), default=0.0))
            left += widths[-1] + self._gap_width(number, tracks[number][1])
        boxes: dict[str, Box] = {}
        for cell in self._cells:
            node = self._node_of[id(cell)]
            width, height = size_of(node)
            boxes[node.id] = Box(x=starts[cell.layer], y=cell.y, width=width, height=height)
        routes: dict[str, Route] = {}
        for chain, heights in zip(self._chains, levels, strict=True):
            source, target = boxes[chain.edge.source_node], boxes[chain.edge.target]
            points: list[Point] = [(source.right, heights[0])]
            for at, gap in enumerate(chain.gaps):
                if abs(heights[at] - heights[at + 1]) < 0.5 and gap not in self._turns(chain):
                    continue
                track, used = tracks[gap][0][self._leg_key(chain, at, gap)], tracks[gap][1]
                room = self._gap_width(gap, used)
                base = starts[gap] + widths[gap] if gap >= 0 else starts[0] - room
                x = base + track_x(track, used, room)
                points += [(x, heights[at]), (x, heights[at + 1])]
            points.append((target.x, heights[-1]))
            routes[chain.edge.id] = Route(points=without_repeats(points))
        return place_plates(self._edges, Arrangement(boxes=boxes, routes=routes))

    def _visit_order(self, pairs: list[tuple[int, int]]) -> list[int]:
        """Nodes depth first from the sources, in edge order: the first order of each layer."""
        out: list[list[int]] = [[] for _ in self._nodes]
        entered = [0] * len(self._nodes)
        for source, target in pairs:
            out[source].append(target)
            entered[target] += source != target
        seen: dict[int, None] = {}
        for root in sorted(range(len(self._nodes)), key=lambda at: (entered[at] > 0, at)):
            stack = [root]
            while stack:
                at = stack.pop()
                if at not in seen:
                    seen[at] = None
                    stack += reversed(out[at])
        return list(seen)

    def _cell(self, layer: int, height: float, *, is_lane: bool) -> Cell:
        cell = Cell(layer=layer, height=height, is_lane=is_lane, rank=self._ranks)
        self._ranks += 1
        self._layers[layer].append(cell)
        return cell

    def _chain(self, edge: GraphEdge, source: Cell, target: Cell, is_closing: bool) -> _Chain:
        key = (edge.source, edge.kind, edge.broken is not None, edge.label)
        start = out_y(self._node_of[id(source)], edge)
        end = in_y(self._node_of[id(target)])
        if not is_closing:
            cells = [source]
            for layer in range(source.layer + 1, target.layer):
                cells.append(self._lane(cells[-1], start, (*key, layer), layer))
            last = self._join(cells[-1], target, start, end)
            gaps = list(range(source.layer, target.layer))
            return _Chain(edge, key, [*cells, target], gaps, last, end)
        cells, after = [source], None
        for layer in range(source.layer, target.layer - 1, -1):
            lane = self._cell(layer, 0, is_lane=True)
            if after is None:
                lane.home = source
            else:
                join(lane, after, 0, 0)
            cells.append(lane)
            after = lane
        gaps = [source.layer, *range(source.layer - 1, target.layer - 2, -1)]
        return _Chain(edge, key, [*cells, target], gaps, None, end)

    def _lane(self, before: Cell, start: float, key: tuple[object, ...], layer: int) -> Cell:
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = self._cell(layer, 0, is_lane=True)
            self._join(before, lane, start, 0)
        return lane

    def _join(self, left: Cell, right: Cell, start: float, end: float) -> Link:
        join(left, right, 0 if left.is_lane else start, 0 if right.is_lane else end)
        return left.after[-1]

    def _share_ends(self) -> None:
        """Stand the ends on one card 12 px apart, or a plate's height, in the order they come."""
        arriving: dict[int, list[_Chain]] = {}
        for chain in self._chains:
            arriving.setdefault(id(chain.cells[-1]), []).append(chain)
        for cell_id, chains in arriving.items():
            middle = in_y(self._node_of[cell_id])
            groups: dict[object, list[_Chain]] = {}
            for chain in chains:
                groups.setdefault((chain.key, id(chain.cells[-2])), []).append(chain)
            ordered = sorted(groups.values(), key=lambda group: self._comes_from(group[0]))
            slots = min(len(ordered), MOST_ENDS)
            has_plates = sum(bool(group[0].edge.label) for group in ordered) > 1
            step = PLATE_HEIGHT + 2 if has_plates else END_STEP
            for at, group in enumerate(ordered):
                slot = at * slots // len(ordered)
                for chain in group:
                    chain.end_y = middle + (slot - (slots - 1) / 2) * step
                    if chain.last is not None:
                        chain.last.right_y = chain.end_y

    def _comes_from(self, chain: _Chain) -> float:
        """Height of a chain's last piece but one."""
        if len(chain.cells) > 2:
            return chain.cells[-2].y
        return chain.cells[0].y + out_y(self._node_of[id(chain.cells[0])], chain.edge)

    def _legs(self, levels: list[list[float]]) -> dict[int, list[GapLeg]]:
        found: dict[int, dict[tuple[object, ...], GapLeg]] = {}
        for chain, heights in zip(self._chains, levels, strict=True):
            for at, gap in enumerate(chain.gaps):
                start, end = heights[at], heights[at + 1]
                if abs(start - end) < 0.5 and gap not in self._turns(chain):
                    continue
                key = self._leg_key(chain, at, gap)
                leg = found.setdefault(gap, {}).get(key)
                if leg is None:
                    found[gap][key] = GapLeg(
                        key, chain.edge.kind, start, min(start, end), max(start, end)
                    )
                else:
                    leg.top, leg.bottom = min(leg.top, end), max(leg.bottom, end)
        return {gap: list(legs.values()) for gap, legs in found.items()}

    def _leg_key(self, chain: _Chain, at: int, gap: int) -> tuple[object, ...]:
        return (*chain.key, id(chain.cells[at]) if at else 0, chain.last is None, gap)

    def _turns(self, chain: _Chain) -> tuple[int, ...]:
        """Gaps in which a backward edge must turn even if it stays at one height."""
        return (chain.gaps[0], chain.gaps[-1]) if chain.last is None else ()

    def _gap_width(self, gap: int, tracks: int) -> float:
        return max(self._plate_rooms.get(gap, LAYER_GAP), 32 + (tracks - 1) * 16)

    def _find_plate_rooms(self) -> dict[int, float]:
        """How wide each gap must be for the plates of edges that have only this gap."""
        rooms: dict[int, float] = {}
        for chain in self._chains:
            if chain.edge.label and chain.last is not None and len(chain.gaps) == 1:
                width = plate_width(chain.edge.label)
                wanted = PLATE_LAYER_GAP if width <= SHORT_PLATE else width + PLATE_MARGIN
                rooms[chain.gaps[0]] = max(wanted, rooms.get(chain.gaps[0], 0.0))
        return rooms
