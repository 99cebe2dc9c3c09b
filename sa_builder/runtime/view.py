"""A thread in memory: exactly what its rows say, and nothing that only lives here.

`load` makes it from the rows; every change is made here and added to the commit that writes it,
in one go. Throw it away and load it again, and the thread goes on the same.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, cast

from sa_builder.spec.messages import Message, SideName
from sa_builder.spec.threads import ChildEntry, ThreadState, ThreadSummary
from sa_builder.store import rows
from sa_builder.store.database import Tx
from sa_builder.store.sqlite import Row, Sqlite, Value
from sa_builder.util.ids import ActKey, LogId, ThreadId

Backing = Literal["human", "prompt", "handler"]


@dataclass(slots=True)
class EndRequest:
    """A wish, already stored, that the session end once the running turn has."""

    status: Literal["success", "error"]
    text: str | None
    code: str

    def to_json(self) -> str:
        return rows.json_text({"status": self.status, "text": self.text, "code": self.code})


@dataclass(slots=True)
class TurnView:
    """The turn that is under way."""

    turn: int
    side: SideName
    backing: Backing
    name: str
    step: int
    frame_hash: str | None
    resumes: list[int]
    """When it was resumed after a crash, microseconds UTC."""


@dataclass(slots=True)
class ActView:
    """One act of the running turn."""

    key: ActKey
    kind: str
    name: str
    status: Literal["started", "done", "failed", "unknown"]
    attempts: int
    log_id: LogId | None
    child_id: ThreadId | None = None
    input: dict[str, Any] = field(default_factory=dict[str, Any])
    result: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(slots=True)
class ThreadView:
    """A thread, as far as deciding what comes next needs it."""

    row: dict[str, Any]
    """The `thread` row."""
    turn: TurnView | None
    acts: dict[ActKey, ActView]
    """Acts of the running turn."""
    step_message: Message | None
    """The assistant message of the running turn's present step."""
    inbound: dict[SideName, deque[Message]]
    """What each automatic side has not been given yet, in stored order."""
    queued: deque[Message]
    """Accepted while a prompt's turn runs; lands before its next step."""
    children: dict[ThreadId, dict[str, Any]]
    """The `children` rows."""
    open_logs: dict[LogId, dict[str, Any]]
    """Log rows that were begun and not ended."""
    last_seq: int
    last_log_id: int
    last_text: str
    """The last visible words, whole."""
    unwritten: dict[str, Value] = field(default_factory=dict[str, Value])
    """Columns of `row` that were set and stand in no commit yet."""
    on_message: Callable[[Tx, Message], None] | None = None
    """Told of every message that is stored, with the commit it belongs to."""

    def become(self, fresh: ThreadView) -> None:
        """Take over what the rows say now, for everyone who holds this view or an act of it.

        Args:
            fresh: a view that was just loaded; not to be used afterwards.
        """
        for key, act in fresh.acts.items():
            known = self.acts.get(key)
            if known is not None:
                for name in ACT_FIELDS:
                    setattr(known, name, getattr(act, name))
                fresh.acts[key] = known
        for name in VIEW_FIELDS:
            setattr(self, name, getattr(fresh, name))

    @property
    def id(self) -> ThreadId:
        return ThreadId(self.row["id"])

    @property
    def agent_name(self) -> str:
        return str(self.row["agent_name"])

    @property
    def end_request(self) -> EndRequest | None:
        text = self.row["end_request_json"]
        return EndRequest(**json.loads(text)) if text else None

    def backing(self, side: SideName) -> Backing:
        """What backs a side, as the rows say."""
        word = str(self.row[f"backing_{side}"]).split(" ", 1)[0]
        return cast("Backing", word or "human")

    def set(self, tx: Tx, **values: Value) -> None:
        """Change columns of the thread's row, here and in the commit."""
        for name, value in values.items():
            if self.row[name] != value:
                self.row[name] = value
                self.unwritten[name] = value

    def write_row(self, tx: Tx) -> None:
        """Add what was set since the last commit to this one, as its last statement."""
        if self.unwritten:
            # The order of columns makes the statement's text, which is prepared once.
            changed = {name: self.unwritten[name] for name in sorted(self.unwritten)}
            rows.update(tx, "thread", "id", self.id, changed)
            self.unwritten = {}

    def set_state(self, tx: Tx, state: ThreadState, reason: str | None = None) -> None:
        """Say what the thread does now."""
        self.set(tx, state=state, state_reason=reason)

    def next_seq(self) -> int:
        self.last_seq += 1
        return self.last_seq

    def next_log_id(self) -> LogId:
        self.last_log_id += 1
        return LogId(self.last_log_id)

    def add_message(self, tx: Tx, message: Message, *, now_us: int) -> Message:
        """Store a message under the next number and put it before the side it is for."""
        stored = message.model_copy(update={"seq": self.next_seq()})
        rows.insert_message(tx, stored)
        changes: dict[str, Value] = {
            "message_count": self.row["message_count"] + 1,
            "updated_at_us": now_us,
        }
        if not stored.silent and stored.depth == 0 and stored.role in ("user", "assistant"):
            if stored.content:
                self.last_text = stored.content
            line = (stored.content or "").strip().split("\n", 1)[0][:200]
            if line:
                changes["preview"] = line
                if not self.row["title"]:
                    changes["title"] = line[:80]
        side = _reader_of(stored)
        if side is not None and self.backing(side) == "human":
            changes[f"position_{side}"] = stored.seq
        elif side is not None:
            self.inbound[side].append(stored)
        self.set(tx, **changes)
        if self.on_message is not None:
            self.on_message(tx, stored)
        return stored

    def consume(self, tx: Tx, side: SideName) -> None:
        """Everything stored so far counts as given to a side."""
        if self.inbound[side]:
            self.inbound[side].clear()
            self.set(tx, **{f"position_{side}": self.last_seq})

    def start_act(
        self,
        tx: Tx,
        *,
        key: ActKey,
        kind: str,
        name: str,
        now_us: int,
        log_id: LogId | None,
        input: Mapping[str, Any] | None = None,
        input_hash: str | None = None,
        child_id: ThreadId | None = None,
    ) -> ActView:
        """Put a started act into the journal, or one more attempt of a started one."""
        assert self.turn is not None
        known = self.acts.get(key)
        act = ActView(
            key=key,
            kind=kind,
            name=name,
            status="started",
            attempts=known.attempts + 1 if known else 1,
            log_id=log_id,
            child_id=child_id,
            input=dict(input or {}),
        )
        self.acts[key] = act
        rows.upsert(
            tx,
            "acts",
            "key",
            {
                "key": key,
                "turn": self.turn.turn,
                "step": self.turn.step,
                "kind": kind,
                "name": name,
                "status": "started",
                "attempts": act.attempts,
                "input_hash": input_hash,
                "input_json": rows.json_text(act.input) if act.input else None,
                "child_id": child_id,
                "log_id": log_id,
                "started_at_us": now_us,
            },
        )
        tx.full = True
        return act

    def end_act(
        self,
        tx: Tx,
        act: ActView,
        status: Literal["done", "failed", "unknown"],
        result: Mapping[str, Any],
        *,
        now_us: int,
    ) -> None:
        """Record how an act ended; from now on it is never repeated."""
        act.status = status
        act.result = dict(result)
        rows.update(
            tx,
            "acts",
            "key",
            act.key,
            {"status": status, "result_json": rows.json_text(act.result), "ended_at_us": now_us},
        )
        tx.full = True

    def set_resumes(self, tx: Tx, resumes: list[int]) -> None:
        """Keep when the running turn was resumed after a crash, microseconds UTC."""
        assert self.turn is not None
        self.turn.resumes = resumes
        rows.update(tx, "turns", "turn", self.turn.turn, {"resumes_json": rows.json_text(resumes)})

    def child_entries(self) -> list[ChildEntry]:
        """The registry of children, in the order they were made."""
        return [rows.read_child(row) for row in self.children.values()]

    def set_child_status(self, tx: Tx, reference: ThreadId, status: str) -> bool:
        """Change a child's status, unless it is terminated; says whether anything changed."""
        row = self.children.get(reference)
        if row is None or row["status"] in (status, "terminated"):
            return False
        row["status"] = status
        rows.update(tx, "children", "reference", reference, {"status": status})
        return True

    def summary(self) -> ThreadSummary:
        return rows.read_summary(self.row)


ACT_FIELDS = tuple(one.name for one in fields(ActView))
VIEW_FIELDS = tuple(one.name for one in fields(ThreadView) if one.name != "on_message")


def _reader_of(message: Message) -> SideName | None:
    """The side a message is for; None for tool rows, nested ones and those that failed."""
    if message.depth != 0 or message.status != "completed":
        return None
    match message.role:
        case "user":
            return "a"
        case "assistant":
            return "b"
        case _:
            return None


def load(file: Sqlite) -> ThreadView | None:
    """The view of a thread's file; None while nothing has been stored in it."""
    found = file.rows("SELECT * FROM thread")
    if not found:
        return None
    row = dict(found[0])
    thread_id = ThreadId(row["id"])
    turn = _load_turn(file)
    acts: dict[ActKey, ActView] = {}
    step_message: Message | None = None
    if turn is not None:
        for act in file.rows("SELECT * FROM acts WHERE turn=? ORDER BY seq", (turn.turn,)):
            acts[ActKey(act["key"])] = _act_view(act)
        written = file.rows(
            "SELECT * FROM messages WHERE turn=? AND step=? AND side=? AND role IN"
            " ('assistant','user') AND depth=0 AND status='completed' AND log_id IS NOT NULL"
            " ORDER BY seq DESC LIMIT 1",
            (turn.turn, turn.step, turn.side),
        )
        if written and turn.backing == "prompt":
            step_message = rows.read_message(thread_id, written[0])
    return ThreadView(
        row=row,
        turn=turn,
        acts=acts,
        step_message=step_message,
        inbound={
            "a": _inbound(file, thread_id, "user", row["position_a"], row["backing_a"]),
            "b": _inbound(file, thread_id, "assistant", row["position_b"], row["backing_b"]),
        },
        queued=deque(
            Message.model_validate_json(entry["body_json"])
            for entry in file.rows("SELECT body_json FROM queue WHERE kind='message' ORDER BY seq")
        ),
        children={
            ThreadId(child["reference"]): dict(child)
            for child in file.rows("SELECT * FROM children ORDER BY created_at_us, reference")
        },
        open_logs={
            LogId(log["id"]): dict(log)
            for log in file.rows(f"{_OPEN_LOGS} WHERE is_complete=0 ORDER BY id")
        },
        last_seq=_last(file, "messages", "seq"),
        last_log_id=_last(file, "logs", "id"),
        last_text=_last_text(file),
    )


_OPEN_LOGS = f"SELECT {', '.join(rows.LOG_ROW_COLUMNS)} FROM logs"


def _load_turn(file: Sqlite) -> TurnView | None:
    found = file.rows("SELECT * FROM turns WHERE status='running' ORDER BY turn DESC LIMIT 1")
    if not found:
        return None
    row = found[0]
    return TurnView(
        turn=row["turn"],
        side=row["side"],
        backing=row["backing"],
        name=row["name"],
        step=row["step"],
        frame_hash=row["frame_hash"],
        resumes=json.loads(row["resumes_json"]),
    )


def _act_view(row: Row) -> ActView:
    return ActView(
        key=ActKey(row["key"]),
        kind=row["kind"],
        name=row["name"],
        status=row["status"],
        attempts=row["attempts"],
        log_id=row["log_id"],
        child_id=row["child_id"],
        input=json.loads(row["input_json"]) if row["input_json"] else {},
        result=json.loads(row["result_json"]) if row["result_json"] else {},
    )


def _inbound(
    file: Sqlite, thread_id: ThreadId, role: str, position: int, backing: str
) -> deque[Message]:
    if backing.startswith("human"):
        return deque()
    found = file.rows(
        "SELECT * FROM messages WHERE role=? AND seq>? AND depth=0 AND status='completed'"
        " ORDER BY seq",
        (role, position),
    )
    return deque(rows.read_message(thread_id, row) for row in found)


def _last_text(file: Sqlite) -> str:
    found = file.rows(
        "SELECT content FROM messages WHERE silent=0 AND depth=0 AND role IN ('user','assistant')"
        " AND content<>'' ORDER BY seq DESC LIMIT 1"
    )
    return str(found[0]["content"]) if found else ""


def _last(file: Sqlite, table: str, column: str) -> int:
    return int(file.rows(f"SELECT ifnull(max({column}), 0) AS n FROM {table}")[0]["n"])
