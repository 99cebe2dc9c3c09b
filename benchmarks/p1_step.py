"""P1: what a step costs: a model act and a tool act, an instant model, 1,000 steps in one thread.

Ours is the whole of it: decide, request, decoding, journal, messages, log rows, events. The tool
runs in the code host, whose round trip is told apart and taken off. Beside it: the two commits
alone, raw, over four tables with the log flushed at each; the disk's own fdatasync; LangGraph with
its SqliteSaver, when it can be installed.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw

from benchmarks.measure import median_ms, table
from sa_builder.service.service import Service
from sa_builder.spec.logs import LogQuery
from sa_builder.spec.threads import CreateThread, SendMessage
from sa_builder.util.ids import LogId, ThreadId

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


async def our_steps(folder: Path) -> tuple[list[float], list[float]]:
    """Milliseconds of each step, and of each tool call within them."""
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
        acts = await service.list_acts(thread_id)
        begins = [act.started_at_us for act in acts if act.kind == "model"]
        turns = [str(act.key).split("/")[0] for act in acts if act.kind == "model"]
        steps = [
            (after - before) / 1000
            for before, after, turn, next_turn in zip(
                begins, begins[1:], turns, turns[1:], strict=False
            )
            if turn == next_turn
        ]
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
        steps, tools = asyncio.run(our_steps(folder / "project"))
        raw = raw_two_commits_ms(folder)
        sync = fdatasync_ms(folder)
    peer = langgraph()
    step, tool = statistics.median(steps), statistics.median(tools)
    first, last = statistics.median(steps[:20]), statistics.median(steps[-20:])
    rows: list[Sequence[str]] = [
        ["fdatasync of 4 KiB", f"{sync:.2f}", "", ""],
        ["raw: two WAL-FULL commits", f"{raw:.2f}", "", f"{raw / sync:.1f} × fdatasync"],
        ["tool call, code host's round trip included", f"{tool:.2f}", "", ""],
        ["our step without the tool call", f"{step - tool:.2f}", "≤ 2 × raw",
         f"{(step - tool) / raw:.2f} × raw"],
        ["our step, all of it", f"{step:.2f}", "", f"{step / raw:.2f} × raw"],
        [f"last 20 of {len(steps):,} steps", f"{last:.2f}", "≤ 1.2 × first 20",
         f"{last / first:.2f} × first 20 ({first:.2f})"],
    ]  # fmt: skip
    if peer is not None:
        rows.append(
            ["LangGraph SqliteSaver, sync, two nodes", f"{peer['median_ms']:.2f}", "slower",
             f"{peer['median_ms'] / step:.2f} × our step"]
        )  # fmt: skip
    print(table(["what", "ms (median)", "target", "beside"], rows))


if __name__ == "__main__":
    main()
