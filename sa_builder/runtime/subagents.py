"""Children: what is offered to a model, and how a call of one becomes a hand-over."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sa_builder.errors import RuntimeRefused
from sa_builder.providers.base import ToolSpec
from sa_builder.runtime.frame import ChildOffer
from sa_builder.runtime.turns import put_in_outbox
from sa_builder.runtime.view import ThreadView
from sa_builder.spec.messages import SideName
from sa_builder.spec.threads import ChildEntry
from sa_builder.store import rows
from sa_builder.store.database import Tx
from sa_builder.util.ids import ThreadId, new_thread_id

LIFECYCLE_TOOLS = ("subagents", "subagent_create", "subagent_message")


def child_tool_specs(children: Sequence[ChildOffer]) -> list[ToolSpec]:
    """The three tools of a side that owns visible relationships; none without one."""
    visible = [child for child in children if not child.relationship.hidden]
    if not visible:
        return []
    names = [child.relationship.name for child in visible]
    said = " ".join(f"{c.relationship.name}: {c.agent_description}" for c in visible)
    schemas = [c.arguments_schema or {"type": "object", "properties": {}} for c in visible]
    arguments = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    text = {"type": "string"}
    return [
        ToolSpec(
            name="subagents",
            description="List the child threads of this conversation and what they do.",
            parameters={"type": "object", "properties": {}},
        ),
        ToolSpec(
            name="subagent_create",
            description=f"Start a child thread. {said}",
            parameters={
                "type": "object",
                "properties": {
                    "relationship": {"type": "string", "enum": names},
                    "name": {**text, "description": "A short name for this child."},
                    "arguments": arguments,
                },
                "required": ["relationship", "name", "arguments"],
            },
        ),
        ToolSpec(
            name="subagent_message",
            description="Send a message to a child thread by its reference.",
            parameters={
                "type": "object",
                "properties": {"reference": text, "message": text},
                "required": ["reference", "message"],
            },
        ),
    ]


def listing(view: ThreadView) -> str:
    """The answer of the `subagents` tool."""
    return rows.json_text(
        [
            {
                "reference": child.reference,
                "name": child.name,
                "relationship": child.relationship,
                "status": child.status,
            }
            for child in view.child_entries()
        ]
    )


def refuse_spawn(view: ThreadView, child: ChildOffer, arguments: Mapping[str, Any]) -> str | None:
    """Why a child cannot be made now, as a sentence for whoever asked; None when it can."""
    relationship = child.relationship
    if relationship.max_instances is not None:
        living = sum(
            1
            for row in view.children.values()
            if row["relationship"] == relationship.name and row["status"] != "terminated"
        )
        if living >= relationship.max_instances:
            return (
                f"{relationship.name} already has {living} of at most"
                f" {relationship.max_instances} instances."
            )
    schema = child.arguments_schema or {}
    missing = [name for name in schema.get("required", ()) if name not in arguments]
    if missing:
        return f"{relationship.name} needs the arguments: {', '.join(missing)}."
    return None


def spawn(
    tx: Tx,
    view: ThreadView,
    child: ChildOffer,
    *,
    owner_side: SideName,
    name: str,
    arguments: Mapping[str, Any],
    message: str | None,
    now_us: int,
    child_id: ThreadId | None = None,
) -> ChildEntry:
    """Register a child and put its creation into the outbox; one commit makes both true."""
    relationship = child.relationship
    reference = child_id or new_thread_id()
    first = message
    if first is None and relationship.init_user_message_property is not None:
        given = arguments.get(relationship.init_user_message_property)
        first = given if given is None or isinstance(given, str) else json.dumps(given)
    entry: dict[str, Any] = {
        "reference": reference,
        "name": name,
        "agent_name": relationship.agent,
        "title": None,
        "description": relationship.description,
        "relationship": relationship.name,
        "owner_side": owner_side,
        "blocking": int(relationship.blocking),
        "communication": relationship.parent_communication,
        "status": "running" if first else "idle",
        "created_at_us": now_us,
    }
    view.children[reference] = entry
    rows.insert(tx, "children", entry)
    put_in_outbox(
        tx,
        view,
        key=f"{reference}/spawn",
        target_id=reference,
        kind="spawn",
        body={
            "id": reference,
            "agent_name": relationship.agent,
            "backing_a": child.backing_a,
            "backing_b": child.backing_b,
            "parent_id": view.id,
            "parent_side": owner_side,
            "relationship": relationship.name,
            "instance_name": name,
            "blocking": relationship.blocking,
            "communication": relationship.parent_communication,
            "arguments": dict(arguments),
            "user_id": view.row["user_id"],
            "tags_json": view.row["tags_json"],
            "env_json": view.row["env_json"],
            "message": first,
        },
        now_us=now_us,
    )
    return rows.read_child(entry)


def owned_child(view: ThreadView, reference: str) -> dict[str, Any]:
    """The registry row of a child.

    Raises:
        RuntimeRefused: the thread has no such child.
    """
    row = view.children.get(ThreadId(reference))
    if row is None:
        raise RuntimeRefused(f"This thread has no child {reference}.", code="child.missing")
    return row
