"""Graphs made by hand and by chance, for layouts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import cast

from sa_builder.project.shapes import EdgeKind, Graph, GraphEdge, GraphNode, GraphSide, NodeKind

_KINDS: Sequence[NodeKind] = ("agent", "agent", "prompt", "tool", "model", "handler", "human")
_LABELS = ("", "", "blocking", "immediate · explicit", "session stop")


def node(name: str, kind: NodeKind = "tool") -> GraphNode:
    """A card; an agent has both sides."""
    side = GraphSide(backing="prompt", name="x") if kind == "agent" else None
    return GraphNode(
        id=name, kind=kind, name=name, subtitle=kind, address=name, side_a=side, side_b=side
    )


def edge(
    source: str, target: str, *, port: str = "", kind: str = "uses", label: str = "", more: str = ""
) -> GraphEdge:
    """A trace from a card, or from its port such as ".side_a"."""
    return GraphEdge(
        id=f"{source}{port}>{target}{more}",
        kind=cast("EdgeKind", kind),
        source=source + port,
        source_node=source,
        target=target,
        label=label,
    )


def graph_of(*pairs: str, kinds: dict[str, NodeKind] | None = None) -> Graph:
    """A graph from pairs such as "a>b"; a lone name is a card without traces."""
    names: dict[str, None] = {}
    edges: list[GraphEdge] = []
    for pair in pairs:
        source, _, target = pair.partition(">")
        names[source] = None
        if target:
            names[target] = None
            edges.append(edge(source, target))
    known = kinds or {}
    return Graph(nodes=[node(name, known.get(name, "tool")) for name in names], edges=edges)


def random_graph(seed: int, count: int, degree: float = 1.6) -> Graph:
    """A graph with cycles, loops, double edges and separate parts; equal for equal seeds."""
    chance = random.Random(seed)
    nodes = [node(f"n{at}", chance.choice(_KINDS)) for at in range(count)]
    edges: list[GraphEdge] = []
    for at in range(int(count * degree)):
        source = chance.randrange(count)
        near = max(0, min(count - 1, source + chance.randint(-12, 25)))
        target = near if chance.random() < 0.9 else chance.randrange(count)
        is_agent = nodes[source].kind == "agent"
        port = chance.choice((".side_a", ".side_b", "")) if is_agent else ""
        kind = chance.choice(("backing", "subagent", "uses", "handoff", "session", "fallback"))
        label = chance.choice(_LABELS)
        edges.append(
            edge(f"n{source}", f"n{target}", port=port, kind=kind, label=label, more=f"#{at}")
        )
    return Graph(nodes=nodes, edges=edges)
