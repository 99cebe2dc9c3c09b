"""The sample's first thread and its child as real files."""

from __future__ import annotations

from pathlib import Path

import pytest

from sa_builder.client.sample_threads import CHILD, TRIAGE, sample_client
from sa_builder.util.clock import FakeClock
from tests.client.thread_files import write_thread


@pytest.fixture
def thread_file(tmp_path: Path) -> Path:
    """The parent's `thread.db`, its child's beside it."""
    script = sample_client(FakeClock())
    found = Path()
    for thread_id in (CHILD, TRIAGE):
        details = script._threads[thread_id]  # pyright: ignore[reportPrivateUsage]
        found = write_thread(
            tmp_path / "threads",
            details.summary,
            messages=script._messages[thread_id],  # pyright: ignore[reportPrivateUsage]
            logs=script._logs[thread_id],  # pyright: ignore[reportPrivateUsage]
            acts=script._acts[thread_id],  # pyright: ignore[reportPrivateUsage]
            children=details.children,
            side_b=details.side_b,
        )
    return found
