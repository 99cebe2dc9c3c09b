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
    )
    from sa_builder.spec.user import (
        Include as Include,
    )
    from sa_builder.spec.user import (
        Message as Message,
    )
    from sa_builder.spec.user import (
        PromptTool as PromptTool,
    )
    from sa_builder.spec.user import (
        Reasoning as Reasoning,
    )
    from sa_builder.spec.user import (
        Relationship as Relationship,
    )
    from sa_builder.spec.user import (
        SessionTool as SessionTool,
    )
    from sa_builder.spec.user import (
        Side as Side,
    )
    from sa_builder.spec.user import (
        SubPrompt as SubPrompt,
    )
    from sa_builder.spec.user import (
        SyncThreadState as SyncThreadState,
    )
    from sa_builder.spec.user import (
        Text as Text,
    )
    from sa_builder.spec.user import (
        ThreadState as ThreadState,
    )
    from sa_builder.spec.user import (
        ToolResult as ToolResult,
    )
    from sa_builder.spec.user import (
        Variable as Variable,
    )
    from sa_builder.spec.user import (
        define_agent as define_agent,
    )
    from sa_builder.spec.user import (
        define_handler as define_handler,
    )
    from sa_builder.spec.user import (
        define_model as define_model,
    )
    from sa_builder.spec.user import (
        define_prompt as define_prompt,
    )
    from sa_builder.spec.user import (
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
