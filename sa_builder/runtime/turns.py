"""Turns and sessions begin and end: pure changes of rows, added to the commit at hand."""

from __future__ import annotations

from typing import Literal

from sa_builder.runtime.decide import MOST_TURNS
from sa_builder.runtime.frame import TurnFrame, backing_words
from sa_builder.runtime.view import EndRequest, ThreadView, TurnView
from sa_builder.spec.definitions import AgentDefinition
from sa_builder.spec.messages import Message, SideName
from sa_builder.store import rows
from sa_builder.store.database import Tx
from sa_builder.util.ids import ThreadId, new_message_id

SIDES: tuple[SideName, SideName] = ("a", "b")
ROLE_OF: dict[SideName, Literal["user", "assistant"]] = {"a": "assistant", "b": "user"}
"""The role in which a side writes."""


def set_backings(tx: Tx, view: ThreadView, agent: AgentDefinition) -> None:
    """Keep what backs the sides, as the agent says now."""
    view.set(
        tx,
        agent_name=agent.name,
        backing_a=backing_words(agent.side_a),
        backing_b=backing_words(agent.side_b),
    )


def open_session(tx: Tx, view: ThreadView) -> None:
    """Begin a session unless one is open."""
    if not view.row["session_is_open"]:
        view.set(
            tx,
            session=view.row["session"] + 1,
            session_is_open=1,
            session_turns=0,
            end_request_json=None,
        )


def open_turn(
    tx: Tx, view: ThreadView, side: SideName, frame: TurnFrame, *, test_mode: bool, now_us: int
) -> TurnView:
    """Begin a side's turn and store what it runs with."""
    open_session(tx, view)
    set_backings(tx, view, frame.agent)
    number = view.row["last_turn"] + 1
    view.set(tx, last_turn=number, forced_side=None, test_mode=int(test_mode))
    digest, body = frame.encoded()
    rows.insert(tx, "blobs", {"hash": digest, "body": body}, or_ignore=True)
    own = frame.own_side
    turn = TurnView(
        turn=number,
        side=side,
        backing=own.backing,
        name=own.prompt or own.handler or "",
        step=1 if own.backing == "prompt" else 0,
        frame_hash=digest,
        resumes=[],
    )
    rows.insert(
        tx,
        "turns",
        {
            "turn": number,
            "session": view.row["session"],
            "side": side,
            "backing": turn.backing,
            "name": turn.name,
            "status": "running",
            "step": turn.step,
            "definitions_hash": frame.definitions_hash,
            "frame_hash": digest,
            "test_mode": int(test_mode),
            "started_at_us": now_us,
        },
    )
    view.turn = turn
    view.acts = {}
    view.step_message = None
    return turn


def count_human_turn(tx: Tx, view: ThreadView, side: SideName, *, now_us: int) -> int:
    """A person's message is that side's whole turn; returns its number."""
    open_session(tx, view)
    number = view.row["last_turn"] + 1
    rows.insert(
        tx,
        "turns",
        {
            "turn": number,
            "session": view.row["session"],
            "side": side,
            "backing": "human",
            "status": "done",
            "reason": "human_message",
            "started_at_us": now_us,
            "ended_at_us": now_us,
        },
    )
    view.set(
        tx,
        last_turn=number,
        last_side=side,
        session_turns=view.row["session_turns"] + 1,
        turns_since_person=0,
    )
    return number


def next_step(tx: Tx, view: ThreadView) -> None:
    """The turn's next step begins."""
    assert view.turn is not None
    view.turn.step += 1
    view.step_message = None
    rows.update(tx, "turns", "turn", view.turn.turn, {"step": view.turn.step})


def drain_queue(tx: Tx, view: ThreadView, *, now_us: int) -> list[Message]:
    """Store what was accepted while a step ran, in order."""
    stored: list[Message] = []
    while view.queued:
        message = view.queued.popleft()
        tx.add("DELETE FROM queue WHERE message_id=?", message.id)
        stored.append(
            view.add_message(tx, message.model_copy(update={"status": "completed"}), now_us=now_us)
        )
    return stored


def request_end(
    tx: Tx, view: ThreadView, status: Literal["success", "error"], text: str | None, code: str
) -> None:
    """Store the wish that the session end when the turn has; the first one counts."""
    if view.end_request is None:
        request = EndRequest(status=status, text=text, code=code)
        view.set(tx, end_request_json=request.to_json())


def end_turn(
    tx: Tx,
    view: ThreadView,
    *,
    reason: str,
    status: Literal["done", "failed", "stopped"],
    max_session_turns: int | None,
    now_us: int,
) -> None:
    """Close the running turn and, where it is time, the session."""
    turn = view.turn
    assert turn is not None
    for act in view.acts.values():
        if act.status == "started":
            view.end_act(tx, act, "failed", {"error": "The turn ended first."}, now_us=now_us)
    rows.update(
        tx,
        "turns",
        "turn",
        turn.turn,
        {"status": status, "reason": reason, "ended_at_us": now_us},
    )
    view.set(
        tx,
        last_side=turn.side,
        session_turns=view.row["session_turns"] + 1,
        turns_since_person=view.row["turns_since_person"] + 1,
        updated_at_us=now_us,
    )
    view.turn = None
    view.acts = {}
    view.step_message = None
    request = view.end_request
    if request is not None:
        end_session(tx, view, request, now_us=now_us)
    elif max_session_turns is not None and view.row["session_turns"] >= max_session_turns:
        end_session(
            tx, view, EndRequest("error", view.last_text, "max_session_turns"), now_us=now_us
        )
    elif view.row["turns_since_person"] >= MOST_TURNS:
        end_session(tx, view, EndRequest("error", view.last_text, "turn_ceiling"), now_us=now_us)
    drain_queue(tx, view, now_us=now_us)


CODE_SENTENCES = {
    "max_session_turns": "The session reached its turn limit.",
    "turn_ceiling": f"The session ran {MOST_TURNS} turns without a person.",
    "step_ceiling": "The turn reached the most steps a turn may have.",
}


def end_session(tx: Tx, view: ThreadView, request: EndRequest, *, now_us: int) -> None:
    """Close the session, pass over what is undelivered, and tell the parent."""
    if not view.row["session_is_open"]:
        view.set(tx, end_request_json=None)
        return
    for side in SIDES:
        view.consume(tx, side)
    is_failed = request.status == "error"
    sentence = CODE_SENTENCES.get(request.code) or request.text or "The session failed."
    limit_only = request.code == "max_session_turns" and view.row["parent_id"] is None
    view.set(tx, session_is_open=0, end_request_json=None, forced_side=None)
    view.set_state(
        tx,
        "failed" if is_failed and not limit_only else "idle",
        sentence if is_failed else None,
    )
    if view.row["parent_id"] is not None:
        put_in_outbox(
            tx,
            view,
            key=f"{view.id}/session/{view.row['session']}",
            target_id=ThreadId(view.row["parent_id"]),
            kind="session_ended",
            body={
                "child_id": view.id,
                "session": view.row["session"],
                "status": request.status,
                "code": request.code,
                "text": request.text if request.text is not None else sentence,
            },
            now_us=now_us,
        )


def put_in_outbox(
    tx: Tx,
    view: ThreadView,
    *,
    key: str,
    target_id: ThreadId,
    kind: str,
    body: dict[str, object],
    now_us: int,
) -> None:
    """Add a hand-over to the commit; it is delivered after it, and again after a crash."""
    tx.add(
        "INSERT OR IGNORE INTO outbox (key, seq, target_id, kind, body_json, created_at_us)"
        " VALUES (?, (SELECT ifnull(max(seq), 0) + 1 FROM outbox), ?, ?, ?, ?)",
        key,
        target_id,
        kind,
        rows.json_text(body),
        now_us,
    )


def failed_message(
    view: ThreadView, side: SideName, text: str, *, now_us: int, partial: bool = False
) -> Message:
    """A message that says, where the answer would stand, that there is none."""
    turn = view.turn
    return Message(
        id=new_message_id(),
        thread_id=view.id,
        role=ROLE_OF[side],
        content=text,
        status="failed",
        side=side,
        turn=turn.turn if turn else view.row["last_turn"],
        step=turn.step if turn else None,
        prompt=turn.name if turn and turn.backing == "prompt" else None,
        created_at_us=now_us,
        metadata={"partial": True} if partial else {"error": True},
    )


def tell_parent_state(tx: Tx, view: ThreadView, *, now_us: int) -> None:
    """Tell the parent whether the child rests or waits for a person, and then what it asks."""
    state = view.row["state"]
    parent_id = ThreadId(view.row["parent_id"])
    speaks = view.row["communication"] == "implicit" and not view.row["blocking"]
    if state == "awaiting_human" and speaks and view.last_text:
        put_in_outbox(
            tx,
            view,
            key=f"{view.id}/report/{view.last_seq}",
            target_id=parent_id,
            kind="report",
            body={"child_id": view.id, "text": view.last_text, "status": state},
            now_us=now_us,
        )
    status = state if state in ("awaiting_human", "terminated") else "idle"
    put_in_outbox(
        tx,
        view,
        key=f"{view.id}/state/{view.last_seq}/{view.row['last_turn']}/{status}",
        target_id=parent_id,
        kind="child_status",
        body={"child_id": view.id, "status": view.row["status_text"] or status},
        now_us=now_us,
    )


def tell_parent_terminated(tx: Tx, view: ThreadView, *, now_us: int) -> None:
    """A terminated child that owes its parent an answer reports a failure."""
    if view.row["parent_id"] is None:
        return
    if view.row["session_is_open"]:
        put_in_outbox(
            tx,
            view,
            key=f"{view.id}/session/{view.row['session']}",
            target_id=ThreadId(view.row["parent_id"]),
            kind="session_ended",
            body={
                "child_id": view.id,
                "session": view.row["session"],
                "status": "error",
                "code": "terminated",
                "text": "The child thread was terminated.",
            },
            now_us=now_us,
        )
