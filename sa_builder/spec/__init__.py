"""What definition files import: `from sa_builder.spec import Side, define_agent`.

The names come from `spec.user`, fetched when they are asked for, so that a room that needs only
one of the shapes here loads nothing else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sa_builder.spec.user import (
        EnvText as EnvText,
        Include as Include,
        Message as Message,
        PromptTool as PromptTool,
        Reasoning as Reasoning,
        Relationship as Relationship,
        SessionTool as SessionTool,
        Side as Side,
        SubPrompt as SubPrompt,
        SyncThreadState as SyncThreadState,
        Text as Text,
        ThreadState as ThreadState,
        ToolResult as ToolResult,
        Variable as Variable,
        define_agent as define_agent,
        define_handler as define_handler,
        define_model as define_model,
        define_prompt as define_prompt,
        define_tool as define_tool,
    )


def __getattr__(name: str) -> object:
    if name.startswith("_"):
        raise AttributeError(name)
    user = importlib.import_module("sa_builder.spec.user")
    try:
        return getattr(user, name)
    except AttributeError:
        raise AttributeError(f"sa_builder.spec has no {name!r}") from None
