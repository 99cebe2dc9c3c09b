"""P10: how long it takes until something is there: window, --version, check.

The peer is a bare PySide6 window, painted once. Every start is a fresh process; the first run of
each kind is thrown away, so that the files are in the system's cache.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from benchmarks.measure import table

REPO = Path(__file__).resolve().parent.parent
PROGRAM = Path(sys.executable).with_name("sa-builder")
TIMES = 7

BARE_WINDOW = """
import os, sys
from PySide6.QtWidgets import QApplication, QWidget

class Bare(QWidget):
    def paintEvent(self, event):
        os.write(1, b"painted")
        os._exit(0)

application = QApplication([])
window = Bare()
window.resize(1280, 800)
window.show()
application.exec()
"""

OUR_WINDOW = """
import importlib, os, sys
from pathlib import Path
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QGraphicsView

class FirstPaint(QObject):
    \"\"\"Ends the process when a canvas with cards on it has been painted.\"\"\"

    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Paint:
            view = watched.parent()
            if isinstance(view, QGraphicsView) and view.scene() and len(view.scene().items()) > 5:
                QTimer.singleShot(0, lambda: (os.write(1, b"painted"), os._exit(0)))
        return False

import PySide6.QtWidgets as widgets
gui = importlib.import_module("sa_builder.cli.gui")
application = importlib.import_module("sa_builder.ui.application")
made = widgets.QApplication
watcher = FirstPaint()

class Watched(made):
    def __init__(self, *words):
        super().__init__(*words)
        self.installEventFilter(watcher)

widgets.QApplication = Watched
for name, module in list(sys.modules.items()):
    if name.startswith("sa_builder.ui") and getattr(module, "QApplication", None) is made:
        module.QApplication = Watched
options = application.WindowOptions(settings_folder=Path(sys.argv[2]), test_mode=True)
application.run_window(Path(sys.argv[1]), None, gui.Clients(), options)
"""


def started_ms(command: list[str], environment: dict[str, str]) -> float:
    """From the start of a process to its end, median of some."""
    taken: list[float] = []
    for number in range(TIMES + 1):
        begin = perf_counter()
        ended = subprocess.run(command, env=environment, cwd=REPO, capture_output=True, check=False)
        if ended.returncode != 0:
            raise RuntimeError(f"{command[:3]} failed: {ended.stderr.decode()[-2000:]}")
        if number:
            taken.append((perf_counter() - begin) * 1000)
    return statistics.median(taken)


def main() -> None:
    """Measure and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ) | {"QT_QPA_PLATFORM": "offscreen", "HOME": folder}
        python = sys.executable
        bare = started_ms([python, "-c", BARE_WINDOW], environment)
        ours = started_ms([python, "-c", OUR_WINDOW, str(REPO), folder], environment)
        version = started_ms([str(PROGRAM), "--version"], environment)
        check = started_ms([str(PROGRAM), "check"], environment)
        nothing = started_ms([python, "-c", "pass"], environment)
    print(
        table(
            ["what", "ms (median)", "target", "beside"],
            [
                ["window on the sample, canvas painted", f"{ours:,.0f}", "≤ 1,200",
                 f"{ours / bare:.2f} × a bare PySide6 window ({bare:,.0f} ms)"],
                ["`--version`", f"{version:,.0f}", "≤ 150",
                 f"{version / nothing:.2f} × an empty Python ({nothing:,.0f} ms)"],
                ["`check` on the sample", f"{check:,.0f}", "≤ 500",
                 f"{check / nothing:.2f} × an empty Python"],
            ],
        )
    )  # fmt: skip


if __name__ == "__main__":
    main()
