"""The sizes of the picture and the shapes of a finished layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sa_builder.project.shapes import GraphEdge, GraphNode

AGENT_SIZE = (192.0, 108.0)
LEAF_SIZE = (184.0, 48.0)
SIDE_A_Y = 60.0
SIDE_B_Y = 88.0
HEADER_MIDDLE_Y = 22.0
LEAF_MIDDLE_Y = 24.0
ROW_GAP = 24.0
LAYER_GAP = 48.0
PLATE_LAYER_GAP = 88.0
PLATE_HEIGHT = 18.0
SHORT_PLATE = 64.0
PLATE_MARGIN = 44.0
"""What a longer plate leaves free of its gap: a leg on the left, the arrow on the right."""
END_STEP = 12.0
MOST_ENDS = 3
OUT = 20.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Where a card stands, in scene pixels at 100 %."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    def overlaps(self, other: Box, margin: float = 0) -> bool:
        """Whether the two boxes share more than an edge, each grown by half the margin."""
        return (
            self.x < other.right + margin
            and other.x < self.right + margin
            and self.y < other.bottom + margin
            and other.y < self.bottom + margin
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The corners of a right-angled trace, from its port to the card it ends on."""

    points: tuple[Point, ...]
    plate: Point | None = None
    """Centre of the label plate, when the edge has a label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """A laid out graph."""

    boxes: Mapping[str, Box]
    """By node id."""
    routes: Mapping[str, Route]
    """By edge id; an edge whose ends are not in the graph has none."""

    @property
    def bounds(self) -> Box:
        """What holds all cards and routes."""
        xs = [x for box in self.boxes.values() for x in (box.x, box.right)]
        ys = [y for box in self.boxes.values() for y in (box.y, box.bottom)]
        for route in self.routes.values():
            xs += [x for x, _ in route.points]
            ys += [y for _, y in route.points]
        if not xs:
            return Box(x=0, y=0, width=0, height=0)
        return Box(x=min(xs), y=min(ys), width=max(xs) - min(xs), height=max(ys) - min(ys))


def size_of(node: GraphNode) -> tuple[float, float]:
    """Width and height of a node's card: agents with their sides are larger."""
    return AGENT_SIZE if node.kind == "agent" else LEAF_SIZE


def out_y(node: GraphNode, edge: GraphEdge) -> float:
    """Where an edge leaves a card, from its top: its side's port, else the middle."""
    if node.kind != "agent":
        return LEAF_MIDDLE_Y
    port = edge.source.removeprefix(node.address)
    if port.startswith(".side_a"):
        return SIDE_A_Y
    return SIDE_B_Y if port.startswith(".side_b") else HEADER_MIDDLE_Y


def in_y(node: GraphNode) -> float:
    """Where edges arrive: mid-height of a leaf, the middle of an agent's header.

    An agent's side rows are its way out; an end among them would read as a third port.
    """
    return HEADER_MIDDLE_Y if node.kind == "agent" else LEAF_MIDDLE_Y


def plate_width(label: str) -> float:
    """About how wide a plate with this text is, before any font has measured it."""
    return 12 + 6.4 * len(label)
