"""Edits, to the byte: what an item takes with it, where a new one goes, what is refused."""

from __future__ import annotations

import os
import stat
from typing import Any

import pytest

from sa_builder.errors import EditRefused
from sa_builder.project.project import Project
from tests.project.conftest import MakeProject
from tests.project.corpus import CRAMPED, DICTS, HANGING, OTHERS, PROMPT, TIDY, TUPLES

DESK = "agents/agents/desk.py"
A = "agents/desk.side_a"
TRIAGE = (
    '            Relationship(agent="triage", blocking=True, init_user_message_property="request"),'
)


def text_after(project: Project, address: str = "agents/desk") -> str:
    """The file's text on the disk, which must be what the project says."""
    reading = project.reading(address)
    on_disk = reading.path.read_bytes().decode()
    assert on_disk == project.text(address)
    return on_disk


# connect


def test_connecting_a_side_changes_only_its_span(make_project: MakeProject) -> None:
    project = make_project()

    edit = project.connect(A, "prompts/sorter")

    assert text_after(project) == TIDY.replace('prompt="front"', 'prompt="sorter"')
    assert edit.title == "Connect side A of desk to sorter"
    assert edit.summary == "Wrote agents/agents/desk.py:7 · 8 characters"


def test_a_new_subagent_gets_a_row_of_its_own_after_the_last(make_project: MakeProject) -> None:
    project = make_project()
    project.disconnect(A, "agents/triage")

    project.connect(A, "agents/triage")

    row = '            Relationship(agent="mailer"),  # sends mail\n'
    first = f"{TRIAGE}\n"
    assert text_after(project) == TIDY.replace(first, "").replace(
        row, f'{row}            Relationship(agent="triage"),\n'
    )


def test_connecting_adds_the_import_that_is_missing(make_project: MakeProject) -> None:
    project = make_project()

    project.connect("agents/triage.side_b", "agents/mailer")

    old = OTHERS["agents/agents/triage.py"]
    assert text_after(project, "agents/triage") == old.replace(
        "import Side,", "import Relationship, Side,"
    ).replace('handler="pipe"', 'handler="pipe", subagents=[Relationship(agent="mailer")]')


def test_a_record_whose_name_is_taken_is_written_as_a_dict(make_project: MakeProject) -> None:
    taken = OTHERS["agents/agents/triage.py"] + "\n\nclass Relationship:\n    pass\n"
    project = make_project({"agents/agents/triage.py": taken})

    project.connect("agents/triage.side_a", "agents/mailer")

    assert 'subagents=[{"agent": "mailer"}]' in text_after(project, "agents/triage")


def test_siblings_that_are_dicts_get_a_dict(make_project: MakeProject) -> None:
    project = make_project({DESK: DICTS})

    project.connect(A, "agents/mailer")

    old = '"blocking": True}]'
    assert text_after(project) == DICTS.replace(old, '"blocking": True}, {"agent": "mailer"}]')


def test_a_module_alias_is_used_as_it_stands(make_project: MakeProject) -> None:
    project = make_project({DESK: CRAMPED})

    project.connect(A, "agents/mailer")

    old = "agent='triage')"
    assert text_after(project) == CRAMPED.replace(old, f"{old}, s.Relationship(agent='mailer')")


def test_a_list_in_a_constant_is_edited_where_it_is_assigned(make_project: MakeProject) -> None:
    project = make_project({DESK: HANGING})

    project.unset(f"{A}.subagents[1]")
    project.set(f"{A}.subagents[0].blocking", True)

    expected = HANGING.replace('    R(agent="mailer")  # no comma here\n', "").replace(
        'agent="triage"),', 'agent="triage", blocking=True)'
    )
    assert text_after(project) == expected


def test_a_constant_that_is_used_twice_is_not_edited_as_a_list(make_project: MakeProject) -> None:
    project = make_project(
        {DESK: HANGING.replace("Side(human=True)", "Side(handler='pipe', subagents=SUBAGENTS)")}
    )

    with pytest.raises(EditRefused, match="which definitions use 2 times"):
        project.unset(f"{A}.subagents[1]")


def test_a_constant_scalar_is_replaced_at_its_use(make_project: MakeProject) -> None:
    text = TIDY.replace('prompt="front"', "prompt=FRONT").replace(
        "# Side A", 'FRONT = "front"\n# Side A'
    )
    project = make_project({DESK: text})

    project.connect(A, "prompts/sorter")

    assert text_after(project) == text.replace("prompt=FRONT", 'prompt="sorter"')


def test_switching_the_backing_drops_what_the_new_one_may_not_have(
    make_project: MakeProject,
) -> None:
    project = make_project({DESK: CRAMPED})

    edit = project.connect(A, "handlers/pipe")

    assert text_after(project) == CRAMPED.replace("prompt='front',max_steps=3,", "handler='pipe',")
    assert edit.notes == ["also removes max_steps"]


def test_a_switch_keeps_the_comment_on_the_row(make_project: MakeProject) -> None:
    project = make_project()

    project.connect(A, "handlers/pipe")

    assert text_after(project) == TIDY.replace('prompt="front"', 'handler="pipe"')


def test_connecting_an_agent_that_is_not_exposed_exposes_it_in_one_step(
    make_project: MakeProject,
) -> None:
    project = make_project()
    mailer = project.text("agents/mailer")

    edit = project.connect("agents/triage.side_a", "agents/mailer")

    assert "also exposes mailer" in edit.notes
    assert text_after(project, "agents/mailer") == mailer.replace(
        "    description=",
        '    expose_as_tool=True,\n    tool_description="Sends one mail.",\n    description=',
    )
    undone = project.undo()
    assert undone is not None
    assert (undone.is_undone, undone.summary) == (True, f"Undid: {edit.title}")
    assert project.text("agents/mailer") == mailer
    assert project.text("agents/triage") == OTHERS["agents/agents/triage.py"]


@pytest.mark.parametrize(
    ("source", "target", "says"),
    [
        ("agents/desk.side_b", "agents/triage", "is human and cannot have subagents"),
        (A, "human", "both cannot be human"),
        (A, "prompts/front", "backs side A of desk already"),
        (A, "agents/triage", "is a subagent of side A of desk already"),
        (A, "tools/look", "give it to a prompt"),
        (A, "models/big", "give it to a prompt"),
        (A, "prompts/nobody", "There is no definition prompts/nobody"),
        ("prompts/front", "handlers/pipe", "is a handler; give it to a side"),
        ("prompts/front", "tools/look", "among the tools of prompt front already"),
        ("prompts/front", "agents/triage", "is a subagent of a side"),
        ("models/small", "models/big", "would make a circle"),
        ("models/small", "models/small", "cannot fall back to itself"),
        ("agents/desk", "prompts/front", "connect one of its sides"),
        ("tools/look", "prompts/front", "Nothing can be connected from a tool"),
        ("agents/nobody.side_a", "prompts/front", "There is no definition agents/nobody"),
    ],
)
def test_a_connection_that_cannot_be_is_refused_with_its_reason(
    source: str, target: str, says: str, make_project: MakeProject
) -> None:
    project = make_project()

    with pytest.raises(EditRefused) as refusal:
        project.connect(source, target)

    assert says in refusal.value.text()
    assert project.undo_title is None


@pytest.mark.parametrize(
    ("source", "target", "old", "new"),
    [
        ("prompts/front", "models/small", 'model="big"', 'model="small"'),
        ("prompts/front", "tools/done", '["look"]', '["look", "done"]'),
        ("prompts/front", "prompts/sorter", '["look"]', '["look", "sorter"]'),
        ("prompts/sorter", "agents/triage", '"done"]', '"done", "triage"]'),
    ],
)
def test_a_prompt_takes_models_tools_prompts_and_agents(
    source: str, target: str, old: str, new: str, make_project: MakeProject
) -> None:
    project = make_project()
    before = project.text(source)

    project.connect(source, target)

    assert text_after(project, source) == before.replace(old, new)


# disconnect


def test_disconnecting_takes_the_item_its_comma_and_its_rows_comment(
    make_project: MakeProject,
) -> None:
    project = make_project()

    edit = project.disconnect(A, "agents/mailer")

    row = '            Relationship(agent="mailer"),  # sends mail\n'
    assert text_after(project) == TIDY.replace(row, "")
    assert edit.notes == ["also removes 1 comment on its row"]


def test_a_tuple_of_one_keeps_its_comma(make_project: MakeProject) -> None:
    project = make_project({DESK: TUPLES})

    project.set("agents/desk.hooks", ["two"])
    project.connect(A, "agents/mailer")
    project.disconnect(A, "agents/triage")

    assert text_after(project) == TUPLES.replace('("one", "two",)', '("two",)').replace(
        '(Relationship(agent="triage"),)', '(Relationship(agent="mailer"),)'
    )


def test_a_missing_tool_can_be_disconnected(make_project: MakeProject) -> None:
    old = OTHERS["agents/prompts/front.py"]
    project = make_project({"agents/prompts/front.py": old.replace('"look"', '"gone", "look"')})

    project.disconnect("prompts/front", "missing:tools/gone")

    assert text_after(project, "prompts/front") == old


def test_a_prompts_model_cannot_be_disconnected(make_project: MakeProject) -> None:
    with pytest.raises(EditRefused, match="A prompt needs a model"):
        make_project().disconnect("prompts/front", "models/big")


# set


@pytest.mark.parametrize(
    ("literal", "value", "expected"),
    [
        ("'a'", "b", "'b'"),
        ("'a'", "it's", '"it\'s"'),
        ('"a"', "both ' and \"", '"both \' and \\""'),
        ('r"a\\d"', "b\\w", 'r"b\\w"'),
        ('r"a"', "ends\\", '"ends\\\\"'),
        ('u"a"', "b", 'u"b"'),
        ('"""a\nb"""', "c\nd", '"""c\nd"""'),
        ('"""a"""', 'say """x"""', '"""say \\"\\"\\"x\\"\\"\\""""'),
        ('"""a"""', 'ends"', '"""ends\\""""'),
        ("'''a'''", "x\\y", "'''x\\\\y'''"),
        ('("a" "b")', "c", '("c")'),
        ('"a"', "tab\tnul\0", '"tab\\tnul\\x00"'),
        ('"a"', "\u2028\ud800", '"\\u2028\\ud800"'),
        ('"a"', "漢🎉", '"漢🎉"'),
    ],
)
def test_a_string_stays_in_its_form(
    literal: str, value: str, expected: str, make_project: MakeProject
) -> None:
    text = OTHERS["agents/agents/mailer.py"]
    before = text.replace('"Sends one mail."', literal)
    project = make_project({"agents/agents/mailer.py": before})

    project.set("agents/mailer.description", value)

    assert text_after(project, "agents/mailer") == text.replace('"Sends one mail."', expected)
    assert project.reading("agents/mailer").values["description"] == value


def test_a_new_property_goes_after_the_nearest_earlier_one(make_project: MakeProject) -> None:
    project = make_project()

    project.set(f"{A}.subagents[0].as_", "sort")
    project.set("agents/desk.max_session_turns", 3)

    assert text_after(project) == TIDY.replace(
        'agent="triage", ', 'agent="triage", as_="sort", '
    ).replace(
        "    side_b=Side(human=True),\n", "    side_b=Side(human=True),\n    max_session_turns=3,\n"
    )


def test_own_row_comments_move_with_their_item(make_project: MakeProject) -> None:
    project = make_project()
    subagents = project.reading("agents/desk").values["side_a"]["subagents"]

    project.set(f"{A}.subagents", subagents[::-1])

    one = f"            # the one that writes\n{TRIAGE}\n"
    two = '            Relationship(agent="mailer"),  # sends mail\n'
    assert text_after(project) == TIDY.replace(one + two, two + one)


@pytest.mark.parametrize(
    ("address", "value", "says"),
    [
        ("prompts/front.tools", ["look"], "is a subscript"),
        ("prompts/front.required_schema", {}, "is a name"),
        ("prompts/front", "x", "is a whole definition"),
        ("prompts/front.nonsense", 1, "has no property nonsense"),
        ("prompts/front.prompt[9]", "x", "does not exist"),
        ("prompts/front.name.deeper", "x", "does not exist"),
        ("prompts/front.env", {"A": object()}, "cannot be written into a definition"),
    ],
)
def test_what_cannot_be_set_is_refused_and_the_file_untouched(
    address: str, value: Any, says: str, make_project: MakeProject
) -> None:
    project = make_project({"agents/prompts/front.py": PROMPT})

    with pytest.raises(EditRefused) as refusal:
        project.set(address, value)

    assert says in refusal.value.text()
    assert project.text("prompts/front") == PROMPT


def test_joined_strings_that_hold_comments_are_not_replaced(make_project: MakeProject) -> None:
    text = OTHERS["agents/agents/mailer.py"].replace(
        '"Sends one mail."', '("Sends "  # a verb\n        "mail")'
    )
    project = make_project({"agents/agents/mailer.py": text})

    with pytest.raises(EditRefused, match="holds comments that would be lost"):
        project.set("agents/mailer.description", "x")


def test_a_record_with_an_unpacked_dict_takes_no_new_keys(make_project: MakeProject) -> None:
    project = make_project({DESK: TIDY.replace("human=True", "human=True, **MORE")})

    with pytest.raises(EditRefused, match="unpacks a dict"):
        project.set("agents/desk.side_b.label", "x")


def test_setting_what_it_says_already_changes_nothing(make_project: MakeProject) -> None:
    project = make_project()

    edit = project.set("agents/desk.name", "desk")

    assert edit.changes == ()
    assert project.undo_title is None


# files


def test_an_outside_change_between_plan_and_apply_is_never_overwritten(
    make_project: MakeProject,
) -> None:
    project = make_project()
    edit = project.plan_connect(A, "prompts/sorter")
    (project.root / DESK).write_text(TIDY + "# mine\n")

    with pytest.raises(EditRefused, match="changed outside"):
        project.apply(edit)

    assert (project.root / DESK).read_text() == TIDY + "# mine\n"
    project.connect(A, "prompts/sorter")  # a new plan is based on the new text
    assert (project.root / DESK).read_text().endswith("# mine\n")


def test_undo_after_an_outside_change_is_refused(make_project: MakeProject) -> None:
    project = make_project()
    project.connect(A, "prompts/sorter")
    (project.root / DESK).write_text("# gone\n")

    with pytest.raises(EditRefused, match="changed outside"):
        project.undo()

    assert (project.root / DESK).read_text() == "# gone\n"
    assert project.undo_title is not None


def test_undo_and_redo_restore_exact_bytes(make_project: MakeProject) -> None:
    project = make_project()
    project.connect(A, "prompts/sorter")
    after = (project.root / DESK).read_bytes()

    project.undo()
    assert (project.root / DESK).read_bytes() == TIDY.encode()
    project.redo()

    assert (project.root / DESK).read_bytes() == after
    assert (project.undo_title, project.redo_title) == ("Connect side A of desk to sorter", None)


def test_a_read_only_file_is_refused_and_nothing_of_the_edit_stays(
    make_project: MakeProject,
) -> None:
    project = make_project()
    (project.root / "agents/agents/mailer.py").chmod(0o444)

    with pytest.raises(EditRefused, match="read-only"):
        project.connect("agents/triage.side_a", "agents/mailer")

    assert (project.root / "agents/agents/triage.py").read_text() == OTHERS[
        "agents/agents/triage.py"
    ]


def test_mode_and_symlink_stay(make_project: MakeProject) -> None:
    project = make_project()
    link, real = project.root / DESK, project.root / "elsewhere.py"
    os.replace(link, real)
    real.chmod(0o640)
    link.symlink_to(real)
    project.refresh()

    project.connect(A, "prompts/sorter")

    assert link.is_symlink()
    assert 'prompt="sorter"' in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert [each.name for each in link.parent.iterdir() if each.name.startswith(".sa-")] == []


def test_a_vanished_file_is_a_sentence(make_project: MakeProject) -> None:
    project = make_project()
    edit = project.plan_connect(A, "prompts/sorter")
    (project.root / DESK).unlink()

    with pytest.raises(EditRefused, match="was deleted outside"):
        project.apply(edit)
    with pytest.raises(EditRefused, match=r"There is no definition agents/desk"):
        project.connect(A, "prompts/sorter")


def test_a_character_that_the_encoding_lacks_is_escaped(make_project: MakeProject) -> None:
    data = b"# coding: latin-1\n# \xe9\n" + TIDY.encode()
    project = make_project({DESK: data})

    project.set("agents/desk.description", "漢é")

    assert (project.root / DESK).read_bytes() == data.replace(
        b"human=True),\n", b'human=True),\n    description="\\u6f22\\xe9",\n'
    )


def test_a_new_definition_reads_without_an_error_of_its_own(make_project: MakeProject) -> None:
    project = make_project()
    before = {(each.code, each.span.path) for each in project.problems()}

    for kind in ("agent", "prompt", "model", "tool", "handler"):
        project.apply(project.plan_new(kind, f"new_{kind}"))

    new = {(each.code, each.span.path) for each in project.problems()} - before
    assert {code for code, _ in new} <= {"SA045"}
    while project.undo() is not None:
        pass
    assert not (project.root / "agents/tools/new_tool.py").exists()


@pytest.mark.parametrize("name", ["Desk", "1a", "a b", "../x", "", "a-b"])
def test_a_name_that_cannot_be_is_refused(name: str, make_project: MakeProject) -> None:
    with pytest.raises(EditRefused, match="cannot be a name"):
        make_project().plan_new("agent", name)


def test_writing_a_whole_text_keeps_the_files_line_ends_and_mark(
    make_project: MakeProject,
) -> None:
    data = b"\xef\xbb\xbf" + TIDY.replace("\n", "\r\n").encode()
    project = make_project({DESK: data})

    edit = project.apply(project.plan_write(DESK, TIDY.replace("desk", "dusk")))

    assert (project.root / DESK).read_bytes() == data.replace(b"desk", b"dusk")
    project.undo()
    assert (project.root / DESK).read_bytes() == data
    assert edit.title == "Edit the text of desk"


@pytest.mark.parametrize("path", ["../x.py", "agents/../../x.py", "/etc/passwd", "README.md"])
def test_nothing_outside_agents_is_written(path: str, make_project: MakeProject) -> None:
    with pytest.raises(EditRefused, match="does not lie under agents/"):
        make_project().plan_write(path, "x")
