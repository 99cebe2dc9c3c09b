"""Threads, messages and log rows as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from sa_builder.spec.logs import LogRow
from sa_builder.spec.messages import Message
from sa_builder.spec.threads import ThreadSummary
from sa_builder.util.text import shorten


def thread_lines(rows: Iterable[ThreadSummary]) -> Iterator[str]:
    """One line a thread."""
    for row in rows:
        yield (
            f"{row.id}  {_when(row.updated_at_us)}  {row.state:<14} {row.agent_name:<18} "
            f"{shorten(row.title, 60)}"
        )


def message_lines(messages: Iterable[Message]) -> Iterator[str]:
    """Each message under a line that says who wrote it."""
    for message in messages:
        marks = [message.name or "", "silent" if message.silent else "", _failed(message)]
        head = " ".join([f"[{message.seq}]", message.role, *filter(None, marks)])
        yield head
        if message.content:
            yield from (f"  {line}" for line in message.content.split("\n"))
        for call in message.tool_calls:
            yield f"  calls {call.name} {shorten(call.arguments_json, 100)}"


def log_lines(rows: Iterable[LogRow]) -> Iterator[str]:
    """One line a log row."""
    for row in rows:
        took = row.duration_ms if row.duration_ms is not None else row.latency_ms
        yield (
            f"{row.id:>4}  {_when(row.created_at_us)}  {row.kind:<8} {row.status:<8} "
            f"turn {row.turn} step {row.step}  {_milliseconds(took):>10}  "
            f"{row.total_tokens or '':>6}  {'  ' * row.depth}{row.title}"
            f"{'  ' + row.detail if row.detail else ''}"
        )
        if row.error:
            yield f"      {shorten(row.error, 160)}"


def _failed(message: Message) -> str:
    if message.tool_status == "error" or message.status == "failed":
        return "failed"
    return "" if message.status == "completed" else message.status


def _when(time_us: int) -> str:
    return datetime.fromtimestamp(time_us / 1_000_000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _milliseconds(took: float | None) -> str:
    return "" if took is None else f"{took:,.1f} ms"
