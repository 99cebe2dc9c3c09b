"""SQLite as the store uses it: a thin, typed layer over apsw.

Source: apsw, whose own SQLite is current and so lies past the WAL-reset corruption. Every
process uses it for every file: two SQLite libraries on one live file corrupt it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from sa_builder.errors import StoreError

Value = str | bytes | int | float | None
Row = Mapping[str, Any]
SqliteError = apsw.Error


class Sqlite:
    """One open file; every method may raise `SqliteError`, which `explained` puts into words."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open the file.

        Args:
            read_only: opens it for reading alone; one without a write-ahead log beside it is
                taken as it stands, so that a file on a read-only disk opens too.
        """
        if read_only:
            live = path.with_name(path.name + "-wal").exists()
            mode = "mode=ro" if live else "mode=ro&immutable=1"
            self._raw: Any = apsw.Connection(
                f"{path.resolve().as_uri()}?{mode}",
                flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
            )
            self._raw.set_busy_timeout(2000)
        else:
            self._raw = apsw.Connection(str(path))
            self._raw.set_busy_timeout(5000)
            self._raw.execute("PRAGMA journal_mode=WAL").fetchall()
            self._raw.execute("PRAGMA temp_store=MEMORY")

    def run(self, sql: str, values: Sequence[Value] = ()) -> None:
        """Execute for the effect alone; several statements may stand in `sql`."""
        self._raw.execute(sql, values)

    def rows(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        """Every row that is found, by column name."""
        cursor = self._raw.execute(sql, values)
        found: list[Row] = []
        names: list[str] = []
        for row in cursor:
            if not names:
                names = [column[0] for column in cursor.get_description()]
            found.append(dict(zip(names, row, strict=True)))
        return found

    def roll_back(self) -> None:
        """Undo an open transaction, if there is one."""
        if self._raw.in_transaction:
            self._raw.execute("ROLLBACK")

    def checkpoint(self) -> None:
        """Fold the write-ahead log into the file, so that the file alone is whole."""
        self._raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    @property
    def version(self) -> int:
        """The file's schema version; 0 for one without tables."""
        return int(self.rows("PRAGMA user_version")[0]["user_version"])

    def close(self) -> None:
        """Let go of the file; safe to call twice."""
        self._raw.close()


def explained(error: SqliteError, path: Path) -> StoreError:
    """What an SQLite failure means to a person."""
    name = f"{path.parent.name}/{path.name}"
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreError(
                f"{name} is locked by another process.",
                act="Close what uses it and try again.",
                code="store.locked",
            )
        case apsw.FullError():
            return StoreError(
                f"The disk is full; {name} could not be written.",
                act="Free some space and continue the thread.",
                code="store.full",
            )
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            return StoreError(
                f"{name} cannot be written.",
                act="Check the permissions of the file and its folder.",
                code="store.read_only",
            )
        case apsw.CorruptError() | apsw.NotADBError():
            return StoreError(
                f"{name} is not a readable database.",
                act="It may be cut off or damaged; open a copy of it from elsewhere.",
                code="store.corrupt",
            )
        case apsw.CantOpenError():
            return StoreError(f"{name} cannot be opened.", code="store.missing")
        case _:
            return StoreError(f"{name}: {error}.", code="store.failed")
