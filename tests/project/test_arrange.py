"""Layouts: the same for the same graph, no card on another, no trace across a card."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations, pairwise

import pytest

from sa_builder.project.arrange import arrange, moved_to
from sa_builder.project.arrange_shapes import (
    PLATE_HEIGHT,
    SIDE_A_Y,
    SIDE_B_Y,
    Arrangement,
    Box,
    out_y,
    plate_width,
    size_of,
)
from sa_builder.project.shapes import Graph
from tests.project.graphs import edge, graph_of, node, random_graph

SEEDS = range(12)


def _box(x1: float, y1: float, x2: float, y2: float) -> Box:
    return Box(x=min(x1, x2), y=min(y1, y2), width=abs(x2 - x1), height=abs(y2 - y1))


def _check(graph: Graph, found: Arrangement) -> None:
    """All that holds for every layout that no person has touched."""
    assert set(found.boxes) == {one.id for one in graph.nodes}
    assert set(found.routes) == {one.id for one in graph.edges}
    for one, other in combinations(found.boxes.items(), 2):
        assert not one[1].overlaps(other[1]), (one, other)
    assert _crossing_cards(graph, found) == []
    _check_ends(graph, found)


def _crossing_cards(graph: Graph, found: Arrangement) -> list[tuple[str, str]]:
    """Traces that run over the inside of a card, with the card."""
    return [
        (one.id, card)
        for one in graph.edges
        for (x1, y1), (x2, y2) in pairwise(found.routes[one.id].points)
        for card, box in found.boxes.items()
        if _box(x1, y1, x2, y2).overlaps(box, margin=-2)
    ]


def _check_ends(graph: Graph, found: Arrangement) -> None:
    cards = {one.id: one for one in graph.nodes}
    for one in graph.edges:
        points = found.routes[one.id].points
        source, target = found.boxes[one.source_node], found.boxes[one.target]
        port = source.y + out_y(cards[one.source_node], one)
        assert points[0] == pytest.approx((source.right, port))
        assert points[-1][0] == pytest.approx(target.x)
        assert target.y < points[-1][1] < target.bottom
        assert points[1][0] > source.right, "a trace leaves to the right"
        assert points[-2][0] < target.x, "a trace arrives from the left"
        for (x1, y1), (x2, y2) in pairwise(points):
            assert (x1 == x2) != (y1 == y2), "right angles, no piece of no length"


def _plates(graph: Graph, found: Arrangement) -> dict[str, Box]:
    plates: dict[str, Box] = {}
    for one in graph.edges:
        centre = found.routes[one.id].plate
        if centre is not None:
            width = plate_width(one.label)
            x, y = centre[0] - width / 2, centre[1] - PLATE_HEIGHT / 2
            plates[one.id] = Box(x=x, y=y, width=width, height=PLATE_HEIGHT)
    return plates


def test_an_empty_graph_has_an_empty_layout() -> None:
    found = arrange(Graph(nodes=(), edges=()))

    assert not found.boxes
    assert found.bounds == Box(x=0, y=0, width=0, height=0)


def test_one_card_stands_at_the_origin() -> None:
    found = arrange(graph_of("a"))

    assert (found.boxes["a"].x, found.boxes["a"].y) == (0, 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_any_graph_is_laid_out_without_overlaps_and_crossed_cards(seed: int) -> None:
    graph = random_graph(seed, 40)

    _check(graph, arrange(graph))


def test_three_hundred_cards_with_cycles_are_laid_out_without_overlaps_and_crossed_cards() -> None:
    graph = random_graph(300, 300)

    _check(graph, arrange(graph))


@pytest.mark.parametrize(
    "pairs",
    [
        ("a>a",),
        ("a>a", "a>b", "b>b"),
        ("a>b", "b>a"),
        ("a>b", "b>c", "c>a"),
        ("a>b", "b>c", "c>a", "b>a", "c>b"),
        ("a>b", "a>b", "a>b", "a>b", "a>b"),
        ("a>b", "b>c", "c>d", "d>e", "a>e", "e>a"),
        ("a", "b", "c"),
        ("a>b", "c>d", "e"),
    ],
    ids=" ".join,
)
def test_small_graphs_of_every_shape_are_laid_out(pairs: tuple[str, ...]) -> None:
    named = graph_of(*pairs)
    numbered = [
        edge(one.source_node, one.target, more=f"#{at}") for at, one in enumerate(named.edges)
    ]
    graph = Graph(nodes=named.nodes, edges=numbered)

    _check(graph, arrange(graph))


def test_agents_that_call_each_other_are_laid_out() -> None:
    nodes = [node("a", "agent"), node("b", "agent")]
    graph = Graph(
        nodes=nodes,
        edges=[
            edge("a", "b", port=".side_a", kind="subagent", label="blocking"),
            edge("b", "a", port=".side_b", kind="subagent", label="immediate · explicit"),
            edge("a", "a", port=".side_b", kind="subagent", label="blocking"),
        ],
    )

    _check(graph, arrange(graph))


def test_layers_run_from_left_to_right() -> None:
    boxes = arrange(graph_of("a>b", "b>c", "a>c")).boxes

    assert boxes["a"].right < boxes["b"].x
    assert boxes["b"].right < boxes["c"].x


def test_edges_of_one_port_and_kind_share_a_leg() -> None:
    routes = arrange(graph_of("a>b", "a>c", "a>d")).routes

    legs = {
        points[1][0] for points in (route.points for route in routes.values()) if len(points) > 2
    }
    assert len(legs) == 1


def test_several_ends_on_one_card_stand_apart() -> None:
    routes = arrange(graph_of("a>d", "b>d", "c>d")).routes

    ends = sorted(route.points[-1][1] for route in routes.values())
    assert [below - above for above, below in pairwise(ends)] == [12, 12]


def test_the_same_graph_is_laid_out_the_same_in_another_process() -> None:
    words = "from tests.project.graphs import random_graph\n"
    words += "from sa_builder.project.arrange import arrange\n"
    words += "print(arrange(random_graph(7, 120)))"

    def told(seed: str) -> str:
        environment = os.environ | {"PYTHONHASHSEED": seed}
        return subprocess.run(
            [sys.executable, "-c", words],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout

    assert told("1") == told("2")
    assert told("1").strip() == str(arrange(random_graph(7, 120)))


@pytest.mark.parametrize("seed", SEEDS)
def test_no_plate_lies_on_a_card_or_port(seed: int) -> None:
    graph = random_graph(seed, 24, degree=1.2)
    found = arrange(graph)

    plates = _plates(graph, found)

    assert set(plates) == {one.id for one in graph.edges if one.label}
    for one, plate in plates.items():
        for card, box in found.boxes.items():
            assert not plate.overlaps(box), (one, card)
    for agent in (one for one in graph.nodes if one.kind == "agent"):
        box = found.boxes[agent.id]
        for y in (SIDE_A_Y, SIDE_B_Y):
            port = Box(x=box.right - 8, y=box.y + y - 8, width=16, height=16)
            assert not [one for one, plate in plates.items() if plate.overlaps(port)]


def test_plates_of_one_agent_and_on_one_card_lie_apart() -> None:
    names = ("a", "b", "c", "d", "e")
    graph = Graph(
        nodes=[node(name, "agent") for name in names],
        edges=[
            edge(source, target, port=".side_a", kind="subagent", label=label)
            for source, target, label in (
                ("a", "b", "blocking"),
                ("a", "c", "immediate"),
                ("a", "d", "immediate · explicit"),
                ("b", "e", "blocking"),
                ("c", "e", "immediate"),
                ("d", "e", "blocking"),
            )
        ],
    )

    plates = _plates(graph, arrange(graph))

    assert len(plates) == 6
    for (one, plate), (other, next_plate) in combinations(plates.items(), 2):
        assert not plate.overlaps(next_plate), (one, other)


def test_a_long_label_finds_room_between_its_cards() -> None:
    label = "immediate · explicit"
    graph = Graph(
        nodes=[node("a", "agent"), node("b", "agent")],
        edges=[edge("a", "b", port=".side_a", kind="subagent", label=label)],
    )

    found = arrange(graph)

    (plate,) = _plates(graph, found).values()
    assert plate.x >= found.boxes["a"].right + 8
    assert plate.right <= found.boxes["b"].x


def test_an_edge_whose_end_is_missing_has_no_route() -> None:
    graph = Graph(nodes=[node("a")], edges=[edge("a", "gone"), edge("gone", "a")])

    assert not arrange(graph).routes


def test_a_moved_card_stands_where_it_was_put() -> None:
    graph = random_graph(3, 40)

    found = arrange(graph, {"n5": (1234.0, -567.0)})

    box = found.boxes["n5"]
    assert (box.x, box.y) == (1234.0, -567.0)
    assert (box.width, box.height) == size_of(graph.nodes[5])
    _check_arrivals(graph, found)


def _check_arrivals(graph: Graph, found: Arrangement) -> None:
    cards = {one.id: one for one in graph.nodes}
    for one in graph.edges:
        points = found.routes[one.id].points
        source, target = found.boxes[one.source_node], found.boxes[one.target]
        assert points[0] == pytest.approx(
            (source.right, source.y + out_y(cards[one.source_node], one))
        )
        assert points[-1][0] == pytest.approx(target.x)
        assert target.y < points[-1][1] < target.bottom


def test_the_other_cards_stay_when_one_is_moved() -> None:
    graph = random_graph(3, 40)
    base = arrange(graph)

    found = moved_to(graph, base, {"n5": (2500.0, 2500.0)})

    assert {key: box for key, box in found.boxes.items() if key != "n5"} == {
        key: box for key, box in base.boxes.items() if key != "n5"
    }


def test_traces_that_a_moved_card_does_not_touch_stay() -> None:
    graph = graph_of("a>b", "c>d", "e>f")
    base = arrange(graph)

    found = moved_to(graph, base, {"d": (900.0, 900.0)})

    assert found.routes["a>b"] == base.routes["a>b"]
    assert found.routes["c>d"] != base.routes["c>d"]


def test_a_trace_gives_way_to_a_card_put_on_it() -> None:
    graph = graph_of("a>b", "x")
    base = arrange(graph)
    (x1, y1), (x2, _) = base.routes["a>b"].points
    wide = moved_to(graph, base, {"b": (x2 + 400, base.boxes["b"].y)})

    found = moved_to(graph, wide, {"x": (x1 + 120, y1 - 24)})

    assert _crossing_cards(graph, found) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_traces_go_round_cards_that_were_moved_apart(seed: int) -> None:
    graph = random_graph(seed, 14, degree=1.2)
    spread = {one.id: (at % 5 * 420.0, at // 5 * 240.0) for at, one in enumerate(graph.nodes)}

    found = arrange(graph, spread)

    assert _crossing_cards(graph, found) == []
    _check_arrivals(graph, found)


def test_a_place_of_a_card_that_is_gone_is_passed_over() -> None:
    graph = graph_of("a>b")

    assert arrange(graph, {"gone": (1.0, 2.0)}) == arrange(graph)


def test_a_trace_from_a_card_to_itself_stays_near_it() -> None:
    graph = random_graph(300, 300)
    found = arrange(graph)

    for one in graph.edges:
        if one.source_node == one.target:
            box = found.boxes[one.target]
            heights = [y for _, y in found.routes[one.id].points]
            assert min(heights) >= box.y
            assert max(heights) <= box.bottom + 200
