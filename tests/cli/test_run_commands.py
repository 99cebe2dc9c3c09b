"""run, resume, threads and logs: what they print, and how they fail."""

from __future__ import annotations

import asyncio
import errno
import io
import json
import sys
from pathlib import Path

import pytest

from sa_builder.cli.main import main
from sa_builder.service.service import Service
from sa_builder.spec.events import Event, ThreadChanged
from sa_builder.spec.threads import CreateThread, SendMessage
from tests.cli.conftest import Command

QUESTION = "Triage issue 42 in acme/widgets"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    for name in ("SA_TEST_MODE", "GITHUB_TOKEN", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_an_answer_streams_to_stdout_alone(command: Command, sample: Path) -> None:
    said = command("run", "weather_agent", "-m", "Weather in Paris?", "--project", sample)

    assert (said.code, said.err) == (0, "")
    assert said.out == "In Paris it is 18.4 °C and partly cloudy, with a light wind of 11 km/h.\n"


def test_a_handlers_answer_is_printed_too(command: Command, sample: Path) -> None:
    said = command("run", "echo_once", "-m", "hi", "--project", sample)

    assert (said.code, said.out, said.err) == (0, "Received: hi\n", "")


def test_threads_can_be_listed_shown_read_and_deleted(command: Command, sample: Path) -> None:
    made = command("run", "repo_assistant", "-m", QUESTION, "--json", "--project", sample)
    thread_id = json.loads(made.out)["thread_id"]

    listed = command("threads", "--project", sample)
    assert thread_id in listed.out
    assert listed.out.endswith("1 thread\n")
    shown = command("threads", "show", thread_id, "--project", sample)
    assert "prompt repo_assistant" in shown.out
    assert "issue_triage" in shown.out
    messages = command("threads", "messages", thread_id, "--project", sample)
    assert QUESTION in messages.out
    assert "calls subagent_create" in messages.out
    logs = command("threads", "logs", thread_id, "--project", sample)
    assert "conversational" in logs.out

    file = sample / ".sa_builder" / "threads" / thread_id / "thread.db"
    alone = sample.parent / "alone.db"
    alone.write_bytes(file.read_bytes())
    nowhere = command("logs", alone, "--log", str(10**30))
    assert (nowhere.code, nowhere.err) == (1, f"This thread has no log row {10**30}.\n")
    offline = command("logs", alone)
    assert offline.code == 0
    assert "conversational" in offline.out
    first = json.loads(command("logs", alone, "--json").out)["logs"]
    model = next(row["id"] for row in first if row["kind"] == "model")
    details = json.loads(command("logs", alone, "--log", str(model)).out)
    assert QUESTION in details["request_body"]

    assert command("threads", "delete", thread_id, "--project", sample).code == 0
    assert command("threads", "--project", sample).out == "0 threads\n"
    assert not file.exists()


def test_nothing_to_resume_is_said(command: Command, sample: Path) -> None:
    said = command("resume", "--project", sample)

    assert (said.code, said.out, said.err) == (0, "Nothing was left to go on with.\n", "")


def test_an_unknown_agent_is_a_sentence(command: Command, sample: Path) -> None:
    said = command("run", "nobody", "-m", "hi", "--project", sample)

    assert said.code == 1
    assert "nobody" in said.err
    assert said.err.count("\n") == 1


def test_an_unknown_thread_is_a_sentence(command: Command, sample: Path) -> None:
    for words in (("threads", "show", "no-such"), ("resume", "--thread", "no-such")):
        said = command(*words, "--project", sample)
        assert said.code == 1
        assert said.err.count("\n") == 1
        assert "no-such" in said.err


def test_a_missing_project_is_a_sentence(command: Command, tmp_path: Path) -> None:
    said = command("run", "x", "-m", "hi", "--project", tmp_path / "nowhere")

    assert said.code == 1
    assert said.err.count("\n") == 1
    assert not (tmp_path / "nowhere").exists()


def test_a_syntax_error_is_told_with_its_file(command: Command, sample: Path) -> None:
    (sample / "agents/prompts/weather.py").write_text("def broken(:\n")

    said = command("run", "weather_agent", "-m", "hi", "--project", sample)

    assert said.code == 1
    assert said.err.count("\n") == 1
    assert "weather" in said.err


def test_live_without_a_key_is_a_sentence(command: Command, sample: Path) -> None:
    said = command("run", "assistant_agent", "-m", "hi", "--live", "--project", sample)

    assert said.code == 1
    assert said.err.count("\n") == 1
    assert "OPENROUTER_API_KEY" in said.err


def test_a_dead_network_is_a_sentence(command: Command, sample: Path) -> None:
    (sample / "agents/models/conversational.py").write_text(
        "from sa_builder.spec import define_model\n\n"
        'model = define_model(name="conversational", provider="compatible", model="m",\n'
        '    base_url="http://127.0.0.1:9/v1/chat/completions")\n'
    )

    said = command("run", "assistant_agent", "-m", "hi", "--live", "--project", sample)

    assert said.code == 1
    assert said.err.count("\n") == 1
    assert "127.0.0.1:9" in said.err


def test_a_stdout_that_knows_few_characters_gets_escapes(
    sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    for words in ((), ("--json",)):
        said = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        monkeypatch.setattr(sys, "stdout", said)
        question = ["run", "echo_once", "-m", "ü\U0001f600", "--project", str(sample), *words]
        assert main(question) == 0
        said.seek(0)
        shown.append(said.read())

    assert shown[0] == "Received: \\xfc\\U0001f600\n"
    messages = json.loads(shown[1])["messages"]
    assert messages[1]["content"] == "Received: ü\U0001f600"


class ClosedPipe(io.TextIOBase):
    """A stdout whose reader has gone."""

    def write(self, _text: str) -> int:
        raise BrokenPipeError


def test_a_reader_that_leaves_ends_the_output_and_not_the_run(
    command: Command, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", ClosedPipe())
        code = main(["run", "weather_agent", "-m", "Weather in Paris?", "--project", str(sample)])

    assert code == 1
    rows = json.loads(command("threads", "--json", "--project", sample).out)["rows"]
    assert [row["state"] for row in rows] == ["awaiting_human"]
    assert rows[0]["preview"].startswith("In Paris")


def test_a_handler_that_does_not_load_is_named_with_its_reason(
    command: Command, sample: Path
) -> None:
    handler = sample / "agents/handlers/echo_once.py"
    handler.write_text("import no_such_package\n" + handler.read_text())

    said = command("run", "echo_once", "-m", "hi", "--project", sample)

    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "handlers/echo_once did not load" in said.err
    assert "no_such_package" in said.err
    assert "create it" not in said.err


def test_a_full_device_is_a_sentence(
    sample: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Full(io.TextIOBase):
        def write(self, _text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", Full())
        code = main(["graph", "--project", str(sample)])

    assert code == 1
    assert capsys.readouterr().err == "The output cannot be written: No space left on device.\n"


def test_a_closed_stdout_is_no_fault(
    command: Command, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", None)
        assert main(["run", "echo_once", "-m", "hi", "--json", "--project", str(sample)]) == 0
        sys.stdout.close()

    assert "echo_once" in command("threads", "--project", sample).out


def test_resuming_goes_on_with_the_parent_of_what_was_cut_off(
    command: Command, sample: Path
) -> None:
    parent = asyncio.run(_ask_until_parked(sample))

    said = command("resume", "--project", sample)

    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[-1].startswith(f"{parent}  awaiting_human  repo_assistant: ")
    assert "is triaged" in said.out


async def _ask_until_parked(project: Path) -> str:
    """Ask for a triage, and close the service while the parent waits for its child."""
    service = Service(project, trusted=lambda: True, test_mode=True)
    await service.start()
    parent = await service.create_thread(CreateThread(agent_name="repo_assistant"))
    parked = asyncio.Event()

    def listen(event: Event) -> None:
        if isinstance(event, ThreadChanged) and event.summary.state == "parked":
            parked.set()

    service.subscribe(listen)
    await service.send_message(parent.id, SendMessage(content=QUESTION))
    async with asyncio.timeout(20):
        await parked.wait()
        await service.engine.box(parent.id).at_rest.wait()
    await service.close()
    return parent.id


def test_a_thread_that_cannot_be_read_can_still_be_deleted(command: Command, sample: Path) -> None:
    made = command("run", "echo_once", "-m", "hi", "--json", "--project", sample)
    thread_id = json.loads(made.out)["thread_id"]
    file = sample / ".sa_builder" / "threads" / thread_id / "thread.db"
    file.write_bytes(b"no database" * 1000)

    said = command("threads", "delete", thread_id, "--project", sample)

    assert (said.code, said.err) == (0, "")
    assert "could not be read" in said.out
    assert not file.parent.exists()
    assert command("threads", "--project", sample).out == "0 threads\n"
