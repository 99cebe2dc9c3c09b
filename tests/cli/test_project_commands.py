"""check, graph, the edits and new: text work, no user code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sa_builder.cli.project_commands import value_of
from tests.cli.conftest import Command

RELAY = "agents/agents/relay_agent.py"


def test_the_sample_has_no_problems(command: Command, sample: Path) -> None:
    said = command("check", "--project", sample)

    assert (said.code, said.err) == (0, "")
    assert said.out == "20 definitions: no problems\n"


def test_a_problem_is_told_with_its_place_and_fails_the_check(
    command: Command, sample: Path
) -> None:
    path = sample / RELAY
    path.write_text(path.read_text().replace('"relay_pipe"', '"gone"'))

    said = command("check", "--project", sample)

    assert said.code == 1
    first = said.out.split("\n")[0]
    assert first.startswith(f"{RELAY}:6:17: SA"), first
    assert " error: " in first
    assert "gone" in first


def test_problems_come_as_json(command: Command, sample: Path) -> None:
    (sample / RELAY).write_text("from sa_builder.spec import\n")

    said = command("check", "--json", "--project", sample)

    found = json.loads(said.out)
    assert said.code == 1
    assert found["counts"]["error"] >= 1
    assert {"code", "severity", "span", "sentence"} <= found["problems"][0].keys()


def test_checking_runs_no_code_of_the_project(command: Command, sample: Path) -> None:
    trap = sample / "ran"
    path = sample / "agents" / "tools" / "get_weather.py"
    path.write_text(f"{path.read_text()}\nopen({str(trap)!r}, 'w').close()\n")

    command("check", "--project", sample)
    command("graph", "--project", sample)

    assert not trap.exists()


def test_connecting_changes_the_span_alone(command: Command, sample: Path) -> None:
    path = sample / RELAY
    before = path.read_text()

    source = "agents/relay_agent.side_a"
    said = command("connect", source, "handlers/echo_once", "--project", sample)

    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"Wrote {RELAY}:6")
    assert path.read_text() == before.replace('"relay_pipe"', '"echo_once"')


def test_set_and_unset_give_the_same_bytes_back(command: Command, sample: Path) -> None:
    path = sample / RELAY
    before = path.read_bytes()
    address = "agents/relay_agent.max_session_turns"

    assert command("set", address, "3", "--project", sample).code == 0
    assert b"max_session_turns=3" in path.read_bytes()
    assert command("unset", address, "--project", sample).code == 0

    assert path.read_bytes() == before


def test_disconnecting_takes_the_subagent_out(command: Command, sample: Path) -> None:
    source = "agents/repo_assistant.side_a"
    said = command("disconnect", source, "agents/issue_triage", "--json", "--project", sample)

    assert said.code == 0
    assert json.loads(said.out)["files"] == ["agents/agents/repo_assistant.py"]
    assert "issue_triage" not in (sample / "agents/agents/repo_assistant.py").read_text()


def test_a_refused_edit_is_a_sentence_and_no_change(command: Command, sample: Path) -> None:
    before = (sample / RELAY).read_bytes()

    said = command("set", "agents/relay_agent.nope", "1", "--project", sample)

    assert said.code == 1
    assert said.err.count("\n") == 1
    assert "nope" in said.err
    assert (sample / RELAY).read_bytes() == before


def test_a_new_definition_can_be_read(command: Command, sample: Path) -> None:
    assert command("new-definition", "tool", "look_up", "--project", sample).code == 0

    said = command("check", "--project", sample)
    assert said.code == 0
    assert said.out.endswith("21 definitions: 1 hint\n")


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("5", 5),
        ("true", True),
        ("True", True),
        ("None", None),
        ("plain words", "plain words"),
        ('"quoted"', "quoted"),
        ('["a", "b"]', ["a", "b"]),
        ("('a', 'b')", ("a", "b")),
        ("2024-01-01", "2024-01-01"),
    ],
)
def test_a_typed_value_is_read_as_it_looks(typed: str, value: object) -> None:
    assert value_of(typed) == value


def test_the_graph_names_its_edges(command: Command, sample: Path) -> None:
    said = command("graph", "repo_assistant", "--project", sample)

    assert said.code == 0
    assert "agents/repo_assistant.side_a -> agents/issue_triage  subagent (blocking)" in said.out
    assert "close_bot" not in said.out


def test_the_graph_comes_as_json(command: Command, sample: Path) -> None:
    said = command("graph", "--json", "--project", sample)

    graph = json.loads(said.out)
    assert "agents/repo_assistant" in {node["id"] for node in graph["nodes"]}
    assert {"backing", "subagent", "uses", "session"} <= {edge["kind"] for edge in graph["edges"]}


@pytest.mark.parametrize("template", ["empty", "relay", "repo_assistant"])
def test_a_new_project_has_no_problems_and_test_mode(
    command: Command, tmp_path: Path, template: str
) -> None:
    folder = tmp_path / "made"

    assert command("new", folder, "--template", template).code == 0

    assert command("check", "--project", folder).code == 0
    assert "SA_TEST_MODE=1" in (folder / ".env.test").read_text()
    again = command("new", folder, "--template", template)
    assert again.code == 1
    assert "not empty" in again.err


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("check", "--project", "no/such/folder"), 1, "no/such/folder"),
        (("connect", "agents/x.side_a"), 2, "TARGET"),
        (("bogus",), 1, "bogus"),
        (("bogus", "two"), 2, "bogus"),
        (("--bogus",), 2, "--bogus"),
        (("run", "x"), 2, "--message"),
        (("logs", "no/such.db"), 1, "no/such.db"),
    ],
)
def test_a_wrong_call_is_one_sentence(
    command: Command, words: tuple[str, ...], code: int, says: str
) -> None:
    said = command(*words)

    assert said.code == code
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert says in said.err
    assert "Traceback" not in said.err


def test_an_error_of_ours_is_a_sentence_with_a_file(
    command: Command, sample: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("sa_builder.cli.project_commands.Project.open", fail)

    said = command("check", "--project", sample)

    assert said.code == 1
    assert said.err.count("\n") == 1
    kept = next(tmp_path.rglob("error-*.log"))
    assert str(kept) in said.err
    assert "ZeroDivisionError: a bug" in kept.read_text()
