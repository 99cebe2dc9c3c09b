"""A service that is closed in the midst goes on when it is opened again."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sa_builder.service.service import Service
from sa_builder.spec.events import Event, ThreadChanged
from sa_builder.spec.threads import CreateThread, MessageQuery, SendMessage
from sa_builder.util.ids import ThreadId


async def ask_until_parked(project: Path) -> ThreadId:
    """Ask for a triage, and close the service while the parent waits for its child."""
    service = Service(project, trusted=lambda: True, test_mode=True)
    await service.start()
    parent = await service.create_thread(CreateThread(agent_name="repo_assistant"))
    parked = asyncio.Event()

    def listen(event: Event) -> None:
        if isinstance(event, ThreadChanged) and event.summary.state == "parked":
            parked.set()

    service.subscribe(listen)
    await service.send_message(parent.id, SendMessage(content="Triage issue 42 in acme/widgets"))
    async with asyncio.timeout(20):
        await parked.wait()
        await service.engine.box(parent.id).at_rest.wait()
    assert service.engine.running_turns() == 1, "The child was to be at work still."
    await service.close()
    return parent.id


async def test_a_parent_that_waited_takes_its_childs_report_as_the_calls_result(
    project: Path,
) -> None:
    parent = await ask_until_parked(project)

    service = Service(project, trusted=lambda: True, test_mode=True)
    await service.start()
    try:
        async with asyncio.timeout(20):
            summary = await service.wait_until_rest(parent)
        messages = (await service.list_messages(parent, MessageQuery(limit=100))).messages
    finally:
        await service.close()

    assert summary.state == "awaiting_human"
    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[2].name == "subagent_create"
    assert "is triaged" in (messages[3].content or "")
