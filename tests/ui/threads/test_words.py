"""What a thread's state is called, wherever it is shown."""

from __future__ import annotations

import pytest

from sa_builder.spec.threads import ThreadState, ThreadSummary
from sa_builder.ui.threads import words
from sa_builder.util.ids import ThreadId


@pytest.mark.parametrize(
    ("state", "reason", "message_count", "glyph", "word"),
    [
        ("idle", None, 0, "waiting", "new"),
        ("idle", None, 3, "done", "done"),
        ("idle", "stopped", 3, "waiting", "stopped"),
        ("awaiting_human", None, 2, "waiting", "waiting for you"),
        ("parked", "Waits for issue_42.", 2, "parked", "parked"),
        ("failed", "No key.", 1, "failed", "failed"),
    ],
)
def test_a_threads_state_is_said_as_a_person_would(
    state: ThreadState, reason: str | None, message_count: int, glyph: str, word: str
) -> None:
    summary = ThreadSummary(
        id=ThreadId("t"), agent_name="a", origin_agent_name="a", title="T",
        created_at_us=1, updated_at_us=1, state=state, state_reason=reason,
        message_count=message_count,
    )  # fmt: skip

    assert words.state_of_thread(summary) == glyph
    assert words.thread_state_word(summary) == word
