"""Compose, run and inspect the sample in a real window, with a real mouse and keyboard."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

from tests.end_to_end.conftest import EXIT_S, Desktop


def files_of(root: Path) -> dict[str, bytes]:
    """The definition files' bytes, by name."""
    return {
        file.relative_to(root).as_posix(): file.read_bytes()
        for file in sorted((root / "agents").rglob("*.py"))
    }


def test_the_three_acts_are_done_and_the_thread_is_read_alone(
    desktop: Desktop, sample: Path, tmp_path: Path
) -> None:
    before = files_of(sample)

    said = desktop.finish(desktop.drive("journey", sample, "--test-mode", "--trust"))

    assert said[0] == ('Connected side A of relay_agent: handler="relay_pipe" became "echo_once".')
    assert said[1] == "Undid it: the file has its former bytes."
    assert files_of(sample) == before
    assert said[3].startswith("It answered: Issue 42 in acme/widgets is triaged.")
    assert said[5] == "Read the request of the child's second step in its log."

    child = Path(said[-1].removeprefix("child: "))
    alone = shutil.copy2(child, tmp_path / "alone.db")
    sample.rename(tmp_path / "away")
    said = desktop.finish(desktop.drive("read", alone))

    assert said == ["Opened the thread's file alone, with no project: everything is there."]
    assert not sample.exists()


def test_the_window_as_it_is_opens_and_quits_by_its_keys(desktop: Desktop, sample: Path) -> None:
    process = desktop.start(["-m", "sa_builder", sample, "--test-mode", "--trust"])
    hands = ["xdotool", "search", "--sync", "--onlyvisible", "--pid", str(process.pid)]
    found = subprocess.run(
        [*hands, "--name", "sample - Standard Agents Builder"],
        env=desktop.environment(),
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    window = found.stdout.split()[-1]

    begun = time.monotonic()
    keys = ["xdotool", "windowfocus", "--sync", window, "key", "ctrl+q"]
    subprocess.run(keys, env=desktop.environment(), check=True, timeout=10)
    out, errors = process.communicate(timeout=20)

    assert (process.returncode, out, errors) == (0, "", "")
    assert time.monotonic() - begun < EXIT_S
