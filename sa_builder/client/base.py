"""The one door between a view and whatever runs, or only keeps, threads.

`ui` knows the runtime through this protocol alone. Implementations: `client.local` (the embedded
runtime in its own OS thread), `client.archive` (a thread file, read-only), `client.scripted`
(a double for tests and pictures).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from sa_builder.spec.events import Listener
from sa_builder.spec.logs import Act, LogDetails, LogPage, LogQuery
from sa_builder.spec.messages import Message, SideName
from sa_builder.spec.threads import (
    AgentSummary,
    CreateThread,
    MessagePage,
    MessageQuery,
    SendMessage,
    ThreadDetails,
    ThreadPage,
    ThreadQuery,
    ThreadSummary,
)
from sa_builder.util.ids import LogId, MessageId, ThreadId


class RuntimeClient(Protocol):
    """Reads and acts on threads. Every method may raise `KnownError`; none blocks its caller.

    Coroutines run on the caller's own event loop (qasync in the window); the work is done
    elsewhere and only the answer comes back.
    """

    @property
    def writable(self) -> bool:
        """False for an archive: the acting methods raise `RuntimeRefused`."""
        ...

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have every event from now on; returns what ends it."""
        ...

    async def start(self) -> None:
        """Open what is there and go on with what a crash left; runs no user code by itself
        unless a thread has work to go on with and the project is trusted."""
        ...

    async def close(self, *, deadline_s: float = 3.0) -> None:
        """Stop accepting, cancel, flush, and end, whatever hangs, within the deadline."""
        ...

    # what may be run

    async def list_agents(self) -> Sequence[AgentSummary]:
        """Agents for "+ New Thread", primary ones first; never runs user code."""
        ...

    async def set_test_mode(self, on: bool) -> None:
        """Switch the offline test mode for turns that start from now on."""
        ...

    # acting

    async def create_thread(self, wish: CreateThread) -> ThreadSummary: ...

    async def send_message(self, thread_id: ThreadId, wish: SendMessage) -> MessageId:
        """Store a message, durably, and start the thread if it is at rest."""
        ...

    async def stop_thread(self, thread_id: ThreadId) -> None:
        """Cancel the running turn; what streamed so far is kept as a failed message."""
        ...

    async def continue_thread(self, thread_id: ThreadId, side: SideName = "a") -> None:
        """Run a side without a new message: after a stop, a failure or a parked crash."""
        ...

    async def terminate_thread(self, thread_id: ThreadId) -> None:
        """Refuse new work for good; everything stays readable."""
        ...

    async def delete_thread(self, thread_id: ThreadId) -> None:
        """Remove the thread and its children from the disk, children first."""
        ...

    async def set_thread_title(self, thread_id: ThreadId, title: str) -> None: ...

    # reading

    async def list_threads(self, query: ThreadQuery) -> ThreadPage: ...

    async def get_thread(self, thread_id: ThreadId) -> ThreadDetails: ...

    async def list_messages(self, thread_id: ThreadId, query: MessageQuery) -> MessagePage: ...

    async def get_message(self, thread_id: ThreadId, message_id: MessageId) -> Message: ...

    async def list_logs(self, thread_id: ThreadId, query: LogQuery) -> LogPage: ...

    async def get_log(self, thread_id: ThreadId, log_id: LogId) -> LogDetails: ...

    async def list_acts(self, thread_id: ThreadId) -> Sequence[Act]:
        """The journal, in the order the acts were started."""
        ...

    async def thread_file(self, thread_id: ThreadId) -> Path:
        """Where the thread's own database lies, so that it can be shown or copied."""
        ...


class ClientFactory(Protocol):
    """Makes clients; built once in `cli` and handed to the window."""

    def local(
        self, project_root: Path, *, trusted: Callable[[], bool], test_mode: bool | None
    ) -> RuntimeClient:
        """The embedded runtime of a project.

        Args:
            trusted: asked each time user code would run; False refuses with a sentence.
            test_mode: None takes what the project's environment says.
        """
        ...

    def archive(self, thread_file: Path) -> RuntimeClient:
        """A thread file opened read-only, with no project and no runtime.

        Raises:
            StoreError: it is not a thread database, is newer, or cannot be read.
        """
        ...
