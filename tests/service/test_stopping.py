"""A person stops a thread: whatever it set going stops too."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sa_builder.runtime.engine import Engine
from sa_builder.service.service import Service
from sa_builder.spec.logs import LogQuery
from sa_builder.spec.threads import CreateThread, SendMessage
from sa_builder.util.ids import ThreadId

CREATE = "sa_builder.runtime.engine.Engine._create_child"


async def test_a_stop_reaches_a_child_that_is_only_about_to_be_made(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, is_making, may_make = vars(Engine)["_create_child"], asyncio.Event(), asyncio.Event()

    async def make_late(engine: Engine, child_id: ThreadId, body: dict[str, Any]) -> None:
        is_making.set()
        await may_make.wait()
        await make(engine, child_id, body)

    monkeypatch.setattr(CREATE, make_late)
    service = Service(project, trusted=lambda: True, test_mode=True)
    await service.start()
    try:
        parent = await service.create_thread(CreateThread(agent_name="repo_assistant"))
        wish = SendMessage(content="Triage issue 42 in acme/widgets")
        await service.send_message(parent.id, wish)
        async with asyncio.timeout(20):
            await is_making.wait()
            await service.stop_thread(parent.id)
            may_make.set()
            await service.wait_until_rest(parent.id)
            (child,) = (await service.get_thread(parent.id)).children
            summary = await service.wait_until_rest(ThreadId(child.reference))
        logs = await service.list_logs(ThreadId(child.reference), LogQuery())
    finally:
        await service.close()

    assert (summary.state, summary.state_reason) == ("idle", "stopped")
    assert not logs.rows
