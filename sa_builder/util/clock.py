"""Time as the product uses it: microseconds UTC to show, the monotonic clock to measure."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What tells the time; a fake one stands in its place in tests."""

    def now_us(self) -> int:
        """Microseconds since 1970, UTC; for display only, never for order."""
        ...

    def monotonic_us(self) -> int:
        """Microseconds on a clock that never goes back; for durations only."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now_us(self) -> int:
        return time.time_ns() // 1000

    def monotonic_us(self) -> int:
        return time.monotonic_ns() // 1000


class FakeClock:
    """A clock that stands still until it is advanced."""

    def __init__(self, start_us: int = 1_790_000_000_000_000) -> None:
        self._now_us = start_us

    def now_us(self) -> int:
        return self._now_us

    def monotonic_us(self) -> int:
        return self._now_us

    def advance(self, seconds: float) -> None:
        """Move both clocks forward by `seconds`."""
        self._now_us += int(seconds * 1_000_000)
