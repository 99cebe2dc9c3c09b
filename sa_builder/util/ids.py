"""Names for the ids that cross rooms, so that one cannot be passed for another."""

from __future__ import annotations

import uuid
from typing import NewType

ThreadId = NewType("ThreadId", str)
"""Random UUID4 text with dashes; also the name of the thread's folder."""

MessageId = NewType("MessageId", str)
"""Random UUID4 text with dashes."""

LogId = NewType("LogId", int)
"""Row number in the thread's own log table, from 1, in the order the rows were begun."""

ActKey = NewType("ActKey", str)
"""TURN/STEP/ACT, unique in the thread and equal on every re-run, such as "4/1/model"."""


def new_thread_id() -> ThreadId:
    """A fresh, unguessable thread id."""
    return ThreadId(str(uuid.uuid4()))


def new_message_id() -> MessageId:
    """A fresh message id."""
    return MessageId(str(uuid.uuid4()))
