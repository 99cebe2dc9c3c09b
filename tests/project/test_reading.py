"""Reading forms, graph, fields, targets, places."""

from __future__ import annotations

import threading

import pytest

from sa_builder.project.project import Project
from sa_builder.project.shapes import Code
from sa_builder.project.watch import Watcher
from tests.project.conftest import MakeProject
from tests.project.corpus import AGENTS, CRAMPED, HANGING, PROMPT, TIDY

DESK = "agents/agents/desk.py"


@pytest.mark.parametrize("name", AGENTS)
def test_every_form_of_the_same_agent_is_read(name: str, make_project: MakeProject) -> None:
    project = make_project({DESK: AGENTS[name]})

    values = project.reading("agents/desk").values

    assert values["name"] == "desk"
    assert values["side_b"] == {"human": True}
    agents = [each["agent"] for each in values["side_a"]["subagents"]]
    assert agents[0] == "triage"


def test_joined_and_positional_and_constant_values_are_read(make_project: MakeProject) -> None:
    project = make_project({DESK: HANGING})

    values = project.reading("agents/desk").values

    assert values["description"] == "Two parts, joined"
    assert values["side_a"]["subagents"] == [{"agent": "triage"}, {"agent": "mailer"}]


def test_what_is_computed_is_kept_as_code_with_a_reason(make_project: MakeProject) -> None:
    project = make_project({"agents/prompts/front.py": PROMPT})

    values = project.reading("prompts/front").values

    assert isinstance(values["tools"], Code)
    assert values["tools"].reason == "a subscript"
    assert values["required_schema"] == Code(text="Request", reason="a name")
    assert values["prompt"][0] == {"kind": "text", "text": "Hello é \n"}


@pytest.mark.parametrize(
    "use", ["NAMES.append('x')", "NAMES += ['x']", "print(NAMES)", "NAMES = []", "x = NAMES[0]"]
)
def test_a_constant_that_is_used_otherwise_is_code(use: str, make_project: MakeProject) -> None:
    text = TIDY.replace("# Side A", 'NAMES = ["a"]\n# Side A').replace(
        "human=True),\n)", f"human=True),\n    hooks=NAMES,\n)\n{use}"
    )
    project = make_project({DESK: text})

    assert isinstance(project.reading("agents/desk").values["hooks"], Code)


def test_the_graph_of_an_agent_holds_what_it_reaches(make_project: MakeProject) -> None:
    graph = make_project().graph("desk")

    nodes = {each.id: each for each in graph.nodes}
    assert nodes["agents/desk"].side_a is not None
    assert nodes["agents/desk"].side_a.name == "front"
    assert "agents/desk.side_b#human" in nodes
    assert nodes["tools/look"].subtitle == "tool · reads"
    assert nodes["models/big"].subtitle == "y"
    labels = {each.id: each.label for each in graph.edges}
    assert labels["agents/desk.side_a.subagents[0]"] == "blocking"
    assert labels["models/big.fallbacks[0]"] == "fallback 1"


def test_a_name_that_nothing_declares_is_a_node_of_its_own(make_project: MakeProject) -> None:
    project = make_project({DESK: TIDY.replace('"triage"', '"gone"')})

    graph = project.graph("desk")

    (edge,) = [each for each in graph.edges if each.target == "missing:agents/gone"]
    assert edge.broken is not None
    assert "no agent has this name" in edge.broken
    (node,) = [each for each in graph.nodes if each.kind == "missing"]
    assert node.subtitle == "no agent has this name"


def test_targets_agree_with_what_connecting_does(make_project: MakeProject) -> None:
    from sa_builder.errors import EditRefused

    project = make_project({DESK: CRAMPED})

    for source in ("agents/desk.side_a", "agents/desk.side_b", "prompts/front", "models/small"):
        for target in project.targets(source):
            try:
                project.plan_connect(source, target.node)
                planned = True
            except EditRefused:
                planned = False
            assert planned == target.allowed, (source, target)


def test_spans_and_addresses_find_each_other(make_project: MakeProject) -> None:
    project = make_project()

    for address in (
        "agents/desk.side_a.prompt",
        "agents/desk.side_a.subagents[1]",
        "agents/desk.side_a.subagents[0].blocking",
        "agents/desk.side_b",
    ):
        span = project.span(address)
        assert project.address_at(DESK, span.start_char) == address
    item = project.span("agents/desk.side_a.subagents[1]")
    assert TIDY[item.start_char : item.end_char] == 'Relationship(agent="mailer")'
    assert (item.line, item.column) == (11, 13)


def test_fields_show_what_is_written_and_what_may_be_chosen(make_project: MakeProject) -> None:
    project = make_project()

    agent = {(each.group, each.name): each for each in project.fields("agents/desk")}
    relationship = {each.name: each for each in project.fields("agents/desk.side_a.subagents[0]")}

    assert agent["Side A", "backing"].value == "prompts/front"
    assert list(dict.fromkeys(group for group, _ in agent)) == [
        "Agent",
        "Side A",
        "Side B",
        "Session",
        "Package",
    ]
    assert relationship["blocking"].written
    assert relationship["init_user_message_property"].group == "First message"
    assert relationship["init_user_message_property"].choices == ["request", "note"]
    assert relationship["hidden"].help
    assert [each.group for each in project.fields("agents/desk.side_a.subagents[0]")][-1] == (
        "Availability"
    )


def test_setting_a_sides_backing_field_connects_it(make_project: MakeProject) -> None:
    project: Project = make_project()

    project.set("agents/desk.side_a", "handlers/pipe")

    assert project.reading("agents/desk").values["side_a"]["handler"] == "pipe"


def test_the_watcher_tells_of_an_outside_change(make_project: MakeProject) -> None:
    project = make_project()
    told = threading.Event()
    watcher = Watcher(project.root, told.set, interval_s=0.02)
    watcher.start()

    (project.root / DESK).write_text(TIDY + "# more\n")

    assert told.wait(2)
    watcher.stop()
    assert project.refresh() == frozenset({DESK})
