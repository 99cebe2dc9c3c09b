"""kill -9 at every commit of the sample's triage, and in the midst of each of its deeds.

Each kill is a real process that ends by SIGKILL and another that goes on with what it left, over
HTTP to a model and a GitHub on loopback that count. Then the rows are compared with those of a
run that nobody killed.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmarks.kill_worker import Fault, Moment, work
from sa_builder.spec.messages import Message
from sa_builder.spec.threads import MessageQuery
from sa_builder.store.sqlite import Sqlite
from sa_builder.store.thread_reader import ThreadReader
from tests.end_to_end.model_server import ModelServer

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 60
GITHUB = "https://api.github.com"
UNKNOWN = "whether it took effect is unknown"
LABEL = "POST /api.github.com/repos/acme/widgets/issues/42/labels"
_SPAWN = multiprocessing.get_context("forkserver")
_SPAWN.set_forkserver_preload(["benchmarks.kill_worker"])


@dataclass(frozen=True, slots=True)
class Story:
    """What is asked of the sample, and with which of its tools changed."""

    name: str
    question: str
    is_harmful: bool
    """Whether the tool that labels may not be run twice."""
    deeds: Sequence[str]
    """The calls on the wire, by the server's names for them."""


TRIAGE = ("parent 0", "child 0", "GET /api.github.com/repos/acme/widgets/issues/42", "child 1",
          LABEL, "child 2", "parent 1")  # fmt: skip
REPLY = ("parent 0", "child 0", "GET /api.github.com/repos/acme/widgets/issues/404", "child 1",
         "parent 1")  # fmt: skip
STORIES = (
    Story("triage", "Triage issue 42 in acme/widgets", False, TRIAGE),
    Story("triage, labels only once", "Triage issue 42 in acme/widgets", True, TRIAGE),
    Story("reply through a handler", "Triage issue 404 in acme/widgets", False, REPLY),
)


@dataclass(frozen=True, slots=True)
class Kill:
    """One scenario: the story, and where its processes end."""

    story: Story
    faults: tuple[Fault, ...] = ()
    """Of the first process, of the one that goes on, and so on."""
    deed: str | None = None
    """Instead of a commit: the call on the wire in whose midst the first process ends."""

    def words(self) -> str:
        if self.deed is not None:
            return f"{self.story.name}: in {self.deed}"
        places = ", then ".join(f"{fault.moment} commit {fault.commit}" for fault in self.faults)
        return f"{self.story.name}: {places}"


@dataclass(slots=True)
class Ending:
    """What the files say when everything rests."""

    threads: dict[str, tuple[str, list[str]]] = field(
        default_factory=dict[str, tuple[str, list[str]]]
    )
    """Agent → its thread's state and messages, with agents' names for ids."""
    troubles: list[str] = field(default_factory=list[str])


Verdict = Literal["same", "told", "parked"]
"""same: the ending of the unkilled run. told: the model was told that an outcome is unknown.
parked: a handler was cut off, which is not called again, and the parent says what it waits for."""


@dataclass(slots=True)
class Tally:
    """What a campaign counted."""

    kills: int = 0
    verdicts: Counter[Verdict] = field(default_factory=Counter[Verdict])
    by_story: Counter[str] = field(default_factory=Counter[str])
    repeated_in_flight: int = 0
    """Calls on the wire that were made twice because they were cut off."""
    troubles: list[str] = field(default_factory=list[str])


class Stage:
    """Runs scenarios on copies of the sample."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.commits = 0
        self.undisturbed = Ending()

    def prepare(self) -> None:
        """Run the story once with nobody killing it."""
        with self._scene() as (project, server):
            self.commits = _run(project, self.story, server, None)
            self.undisturbed = read_ending(project)
            missing = [deed for deed in self.story.deeds if server.calls[deed] != 1]
            if missing or self.undisturbed.troubles:
                raise RuntimeError(f"{self.story.name}: {missing} {self.undisturbed.troubles}")

    def kills(self) -> Iterator[Kill]:
        """Before and after every commit, and in the midst of every deed."""
        moments: tuple[Moment, Moment] = ("before", "after")
        for commit in range(1, self.commits + 1):
            for moment in moments:
                yield Kill(self.story, (Fault(commit, moment),))
        for deed in self.story.deeds:
            yield Kill(self.story, deed=deed)

    def twice(self, chance: random.Random) -> Kill:
        """Two kills at places by chance: in the run, and in what goes on with it."""
        first = Fault(chance.randint(1, self.commits), chance.choice(("before", "after")))
        second = Fault(chance.randint(1, 12), chance.choice(("before", "after")))
        return Kill(self.story, (first, second))

    def play(self, kill: Kill) -> tuple[Verdict, int, list[str]]:
        """One scenario: its verdict, how many calls were repeated, and what is wrong."""
        with self._scene() as (project, server):
            done: Counter[str] = Counter()
            if kill.deed is not None:
                server.held = kill.deed
                _run(project, self.story, server, None, is_held=True)
                server.held = None
                done = done_calls(project)
            for fault in kill.faults:
                _run(project, self.story, server, fault)
                done = done_calls(project)
            _run(project, self.story, server, None)
            ending = read_ending(project)
            troubles = list(ending.troubles)
            cuts = len(kill.faults) or 1
            verdict = self._compare(ending, troubles)
            repeated = sum(count - 1 for count in server.calls.values() if count > 1)
            for name, count in server.calls.items():
                if name in done and count > 1 + (cuts - 1):
                    troubles.append(f"{name} was recorded and made {count} times")
                if count > 1 + cuts:
                    troubles.append(f"{name} was made {count} times")
            if self.story.is_harmful and server.calls[LABEL] > 1:
                troubles.append("a tool that may not be repeated ran twice")
            return verdict, repeated, troubles

    def _compare(self, ending: Ending, troubles: list[str]) -> Verdict:
        if ending.threads == self.undisturbed.threads:
            return "same"
        texts = [line for _, lines in ending.threads.values() for line in lines]
        if self.story.is_harmful and any(UNKNOWN in line for line in texts):
            shapes = {name: (state, len(lines)) for name, (state, lines) in ending.threads.items()}
            wanted = {
                name: (state, len(lines))
                for name, (state, lines) in self.undisturbed.threads.items()
            }
            if shapes == wanted:
                return "told"
        parent = ending.threads.get("repo_assistant", ("", []))
        if self.story.deeds is REPLY and parent[0] == "parked":
            return "parked"
        troubles.append(f"another ending: {json.dumps(ending.threads, ensure_ascii=False)}")
        return "same"

    @contextmanager
    def _scene(self) -> Generator[tuple[Path, ModelServer]]:
        with tempfile.TemporaryDirectory() as name:
            project = Path(name)
            shutil.copytree(
                ROOT / "agents", project / "agents", ignore=shutil.ignore_patterns("__pycache__")
            )
            extra = project / "agents" / "mocks" / "00_unknown.json"
            extra.write_text(_told_mock(project), encoding="utf-8")
            server = ModelServer(project / "agents" / "mocks")
            try:
                for tool in (project / "agents" / "tools").glob("*_github_issue.py"):
                    text = tool.read_text(encoding="utf-8").replace(
                        GITHUB, f"{server.url}/api.github.com"
                    )
                    if self.story.is_harmful and tool.stem == "label_github_issue":
                        text = text.replace('idempotency="idempotent"', 'idempotency="none"')
                    tool.write_text(text, encoding="utf-8")
                (project / ".env").write_text(
                    f"OPENROUTER_BASE_URL={server.url}/v1\nGITHUB_TOKEN=for-loopback\n",
                    encoding="utf-8",
                )
                yield project, server
            finally:
                server.close()


def _told_mock(project: Path) -> str:
    """The model's answer to an unknown outcome: what it says once the labels are there."""
    path = project / "agents" / "mocks" / "30_issue_triager.json"
    mocks: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    one = next(m for m in mocks if m["match"].get("last_message_contains") == "Added the labels")
    one["match"]["last_message_contains"] = UNKNOWN
    return json.dumps([one])


def _run(
    project: Path, story: Story, server: ModelServer, fault: Fault | None, *, is_held: bool = False
) -> int:
    """Run one process to its end; returns how many commits it made, 0 when it was killed."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = _SPAWN.Process(target=work, args=(project, story.question, fault, theirs))
    process.start()
    theirs.close()
    try:
        if is_held:
            if not server.is_holding.wait(LIMIT_S):
                raise RuntimeError(f"{server.held} was never asked")
            process.kill()
        process.join(LIMIT_S)
        if process.is_alive():
            raise RuntimeError("the process does not end")
        return int(ours.recv()) if ours.poll() else 0
    except EOFError:
        return 0
    finally:
        if process.is_alive():
            process.kill()
            process.join()
        ours.close()


def _files(project: Path) -> Iterator[Path]:
    """The files that hold a thread; one that was cut off while it was made holds none."""
    for path in project.glob(".sa_builder/threads/*/thread.db"):
        file = Sqlite(path)
        if file.version and file.rows("SELECT 1 FROM thread"):
            yield path
        file.close()


def done_calls(project: Path) -> Counter[str]:
    """The model calls that the journal holds as done, by the server's names for them."""
    found: Counter[str] = Counter()
    for path in _files(project):
        file = Sqlite(path)
        who = file.rows("SELECT parent_id FROM thread")
        name = "child" if who[0]["parent_id"] else "parent"
        for act in file.rows("SELECT step FROM acts WHERE kind='model' AND status='done'"):
            found[f"{name} {act['step'] - 1}"] += 1
        file.close()
    return found


def read_ending(project: Path) -> Ending:
    """What the threads say, and whether their files are in order."""
    ending = Ending()
    agents: dict[str, str] = {}
    told: dict[str, tuple[str, Sequence[Message]]] = {}
    for path in _files(project):
        reader = ThreadReader(path)
        summary = reader.details().summary
        agents[reader.thread_id] = summary.agent_name
        messages = reader.messages(MessageQuery(limit=1000)).messages
        told[summary.agent_name] = (summary.state, messages)
        reader.close()
        ending.troubles += file_troubles(path)
    for agent, (state, messages) in told.items():
        lines: list[str] = []
        for one in messages:
            called = [(call.name, call.arguments_json) for call in one.tool_calls]
            line = f"{one.side} {one.turn} {one.step} {one.role} {one.status} {one.name}"
            line += f" {one.content} {called}"
            for thread_id, name in agents.items():
                line = line.replace(thread_id, name)
            lines.append(line)
        ending.threads[agent] = (state, lines)
    return ending


def file_troubles(path: Path) -> list[str]:
    """What is not in order in a thread's file at rest."""
    file = Sqlite(path)
    troubles: list[str] = []
    checked = [row["integrity_check"] for row in file.rows("PRAGMA integrity_check")]
    if checked != ["ok"]:
        troubles.append(f"integrity_check: {checked[0]}")
    questions = {
        "outbox rows": "SELECT count(*) AS n FROM outbox",
        "queued rows": "SELECT count(*) AS n FROM queue",
        "open log rows": "SELECT count(*) AS n FROM logs WHERE is_complete=0 AND status<>'parked'",
        "messages delivered twice":
            "SELECT count(*) AS n FROM (SELECT 1 FROM acts WHERE kind='handler'"
            " GROUP BY json_extract(input_json, '$.message_id') HAVING count(*) > 1)",
        "results of one call more than once":
            "SELECT count(*) AS n FROM (SELECT 1 FROM messages WHERE role='tool'"
            " GROUP BY tool_call_id HAVING count(*) > 1)",
    }  # fmt: skip
    for name, question in questions.items():
        count = file.rows(question)[0]["n"]
        if count:
            troubles.append(f"{count} {name}")
    file.close()
    return troubles


def play_all(kills: Sequence[tuple[Stage, Kill]]) -> Tally:
    """Play scenarios, as many at once as there are cores."""
    tally = Tally()

    def play(one: tuple[Stage, Kill]) -> tuple[Kill, Verdict, int, list[str]]:
        stage, kill = one
        try:
            return (kill, *stage.play(kill))
        except RuntimeError as error:
            return kill, "same", 0, [str(error)]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for kill, verdict, repeated, troubles in pool.map(play, kills):
            tally.kills += len(kill.faults) or 1
            tally.by_story[kill.story.name] += 1
            tally.repeated_in_flight += repeated
            if troubles:
                tally.troubles += [f"{kill.words()}: {trouble}" for trouble in troubles]
            else:
                tally.verdicts[verdict] += 1
    return tally
