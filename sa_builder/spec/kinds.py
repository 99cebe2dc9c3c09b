"""The kinds of definition, their folders, and how each is declared."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What one define_* call declares."""

    AGENT = "agent"
    PROMPT = "prompt"
    MODEL = "model"
    PROVIDER = "provider"
    TOOL = "tool"
    CONTRACT = "contract"
    MCP_SERVER = "mcp_server"
    HANDLER = "handler"
    HOOK = "hook"
    EFFECT = "effect"
    POLICY = "policy"
    ENDPOINT = "endpoint"
    SUB_AGENT = "sub_agent"


FOLDERS: dict[str, Kind] = {
    "agents": Kind.AGENT,
    "prompts": Kind.PROMPT,
    "models": Kind.MODEL,
    "providers": Kind.PROVIDER,
    "tools": Kind.TOOL,
    "contracts": Kind.CONTRACT,
    "mcp": Kind.MCP_SERVER,
    "handlers": Kind.HANDLER,
    "hooks": Kind.HOOK,
    "effects": Kind.EFFECT,
    "policies": Kind.POLICY,
    "endpoints": Kind.ENDPOINT,
    "sub_agents": Kind.SUB_AGENT,
}
"""Folder under agents/ → the kind its files declare."""

FOLDER_OF: dict[Kind, str] = {kind: folder for folder, kind in FOLDERS.items()}

BUILT_IN_PROVIDERS = ("openrouter", "openai", "compatible", "offline")
"""Providers that need no file of the project's own."""
