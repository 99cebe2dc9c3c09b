"""One running call: what it may still ask of the runtime, and whether it was cancelled."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from sa_builder.host.capture import Output
from sa_builder.host.channel import Channel


class CallScope:
    """Lives as long as its call; shared by the call's own OS thread and the receiving one."""

    def __init__(self, *, channel: Channel, call_id: str, thread_id: str, test_mode: bool) -> None:
        self._channel = channel
        self.call_id = call_id
        self.thread_id = thread_id
        self.test_mode = test_mode
        self.output = Output()
        self.is_cancelled = False
        self._lock = threading.Lock()
        self._waiting: set[concurrent.futures.Future[Any]] = set()

    async def ask_async(
        self, method: str, arguments: Mapping[str, Any], *, thread_id: str | None = None
    ) -> Any:
        """Ask the runtime, from a coroutine.

        Raises:
            StateError: the runtime refused, with its sentence.
        """
        return await asyncio.wrap_future(self._ask(method, arguments, thread_id))

    def ask_sync(
        self, method: str, arguments: Mapping[str, Any], *, thread_id: str | None = None
    ) -> Any:
        """Ask the runtime and block this OS thread until it answers.

        Raises:
            StateError: the runtime refused, with its sentence.
            asyncio.CancelledError: the call was cancelled.
        """
        answer = self._ask(method, arguments, thread_id)
        with self._lock:
            if self.is_cancelled:
                answer.cancel()
            self._waiting.add(answer)
        try:
            return answer.result()
        except concurrent.futures.CancelledError as error:
            raise asyncio.CancelledError from error
        finally:
            with self._lock:
                self._waiting.discard(answer)

    def cancel(self) -> None:
        """Wake whatever waits for the runtime; later questions are refused the same way."""
        with self._lock:
            self.is_cancelled = True
            waiting = tuple(self._waiting)
        for answer in waiting:
            answer.cancel()

    def _ask(
        self, method: str, arguments: Mapping[str, Any], thread_id: str | None
    ) -> concurrent.futures.Future[Any]:
        return self._channel.ask(
            call_id=self.call_id,
            thread_id=thread_id or self.thread_id,
            method=method,
            arguments=to_jsonable_python(dict(arguments)),
        )
