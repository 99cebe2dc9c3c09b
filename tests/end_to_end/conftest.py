"""A display of its own, and the application in a process of its own on it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sa_builder.ui.templates import SAMPLE, make_project

ROOT = Path(__file__).resolve().parents[2]
_PATIENCE_S = 40.0
EXIT_S = 3.0
"""A window that is closed is gone by then."""


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """An X server with nothing on it; its name."""
    if not sys.platform.startswith("linux"):
        pytest.skip("A real window is tested on X11.")
    missing = [name for name in ("Xvfb", "xdotool") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"A real window wants {' and '.join(missing)}; .ci/run installs them.")
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"],
        pass_fds=(write,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as numbers:
        number = numbers.readline().strip()
    assert number, "Xvfb did not start."
    yield f":{number}"
    server.terminate()
    server.wait(timeout=10)


@dataclass(kw_only=True)
class Desktop:
    """Starts the application as somebody would who logged in for the first time."""

    home: Path
    pictures: Path
    display: str
    started: list[subprocess.Popen[str]] = field(default_factory=list["subprocess.Popen[str]"])

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """A process environment with a private home, and none of our own variables."""
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "DISPLAY": self.display,
            "QT_FORCE_STDERR_LOGGING": "1",
            **(more or {}),
        }

    def start(
        self, words: Sequence[str | Path], more: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Start `python WORDS`."""
        process = subprocess.Popen(
            [sys.executable, *map(str, words)],
            cwd=ROOT,
            env=self.environment(more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def drive(
        self, act: str, *words: str | Path, more: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Start the application with a driver at its mouse and keyboard."""
        driver = ["-m", "tests.end_to_end.driver", act, self.pictures]
        return self.start([*driver, *words], more)

    def finish(self, process: subprocess.Popen[str]) -> list[str]:
        """Wait for the end; returns what was said.

        The window must have closed in time, silently, and with exit code 0.
        """
        assert process.stdout is not None
        assert process.stderr is not None
        said: list[str] = []
        closing = time.monotonic()
        for line in process.stdout:
            said.append(line.rstrip("\n"))
            closing = time.monotonic()
        code = process.wait(timeout=_PATIENCE_S)
        took_s = time.monotonic() - closing
        errors = process.stderr.read()
        assert (code, errors) == (0, ""), f"{said}\n{errors}\nPictures: {self.pictures}"
        assert said[-1] == "closing"
        assert took_s < EXIT_S
        return said[:-1]


@pytest.fixture
def desktop(display: str, tmp_path: Path) -> Iterator[Desktop]:
    """A display to start the application on; whatever still runs at the end is killed."""
    for name in ("home", "pictures"):
        (tmp_path / name).mkdir()
    made = Desktop(home=tmp_path / "home", pictures=tmp_path / "pictures", display=display)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate(timeout=10)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A copy of the sample project."""
    return make_project(SAMPLE, tmp_path / "sample")
