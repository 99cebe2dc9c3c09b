"""One thread's mailbox: the only writer of its file, and what makes it go on.

Every change is made under one lock and committed in one go. The outside deeds themselves run
without the lock, so that messages are accepted meanwhile. A commit that fails leaves the view
stale; it is loaded again, in place, before anything else is decided.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar, assert_never

from sa_builder.errors import BugError, KnownError, RuntimeRefused
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
    most_resumes,
)
from sa_builder.runtime.endings import Endings
from sa_builder.runtime.frame import TurnFrame, build_frame
from sa_builder.runtime.handler_calls import HandlerCalls
from sa_builder.runtime.history import History
from sa_builder.runtime.intake import Intake
from sa_builder.runtime.log_book import LogBook
from sa_builder.runtime.model_step import ModelStep
from sa_builder.runtime.ports import Ports
from sa_builder.runtime.thread_file import (
    as_if_written,
    has_message,
    has_received,
    note_received,
    stored_frame,
    stored_messages,
)
from sa_builder.runtime.tool_calls import ToolCalls
from sa_builder.runtime.view import ThreadView, load
from sa_builder.spec.events import MessageStored
from sa_builder.spec.messages import Message, SideName
from sa_builder.spec.threads import SendMessage
from sa_builder.store import rows
from sa_builder.store.database import Database, Tx
from sa_builder.store.sqlite import Sqlite
from sa_builder.util.ids import MessageId, ThreadId, new_message_id

T = TypeVar("T")
Apply = Callable[[Tx], None]
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
        self._is_stale = True
        self._frame: TurnFrame | None = None
        self._logs = LogBook(ports.clock, ports.redact, ports.publish)
        self._models = ModelStep(ports, self._logs, self.change)
        self._calls = ToolCalls(ports, self._logs)
        self._handlers = HandlerCalls(ports, self._logs)
        self._intake = Intake(ports, self._logs, self._calls)
        self._endings = Endings(ports, self._logs, self._calls, self._handlers)
        self._driver: asyncio.Task[None] | None = None
        self._drivers: set[asyncio.Task[None]] = set()
        self._deed: asyncio.Task[Apply] | None = None
        self._is_driving = False
        self._wakings = 0
        self._is_closing = False
        self.delivering = asyncio.Lock()
        """Held by whoever hands over what stands in the outbox."""
        self.at_rest = asyncio.Event()
        self.at_rest.set()

    @property
    def holds_file(self) -> bool:
        """Whether its file may be open."""
        return self.database.is_open

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
        await self.change_view(lambda tx, _view: apply(tx))

    async def change_view(self, apply: Callable[[Tx, ThreadView], T], *, wakes: bool = False) -> T:
        """Run one change under the lock and commit it; gives what `apply` gives.

        Args:
            wakes: the thread goes on with it, and is marked busy before.
        """
        if not wakes:
            async with self._lock:
                return await self._changed(apply)
        async with self._waking(), self._lock:
            return await self._changed(apply)

    async def create(self, row: dict[str, Any], also: Callable[[Tx, ThreadView], None]) -> bool:
        """Store a new thread in one commit; False when it was there already.

        Args:
            also: adds what belongs to the thread from its first moment.
        """
        async with self._lock:
            if await self.database.ask(load) is not None:
                return False
            tx = Tx(full=True)
            rows.insert(tx, "thread", row)
            self._view = await self.database.ask(partial(as_if_written, tx=tx))
            self._view.on_message = self._note_message
            self._is_stale = False
            try:
                also(tx, self._view)
                self._view.write_row(tx)
                await self.database.commit(tx)
            except BaseException:
                self._view = None
                raise
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
            self._intake.accept(
                tx, view, wish, message_id, silent=silent, is_person=is_person, metadata=metadata
            )
            if key is not None:
                note_received(tx, key, self._ports.clock.now_us())

        def is_known(file: Sqlite) -> bool:
            if key is not None and has_received(file, key):
                return True
            return wish.id is not None and has_message(file, message_id)

        await self._change_once(is_known, apply)
        return message_id

    async def receive(self, kind: str, key: str, body: dict[str, Any]) -> None:
        """Take a hand-over of another thread; a repeated one is passed over."""
        if kind == "message":
            wish = SendMessage(role=body["role"], content=body["content"])
            await self.accept(wish, silent=False, is_person=False, key=key)
            return

        def apply(tx: Tx, view: ThreadView) -> None:
            tx.full = True
            note_received(tx, key, self._ports.clock.now_us())
            match kind:
                case "child_status":
                    view.set_child_status(tx, ThreadId(body["child_id"]), body["status"])
                case "session_ended":
                    self._intake.take_child_result(tx, view, self._frame, body)
                case "report":
                    self.take_report(tx, view, body)
                case _:
                    raise BugError(f"There is no hand-over of the kind {kind}.")

        await self._change_once(lambda file: has_received(file, key), apply)

    def take_report(self, tx: Tx, view: ThreadView, body: dict[str, Any]) -> None:
        """Queue what a child of this thread says.

        Args:
            body: {child_id, text}; a child that is not known is passed over.
        """
        row = view.children.get(ThreadId(body["child_id"]))
        if row is not None:
            status = str(body.get("status") or row["status"])
            self._intake.take_report(tx, view, row, str(body["text"]), status=status)

    async def inject(
        self, role: Literal["user", "assistant", "system"], content: str, *,
        silent: bool, metadata: dict[str, Any] | None,
    ) -> Message:  # fmt: skip
        """Store a message of user code; it starts nothing by itself."""
        return await self.change_view(
            lambda tx, view: self._intake.store_from_code(
                tx, view, role=role, content=content, silent=silent, metadata=metadata
            )
        )

    async def stop(self) -> None:
        """Stop the running turn; the flag is stored first and lasts until a person writes."""

        def apply(tx: Tx, view: ThreadView) -> None:
            tx.full = True
            view.set(tx, is_stopped=1)

        await self.change_view(apply, wakes=True)
        if self._deed is not None:
            self._deed.cancel()
        await self._ports.stop_children(self.id)

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
            else:
                view.set_resumes(tx, [])

        await self.change_view(apply, wakes=True)

    async def terminate(self) -> None:
        """Refuse new work for good."""

        def apply(tx: Tx, view: ThreadView) -> None:
            tx.full = True
            if not view.row["terminated_at_us"]:
                view.set(tx, terminated_at_us=self._ports.clock.now_us())

        await self.change_view(apply, wakes=True)
        if self._deed is not None:
            self._deed.cancel()

    def wake(self) -> None:
        """Let the thread go on, if it has anything to go on with."""
        if self._is_driving or self._is_closing:
            return
        self._is_driving = True
        self.at_rest.clear()
        self._driver = asyncio.get_running_loop().create_task(self._drive())
        self._drivers.add(self._driver)
        self._driver.add_done_callback(self._drivers.discard)

    async def recover(self) -> None:
        """Go on with what a crash left."""

        def apply(tx: Tx, view: ThreadView) -> None:
            turn = view.turn
            if turn is None:
                return
            now_us = self._ports.clock.now_us()
            recent = [at for at in turn.resumes if now_us - at < RESUME_WINDOW_US]
            most = most_resumes(view)
            if len(recent) >= most:
                view.set(tx, is_held=1)
                view.set_state(
                    tx, "parked", f"It was cut off {most + 1} times; continue it by hand."
                )
                return
            view.set_resumes(tx, [*recent, now_us])

        await self.change_view(apply, wakes=True)
        await self._ports.deliver(self.id)

    async def release(self) -> None:
        """Let go of the file of a thread at rest; the next question opens it again."""
        async with self._lock:
            if not self._is_driving:
                self._is_stale = True
                await self.database.close()

    async def close(self) -> None:
        """Stop at once without writing; what was started goes on when it is opened again."""
        self._is_closing = True
        running: list[asyncio.Task[Any]] = [*self._drivers]
        if self._deed is not None:
            running.append(self._deed)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self.database.close()

    # going on

    async def _drive(self) -> None:
        me = asyncio.current_task()
        try:
            deed = await self._advance(None)
            while deed is not None:
                self._deed = asyncio.get_running_loop().create_task(_as_coroutine(deed.run()))
                await asyncio.wait({self._deed})
                deed = await self._advance(self._outcome(deed, self._deed))
            is_delivered = await self._ports.deliver(self.id)
        except Exception as error:
            sentence = self._ports.report_bug(error, f"thread {self.id}")
            self._is_stale = True
            if self._driver is me:
                self._is_driving = False
                await self._ports.note_broken(self.id, self._view, sentence)
        else:
            if self._driver is me and self._view is not None and not self._wakings:
                self._ports.note_summary(self._view, at_rest=is_delivered)
        if self._driver is me and not self._is_driving:
            self.at_rest.set()
            self._ports.note_rest()

    def _outcome(self, deed: Deed, task: asyncio.Task[Apply]) -> Apply:
        if task.cancelled():
            return deed.stopped
        error = task.exception()
        if error is None:
            return task.result()
        code, sentence = "bug", self._ports.report_bug(error, f"thread {self.id}")
        if isinstance(error, KnownError):
            code, sentence = error.code, error.text()
        return lambda tx: self._fail(tx, code, sentence)

    async def _advance(self, apply: Apply | None) -> Deed | None:
        """Write an outcome, decide, and write the start of what comes next: one commit."""

        def advance(tx: Tx, view: ThreadView) -> Deed | None:
            if apply is not None:
                apply(tx)
            return self._decide(tx, view)

        async with self._lock:
            deed = await self._changed(advance)
            if deed is None:
                self._deed = None
                self._is_driving = False
                await self.database.checkpoint()
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
                    self._calls.note_waiting(tx, view, action.act)
                    view.set_state(tx, "parked", f"Waits for {name or action.act.name}.")
                    return None
                case OpenTurn():
                    view.set_state(tx, "running")
                    return Deed(partial(self._open_turn, view, action.side), _write_nothing)
                case EndTurn():
                    self._endings.end_turn(tx, view, self._running_frame(), action)
                    self._forget_frame()
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
                    return self._call_handler(tx, view, action)
                case _:
                    assert_never(action)

    def _call_model(self, tx: Tx, view: ThreadView, action: CallModel) -> Deed:
        frame = self._running_frame()
        turn = view.turn
        assert turn is not None
        assert self._models.history is not None
        view.set_state(tx, "running")
        for message in turns.drain_queue(tx, view, now_us=self._ports.clock.now_us()):
            self._models.history.add(message)
        view.consume(tx, turn.side)
        act = self._models.begin(tx, view, frame, action)
        return Deed(
            lambda: self._models.run(view, frame, act),
            lambda tx: self._models.store_stopped(tx, view, act),
        )

    def _run_call(self, tx: Tx, view: ThreadView, action: RunCall) -> Deed | None:
        frame = self._running_frame()
        view.set_state(tx, "running")
        act = self._calls.begin(tx, view, frame, action)
        if act is None:
            return None
        return Deed(
            lambda: self._calls.run(view, frame, act, action.call),
            lambda tx: self._calls.store_stopped(tx, view, frame, act, action.call),
        )

    def _call_handler(self, tx: Tx, view: ThreadView, action: CallHandler) -> Deed:
        view.set_state(tx, "running")
        act = self._handlers.begin(tx, view, action)
        return Deed(
            lambda: self._handlers.run(view, act, action.message),
            lambda tx: self._handlers.store_stopped(tx, view, act),
        )

    async def _open_turn(self, view: ThreadView, side: SideName) -> Apply:
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
        stored = await self.database.ask(stored_messages) if frame.prompt is not None else ()

        def apply(tx: Tx) -> None:
            if view.row["is_stopped"] or view.row["terminated_at_us"]:
                return
            turn = turns.open_turn(
                tx, view, side, frame,
                test_mode=self._ports.test_mode, now_us=self._ports.clock.now_us(),
            )  # fmt: skip
            self._set_frame(frame, turn.turn, [*stored, *view.inbound[side]])

        return apply

    # within

    def _fail(self, tx: Tx, code: str, sentence: str, *, side: SideName | None = None) -> None:
        assert self._view is not None
        self._endings.fail(tx, self._view, code, sentence, side=side)
        self._forget_frame()

    def _rest(self, tx: Tx, view: ThreadView, action: Rest) -> None:
        before = view.row["state"]
        view.set_state(tx, action.state, action.reason)
        if before == action.state or view.row["parent_id"] is None:
            return
        now_us = self._ports.clock.now_us()
        if action.state == "terminated":
            turns.tell_parent_terminated(tx, view, now_us=now_us)
        turns.tell_parent_state(tx, view, now_us=now_us)

    def _running_frame(self) -> TurnFrame:
        assert self._frame is not None
        return self._frame

    def _set_frame(self, frame: TurnFrame, turn: int, stored: Sequence[Message]) -> None:
        self._frame = frame
        history = History(frame, turn, stored) if frame.prompt is not None else None
        self._models.history = self._calls.history = history

    def _forget_frame(self) -> None:
        self._frame = None
        self._models.history = self._calls.history = None

    async def _changed(self, apply: Callable[[Tx, ThreadView], T]) -> T:
        """One change under the lock; whatever fails on the way leaves the view stale."""
        view = await self._loaded()
        tx = Tx()
        try:
            result = apply(tx, view)
        except BaseException:
            self._is_stale = self._is_stale or bool(tx.statements or view.unwritten)
            raise
        await self._commit(tx)
        return result

    async def _change_once(
        self, is_known: Callable[[Sqlite], bool], apply: Callable[[Tx, ThreadView], None]
    ) -> None:
        """A change that wakes the thread, unless the file says it was made before."""
        async with self._waking(), self._lock:
            await self._loaded()
            if not await self.ask(is_known):
                await self._changed(apply)

    @contextlib.asynccontextmanager
    async def _waking(self) -> AsyncGenerator[None]:
        """A change that the thread goes on with: it is marked busy before, and woken after."""
        self._wakings += 1
        try:
            await self._ports.mark_busy(self.id)
            yield
            self.wake()
        finally:
            self._wakings -= 1

    async def _loaded(self) -> ThreadView:
        if self._view is not None and not self._is_stale:
            return self._view
        fresh = await self.database.ask(load)
        if fresh is None:
            raise RuntimeRefused(f"There is no thread {self.id}.", code="thread.missing")
        frame = None
        if fresh.turn is not None:
            frame = await self.database.ask(partial(stored_frame, digest=fresh.turn.frame_hash))
        stored = (
            await self.database.ask(stored_messages) if frame is not None and frame.prompt else ()
        )
        self._forget_frame()
        if frame is not None and fresh.turn is not None:
            self._set_frame(frame, fresh.turn.turn, stored)
        self._models.forget_bodies()
        if self._view is None:
            self._view = fresh
        else:
            self._view.become(fresh)
        self._view.on_message = self._note_message
        self._is_stale = False
        return self._view

    def _note_message(self, tx: Tx, message: Message) -> None:
        tx.after.append(lambda: self._ports.publish(MessageStored(message=message)))

    async def _commit(self, tx: Tx) -> None:
        view = self._view
        assert view is not None
        view.on_message = self._note_message
        view.write_row(tx)
        try:
            await self.database.commit(tx)
        except asyncio.CancelledError:
            raise  # it is written
        except BaseException:
            self._is_stale = True
            raise
        if tx.statements:
            self._ports.note_summary(view, at_rest=not (self._is_driving or self._wakings))


def _write_nothing(tx: Tx) -> None:
    """What stopping a deed writes that began nothing."""


async def _as_coroutine(awaitable: Awaitable[T]) -> T:
    return await awaitable
