"""run and resume: agents without a window, on this process's own event loop."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sa_builder.cli.output import add_json, add_project, plain, print_json
from sa_builder.errors import RuntimeRefused
from sa_builder.service.service import Service
from sa_builder.spec.events import Event, MessageDelta, MessageStored
from sa_builder.spec.logs import LogQuery
from sa_builder.spec.messages import Message
from sa_builder.spec.threads import (
    CreateThread,
    MessageQuery,
    SendMessage,
    ThreadQuery,
    ThreadSummary,
)
from sa_builder.util.ids import ThreadId

ANSWERED, FAILED, PARKED = 0, 1, 3


def configure(command: str, parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    if command == "run":
        parser.add_argument("agent", metavar="AGENT", help="the agent's name")
        parser.add_argument("-m", "--message", required=True, metavar="TEXT", help="what to say")
        parser.add_argument("--thread", metavar="ID", help="go on in this thread, not a new one")
    else:
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--thread", metavar="ID", help="only this thread")
        which.add_argument("--all", action="store_true", help="every thread (the default)")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--test-mode", action="store_true", help="answer from mocks, offline")
    mode.add_argument("--live", action="store_true", help="call real models, whatever .env.test is")
    add_project(parser)
    add_json(parser)


def perform(command: str, arguments: argparse.Namespace) -> int:
    """Run or resume; returns the exit code."""
    return asyncio.run(_run(arguments) if command == "run" else _resume(arguments))


def service_of(project: Path, *, test_mode: bool | None = None) -> Service:
    """The project's runtime; asking for a run on the command line is the answer to trust."""
    return Service(project, trusted=lambda: True, test_mode=test_mode)


async def _run(arguments: argparse.Namespace) -> int:
    service = service_of(arguments.project, test_mode=_test_mode(arguments))
    printer = Printer(silent=arguments.json)
    service.subscribe(printer.on_event)
    try:
        await service.start()
        thread_id = await _thread(service, arguments)
        printer.thread_id = thread_id
        sent = await service.send_message(thread_id, SendMessage(content=arguments.message))
        summary = await service.wait_until_rest(thread_id)
        printer.end()
        failure = await _failure_since(
            service, summary, (await service.get_message(thread_id, sent)).seq
        )
        if arguments.json:
            print_json(await _document(service, summary))
    finally:
        await service.close()
    return _report(summary, failure)


async def _thread(service: Service, arguments: argparse.Namespace) -> ThreadId:
    if arguments.thread is None:
        return (await service.create_thread(CreateThread(agent_name=arguments.agent))).id
    details = await service.get_thread(ThreadId(arguments.thread))
    if details.summary.agent_name != arguments.agent:
        raise RuntimeRefused(
            f"Thread {arguments.thread} runs {details.summary.agent_name}, not {arguments.agent}.",
            code="run.other_agent",
        )
    return details.summary.id


async def _resume(arguments: argparse.Namespace) -> int:
    service = service_of(arguments.project, test_mode=_test_mode(arguments))
    try:
        await service.start()
        if arguments.thread is not None:
            thread_id = ThreadId(arguments.thread)
            state = (await service.get_thread(thread_id)).summary.state
            if state in ("failed", "idle"):
                await service.continue_thread(thread_id)
            waiting = [thread_id]
        else:
            waiting = await _cut_off(service)
        rested = [await service.wait_until_rest(thread_id) for thread_id in waiting]
    finally:
        await service.close()
    if arguments.json:
        print_json({"threads": rested})
    elif not rested:
        print("Nothing was left to go on with.")
    codes = {_report(row, None) for row in rested}
    if not arguments.json:
        for row in rested:
            print(f"{row.id}  {row.state}  {row.agent_name}: {row.preview}")
    return FAILED if FAILED in codes else PARKED if PARKED in codes else ANSWERED


async def _cut_off(service: Service) -> Sequence[ThreadId]:
    """The threads that run again, each before the one that waits for what it does."""
    query = ThreadQuery(states=("running",), top_level_only=False, limit=1000)
    found: dict[ThreadId, None] = {}
    for row in (await service.list_threads(query)).rows:
        found.setdefault(row.id)
        while row.blocking and row.parent_id is not None:
            row = (await service.get_thread(row.parent_id)).summary
            found.pop(row.id, None)
            found[row.id] = None
    return list(found)


class Printer:
    """Writes a thread's answers to stdout as they stream."""

    def __init__(self, *, silent: bool) -> None:
        self.thread_id: ThreadId | None = None
        self._silent = silent
        self._streamed: set[str] = set()
        self._open: str | None = None
        self._fault: OSError | None = None

    def on_event(self, event: Event) -> None:
        """Print what belongs to the thread; called on the event loop, in order.

        A stdout that takes nothing more never disturbs the run; `end` says so.
        """
        if self._silent or self.thread_id is None or self._fault is not None:
            return
        try:
            self._print(event)
        except OSError as error:
            self._fault = error

    def _print(self, event: Event) -> None:
        if isinstance(event, MessageDelta) and event.thread_id == self.thread_id:
            if event.text:
                if event.message_id != self._open:
                    self._end_line()
                self._streamed.add(event.message_id)
                self._open = event.message_id
                print(event.text, end="", flush=True)
        elif isinstance(event, MessageStored) and event.message.thread_id == self.thread_id:
            self._on_message(event.message)

    def end(self) -> None:
        """Finish the line.

        Raises:
            OSError: stdout took nothing more at some time before.
        """
        if self._fault is not None:
            raise self._fault
        self._end_line()

    def _end_line(self) -> None:
        if self._open is not None:
            print(flush=True)
            self._open = None

    def _on_message(self, message: Message) -> None:
        if message.role != "assistant" or message.silent or message.depth or not message.content:
            return
        if message.id in self._streamed:
            self._end_line()
        elif message.status == "completed":
            print(message.content, flush=True)
            self._streamed.add(message.id)


async def _failure_since(service: Service, summary: ThreadSummary, seq: int) -> str | None:
    """Why nothing came back after a message, when something failed; None when all is well."""
    page = await service.list_messages(summary.id, MessageQuery(after_seq=seq, limit=1000))
    if any(one.role == "assistant" and one.content and not one.silent for one in page.messages):
        return None
    logs = await service.list_logs(summary.id, LogQuery(statuses=("failed",), limit=1000))
    return logs.rows[-1].error if logs.rows else None


async def _document(service: Service, summary: ThreadSummary) -> dict[str, Any]:
    """A thread with its messages and, under it, its children."""
    messages = await service.list_messages(summary.id, MessageQuery(limit=1000))
    children = (await service.get_thread(summary.id)).children
    return {
        "thread_id": summary.id,
        "agent": summary.agent_name,
        "state": summary.state,
        "state_reason": summary.state_reason,
        "messages": [plain(message) for message in messages.messages],
        "children": [
            {
                "relationship": child.relationship,
                "name": child.name,
                **await _document(service, (await service.get_thread(child.reference)).summary),
            }
            for child in children
        ],
    }


def _report(summary: ThreadSummary, failure: str | None) -> int:
    reason = (summary.state_reason or "").rstrip(".")
    if summary.state == "failed" or failure is not None:
        why = (failure or reason or "the log says why").rstrip(".")
        print(f"It failed: {why}.", file=sys.stderr)
        return FAILED
    if summary.state == "parked":
        print(
            f"Thread {summary.id} is parked: {reason or 'it waits for somebody'}. "
            f"Go on with: sa-builder resume --thread {summary.id}",
            file=sys.stderr,
        )
        return PARKED
    return ANSWERED


def _test_mode(arguments: argparse.Namespace) -> bool | None:
    if arguments.test_mode:
        return True
    return False if arguments.live else None
