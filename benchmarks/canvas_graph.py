"""What both canvases of P5 are given: one graph, one pair of hands, one way to paint."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from time import perf_counter
from typing import cast

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QGraphicsView

from benchmarks.measure import median_ms
from sa_builder.project.arrange import arrange
from sa_builder.project.arrange_shapes import Arrangement
from sa_builder.project.shapes import EdgeKind, Graph, GraphEdge, GraphNode, GraphSide, NodeKind

SIZE = (1600, 1000)
TEAMS, NODES_A_TEAM, EDGES_A_TEAM = 25, 40, 60
TIMES = 60


def team(number: int, chance: random.Random) -> tuple[list[GraphNode], list[GraphEdge]]:
    """One composition: ten agents, what backs them, what those use, and each other's work."""
    agents = [f"agents/team{number}_agent{at}" for at in range(10)]
    prompts = [f"prompts/team{number}_prompt{at}" for at in range(10)]
    tools = [f"tools/team{number}_tool{at}" for at in range(14)]
    models = [f"models/team{number}_model{at}" for at in range(2)]
    handlers = [f"handlers/team{number}_handler{at}" for at in range(4)]

    def short(address: str) -> str:
        return address.split("/", 1)[1]

    def leaf(address: str) -> GraphNode:
        kind = cast("NodeKind", address.split("/", 1)[0].removesuffix("s"))
        return GraphNode(
            id=address, kind=kind, name=short(address), subtitle=f"{kind} · reads", address=address
        )

    nodes = [
        GraphNode(
            id=agent,
            kind="agent",
            name=short(agent),
            subtitle="agent · exposed as tool",
            address=agent,
            side_a=GraphSide(backing="prompt", name=short(prompts[at])),
            side_b=GraphSide(backing="handler", name=short(handlers[at % 4])),
        )
        for at, agent in enumerate(agents)
    ] + [leaf(address) for address in (*prompts, *handlers, *models, *tools)]
    edges: list[GraphEdge] = []

    def tie(kind: str, port: str, source: str, target: str, label: str = "") -> None:
        edges.append(
            GraphEdge(
                id=f"{port}.{kind}[{len(edges)}]",
                kind=cast("EdgeKind", kind),
                source=port,
                source_node=source,
                target=target,
                label=label,
            )
        )

    for at, agent in enumerate(agents):
        tie("backing", f"{agent}.side_a", agent, prompts[at])
        tie("backing", f"{agent}.side_b", agent, handlers[at % 4])
        tie("uses", prompts[at], prompts[at], models[at % 2])
        if at:
            boss = agents[(at - 1) // 3]
            tie("subagent", f"{boss}.side_a", boss, agent, ("blocking", "immediate", "")[at % 3])
    for tool in tools:
        user = chance.choice(prompts)
        tie("uses", user, user, tool)
    used = {(edge.source, edge.target) for edge in edges}
    while len(edges) < EDGES_A_TEAM:
        user, tool = chance.choice(prompts), chance.choice(tools)
        if (user, tool) not in used:
            used.add((user, tool))
            tie("session" if len(edges) % 5 == 0 else "uses", user, user, tool)
    return nodes, edges


def thousand_nodes() -> Graph:
    """1,000 nodes and 1,500 edges, the same each time."""
    chance = random.Random(5)
    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    for number in range(TEAMS):
        more_nodes, more_edges = team(number, chance)
        nodes += more_nodes
        edges += more_edges
    if (len(nodes), len(edges)) != (TEAMS * NODES_A_TEAM, TEAMS * EDGES_A_TEAM):
        raise AssertionError(f"{len(nodes)} nodes, {len(edges)} edges")
    return Graph(nodes=tuple(nodes), edges=tuple(edges))


def arranged(graph: Graph) -> Arrangement:
    """Where the cards stand; the peer is given the same places."""
    return arrange(graph)


class Painted(QObject):
    """Counts the paint events of a viewport, so that no step passes for one that drew nothing."""

    def __init__(self, view: QGraphicsView) -> None:
        super().__init__(view)
        self.count = 0
        self.share: list[float] = []
        self._whole = view.viewport().width() * view.viewport().height()
        view.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.count += 1
            region = event.region()  # type: ignore[attr-defined]  # pyright: ignore
            area = sum(rect.width() * rect.height() for rect in region)  # pyright: ignore
            self.share.append(area / self._whole)  # pyright: ignore
        return False


class Hands:
    """Wheel and mouse over a view, each act painted to its end before it returns."""

    def __init__(self, view: QGraphicsView) -> None:
        self.view = view
        self.painted = Painted(view)
        while not view.window().windowHandle().isExposed():
            QCoreApplication.processEvents()
        self._at = QPointF(SIZE[0] / 2, SIZE[1] / 2)

    def settle(self) -> None:
        """Deliver what waits and paint what is dirty, now and with no idle time between."""
        QCoreApplication.sendPostedEvents()
        QCoreApplication.sendEvent(self.view.window(), QEvent(QEvent.Type.UpdateRequest))

    def repaint(self) -> None:
        """Paint all of it."""
        self.view.viewport().repaint()

    def wheel(self, x: int, y: int, modifier: Qt.KeyboardModifier) -> None:
        """Turn the wheel over the middle."""
        viewport = self.view.viewport()
        event = QWheelEvent(
            self._at, QPointF(viewport.mapToGlobal(self._at.toPoint())), QPoint(), QPoint(x, y),
            Qt.MouseButton.NoButton, modifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QCoreApplication.sendEvent(viewport, event)
        self.settle()

    def press(self, at: QPoint) -> None:
        """Take hold with the left button."""
        self._mouse(QEvent.Type.MouseButtonPress, at, Qt.MouseButton.LeftButton)

    def move(self, at: QPoint) -> None:
        """Move with the left button down."""
        self._mouse(QEvent.Type.MouseMove, at, Qt.MouseButton.NoButton)

    def release(self, at: QPoint) -> None:
        """Let go."""
        self._mouse(QEvent.Type.MouseButtonRelease, at, Qt.MouseButton.LeftButton)

    def _mouse(self, kind: QEvent.Type, at: QPoint, button: Qt.MouseButton) -> None:
        viewport = self.view.viewport()
        held = Qt.MouseButton.LeftButton
        if kind == QEvent.Type.MouseButtonRelease:
            held = Qt.MouseButton.NoButton
        event = QMouseEvent(
            kind, QPointF(at), QPointF(viewport.mapToGlobal(at)), button, held,
            Qt.KeyboardModifier.NoModifier,
        )  # fmt: skip
        QCoreApplication.sendEvent(viewport, event)
        self.settle()


def measured(
    hands: Hands,
    *,
    pan: Callable[[int, int], None],
    zoom: Callable[[float], None],
    fit: Callable[[], None],
    go_to_full: Callable[[], None],
    card_at: Callable[[], QPoint],
) -> dict[str, float]:
    """Every step of P5, in milliseconds, medians.

    Args:
        pan: by pixels, painted when it returns; likewise the others.
        zoom: by a factor about the middle.
        fit: everything in sight.
        go_to_full: 100 %, the middle of the graph in the middle.
        card_at: where on the screen the card nearest to the middle can be taken.
    """
    found: dict[str, float] = {}
    go_to_full()
    hands.repaint()
    turn = cycle([(40, 24), (40, 24), (-40, -24), (-40, -24)])
    found["pan"] = _each_paints(hands, lambda: pan(*next(turn)))
    found["pan_share"] = statistics.median(hands.painted.share[-TIMES:])
    factors = cycle([1.1, 1 / 1.1, 1 / 1.1, 1.1])
    found["zoom"] = _each_paints(hands, lambda: zoom(next(factors)))
    go_to_full()
    new = iter([step for at in range(TIMES) for step in (1.1 + at / 1000, 1 / (1.102 + at / 1000))])
    found["new_zoom"] = _each_paints(hands, lambda: zoom(next(new)))
    go_to_full()
    found["repaint"] = median_ms(hands.repaint, times=TIMES, warm_up=3)
    at = card_at()
    hands.press(at)
    places = cycle([QPoint(3 * by, 2 * by) for by in (*range(1, 20), *range(20, 0, -1))])
    hands.move(at + next(places))
    found["drag"] = _each_paints(hands, lambda: hands.move(at + next(places)))
    hands.release(at + QPoint(3, 2))
    fit()
    found["fit"] = median_ms(lambda: (fit(), hands.repaint()), times=TIMES, warm_up=3)
    return found


def resident_mb() -> float:
    """What the process holds in memory now."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("No VmRSS in the process's status.")


def milliseconds(act: Callable[[], object]) -> float:
    """How long one act takes."""
    begin = perf_counter()
    act()
    return (perf_counter() - begin) * 1000


def _each_paints(hands: Hands, act: Callable[[], None]) -> float:
    before = hands.painted.count
    taken = median_ms(act, times=TIMES, warm_up=4)
    if hands.painted.count - before < TIMES:
        raise AssertionError("A step painted nothing.")
    return taken
