"""A composition as a drawing that stands alone: what the canvas shows, without Qt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from typing import Any, Literal, cast

from sa_builder.project.arrange import arrange
from sa_builder.project.arrange_shapes import (
    LEAF_MIDDLE_Y,
    SIDE_A_Y,
    SIDE_B_Y,
    Box,
    Point,
    Route,
    plate_width,
)
from sa_builder.project.card_look import kind_icon, kind_token
from sa_builder.project.shapes import Graph, GraphEdge, GraphNode, GraphSide
from sa_builder.util.resources import resources_root

Scheme = Literal["light", "dark"]

_MARGIN = 32.0
_CORNER = 8.0
_BOLD = ("backing", "subagent", "handoff")
_DASHED = ("handoff", "fallback", "session", "hook")
_LETTER_PX = {13: 6.9, 12: 6.4, 11: 5.8}
"""About how wide a letter of the interface's type is, by its size."""


def draw_svg(
    graph: Graph, moved: Mapping[str, Point] | None = None, scheme: Scheme = "light"
) -> str:
    """Draw a graph.

    Args:
        moved: node id → top left corner of the cards that a person has placed.

    Returns:
        An SVG document; lengths are pixels at 100 %.
    """
    return _Drawing(graph, moved or {}, scheme).text()


class _Drawing:
    def __init__(self, graph: Graph, moved: Mapping[str, Point], scheme: Scheme) -> None:
        self._graph = graph
        self._scheme = scheme
        self._arrangement = arrange(graph, moved)
        self._parts: list[str] = []

    def text(self) -> str:
        bounds = self._arrangement.bounds
        left, top = bounds.x - _MARGIN, bounds.y - _MARGIN
        width, height = bounds.width + 2 * _MARGIN + 16, bounds.height + 2 * _MARGIN
        for edge in self._graph.edges:
            route = self._arrangement.routes.get(edge.id)
            if route is not None:
                self._trace(edge, route)
        for node in self._graph.nodes:
            self._card(node, self._arrangement.boxes[node.id])
        for edge in self._graph.edges:
            route = self._arrangement.routes.get(edge.id)
            if route is not None and route.plate is not None and edge.label:
                self._plate(edge, route.plate)
        ground = self._color("surface.canvas")
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" '
                f'height="{_n(height)}" viewBox="{_n(left)} {_n(top)} {_n(width)} {_n(height)}" '
                f'font-family="{_family()}">',
                f'<rect x="{_n(left)}" y="{_n(top)}" width="{_n(width)}" height="{_n(height)}" '
                f'fill="{ground}"/>',
                *self._parts,
                "</svg>\n",
            ]
        )

    def _color(self, token: str) -> str:
        group, name = token.split(".", 1)
        return str(_tokens()["color"][group][name][self._scheme])

    # traces

    def _trace(self, edge: GraphEdge, route: Route) -> None:
        kind = "broken" if edge.broken else edge.kind
        color = self._color(f"edge.{kind}")
        width = 2.0 if edge.kind in _BOLD and not edge.broken else 1.5
        dash = _dash("explicit" if "explicit" in edge.label else kind)
        (x, y) = route.points[-1]
        path = _rounded([*route.points[:-1], (x - 7, y)])
        says = escape(_printable(edge.broken or f"{edge.source} → {edge.target}"))
        self._parts.append(
            f'<path d="{path}" fill="none" stroke="{color}" stroke-width="{_n(width)}"{dash}>'
            f"<title>{says}</title></path>"
        )
        if edge.broken:
            cross = f"M{_n(x - 9)} {_n(y - 4)}l8 8M{_n(x - 9)} {_n(y + 4)}l8 -8"
            self._parts.append(f'<path d="{cross}" stroke="{color}" stroke-width="2"/>')
        else:
            self._parts.append(
                f'<path d="M{_n(x)} {_n(y)}l-8 -4.5v9z" fill="{color}" stroke="none"/>'
            )

    def _plate(self, edge: GraphEdge, centre: Point) -> None:
        width = plate_width(edge.label)
        x, y = centre[0] - width / 2, centre[1] - 9
        color = self._color(f"edge.{'broken' if edge.broken else edge.kind}")
        self._parts.append(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="18" rx="4" '
            f'fill="{self._color("edge.plate")}" stroke="{color}"/>'
        )
        self._words(centre[0], y + 13, edge.label, 11, "edge.plate_text", weight=500, middle=True)

    # cards

    def _card(self, node: GraphNode, box: Box) -> None:
        is_broken = node.kind == "missing"
        self._parts.append(
            f"<g><title>{escape(_printable(f'{node.name}: {node.subtitle}'))}</title>"
        )
        if not is_broken:
            self._outline(node, box, shadow=True)
        self._outline(node, box, shadow=False)
        kind = node.id.split(":", 1)[1].split("/", 1)[0].rstrip("s") if is_broken else node.kind
        is_agent = node.kind == "agent"
        side = 28.0 if is_agent else 24.0
        x, y = box.x + (8 if is_agent else 10), box.y + (8 if is_agent else 12)
        fill = "none" if is_broken else self._color(kind_token(kind))
        stroke = f' stroke="{self._color("state.failed")}"' if is_broken else ""
        self._parts.append(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{side:g}" height="{side:g}" rx="6" '
            f'fill="{fill}"{stroke}/>'
        )
        glyph = "state.failed" if is_broken else "surface.card"
        self._icon(kind_icon(kind), glyph, x + side / 2 - 8, y + side / 2 - 8)
        left = box.x + (44 if is_agent else 42)
        room = box.right - left - 12
        title = "state.failed_text" if is_broken else "text.primary"
        top = box.y + (18 if is_agent else 20)
        self._words(left, top, _elided(node.name, 13, room), 13, title, weight=600)
        is_bad = is_broken or node.problem is not None
        under = "state.failed_text" if is_bad else "text.muted"
        second = _elided(node.problem or node.subtitle, 11, room)
        self._words(left, top + 16, second, 11, under)
        if is_agent:
            self._sides(node, box)
        elif node.kind in ("prompt", "model"):
            self._parts.append(
                f'<circle cx="{_n(box.right)}" cy="{_n(box.y + LEAF_MIDDLE_Y)}" r="4" '
                f'fill="{self._color("edge.uses")}"/>'
            )
        self._parts.append("</g>")

    def _outline(self, node: GraphNode, box: Box, *, shadow: bool) -> None:
        is_broken = node.kind == "missing"
        if shadow:
            style = f'fill="{_opaque(self._color("line.shadow"))}"'
        elif is_broken:
            style = (
                f'fill="{self._color("surface.canvas")}" stroke="{self._color("state.failed")}" '
                f'stroke-width="1.5"{_dash("broken")}'
            )
        else:
            line = "state.failed" if node.problem is not None else "line.card"
            style = f'fill="{self._color("surface.card")}" stroke="{self._color(line)}"'
        x, y = box.x, box.y + (2 if shadow else 0)
        if node.kind == "handler":
            across, down = box.width - 14, box.height - 14
            self._parts.append(
                f'<path d="M{_n(x + 7)} {_n(y)}h{_n(across)}l7 7v{_n(down)}l-7 7'
                f'h{_n(-across)}l-7 -7v{_n(-down)}z" {style}/>'
            )
            return
        radius = box.height / 2 if node.kind == "human" else 8
        self._parts.append(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(box.width)}" height="{_n(box.height)}" '
            f'rx="{_n(radius)}" {style}/>'
        )

    def _sides(self, node: GraphNode, box: Box) -> None:
        self._parts.append(
            f'<path d="M{_n(box.x + 0.5)} {_n(box.y + 44)}H{_n(box.right - 0.5)}" '
            f'stroke="{self._color("line.subtle")}"/>'
        )
        for letter, y, side in (("A", SIDE_A_Y, node.side_a), ("B", SIDE_B_Y, node.side_b)):
            if side is not None:
                self._side(letter, box, box.y + y, side)

    def _side(self, letter: str, box: Box, y: float, side: GraphSide) -> None:
        if side.backing in ("human", "prompt", "handler"):
            icon = kind_icon(side.backing)
            self._icon(icon, kind_token(side.backing), box.x + 14, y - 7, 14)
        self._words(box.x + 36, y + 4, _elided(side.name, 12, box.width - 58), 12, "text.secondary")
        hue = self._color("kind.agent")
        is_hollow = side.backing == "none"
        inner = self._color("surface.card")
        self._parts.append(
            f'<circle cx="{_n(box.right)}" cy="{_n(y)}" r="{7.25 if is_hollow else 8:g}" '
            f'fill="{inner if is_hollow else hue}" stroke="{hue}" '
            f'stroke-width="{1.5 if is_hollow else 0:g}"/>'
        )
        token = "kind.agent" if is_hollow else "surface.card"
        self._words(box.right, y + 3.6, letter, 10, token, weight=700, middle=True)

    def _words(
        self,
        x: float,
        y: float,
        words: str,
        size: int,
        token: str,
        *,
        weight: int = 400,
        middle: bool = False,
    ) -> None:
        anchor = ' text-anchor="middle"' if middle else ""
        self._parts.append(
            f'<text x="{_n(x)}" y="{_n(y)}" font-size="{size}" font-weight="{weight}"{anchor} '
            f'fill="{self._color(token)}">{escape(_printable(words))}</text>'
        )

    def _icon(self, name: str, token: str, x: float, y: float, size: float = 16) -> None:
        inner = _icon_shapes(name).replace("currentColor", self._color(token))
        scale = f" scale({size / 16:g})" if size != 16 else ""
        self._parts.append(
            f'<g transform="translate({_n(x)} {_n(y)}){scale}" fill="none" '
            f'stroke="{self._color(token)}" stroke-width="1.5" stroke-linecap="round" '
            f'stroke-linejoin="round">{inner}</g>'
        )


@lru_cache(maxsize=1)
def _tokens() -> dict[str, Any]:
    text = (resources_root() / "themes" / "tokens.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))


@lru_cache(maxsize=64)
def _icon_shapes(name: str) -> str:
    """What an icon's file draws, without its outer element."""
    text = (resources_root() / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    return text[text.index(">") + 1 : text.rindex("</svg>")].strip()


def _family() -> str:
    names = [*_tokens()["type"]["family_ui"]]
    return escape(", ".join(f"'{name}'" if " " in name else str(name) for name in names))


def _dash(kind: str) -> str:
    lengths = _tokens()["dash"].get(kind) if kind in (*_DASHED, "explicit", "broken") else None
    return f' stroke-dasharray="{" ".join(map(str, lengths))}"' if lengths else ""


def _opaque(color: str) -> str:
    """#RRGGBBAA as a fill and its opacity, which every SVG reader knows."""
    if len(color) != 9:
        return color
    return f'{color[:7]}" fill-opacity="{int(color[7:], 16) / 255:.3f}'


def _elided(words: str, size: int, room: float) -> str:
    most = max(1, int(room / _LETTER_PX[size]))
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _printable(words: str) -> str:
    """Without the control characters that no XML document may hold."""
    return "".join(letter if letter >= " " else " " for letter in words)


def _rounded(points: list[Point]) -> str:
    """A path through right angles, each rounded, at most by half its shorter leg."""
    path = [f"M{_n(points[0][0])} {_n(points[0][1])}"]
    for before, at, after in zip(points, points[1:], points[2:], strict=False):
        back, ahead = _toward(at, before), _toward(at, after)
        path.append(f"L{_n(back[0])} {_n(back[1])}")
        path.append(f"Q{_n(at[0])} {_n(at[1])} {_n(ahead[0])} {_n(ahead[1])}")
    path.append(f"L{_n(points[-1][0])} {_n(points[-1][1])}")
    return "".join(path)


def _toward(at: Point, other: Point) -> Point:
    across, down = other[0] - at[0], other[1] - at[1]
    length = abs(across) + abs(down)
    if length == 0:
        return at
    reach = min(_CORNER, length / 2) / length
    return at[0] + across * reach, at[1] + down * reach


def _n(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
