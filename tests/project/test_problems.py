"""Every rule, broken once: its code, its place and its sentence."""

from __future__ import annotations

from typing import Final

import pytest

from sa_builder.project.project import Project
from tests.project.conftest import MakeProject
from tests.project.corpus import OTHERS, TIDY

DESK: Final = "agents/agents/desk.py"
FRONT: Final = "agents/prompts/front.py"
BIG: Final = "agents/models/big.py"


def desk(old: str, new: str) -> dict[str, str]:
    """The desk's file with one piece replaced."""
    assert old in TIDY
    return {DESK: TIDY.replace(old, new)}


def other(path: str, old: str, new: str) -> dict[str, str]:
    """Another file with one piece replaced."""
    assert old in OTHERS[path]
    return {path: OTHERS[path].replace(old, new)}


HUMAN: Final = "side_b=Side(human=True)"
TURNS: Final = "max_session_turns=2"

BROKEN: Final[list[tuple[str, dict[str, str], str, int, str]]] = [
    ("SA001", desk('name="desk",', 'name="desk"'), DESK, 5, "is not Python"),
    ("SA002", {"agents/tools/empty.py": "x = 1\n"}, "agents/tools/empty.py", 1, "declares nothing"),
    (
        "SA002",
        {"agents/models/lost.py": OTHERS[BIG].replace("model = ", "").replace("big", "lost")},
        "agents/models/lost.py",
        3,
        "is not kept",
    ),
    (
        "SA003",
        {BIG: OTHERS[BIG] + 'more = define_model(name="more", provider="offline", model="x")\n'},
        BIG,
        4,
        "holds 2 definitions",
    ),
    (
        "SA004",
        {"agents/tools/odd.py": OTHERS[BIG].replace("big", "odd")},
        "agents/tools/odd.py",
        3,
        "declares a model in a folder for tools",
    ),
    ("SA010", desk('name="desk"', 'name="dusk"'), DESK, 5, "differs from the file's name desk"),
    (
        "SA011",
        {
            "agents/models/a_b.py": OTHERS[BIG].replace('"big"', '"a-b"'),
            "agents/models/c.py": OTHERS[BIG].replace('"big"', '"a-b"'),
        },
        "agents/models/c.py",
        3,
        "declared twice",
    ),
    (
        "SA012",
        {"agents/tools/sorter.py": OTHERS["agents/tools/look.py"]},
        "agents/tools/sorter.py",
        0,
        "have the same name for a model",
    ),
    ("SA013", other(FRONT, 'model="big",', ""), FRONT, 3, "model is missing"),
    ("SA014", desk("blocking=True", "bloking=True"), DESK, 10, "did you mean blocking?"),
    ("SA015", desk("blocking=True", 'blocking="yes"'), DESK, 10, "must be True or False"),
    ("SA015", other(BIG, '["small"]', "[3]"), BIG, 3, "fallbacks[0] is 3, but must be a text"),
    ("SA016", desk(HUMAN, f"{HUMAN}, max_session_turns=0"), DESK, 15, "must be at least 1"),
    ("SA017", desk(HUMAN, f'{HUMAN}, type="dual_ai"'), DESK, 15, "Agents have no type any more"),
    ("SA018", desk('name="desk"', 'name="Desk"'), DESK, 5, "is not allowed"),
    ("SA020", desk('prompt="front"', 'prompt="frnt"'), DESK, 7, "did you mean front?"),
    ("SA021", other(FRONT, '["look"]', '["search_docs"]'), FRONT, 8, "no tool has this name"),
    ("SA022", other(FRONT, '"big"', '"huge"'), FRONT, 7, "no model has this name"),
    ("SA023", desk(HUMAN, f'side_b=Side(handler="pope"), {TURNS}'), DESK, 15, "did you mean pipe?"),
    ("SA024", desk('agent="triage"', 'agent="triag"'), DESK, 10, "did you mean triage?"),
    ("SA025", {}, DESK, 11, "mailer, which is not exposed"),
    ("SA026", other(BIG, '["small"]', '["tiny"]'), BIG, 3, "no model has this name"),
    ("SA027", other(BIG, "openrouter", "openroute"), BIG, 3, "did you mean openrouter?"),
    (
        "SA028",
        other(FRONT, '"Be kind."', '[{"kind": "include", "prompt": "ruls"}]'),
        FRONT,
        6,
        "no prompt has this name",
    ),
    ("SA029", desk(HUMAN, f'{HUMAN}, hooks=["seen"]'), DESK, 15, "no hook has this name"),
    ("SA030", desk('prompt="front"', "human=True"), DESK, 4, "Both sides are human"),
    ("SA031", desk('prompt="front"', 'prompt="front", handler="pipe"'), DESK, 6, "exactly one of"),
    ("SA031", desk('prompt="front",', ""), DESK, 6, "is backed by nothing"),
    ("SA032", desk('prompt="front"', "human=True"), DESK, 8, "cannot have subagents"),
    (
        "SA033",
        desk('prompt="front"', 'handler="pipe", max_steps=3'),
        DESK,
        7,
        "max_steps has no mean",
    ),
    ("SA034", other(FRONT, '["look"]', '["pipe"]'), FRONT, 8, "pipe is a handler"),
    ("SA034", other(FRONT, '["look"]', '[], hooks=["pipe"]'), FRONT, 8, "pipe is a handler"),
    ("SA035", other(FRONT, '["look"]', '["triage"]'), FRONT, 8, "subagent of side A of desk"),
    ("SA035", other(FRONT, '["look"]', '[{"agent": "triage"}]'), FRONT, 8, "A Relationship stands"),
    (
        "SA036",
        desk('prompt="front"', 'prompt="front", stop_tool="look"'),
        DESK,
        7,
        "no stop_tool_resp",
    ),
    ("SA037", desk(HUMAN, f"{HUMAN}, expose_as_tool=True"), DESK, 15, "no tool_description"),
    (
        "SA038",
        other(FRONT, '"Be kind."', '[{"kind": "include", "prompt": "front"}]'),
        FRONT,
        6,
        "includes itself (front → front)",
    ),
    (
        "SA039",
        other("agents/models/small.py", 'model="echo"', 'model="echo", fallbacks=["big"]'),
        "agents/models/small.py",
        3,
        "falls back to itself (big → small → big)",
    ),
    (
        "SA040",
        desk('prompt="front"', 'prompt="front", session_stop={"name": "done"}'),
        DESK,
        7,
        "is not among the tools of its prompt front",
    ),
    (
        "SA041",
        desk(
            'prompt="front"',
            'prompt="sorter", session_stop={"name": "done", "message_property": "text"}',
        ),
        DESK,
        7,
        "done takes no argument text; it takes report.",
    ),
    (
        "SA042",
        desk('property="request"', 'property="reqest"'),
        DESK,
        10,
        "not created with an argument reqest; it takes note, request.",
    ),
    ("SA043", desk("blocking=True", "immediate=True"), DESK, 10, "required argument request"),
    (
        "SA044",
        other("agents/agents/triage.py", "    max_session_turns=4,\n", ""),
        "agents/agents/triage.py",
        3,
        "nothing ends the session",
    ),
    (
        "SA045",
        {"agents/handlers/idle.py": OTHERS["agents/handlers/pipe.py"]},
        "agents/handlers/idle.py",
        4,
        "No agent reaches the handler idle",
    ),
]


@pytest.mark.parametrize(
    ("code", "files", "path", "line", "says"),
    BROKEN,
    ids=[f"{case[0]}-{index}" for index, case in enumerate(BROKEN)],
)
def test_a_broken_rule_is_told_with_code_place_and_sentence(
    code: str,
    files: dict[str, str],
    path: str,
    line: int,
    says: str,
    make_project: MakeProject,
) -> None:
    project = make_project(files)

    found = [each for each in project.problems() if each.code == code and each.span.path == path]

    assert found, [(each.code, each.span.path, each.sentence) for each in project.problems()]
    assert says in " ".join(each.sentence for each in found)
    if line:
        assert line in [each.span.line for each in found]


def test_the_small_project_has_only_its_one_known_error(make_project: MakeProject) -> None:
    problems = make_project().problems()

    assert [each.code for each in problems if each.severity != "hint"] == ["SA025"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('prompt="front"', "prompt=NAMES[0]"),
        ("side_b=Side(human=True)", "side_b=make_side()"),
        ('agent="triage"', 'agent="tri" + "age"'),
        ("blocking=True", "blocking=bool(1)"),
        ("subagents=[", "subagents=[*MORE, "),
        ('name="desk"', 'name=f"desk"'),
    ],
)
def test_a_computed_value_silences_the_rules_about_it(
    old: str, new: str, make_project: MakeProject
) -> None:
    project = make_project(desk(old, new))

    told = [
        each
        for each in project.problems()
        if each.span.path == DESK and each.severity != "hint" and each.code != "SA025"
    ]

    assert told == []


@pytest.mark.parametrize(
    "tail",
    ["agent = wrap(agent)\n", "agent.name = 'x'\n", "setattr(agent, 'x', 1)\n", "del agent\n"],
)
def test_a_definition_that_is_touched_again_is_code(tail: str, make_project: MakeProject) -> None:
    project = make_project({DESK: TIDY + tail})

    assert project.reading("agents/desk").values == {}
    assert "SA007" in [each.code for each in project.problems()]


def test_a_fix_can_be_applied(make_project: MakeProject) -> None:
    project = make_project(desk('name="desk"', 'name="dusk"'))
    (problem,) = [each for each in project.problems() if each.code == "SA010"]

    project.set(**problem.fixes[0].arguments)

    assert project.text("agents/desk") == TIDY


def test_a_syntax_error_keeps_the_last_good_reading_and_says_line_and_column(
    make_project: MakeProject,
) -> None:
    project = make_project()
    (project.root / DESK).write_text(TIDY.replace('prompt="front",', 'prompt="front'))

    assert project.refresh() == frozenset({DESK})

    (summary,) = [each for each in project.definitions() if each.address == "agents/desk"]
    assert summary.stale
    assert project.reading("agents/desk").values["side_a"]["prompt"] == "front"
    (problem,) = [each for each in project.problems() if each.code == "SA001"]
    assert (problem.span.line, problem.span.column) == (7, 16)
    assert "Line 7, column 16" in problem.sentence


def test_a_file_that_was_always_broken_shows_what_can_be_read(make_project: MakeProject) -> None:
    project: Project = make_project({DESK: TIDY + "\ndef half(:\n"})

    assert project.reading("agents/desk").values["name"] == "desk"
    assert "SA001" in [each.code for each in project.problems()]
