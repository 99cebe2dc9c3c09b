"""The window is killed while a child waits for its model, and goes on when it is opened again."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from sa_builder.spec.threads import MessageQuery
from sa_builder.store.thread_reader import ThreadReader
from tests.end_to_end.conftest import ROOT, Desktop
from tests.end_to_end.model_server import ModelServer

REQUEST = "Triage issue 42 in acme/widgets"
_PATIENCE_S = 30
UNDISTURBED = Counter(
    {
        "parent 0": 1,
        "child 0": 1,
        "GET /api.github.com/repos/acme/widgets/issues/42": 1,
        "child 1": 1,
        "POST /api.github.com/repos/acme/widgets/issues/42/labels": 1,
        "child 2": 1,
        "parent 1": 1,
    }
)
"""What the model and GitHub are asked when nothing goes wrong."""


@pytest.fixture
def server(sample: Path) -> Iterator[ModelServer]:
    """A model and GitHub on loopback, which the sample's tools ask."""
    serving = ModelServer(sample / "agents" / "mocks")
    for tool in (sample / "agents" / "tools").glob("*_github_issue.py"):
        text = tool.read_text(encoding="utf-8")
        assert "https://api.github.com" in text
        text = text.replace("https://api.github.com", f"{serving.url}/api.github.com")
        tool.write_text(text, encoding="utf-8")
    yield serving
    serving.close()


def test_a_killed_window_comes_to_the_same_ending_and_repeats_no_recorded_call(
    desktop: Desktop, sample: Path, server: ModelServer
) -> None:
    live = {"OPENROUTER_BASE_URL": f"{server.url}/v1", "GITHUB_TOKEN": "a-token-for-loopback"}
    run_headless(sample, desktop.environment(live))
    undisturbed = ending_of(sample)
    assert server.calls == UNDISTURBED
    shutil.rmtree(sample / ".sa_builder")
    server.calls.clear()

    server.held = "child 1"
    window = desktop.drive("ask", sample, "--live", "--trust", more=live)
    assert server.is_holding.wait(_PATIENCE_S), "The child never asked its model."
    window.send_signal(signal.SIGKILL)
    window.wait(timeout=10)
    server.held = None
    said = desktop.finish(desktop.drive("ending", sample, "--live", "--trust", more=live))

    assert said == ["It answered 1 time."]
    assert server.calls == UNDISTURBED + Counter({"child 1": 1})  # the one that was cut off
    assert ending_of(sample) == undisturbed


def run_headless(project: Path, environment: Mapping[str, str]) -> None:
    """Ask on the command line, where nothing is killed."""
    words = ["run", "repo_assistant", "-m", REQUEST, "--live", "--project", str(project)]
    subprocess.run(
        [sys.executable, "-m", "sa_builder", *words],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        timeout=_PATIENCE_S,
    )


def ending_of(project: Path) -> dict[str, tuple[str, list[str]]]:
    """Each agent's thread: its state, and its messages with agents' names for ids."""
    readers = [ThreadReader(file) for file in project.glob(".sa_builder/threads/*/thread.db")]
    agents = {one.thread_id: one.details().summary.agent_name for one in readers}
    found: dict[str, tuple[str, list[str]]] = {}
    for reader in readers:
        lines: list[str] = []
        for message in reader.messages(MessageQuery(limit=1000)).messages:
            calls = [(call.name, call.arguments_json) for call in message.tool_calls]
            line = f"{message.side} {message.turn} {message.step} {message.role} {message.status}"
            line += f" {message.name} {message.content} {calls}"
            for thread_id, agent in agents.items():
                line = line.replace(thread_id, agent)
            lines.append(line)
        found[agents[reader.thread_id]] = (reader.details().summary.state, lines)
        reader.close()
    return found
