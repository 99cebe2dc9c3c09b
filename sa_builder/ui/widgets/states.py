"""The five states as glyph, colour and word."""

from __future__ import annotations

from typing import Literal

StateName = Literal["running", "waiting", "done", "failed", "parked"]

_OF_THREAD: dict[str, StateName] = {
    "idle": "waiting",
    "running": "running",
    "awaiting_human": "waiting",
    "parked": "parked",
    "failed": "failed",
    "terminated": "done",
}
_OF_LOG: dict[str, StateName] = {
    "running": "running",
    "ok": "done",
    "done": "done",
    "success": "done",
    "completed": "done",
    "error": "failed",
    "failed": "failed",
    "cancelled": "failed",
    "parked": "parked",
    "pending": "waiting",
}


def state_of_thread(thread_state: str) -> StateName:
    """The state that stands for a `spec.threads.ThreadState`."""
    return _OF_THREAD.get(thread_state, "waiting")


def state_of_log(status: str) -> StateName:
    """The state that stands for a log row's or an act's status."""
    return _OF_LOG.get(status, "waiting")


def state_icon(state: str) -> str:
    """The icon's name of a state."""
    return f"state_{state}"


def state_token(state: str) -> str:
    """The colour of a state's glyph and outline."""
    return f"state.{state}"


def state_text_token(state: str) -> str:
    """The colour of a state's words."""
    return f"state.{state}_text"
