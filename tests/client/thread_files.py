"""Real thread files, written with the store's own statements."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from sa_builder.spec.logs import Act, LogDetails
from sa_builder.spec.messages import Message
from sa_builder.spec.threads import ChildEntry, ThreadSummary
from sa_builder.store import rows
from sa_builder.store.database import Tx
from sa_builder.store.schema import ensure_thread_tables
from sa_builder.store.sqlite import Sqlite

_PLAIN = (
    "id", "kind", "title", "detail", "side", "turn", "step", "depth", "message_id",
    "parent_log_id", "retry_of_log_id", "child_thread_id", "model_name", "prompt_name", "status",
    "error_type", "error", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens",
    "total_tokens", "cost_total", "currency", "created_at_us", "latency_ms",
    "time_to_first_token_ms", "generation_ms", "duration_ms", "finish_reason",
)  # fmt: skip
_DEEP = ("act_key", "provider", "model", "endpoint", "status_code", "response_body")


def write_thread(
    folder: Path,
    summary: ThreadSummary,
    *,
    messages: Sequence[Message] = (),
    logs: Sequence[LogDetails] = (),
    acts: Sequence[Act] = (),
    children: Sequence[ChildEntry] = (),
    side_b: str = "human",
) -> Path:
    """Write one thread into `folder/<id>/thread.db` and return the file."""
    path = folder / summary.id / "thread.db"
    path.parent.mkdir(parents=True)
    file = Sqlite(path)
    ensure_thread_tables(file, path)
    tx = Tx()
    amount, _, currency = (summary.cost or "").partition(" ")
    thread = {
        "id": summary.id,
        "agent_name": summary.agent_name,
        "origin_agent_name": summary.origin_agent_name,
        "title": summary.title,
        "tags_json": json.dumps(list(summary.tags)),
        "backing_a": f"prompt {summary.agent_name}",
        "backing_b": side_b,
        "parent_id": summary.parent_id,
        "relationship": summary.relationship,
        "instance_name": summary.instance_name,
        "blocking": int(summary.blocking),
        "state": summary.state,
        "state_reason": summary.state_reason,
        "preview": summary.preview,
        "message_count": summary.message_count,
        "total_tokens": summary.total_tokens,
        "cost": amount or None,
        "currency": currency or None,
        "created_at_us": summary.created_at_us,
        "updated_at_us": summary.updated_at_us,
    }
    rows.insert(tx, "thread", thread)
    for number, message in enumerate(messages):
        rows.insert_message(tx, message.model_copy(update={"seq": message.seq or number + 1}))
    for log in logs:
        values = {name: getattr(log.row, name) for name in _PLAIN}
        values |= {name: getattr(log, name) for name in _DEEP}
        values["tools_called_json"] = json.dumps(list(log.row.tools_called))
        values["request_body"] = None if log.request_body is None else log.request_body.encode()
        rows.insert(tx, "logs", values)
    for act in acts:
        turn, step, _ = act.key.split("/")
        values = act.model_dump() | {"turn": int(turn), "step": int(step)}
        rows.insert(tx, "acts", values)
    for child in children:
        values = child.model_dump() | {
            "agent_name": child.relationship,
            "owner_side": "a",
            "communication": "implicit",
            "blocking": int(child.blocking),
        }
        rows.insert(tx, "children", values)
    file.run("BEGIN IMMEDIATE")
    for sql, bound in tx.statements:
        file.run(sql, bound)
    file.run("COMMIT")
    file.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    return path
