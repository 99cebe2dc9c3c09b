"""What the palette offers, from the project, the client and the registry of actions."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from sa_builder.client.base import RuntimeClient
from sa_builder.project.card_look import kind_icon, kind_token
from sa_builder.project.shapes import DefinitionSummary
from sa_builder.spec.kinds import Kind
from sa_builder.spec.threads import ThreadQuery, ThreadSummary
from sa_builder.ui.actions import RegisteredAction
from sa_builder.ui.dialogs.about import key_caps
from sa_builder.ui.palette_model import Entry
from sa_builder.ui.threads.words import state_of_thread, thread_state_word
from sa_builder.ui.welcome.page import when_in_words
from sa_builder.ui.widgets.states import state_icon, state_token

_MOST_THREADS = 20


def definition_entries(
    definitions: Sequence[DefinitionSummary], show: Callable[[str], None]
) -> list[Entry]:
    """One entry a definition; `show` gets its address."""
    return [
        Entry(
            group="Definitions",
            title=one.name,
            detail=str(one.kind).replace("_", " "),
            trailing=one.path,
            trailing_mono=True,
            icon=kind_icon(str(one.kind)),
            icon_token=kind_token(str(one.kind)),
            open=partial(show, one.address),
            open_in_source=partial(show, one.address),
        )
        for one in definitions
    ]


def command_entries(
    actions: Sequence[RegisteredAction],
    definitions: Sequence[DefinitionSummary],
    new_thread: Callable[[str], None],
) -> list[Entry]:
    """One entry an action that works now, and a new thread of each agent."""
    entries = [
        Entry(
            group="Commands",
            title=action.text().replace("&", ""),
            detail=action.group,
            keys=key_caps(action.shortcut()),
            icon=action.icon_name or "chevron_right",
            open=action.trigger,
        )
        for action in actions
        if action.isEnabled() and action.action_id != "edit.palette"
    ]
    entries += [
        Entry(
            group="Commands",
            title=f"New Thread with {one.name}",
            detail="Run",
            icon="plus",
            open=partial(new_thread, one.name),
        )
        for one in definitions
        if one.kind == Kind.AGENT
    ]
    return entries


def thread_finder(
    client: RuntimeClient, show: Callable[[str], None]
) -> Callable[[str], Awaitable[tuple[Sequence[Entry], int]]]:
    """What asks a client for the threads that match; `show` gets the chosen one's id."""

    async def find(text: str) -> tuple[Sequence[Entry], int]:
        query = ThreadQuery(text=text, top_level_only=False, limit=_MOST_THREADS)
        page = await client.list_threads(query)
        return [_thread_entry(row, show) for row in page.rows], page.total

    return find


def _thread_entry(row: ThreadSummary, show: Callable[[str], None]) -> Entry:
    state = state_of_thread(row)
    return Entry(
        group="Threads",
        title=row.title,
        detail=f"{row.agent_name}, {thread_state_word(row)}",
        trailing=when_in_words(row.updated_at_us, time.time_ns() // 1000),
        icon=state_icon(state),
        icon_token=state_token(state),
        open=partial(show, row.id),
    )
