"""The page over a thread's file alone: the same views, nothing that acts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sa_builder.client.archive import ArchiveClient
from sa_builder.client.base import RuntimeClient
from sa_builder.client.sample_threads import CHILD, TRIAGE
from sa_builder.util.ids import LogId
from tests.client.conftest import thread_file as thread_file
from tests.ui.threads.conftest import PageDesk


def test_a_thread_file_opens_read_only_with_everything_in_it(
    make_desk: Callable[[RuntimeClient], PageDesk], thread_file: Path
) -> None:
    client = ArchiveClient(thread_file)
    desk = make_desk(client)
    page = desk.page

    desk.run_until(lambda: page.chat.conversation and page.logs.model.rowCount())
    page.logs.filter.set_includes_children(True)
    desk.run_until(lambda: page.logs.model.rowCount() == 10)
    page.logs.choose(CHILD, LogId(3))
    desk.run_until(lambda: page.logs.details.details)
    page.logs.details.show_tab("Request")

    assert page.chat.thread_id == TRIAGE
    assert "A regression with a clear range" in _child_text(desk)
    assert "reading" in page.chat.composer.field.placeholderText()
    assert not page.chat.composer.send.isVisible()
    assert not page.chat.composer.stop.isVisible()
    assert not page.list_panel.new_button.isVisible()
    assert page.chat.header.read_only.isVisible()
    desk.press("Open issue_triage")
    desk.run_until(lambda: (found := page.chat.conversation) and found.details.summary.id == CHILD)
    desk.loop.run_until_complete(client.close())


def _child_text(desk: PageDesk) -> str:
    conversation = desk.page.chat.conversation
    assert conversation is not None
    return " ".join(str(one.content) for one in conversation.children[CHILD].messages.values())
