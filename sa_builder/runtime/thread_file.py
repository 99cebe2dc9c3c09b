"""What a mailbox asks of its thread's file; each runs on the file's own OS thread."""

from __future__ import annotations

from collections.abc import Sequence

from sa_builder.runtime.frame import TurnFrame
from sa_builder.runtime.view import ThreadView, load
from sa_builder.spec.messages import Message
from sa_builder.store import rows
from sa_builder.store.database import Tx
from sa_builder.store.sqlite import Sqlite
from sa_builder.util.ids import MessageId, ThreadId


def as_if_written(file: Sqlite, *, tx: Tx) -> ThreadView:
    """The view that a thread's first rows will make; nothing is kept of the trial."""
    file.run("BEGIN IMMEDIATE")
    try:
        for sql, values in tx.statements:
            file.run(sql, values)
        view = load(file)
    finally:
        file.roll_back()
    assert view is not None
    return view


def stored_frame(file: Sqlite, *, digest: str | None) -> TurnFrame:
    """The definitions that a turn was opened with."""
    found = file.rows("SELECT body FROM blobs WHERE hash=?", (digest,))
    return TurnFrame.model_validate_json(bytes(found[0]["body"]))


def stored_messages(file: Sqlite) -> Sequence[Message]:
    """What a model may be told, in order."""
    thread_id = ThreadId(file.rows("SELECT id FROM thread")[0]["id"])
    found = file.rows("SELECT * FROM messages WHERE depth=0 AND status='completed' ORDER BY seq")
    return [rows.read_message(thread_id, row) for row in found]


def has_message(file: Sqlite, message_id: MessageId) -> bool:
    """Whether a message is stored or queued."""
    return bool(
        file.rows("SELECT 1 FROM messages WHERE id=?", (message_id,))
        or file.rows("SELECT 1 FROM queue WHERE message_id=?", (message_id,))
    )


def has_received(file: Sqlite, key: str) -> bool:
    """Whether a hand-over was taken before."""
    return bool(file.rows("SELECT 1 FROM inbox WHERE key=?", (key,)))


def note_received(tx: Tx, key: str, now_us: int) -> None:
    """Remember that a hand-over was taken."""
    rows.insert(tx, "inbox", {"key": key, "received_at_us": now_us}, or_ignore=True)
