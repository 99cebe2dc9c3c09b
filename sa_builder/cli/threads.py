"""threads: list, show, messages, logs, delete."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from sa_builder.cli.output import add_json, add_project, print_json
from sa_builder.cli.run import service_of
from sa_builder.cli.tables import log_lines, message_lines, thread_lines
from sa_builder.errors import StoreError
from sa_builder.service.service import Service
from sa_builder.spec.logs import LogQuery
from sa_builder.spec.threads import MessageQuery, ThreadQuery
from sa_builder.util.ids import ThreadId


def configure(command: str, parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    acts = parser.add_subparsers(dest="act", metavar="list|show|messages|logs|delete")
    parser.set_defaults(act="list", text="", agent=None, limit=100)
    listing = acts.add_parser("list", help="the threads, newest activity first")
    listing.add_argument("text", nargs="?", default="", help="words that must occur")
    listing.add_argument("--agent", help="only threads of this agent")
    listing.add_argument("--limit", type=int, default=100, help="at most this many (default 100)")
    for name, help_text in (
        ("show", "one thread with its children"),
        ("messages", "its messages"),
        ("logs", "its log rows"),
        ("delete", "remove it and its children from the disk"),
    ):
        one = acts.add_parser(name, help=help_text)
        one.add_argument("thread", metavar="ID")
        add_project(one)
        add_json(one)
    for one in (listing, parser):
        add_project(one)
        add_json(one)


def perform(command: str, arguments: argparse.Namespace) -> int:
    """Do what is asked; returns the exit code."""
    acts: dict[str, Callable[[Service, argparse.Namespace], Awaitable[None]]] = {
        "list": _list,
        "show": _show,
        "messages": _messages,
        "logs": _logs,
        "delete": _delete,
    }

    async def act() -> None:
        service = service_of(arguments.project)
        try:
            await acts[arguments.act or "list"](service, arguments)
        finally:
            await service.close()

    asyncio.run(act())
    return 0


async def _list(service: Service, arguments: argparse.Namespace) -> None:
    limit = max(1, min(1000, arguments.limit))
    page = await service.list_threads(
        ThreadQuery(text=arguments.text, agent_name=arguments.agent, limit=limit)
    )
    if arguments.json:
        print_json(page)
        return
    for line in thread_lines(page.rows):
        print(line)
    hidden = page.total - len(page.rows)
    note = f", {hidden} not shown" if hidden > 0 else ""
    print(f"{page.total} thread{'s' if page.total != 1 else ''}{note}")


async def _show(service: Service, arguments: argparse.Namespace) -> None:
    details = await service.get_thread(ThreadId(arguments.thread))
    if arguments.json:
        print_json(details)
        return
    summary = details.summary
    print(f"{summary.title}\n  agent    {summary.agent_name}\n  state    {summary.state}")
    if summary.state_reason:
        print(f"  because  {summary.state_reason}")
    print(f"  side A   {details.side_a}\n  side B   {details.side_b}")
    print(f"  messages {summary.message_count}\n  tokens   {summary.total_tokens}")
    for child in details.children:
        print(f"  child    {child.reference}  {child.relationship}  {child.name}  {child.status}")
    print(f"  file     {await service.thread_file(summary.id)}")


async def _messages(service: Service, arguments: argparse.Namespace) -> None:
    page = await service.list_messages(ThreadId(arguments.thread), MessageQuery(limit=1000))
    if arguments.json:
        print_json(page)
        return
    for line in message_lines(page.messages):
        print(line)


async def _logs(service: Service, arguments: argparse.Namespace) -> None:
    page = await service.list_logs(ThreadId(arguments.thread), LogQuery(limit=1000))
    if arguments.json:
        print_json(page)
        return
    for line in log_lines(page.rows):
        print(line)


async def _delete(service: Service, arguments: argparse.Namespace) -> None:
    thread_id = ThreadId(arguments.thread)
    said = f"Deleted thread {thread_id}, whose file could not be read."
    with contextlib.suppress(StoreError):
        details = await service.get_thread(thread_id)
        said = f"Deleted {details.summary.title} and its {len(details.children)} children."
    await service.start()
    await service.delete_thread(thread_id)
    if arguments.json:
        print_json({"deleted": thread_id})
    else:
        print(said)
