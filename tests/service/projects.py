"""Tiny projects, written as files, with the answers of their models beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CHAT = """
from sa_builder.spec import Side, define_agent

agent = define_agent(name="chat", side_a=Side(prompt="talk"), side_b=Side(human=True))
"""
MODEL = """
from sa_builder.spec import define_model

model = define_model(name="m", provider="openrouter", model="m")
"""


def prompt(*tools: str) -> str:
    """The prompt of the agent "chat"."""
    return (
        "from sa_builder.spec import define_prompt\n\n"
        'prompt = define_prompt(name="talk", tool_description="x", prompt="Talk.", model="m",\n'
        f"    include_chat=True, tools={list(tools)!r})\n"
    )


def tool(body: str, **declared: Any) -> str:
    """A tool's file.

    Args:
        body: the function, from its `def`.
    """
    values = "".join(f", {name}={value!r}" for name, value in declared.items())
    return (
        "from sa_builder.spec import ThreadState, SyncThreadState, define_tool\n\n"
        f'@define_tool(description="x"{values})\n{body}\n'
    )


def says(text: str, **match: Any) -> dict[str, Any]:
    """A model's streamed text."""
    delta = {"index": 0, "delta": {"content": text}, "finish_reason": "stop"}
    return {
        "match": {"url_contains": "/chat/completions", **match},
        "stream": [{"choices": [delta]}],
    }


def proposes(*names: str, **match: Any) -> dict[str, Any]:
    """A model's call of tools without arguments."""
    called = [
        {"index": place, "id": "same", "function": {"name": name, "arguments": "{}"}}
        for place, name in enumerate(names)
    ]
    delta = {"index": 0, "delta": {"tool_calls": called}, "finish_reason": "tool_calls"}
    return {
        "match": {"url_contains": "/chat/completions", **match},
        "stream": [{"choices": [delta]}],
    }


def write_project(
    root: Path, files: Mapping[str, str], mocks: Sequence[Mapping[str, Any]] = ()
) -> Path:
    """Write definition files and mocks below `root/agents`."""
    for name, text in {"mocks/all.json": json.dumps(list(mocks)), **files}.items():
        path = root / "agents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def chat_project(root: Path, *mocks: Mapping[str, Any], **tools: str) -> Path:
    """The agent "chat" with some tools, by name."""
    files = {
        "agents/chat.py": CHAT,
        "models/m.py": MODEL,
        "prompts/talk.py": prompt(*tools),
        **{f"tools/{name}.py": text for name, text in tools.items()},
    }
    return write_project(root, files, mocks)
