"""A world of small agents, closed at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest_asyncio

from sa_builder.spec.definitions import AnyDefinition
from tests.runtime.world import World

MakeWorld = Callable[..., Awaitable[World]]


@pytest_asyncio.fixture
async def make_world(tmp_path: Path) -> AsyncIterator[MakeWorld]:
    """Makes a started world of some definitions."""
    made: list[World] = []

    async def make(*definitions: AnyDefinition) -> World:
        world = World(tmp_path, definitions)
        made.append(world)
        await world.start()
        return world

    yield make
    for world in made:
        await world.close()
