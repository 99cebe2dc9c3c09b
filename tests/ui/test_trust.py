"""No code of a folder runs before a person said so, once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from sa_builder.client.scripted import ScriptedClient
from sa_builder.errors import RuntimeRefused
from sa_builder.spec.threads import CreateThread, ThreadQuery
from sa_builder.ui.dialogs.trust import TrustDialog
from sa_builder.ui.trust import TrustedClient
from tests.ui.desk import Desk
from tests.ui.hands import click

WISH = CreateThread(agent_name="repo_assistant")


def _dialog(desk: Desk) -> TrustDialog:
    desk.run_until(lambda: bool(desk.window.findChildren(TrustDialog)))
    return desk.window.findChildren(TrustDialog)[0]


def _was_created(desk: Desk) -> bool:
    return any(name == "create_thread" for name, _ in desk.factory.client.wishes)


def _begin_thread(desk: Desk) -> list[str]:
    outcome: list[str] = []

    async def begin() -> None:
        client = desk.window.workspace.client
        assert client is not None
        try:
            await client.create_thread(WISH)
            outcome.append("created")
        except RuntimeRefused as error:
            outcome.append(error.code)

    desk.window.tasks.start(begin())
    return outcome


def test_a_new_thread_asks_first_and_runs_after_trust(
    desk: Desk, project_root: Path, qtbot: QtBot
) -> None:
    desk.open(project_root)
    outcome = _begin_thread(desk)
    dialog = _dialog(desk)
    assert not _was_created(desk)
    assert desk.factory.trusted is not None
    assert not desk.factory.trusted()

    click(dialog.trust_button)
    desk.run_until(lambda: bool(outcome))

    assert outcome == ["created"]
    assert desk.factory.trusted()
    assert desk.settings.is_trusted(project_root)


def test_only_look_refuses_with_a_sentence_and_runs_nothing(
    desk: Desk, project_root: Path, qtbot: QtBot
) -> None:
    desk.open(project_root)
    outcome = _begin_thread(desk)

    click(_dialog(desk).look_button)
    desk.run_until(lambda: bool(outcome))

    assert outcome == ["window.not_trusted"]
    assert not _was_created(desk)
    assert not desk.settings.is_trusted(project_root)


def test_a_trusted_folder_is_not_asked_again(desk: Desk, project_root: Path) -> None:
    desk.settings.set_trusted(project_root, True)
    desk.open(project_root)

    outcome = _begin_thread(desk)
    desk.run_until(lambda: bool(outcome))

    assert outcome == ["created"]
    assert desk.window.findChildren(TrustDialog) == []


async def test_reading_never_asks() -> None:
    async def never() -> bool:
        raise AssertionError("asked")

    client = TrustedClient(ScriptedClient(), never)

    page = await client.list_threads(ThreadQuery())

    assert page.total == 0


async def test_two_calls_at_once_ask_one_after_the_other() -> None:
    asking = 0
    most = 0

    async def ask() -> bool:
        nonlocal asking, most
        asking += 1
        most = max(most, asking)
        await asyncio.sleep(0)
        asking -= 1
        return False

    client = TrustedClient(ScriptedClient(), ask)

    results = await asyncio.gather(
        client.create_thread(WISH), client.create_thread(WISH), return_exceptions=True
    )

    assert most == 1
    assert all(isinstance(one, RuntimeRefused) for one in results)


async def test_a_refusal_names_what_to_do() -> None:
    async def no() -> bool:
        return False

    with pytest.raises(RuntimeRefused, match="Trust and run"):
        await TrustedClient(ScriptedClient(), no).create_thread(WISH)
