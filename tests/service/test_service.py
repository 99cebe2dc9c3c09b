"""The whole of a project at work: real files, the real code host, models from mocks."""

from __future__ import annotations

import asyncio
import fcntl
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sa_builder.errors import KnownError, ProjectError, RuntimeRefused
from sa_builder.service.service import Service
from sa_builder.spec.events import Event
from sa_builder.spec.logs import LogQuery
from sa_builder.spec.threads import (
    CreateThread,
    MessageQuery,
    SendMessage,
    ThreadQuery,
    ThreadSummary,
)
from sa_builder.store.layout import DataFolder
from sa_builder.util.ids import ThreadId
from tests.service.projects import chat_project, proposes, says, tool

ROOT = Path(__file__).resolve().parents[2]
Open = Callable[..., Service]


@pytest_asyncio.fixture
async def open_service(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Open]:
    """Makes services in test mode; each is closed at the end."""
    for name in ("SA_TEST_MODE", "GITHUB_TOKEN", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    made: list[Service] = []

    def make(root: Path, trusted: Callable[[], bool] = lambda: True) -> Service:
        service = Service(root, trusted=trusted, test_mode=True)
        made.append(service)
        return service

    yield make
    for service in made:
        await service.close()


async def ask(service: Service, agent: str, text: str) -> ThreadSummary:
    """A new thread, asked once."""
    thread = await service.create_thread(CreateThread(agent_name=agent))
    await service.send_message(thread.id, SendMessage(content=text))
    async with asyncio.timeout(30):
        return await service.wait_until_rest(thread.id)


async def lines(service: Service, thread: ThreadId) -> list[str]:
    page = await service.list_messages(thread, MessageQuery())
    return [f"{one.role}: {one.content}" for one in page.messages]


async def test_sync_async_and_throwing_tools_run_in_order(
    open_service: Open, tmp_path: Path
) -> None:
    project = chat_project(
        tmp_path,
        says("All three ran.", last_message_contains="ValueError"),
        proposes("quick", "slow", "bad"),
        quick=tool(
            "async def execute(state: ThreadState):\n    print('hello')\n    return 'quick'"
        ),
        slow=tool("def execute(state: SyncThreadState):\n    return state.thread_id"),
        bad=tool("async def execute(state: ThreadState):\n    raise ValueError('no')"),
    )
    service = open_service(project)
    await service.start()

    thread = (await ask(service, "chat", "go")).id

    assert (await lines(service, thread))[2:] == [
        "tool: quick", f"tool: {thread}", "tool: ValueError: no", "assistant: All three ran.",
    ]  # fmt: skip
    rows = (await service.list_logs(thread, LogQuery(kinds=("tool",)))).rows
    assert [row.status for row in rows] == ["done", "done", "failed"]
    assert (await service.get_log(thread, rows[0].id)).captured_output == "hello\n"
    request = (await service.get_log(thread, (await models(service, thread))[1])).request_body
    assert '"role":"tool"' in (request or "")


async def models(service: Service, thread: ThreadId) -> list[Any]:
    page = await service.list_logs(thread, LogQuery(kinds=("model",)))
    return [row.id for row in page.rows]


async def test_a_stream_that_is_cut_off_is_asked_for_again(
    open_service: Open, tmp_path: Path
) -> None:
    half = {
        "match": {"url_contains": "/chat/completions", "nth": 1},
        "body": 'data: {"choices":[{"index":0,"delta":{"content":"I was ju"}}]}\n\n',
        "headers": {"content-type": "text/event-stream"},
    }
    full = says("I was just here.")
    service = open_service(chat_project(tmp_path, half, full))
    await service.start()

    thread = (await ask(service, "chat", "go")).id

    assert await lines(service, thread) == ["user: go", "assistant: I was just here."]
    rows = (await service.list_logs(thread, LogQuery(kinds=("model",)))).rows
    assert [(row.status, row.error_type) for row in rows] == [
        ("failed", "provider.truncated"), ("done", None),
    ]  # fmt: skip


async def test_logs_come_with_those_of_children_beneath_the_row_that_made_them(
    open_service: Open, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "agents", tmp_path / "agents")
    shutil.copy2(ROOT / ".env.test", tmp_path)
    service = open_service(tmp_path)
    await service.start()

    thread = (await ask(service, "repo_assistant", "Triage issue 42 in acme/widgets")).id

    page = await service.list_logs(thread, LogQuery(include_children=True))
    depths = [(row.depth, row.title) for row in page.rows]
    place = depths.index((0, "subagent_create"))
    inner = [title for depth, title in depths[place + 1 :] if depth == 1]
    assert inner[-1] == "submit_triage"
    assert depths[-1] == (0, "conversational")
    own = await service.list_logs(thread, LogQuery())
    assert [row.depth for row in own.rows] == [0] * len(own.rows)


async def test_a_second_process_is_told_who_runs_the_project(
    open_service: Open, tmp_path: Path
) -> None:
    service = open_service(chat_project(tmp_path))
    await service.start()
    script = (
        "import asyncio, pathlib, sys\n"
        "from sa_builder.errors import KnownError\n"
        "from sa_builder.service.service import Service\n"
        "async def main():\n"
        "    service = Service(pathlib.Path(sys.argv[1]), trusted=lambda: True, test_mode=True)\n"
        "    try:\n"
        "        await service.start()\n"
        "    except KnownError as error:\n"
        "        print(error.code, error.text())\n"
        "    await service.close()\n"
        "asyncio.run(main())\n"
    )

    said = await asyncio.get_running_loop().run_in_executor(None, run_python, script, tmp_path)

    assert said.startswith("runtime.elsewhere This project already runs in another process (pid ")
    await service.close()
    assert run_python(script, tmp_path) == ""


def run_python(script: str, *arguments: Path) -> str:
    """What a script prints."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=60
    ).stdout


async def test_threads_are_read_while_another_process_runs_them(
    open_service: Open, tmp_path: Path
) -> None:
    running = open_service(chat_project(tmp_path, says("Hello.")))
    await running.start()
    thread = (await ask(running, "chat", "hi")).id
    await running.list_threads(ThreadQuery())
    reading = open_service(tmp_path)

    assert [row.id for row in (await reading.list_threads(ThreadQuery())).rows] == [thread]
    assert await lines(reading, thread) == ["user: hi", "assistant: Hello."]
    assert (await reading.get_thread(thread)).summary.state == "awaiting_human"
    with pytest.raises(RuntimeRefused, match="not started"):
        await reading.send_message(thread, SendMessage(content="x"))
    with pytest.raises(RuntimeRefused, match="There is no thread"):
        await reading.get_thread(ThreadId("none"))


async def test_an_untrusted_project_runs_nothing_and_says_so(
    open_service: Open, tmp_path: Path
) -> None:
    evil = tool("async def execute(state: ThreadState): ...") + "open('ran', 'w').close()\n"
    service = open_service(chat_project(tmp_path, evil=evil), trusted=lambda: False)
    await service.start()

    with pytest.raises(RuntimeRefused, match="not trusted"):
        await service.create_thread(CreateThread(agent_name="chat"))

    assert not (tmp_path / "ran").exists()
    assert [agent.name for agent in await service.list_agents()] == ["chat"]


async def test_an_edit_saved_before_a_message_counts_for_it(
    open_service: Open, tmp_path: Path
) -> None:
    version = "async def execute(state: ThreadState):\n    return 'version {}'"
    after = says("Seen.", last_message_contains="version")
    project = chat_project(tmp_path, after, proposes("look"), look=tool(version.format(1)))
    service = open_service(project)
    await service.start()
    first = (await ask(service, "chat", "go")).id

    (project / "agents/tools/look.py").write_text(tool(version.format(2)), encoding="utf-8")
    second = (await ask(service, "chat", "go")).id

    assert (await lines(service, first))[2] == "tool: version 1"
    assert (await lines(service, second))[2] == "tool: version 2"


async def test_a_thread_of_an_unknown_agent_is_refused_with_the_nearest_name(
    open_service: Open, tmp_path: Path
) -> None:
    service = open_service(chat_project(tmp_path))
    await service.start()

    with pytest.raises(RuntimeRefused, match=r"Did you mean chat\?"):
        await service.create_thread(CreateThread(agent_name="chatt"))

    assert (await service.list_threads(ThreadQuery())).total == 0


async def test_a_data_folder_that_cannot_be_written_is_a_sentence(
    open_service: Open, tmp_path: Path
) -> None:
    chat_project(tmp_path)
    (tmp_path / ".sa_builder").write_text("in the way", encoding="utf-8")
    with pytest.raises(ProjectError, match="cannot be written"):
        await open_service(tmp_path).start()

    (tmp_path / ".sa_builder").unlink()
    (tmp_path / ".sa_builder" / "lock").mkdir(parents=True)
    with pytest.raises(ProjectError, match="cannot be written"):
        await open_service(tmp_path).start()


async def test_a_start_that_fails_lets_go_of_the_project(
    open_service: Open, tmp_path: Path
) -> None:
    folder = DataFolder(chat_project(tmp_path))
    folder.make()
    (folder.registry).mkdir()
    service = open_service(tmp_path)

    with pytest.raises(KnownError):
        await service.start()

    with (folder.root / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def all_bytes(folder: Path) -> bytes:
    """Every database below a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*.db*"))


async def test_values_given_to_a_thread_stay_out_of_its_database(
    open_service: Open, tmp_path: Path
) -> None:
    reads = "async def execute(state: ThreadState):\n    return 'it is ' + await state.env('PIN')"
    project = chat_project(
        tmp_path,
        says("Good.", last_message_contains="it is"),
        proposes("look"),
        look=tool(reads),
    )
    service = open_service(project)
    await service.start()
    wish = CreateThread(agent_name="chat", env={"PIN": "secret-4711-value"})
    thread = await service.create_thread(wish)

    await service.send_message(thread.id, SendMessage(content="go"))
    await service.wait_until_rest(thread.id)

    assert "4711" not in (await lines(service, thread.id))[2]
    assert (await lines(service, thread.id))[2].startswith("tool: it is")
    await service.close()
    assert b"4711" not in all_bytes(tmp_path)


async def test_a_listener_that_raises_does_not_fail_the_turn(
    open_service: Open, tmp_path: Path
) -> None:
    service = open_service(chat_project(tmp_path, says("Hello.")))
    heard: list[str] = []

    def fail(event: Event) -> None:
        raise ValueError(event.kind)

    service.subscribe(fail)
    service.subscribe(lambda event: heard.append(event.kind))
    await service.start()

    summary = await ask(service, "chat", "hi")

    assert summary.state == "awaiting_human"
    assert "message_delta" in heard
    assert "a listener" in (tmp_path / ".sa_builder" / "errors.log").read_text(encoding="utf-8")
