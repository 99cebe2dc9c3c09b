"""A peer of P5: NodeGraphQt with the same nodes, edges, places and hands.

Runs in a process of its own, started by p5_canvas.py. It is spared what it need not do: no undo
steps, no search for cycles, no signals. Prints JSON.
"""

# pyright: basic, reportMissingImports=false

import json
import math

from NodeGraphQt import BaseNode, NodeGraph
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtWidgets import QApplication

from benchmarks.canvas_graph import (
    SIZE,
    Hands,
    arranged,
    measured,
    milliseconds,
    resident_mb,
    thousand_nodes,
)

PORTS = {"agent": ("side A", "side B"), "prompt": ("uses",), "model": ("fallback",)}


def kind_of_node(kind: str) -> type:
    """A node class with the ports of a kind."""

    def make(self) -> None:
        BaseNode.__init__(self)
        self.add_input("in", multi_input=True)
        for name in PORTS.get(kind, ()):
            self.add_output(name)

    words = {"__identifier__": "bench", "NODE_NAME": kind, "__init__": make}
    return type(f"{kind.title()}Node", (BaseNode,), words)


def build(controller: NodeGraph, graph, places) -> dict[str, BaseNode]:
    """Every node and edge."""
    made = {}
    for node in graph.nodes:
        box = places.boxes[node.id]
        made[node.id] = controller.create_node(
            f"bench.{node.kind.title()}Node",
            name=node.name,
            selected=False,
            pos=(box.x, box.y),
            push_undo=False,
        )
    for edge in graph.edges:
        ports = made[edge.source_node].output_ports()
        port = ports[1 if edge.source.endswith(".side_b") else 0]
        target = made[edge.target].input_ports()[0]
        port.connect_to(target, push_undo=False, emit_signal=False)
    return made


def main() -> None:
    """Measure and print."""
    QApplication([])
    graph = thousand_nodes()
    places = arranged(graph)
    controller = NodeGraph()
    controller.set_acyclic(False)
    for kind in {node.kind for node in graph.nodes}:
        controller.register_node(kind_of_node(kind))
    view = controller.viewer()
    view.resize(*SIZE)
    view.show()
    made = {}
    built = milliseconds(lambda: made.update(build(controller, graph, places)))
    if len(view.all_pipes()) != len(graph.edges):
        raise AssertionError(f"{len(view.all_pipes())} edges")
    hands = Hands(view)
    hands.settle()
    bounds = places.bounds
    whole = QRectF(bounds.x, bounds.y, bounds.width, bounds.height)

    def show(rect: QRectF) -> None:
        view._scene_range = rect
        view._update_scene()

    def go_to_full() -> None:
        rect = QRectF(0, 0, *SIZE)
        rect.moveCenter(whole.center())
        show(rect)
        hands.settle()

    def pan(x: int, y: int) -> None:
        view._set_viewer_pan(-x / view.transform().m11(), -y / view.transform().m11())
        hands.settle()

    def card_at() -> QPoint:
        middle = view.viewport().rect().center()
        places = [
            view.mapFromScene(node.view.mapToScene(node.view.boundingRect().center()))
            for node in made.values()
        ]
        return min(places, key=lambda place: (place - middle).manhattanLength())

    found = measured(
        hands,
        pan=pan,
        zoom=lambda factor: hands.wheel(
            0, round(math.log(factor, 1.001)), Qt.KeyboardModifier.NoModifier
        ),
        fit=lambda: show(QRectF(whole)),
        go_to_full=go_to_full,
        card_at=card_at,
    )
    print(json.dumps(found | {"built": built, "memory": resident_mb()}))


main()
