"""One thread's mailbox: the only writer of its file, and what makes it go on.

Every change is made under one lock and committed in one go. The outside deeds themselves run
without the lock, so that messages are accepted meanwhile.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar, assert_never

from sa_builder.errors import KnownError, RuntimeRefused, StoreError
from sa_builder.runtime import turns
from sa_builder.runtime.decide import (
    AwaitChild,
    CallHandler,
    CallModel,
    CloseLost,
    EndTurn,
    NextStep,
    OpenTurn,
    Rest,
    RunCall,
    decide,
)
from sa_builder.runtime.frame import TurnFrame, build_frame
from sa_builder.runtime.handler_calls import HandlerCalls
from sa_builder.runtime.history import History
from sa_builder.runtime.log_book import LogBook
from sa_builder.runtime.model_step import ModelStep
from sa_builder.runtime.ports import Ports
from sa_builder.runtime.tool_calls import ToolCalls
from sa_builder.runtime.view import EndRequest, ThreadView, load
from sa_builder.spec.events import MessageStored
from sa_builder.spec.messages import Message, SideName
from sa_builder.spec.threads import SendMessage
from sa_builder.store import rows
from sa_builder.store.database import Database, Tx
from sa_builder.store.sqlite import Sqlite
from sa_builder.util.ids import MessageId, ThreadId, new_message_id
from sa_builder.util.text import sanitize

T = TypeVar("T")
Apply = Callable[[Tx], None]
MOST_RESUMES = 3
RESUME_WINDOW_US = 600 * 1_000_000


@dataclass(slots=True)
class Deed:
    """An outside deed that was started: how to do it, and what to write if it is stopped."""

    run: Callable[[], Awaitable[Apply]]
    stopped: Apply


class Mailbox:
    """A thread that lives in this process."""

    def __init__(self, thread_id: ThreadId, database: Database, ports: Ports) -> None:
        self.id = thread_id
        self.database = database
        self._ports = ports
        self._lock = asyncio.Lock()
        self._view: ThreadView | None = None
        self._frame: TurnFrame | None = None
        self._logs = LogBook(ports.clock, ports.redact, ports.publish)
        self._models = ModelStep(ports, self._logs, self.change)
        self._calls = ToolCalls(ports, self._logs)
        self._handlers = HandlerCalls(ports, self._logs)
        self._driver: asyncio.Task[None] | None = None
        self._deed: asyncio.Task[Apply] | None = None
        self._is_driving = False
        self._is_closing = False
        self._fresh: list[Message] = []
        self.at_rest = asyncio.Event()
        self.at_rest.set()

    # reading

    async def view(self) -> ThreadView:
        """The thread as its rows say.

        Raises:
            RuntimeRefused: nothing was ever stored under this id.
        """
        async with self._lock:
            return await self._loaded()

    async def ask(self, question: Callable[[Sqlite], T]) -> T:
        """Read from the file, after every commit so far."""
        return await self.database.ask(question)

    # changing

    async def change(self, apply: Apply) -> None:
        """Run one change under the lock and commit it."""
        async with self._lock:
            await self._loaded()
            tx = Tx()
            apply(tx)
            await self._commit(tx)

    async def change_view(self, apply: Callable[[Tx, ThreadView], T]) -> T:
        """The same for callers that need the view; gives what `apply` gives."""
        async with self._lock:
            view = await self._loaded()
            tx = Tx()
            result = apply(tx, view)
            await self._commit(tx)
            return result

    async def create(self, row: dict[str, Any], also: Callable[[Tx, ThreadView], None]) -> bool:
        """Store a new thread in one commit; False when it was there already."""
        async with self._lock:
            if await self.database.ask(load) is not None:
                return False
            tx = Tx(full=True)
            rows.insert(tx, "thread", row)
            await self.database.commit(tx)
            self._view = await self.database.ask(load)
            assert self._view is not None
            tx = Tx(full=True)
            also(tx, self._view)
            await self._commit(tx)
            return True

    async def accept(
        self,
        wish: SendMessage,
        *,
        silent: bool,
        is_person: bool,
        metadata: dict[str, Any] | None = None,
        key: str | None = None,
    ) -> MessageId:
        """Store a message durably and wake the thread; once only for an id or key."""
        message_id = wish.id or new_message_id()

        def apply(tx: Tx, view: ThreadView) -> None:
            if view.row["terminated_at_us"]:
                raise RuntimeRefused(
                    "This thread is terminated and takes no more messages.", code="thread.over"
                )
            self._accept(tx, view, wish, message_id, silent, is_person, metadata or {})
            if key is not None:
                _received(tx, key, self._ports.clock.now_us())

        if wish.id is not None and await self.ask(lambda file: _has_message(file, message_id)):
            return message_id
        if key is not None and await self.ask(lambda file: _has_received(file, key)):
            return message_id
        await self._ports.mark_busy(self.id)
        await self.change_view(apply)
        self.wake()
        return message_id

    async def receive(self, kind: str, key: str, body: dict[str, Any]) -> None:
        """Take a hand-over of another thread; a repeated one is passed over."""
        if kind == "message":
            wish = SendMessage(role=body["role"], content=body["content"])
            await self.accept(wish, silent=False, is_person=False, key=key)
            return
        if await self.ask(lambda file: _has_received(file, key)):
            return

        def apply(tx: Tx, view: ThreadView) -> None:
            tx.full = True
            _received(tx, key, self._ports.clock.now_us())
            child_id = ThreadId(body["child_id"])
            if kind == "child_status":
                view.set_child_status(tx, child_id, body["status"])
            elif kind == "session_ended":
                self._take_child_result(tx, view, child_id, body)

        await self._ports.mark_busy(self.id)
        await self.change_view(apply)
        self.wake()

    async def stop(self) -> None:
        """Stop the running turn; the flag is stored first and lasts until a person writes."""

        def apply(tx: Tx, view: ThreadView) -> None:
            tx.full = True
            view.set(tx, is_stopped=1)

        await self.change_view(apply)
        await self._ports.stop_children(self.id)
        if self._deed is not None:
            self._deed.cancel()
        self.wake()

    async def go_on(self, side: SideName) -> None:
        """Run a side again without a new message."""

        def apply(tx: Tx, view: ThreadView) -> None:
            if view.row["terminated_at_us"]:
                raise RuntimeRefused("This thread is terminated.", code="thread.over")
            if view.backing(side) == "human" and view.turn is None:
                raise RuntimeRefused(
                    f"Side {side.upper()} is a person's; send a message instead.",
                    code="thread.human_side",
                )
            tx.full = True
            view.set(tx, is_stopped=0, is_held=0)
            if view.turn is None:
                view.set(tx, forced_side=side)

        await self._ports.mark_busy(self.id)
        await self.change_view(apply)
        self.wake()

    async def terminate(self) -> None:
        """Refuse new work for good."""

        def apply(tx: Tx, view: ThreadView) -> None:
            tx.full = True
            if not view.row["terminated_at_us"]:
                view.set(tx, terminated_at_us=self._ports.clock.now_us())
                turns.tell_parent_terminated(tx, view, now_us=self._ports.clock.now_us())

        await self.change_view(apply)
        if self._deed is not None:
            self._deed.cancel()
        self.wake()

    def wake(self) -> None:
        """Let the thread go on, if it has anything to go on with."""
        if self._is_driving or self._is_closing:
            return
        self._is_driving = True
        self.at_rest.clear()
        self._driver = asyncio.get_running_loop().create_task(self._drive())

    async def recover(self) -> None:
        """Go on with what a crash left."""

        def apply(tx: Tx, view: ThreadView) -> None:
            turn = view.turn
            if turn is None:
                return
            now_us = self._ports.clock.now_us()
            turn.resumes = [at for at in turn.resumes if now_us - at < RESUME_WINDOW_US]
            if len(turn.resumes) >= MOST_RESUMES:
                view.set(tx, is_held=1)
                view.set_state(
                    tx, "parked", "The turn ended the process three times; continue it by hand."
                )
                return
            turn.resumes.append(now_us)
            changed = {"resumes_json": rows.json_text(turn.resumes)}
            rows.update(tx, "turns", "turn", turn.turn, changed)

        await self.change_view(apply)
        await self._ports.deliver(self.id)
        self.wake()

    async def close(self) -> None:
        """Stop at once without writing; what was started goes on when it is opened again."""
        self._is_closing = True
        for task in (self._driver, self._deed):
            if task is not None and not task.done():
                task.cancel()
        if self._driver is not None:
            await asyncio.gather(self._driver, return_exceptions=True)
        await self.database.close()

    # going on

    async def _drive(self) -> None:
        try:
            deed = await self._advance(None)
            while deed is not None:
                self._deed = asyncio.get_running_loop().create_task(_as_coroutine(deed.run()))
                await asyncio.wait({self._deed})
                deed = await self._advance(self._outcome(deed, self._deed))
        except StoreError as error:
            self._view = None
            self._frame = None
            self._is_driving = False
            self._ports.report_bug(error, f"thread {self.id}")
        finally:
            self._deed = None
            if not self._is_driving:
                self.at_rest.set()
                self._ports.note_rest()

    def _outcome(self, deed: Deed, task: asyncio.Task[Apply]) -> Apply:
        if task.cancelled():
            return deed.stopped
        error = task.exception()
        if error is None:
            return task.result()
        if isinstance(error, KnownError):
            return lambda tx: self._fail(tx, error.code, error.text())
        sentence = self._ports.report_bug(error, f"thread {self.id}")
        return lambda tx: self._fail(tx, "bug", sentence)

    async def _advance(self, apply: Apply | None) -> Deed | None:
        """Write an outcome, decide, and write the start of what comes next: one commit."""
        async with self._lock:
            view = await self._loaded()
            tx = Tx()
            if apply is not None:
                apply(tx)
            deed = self._decide(tx, view)
            await self._commit(tx)
            if deed is None:
                self._is_driving = False
                await self.database.checkpoint()
                self._ports.note_summary(view, at_rest=True)
        if deed is None:
            await self._ports.deliver(self.id)
        return deed

    def _decide(self, tx: Tx, view: ThreadView) -> Deed | None:
        while True:
            action = decide(view, self._frame)
            match action:
                case Rest():
                    self._rest(tx, view, action)
                    return None
                case AwaitChild():
                    name = view.children.get(action.act.child_id or ThreadId(""), {}).get("name")
                    view.set_state(tx, "parked", f"Waits for {name or action.act.name}.")
                    return None
                case OpenTurn():
                    self._running(tx, view)
                    return Deed(partial(self._open_turn, action.side), _write_nothing)
                case EndTurn():
                    self._end_turn(tx, view, action)
                case NextStep():
                    turns.next_step(tx, view)
                case CloseLost(act=act, call=call):
                    if call is None:
                        self._handlers.close_lost(tx, view, act)
                    else:
                        self._calls.close_lost(tx, view, self._running_frame(), action)
                case CallModel():
                    return self._call_model(tx, view, action)
                case RunCall():
                    deed = self._run_call(tx, view, action)
                    if deed is not None:
                        return deed
                case CallHandler():
                    self._running(tx, view)
                    return self._call_handler(tx, view, action)
                case _:
                    assert_never(action)

    def _call_model(self, tx: Tx, view: ThreadView, action: CallModel) -> Deed:
        frame = self._running_frame()
        turn = view.turn
        assert turn is not None
        self._running(tx, view)
        for message in turns.drain_queue(tx, view, now_us=self._ports.clock.now_us()):
            self._tell(tx, message)
            if self._models.history is not None:
                self._models.history.add(message)
        view.consume(tx, turn.side)
        act = self._models.begin(tx, view, frame, action)

        async def run() -> Apply:
            if self._models.history is None:
                history = History(frame, turn.turn, await self._stored_messages())
                self._models.history = self._calls.history = history
            return await self._models.run(view, frame, act)

        return Deed(run, lambda tx: self._models.store_stopped(tx, view, act))

    def _run_call(self, tx: Tx, view: ThreadView, action: RunCall) -> Deed | None:
        frame = self._running_frame()
        self._running(tx, view)
        act = self._calls.begin(tx, view, frame, action)
        if act is None:
            return None
        return Deed(
            lambda: self._calls.run(view, frame, act, action.call),
            lambda tx: self._calls.store_stopped(tx, view, frame, act, action.call),
        )

    def _call_handler(self, tx: Tx, view: ThreadView, action: CallHandler) -> Deed:
        act = self._handlers.begin(tx, view, action)
        return Deed(
            lambda: self._handlers.run(view, act, action.message),
            lambda tx: self._handlers.store_stopped(tx, view, act),
        )

    async def _open_turn(self, side: SideName) -> Apply:
        view = self._view
        assert view is not None
        try:
            registry = await self._ports.registry()
            agent = registry.agent(view.agent_name)
            frame = build_frame(
                registry,
                agent,
                side,
                text_variable=lambda name: self._ports.variable(view, name, None, None),
            )
        except KnownError as error:
            failure = error
            return lambda tx: self._fail(tx, failure.code, failure.text(), side=side)
        stored = await self._stored_messages() if frame.prompt is not None else ()

        def apply(tx: Tx) -> None:
            if view.row["is_stopped"] or view.row["terminated_at_us"]:
                return
            turn = turns.open_turn(
                tx, view, side, frame,
                test_mode=self._ports.test_mode, now_us=self._ports.clock.now_us(),
            )  # fmt: skip
            self._frame = frame
            if frame.prompt is None:
                self._models.history = self._calls.history = None
                return
            history = History(frame, turn.turn, stored)
            for message in view.inbound[side]:
                history.add(message)
            self._models.history = self._calls.history = history

        return apply

    async def _reload_frame(self, view: ThreadView) -> None:
        assert view.turn is not None
        digest = view.turn.frame_hash

        def ask(file: Sqlite) -> bytes:
            return bytes(file.rows("SELECT body FROM blobs WHERE hash=?", (digest,))[0]["body"])

        self._frame = TurnFrame.model_validate_json(await self.database.ask(ask))
        self._models.history = self._calls.history = None

    async def _stored_messages(self) -> Sequence[Message]:
        def ask(file: Sqlite) -> Sequence[Message]:
            found = file.rows(
                "SELECT * FROM messages WHERE depth=0 AND status='completed' ORDER BY seq"
            )
            return [rows.read_message(self.id, row) for row in found]

        return await self.database.ask(ask)

    # writing

    def _accept(
        self,
        tx: Tx,
        view: ThreadView,
        wish: SendMessage,
        message_id: MessageId,
        silent: bool,
        is_person: bool,
        metadata: dict[str, Any],
    ) -> None:
        tx.full = True
        now_us = self._ports.clock.now_us()
        role = wish.role or ("assistant" if view.backing("a") == "human" else "user")
        side: SideName = "a" if role == "assistant" else "b"
        view.set(tx, is_held=0, **({"is_stopped": 0} if is_person else {}))
        message = Message(
            id=message_id, thread_id=view.id, role=role, content=sanitize(wish.content),
            created_at_us=now_us, side=side, silent=silent, metadata=metadata,
            turn=view.turn.turn if view.turn else None,
        )  # fmt: skip
        if view.turn is not None and view.turn.backing == "prompt":
            self._queue(tx, view, message)
            return
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
        self._store(tx, view, message)

    def _queue(self, tx: Tx, view: ThreadView, message: Message) -> None:
        waiting = message.model_copy(update={"status": "pending"})
        view.queued.append(waiting)
        rows.insert(
            tx, "queue",
            {"kind": "message", "message_id": waiting.id, "body_json": waiting.model_dump_json(),
             "created_at_us": waiting.created_at_us},
        )  # fmt: skip
        self._tell(tx, waiting)

    def _store(self, tx: Tx, view: ThreadView, message: Message) -> Message:
        return view.add_message(tx, message, now_us=self._ports.clock.now_us())

    def store_from_code(
        self, tx: Tx, view: ThreadView, *, role: str, content: str, silent: bool,
        metadata: dict[str, Any] | None,
    ) -> Message:  # fmt: skip
        """Store a message that user code injects; it starts nothing by itself."""
        tx.full = True
        now_us = self._ports.clock.now_us()
        turns.open_session(tx, view)
        side: SideName | None = {"assistant": "a", "user": "b"}.get(role)  # type: ignore[assignment]
        message = Message(
            id=new_message_id(), thread_id=view.id, role=role,  # type: ignore[arg-type]
            content=sanitize(content), created_at_us=now_us, side=side, silent=silent,
            metadata=metadata or {}, turn=view.turn.turn if view.turn else view.row["last_turn"],
        )  # fmt: skip
        stored = view.add_message(tx, message, now_us=now_us)
        if self._models.history is not None and view.turn is not None:
            self._models.history.add(stored)
        return stored

    def _take_child_result(
        self, tx: Tx, view: ThreadView, child_id: ThreadId, body: dict[str, Any]
    ) -> None:
        row = view.children.get(child_id)
        if row is None:
            return
        view.set_child_status(tx, child_id, "idle")
        waiting = next(
            (
                act
                for act in view.acts.values()
                if act.child_id == child_id and act.status == "started" and act.input.get("waits")
            ),
            None,
        )
        if waiting is not None and self._frame is not None:
            self._calls.store_child_result(tx, view, self._frame, waiting, body)
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
        self._accept(
            tx, view, SendMessage(role=role, content=text), new_message_id(),
            silent=True, is_person=False, metadata={"child": child},
        )  # fmt: skip

    def _end_turn(self, tx: Tx, view: ThreadView, action: EndTurn) -> None:
        frame = self._running_frame()
        turn = view.turn
        assert turn is not None
        now_us = self._ports.clock.now_us()
        if action.reason == "stop_tool" and view.step_message is not None:
            text = self._stop_tool_response(view, frame)
            self._store(
                tx, view,
                Message(
                    id=new_message_id(), thread_id=view.id, role=turns.ROLE_OF[turn.side],
                    content=text, side=turn.side, turn=turn.turn, step=turn.step,
                    prompt=turn.name, created_at_us=now_us,
                ),
            )  # fmt: skip
        if action.failed:
            failed = view.acts.get(next(reversed(view.acts), None)) if view.acts else None  # type: ignore[arg-type]
            text = str(failed.result.get("error", "")) if failed else ""
            text = text or turns.CODE_SENTENCES.get(action.reason, "The turn failed.")
            self._store(tx, view, turns.failed_message(view, turn.side, text, now_us=now_us))
            turns.request_end(tx, view, "error", text, action.reason)
        turns.end_turn(
            tx, view, reason=action.reason,
            status=_turn_status(action),
            max_session_turns=frame.agent.max_session_turns, now_us=now_us,
        )  # fmt: skip
        tx.full = True
        self._frame = None
        self._models.history = self._calls.history = None

    def _stop_tool_response(self, view: ThreadView, frame: TurnFrame) -> str:
        assert view.step_message is not None
        name = frame.own_side.stop_tool_response_property or ""
        call = next(c for c in view.step_message.tool_calls if c.name == frame.own_side.stop_tool)
        result = ""
        for message in reversed(self._fresh):
            if message.tool_call_id == call.id:
                result = message.content or ""
                break
        for text in (result, call.arguments_json):
            try:
                value = json.loads(text)
            except ValueError:
                continue
            if isinstance(value, dict) and name in value:
                found = value[name]  # pyright: ignore[reportUnknownVariableType]
                return found if isinstance(found, str) else rows.json_text(found)
        return result

    def _fail(self, tx: Tx, code: str, sentence: str, *, side: SideName | None = None) -> None:
        """End what runs with a sentence: the turn, or the wish to open one."""
        view = self._view
        assert view is not None
        now_us = self._ports.clock.now_us()
        turn = view.turn
        writer = turn.side if turn is not None else side or "a"
        self._store(tx, view, turns.failed_message(view, writer, sentence, now_us=now_us))
        if turn is not None:
            for log_id in list(view.open_logs):
                self._logs.end(tx, view, log_id, "failed", error=sentence, error_type=code)
            turns.request_end(tx, view, "error", sentence, code)
            turns.end_turn(
                tx, view, reason=code, status="failed", max_session_turns=None, now_us=now_us
            )
            self._frame = None
            self._models.history = self._calls.history = None
            return
        log_id = self._logs.begin(
            tx, view, kind="model" if view.backing(writer) == "prompt" else "handler",
            title=view.agent_name, status="failed", error=sentence, error_type=code,
            error_origin="runtime", side=writer,
        )  # fmt: skip
        del log_id
        turns.end_session(tx, view, EndRequest("error", sentence, code), now_us=now_us)
        view.set(tx, is_held=1, forced_side=None)
        view.set_state(tx, "failed", sentence)
        tx.full = True

    def _rest(self, tx: Tx, view: ThreadView, action: Rest) -> None:
        before = view.row["state"]
        view.set_state(tx, action.state, action.reason)
        if view.row["parent_id"] is not None and before != action.state:
            turns.tell_parent_state(tx, view, now_us=self._ports.clock.now_us())

    def _running(self, tx: Tx, view: ThreadView) -> None:
        view.set_state(tx, "running")

    def _running_frame(self) -> TurnFrame:
        assert self._frame is not None
        return self._frame

    def _tell(self, tx: Tx, message: Message) -> None:
        tx.after.append(lambda: self._ports.publish(MessageStored(message=message)))

    async def _loaded(self) -> ThreadView:
        if self._view is None:
            self._view = await self.database.ask(load)
            if self._view is None:
                raise RuntimeRefused(f"There is no thread {self.id}.", code="thread.missing")
            self._view.on_message = self._note_message
        if self._view.turn is not None and self._frame is None:
            await self._reload_frame(self._view)
        return self._view

    def _note_message(self, tx: Tx, message: Message) -> None:
        self._fresh = [*self._fresh[-31:], message]
        self._tell(tx, message)

    async def _commit(self, tx: Tx) -> None:
        view = self._view
        assert view is not None
        view.on_message = self._note_message
        try:
            await self.database.commit(tx)
        except BaseException:
            self._view = None
            self._frame = None
            raise
        if tx.statements:
            self._ports.note_summary(view, at_rest=False)


def _write_nothing(tx: Tx) -> None:
    """What stopping a deed writes that began nothing."""


def _turn_status(action: EndTurn) -> Literal["done", "failed", "stopped"]:
    if action.reason == "stopped":
        return "stopped"
    return "failed" if action.failed else "done"


async def _as_coroutine(awaitable: Awaitable[T]) -> T:
    return await awaitable


def _has_message(file: Sqlite, message_id: MessageId) -> bool:
    return bool(
        file.rows("SELECT 1 FROM messages WHERE id=?", (message_id,))
        or file.rows("SELECT 1 FROM queue WHERE message_id=?", (message_id,))
    )


def _has_received(file: Sqlite, key: str) -> bool:
    return bool(file.rows("SELECT 1 FROM inbox WHERE key=?", (key,)))


def _received(tx: Tx, key: str, now_us: int) -> None:
    rows.insert(tx, "inbox", {"key": key, "received_at_us": now_us}, or_ignore=True)
