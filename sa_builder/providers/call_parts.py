"""Tool calls put together from deltas, whatever a gateway leaves out or repeats."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from sa_builder.providers.base import ProposedCall, ToolCallBegun, ToolCallDelta
from sa_builder.util.text import sanitize


@dataclass(slots=True, kw_only=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    was_told: bool = False

    def text(self) -> str:
        if len(self.arguments) > 1:
            self.arguments = ["".join(self.arguments)]
        return self.arguments[0] if self.arguments else ""

    def is_whole(self) -> bool:
        """Whether the arguments are one complete JSON object, so that nothing can follow."""
        text = self.text().strip()
        if not (text.startswith("{") and text.endswith("}")):
            return False
        try:
            json.loads(text)
        except ValueError:
            return False
        return True


class CallParts:
    """Collects the calls of one answer.

    A delta belongs to the call at its index, or without one to the last call. A new call begins
    at an index not seen before, and also where a call with another id or name comes, or more
    arguments after complete ones: gateways number parallel calls all with 0, or not at all.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._at_index: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def feed(self, delta: dict[str, Any]) -> Iterator[ToolCallBegun | ToolCallDelta]:
        """Take one entry of `tool_calls`."""
        raw_function = delta.get("function")
        function = cast(dict[str, Any], raw_function) if isinstance(raw_function, dict) else delta
        call_id = _text(delta.get("id"))
        name = _text(function.get("name"))
        arguments = _arguments(function.get("arguments"))
        place = self._place(delta.get("index"), call_id, name, arguments)
        call = self._calls[place]
        call.id = call.id or call_id
        call.name = call.name or name
        if call.name and not call.was_told:
            call.was_told = True
            yield ToolCallBegun(index=place, name=call.name)
        if arguments:
            call.arguments.append(arguments)
            yield ToolCallDelta(index=place, arguments_json=arguments)

    def is_broken_off(self) -> bool:
        """Whether the last call's arguments stop in the middle."""
        return bool(self._calls) and bool(self._calls[-1].text()) and not self._calls[-1].is_whole()

    def whole(self) -> tuple[ProposedCall, ...]:
        """All calls that have a name, in order of first appearance."""
        return tuple(
            ProposedCall(
                id=call.id, name=call.name, arguments_json=sanitize(call.text().strip()) or "{}"
            )
            for call in self._calls
            if call.name
        )

    def _place(self, index: Any, call_id: str, name: str, arguments: str) -> int:
        numbered = isinstance(index, int) and not isinstance(index, bool)
        place = self._at_index.get(index) if numbered else self._last_or_same_id(call_id)
        if place is None or self._begins_another(self._calls[place], call_id, name, arguments):
            same = [at for at, call in enumerate(self._calls) if call_id and call.id == call_id]
            if same and not numbered:
                return same[-1]
            self._calls.append(_Call())
            place = len(self._calls) - 1
        if numbered:
            self._at_index[index] = place
        return place

    def _last_or_same_id(self, call_id: str) -> int | None:
        for place in range(len(self._calls) - 1, -1, -1):
            if call_id and self._calls[place].id == call_id:
                return place
        return len(self._calls) - 1 if self._calls else None

    def _begins_another(self, call: _Call, call_id: str, name: str, arguments: str) -> bool:
        if call_id and call.id:
            return call_id != call.id
        if name and call.name and name != call.name:
            return True
        return bool(name) and bool(call.name) and bool(arguments.strip()) and call.is_whole()


def _text(value: Any) -> str:
    return sanitize(value) if isinstance(value, str) else ""


def _arguments(value: Any) -> str:
    """Arguments as JSON text; some gateways send the object itself."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
