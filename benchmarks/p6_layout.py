"""P6: a layered layout of 300 nodes with cycles: cards, traces, plates.

Beside it: pyelk, which is written in Python too and gives the same things but plates, and
fast-sugiyama, which is written in Rust and gives places of points alone. Each runs in a process of
its own.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from benchmarks.measure import median_ms, table
from sa_builder.project.arrange import arrange
from sa_builder.project.arrange_layers import turned_round
from sa_builder.project.arrange_shapes import Box, Point, size_of
from sa_builder.project.shapes import Graph, GraphEdge

REPO = Path(__file__).resolve().parent.parent
PEERS = REPO / "build" / "layout_peers"
NODES, HANDOFFS, TIMES = 300, 30, 15
PEER_LIMIT_S = 300
Piece = tuple[Point, Point]
_INSTALL = (sys.executable, "-m", "pip", "install", "--quiet")


def cyclic_graph() -> Graph:
    """Eight compositions whose prompts hand off to their own first agent and to any other."""
    from benchmarks.canvas_graph import team

    chance = random.Random(6)
    made = [team(number, chance) for number in range(8)]
    nodes = [node for nodes, _ in made for node in nodes][:NODES]
    ids = {node.id for node in nodes}
    edges = [
        edge
        for _, edges in made
        for edge in edges
        if edge.source_node in ids and edge.target in ids
    ]
    prompts = [node.id for node in nodes if node.kind == "prompt"]
    agents = [node.id for node in nodes if node.kind == "agent"]
    for at in range(HANDOFFS):
        prompt = chance.choice(prompts)
        first = f"agents/{prompt.split('/')[1].split('_')[0]}_agent0"
        edges.append(
            GraphEdge(
                id=f"{prompt}.tools[{at}]#handoff",
                kind="handoff",
                source=prompt,
                source_node=prompt,
                target=first if at % 3 == 0 else chance.choice(agents),
            )
        )
    return Graph(nodes=tuple(nodes), edges=tuple(edges))


def overlaps(graph: Graph, places: Mapping[str, Point]) -> int:
    """How many pairs of cards lie on each other."""
    boxes = [
        Box(x=x, y=y, width=width, height=height)
        for (x, y), (width, height) in (
            (places[node.id], size_of(node)) for node in graph.nodes if node.id in places
        )
    ]
    return sum(one.overlaps(other) for one, other in combinations(boxes, 2))


def crossed(graph: Graph, places: Mapping[str, Point], pieces: Sequence[Piece]) -> int:
    """How many straight pieces of traces run over a card."""
    cards = [(*places[node.id], *size_of(node)) for node in graph.nodes]
    found = 0
    for (x1, y1), (x2, y2) in pieces:
        for x, y, width, height in cards:
            # Where along the piece it is between the card's sides, a pixel within each.
            low, high = 0.0, 1.0
            for start, by, near, far in (
                (x1, x2 - x1, x + 1, x + width - 1),
                (y1, y2 - y1, y + 1, y + height - 1),
            ):
                if by == 0:
                    low, high = (low, high) if near < start < far else (1.0, 0.0)
                    continue
                ends = sorted(((near - start) / by, (far - start) / by))
                low, high = max(low, ends[0]), min(high, ends[1])
            if low < high:
                found += 1
                break
    return found


def cycles(graph: Graph) -> int:
    """How many edges close a cycle."""
    place = {node.id: at for at, node in enumerate(graph.nodes)}
    pairs = [(place[edge.source_node], place[edge.target]) for edge in graph.edges]
    return len(turned_round(len(place), pairs))


def peer(name: str) -> dict[str, Any] | None:
    """A peer's own numbers; None, and said, when it cannot be had."""
    try:
        if not PEERS.exists():
            wanted = str(REPO / "benchmarks" / "peers" / "layout_requirements.txt")
            subprocess.run(
                [*_INSTALL, "--target", str(PEERS), "--requirement", wanted],
                check=True,
                capture_output=True,
            )
        ended = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "benchmarks.peers.layouts", name],
            cwd=REPO,
            env=os.environ | {"PYTHONPATH": str(PEERS)},
            check=True,
            capture_output=True,
            text=True,
            timeout=PEER_LIMIT_S,
        )
    except (OSError, subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(f"{name} is not here to compare with: {error}", file=sys.stderr)
        return None
    return json.loads(ended.stdout.splitlines()[-1])


def main() -> None:
    """Measure and print a table."""
    graph = cyclic_graph()
    found = arrange(graph)
    if any(arrange(graph) != found for _ in range(3)):
        raise AssertionError("The layout is not the same each time.")
    ours = median_ms(lambda: arrange(graph), times=TIMES)
    mine = {key: (box.x, box.y) for key, box in found.boxes.items()}
    pieces = [piece for route in found.routes.values() for piece in pairwise(route.points)]
    faults = [str(overlaps(graph, mine)), str(crossed(graph, mine, pieces))]
    rows: list[Sequence[str]] = [
        ["ours", f"{ours:,.1f}", "≤ 60", *faults, "cards, traces, plates", ""]
    ]
    gives = {"pyelk": "cards, traces", "fast_sugiyama": "points"}
    for name, words in gives.items():
        other = peer(name)
        if other is not None:
            faults = ["–", "–"]
            if other["pieces"]:
                places, pieces = other["places"], other["pieces"]
                faults = [str(overlaps(graph, places)), str(crossed(graph, places, pieces))]
            ratio = f"{other['ms'] / ours:.2f} × ours"
            rows.append([name, f"{other['ms']:,.1f}", "", *faults, words, ratio])
    print(
        table(
            ["what", "ms (median)", "target", "cards on cards", "traces across", "gives", "ratio"],
            rows,
        )
    )
    print(
        f"\n{len(graph.nodes)} nodes, {len(graph.edges)} edges, {cycles(graph)} of which close a"
        f" cycle; the same layout each time."
    )


if __name__ == "__main__":
    main()
