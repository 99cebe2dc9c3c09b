"""A thread's messages as the blocks a person reads; pure but for the text layouts in blocks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from sa_builder.spec.events import MessageDelta
from sa_builder.spec.logs import LogRow
from sa_builder.spec.messages import Message, ToolCall
from sa_builder.spec.threads import ThreadDetails, ThreadSummary
from sa_builder.ui.threads import words
from sa_builder.ui.threads.blocks import Block, HeadBlock, LabelBlock, NoticeBlock, TextBlock
from sa_builder.ui.threads.fold_blocks import ChildBlock, ReasoningBlock, ToolBlock
from sa_builder.ui.threads.words import tr
from sa_builder.ui.widgets.states import StateName
from sa_builder.util.ids import LogId, MessageId, ThreadId

CREATE_CHILD = "subagent_create"


@dataclass(slots=True, kw_only=True)
class ChildThread:
    """What is known of a child that is shown inline."""

    summary: ThreadSummary
    messages: dict[MessageId, Message] = field(default_factory=dict[MessageId, Message])
    streams: dict[MessageId, TextBlock] = field(default_factory=dict[MessageId, TextBlock])


@dataclass(slots=True, kw_only=True)
class _Paired:
    """A list of messages with each tool result found by its call."""

    shown: list[Message]
    results: dict[str, Message]


class Conversation:
    """The open thread: what is stored, what is streamed, and the blocks of both.

    Blocks of a message are made once and kept as long as the message, its results and its child
    stay the same, so that folding and laid out text survive every event.
    """

    def __init__(self, details: ThreadDetails) -> None:
        self.details = details
        self.messages: dict[MessageId, Message] = {}
        self.children: dict[ThreadId, ChildThread] = {}
        self.show_silent = False
        self.durations_ms: dict[tuple[ThreadId, LogId], float] = {}
        """Of tool calls, by their log row; filled as log rows become known."""
        self._streams: dict[MessageId, TextBlock] = {}
        self._stream_heads: dict[MessageId, MessageDelta] = {}
        self._stream_notes: dict[MessageId, list[str]] = {}
        self._stream_thoughts: dict[MessageId, str] = {}
        self._made: dict[str, tuple[object, list[Block]]] = {}

    # what comes in

    def add(self, messages: Iterable[Message]) -> None:
        """Enter stored messages; each ends the stream of its id."""
        for message in messages:
            self.messages[message.id] = message
            self._streams.pop(message.id, None)
            self._stream_heads.pop(message.id, None)
            self._stream_notes.pop(message.id, None)
            self._stream_thoughts.pop(message.id, None)

    def add_child(self, summary: ThreadSummary) -> ChildThread:
        """Enter a child or its new state."""
        known = self.children.get(summary.id)
        if known is None:
            known = ChildThread(summary=summary)
            self.children[summary.id] = known
        known.summary = summary
        return known

    def add_logs(self, rows: Iterable[LogRow]) -> bool:
        """Learn how long tool calls took; True when that changes what is shown."""
        changed = False
        for row in rows:
            known = row.thread_id == self.details.summary.id or row.thread_id in self.children
            if known and row.kind in ("tool", "child") and row.duration_ms is not None:
                key = (row.thread_id, row.id)
                changed = changed or self.durations_ms.get(key) != row.duration_ms
                self.durations_ms[key] = row.duration_ms
        return changed

    def stream(self, delta: MessageDelta) -> TextBlock | None:
        """Add streamed text; returns the block that grew, None when blocks come or go."""
        if delta.thread_id != self.details.summary.id:
            child = self.children.get(delta.thread_id)
            if child is None or delta.message_id in child.messages:
                return None
            block = child.streams.get(delta.message_id)
            if block is None:
                key = f"{delta.message_id}/stream"
                child.streams[delta.message_id] = TextBlock(key, delta.text, markdown=False)
            else:
                block.append(delta.text)
            return None
        if delta.message_id in self.messages:
            return None
        block = self._streams.get(delta.message_id)
        if delta.tool_name:
            self._stream_notes.setdefault(delta.message_id, []).append(delta.tool_name)
        if delta.reasoning:
            known = self._stream_thoughts.get(delta.message_id, "")
            self._stream_thoughts[delta.message_id] = known + delta.reasoning
        if block is None:
            block = TextBlock(f"{delta.message_id}/stream", delta.text, markdown=False)
            self._streams[delta.message_id] = block
            self._stream_heads[delta.message_id] = delta
            return None
        was_shown = bool(block.text)
        block.append(delta.text)
        return block if was_shown and not (delta.tool_name or delta.reasoning) else None

    @property
    def oldest_seq(self) -> int | None:
        """The smallest number among the loaded messages; those that wait have none yet."""
        stored = (one.seq for one in self.messages.values() if one.status != "pending")
        return min(stored, default=None)

    @property
    def silent_count(self) -> int:
        """How many loaded messages are hidden unless asked for."""
        return sum(1 for message in self.messages.values() if message.silent)

    # the blocks

    def blocks(self) -> list[Block]:
        """Everything, oldest first: what is stored, what streams, and what waits for that."""
        paired = _paired(self.messages.values(), self.show_silent)
        waiting = [message for message in paired.shown if message.status == "pending"]
        stored = paired.shown[: len(paired.shown) - len(waiting)]
        blocks = self._run_of(stored, paired.results)
        blocks += self._stream_blocks()
        return blocks + self._run_of(waiting, paired.results)

    def _run_of(self, messages: Iterable[Message], results: Mapping[str, Message]) -> list[Block]:
        blocks: list[Block] = []
        before: Message | None = None
        for message in messages:
            blocks += self._blocks_of(message, before, results)
            before = message
        return blocks

    def _stream_blocks(self) -> list[Block]:
        blocks: list[Block] = []
        for message_id, block in self._streams.items():
            delta = self._stream_heads[message_id]
            blocks.append(self._stream_head(delta))
            thought = self._stream_thoughts.get(message_id)
            if thought:
                count = f"{len(thought.split()):,} {tr('words')}"
                blocks.append(ReasoningBlock(f"{message_id}/reasoning", thought, figure=count))
            if block.text:
                blocks.append(block)
            blocks += [
                ToolBlock(
                    f"{message_id}/call/{number}", name=name, arguments_json="", state="running"
                )
                for number, name in enumerate(self._stream_notes.get(message_id, ()))
            ]
        return blocks

    def _blocks_of(
        self, message: Message, before: Message | None, results: Mapping[str, Message]
    ) -> list[Block]:
        joins = _joins(message, before)
        calls = [self._call_state(call, results.get(call.id)) for call in message.tool_calls]
        sign = (message, joins, tuple(sign for sign, _ in calls))
        known = self._made.get(message.id)
        if known is not None and known[0] == sign:
            return known[1]
        blocks: list[Block] = []
        if not joins:
            blocks.append(self._head(message))
        blocks += _body(message, most_px=640)
        blocks += [block for _, block in calls]
        for block in blocks:
            if message.depth and not isinstance(block, HeadBlock):
                block.indent_px = 34.0
        self._made[message.id] = (sign, blocks)
        return blocks

    def _call_state(self, call: ToolCall, result: Message | None) -> tuple[object, Block]:
        """A call's block, and what it depends on."""
        child = self._child_of(call, result)
        if child is not None:
            return self._child_block(call, child, result)
        duration_ms = _duration_ms(result, self.durations_ms)
        running = self.details.summary.state in ("running", "parked") and result is None
        sign = (call.id, result, duration_ms, running)
        key = f"call/{call.id}"
        known = self._made.get(key)
        if known is not None and known[0] == sign:
            return sign, known[1][0]
        block = _tool_block(key, call, result, duration_ms, running=running)
        self._made[key] = (sign, [block])
        return sign, block

    def _child_of(self, call: ToolCall, result: Message | None) -> ChildThread | None:
        if result is not None and result.subagent_id is not None:
            return self.children.get(result.subagent_id)
        if call.name != CREATE_CHILD:
            return None
        wish = _object(call.arguments_json)
        for entry in self.details.children:
            same = entry.name == wish.get("name") and (
                entry.relationship == wish.get("relationship") or "relationship" not in wish
            )
            if same and entry.reference in self.children:
                return self.children[entry.reference]
        return None

    def _child_block(
        self, call: ToolCall, child: ChildThread, result: Message | None
    ) -> tuple[object, Block]:
        summary = child.summary
        sign = (
            call.id,
            summary,
            result is not None,
            tuple(child.messages.values()),
            tuple((key, len(block.text)) for key, block in child.streams.items()),
            sum(1 for thread_id, _ in self.durations_ms if thread_id == summary.id),
        )
        key = f"child/{call.id}"
        known = self._made.get(key)
        if known is not None and known[0] == sign:
            return sign, known[1][0]
        kind = tr("blocking child") if summary.blocking else tr("child")
        block = ChildBlock(
            key,
            thread_id=summary.id,
            agent=summary.agent_name,
            caption=" · ".join(part for part in (summary.instance_name, kind) if part),
            cost=words.cost(summary.cost),
            state=words.state_of_thread(summary),
            state_word=words.thread_state_word(summary),
            blocks=self._inner_blocks(child),
        )
        self._made[key] = (sign, [block])
        return sign, block

    def _inner_blocks(self, child: ChildThread) -> list[Block]:
        blocks: list[Block] = []
        paired = _paired(child.messages.values(), False)
        running = child.summary.state in ("running", "parked")
        for number, message in enumerate(paired.shown):
            if message.role == "user":
                label = tr("request") if number == 0 else f"{tr('side')} {message.side or ''}"
                text = " ".join((message.content or "").split())
                blocks.append(LabelBlock(f"{message.id}/label", label, text[:1000]))
                continue
            body = _body(message, most_px=600)
            for block in body:
                block.indent_px = 2 if isinstance(block, TextBlock) else 0
                if isinstance(block, TextBlock):
                    block.gap_px = 8
            blocks += body
            for call in message.tool_calls:
                result = paired.results.get(call.id)
                row = _tool_block(
                    f"call/{child.summary.id}/{call.id}",
                    call,
                    result,
                    _duration_ms(result, self.durations_ms),
                    running=running,
                )
                row.indent_px = 0
                if result is not None and result.subagent_id is not None:
                    row.child_id = result.subagent_id
                blocks.append(row)
        for block in child.streams.values():
            if block.key.removesuffix("/stream") not in child.messages and block.text:
                block.indent_px = 2
                block.gap_px = 8
                blocks.append(block)
        return blocks

    def _head(self, message: Message) -> HeadBlock:
        tile, name = self._speaker(message)
        parts = [f"{tr('side')} {message.side.upper()}"] if message.side else []
        if message.turn:
            parts.append(f"{tr('turn')} {message.turn}")
        if message.step and (message.tool_calls or message.step > 1):
            parts.append(f"{tr('step')} {message.step}")
        if message.status == "pending":
            parts.append(tr("queued"))
        if message.silent:
            parts.append(tr("silent"))
        if message.depth:
            parts.append(tr("sub-prompt"))
        return HeadBlock(
            f"{message.id}/head",
            tile=tile,
            name=name,
            caption=" · ".join(parts),
            time=words.clock_time(message.created_at_us) if message.created_at_us else "",
            is_muted=message.silent or message.role == "system",
        )

    def _stream_head(self, delta: MessageDelta) -> HeadBlock:
        kind, name = self._backing(delta.side)
        caption = f"{tr('side')} {delta.side.upper()} · {tr('turn')} {delta.turn}"
        if delta.step > 1:
            caption += f" · {tr('step')} {delta.step}"
        return HeadBlock(
            f"{delta.message_id}/head",
            tile=kind,
            name=delta.prompt or name,
            caption=caption,
            time=tr("now"),
        )

    def _speaker(self, message: Message) -> tuple[str, str]:
        if message.role == "system":
            return "info", tr("System")
        side = message.side or ("a" if message.role == "assistant" else "b")
        kind, name = self._backing(side)
        if kind == "human":
            return "human", tr("You")
        return kind, message.prompt or name

    def _backing(self, side: str) -> tuple[str, str]:
        """What backs a side: its kind's tile and its name."""
        text = self.details.side_a if side == "a" else self.details.side_b
        kind, _, name = text.partition(" ")
        if kind not in ("prompt", "handler", "human"):
            kind = "prompt" if side == "a" else "human"
        if self.details.summary.parent_id is not None and kind == "human":
            return "agent", tr("Parent")
        return kind, name or self.details.summary.agent_name


def _paired(messages: Iterable[Message], show_silent: bool) -> _Paired:
    ordered = sorted(messages, key=lambda one: (one.status == "pending", one.seq))
    called = {call.id for message in ordered for call in message.tool_calls}
    results: dict[str, Message] = {}
    shown: list[Message] = []
    for message in ordered:
        if message.role == "tool" and message.tool_call_id in called:
            results[str(message.tool_call_id)] = message
        elif (not message.silent and message.role != "system") or show_silent:
            shown.append(message)
    return _Paired(shown=shown, results=results)


def _joins(message: Message, before: Message | None) -> bool:
    """Whether a message goes on under the header of the one before: a step without words."""
    return (
        before is not None
        and not message.content
        and message.role == before.role == "assistant"
        and (message.side, message.turn, message.depth) == (before.side, before.turn, before.depth)
        and message.status == "completed"
    )


def _body(message: Message, *, most_px: float) -> list[Block]:
    blocks: list[Block] = []
    if message.reasoning_content:
        count = len(message.reasoning_content.split())
        blocks.append(
            ReasoningBlock(
                f"{message.id}/reasoning",
                message.reasoning_content,
                figure=f"{count:,} {tr('words')}",
            )
        )
    if message.role == "tool":
        call = ToolCall(id=message.id, name=message.name or "tool", arguments_json="")
        blocks.append(_tool_block(f"{message.id}/lone", call, message, None, running=False))
    elif message.content and not _is_sentence(message):
        token = "text.muted" if message.silent or message.status == "pending" else "text.primary"
        text = TextBlock(
            f"{message.id}/text",
            message.content,
            markdown=message.role == "assistant" and message.status != "failed",
            token=token,
            most_px=most_px,
        )
        if message.reasoning_content:
            text.gap_px = 8
        blocks.append(text)
    if message.status == "failed":
        sentence = _failure(message)
        blocks.append(NoticeBlock(f"{message.id}/failed", sentence, "failed"))
    return blocks


def _is_sentence(message: Message) -> bool:
    """Whether a failed message's content is itself the sentence on why."""
    return message.status == "failed" and message.metadata.get("error") is True


def _failure(message: Message) -> str:
    if _is_sentence(message) and message.content:
        return message.content
    for key in ("error", "reason", "sentence"):
        found = message.metadata.get(key)
        if isinstance(found, str) and found:
            return found
    return tr("This message was cut off: what had come so far is kept.")


def _tool_block(
    key: str, call: ToolCall, result: Message | None, duration_ms: float | None, *, running: bool
) -> ToolBlock:
    state: StateName = "running" if running else "waiting"
    if result is not None:
        state = "failed" if result.tool_status == "error" else "done"
    return ToolBlock(
        key,
        name=call.name,
        arguments_json=call.arguments_json,
        state=state,
        result=None if result is None else result.content or "",
        is_error=result is not None and result.tool_status == "error",
        duration_ms=duration_ms,
    )


def _duration_ms(
    result: Message | None, by_log: Mapping[tuple[ThreadId, LogId], float]
) -> float | None:
    if result is None:
        return None
    if result.log_id is not None and (result.thread_id, result.log_id) in by_log:
        return by_log[result.thread_id, result.log_id]
    if result.request_sent_at_us and result.response_completed_at_us:
        return (result.response_completed_at_us - result.request_sent_at_us) / 1000
    return None


def _object(text: str) -> Mapping[str, Any]:
    if len(text) > 64 * 1024:
        return {}
    try:
        found: Any = json.loads(text or "{}")
    except ValueError:
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
