"""A small seeded part of `make prove`: real kills, and cuts of projects by chance."""

from __future__ import annotations

import random

import pytest

from benchmarks import campaign_cuts
from benchmarks.campaign_kills import LABEL, STORIES, Kill, Stage, Story, play_all

SEED = 4


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_a_killed_process_goes_on_to_the_same_ending(story: Story) -> None:
    chance = random.Random(f"{SEED}/{story.name}")
    stage = Stage(story)
    stage.prepare()
    scenarios = chance.sample(list(stage.kills()), 2)
    scenarios.append(Kill(story, deed="child 1"))
    if LABEL in story.deeds:
        scenarios.append(Kill(story, deed=LABEL))
    scenarios.append(stage.twice(chance))

    tally = play_all([(stage, kill) for kill in scenarios])

    assert tally.troubles == []
    assert sum(tally.verdicts.values()) == len(scenarios)
    if story.is_harmful:
        assert tally.verdicts["told"] >= 1


def test_a_cut_at_any_commit_leaves_what_can_be_gone_on_with() -> None:
    tally = campaign_cuts.run(SEED, 80)

    assert tally.troubles == []
    assert tally.cuts >= 80
    assert tally.same > 25
