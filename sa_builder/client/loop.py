"""The one background OS thread in which an embedded runtime lives."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class RuntimeLoop:
    """An asyncio loop in an OS thread of its own; needs no Qt and never stops for it."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sa-runtime", daemon=True)
        self._thread.start()

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there and have its answer here; the caller's loop stays free."""
        self._ready.wait()
        assert self._loop is not None
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def end(self, *, deadline_s: float) -> None:
        """Stop the loop; gives up waiting after the deadline."""
        self._ready.wait()
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(deadline_s)

    def _run(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.call_soon(self._ready.set)
        try:
            self._loop.run_forever()
        finally:
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(asyncio.sleep(0))
            self._loop.close()
