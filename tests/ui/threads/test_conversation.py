"""What is stored, what streams, and what waits, in the order a person reads it."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from sa_builder.spec.events import MessageDelta
from sa_builder.spec.messages import Message, MessageStatus, Role
from sa_builder.spec.threads import ThreadDetails, ThreadSummary
from sa_builder.ui.threads.blocks import TextBlock
from sa_builder.ui.threads.conversation import Conversation
from sa_builder.util.ids import MessageId, ThreadId

THREAD = ThreadId("t")


@pytest.fixture
def conversation(qtbot: QtBot) -> Conversation:
    summary = ThreadSummary(
        id=THREAD, agent_name="a", origin_agent_name="a", title="T", state="running",
        created_at_us=1, updated_at_us=1,
    )  # fmt: skip
    return Conversation(
        ThreadDetails(summary=summary, side_a="prompt a", side_b="human", writable=True)
    )


def message(number: int, role: Role, content: str, status: MessageStatus = "completed") -> Message:
    return Message(
        id=MessageId(f"m{number}"), thread_id=THREAD, seq=number, role=role, content=content,
        side="a" if role == "assistant" else "b", turn=number, status=status,
    )  # fmt: skip


def texts(conversation: Conversation) -> list[str]:
    return [block.text for block in conversation.blocks() if isinstance(block, TextBlock)]


def test_a_queued_message_stands_below_the_answer_it_waits_for(conversation: Conversation) -> None:
    conversation.add([message(1, "user", "Tell me more.")])
    conversation.stream(
        MessageDelta(
            thread_id=THREAD, message_id=MessageId("m2"), side="a", turn=2, step=1, text="There"
        )
    )

    conversation.add([message(0, "user", "And then?", "pending")])
    while_it_streams = texts(conversation)
    conversation.add([message(2, "assistant", "There was more.")])
    conversation.add([message(0, "user", "And then?").model_copy(update={"seq": 3})])

    assert while_it_streams == ["Tell me more.", "There", "And then?"]
    assert texts(conversation) == ["Tell me more.", "There was more.", "And then?"]


def test_a_queued_message_does_not_hide_what_is_older(conversation: Conversation) -> None:
    conversation.add([message(0, "user", "And then?", "pending"), message(41, "user", "Hello")])

    assert conversation.oldest_seq == 41
