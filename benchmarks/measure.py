"""What the benchmarks share: medians and tables."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from time import perf_counter


def median_ms(act: Callable[[], object], *, times: int, warm_up: int = 1) -> float:
    """The median time of some runs, in milliseconds."""
    for _ in range(warm_up):
        act()
    taken: list[float] = []
    for _ in range(times):
        begin = perf_counter()
        act()
        taken.append((perf_counter() - begin) * 1000)
    return statistics.median(taken)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
