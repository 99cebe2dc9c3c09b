"""What comes into a thread: messages of people, code and other threads, and children's results."""

from __future__ import annotations

from typing import Any, Literal

from sa_builder.runtime import turns
from sa_builder.runtime.frame import TurnFrame
from sa_builder.runtime.log_book import LogBook
from sa_builder.runtime.ports import Ports
from sa_builder.runtime.tool_calls import ToolCalls
from sa_builder.runtime.view import ThreadView
from sa_builder.spec.events import MessageStored
from sa_builder.spec.messages import Message, SideName
from sa_builder.spec.threads import SendMessage
from sa_builder.store import rows
from sa_builder.store.database import Tx
from sa_builder.util.ids import MessageId, ThreadId, new_message_id
from sa_builder.util.text import sanitize


class Intake:
    """Adds what arrives to the commit at hand."""

    def __init__(self, ports: Ports, logs: LogBook, calls: ToolCalls) -> None:
        self._ports = ports
        self._logs = logs
        self._calls = calls

    def accept(
        self, tx: Tx, view: ThreadView, wish: SendMessage, message_id: MessageId, *,
        silent: bool, is_person: bool, metadata: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        """Store a message, or queue it for the running turn's next step.

        Args:
            is_person: it ends a stop; one that is queued ends it with the turn that is stopped.
        """
        tx.full = True
        now_us = self._ports.clock.now_us()
        role = wish.role or ("assistant" if view.backing("a") == "human" else "user")
        side: SideName = "a" if role == "assistant" else "b"
        message = Message(
            id=message_id, thread_id=view.id, role=role, content=sanitize(wish.content),
            created_at_us=now_us, side=side, silent=silent, metadata=metadata or {},
            turn=view.turn.turn if view.turn else None,
        )  # fmt: skip
        view.set(tx, is_held=0)
        if view.turn is not None and view.turn.backing == "prompt":
            self._queue(tx, view, message)
            return
        if is_person:
            view.set(tx, is_stopped=0)
        if view.turn is None and view.backing(side) == "human" and not silent:
            number = turns.count_human_turn(tx, view, side, now_us=now_us)
            message = message.model_copy(update={"turn": number})
            words = len((message.content or "").split())
            self._logs.begin(
                tx, view, kind="message", title="message", status="done", message_id=message_id,
                detail=f"{words} word{'' if words == 1 else 's'}", side=side, turn=number,
                duration_ms=0.0,
            )  # fmt: skip
        else:
            turns.open_session(tx, view)
        view.add_message(tx, message, now_us=now_us)

    def store_from_code(
        self, tx: Tx, view: ThreadView, *, role: Literal["user", "assistant", "system"],
        content: str, silent: bool, metadata: dict[str, Any] | None,
    ) -> Message:  # fmt: skip
        """Store a message that user code injects; it starts nothing by itself."""
        tx.full = True
        now_us = self._ports.clock.now_us()
        turns.open_session(tx, view)
        side: SideName | None = None if role == "system" else "a" if role == "assistant" else "b"
        message = Message(
            id=new_message_id(), thread_id=view.id, role=role,
            content=sanitize(content), created_at_us=now_us, side=side, silent=silent,
            metadata=metadata or {}, turn=view.turn.turn if view.turn else view.row["last_turn"],
        )  # fmt: skip
        stored = view.add_message(tx, message, now_us=now_us)
        if self._calls.history is not None and view.turn is not None:
            self._calls.history.add(stored)
        return stored

    def take_child_result(
        self, tx: Tx, view: ThreadView, frame: TurnFrame | None, body: dict[str, Any]
    ) -> None:
        """A child's session ended: the result of the call that waits for it, or a report."""
        child_id = ThreadId(body["child_id"])
        row = view.children.get(child_id)
        if row is None:
            return
        view.set_child_status(tx, child_id, str(body.get("child_status", "idle")))
        waiting = next(
            (
                act
                for act in view.acts.values()
                if act.child_id == child_id and act.status == "started" and act.input.get("waits")
            ),
            None,
        )
        if waiting is not None and frame is not None:
            self._calls.store_child_result(tx, view, frame, waiting, body)
        elif row["communication"] == "implicit":
            self.take_report(tx, view, row, str(body["text"] or ""), status=str(body["status"]))

    def take_report(
        self, tx: Tx, view: ThreadView, row: dict[str, Any], text: str, *, status: str
    ) -> None:
        """Queue what a child says, silently, in the role its owning side acts on."""
        role = "user" if row["owner_side"] == "a" else "assistant"
        child = {
            "reference": row["reference"],
            "relationship": row["relationship"],
            "status": status,
        }
        self.accept(
            tx, view, SendMessage(role=role, content=text), new_message_id(),
            silent=True, is_person=False, metadata={"child": child},
        )  # fmt: skip

    def _queue(self, tx: Tx, view: ThreadView, message: Message) -> None:
        waiting = message.model_copy(update={"status": "pending"})
        view.queued.append(waiting)
        rows.insert(
            tx, "queue",
            {"kind": "message", "message_id": waiting.id, "body_json": waiting.model_dump_json(),
             "created_at_us": waiting.created_at_us},
        )  # fmt: skip
        tx.after.append(lambda: self._ports.publish(MessageStored(message=waiting)))
