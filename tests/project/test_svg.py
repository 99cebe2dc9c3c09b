"""The drawing of a composition: whole, well-formed, and of what the text says."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from sa_builder.project.project import Project
from sa_builder.project.svg import draw_svg

SAMPLE = Path(__file__).parents[2]


def _words(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_card_of_the_sample_is_drawn(scheme: str) -> None:
    graph = Project.open(SAMPLE).graph()

    words = _words(draw_svg(graph, scheme=scheme))  # pyright: ignore[reportArgumentType]

    for node in graph.nodes:
        assert node.name in words


def test_a_label_stands_on_its_plate() -> None:
    words = _words(draw_svg(Project.open(SAMPLE).graph("repo_assistant")))

    assert "blocking" in words
    assert "session stop" in words


def test_what_is_broken_is_drawn_with_its_reason(tmp_path: Path) -> None:
    folder = tmp_path / "agents/prompts"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text(
        "from sa_builder.spec import define_prompt\n"
        'prompt = define_prompt(name="a", tool_description="x", prompt="x", model="gone")\n'
    )

    svg = draw_svg(Project.open(tmp_path).graph())

    assert "gone" in _words(svg)
    assert "stroke-dasharray" in svg


def test_text_of_any_kind_leaves_a_well_formed_drawing(tmp_path: Path) -> None:
    folder = tmp_path / "agents/prompts"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text(
        "from sa_builder.spec import define_prompt\n"
        'prompt = define_prompt(name="a", tool_description="x", prompt="x",\n'
        '    model="</text><&\\x01\\"]]>")\n'
    )

    assert _words(draw_svg(Project.open(tmp_path).graph()))


def test_an_empty_project_is_an_empty_drawing(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()

    assert _words(draw_svg(Project.open(tmp_path).graph())) == []
