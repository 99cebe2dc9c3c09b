"""All threads of a project that live in this process, and what they share."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from sa_builder.errors import KnownError, RuntimeRefused, StoreError
from sa_builder.providers.base import Provider
from sa_builder.runtime.frame import ChildOffer, TurnFrame, backing_words, child_offers
from sa_builder.runtime.mailbox import Mailbox
from sa_builder.runtime.ports import CodeHost
from sa_builder.runtime.subagents import spawn
from sa_builder.runtime.turns import SIDES
from sa_builder.runtime.view import ThreadView
from sa_builder.spec.definitions import AgentDefinition, ModelDefinition, ToolDefinition
from sa_builder.spec.events import Event, ThreadChanged, ThreadDeleted
from sa_builder.spec.messages import Message, SideName
from sa_builder.spec.registry import Registry
from sa_builder.spec.threads import CreateThread, ThreadSummary
from sa_builder.store import rows
from sa_builder.store.database import Tx, Writers
from sa_builder.store.layout import DataFolder
from sa_builder.store.schema import ensure_thread_tables
from sa_builder.store.sqlite import Sqlite
from sa_builder.store.thread_index import ThreadIndex
from sa_builder.util.clock import Clock
from sa_builder.util.ids import ThreadId, new_message_id, new_thread_id

MOST_IDLE = 64
"""Files of threads at rest that are kept open."""


class Surroundings(Protocol):
    """What the service gives the engine: definitions, variables, backends, the code host."""

    @property
    def test_mode(self) -> bool: ...

    @property
    def host(self) -> CodeHost: ...

    async def registry(self) -> Registry: ...

    def variable(
        self, view: ThreadView, name: str, frame: TurnFrame | None, tool: ToolDefinition | None
    ) -> str | None: ...

    def provider(self, model: ModelDefinition, view: ThreadView, frame: TurnFrame) -> Provider: ...

    def redact(self, text: str) -> str: ...


class Engine:
    """Opens mailboxes, carries hand-overs between them, and recovers what a crash left.

    It is the `Ports` of its mailboxes.
    """

    def __init__(
        self,
        folder: DataFolder,
        surroundings: Surroundings,
        clock: Clock,
        publish: Callable[[Event], None],
        note_rest: Callable[[], None],
    ) -> None:
        """Make an engine at rest.

        Args:
            publish: tells every listener what happened; called after the commit.
            note_rest: told whenever a thread comes to rest.
        """
        self.clock = clock
        self._folder = folder
        self._around = surroundings
        self._publish = publish
        self._note_rest = note_rest
        self._writers = Writers()
        self.index = ThreadIndex(self._writers, folder, self._tell_summary)
        self._told: dict[ThreadId, tuple[str, str | None]] = {}
        """What listeners know of the states of threads that are under way."""
        self._boxes: dict[ThreadId, Mailbox] = {}
        self._background: set[asyncio.Task[None]] = set()

    # the ports of the mailboxes

    @property
    def test_mode(self) -> bool:
        return self._around.test_mode

    @property
    def host(self) -> CodeHost:
        return self._around.host

    def publish(self, event: Event) -> None:
        self._publish(event)

    def note_rest(self) -> None:
        self._note_rest()

    async def registry(self) -> Registry:
        return await self._around.registry()

    def variable(
        self, view: ThreadView, name: str, frame: TurnFrame | None, tool: ToolDefinition | None
    ) -> str | None:
        return self._around.variable(view, name, frame, tool)

    def provider(self, model: ModelDefinition, view: ThreadView, frame: TurnFrame) -> Provider:
        return self._around.provider(model, view, frame)

    def redact(self, text: str) -> str:
        return self._around.redact(text)

    async def deliver(self, thread_id: ThreadId) -> bool:
        """Hand over what stands in the outbox, in order; a crash in between hands over again."""
        kept: set[str] = set()
        sender = self.box(thread_id)
        async with sender.delivering:
            while waiting := [one for one in await sender.ask(_outbox) if one["key"] not in kept]:
                for entry in waiting:
                    try:
                        await self._hand_over(entry)
                    except KnownError as error:
                        if not await self._give_up(sender, entry, error):
                            kept.add(entry["key"])
                            continue
                    done = Tx()
                    done.add("DELETE FROM outbox WHERE key=?", entry["key"])
                    await sender.database.commit(done)
        return not kept

    async def stop_children(self, thread_id: ThreadId) -> None:
        view = await self.box(thread_id).view()
        for reference, row in view.children.items():
            if row["blocking"] and row["status"] == "running" and self._exists(reference):
                await self.box(reference).stop()

    def note_summary(self, view: ThreadView, *, at_rest: bool) -> None:
        state = (view.row["state"], view.row["state_reason"])
        if not at_rest and self._told.get(view.id) == state:
            self.index.note_row(view.row, is_busy=True)  # told with others a moment later
            return
        self._told[view.id] = state
        summary = view.summary()
        self.index.note(summary, is_busy=not at_rest)
        self._tell_summary(summary)
        if at_rest:
            self._told.pop(view.id, None)
            self._trim()

    def _tell_summary(self, summary: ThreadSummary) -> None:
        self._publish(ThreadChanged(summary=summary))

    async def note_broken(
        self, thread_id: ThreadId, view: ThreadView | None, sentence: str
    ) -> None:
        with contextlib.suppress(StoreError):
            if view is not None:
                self.index.note(view.summary(), is_busy=True)
            summary = await self.index.mark_broken(thread_id, sentence)
            if summary is not None:
                self._publish(ThreadChanged(summary=summary))

    async def mark_busy(self, thread_id: ThreadId) -> None:
        await self.index.mark_busy(thread_id)

    def report_bug(self, error: BaseException, where: str) -> str:
        if isinstance(error, KnownError):
            return error.text()
        text = "".join(traceback.format_exception(error))
        with self._folder.error_log.open("a", encoding="utf-8") as log:
            log.write(f"{self.clock.now_us()} {where}\n{self.redact(text)}\n")
        return (
            "The runtime met a fault of its own; its traceback is in"
            f" {self._folder.error_log.parent.name}/{self._folder.error_log.name}."
        )

    # threads

    def box(self, thread_id: ThreadId) -> Mailbox:
        """The thread's mailbox, opened when it is asked for first.

        Raises:
            RuntimeRefused: there is no such thread.
        """
        box = self._boxes.get(thread_id)
        if box is None:
            if not self._folder.thread_file(thread_id).exists():
                raise RuntimeRefused(f"There is no thread {thread_id}.", code="thread.missing")
            box = self._new_box(thread_id)
        else:
            self._boxes[thread_id] = self._boxes.pop(thread_id)  # the last one asked for is last
        return box

    async def create(self, wish: CreateThread) -> ThreadSummary:
        """Make a thread and its immediate children.

        Raises:
            KnownError: no such agent, or its definitions do not hold.
        """
        registry = await self.registry()
        agent = registry.agent(wish.agent_name)
        thread_id = new_thread_id()
        now_us = self.clock.now_us()
        row: dict[str, Any] = {
            "id": thread_id,
            "agent_name": agent.name,
            "origin_agent_name": agent.name,
            "title": wish.title or "",
            "title_is_set": int(bool(wish.title)),
            "tags_json": rows.json_text(list(wish.tags)),
            "user_id": wish.user_id,
            "backing_a": backing_words(agent.side_a),
            "backing_b": backing_words(agent.side_b),
            "arguments_json": rows.json_text(dict(wish.arguments)),
            "test_mode": int(self.test_mode),
            "created_at_us": now_us,
            "updated_at_us": now_us,
        }
        offers = _offers(registry, agent)
        box = self._new_box(thread_id)

        await box.create(row, lambda tx, view: _spawn_immediate(tx, view, offers, now_us))
        view = await box.view()
        self.note_summary(view, at_rest=False)
        await self.deliver(thread_id)
        self.note_summary(view, at_rest=True)
        return view.summary()

    async def delete(self, thread_id: ThreadId) -> None:
        """Remove a thread from the disk, its children first; one that cannot be read, too."""
        box = self.box(thread_id)
        parent_id: ThreadId | None = None
        with contextlib.suppress(StoreError, RuntimeRefused):
            view = await box.view()
            parent_id = view.row["parent_id"]
            for reference in list(view.children):
                if self._folder.thread_file(reference).exists():
                    await self.delete(reference)
        await box.close()
        self._boxes.pop(thread_id, None)
        await self.index.forget(thread_id)
        folder = self._folder.thread_folder(thread_id)
        gone = folder.with_name(f".deleted-{thread_id}")
        folder.rename(gone)
        await asyncio.get_running_loop().run_in_executor(None, _remove, gone)
        self._publish(ThreadDeleted(thread_id=thread_id))
        if parent_id is not None and self._folder.thread_file(parent_id).exists():
            with contextlib.suppress(StoreError):
                await self.box(parent_id).receive(
                    "session_ended",
                    f"{thread_id}/deleted",
                    _lost(thread_id, "deleted", "The child thread was deleted."),
                )

    async def start(self) -> list[ThreadId]:
        """Bring the index up to date; returns the threads that a crash cut off."""
        for leftover in self._folder.threads.glob(".deleted-*"):
            await asyncio.get_running_loop().run_in_executor(None, _remove, leftover)
        return await self.index.open(self._folder.threads)

    async def recover(self, unfinished: list[ThreadId]) -> None:
        """Go on with every thread that was cut off."""
        for thread_id in unfinished:
            try:
                await self.box(thread_id).recover()
            except KnownError as error:
                await self.note_broken(thread_id, None, error.text())

    def running_turns(self) -> int:
        """How many threads are under way now."""
        return sum(1 for box in self._boxes.values() if not box.at_rest.is_set())

    async def close(self) -> None:
        """Stop every thread where it stands and close the files."""
        await asyncio.gather(*(box.close() for box in self._boxes.values()))
        self._boxes.clear()
        for task in self._background:
            task.cancel()
        await self.index.close()
        await asyncio.get_running_loop().run_in_executor(None, self._writers.close)

    # within

    def _new_box(self, thread_id: ThreadId) -> Mailbox:
        self._folder.thread_folder(thread_id).mkdir(parents=True, exist_ok=True)
        database = self._writers.open(self._folder.thread_file(thread_id), ensure_thread_tables)
        box = Mailbox(thread_id, database, self)
        self._boxes[thread_id] = box
        return box

    async def _hand_over(self, entry: rows.Row) -> None:
        target = ThreadId(entry["target_id"])
        body: dict[str, Any] = json.loads(entry["body_json"])
        if entry["kind"] == "spawn":
            await self._create_child(target, body)
        else:
            await self.box(target).receive(str(entry["kind"]), str(entry["key"]), body)

    async def _give_up(self, sender: Mailbox, entry: rows.Row, error: KnownError) -> bool:
        """Whether a hand-over that failed is not to be tried again.

        A child that can never answer reports like a failed session.
        """
        if isinstance(error, StoreError) and error.code not in _LOST_CODES:
            return False
        if entry["kind"] in ("spawn", "message"):
            child_id = ThreadId(entry["target_id"])
            body = _lost(child_id, error.code, error.text())
            await sender.receive("session_ended", f"{entry['key']}/lost", body)
        return True

    async def _create_child(self, child_id: ThreadId, body: dict[str, Any]) -> None:
        registry = await self.registry()
        agent = registry.agent(body["agent_name"])
        offers = _offers(registry, agent)
        now_us = self.clock.now_us()
        message = body.pop("message")
        arguments = body.pop("arguments")
        row = {
            **body,
            "origin_agent_name": body["agent_name"],
            "blocking": int(body["blocking"]),
            "arguments_json": rows.json_text(arguments),
            "test_mode": int(self.test_mode),
            "created_at_us": now_us,
            "updated_at_us": now_us,
        }

        def also(tx: Tx, view: ThreadView) -> None:
            _spawn_immediate(tx, view, offers, now_us)
            if message is None:
                return
            view.set(tx, session=1, session_is_open=1)
            view.add_message(
                tx,
                Message(
                    id=new_message_id(), thread_id=child_id, role="user", content=message,
                    side="b", created_at_us=now_us, turn=0,
                ),
                now_us=now_us,
            )  # fmt: skip

        parent = await self.box(ThreadId(body["parent_id"])).view()
        # A stop that came before there was a child to stop holds for the child too.
        row["is_stopped"] = int(body["blocking"] and bool(parent.row["is_stopped"]))
        box = self._boxes.get(child_id) or self._new_box(child_id)
        await box.create(row, also)
        self.note_summary(await box.view(), at_rest=False)
        await self.deliver(child_id)
        box.wake()

    def _exists(self, thread_id: ThreadId) -> bool:
        return thread_id in self._boxes or self._folder.thread_file(thread_id).exists()

    def _trim(self) -> None:
        resting = [box for box in self._boxes.values() if box.holds_file and box.at_rest.is_set()]
        for box in resting[: max(0, len(resting) - MOST_IDLE)]:
            task = asyncio.get_running_loop().create_task(box.release())
            self._background.add(task)
            task.add_done_callback(self._background.discard)


Offers = Sequence[tuple[SideName, Sequence[ChildOffer]]]
"""The relationships of both sides."""


def _offers(registry: Registry, agent: AgentDefinition) -> Offers:
    return [(side, child_offers(registry, agent.side(side))) for side in SIDES]


def _spawn_immediate(tx: Tx, view: ThreadView, offers: Offers, now_us: int) -> None:
    """Register the children that a thread has from its first moment."""
    for side, children in offers:
        for child in children:
            if child.relationship.immediate:
                spawn(
                    tx, view, child, owner_side=side, name=child.relationship.name,
                    arguments={}, message=None, now_us=now_us,
                )  # fmt: skip


_LOST_CODES = ("store.corrupt", "store.newer", "store.missing")
"""Failures of a thread's file that no later try mends."""


def _lost(child_id: ThreadId, code: str, sentence: str) -> dict[str, Any]:
    """The report of a child that is lost for good."""
    return {
        "child_id": child_id,
        "child_status": "terminated",
        "status": "error",
        "code": code,
        "text": sentence,
    }


def _outbox(file: Sqlite) -> list[rows.Row]:
    return file.rows("SELECT * FROM outbox ORDER BY seq")


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
