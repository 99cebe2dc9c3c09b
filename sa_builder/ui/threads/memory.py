"""What the Threads page remembers of a project from one window to the next."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class ThreadsMemory(BaseModel):
    """Kept in the project's layout, while the window is used and when it is closed."""

    model_config = ConfigDict(frozen=True)

    last_agent: str | None = None
    """The agent of the thread that was begun last."""
    open_thread: str | None = None
    """The id of the thread that is open."""
    drafts: Mapping[str, str] = Field(default_factory=dict)
    """Thread id → what is written and not sent."""


def read_memory(found: object) -> ThreadsMemory:
    """What a layout holds; nothing of it when it was written by something else."""
    try:
        return ThreadsMemory.model_validate(found)
    except ValidationError:
        return ThreadsMemory()
