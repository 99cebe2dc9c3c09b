"""The canvas's part of the kit sheet: cards by kind and state, levels of detail, traces."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QGraphicsScene, QGraphicsView

from sa_builder.project.arrange_shapes import Route
from sa_builder.project.shapes import EdgeKind, GraphEdge, GraphNode, GraphSide, NodeKind
from sa_builder.ui.canvas.cards import Card
from sa_builder.ui.canvas.edges import Trace
from sa_builder.ui.canvas.look import Look
from sa_builder.ui.theme import Theme

_LEAVES: tuple[tuple[str, str, str], ...] = (
    ("prompt", "issue_triager", "prompt · 3 tools"),
    ("handler", "return_reply", "handler · no model"),
    ("human", "Human", "backs side B"),
    ("model", "conversational", "claude-sonnet-5.5"),
    ("tool", "get_github_issue", "tool · reads"),
    ("hook", "redact_emails", "hook · before create"),
)
_EDGES: tuple[tuple[str, str], ...] = (
    ("backing", ""),
    ("subagent", "blocking"),
    ("subagent", "explicit"),
    ("uses", ""),
    ("handoff", ""),
    ("fallback", "1"),
    ("session", "session stop"),
    ("hook", ""),
    ("broken", ""),
)


class _Stage(QGraphicsView):
    """A piece of canvas of a fixed size, that only shows."""

    def __init__(self, theme: Theme, size: QSize, scale: float = 1.0) -> None:
        super().__init__()
        self._stage = QGraphicsScene(self)
        self._stage.setBackgroundBrush(theme.color("surface.canvas"))
        self.setScene(self._stage)
        self.look = Look(theme, self.devicePixelRatioF())
        self.setFixedSize(size)
        self.setFrameShape(self.Shape.NoFrame)
        self.setInteractive(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._stage.setSceneRect(0, 0, size.width() / scale, size.height() / scale)
        self.scale(scale, scale)

    def put(self, node: GraphNode, x: float, y: float) -> Card:
        """Add a card."""
        card = Card(node, self.look)
        card.setPos(x, y)
        self._stage.addItem(card)
        return card

    def lay(self, edge: GraphEdge, route: Route) -> Trace:
        """Add a trace."""
        trace = Trace(edge, route, self.look)
        self._stage.addItem(trace)
        return trace


def kinds(theme: Theme) -> QGraphicsView:
    """An agent card and one of each other kind."""
    stage = _Stage(theme, QSize(430, 340))
    agent = GraphNode(
        id="agents/issue_triage",
        kind="agent",
        name="issue_triage",
        subtitle="agent · exposed as tool",
        address="agents/issue_triage",
        side_a=GraphSide(backing="prompt", name="issue_triager"),
        side_b=GraphSide(backing="none", name="nothing"),
    )
    stage.put(agent, 20, 16)
    for place, (kind, name, second) in enumerate(_LEAVES):
        x, y = 20 + place % 2 * 204, 144 + place // 2 * 62
        stage.put(_leaf(kind, name, second), x, y)
    return stage


def states(theme: Theme) -> QGraphicsView:
    """A card at rest, selected, in a drag and broken."""
    stage = _Stage(theme, QSize(430, 200))
    chosen = stage.put(_leaf("prompt", "selected", "2 px accent"), 20, 16)
    chosen.setSelected(True)
    target = stage.put(_leaf("prompt", "target", "replaces issue_triager"), 224, 16)
    target.show_light("target", "replaces issue_triager")
    aimed = stage.put(_leaf("handler", "magnet", "replaces the prompt"), 20, 78)
    aimed.show_light("aimed", "replaces the prompt")
    dimmed = stage.put(_leaf("tool", "dimmed", "tool · reads"), 224, 78)
    dimmed.show_light("dimmed", "give tools to a prompt")
    broken = GraphNode(
        id="missing:tools/broken",
        kind="missing",
        name="broken",
        subtitle="no tool has this name",
        address="missing:tools/broken",
    )
    stage.put(broken, 20, 140)
    failed = _leaf("prompt", "wrong", "x", problem="max_steps must be 1 or more")
    stage.put(failed, 224, 140)
    return stage


def detail(theme: Theme, scale: float) -> QGraphicsView:
    """A card at a zoom."""
    stage = _Stage(theme, QSize(round(200 * scale) + 16, 64), scale)
    stage.put(_leaf("tool", "get_github_issue", "tool · reads"), 8, 8)
    return stage


def edges(theme: Theme) -> QGraphicsView:
    """A trace of each kind, and one that is selected."""
    stage = _Stage(theme, QSize(430, 280))
    for place, (kind, label) in enumerate(_EDGES):
        y = 18.0 + place * 26
        points = ((170.0, y), (400.0, y))
        route = Route(points=points, plate=(285.0, y) if label else None)
        is_broken = kind == "broken"
        stage.lay(_edge("uses" if is_broken else kind, label, is_broken), route)
        words = stage.scene().addText(f"{kind}, {label}" if label else kind)
        words.setFont(theme.font("small"))
        words.setDefaultTextColor(theme.color("text.secondary"))
        words.setPos(QPointF(12, y - 12))
    y = 18.0 + len(_EDGES) * 26
    jog = ((170.0, y), (260.0, y), (260.0, y + 18), (400.0, y + 18))
    stage.lay(_edge("subagent", "blocking"), Route(points=jog, plate=(330, y + 18))).setSelected(
        True
    )
    return stage


def _leaf(kind: str, name: str, second: str, problem: str | None = None) -> GraphNode:
    address = f"{kind}s/{name}"
    return GraphNode(
        id=address,
        kind=cast("NodeKind", kind),
        name=name,
        subtitle=second,
        address=address,
        problem=problem,
    )


def _edge(kind: str, label: str, is_broken: bool = False) -> GraphEdge:
    return GraphEdge(
        id=kind,
        kind=cast("EdgeKind", kind),
        source="agents/x.side_a",
        source_node="agents/x",
        target="agents/y",
        label=label,
        broken="no tool has this name" if is_broken else None,
    )
