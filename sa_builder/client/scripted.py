"""A runtime client made of memory: for tests, pictures, and trying a view without a runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sa_builder.errors import RuntimeRefused
from sa_builder.spec.events import (
    Event,
    Listener,
    LogStored,
    MessageDelta,
    MessageStored,
    ThreadChanged,
    ThreadDeleted,
)
from sa_builder.spec.logs import Act, LogDetails, LogPage, LogQuery, LogRow
from sa_builder.spec.messages import Message, SideName
from sa_builder.spec.threads import (
    AgentSummary,
    ChildEntry,
    CreateThread,
    MessagePage,
    MessageQuery,
    SendMessage,
    ThreadDetails,
    ThreadPage,
    ThreadQuery,
    ThreadSummary,
)
from sa_builder.store.log_tree import read_logs
from sa_builder.util.clock import Clock, FakeClock
from sa_builder.util.ids import LogId, MessageId, ThreadId, new_message_id, new_thread_id
from sa_builder.util.text import shorten


class ScriptedClient:
    """Keeps threads in memory and tells what it is told to tell; runs nothing by itself.

    Acting methods do what a runtime would do at once (a message is stored, a thread appears) and
    are recorded in `wishes`; what follows is up to whoever scripts it: `store_message`, `stream`,
    `store_log`, `change_thread` put content in place and emit its event.
    """

    def __init__(self, *, clock: Clock | None = None) -> None:
        self.clock: Clock = clock or FakeClock()
        self.wishes: list[tuple[str, object]] = []
        """Name and argument of each acting call, in order."""
        self.reads: list[str] = []
        """Name of each reading call, in order."""
        self._listeners: list[Listener] = []
        self._agents: list[AgentSummary] = []
        self._threads: dict[ThreadId, ThreadDetails] = {}
        self._messages: dict[ThreadId, list[Message]] = {}
        self._logs: dict[ThreadId, list[LogDetails]] = {}
        self._acts: dict[ThreadId, list[Act]] = {}

    # scripting

    def add_agents(self, *agents: AgentSummary) -> None:
        """Offer agents at "+ New Thread"."""
        self._agents.extend(agents)

    def add_thread(
        self,
        summary: ThreadSummary,
        *,
        children: Sequence[ChildEntry] = (),
        side_a: str | None = None,
        side_b: str = "human",
    ) -> None:
        """Put a thread in place without telling."""
        self._threads[summary.id] = ThreadDetails(
            summary=summary,
            children=children,
            side_a=side_a or f"prompt {summary.agent_name}",
            side_b=side_b,
        )
        self._messages.setdefault(summary.id, [])
        self._logs.setdefault(summary.id, [])
        self._acts.setdefault(summary.id, [])

    def add_messages(self, messages: Sequence[Message]) -> None:
        """Put messages in place without telling; `seq` 0 takes the next number."""
        for message in messages:
            kept = self._messages[message.thread_id]
            seq = message.seq or len(kept) + 1
            kept.append(message.model_copy(update={"seq": seq}))

    def add_logs(self, logs: Sequence[LogDetails]) -> None:
        """Put log rows in place without telling."""
        for log in logs:
            self._logs[log.row.thread_id].append(log)

    def add_acts(self, thread_id: ThreadId, acts: Sequence[Act]) -> None:
        """Put acts of the journal in place."""
        self._acts[thread_id].extend(acts)

    def emit(self, event: Event) -> None:
        """Tell every listener, on the caller's OS thread."""
        for listener in list(self._listeners):
            listener(event)

    def change_thread(self, thread_id: ThreadId, **changes: object) -> ThreadSummary:
        """Change fields of a thread's summary and tell."""
        details = self._known(thread_id)
        summary = details.summary.model_copy(
            update={"updated_at_us": self.clock.now_us(), **changes}
        )
        self._threads[thread_id] = details.model_copy(update={"summary": summary})
        self.emit(ThreadChanged(summary=summary))
        return summary

    def add_child(self, parent_id: ThreadId, child: ChildEntry) -> None:
        """Enter a child into its parent's registry."""
        details = self._known(parent_id)
        self._threads[parent_id] = details.model_copy(
            update={"children": [*details.children, child]}
        )

    def store_message(self, message: Message) -> Message:
        """Store a message, or replace the one with its id, and tell."""
        kept = self._messages[message.thread_id]
        for index, known in enumerate(kept):
            if known.id == message.id:
                kept[index] = message.model_copy(update={"seq": known.seq})
                self.emit(MessageStored(message=kept[index]))
                return kept[index]
        stored = message.model_copy(update={"seq": len(kept) + 1})
        kept.append(stored)
        self.emit(MessageStored(message=stored))
        return stored

    def stream(self, delta: MessageDelta) -> None:
        """Tell of streamed text that is not stored yet."""
        self.emit(delta)

    def store_log(self, details: LogDetails) -> None:
        """Begin or end a log row and tell."""
        kept = self._logs[details.row.thread_id]
        for index, known in enumerate(kept):
            if known.row.id == details.row.id:
                kept[index] = details
                break
        else:
            kept.append(details)
        self.emit(LogStored(row=details.row))

    # the protocol

    @property
    def writable(self) -> bool:
        return True

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        self._listeners.append(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return end

    async def start(self) -> None:
        self.wishes.append(("start", None))

    async def close(self, *, deadline_s: float = 3.0) -> None:
        self.wishes.append(("close", deadline_s))

    async def list_agents(self) -> Sequence[AgentSummary]:
        self.reads.append("list_agents")
        return sorted(self._agents, key=lambda agent: not agent.primary)

    async def set_test_mode(self, on: bool) -> None:
        self.wishes.append(("set_test_mode", on))

    async def create_thread(self, wish: CreateThread) -> ThreadSummary:
        self.wishes.append(("create_thread", wish))
        if all(agent.name != wish.agent_name for agent in self._agents):
            raise RuntimeRefused(f"There is no agent {wish.agent_name}.", code="runtime.no_agent")
        now_us = self.clock.now_us()
        summary = ThreadSummary(
            id=new_thread_id(),
            agent_name=wish.agent_name,
            origin_agent_name=wish.agent_name,
            title=wish.title or wish.agent_name,
            tags=wish.tags,
            state="awaiting_human",
            created_at_us=now_us,
            updated_at_us=now_us,
        )
        self.add_thread(summary)
        self.emit(ThreadChanged(summary=summary))
        return summary

    async def send_message(self, thread_id: ThreadId, wish: SendMessage) -> MessageId:
        self.wishes.append(("send_message", (thread_id, wish)))
        details = self._known(thread_id)
        if details.summary.state == "terminated":
            raise RuntimeRefused("This thread was terminated.", code="runtime.terminated")
        turns = [message.turn or 0 for message in self._messages[thread_id]]
        message = self.store_message(
            Message(
                id=wish.id or new_message_id(),
                thread_id=thread_id,
                role=wish.role or "user",
                content=wish.content,
                side="b",
                turn=max(turns, default=0) + 1,
                created_at_us=self.clock.now_us(),
            )
        )
        self.change_thread(
            thread_id,
            preview=shorten(wish.content, 120),
            message_count=details.summary.message_count + 1,
        )
        return message.id

    async def stop_thread(self, thread_id: ThreadId) -> None:
        self.wishes.append(("stop_thread", thread_id))
        self.change_thread(thread_id, state="idle", state_reason="Stopped.")

    async def continue_thread(self, thread_id: ThreadId, side: SideName = "a") -> None:
        self.wishes.append(("continue_thread", (thread_id, side)))
        self.change_thread(thread_id, state="running", state_reason=None)

    async def terminate_thread(self, thread_id: ThreadId) -> None:
        self.wishes.append(("terminate_thread", thread_id))
        self.change_thread(thread_id, state="terminated", state_reason=None)

    async def delete_thread(self, thread_id: ThreadId) -> None:
        self.wishes.append(("delete_thread", thread_id))
        for child in list(self._known(thread_id).children):
            if child.reference in self._threads:
                await self.delete_thread(child.reference)
        del self._threads[thread_id]
        self.emit(ThreadDeleted(thread_id=thread_id))

    async def set_thread_title(self, thread_id: ThreadId, title: str) -> None:
        self.wishes.append(("set_thread_title", (thread_id, title)))
        self.change_thread(thread_id, title=title)

    async def list_threads(self, query: ThreadQuery) -> ThreadPage:
        self.reads.append("list_threads")
        found = [
            details.summary
            for details in self._threads.values()
            if _matches_thread(details.summary, query)
        ]
        found.sort(key=lambda one: (one.updated_at_us, one.id), reverse=True)
        counts: dict[str, int] = {}
        for one in found:
            counts[one.state] = counts.get(one.state, 0) + 1
        if query.states:
            found = [one for one in found if one.state in query.states]
        total = len(found)
        if query.before_us is not None:
            limit = (query.before_us, query.before_id or "")
            found = [one for one in found if (one.updated_at_us, one.id) < limit]
        return ThreadPage(rows=found[: query.limit], total=total, counts=counts)

    async def get_thread(self, thread_id: ThreadId) -> ThreadDetails:
        self.reads.append("get_thread")
        return self._known(thread_id)

    async def list_messages(self, thread_id: ThreadId, query: MessageQuery) -> MessagePage:
        self.reads.append("list_messages")
        self._known(thread_id)
        found = [
            message
            for message in self._messages[thread_id]
            if (query.include_silent or not message.silent) and message.depth <= query.max_depth
        ]
        total = len(found)
        if query.before_seq is not None:
            found = [message for message in found if message.seq < query.before_seq]
        if query.after_seq is not None:
            found = [message for message in found if message.seq > query.after_seq]
        return MessagePage(
            messages=found[-query.limit :], total=total, has_more=len(found) > query.limit
        )

    async def get_message(self, thread_id: ThreadId, message_id: MessageId) -> Message:
        self.reads.append("get_message")
        for message in self._messages.get(thread_id, ()):
            if message.id == message_id:
                return message
        raise RuntimeRefused(f"There is no message {message_id}.", code="runtime.no_message")

    async def list_logs(self, thread_id: ThreadId, query: LogQuery) -> LogPage:
        self.reads.append("list_logs")
        self._known(thread_id)
        return read_logs(_Logs(thread_id, self._logs[thread_id]), query, self._logs_of)

    async def get_log(self, thread_id: ThreadId, log_id: LogId) -> LogDetails:
        self.reads.append("get_log")
        for log in self._logs.get(thread_id, ()):
            if log.row.id == log_id:
                return log
        raise RuntimeRefused(f"There is no log row {log_id}.", code="runtime.no_log")

    async def list_acts(self, thread_id: ThreadId) -> Sequence[Act]:
        self.reads.append("list_acts")
        self._known(thread_id)
        return self._acts[thread_id]

    async def thread_file(self, thread_id: ThreadId) -> Path:
        self.reads.append("thread_file")
        self._known(thread_id)
        return Path("threads") / thread_id / "thread.db"

    def _known(self, thread_id: ThreadId) -> ThreadDetails:
        details = self._threads.get(thread_id)
        if details is None:
            raise RuntimeRefused(f"There is no thread {thread_id}.", code="runtime.no_thread")
        return details

    def _logs_of(self, thread_id: ThreadId) -> _Logs | None:
        logs = self._logs.get(thread_id)
        return None if logs is None else _Logs(thread_id, logs)


class _Logs:
    """The log rows of one thread, from memory."""

    def __init__(self, thread_id: ThreadId, logs: Sequence[LogDetails]) -> None:
        self.thread_id = thread_id
        self._logs = logs

    def logs(self, query: LogQuery) -> LogPage:
        own = [log.row for log in self._logs if _matches_log(log.row, query)]
        after = query.after_id
        left = own if after is None else [row for row in own if row.id > after]
        has_more = len(left) > query.limit
        return LogPage(rows=left[: query.limit], total=len(own), has_more=has_more)


def _matches_thread(summary: ThreadSummary, query: ThreadQuery) -> bool:
    if query.parent_id is not None:
        if summary.parent_id != query.parent_id:
            return False
    elif query.top_level_only and summary.parent_id is not None:
        return False
    if query.agent_name is not None and summary.agent_name != query.agent_name:
        return False
    where = " ".join((summary.title, summary.preview, summary.id, *summary.tags)).lower()
    return all(word in where for word in query.text.lower().split())


def _matches_log(row: LogRow, query: LogQuery) -> bool:
    if query.kinds and row.kind not in query.kinds:
        return False
    if query.statuses and row.status not in query.statuses:
        return False
    if query.min_tokens is not None and (row.total_tokens or 0) < query.min_tokens:
        return False
    where = " ".join((row.title, row.detail, row.error or "", row.model_name or "")).lower()
    return all(word in where for word in query.text.lower().split())
