"""The window as a process: starts, closes on a signal, keeps faults out of the terminal."""

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
from pytestqt.qtbot import QtBot

from sa_builder.errors import KnownError
from sa_builder.ui.faults import Faults
from sa_builder.ui.tasks import Tasks
from tests.ui.hands import args_of

_START = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from PySide6.QtCore import QTimer
    from sa_builder.ui.application import run_window
    from sa_builder.ui.options import WindowOptions

    def told():
        print("shown", flush=True)

    import sa_builder.ui.window as window
    class Window(window.MainWindow):
        def showEvent(self, event):
            super().showEvent(event)
            QTimer.singleShot(0, told)
    window.MainWindow = Window
    options = WindowOptions(settings_folder=Path(sys.argv[1]))
    sys.exit(run_window(None, None, None, options))
    """
)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_closes_the_window_with_exit_code_0(tmp_path: Path, number: int) -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    process = subprocess.Popen(
        [sys.executable, "-c", _START, str(tmp_path)],
        stdout=subprocess.PIPE,
        env=environment,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"shown\n"

    begun = time.monotonic()
    process.send_signal(number)
    code = process.wait(timeout=10)
    process.stdout.close()

    assert code == 0
    assert time.monotonic() - begun < 3


def test_a_fault_says_a_sentence_and_leaves_its_traceback_in_the_file(
    tmp_path: Path, qtbot: QtBot
) -> None:
    faults = Faults(tmp_path / "logs" / "window.log")

    with qtbot.waitSignal(faults.told) as caught:
        faults.take(ZeroDivisionError("division by zero"))

    sentence = str(args_of(caught)[0])
    assert "window.log" in sentence
    assert "ZeroDivisionError" in (tmp_path / "logs" / "window.log").read_text()


def test_a_known_error_is_said_and_not_logged(tmp_path: Path, qtbot: QtBot) -> None:
    faults = Faults(tmp_path / "window.log")

    with qtbot.waitSignal(faults.told) as caught:
        faults.take(KnownError("The disk is full.", act="Free some space."))

    assert args_of(caught) == ["The disk is full. Free some space."]
    assert not (tmp_path / "window.log").exists()


def test_a_tasks_known_error_reaches_who_asked(
    qtbot: QtBot, gui_loop: asyncio.AbstractEventLoop
) -> None:
    tasks = Tasks()
    told: list[str] = []

    async def fail() -> None:
        raise KnownError("No.", code="x")

    async def run() -> None:
        tasks.start(fail(), on_error=lambda error: told.append(error.code))
        await asyncio.sleep(0)
        await tasks.close()

    gui_loop.run_until_complete(run())

    assert told == ["x"]


def test_closing_the_tasks_cancels_what_hangs_and_starts_nothing_more(
    qtbot: QtBot, gui_loop: asyncio.AbstractEventLoop
) -> None:
    tasks = Tasks()
    ended: list[str] = []

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    async def run() -> None:
        tasks.start(hang())
        await asyncio.sleep(0)
        await tasks.close()

    gui_loop.run_until_complete(run())

    assert ended == ["cancelled"]
    assert tasks.start(hang()) is None
