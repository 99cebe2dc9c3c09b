"""What a prompt side is told: the stored messages as chat messages of the wire."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sa_builder.runtime.frame import TurnFrame
from sa_builder.spec.messages import Message, SideName
from sa_builder.util.ids import MessageId

WireMessage = dict[str, Any]
NOT_RUN = "Not run."


class History:
    """The chat messages of one turn; grows by what is stored, never rebuilt within a turn.

    Each side sees its own messages as `assistant` and the other's as `user`; the other side's
    tool calls are not shown. A call without a stored result gets one that says so, so that no
    unpaired call ever goes to a model.
    """

    def __init__(self, frame: TurnFrame, turn: int, stored: Iterable[Message]) -> None:
        """Begin with what is stored.

        Args:
            turn: the running turn; without `include_chat` only what came after the side's
                turn before it is sent, without `include_past_tools` only this turn's tools.
        """
        assert frame.prompt is not None
        self._side: SideName = frame.side
        self._own_role = "assistant" if frame.side == "a" else "user"
        self._turn = turn
        self._past_tools = frame.prompt.include_past_tools
        self.messages: list[WireMessage] = [{"role": "system", "content": frame.system_prompt}]
        self._open: dict[str, WireMessage] = {}
        self._seen: set[MessageId] = set()
        kept = list(stored)
        if not frame.prompt.include_chat:
            kept = self._since_last_turn(kept)
        for message in kept:
            self.add(message)

    def add(self, message: Message) -> None:
        """Put one stored message at the end; what the side is not to see is left out."""
        if message.depth != 0 or message.status != "completed" or message.id in self._seen:
            return
        self._seen.add(message.id)
        if message.role == "tool":
            slot = self._open.pop(message.tool_call_id or "", None)
            if slot is not None:
                slot["content"] = message.content or ""
        elif message.role == self._own_role:
            self._add_own(message)
        elif message.role in ("user", "assistant"):
            if message.content:
                self.messages.append({"role": "user", "content": message.content})
        else:
            self.messages.append({"role": "system", "content": message.content or ""})

    def _add_own(self, message: Message) -> None:
        calls = message.tool_calls
        if calls and message.turn != self._turn and not self._past_tools:
            calls = ()
        if not calls:
            if message.content:
                self.messages.append({"role": "assistant", "content": message.content})
            return
        self.messages.append(
            {
                "role": "assistant",
                "content": message.content,
                "tool_calls": [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": call.arguments_json},
                    }
                    for call in calls
                ],
            }
        )
        for call in calls:
            slot: WireMessage = {"role": "tool", "tool_call_id": call.id, "content": NOT_RUN}
            self.messages.append(slot)
            self._open[call.id] = slot

    def _since_last_turn(self, stored: Sequence[Message]) -> Sequence[Message]:
        last_own = 0
        for place, message in enumerate(stored):
            if message.side == self._side and message.turn != self._turn:
                last_own = place + 1
        return stored[last_own:]
