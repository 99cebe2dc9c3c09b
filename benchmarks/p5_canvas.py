"""P5: the canvas with 1,000 nodes and 1,500 edges at 1600 × 1000, beside NodeGraphQt.

Each canvas lives in a process of its own and is used by the same hands. A step is done when what
it made dirty has been painted. The peer stands its nodes where ours stand.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import table

REPO = Path(__file__).resolve().parent.parent
STARTS = 3
ROWS: Sequence[tuple[str, str, str]] = (
    ("built", "scene built", "≤ 250"),
    ("pan", "pan step at 100 %", "≤ 8"),
    ("zoom", "zoom step about 100 %", "≤ 8"),
    ("new_zoom", "the same, to a zoom not seen before", ""),
    ("repaint", "whole repaint at 100 %", ""),
    ("fit", "fit all, whole repaint", "≤ 16"),
    ("drag", "drag-a-node step", "≤ 2"),
    ("memory", "memory, MB", "≤ 300"),
)


def ours() -> dict[str, float]:
    """Our own numbers; runs in a process of its own."""
    from PySide6.QtCore import QPoint, Qt
    from PySide6.QtWidgets import QApplication

    from benchmarks.canvas_graph import (
        SIZE,
        Hands,
        arranged,
        measured,
        milliseconds,
        resident_mb,
        thousand_nodes,
    )
    from sa_builder.ui.canvas.view import Canvas
    from sa_builder.ui.theme import Theme

    application = QApplication([])
    theme = Theme("light")
    theme.apply(application)
    graph = thousand_nodes()
    canvas = Canvas(theme, lambda source: ())
    canvas.resize(*SIZE)
    canvas.show()
    arranging = milliseconds(lambda: arranged(graph))
    built = milliseconds(lambda: canvas.show_graph(graph, {}))
    hands = Hands(canvas)
    hands.settle()

    def go_to_full() -> None:
        canvas.fit()
        canvas.zoom_to_full()
        canvas.centerOn(canvas.sceneRect().center())
        hands.settle()

    def card_at() -> QPoint:
        middle = canvas.viewport().rect().center()
        places = [place for key in canvas.cards if (place := canvas.card_point(key)) is not None]
        return min(places, key=lambda place: (place - middle).manhattanLength())

    found = measured(
        hands,
        pan=lambda x, y: hands.wheel(2 * x, 2 * y, Qt.KeyboardModifier.NoModifier),
        zoom=lambda factor: hands.wheel(
            0, round(math.log(factor, 1.0015)), Qt.KeyboardModifier.ControlModifier
        ),
        fit=canvas.fit,
        go_to_full=go_to_full,
        card_at=card_at,
    )
    if len(sys.argv) > 2:
        canvas.grab().save(sys.argv[2] + "-fit.png")
        go_to_full()
        canvas.grab().save(sys.argv[2] + "-full.png")
    return found | {"built": built, "arrange": arranging, "memory": resident_mb()}


def in_a_process(module: str, *words: str) -> list[dict[str, float]]:
    """What a canvas measured, in some fresh processes."""
    found: list[dict[str, float]] = []
    for _ in range(STARTS):
        ended = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", module, *words],
            cwd=REPO,
            env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode != 0:
            raise RuntimeError(f"{module} failed: {ended.stderr[-2000:]}")
        found.append(json.loads(ended.stdout.splitlines()[-1]))
    return found


def middle(runs: list[dict[str, float]], key: str) -> float:
    """The median over the processes."""
    return sorted(run[key] for run in runs)[len(runs) // 2]


def main() -> None:
    """Measure and print a table."""
    if sys.argv[1:2] == ["--ours"]:
        print(json.dumps(ours()))
        return
    mine = in_a_process("benchmarks.p5_canvas", "--ours")
    try:
        peer = in_a_process("benchmarks.peers.nodegraphqt_canvas")
    except RuntimeError as error:
        print(f"NodeGraphQt is not here to compare with: {error}", file=sys.stderr)
        peer = []
    rows: list[Sequence[str]] = []
    for key, words, target in ROWS:
        value = middle(mine, key)
        beside = ["", ""]
        if peer:
            other = middle(peer, key)
            beside = [f"{other:,.2f}", f"{other / value:.1f} ×"]
        rows.append([words, f"{value:,.2f}", target, *beside])
    rows.append(["of the building: layout", f"{middle(mine, 'arrange'):,.2f}", "", "–", ""])
    print(table(["what, ms (median)", "ours", "target", "NodeGraphQt", "NodeGraphQt ÷ ours"], rows))
    share = middle(mine, "pan_share") * 100
    print(f"\nA pan step paints {share:.0f} % of the canvas; the rest is shifted.", end="")
    if peer:
        share = middle(peer, "pan_share") * 100
        print(
            f" NodeGraphQt paints {share:.0f} %, with its places given and no layout made.", end=""
        )
    print()


if __name__ == "__main__":
    main()
