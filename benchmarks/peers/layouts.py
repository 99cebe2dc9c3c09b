"""Peers of P6: pyelk and fast-sugiyama with the same nodes, sizes and edges.

Runs in a process of its own, started by p6_layout.py with the peers' folder in its path. Prints
JSON: the median in milliseconds, and where the cards stand.
"""

# pyright: basic, reportMissingImports=false

import json
import sys
from itertools import count, pairwise

from benchmarks.measure import median_ms
from benchmarks.p6_layout import TIMES, cyclic_graph
from sa_builder.project.arrange_shapes import size_of


def pyelk_layout(graph):
    """Layered, left to right, asked for right-angled edges: what ours gives, without plates."""
    from pyelk import ELK

    numbers = count()
    options = {
        "elk.algorithm": "layered",
        "elk.direction": "RIGHT",
        "elk.edgeRouting": "ORTHOGONAL",
        "elk.spacing.nodeNode": "24",
        "elk.layered.spacing.nodeNodeBetweenLayers": "48",
    }
    made = ELK().layout(
        {
            "id": "root",
            "layoutOptions": options,
            "children": [
                {"id": node.id, "width": size_of(node)[0], "height": size_of(node)[1]}
                for node in graph.nodes
            ],
            "edges": [
                {"id": str(next(numbers)), "sources": [edge.source_node], "targets": [edge.target]}
                for edge in graph.edges
            ],
        }
    )
    places = {child["id"]: (child["x"], child["y"]) for child in made["children"]}
    pieces = []
    for edge in made["edges"]:
        for section in edge.get("sections", ()):
            ends = [section["startPoint"], *section.get("bendPoints", ()), section["endPoint"]]
            pieces += pairwise((end["x"], end["y"]) for end in ends)
    return places, pieces


def sugiyama_layout(graph):
    """Places of points alone, from top to bottom: it knows no sizes and routes no edge."""
    from fast_sugiyama import from_edges

    places = from_edges(
        [(edge.source_node, edge.target) for edge in graph.edges], vertex_spacing=240
    )
    return {key: (x, y) for key, (x, y) in places.to_dict().items()}, []


def main() -> None:
    """Measure the peer named on the command line."""
    layout = {"pyelk": pyelk_layout, "fast_sugiyama": sugiyama_layout}[sys.argv[1]]
    graph = cyclic_graph()
    places, pieces = layout(graph)
    taken = median_ms(lambda: layout(graph), times=TIMES)
    print(json.dumps({"ms": taken, "places": places, "pieces": pieces}))


main()
