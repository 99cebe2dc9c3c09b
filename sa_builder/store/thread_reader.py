"""Reads one thread's file: live beside its writer, or an archive alone, years later."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sa_builder.errors import StoreError
from sa_builder.spec.logs import Act, LogDetails, LogPage, LogQuery, LogRow
from sa_builder.spec.messages import Message
from sa_builder.spec.threads import MessagePage, MessageQuery, ThreadDetails
from sa_builder.store import rows
from sa_builder.store.bodies import StoredBody, rebuild
from sa_builder.store.schema import THREAD_VERSION, refuse_newer
from sa_builder.store.sqlite import Row, Sqlite, SqliteError, explained
from sa_builder.util.ids import LogId, MessageId, ThreadId


class ThreadReader:
    """The read side of a thread's file; use it on one OS thread at a time."""

    def __init__(self, path: Path, *, writable: bool = False) -> None:
        """Open the file.

        Args:
            path: the `thread.db` itself.
            writable: what `ThreadDetails.writable` shall say: whether a runtime stands behind.

        Raises:
            StoreError: missing, not a thread's file, corrupt, or newer than this version.
        """
        if not path.is_file():
            raise StoreError(f"There is no thread file at {path}.", code="store.missing")
        self._path = path
        self._writable = writable
        try:
            self._file = Sqlite(path, read_only=True)
            version = refuse_newer(self._file, path, THREAD_VERSION)
        except SqliteError as error:
            raise explained(error, path) from error
        except StoreError:
            self._file.close()
            raise
        if version == 0:
            self._file.close()
            raise StoreError(
                f"{path.name} is a database, but not a thread's.",
                act="Open a thread.db from a project's .sa_builder/threads folder.",
                code="store.foreign",
            )
        try:
            self.thread_id = ThreadId(self._one("SELECT id FROM thread")["id"])
        except StoreError:
            self._file.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def details(self) -> ThreadDetails:
        """The thread itself and its registry of children."""
        row = self._one("SELECT * FROM thread")
        turn = self._all("SELECT turn, side FROM turns WHERE status='running' ORDER BY turn DESC")
        return ThreadDetails(
            summary=rows.read_summary(row),
            children=[
                rows.read_child(child)
                for child in self._all("SELECT * FROM children ORDER BY created_at_us, reference")
            ],
            side_a=row["backing_a"],
            side_b=row["backing_b"],
            current_turn=row["last_turn"],
            current_side=turn[0]["side"] if turn else None,
            writable=self._writable,
        )

    def messages(self, query: MessageQuery) -> MessagePage:
        """The newest messages that match, oldest first; queued ones stand at the end."""
        where = ["depth<=?"]
        values: list[Any] = [query.max_depth]
        if not query.include_silent:
            where.append("silent=0")
        total = self._one(f"SELECT count(*) AS n FROM messages WHERE {' AND '.join(where)}", values)
        if query.before_seq is not None:
            where.append("seq<?")
            values.append(query.before_seq)
        if query.after_seq is not None:
            where.append("seq>?")
            values.append(query.after_seq)
        found = self._all(
            f"SELECT * FROM messages WHERE {' AND '.join(where)} ORDER BY seq DESC LIMIT ?",
            [*values, query.limit + 1],
        )
        messages = [rows.read_message(self.thread_id, row) for row in found[: query.limit]]
        messages.reverse()
        if query.before_seq is None:
            messages += self.queued()
        return MessagePage(messages=messages, total=total["n"], has_more=len(found) > query.limit)

    def queued(self) -> list[Message]:
        """Accepted messages that wait for the running turn's next step."""
        return [
            Message.model_validate_json(row["body_json"])
            for row in self._all("SELECT body_json FROM queue WHERE kind='message' ORDER BY seq")
        ]

    def message(self, message_id: MessageId) -> Message:
        """One message.

        Raises:
            StoreError: the thread has no such message.
        """
        found = self._all("SELECT * FROM messages WHERE id=?", [message_id])
        waiting = [message for message in self.queued() if message.id == message_id]
        if not found and waiting:
            return waiting[0]
        if not found:
            raise StoreError(f"This thread has no message {message_id}.", code="store.no_message")
        return rows.read_message(self.thread_id, found[0])

    def logs(self, query: LogQuery) -> LogPage:
        """A page of log rows by keyset, oldest first."""
        where: list[str] = []
        values: list[Any] = []
        if query.kinds:
            where.append(f"kind IN ({', '.join('?' * len(query.kinds))})")
            values += query.kinds
        if query.statuses:
            where.append(f"status IN ({', '.join('?' * len(query.statuses))})")
            values += query.statuses
        if query.min_tokens is not None:
            where.append("total_tokens>=?")
            values.append(query.min_tokens)
        for word in query.text.split():
            where.append(
                "(title LIKE ? ESCAPE '\\' OR detail LIKE ? ESCAPE '\\' OR"
                " ifnull(error,'') LIKE ? ESCAPE '\\' OR ifnull(model,'') LIKE ? ESCAPE '\\')"
            )
            values += [f"%{_escaped(word)}%"] * 4
        condition = f" WHERE {' AND '.join(where)}" if where else ""
        total = self._one(f"SELECT count(*) AS n FROM logs{condition}", values)["n"]
        if query.after_id is not None:
            condition = f"{condition} {'AND' if where else 'WHERE'} id>?"
            values.append(query.after_id)
        columns = ", ".join(rows.LOG_ROW_COLUMNS)
        found = self._all(
            f"SELECT {columns} FROM logs{condition} ORDER BY id LIMIT ?",
            [*values, query.limit + 1],
        )
        return LogPage(
            rows=[rows.read_log_row(self.thread_id, row) for row in found[: query.limit]],
            total=total,
            has_more=len(found) > query.limit,
        )

    def log_row(self, log_id: LogId) -> LogRow:
        """One line of the log table."""
        return rows.read_log_row(self.thread_id, self._log(log_id))

    def log(self, log_id: LogId) -> LogDetails:
        """One log row with everything that was kept of it.

        Raises:
            StoreError: the thread has no such row.
        """
        row = self._log(log_id)
        body = (
            rebuild(_stored_body(row), lambda base: _stored_body(self._log(LogId(base))))
            if row["request_body"] is not None
            else None
        )
        return rows.read_log_details(
            self.thread_id,
            row,
            request_body=None if body is None else body.decode("utf-8", "replace"),
            system_prompt=self._blob(row["system_prompt_hash"]),
            tools_schema_json=self._blob(row["tools_schema_hash"]),
        )

    def acts(self) -> list[Act]:
        """The journal, in the order the acts were started."""
        return [rows.read_act(row) for row in self._all("SELECT * FROM acts ORDER BY seq")]

    def schema_version(self) -> int:
        """The version of the file's tables."""
        return self._file.version

    def _log(self, log_id: LogId) -> Row:
        can_be = 0 < log_id < 1 << 63
        found = self._all("SELECT * FROM logs WHERE id=?", [log_id]) if can_be else []
        if not found:
            raise StoreError(f"This thread has no log row {log_id}.", code="store.no_log")
        return found[0]

    def _blob(self, digest: str | None) -> str | None:
        if digest is None:
            return None
        found = self._all("SELECT body FROM blobs WHERE hash=?", [digest])
        return bytes(found[0]["body"]).decode("utf-8", "replace") if found else None

    def _one(self, sql: str, values: Sequence[Any] = ()) -> Row:
        found = self._all(sql, values)
        if not found:
            raise StoreError(
                f"{self._path.name} holds no thread.",
                act="It may have been cut off while it was made.",
                code="store.empty",
            )
        return found[0]

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        try:
            return self._file.rows(sql, tuple(values))
        except SqliteError as error:
            raise explained(error, self._path) from error


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _stored_body(row: Row) -> StoredBody:
    return StoredBody(
        base_id=row["request_base_id"],
        prefix_bytes=row["request_prefix_bytes"] or 0,
        suffix_bytes=row["request_suffix_bytes"] or 0,
        middle=bytes(row["request_body"]),
    )
