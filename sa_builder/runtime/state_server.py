"""What user code asks of its thread, done under that thread's own lock."""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from sa_builder.errors import KnownError, RuntimeRefused
from sa_builder.providers.mocks import MockBook
from sa_builder.runtime.engine import Engine
from sa_builder.runtime.frame import ChildOffer, child_offers
from sa_builder.runtime.mailbox import Mailbox
from sa_builder.runtime.subagents import refuse_spawn, spawn
from sa_builder.runtime.tool_calls import snapshot_of, tell_status
from sa_builder.runtime.turns import SIDES, end_session, request_end
from sa_builder.runtime.view import EndRequest, ThreadView
from sa_builder.spec.messages import Message, SideName
from sa_builder.spec.threads import ChildEntry, SendMessage
from sa_builder.store import rows
from sa_builder.store.database import Tx
from sa_builder.store.sqlite import Sqlite
from sa_builder.util.ids import ThreadId

Answer = Callable[[Mailbox, Mapping[str, Any]], Awaitable[Any]]


class ThreadStateServer:
    """Answers the code host's questions; the `StateServer` of its link."""

    def __init__(self, engine: Callable[[], Engine], mocks: Callable[[], MockBook]) -> None:
        self._engine = engine
        self._mocks = mocks
        self._answers: dict[str, Answer] = {
            "get_messages": self._get_messages,
            "get_message": self._get_message,
            "inject_message": self._inject_message,
            "queue_message": self._queue_message,
            "get_child_thread": self._get_child_thread,
            "get_parent_thread": self._get_parent_thread,
            "create_child": self._create_child,
            "notify_parent": self._notify_parent,
            "set_status": self._set_status,
            "stop_session": self._stop_session,
            "fail_session": self._fail_session,
            "terminate": self._terminate,
            "env": self._env,
            "get_value": self._get_value,
            "set_value": self._set_value,
        }

    async def serve(
        self, call_id: str, thread_id: str, method: str, arguments: Mapping[str, Any]
    ) -> Any:
        """Answer one method of ThreadState, or an HTTP request in test mode."""
        if method == "http":
            return self._http(arguments)
        answer = self._answers.get(method)
        if answer is None:
            raise RuntimeRefused(f"ThreadState has no {method}.", code="state.unknown")
        return await answer(self._engine().box(ThreadId(thread_id)), arguments)

    def _http(self, wish: Mapping[str, Any]) -> Mapping[str, Any]:
        body = base64.b64decode(wish.get("body_base64", ""))
        found = self._mocks().answer(str(wish["method"]), str(wish["url"]), body)
        return {
            "status": found.status,
            "headers": dict(found.headers),
            "body_base64": base64.b64encode(found.body).decode("ascii"),
        }

    async def _get_messages(self, box: Mailbox, wish: Mapping[str, Any]) -> list[Message]:
        silent = "" if wish.get("include_silent") else " AND silent=0"
        limit = int(wish.get("limit", 100))

        def ask(file: Sqlite) -> list[Message]:
            found = file.rows(
                f"SELECT * FROM messages WHERE depth=0{silent} ORDER BY seq DESC LIMIT ?", (limit,)
            )
            return [rows.read_message(box.id, row) for row in reversed(found)]

        return await box.ask(ask)

    async def _get_message(self, box: Mailbox, wish: Mapping[str, Any]) -> Message | None:
        def ask(file: Sqlite) -> Message | None:
            found = file.rows("SELECT * FROM messages WHERE id=?", (str(wish["message_id"]),))
            return rows.read_message(box.id, found[0]) if found else None

        return await box.ask(ask)

    async def _inject_message(self, box: Mailbox, wish: Mapping[str, Any]) -> Message:
        return await box.inject(
            wish["role"], str(wish["content"]),
            silent=bool(wish.get("silent")), metadata=wish.get("metadata"),
        )  # fmt: skip

    async def _queue_message(self, box: Mailbox, wish: Mapping[str, Any]) -> None:
        role: Literal["user", "assistant"] = "assistant" if wish["role"] == "assistant" else "user"
        await box.accept(
            SendMessage(role=role, content=str(wish["content"])),
            silent=bool(wish.get("silent")), is_person=False,
            metadata=dict(wish.get("metadata") or {}),
        )  # fmt: skip

    async def _get_child_thread(self, box: Mailbox, wish: Mapping[str, Any]) -> Any:
        reference = ThreadId(str(wish["reference"]))
        if reference not in (await box.view()).children:
            return None
        return snapshot_of(await self._engine().box(reference).view())

    async def _get_parent_thread(self, box: Mailbox, wish: Mapping[str, Any]) -> Any:
        parent = (await box.view()).row["parent_id"]
        return None if parent is None else snapshot_of(await self._box(parent).view())

    async def _create_child(self, box: Mailbox, wish: Mapping[str, Any]) -> ChildEntry:
        engine = self._engine()
        registry = await engine.registry()
        view = await box.view()
        agent = registry.agent(view.agent_name)
        name = str(wish["relationship"])
        found: list[tuple[SideName, ChildOffer]] = [
            (side, offer)
            for side in SIDES
            for offer in child_offers(registry, agent.side(side))
            if offer.relationship.name == name
        ]
        if not found:
            raise RuntimeRefused(f"{agent.name} has no relationship {name}.", code="child.unknown")
        owner_side, offer = found[0]
        arguments: dict[str, Any] = dict(wish.get("arguments") or {})

        def apply(tx: Tx, view: ThreadView) -> ChildEntry:
            refusal = refuse_spawn(view, offer, arguments)
            if refusal is not None:
                raise RuntimeRefused(refusal, code="child.refused")
            tx.full = True
            return spawn(
                tx, view, offer, owner_side=owner_side, name=str(wish["name"]), arguments=arguments,
                message=wish.get("message"), now_us=engine.clock.now_us(),
            )  # fmt: skip

        entry = await box.change_view(apply)
        await engine.deliver(box.id)
        return entry

    async def _notify_parent(self, box: Mailbox, wish: Mapping[str, Any]) -> None:
        view = await box.view()
        parent_id = view.row["parent_id"]
        if parent_id is None:
            raise RuntimeRefused("This thread has no parent.", code="thread.no_parent")
        parent = self._box(parent_id)
        body = {"child_id": box.id, "text": str(wish["content"])}
        await parent.change_view(lambda tx, owner: parent.take_report(tx, owner, body), wakes=True)

    async def _set_status(self, box: Mailbox, wish: Mapping[str, Any]) -> None:
        now_us = self._engine().clock.now_us()
        await box.change_view(
            lambda tx, view: tell_status(
                tx, view, str(wish["status"]), now_us=now_us, key=str(now_us)
            )
        )
        await self._engine().deliver(box.id)

    async def _stop_session(self, box: Mailbox, wish: Mapping[str, Any]) -> None:
        await self._end_session(box, "success", wish.get("result"), "stop_session")

    async def _fail_session(self, box: Mailbox, wish: Mapping[str, Any]) -> None:
        text = wish.get("error") or "The session failed."
        await self._end_session(box, "error", text, "fail_session")

    async def _end_session(
        self, box: Mailbox, status: Literal["success", "error"], text: str | None, code: str
    ) -> None:
        now_us = self._engine().clock.now_us()

        def apply(tx: Tx, view: ThreadView) -> None:
            tx.full = True
            if view.turn is not None:
                request_end(tx, view, status, text, code)
            else:
                end_session(tx, view, EndRequest(status, text, code), now_us=now_us)

        await box.change_view(apply)

    async def _terminate(self, box: Mailbox, wish: Mapping[str, Any]) -> None:
        now_us = self._engine().clock.now_us()
        await box.change_view(lambda tx, view: view.set(tx, terminated_at_us=now_us))

    async def _env(self, box: Mailbox, wish: Mapping[str, Any]) -> str:
        name = str(wish["name"])
        value = self._engine().variable(await box.view(), name, None, None)
        if value is None:
            raise KnownError(f"Nothing sets the variable {name}.", code="env.missing")
        return value

    async def _get_value(self, box: Mailbox, wish: Mapping[str, Any]) -> Any:
        def ask(file: Sqlite) -> Any:
            found = file.rows(
                "SELECT value_json FROM thread_values WHERE key=?", (str(wish["key"]),)
            )
            return json.loads(found[0]["value_json"]) if found else None

        return await box.ask(ask)

    async def _set_value(self, box: Mailbox, wish: Mapping[str, Any]) -> None:
        now_us = self._engine().clock.now_us()

        def apply(tx: Tx, view: ThreadView) -> None:
            tx.full = True
            if wish.get("value") is None:
                tx.add("DELETE FROM thread_values WHERE key=?", str(wish["key"]))
                return
            rows.upsert(
                tx, "thread_values", "key",
                {"key": str(wish["key"]), "value_json": rows.json_text(wish["value"]),
                 "updated_at_us": now_us},
            )  # fmt: skip

        await box.change_view(apply)

    def _box(self, thread_id: str) -> Mailbox:
        return self._engine().box(ThreadId(thread_id))
