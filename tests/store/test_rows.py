"""Rows become models of all their fields."""

from __future__ import annotations

from sa_builder.spec.logs import LogRow
from sa_builder.spec.messages import Message, ToolCall
from sa_builder.store import rows
from sa_builder.store.database import Tx
from sa_builder.util.ids import LogId, MessageId, ThreadId

THREAD = ThreadId("t")


def test_a_message_comes_back_as_it_was_stored() -> None:
    message = Message(
        id=MessageId("m"), thread_id=THREAD, seq=3, role="assistant", content="ü",
        tool_calls=(ToolCall(id="c", name="look", arguments_json="{}"),), silent=True,
        side="a", turn=1, step=2, metadata={"a": [1]},
    )  # fmt: skip
    tx = Tx()
    rows.insert_message(tx, message)

    found = rows.read_message(
        THREAD, dict(zip(rows.MESSAGE_COLUMNS, tx.statements[0][1], strict=True))
    )

    assert found == message
    assert found.model_copy(update={"seq": 4}).seq == 4
    assert found.model_dump_json() == message.model_dump_json()


def test_a_log_row_has_every_field_a_checked_one_has() -> None:
    row = dict.fromkeys(rows.LOG_ROW_COLUMNS) | {
        "id": 1, "kind": "tool", "title": "look", "detail": "", "turn": 1, "step": 1, "depth": 0,
        "status": "done", "created_at_us": 5, "tools_called_json": '["a"]',
    }  # fmt: skip

    found = rows.read_log_row(THREAD, row)

    assert found == LogRow(
        id=LogId(1), thread_id=THREAD, kind="tool", title="look", turn=1, step=1, status="done",
        created_at_us=5, tools_called=("a",),
    )  # fmt: skip
    assert set(found.model_dump()) == set(LogRow.model_fields)
