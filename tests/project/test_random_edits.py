"""Random sequences of edits: what is asked is what is read, and undo restores every byte."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sa_builder.errors import EditRefused
from sa_builder.project.project import Project
from sa_builder.project.shapes import Edit, FileChange
from sa_builder.project.source import Source
from tests.project.conftest import MakeProject
from tests.project.corpus import AGENTS

ROUNDS = int(os.environ.get("SA_EDIT_ROUNDS", "2"))
"""Sequences for each file and encoding; `make prove` asks for many more."""

STEPS = 10
WORDS = [
    "front",
    "x'y",
    'say "hi"',
    "naïve — 漢",
    "",
    "two\nrows",
    "back\\slash",
    "#no",
    '"""',
    "a\tb",
]
ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "lf": lambda text: text.encode(),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "cr": lambda text: text.replace("\n", "\r").encode(),
    "bom": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "latin1": lambda text: b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + text.encode("latin-1"),
    "no_end": lambda text: text.rstrip("\n").encode(),
}


def is_outside_untouched(change: FileChange) -> bool:
    """Whether the text outside the told spans is the former text, in order and whole."""
    path = change.path
    before = Source(path, change.before or b"").text
    after = Source(path, change.after or b"").text
    place, pieces = 0, list[str]()
    for span in change.spans:
        pieces.append(after[place : span.start_char])
        place = span.end_char
    pieces.append(after[place:])
    if not (before.startswith(pieces[0]) and before.endswith(pieces[-1])):
        return False
    at = 0
    for piece in pieces:
        at = before.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def random_edit(project: Project, chance: random.Random) -> Edit | None:
    side = chance.choice(["agents/desk.side_a", "agents/desk.side_b"])
    word = chance.choice(WORDS)
    deeds: list[Callable[[], Any]] = [
        lambda: project.connect(side, chance.choice(["prompts/front", "prompts/sorter"])),
        lambda: project.connect(side, "handlers/pipe"),
        lambda: project.connect(side, "human"),
        lambda: project.connect(side, chance.choice(["agents/triage", "agents/mailer"])),
        lambda: project.disconnect(side, chance.choice(["agents/triage", "agents/mailer"])),
        lambda: project.disconnect(
            side, chance.choice(["prompts/front", "handlers/pipe", "human"])
        ),
        lambda: project.set("agents/desk.description", word),
        lambda: project.set("agents/desk.max_session_turns", chance.randint(1, 99)),
        lambda: project.set("agents/desk.expose_as_tool", chance.random() < 0.5),
        lambda: project.set("agents/desk.env", {"REGION": word, "B": "2"}),
        lambda: project.set("agents/desk.hooks", chance.sample(["a", "b", "c", word], 3)),
        lambda: project.set(f"{side}.label", word),
        lambda: project.set(f"{side}.session_stop", {"name": "done", "message_property": word}),
        lambda: project.set(
            f"{side}.subagents", [{"agent": each} for each in chance.sample(WORDS, 3)]
        ),
        lambda: project.set(f"{side}.subagents[0].blocking", chance.random() < 0.5),
        lambda: project.set(f"{side}.subagents[1].as_", word),
        lambda: project.unset(f"{side}.subagents[{chance.randint(0, 2)}]"),
        lambda: project.unset(f"{side}.subagents"),
        lambda: project.unset("agents/desk.description"),
        lambda: project.unset(f"{side}.max_steps"),
        lambda: project.unset(f"{side}.label"),
        lambda: project.unset("agents/desk.hooks[1]"),
        lambda: project.unset("agents/desk.env.REGION"),
        project.undo,
        project.redo,
    ]
    return chance.choice(deeds)()


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("name", AGENTS)
def test_undoing_a_random_sequence_of_edits_restores_every_byte(
    name: str, encoding: str, make_project: MakeProject, tmp_path: Path
) -> None:
    first = ENCODINGS[encoding](AGENTS[name])
    project = make_project({"agents/agents/desk.py": first})
    others = {path: path.read_bytes() for path in tmp_path.rglob("*.py")}
    made = 0
    refusals: list[EditRefused] = []
    for seed in range(ROUNDS):
        chance = random.Random(f"{name} {encoding} {seed}")
        for _ in range(STEPS):
            try:
                edit = random_edit(project, chance)
                assert edit is None or all(map(is_outside_untouched, edit.changes))
                made += 1
            except EditRefused as refusal:
                refusals.append(refusal)
        while project.undo() is not None:
            pass
        assert {path: path.read_bytes() for path in tmp_path.rglob("*.py")} == others
    assert [each.text() for each in refusals if each.code == "edit.read_back"] == []
    assert made > 0
