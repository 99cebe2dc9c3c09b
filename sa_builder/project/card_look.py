"""Which glyph and hue a kind of definition has."""

from __future__ import annotations

_HUED = ("agent", "prompt", "handler", "human", "model", "tool", "subagent", "hook", "policy")
_ICONS = {
    **{kind: kind for kind in _HUED},
    "provider": "provider",
    "contract": "contract",
    "mcp_server": "provider",
    "effect": "effect",
    "endpoint": "endpoint",
    "sub_agent": "subagent",
    "router": "router",
    "missing": "error",
}


def kind_icon(kind: str) -> str:
    """The icon's name of a kind: "agent", "prompt", …; "subagent" is the relationship."""
    return _ICONS.get(kind, "file")


def kind_token(kind: str) -> str:
    """The colour token of a kind's hue; kinds without one are drawn as text is."""
    if kind == "sub_agent":
        return "kind.subagent"
    return f"kind.{kind}" if kind in _HUED else "text.secondary"
