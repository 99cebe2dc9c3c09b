"""The five states as glyph, colour and word."""

from __future__ import annotations

from typing import Literal

StateName = Literal["running", "waiting", "done", "failed", "parked"]


def state_icon(state: str) -> str:
    """The icon's name of a state."""
    return f"state_{state}"


def state_token(state: str) -> str:
    """The colour of a state's glyph and outline."""
    return f"state.{state}"


def state_text_token(state: str) -> str:
    """The colour of a state's words."""
    return f"state.{state}_text"
