"""The process that is killed: runs the sample's project, and ends itself at one commit.

The fault lives here, not in the product: SQLite's COMMIT is counted on its way, and at the wanted
one the process sends itself SIGKILL, before it or right after.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

from sa_builder.service.service import Service
from sa_builder.spec.threads import CreateThread, MessageQuery, SendMessage, ThreadQuery
from sa_builder.store.sqlite import Sqlite, Value

AGENT = "repo_assistant"
Moment = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Where the process ends itself."""

    commit: int
    """From 1, over all files of the project."""
    moment: Moment


class CountedCommits:
    """Stands in the way of every COMMIT."""

    def __init__(self, fault: Fault | None) -> None:
        self._fault = fault
        self._lock = threading.Lock()
        self.count = 0

    def install(self) -> None:
        """From now on in this process."""
        run = Sqlite.run

        def counted(self_: Sqlite, sql: str, values: Sequence[Value] = ()) -> None:
            if sql != "COMMIT":
                run(self_, sql, values)
                return
            with self._lock:
                self.count += 1
                is_last = self._fault is not None and self.count == self._fault.commit
                if is_last and self._fault is not None and self._fault.moment == "before":
                    die()
                run(self_, sql, values)
                if is_last:
                    die()

        setattr(Sqlite, "run", counted)  # noqa: B010


def die() -> None:
    """End at once, as kill -9 does."""
    os.kill(os.getpid(), signal.SIGKILL)


def work(project: Path, question: str, fault: Fault | None, said: Connection) -> None:
    """Ask and wait for the answer, or go on with what is there; says how many commits it took."""
    commits = CountedCommits(fault)
    commits.install()
    asyncio.run(_work(project, question))
    said.send(commits.count)
    said.close()


async def _work(project: Path, question: str) -> None:
    service = Service(project, trusted=lambda: True, test_mode=False)
    await service.start()
    try:
        threads = (await service.list_threads(ThreadQuery())).rows
        if threads:
            thread_id = threads[0].id
        else:
            thread_id = (await service.create_thread(CreateThread(agent_name=AGENT))).id
        if (await service.list_messages(thread_id, MessageQuery())).total == 0:
            await service.send_message(thread_id, SendMessage(content=question))
        await service.wait_until_rest(thread_id)
    finally:
        await service.close()
