"""Thousands of small projects by chance, each cut off at one commit and gone on with.

No process dies here: from the cut on, nothing more is written, which is what a power cut at that
commit leaves, and costs milliseconds where a killed process costs a second. The engine, the files
and the recovery are the real ones; models, tools and handlers are functions of what they are
asked, so that a run that was cut can be compared with one that was not.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

import apsw

from benchmarks.campaign_kills import UNKNOWN, file_troubles
from sa_builder.errors import KnownError
from sa_builder.providers.base import (
    Chunk,
    ContentDelta,
    Exchange,
    ModelAnswer,
    ModelRequest,
    ProposedCall,
    Provider,
)
from sa_builder.runtime.frame import TurnFrame
from sa_builder.runtime.view import ThreadView
from sa_builder.spec import Relationship, SessionTool, Side
from sa_builder.spec.definitions import AnyDefinition, ModelDefinition, ToolResult
from sa_builder.spec.threads import MessageQuery, ThreadQuery
from sa_builder.store import thread_index
from sa_builder.store.sqlite import Sqlite, Value
from sa_builder.util.ids import MessageId, ThreadId
from tests.runtime.shapes import agent, handler, model, prompt, tool
from tests.runtime.world import RawJson, State, World

Moment = Literal["before", "after"]
SEEDS_APART = 1_000_000
TOOLS = ("look", "again", "pay", "fails")
SCHEMA: dict[str, Any] = {
    "type": "object", "properties": {"request": {"type": "string"}}, "required": ["request"],
}  # fmt: skip


class Cut:
    """Stands in the way of every COMMIT of this process; from the cut on none is let through."""

    def __init__(self) -> None:
        self._run = Sqlite.run
        self._flush_s = thread_index.FLUSH_S
        self._lock = threading.Lock()
        self.reset(0, "before")

    def reset(self, at: int, moment: Moment) -> None:
        """Count anew; cut at that commit, or never for 0."""
        self.count = 0
        self.is_dead = False
        self._at = at
        self._moment: Moment = moment

    def __enter__(self) -> Cut:
        cut, run = self, self._run

        def counted(self_: Sqlite, sql: str, values: Sequence[Value] = ()) -> None:
            if sql != "COMMIT":
                if not sql.startswith("PRAGMA synchronous"):  # nothing dies: no flush is needed
                    run(self_, sql, values)
                return
            with cut._lock:
                cut._before()
                run(self_, sql, values)
                cut._after()

        setattr(Sqlite, "run", counted)  # noqa: B010
        thread_index.FLUSH_S = 0.0  # the list is written as often as it can be
        return self

    def __exit__(self, *_: object) -> None:
        thread_index.FLUSH_S = self._flush_s
        setattr(Sqlite, "run", self._run)  # noqa: B010

    def _before(self) -> None:
        self.count += 1
        if self.count == self._at and self._moment == "before":
            self.is_dead = True
        if self.is_dead:
            raise apsw.IOError("cut")

    def _after(self) -> None:
        if self.count == self._at:
            self.is_dead = True
            raise apsw.IOError("cut")


@dataclass(frozen=True, slots=True)
class Program:
    """A project by chance, and what is said to it."""

    seed: int
    has_handler: bool
    child: Literal["none", "blocking", "implicit"]
    child_ends: Literal["session tool", "reply to a handler"]
    messages: int
    max_steps: int | None

    @classmethod
    def of(cls, seed: int) -> Program:
        chance = random.Random(seed)
        return cls(
            seed=seed,
            has_handler=chance.random() < 0.3,
            child=chance.choice(("none", "blocking", "blocking", "implicit")),
            child_ends=chance.choice(("session tool", "reply to a handler")),
            messages=chance.randint(1, 3),
            max_steps=chance.choice((None, None, 2, 4)),
        )

    @property
    def is_comparable(self) -> bool:
        """Whether nothing in it depends on what comes first by chance."""
        return self.child != "implicit"

    def definitions(self) -> list[AnyDefinition]:
        """What the files of the project would say."""
        children: list[Relationship] = []
        if self.child != "none":
            children = [
                Relationship(
                    agent="worker",
                    blocking=self.child == "blocking",
                    init_user_message_property="request",
                )
            ]
        return [
            agent(
                "top",
                Side(prompt="boss", subagents=children, max_steps=self.max_steps),
                Side(handler="listen") if self.has_handler else Side(human=True),
            ),
            agent(
                "worker",
                Side(prompt="work", session_stop=SessionTool(name="submit")),
                Side(handler="finish"),
                expose_as_tool=True,
                tool_description="x",
                max_session_turns=6,
            ),
            prompt("boss", *TOOLS, model="p"),
            prompt("work", *TOOLS, "submit", model="c", required_schema=SCHEMA),
            model("p"),
            model("c"),
            tool("look", side_effects="none"),
            tool("again", idempotency="idempotent"),
            tool("pay"),
            tool("fails"),
            tool("submit", side_effects="none"),
            handler("listen"),
            handler("finish"),
        ]

    def answer(self, name: str, number: int) -> Sequence[tuple[str, Mapping[str, Any]]] | str:
        """The nth answer of a model in its thread: calls of tools, or a text."""
        chance = random.Random(f"{self.seed}/{name}/{number}")
        is_child = name == "c"
        if is_child and number >= 2:
            if self.child_ends == "session tool":
                return [("submit", {})]
            return f"{name} says {number}"
        if number >= 8 or chance.random() < 0.4:
            return f"{name} says {number}"
        proposed: list[tuple[str, Mapping[str, Any]]] = [
            (chance.choice(TOOLS), {}) for _ in range(chance.randint(1, 3))
        ]
        if not is_child and self.child != "none" and chance.random() < 0.5:
            arguments = {"request": f"do {number}"}
            create = {"relationship": "worker", "name": f"n{number}", "arguments": arguments}
            proposed.insert(chance.randint(0, len(proposed)), ("subagent_create", create))
        return proposed


class _Scripted:
    name = "scripted"

    def __init__(self, world: CutWorld, key: str) -> None:
        self._world = world
        self._key = key

    async def stream(self, request: ModelRequest, exchange: Exchange) -> AsyncIterator[Chunk]:
        self._world.model_calls[self._key] += 1
        self._world.check_pairs(request.messages)
        exchange.request_body = RawJson.text(list(request.messages)).encode()
        number = sum(1 for one in request.messages if one["role"] == "assistant")
        answer = self._world.program.answer(request.model, number)
        if isinstance(answer, str):
            yield ContentDelta(text=answer)
            yield ModelAnswer(content=answer)
            return
        yield ModelAnswer(
            content=None,
            finish_reason="tool_calls",
            tool_calls=[
                ProposedCall(id="same", name=name, arguments_json=RawJson.text(given))
                for name, given in answer
            ],
        )


class CutWorld(World):
    """A world that plays a program and counts its deeds."""

    def __init__(self, root: Path, program: Program) -> None:
        super().__init__(root, program.definitions())
        self.program = program
        self.model_calls: Counter[str] = Counter()
        """Thread/turn/step → requests."""
        self.runs: Counter[str] = Counter()
        """Thread:act → runs of a tool that may not be repeated."""
        self.heard: Counter[str] = Counter()
        """Message → calls of handlers with it."""
        self.unpaired = 0
        self.host.code |= {
            "look": self._harmless, "again": self._harmless, "submit": self._harmless,
            "pay": self._pay, "fails": self._fails, "listen": self._listen, "finish": self._finish,
        }  # fmt: skip

    def provider(self, model: ModelDefinition, view: ThreadView, frame: TurnFrame) -> Provider:
        assert view.turn is not None
        return _Scripted(self, f"{view.id}/{view.turn.turn}/{view.turn.step}")

    def check_pairs(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Count the calls that stand without a result after them."""
        called = [call["id"] for one in messages for call in one.get("tool_calls", ())]
        given = [one["tool_call_id"] for one in messages if one["role"] == "tool"]
        self.unpaired += called != given

    async def _harmless(self, state: State, given: object) -> str:
        return "done"

    async def _pay(self, state: State, given: object) -> str:
        self.runs[state.call.call_id.rsplit(":", 1)[0]] += 1
        await state("set_value", key="paid", value=1)
        return "paid"

    async def _fails(self, state: State, given: object) -> ToolResult:
        self.runs[state.call.call_id.rsplit(":", 1)[0]] += 1
        return ToolResult(status="error", error="it failed")

    async def _listen(self, state: State, message: Any) -> None:
        self.heard[message.id] += 1

    async def _finish(self, state: State, message: Any) -> None:
        self.heard[message.id] += 1
        if not message.tool_calls:
            await state("stop_session", result=message.content)


@dataclass(slots=True)
class Tally:
    """What the campaign counted."""

    programs: int = 0
    cuts: int = 0
    same: int = 0
    """Endings equal to the uncut run's."""
    told: int = 0
    """Equal but for a result that says its outcome is unknown."""
    kept: int = 0
    """Not comparable, because order is by chance or a handler was cut: in order nevertheless."""
    parked: int = 0
    """Of these, with a thread that visibly waits."""
    commits: int = 0
    troubles: list[str] = field(default_factory=list[str])


Lines = dict[str, list[str]]


async def play(world: CutWorld, thread: ThreadId | None) -> ThreadId:
    """Say everything that was not said yet; each message once, whatever was cut."""
    if thread is None:
        listed = (await world.engine.index.page(ThreadQuery())).rows
        thread = listed[0].id if listed else await world.create("top")
    await world.rest(thread)
    for number in range(world.program.messages):
        name = MessageId(f"said-{number}")
        if all(one.id != name for one in world.messages(thread)):
            await world.send(thread, f"message {number}", id=name)
            await world.rest(thread)
    return thread


async def uncut(program: Program, cut: Cut) -> tuple[int, Lines]:
    """How many commits a run makes that nobody cuts, and how it ends."""
    with tempfile.TemporaryDirectory() as name:
        world = CutWorld(Path(name), program)
        cut.reset(0, "before")
        await world.start()
        await play(world, None)
        await world.close()
        return cut.count, lines_of(world)


async def cut_once(
    program: Program, cut: Cut, at: int, moment: Moment, wanted: Lines, tally: Tally
) -> None:
    """Cut a run at one commit, half of them again in what goes on, and judge what is there then."""
    chance = random.Random(f"{program.seed}/{at}/{moment}")
    again: Moment = chance.choice(("before", "after"))
    places: list[tuple[int, Moment]] = [(at, moment)]
    if chance.random() < 0.5:
        places.append((chance.randint(1, 12), again))
    recorded: dict[str, int] = {}
    made_again: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        world = CutWorld(Path(name), program)
        whole: list[tuple[int, Moment]] = [*places, (0, moment)]
        for place in whole:
            cut.reset(*place)
            with contextlib.suppress(KnownError):  # who asks is told; it is not taken
                await world.restart()
                await play(world, None)
            if place[0]:
                tally.cuts += cut.is_dead
            elif cut.is_dead:
                raise RuntimeError("The last run is not to be cut.")
            await world.close()
            made_again += [key for key, n in recorded.items() if world.model_calls[key] != n]
            recorded = {key: world.model_calls[key] for key in done_models(world)}
        words = f"{program.seed}: {places}"
        judge(world, tally, wanted, made_again, len(places), words)


def judge(
    world: CutWorld, tally: Tally, wanted: Lines, made_again: Sequence[str],
    most_cuts: int, words: str,
) -> None:  # fmt: skip
    """Say what is wrong, or which kind of right it is."""
    troubles = [
        trouble
        for path in world.folder.threads.glob("*/thread.db")
        if is_thread(path)
        for trouble in file_troubles(path)
    ]
    troubles += [f"{key} was recorded and made again" for key in made_again]
    troubles += [f"{key} ran {n} times" for key, n in world.runs.items() if n > 1]
    troubles += [f"{key} was delivered {n} times" for key, n in world.heard.items() if n > 1]
    troubles += [
        f"{key} was made {n} times" for key, n in world.model_calls.items() if n > 1 + most_cuts
    ]
    if world.unpaired:
        troubles.append(f"{world.unpaired} requests with unpaired calls")
    lost_delivery = handler_was_cut(world)
    lines = lines_of(world)
    is_parked = any(": parked" in name for name in lines)
    if lost_delivery and is_parked:  # what is said to a thread that waits is queued
        troubles = [one for one in troubles if "queued rows" not in one]
        lines["top"] = lines.get("top") or lines["top: parked"]
    said = [line for line in lines.get("top", ()) if line.startswith("b user said-")]
    if len(said) != world.program.messages:
        troubles.append(f"{len(said)} of {world.program.messages} messages are there")
    if lost_delivery or not world.program.is_comparable:
        tally.kept += 1
        tally.parked += is_parked
        if is_parked and not lost_delivery:
            troubles.append("a thread is parked though nothing was lost")
    elif lines == wanted:
        tally.same += 1
    elif masked(lines) == masked(wanted, like=lines):
        tally.told += 1
    else:
        troubles.append(f"another ending: {lines} instead of {wanted}")
    tally.troubles += [f"{words}: {trouble}" for trouble in troubles]


def is_thread(path: Path) -> bool:
    """Whether a file holds a thread; one that was cut off while it was made holds none."""
    file = Sqlite(path)
    found = bool(file.version and file.rows("SELECT 1 FROM thread"))
    file.close()
    return found


def done_models(world: CutWorld) -> list[str]:
    """The model acts that the journals hold as done."""
    found: list[str] = []
    for path in world.folder.threads.glob("*/thread.db"):
        if is_thread(path):
            file = Sqlite(path)
            acts = file.rows("SELECT turn, step FROM acts WHERE kind='model' AND status='done'")
            found += [f"{path.parent.name}/{act['turn']}/{act['step']}" for act in acts]
            file.close()
    return found


def handler_was_cut(world: CutWorld) -> bool:
    """Whether a delivery was cut off, which is not made again."""
    for path in world.folder.threads.glob("*/thread.db"):
        if is_thread(path):
            file = Sqlite(path)
            cut = file.rows("SELECT 1 FROM acts WHERE kind='handler' AND status='failed'")
            file.close()
            if cut:
                return True
    return False


def lines_of(world: CutWorld) -> Lines:
    """Agent, and for children their request → state and messages, ids left out."""
    found: Lines = {}
    for path in world.folder.threads.glob("*/thread.db"):
        if not is_thread(path):
            continue
        thread = ThreadId(path.parent.name)
        reader = world.reader(thread)
        summary = reader.details().summary
        messages = reader.messages(MessageQuery(limit=1000)).messages
        reader.close()
        name = summary.agent_name
        if summary.parent_id is not None:
            name += f" {summary.instance_name} of {messages[0].content if messages else ''}"
        lines = [f"{summary.state} {summary.state_reason}"]
        for one in messages:
            known = one.id if one.id.startswith("said-") else ""
            called = [(call.id, call.name, call.arguments_json) for call in one.tool_calls]
            content = (one.content or "") if "reference" not in (one.content or "") else "…"
            lines.append(
                f"{one.side} {one.role} {known} {one.turn}/{one.step} {one.status} {content}"
                f" {called if called else ''}"
            )
        if summary.state == "parked":
            name += ": parked"
        while name in found:
            name += "'"
        found[name] = lines
    return found


def masked(lines: Lines, like: Lines | None = None) -> Lines:
    """The lines without the results of calls whose outcome is unknown."""
    other = like or lines
    result: Lines = {}
    for name, own in lines.items():
        theirs = other.get(name, [])
        result[name] = [
            "unknown" if place < len(theirs) and UNKNOWN in theirs[place] else line
            for place, line in enumerate(own)
        ]
    return result


async def campaign(seed: int, cuts: int) -> Tally:
    """Play programs from a seed on until there were so many cuts."""
    tally = Tally()
    with Cut() as cut:
        while tally.cuts < cuts:
            program = Program.of(seed + tally.programs)
            commits, wanted = await uncut(program, cut)
            tally.programs += 1
            tally.commits += commits
            for at in range(1, commits + 1):
                for moment in ("before", "after"):
                    if tally.cuts < cuts:
                        await cut_once(program, cut, at, moment, wanted, tally)
    return tally


def run(seed: int, cuts: int) -> Tally:
    """The campaign on a loop of its own."""
    return asyncio.run(campaign(seed, cuts))


def run_on_all_cores(seed: int, cuts: int) -> Tally:
    """The same in a process a core, each from a seed far from the others'."""
    cores = os.cpu_count() or 1
    share = -(-cuts // cores)
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        parts = list(pool.map(run, [seed + SEEDS_APART * n for n in range(cores)], [share] * cores))
    whole = Tally()
    for part in parts:
        for one in fields(Tally):
            setattr(whole, one.name, getattr(whole, one.name) + getattr(part, one.name))
    return whole
