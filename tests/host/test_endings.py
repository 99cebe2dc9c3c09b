"""Crashes, hangs and kills: the runtime goes on, and no process is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from sa_builder.errors import HostError
from sa_builder.runtime import host_link
from sa_builder.runtime.host_link import HostLink
from tests.host.conftest import FakeState, Sandbox


def is_running(pid: int) -> bool:
    """Whether a process lives; a zombie that waits for its parent does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def group_of(leader: int) -> list[int]:
    """The processes of a group that still live."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    found: list[int] = []
    for pid in pids:
        try:
            is_member = os.getpgid(pid) == leader
        except ProcessLookupError:
            continue
        if is_member and is_running(pid):
            found.append(pid)
    return found


async def gone(pid: int, within_s: float = 2.0) -> bool:
    for _ in range(int(within_s / 0.01)):
        if not is_running(pid):
            return True
        await asyncio.sleep(0.01)
    return False


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_link, "_CANCEL_GRACE_S", 0.2)
    monkeypatch.setattr(host_link, "_TICK_S", 0.05)


async def test_a_crash_ends_its_calls_as_unknown_and_the_next_one_works(sandbox: Sandbox) -> None:
    sandbox.tool("crash", "os._exit(3)")
    sandbox.tool("segfault", "os.kill(os.getpid(), signal.SIGSEGV)", head="import signal")
    sandbox.tool("wait", "await asyncio.sleep(60)")
    sandbox.tool("good", "return 'fine'")

    for name, words in (("crash", "exit code 3"), ("segfault", "signal SIGSEGV")):
        waiting = asyncio.ensure_future(sandbox.call("wait"))
        await asyncio.sleep(0.2)
        outcome = await sandbox.call(name)
        other = await waiting
        assert (outcome.error_type, outcome.unknown) == ("host_died", True)
        assert f"The code host died while tool {name} and 1 more ran ({words})." in (
            outcome.error or ""
        )
        assert (other.error_type, other.unknown) == ("host_died", True)
    assert (await sandbox.call("good")).result == "fine"


@pytest.mark.parametrize("is_sync", [True, False])
async def test_a_call_that_can_stop_is_stopped_and_the_host_lives(
    is_sync: bool, sandbox: Sandbox
) -> None:
    body = "state.env('X')" if is_sync else "print('began')\nawait asyncio.sleep(60)"
    asked = asyncio.Event()
    sandbox.tool("slow", body, sync=is_sync)
    sandbox.tool("pid", "return str(os.getpid())")
    pid = (await sandbox.call("pid")).result

    async def never(*_: object) -> None:
        asked.set()
        await asyncio.sleep(60)

    sandbox.state.serve = never  # pyright: ignore[reportAttributeAccessIssue]

    timed_out = await sandbox.call("slow", timeout_s=0.05)
    wish = sandbox.wish("slow")
    running = asyncio.ensure_future(sandbox.link.call(wish))
    await asyncio.sleep(0.05)
    sandbox.link.cancel(wish.call_id)
    cancelled = await running

    assert (timed_out.error_type, timed_out.unknown) == ("timeout", False)
    assert timed_out.error == "It did not end within 0.05 s and was stopped."
    assert (cancelled.error_type, cancelled.unknown) == ("cancelled", False)
    assert cancelled.captured_output == ("" if is_sync else "began\n")
    assert (await sandbox.call("pid")).result == pid


HANGS = {
    "blocked_loop": ("while True: pass", False),
    "sleeping_loop": ("time.sleep(60)", False),
    "stubborn_coroutine": (
        "while True:\n    try: await asyncio.sleep(60)\n    except BaseException: pass",
        False,
    ),
    "spinning_worker": ("while True: pass", True),
    "held_interpreter_lock": ("re.match('(a+)+$', 'a' * 40 + 'b')", True),
}


@pytest.mark.parametrize("name", HANGS)
async def test_what_does_not_stop_is_killed_and_named(name: str, sandbox: Sandbox) -> None:
    body, is_sync = HANGS[name]
    sandbox.tool("hangs", body, head="import re", sync=is_sync)
    sandbox.tool("pid", "return str(os.getpid())")
    pid = int((await sandbox.call("pid")).result or 0)
    began = time.monotonic()

    outcome = await sandbox.call("hangs", timeout_s=0.1)

    assert time.monotonic() - began < 5.0
    assert (outcome.error_type, outcome.unknown) == ("host_died", True)
    assert "ended because tool hangs" in (outcome.error or "")
    assert await gone(pid)
    assert (await sandbox.call("pid")).result != str(pid)


async def test_the_one_that_holds_the_loop_is_named_not_the_one_that_waits(
    sandbox: Sandbox,
) -> None:
    sandbox.tool("guilty", "time.sleep(60)")
    sandbox.tool("innocent", "return 'x'")
    guilty = asyncio.ensure_future(sandbox.call("guilty"))
    await asyncio.sleep(0.8)

    outcome = await sandbox.call("innocent", timeout_s=0.1)

    assert "because tool guilty" in (outcome.error or "")
    assert (await guilty).error_type == "host_died"


async def test_a_loop_held_too_long_is_noticed_without_a_timeout(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    sandbox.link = HostLink(project_root=tmp_path, state_server=sandbox.state, blocked_limit_s=0.3)
    sandbox.tool("guilty", "time.sleep(60)")

    outcome = await sandbox.call("guilty")
    await sandbox.link.close()

    assert "because tool guilty" in (outcome.error or "")
    assert "kept all other coroutines waiting for 0.3 s" in (outcome.error or "")


async def test_an_import_that_never_ends_is_left_out(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    sandbox.link = HostLink(project_root=tmp_path, state_server=sandbox.state, import_limit_s=0.4)
    sandbox.write("tools/bad.py", "while True: pass")
    sandbox.tool("good", "return 'fine'")

    manifest = await sandbox.link.refresh(test_mode=False)
    await sandbox.link.close()

    assert [definition.name for definition in manifest.definitions] == ["good"]
    assert manifest.problems[0].path == "agents/tools/bad.py"


async def test_cancelling_the_task_cancels_the_call(sandbox: Sandbox) -> None:
    sandbox.tool("slow", "try:\n    await asyncio.sleep(60)\nfinally:\n    open('ended', 'w')")
    await sandbox.link.refresh(test_mode=False)
    running = asyncio.ensure_future(sandbox.call("slow"))
    await asyncio.sleep(0.1)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    for _ in range(100):
        if (sandbox.root / "ended").exists():
            break
        await asyncio.sleep(0.01)
    assert (sandbox.root / "ended").exists()


@pytest.mark.parametrize("body", ["while True: pass", "subprocess.run(['sleep', '60'])"])
async def test_close_keeps_its_deadline_whatever_hangs(body: str, sandbox: Sandbox) -> None:
    sandbox.tool("hangs", body, head="import subprocess", sync=True)
    sandbox.tool("pid", "return str(os.getpid())")
    pid = int((await sandbox.call("pid")).result or 0)
    running = asyncio.ensure_future(sandbox.call("hangs"))
    await asyncio.sleep(0.3)
    began = time.monotonic()

    await sandbox.link.close(deadline_s=1.0)

    assert time.monotonic() - began < 1.2
    assert (await running).error_type == "cancelled"
    assert await gone(pid)
    assert not group_of(pid)
    with pytest.raises(HostError):
        await sandbox.link.refresh(test_mode=False)


async def test_close_of_an_idle_host_is_quick_and_runs_exit_hooks(sandbox: Sandbox) -> None:
    sandbox.tool("a", "return 'x'", head="import atexit\natexit.register(open, 'left', 'w')")
    await sandbox.link.refresh(test_mode=False)

    await sandbox.link.close()

    assert (sandbox.root / "left").exists()


@pytest.mark.parametrize("name", ["none", "blocked_loop", "held_interpreter_lock"])
def test_no_process_outlives_a_killed_runtime(name: str, tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    body, is_sync = HANGS.get(name, ("await asyncio.sleep(60)", False))
    body = f"open('pid', 'w').write(str(os.getpid()))\n{body}"
    sandbox.tool("hangs", body, head="import re", sync=is_sync)
    runtime = """
        import asyncio, sys
        from pathlib import Path
        from tests.host.conftest import Sandbox
        async def main():
            root = Path(sys.argv[1])
            sandbox = Sandbox.__new__(Sandbox)
            import itertools
            from sa_builder.runtime.host_link import HostLink
            sandbox._numbers = itertools.count(1)
            sandbox.link = HostLink(project_root=root, state_server=None)
            await sandbox.call("hangs")
        asyncio.run(main())
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(runtime), str(tmp_path)],
        cwd=Path(__file__).parents[2],
    )
    pid_file = tmp_path / "pid"
    deadline = time.monotonic() + 10
    while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    pid = int(pid_file.read_text())
    time.sleep(0.1)

    parent.send_signal(signal.SIGKILL)
    parent.wait()

    assert asyncio.run(gone(pid))


async def test_an_interpreter_that_cannot_run_it_falls_back_to_ours(sandbox: Sandbox) -> None:
    fake = sandbox.root / ".venv/bin/python"
    fake.parent.mkdir(parents=True)
    fake.write_text("#!/bin/sh\necho 'No module named sa_builder' >&2\nexit 1\n")
    fake.chmod(0o755)
    sandbox.tool("good", "return 'fine'")
    sandbox.link = HostLink(project_root=sandbox.root, state_server=sandbox.state)

    assert (await sandbox.call("good")).result == "fine"


async def test_no_interpreter_at_all_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    link = HostLink(
        project_root=tmp_path, state_server=FakeState(), python=tmp_path / "none/python"
    )

    with pytest.raises(HostError) as caught:
        await link.refresh(test_mode=False)
    await link.close()

    assert "The code host cannot start" in caught.value.sentence
