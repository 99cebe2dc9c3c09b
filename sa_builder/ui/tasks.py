"""The window's own coroutines, on the qasync loop: kept, cancelled, and never failing unseen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal

from sa_builder.errors import KnownError


class Tasks(QObject):
    """Starts coroutines and keeps them until they end.

    Signals:
        failed: a KnownError that its starter did not ask for.
    """

    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._running: set[asyncio.Task[None]] = set()
        self._closed = False

    def start(
        self,
        coroutine: Coroutine[Any, Any, object],
        *,
        on_error: Callable[[KnownError], None] | None = None,
    ) -> asyncio.Task[None] | None:
        """Run a coroutine on the GUI thread's loop, beside everything else.

        Args:
            coroutine: awaits client calls and the like; must not block.
            on_error: told of a `KnownError`; without it `failed` is emitted.

        Returns:
            The task, for who wants to cancel it; None after `close`, when nothing starts any more.
        """
        if self._closed:
            coroutine.close()
            return None
        task = asyncio.get_event_loop().create_task(self._watched(coroutine, on_error))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def close(self) -> None:
        """Cancel what still runs and wait until it has ended; nothing starts afterwards."""
        self._closed = True
        mine = asyncio.current_task()
        waiting = [task for task in self._running if task is not mine]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    async def _watched(
        self,
        coroutine: Coroutine[Any, Any, object],
        on_error: Callable[[KnownError], None] | None,
    ) -> None:
        try:
            await coroutine
        except KnownError as error:
            if on_error is None:
                self.failed.emit(error)
            else:
                on_error(error)
        except Exception as error:
            # An edge of the window: a fault is shown and logged by the loop's handler.
            asyncio.get_running_loop().call_exception_handler(
                {"message": "A task of the window failed.", "exception": error}
            )
