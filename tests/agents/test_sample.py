"""Every agent of the sample, offline, through the command line: answers and failing paths."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from sa_builder.cli.main import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample project, with no variables but those of its own `.env.test`."""
    for name in ("SA_TEST_MODE", "GITHUB_TOKEN", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    project = tmp_path / "sample"
    shutil.copytree(
        ROOT / "agents", project / "agents", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy2(ROOT / ".env.test", project)
    return project


class Asked:
    """One `run --json`: its exit code and its document."""

    def __init__(self, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._project = project
        self._capsys = capsys
        self.code = -1
        self.err = ""

    def __call__(self, agent: str, text: str, *more: str) -> dict[str, Any]:
        words = ["run", agent, "-m", text, "--json", "--project", str(self._project), *more]
        self.code = main(words)
        captured = self._capsys.readouterr()
        self.err = captured.err
        return json.loads(captured.out) if captured.out else {}


@pytest.fixture
def ask(sample: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    """Asks an agent of the sample."""
    return Asked(sample, capsys)


def answer(document: dict[str, Any]) -> str:
    """The last thing the agent said to the person."""
    said = [one for one in document["messages"] if one["role"] == "assistant" and one["content"]]
    return said[-1]["content"]


@pytest.mark.parametrize(
    "wording",
    ["Triage issue 42 in acme/widgets", "please triage acme/widgets #42"],
)
def test_an_issue_is_triaged_in_a_child_thread(ask: Asked, wording: str) -> None:
    document = ask("repo_assistant", wording)

    assert ask.code == 0
    assert "**bug** and **priority: high**" in answer(document)
    (child,) = document["children"]
    assert child["relationship"] == "issue_triage"
    tools = [one["name"] for one in child["messages"] if one["role"] == "tool"]
    assert tools == ["get_github_issue", "label_github_issue", "submit_triage"]
    assert all(
        one["tool_status"] == "success" for one in child["messages"] if one["role"] == "tool"
    )


def test_without_an_issue_it_asks_back(ask: Asked) -> None:
    document = ask("repo_assistant", "Triage my issue")

    assert ask.code == 0
    assert answer(document).startswith("Which issue shall I triage?")
    assert document["children"] == []


def test_a_missing_issue_is_told_to_the_person(ask: Asked) -> None:
    document = ask("repo_assistant", "Triage issue 404 in acme/widgets")

    assert ask.code == 0
    assert "GitHub returned 404" in answer(document)
    (child,) = document["children"]
    assert "could not read issue 404" in answer(child)


def test_without_a_token_nothing_is_labelled_and_the_person_is_told(
    ask: Asked, sample: Path
) -> None:
    (sample / ".env.test").write_text("SA_TEST_MODE=1\n")

    document = ask("repo_assistant", "Triage issue 42 in acme/widgets")

    assert ask.code == 0
    assert "GITHUB_TOKEN" in answer(document)
    (child,) = document["children"]
    failed = [one for one in child["messages"] if one["tool_status"] == "error"]
    assert [one["name"] for one in failed] == ["label_github_issue"]


def test_the_same_thread_can_be_asked_again(ask: Asked) -> None:
    first = ask("repo_assistant", "Triage issue 404 in acme/widgets")

    again = ask("repo_assistant", "Triage issue 42 in acme/widgets", "--thread", first["thread_id"])

    assert again["thread_id"] == first["thread_id"]
    assert "**bug**" in answer(again)
    assert len(again["children"]) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("What is the weather in Paris today?", "18.4 °C"),
        ("And in London?", "14.1 °C"),
        ("How is it outside?", "Which city do you mean?"),
    ],
)
def test_the_weather_is_looked_up(ask: Asked, text: str, says: str) -> None:
    document = ask("weather_agent", text)

    assert ask.code == 0
    assert says in answer(document)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("/close 42", "Closed issue 42: Widgets spin backwards after the 2.3 update."),
        ("/close 7", "Issue 7 is still open. GitHub returned 404."),
        ("close it", "Send /close and an issue number, such as /close 42."),
    ],
)
def test_a_command_closes_an_issue_without_a_model(ask: Asked, text: str, says: str) -> None:
    document = ask("close_bot", text)

    assert ask.code == 0
    assert answer(document) == says


def test_without_a_token_the_issue_stays_open(ask: Asked, sample: Path) -> None:
    (sample / ".env.test").write_text("SA_TEST_MODE=1\n")

    document = ask("close_bot", "/close 42")

    assert answer(document) == "Issue 42 is still open. No GITHUB_TOKEN is set."


def test_a_message_is_relayed_to_the_child_that_was_there_from_the_start(ask: Asked) -> None:
    document = ask("relay_agent", "Hello there")

    assert ask.code == 0
    (child,) = document["children"]
    assert child["relationship"] == "assistant_agent"
    assert child["messages"][0]["content"] == "Hello there"


def test_an_echo_comes_back(ask: Asked) -> None:
    document = ask("echo_once", "One two")

    assert ask.code == 0
    assert answer(document) == "Received: One two"


def test_a_chat_answers_offline(ask: Asked) -> None:
    document = ask("assistant_agent", "Who are you?")

    assert ask.code == 0
    assert "recorded answer" in answer(document)
