"""make prove: kills and cuts at every commit point, counted; writes benchmarks/proof.md.

`--cuts N` and `--kills N` make it shorter, `--seed N` another one.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from benchmarks import campaign_cuts, campaign_kills
from benchmarks.campaign_kills import STORIES, Kill, Stage
from benchmarks.measure import table
from benchmarks.run import machine

HERE = Path(__file__).resolve().parent
MOST_TOLD = 20


def main() -> int:
    """Run both campaigns; returns 1 when anything was not as it has to be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=20_261_201)
    parser.add_argument("--cuts", type=int, default=11_000, help="cuts in this process")
    parser.add_argument("--kills", type=int, default=0, help="most kills; 0 is all places")
    parser.add_argument("--double", type=int, default=60, help="runs that are killed twice")
    wishes = parser.parse_args()
    chance = random.Random(wishes.seed)

    begin = monotonic()
    todo = kills(chance, wishes.kills, wishes.double)
    killed = campaign_kills.play_all(todo)
    kills_s = monotonic() - begin
    print(f"{killed.kills} kills in {kills_s:.0f} s, {len(killed.troubles)} troubles", flush=True)

    begin = monotonic()
    cut = campaign_cuts.run_on_all_cores(wishes.seed, wishes.cuts)
    cuts_s = monotonic() - begin
    print(f"{cut.cuts} cuts in {cuts_s:.0f} s, {len(cut.troubles)} troubles", flush=True)

    text = report(wishes.seed, todo, killed, kills_s, cut, cuts_s)
    (HERE / "proof.md").write_text(text, encoding="utf-8")
    print(text)
    return 1 if killed.troubles or cut.troubles else 0


def kills(chance: random.Random, most: int, double: int) -> list[tuple[Stage, Kill]]:
    """Every place of every story, or some of them by chance; then the double ones."""
    stages = [Stage(story) for story in STORIES]
    for stage in stages:
        stage.prepare()
    todo = [(stage, kill) for stage in stages for kill in stage.kills()]
    if most:
        todo = chance.sample(todo, min(most, len(todo)))
    for number in range(double):
        stage = stages[number % len(stages)]
        todo.append((stage, stage.twice(chance)))
    return todo


def report(
    seed: int,
    todo: Sequence[tuple[Stage, Kill]],
    killed: campaign_kills.Tally,
    kills_s: float,
    cut: campaign_cuts.Tally,
    cuts_s: float,
) -> str:
    """The proof as Markdown."""
    commits = {stage.story.name: stage.commits for stage, _ in todo}
    stories = [
        [name, str(commits[name]), str(count)] for name, count in sorted(killed.by_story.items())
    ]
    troubles = [*killed.troubles, *cut.troubles]
    said = "\n".join(f"- {one}" for one in troubles[:MOST_TOLD]) or "None."
    in_order = sum(killed.verdicts.values())
    return f"""# Proof

{machine()} Seed {seed}. Written by `make prove`.

## Kills: a real process, SIGKILL, and another that goes on

The sample's `repo_assistant` over HTTP with streaming, its model and GitHub on loopback, both
counting. Killed before and after every commit of every file, in the midst of every call on the
wire, and some twice: again in what goes on.

{table(["story", "commits", "scenarios"], stories)}

{len(todo)} scenarios with {killed.kills} kills in {kills_s:.0f} s; {in_order} in order:
{killed.verdicts["same"]} ended as the run that nobody killed, {killed.verdicts["told"]} but for a
tool's result that says its outcome is unknown (it may not be run twice), and
{killed.verdicts["parked"]} visibly parked because the handler that was cut off is not called again.
{killed.repeated_in_flight} calls on the wire were repeated, each of them one that was cut off.

## Cuts: projects by chance, nothing written from one commit on

{cut.cuts:,} cuts of {cut.programs} projects ({cut.commits:,} commits) in {cuts_s:.0f} s:
{cut.same:,} ended as the uncut run, {cut.told:,} but for an unknown outcome, {cut.kept:,} in order
but not comparable (their order is by chance, or a handler was cut off; {cut.parked} of them
visibly parked).

## What is checked in each

Nobody's message is lost; no recorded model call is made again; no tool that may not be repeated
runs twice; no message is delivered to a handler twice; no call goes to a model without its
result; every log row is closed, outbox and queue are empty; `PRAGMA integrity_check` is ok.

## Not as it has to be: {len(troubles)}

{said}
"""


if __name__ == "__main__":
    sys.exit(main())
