"""P1: what a step costs: a model act and a tool act, an instant model, 1,000 steps in one thread.

The engine's step is decide, journal, messages, log rows, ledger and events, with a model and a
tool that answer at once in the same process. The whole step adds what a real one has: the request
built and the stream decoded by httpx, and the tool in the code host, whose round trip is told
apart. Beside them: the two commits alone, raw, over four tables with the log flushed at each; the
disk's own fdatasync; LangGraph with its SqliteSaver, when it can be installed.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw

from benchmarks.measure import median_ms, table
from sa_builder.providers.base import (
    Chunk,
    Exchange,
    ModelAnswer,
    ModelRequest,
    ProposedCall,
    Provider,
)
from sa_builder.runtime.frame import TurnFrame
from sa_builder.runtime.view import ThreadView
from sa_builder.service.service import Service
from sa_builder.spec import Side
from sa_builder.spec.definitions import ModelDefinition
from sa_builder.spec.logs import Act, LogQuery
from sa_builder.spec.threads import CreateThread, SendMessage
from sa_builder.util.clock import SystemClock
from sa_builder.util.ids import LogId, ThreadId
from tests.runtime.shapes import agent, model, prompt, tool
from tests.runtime.world import State, World

BODY = b"x" * 400
STEPS_A_TURN = 100
TURNS = 10
HERE = Path(__file__).resolve().parent
PEERS = HERE.parent / "build" / "peers"

FILES = {
    "agents/bench.py": f"""
from sa_builder.spec import Side, define_agent
agent = define_agent(name="bench", side_a=Side(prompt="bench", max_steps={STEPS_A_TURN}),
                     side_b=Side(human=True))
""",
    "prompts/bench.py": """
from sa_builder.spec import define_prompt
prompt = define_prompt(name="bench", tool_description="x", prompt="Go on.", model="instant",
                       tools=["nothing"])
""",
    "models/instant.py": """
from sa_builder.spec import define_model
model = define_model(name="instant", provider="openrouter", model="instant")
""",
    "tools/nothing.py": """
from sa_builder.spec import define_tool
@define_tool(description="Does nothing.", side_effects="none", risk="low")
async def execute(state):
    return "done"
""",
    "mocks/model.json": json.dumps(
        {
            "match": {"url_contains": "/chat/completions"},
            "stream": [
                {
                    "choices": [
                        {
                            "index": 0,
                            "delta": {
                                "tool_calls": [
                                    {
                                        "index": 0,
                                        "id": "call",
                                        "function": {"name": "nothing", "arguments": "{}"},
                                    }
                                ]
                            },
                            "finish_reason": "tool_calls",
                        }
                    ]
                },
                {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}},
            ],
        }
    ),
}


class Instant:
    """A model that calls the tool at once, every time."""

    name = "instant"

    async def stream(self, request: ModelRequest, exchange: Exchange) -> AsyncIterator[Chunk]:
        exchange.request_body = BODY
        yield ModelAnswer(
            content=None,
            tool_calls=[ProposedCall(id="call", name="nothing", arguments_json="{}")],
            finish_reason="tool_calls",
        )


class Bench(World):
    """The engine, its files and events; nothing around it."""

    def provider(self, model: ModelDefinition, view: ThreadView, frame: TurnFrame) -> Provider:
        return Instant()


async def engine_steps(folder: Path) -> list[float]:
    """Milliseconds of each of the engine's own steps."""
    side = Side(prompt="bench", max_steps=STEPS_A_TURN)
    tools = tool("nothing", side_effects="none")
    world = Bench(
        folder, [agent("bench", side), prompt("bench", "nothing"), model(), tools], SystemClock()
    )

    async def nothing(state: State, arguments: object) -> str:
        return "done"

    world.host.code["nothing"] = nothing
    await world.start()
    thread_id = await world.create("bench")
    for _ in range(TURNS):
        await world.ask(thread_id, "go")
        world.events.clear()
    reader = world.reader(thread_id)
    steps = steps_of(reader.acts())
    reader.close()
    await world.close()
    return steps


def steps_of(acts: Sequence[Act]) -> list[float]:
    """From each model act's start to the next one's of the same turn, in milliseconds."""
    models = [act for act in acts if act.kind == "model"]
    return [
        (after.started_at_us - before.started_at_us) / 1000
        for before, after in pairwise(models)
        if before.key.split("/")[0] == after.key.split("/")[0]
    ]


async def whole_steps(folder: Path) -> tuple[list[float], list[float]]:
    """Milliseconds of each step of a whole project, and of each tool call within them."""
    for name, text in FILES.items():
        path = folder / "agents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    service = Service(folder, trusted=lambda: True, test_mode=True)
    await service.start()
    try:
        thread_id = (await service.create_thread(CreateThread(agent_name="bench"))).id
        for _ in range(TURNS):
            await service.send_message(thread_id, SendMessage(content="go"))
            await service.wait_until_rest(thread_id)
        steps = steps_of(await service.list_acts(thread_id))
        return steps, await tool_times(service, thread_id)
    finally:
        await service.close()


async def tool_times(service: Service, thread_id: ThreadId) -> list[float]:
    """How long each tool call took, the way to the code host and back included."""
    taken: list[float] = []
    after: LogId | None = None
    while True:
        query = LogQuery(kinds=("tool",), after_id=after, limit=1000)
        page = await service.list_logs(thread_id, query)
        taken += [row.duration_ms for row in page.rows if row.duration_ms is not None]
        if not page.has_more:
            return taken
        after = page.rows[-1].id


def raw_two_commits_ms(folder: Path) -> float:
    """Two commits with the log flushed at each, over four tables like ours; nothing else."""
    connection: Any = apsw.Connection(str(folder / "raw.db"))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("PRAGMA synchronous=FULL")
    for name in ("messages", "logs", "ledger"):
        connection.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, body TEXT)")
    connection.execute("CREATE TABLE acts (key TEXT PRIMARY KEY, status TEXT, result TEXT)")
    body = "x" * 400
    number = 0

    def two_commits() -> None:
        nonlocal number
        number += 1
        for act in ("model", "tool"):
            connection.execute("BEGIN IMMEDIATE")
            for name in ("messages", "logs", "ledger"):
                connection.execute(f"INSERT INTO {name} (body) VALUES (?)", (body,))
            connection.execute(
                "INSERT INTO acts VALUES (?, 'started', ?)", (f"{number}/{act}", body)
            )
            connection.execute("COMMIT")

    taken = median_ms(two_commits, times=500, warm_up=20)
    connection.close()
    return taken


def fdatasync_ms(folder: Path) -> float:
    """The disk's own: 4 KiB more in a file, and flushed."""
    file = os.open(folder / "sync", os.O_CREAT | os.O_WRONLY)

    def flush() -> None:
        os.write(file, b"x" * 4096)
        os.fdatasync(file)

    taken = median_ms(flush, times=200, warm_up=10)
    os.close(file)
    return taken


def langgraph() -> dict[str, float] | None:
    """The peer's own numbers, in an environment of its own; None when it cannot be had."""
    python = PEERS / "bin" / "python"
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(PEERS)], check=True)
            wanted = str(HERE / "peers" / "requirements.txt")
            subprocess.run(
                [str(python), "-m", "pip", "install", "--quiet", "--requirement", wanted],
                check=True,
                capture_output=True,
            )
        script = str(HERE / "peers" / "langgraph_step.py")
        ended = subprocess.run(
            [str(python), script, "300"], check=True, capture_output=True, text=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"LangGraph is not here to compare with: {error}", file=sys.stderr)
        return None
    return json.loads(ended.stdout)


def main() -> None:
    """Measure and print a table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        raw = raw_two_commits_ms(folder)
        sync = fdatasync_ms(folder)
        steps = asyncio.run(engine_steps(folder / "engine"))
        whole, tools = asyncio.run(whole_steps(folder / "project"))
    peer = langgraph()
    step = statistics.median(steps)
    first, last = statistics.median(steps[:20]), statistics.median(steps[-20:])
    rows: list[Sequence[str]] = [
        ["fdatasync of 4 KiB", f"{sync:.2f}", "", ""],
        ["raw: two WAL-FULL commits", f"{raw:.2f}", "", f"{raw / sync:.1f} × fdatasync"],
        ["our step", f"{step:.2f}", "≤ 2 × raw", f"{step / raw:.2f} × raw"],
        [f"last 20 of {len(steps):,} steps", f"{last:.2f}", "≤ 1.2 × first 20",
         f"{last / first:.2f} × first 20 ({first:.2f})"],
        ["a tool call in the code host", f"{statistics.median(tools):.2f}", "", ""],
        ["a whole step: HTTP decoded, tool in the code host",
         f"{statistics.median(whole):.2f}", "", f"{statistics.median(whole) / raw:.2f} × raw"],
    ]  # fmt: skip
    if peer is not None:
        rows.append(
            ["LangGraph SqliteSaver, sync, two nodes", f"{peer['median_ms']:.2f}", "slower",
             f"{peer['median_ms'] / step:.2f} × our step"]
        )  # fmt: skip
    print(table(["what", "ms (median)", "target", "beside"], rows))


if __name__ == "__main__":
    main()
