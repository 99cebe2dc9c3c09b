"""Values a thread was given at its creation: kept in a file of the user's alone, mode 0600."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from sa_builder.store.layout import DataFolder
from sa_builder.util.ids import ThreadId


class ThreadSecrets:
    """Thread → variable → value; children see what their parents were given."""

    def __init__(self, folder: DataFolder) -> None:
        self._path = folder.secrets
        self._values: dict[str, dict[str, str]] = {}
        if self._path.exists():
            self._values = json.loads(self._path.read_text(encoding="utf-8"))

    def value(self, thread_id: ThreadId, parent_id: str | None, name: str) -> str | None:
        """What the thread, else its parent, was given."""
        own = self._values.get(thread_id, {}).get(name)
        if own is None and parent_id is not None:
            return self._values.get(parent_id, {}).get(name)
        return own

    def values(self) -> list[str]:
        """Every value, for redaction."""
        return [value for kept in self._values.values() for value in kept.values()]

    def keep(self, thread_id: ThreadId, values: Mapping[str, str]) -> None:
        """Remember a new thread's values."""
        self._values[thread_id] = dict(values)
        self._write()

    def forget(self, thread_id: ThreadId) -> None:
        """A thread was deleted."""
        if self._values.pop(thread_id, None) is not None:
            self._write()

    def _write(self) -> None:
        new = self._path.with_suffix(".new")
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(self._values, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)
