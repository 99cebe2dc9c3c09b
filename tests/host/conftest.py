"""A project on the disk and a real code host that runs it."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sa_builder.errors import RuntimeRefused
from sa_builder.runtime.host_link import HostLink
from sa_builder.spec.host_wire import HostCall, HostOutcome, StateSnapshot
from sa_builder.spec.messages import Message
from sa_builder.util.ids import MessageId, ThreadId

SNAPSHOT = StateSnapshot(
    thread_id=ThreadId("t1"), agent_name="bot", user_id="local", created_at_us=1
)


class FakeState:
    """Answers state requests and remembers them."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str, Mapping[str, Any]]] = []
        self.answers: dict[str, Callable[[Mapping[str, Any]], Any]] = {}

    async def serve(
        self, call_id: str, thread_id: str, method: str, arguments: Mapping[str, Any]
    ) -> Any:
        self.asked.append((call_id, thread_id, method, arguments))
        if method not in self.answers:
            raise RuntimeRefused(f"No {method} here.")
        return self.answers[method](arguments)


class Sandbox:
    """A project folder, its host, and short ways to use both."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.state = FakeState()
        self.link = HostLink(project_root=root, state_server=self.state)
        self._numbers = itertools.count(1)
        (root / "agents").mkdir()

    def write(self, path: str, text: str) -> None:
        file = self.root / "agents" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")

    def tool(self, name: str, body: str, *, head: str = "", sync: bool = False) -> None:
        """A tool file around the body of its function."""
        imports = (
            "import asyncio, logging, os, sys, time\nfrom sa_builder.spec import define_tool\n"
        )
        define = "\n@define_tool(description='x', args=None)\n"
        start = f"{'' if sync else 'async '}def execute(state):\n"
        body = textwrap.indent(textwrap.dedent(body).strip(), "    ")
        self.write(f"tools/{name}.py", imports + textwrap.dedent(head) + define + start + body)

    async def call(self, name: str, **changes: Any) -> HostOutcome:
        return await self.link.call(self.wish(name, **changes))

    def wish(self, name: str, **changes: Any) -> HostCall:
        number = str(next(self._numbers))
        base: dict[str, Any] = {"kind": "tool", "name": name, "snapshot": SNAPSHOT}
        return HostCall(call_id=number, **(base | changes))


@pytest_asyncio.fixture
async def sandbox(tmp_path: Path) -> AsyncIterator[Sandbox]:
    made = Sandbox(tmp_path)
    yield made
    await made.link.close()


@pytest.fixture
def message() -> Message:
    return Message(
        id=MessageId("m1"), thread_id=ThreadId("t1"), role="user", content="hi", created_at_us=1
    )
