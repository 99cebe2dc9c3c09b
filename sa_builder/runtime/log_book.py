"""Begins and ends log rows in the commits of the deeds they record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sa_builder.runtime.view import ThreadView
from sa_builder.spec.events import Event, LogStored
from sa_builder.spec.logs import LogKind, LogStatus
from sa_builder.store import rows
from sa_builder.store.database import Tx
from sa_builder.store.sqlite import Value
from sa_builder.util.clock import Clock
from sa_builder.util.ids import ActKey, LogId

_EMPTY: dict[str, Any] = dict.fromkeys(rows.LOG_ROW_COLUMNS)


class LogBook:
    """The log of one thread; secrets are redacted before a row is written."""

    def __init__(
        self,
        clock: Clock,
        redact: Callable[[str], str],
        publish: Callable[[Event], None],
    ) -> None:
        self._clock = clock
        self._redact = redact
        self._publish = publish
        self._begun_us: dict[LogId, int] = {}

    def begin(
        self,
        tx: Tx,
        view: ThreadView,
        *,
        kind: LogKind,
        title: str,
        act_key: ActKey | None = None,
        status: LogStatus = "running",
        **values: Value,
    ) -> LogId:
        """Add a row; one that is not running is complete at once."""
        log_id = view.next_log_id()
        turn = view.turn
        shown: dict[str, Any] = {
            "id": log_id,
            "kind": kind,
            "title": title,
            "detail": "",
            "side": turn.side if turn else None,
            "turn": turn.turn if turn else view.row["last_turn"],
            "step": turn.step if turn else 0,
            "depth": 0,
            "status": status,
            "created_at_us": self._clock.now_us(),
            **self._redacted(values),
        }
        is_complete = status != "running"
        rows.insert(tx, "logs", {**shown, "act_key": act_key, "is_complete": int(is_complete)})
        self._begun_us[log_id] = self._clock.monotonic_us()
        if not is_complete:
            view.open_logs[log_id] = shown
        self._tell(tx, view, shown)
        return log_id

    def change(self, tx: Tx, view: ThreadView, log_id: LogId, **values: Value) -> None:
        """Change a row that is still open."""
        self._write(tx, view, log_id, self._redacted(values))

    def end(
        self, tx: Tx, view: ThreadView, log_id: LogId, status: LogStatus, **values: Value
    ) -> None:
        """End a row; its duration is measured unless it is given."""
        begun_us = self._begun_us.pop(log_id, None)
        if begun_us is not None:
            values.setdefault("duration_ms", (self._clock.monotonic_us() - begun_us) / 1000)
        self._write(
            tx, view, log_id, {**self._redacted(values), "status": status, "is_complete": 1}
        )
        view.open_logs.pop(log_id, None)

    def _write(self, tx: Tx, view: ThreadView, log_id: LogId, values: dict[str, Value]) -> None:
        rows.update(tx, "logs", "id", log_id, values)
        shown = view.open_logs.get(log_id)
        if shown is not None:
            shown.update({name: value for name, value in values.items() if name in _EMPTY})
            self._tell(tx, view, shown)

    def _tell(self, tx: Tx, view: ThreadView, shown: dict[str, Any]) -> None:
        row = rows.read_log_row(view.id, {**_EMPTY, **shown})
        tx.after.append(lambda: self._publish(LogStored(row=row)))

    def _redacted(self, values: dict[str, Value]) -> dict[str, Value]:
        return {
            name: self._redact(value) if isinstance(value, str) else value
            for name, value in values.items()
        }
