"""Where a moment lies on the timeline column: busy time at one scale, idle time cut short."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from sa_builder.spec.logs import LogRow

_IDLE_SHARE = 0.03
"""An idle stretch takes at most this much of the busy time."""


class TimeScale:
    """Maps microseconds UTC to 0…1."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        """Lay out spans of (start, end); those that overlap count once."""
        merged: list[list[int]] = []
        for start, end in sorted(spans):
            end = max(end, start + 1)
            if merged and start <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            else:
                merged.append([start, end])
        busy = sum(end - start for start, end in merged)
        most_idle = max(1.0, busy * _IDLE_SHARE)
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._at: list[float] = []
        at = 0.0
        for number, (start, end) in enumerate(merged):
            if number:
                at += min(most_idle, float(start - self._ends[-1]))
            self._starts.append(start)
            self._ends.append(end)
            self._at.append(at)
            at += end - start
        self._total = max(1.0, at)

    def place(self, time_us: int) -> float:
        """Where a moment lies, 0 at the first start and 1 at the last end."""
        if not self._starts:
            return 0.0
        number = max(0, bisect_right(self._starts, time_us) - 1)
        inside = min(time_us, self._ends[number]) - self._starts[number]
        return min(1.0, max(0.0, (self._at[number] + inside) / self._total))


def span_of(row: LogRow, now_us: int) -> tuple[int, int]:
    """When a row began and ended; one that runs or is parked ends now."""
    if row.duration_ms is not None:
        return row.created_at_us, row.created_at_us + round(row.duration_ms * 1000)
    if row.status in ("running", "parked"):
        return row.created_at_us, max(now_us, row.created_at_us)
    return row.created_at_us, row.created_at_us


def scale_of(rows: Sequence[LogRow], now_us: int) -> TimeScale:
    """The scale of a table's rows."""
    return TimeScale(span_of(row, now_us) for row in rows)
