"""All definition files of a project as they were last read, and what changed since."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sa_builder.errors import ProjectError
from sa_builder.project.layout import AGENTS, Place, place_of, scan
from sa_builder.project.read import FileReading, TextFault, read_quietly
from sa_builder.project.source import Source, digest_of

Stamp = tuple[int, int, int]


class ProjectFiles:
    """Readings by address; a file is read again only when its bytes changed."""

    def __init__(self, root: Path) -> None:
        """Begin with nothing read.

        Raises:
            ProjectError: the folder is missing, or is no project.
        """
        if not root.is_dir():
            raise ProjectError(
                f"There is no folder {root}.",
                act="Open a folder that exists.",
                code="project.missing",
            )
        if not (root / AGENTS).is_dir():
            raise ProjectError(
                f"{root} is not a project: it has no folder named agents.",
                act="Open the folder above agents/, or start a new project.",
                code="project.no_agents",
            )
        self.root = root
        self._readings: dict[str, FileReading] = {}
        self._stamps: dict[str, Stamp] = {}

    @property
    def readings(self) -> Mapping[str, FileReading]:
        """Address → reading, in the order of folders and names."""
        return self._readings

    def get(self, address: str) -> FileReading | None:
        """The reading of a definition."""
        return self._readings.get(address)

    def refresh(self) -> frozenset[str]:
        """Read what changed on the disk.

        Returns:
            Paths of files that changed, came or went.
        """
        changed: set[str] = set()
        seen: dict[str, FileReading] = {}
        stamps: dict[str, Stamp] = {}
        with collector_off(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for place, stat in scan(self.root):
                stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
                before = self._readings.get(place.address)
                if before is None or self._stamps.get(place.path) != stamp:
                    reading = self._read(place, before)
                    if reading is None:
                        continue  # it vanished in between
                    if before is None or reading is not before:
                        changed.add(place.path)
                else:
                    reading = before
                seen[place.address] = reading
                stamps[place.path] = stamp
        changed |= {
            reading.place.path for address, reading in self._readings.items() if address not in seen
        }
        self._readings = seen
        self._stamps = stamps
        return frozenset(changed)

    def refresh_one(self, path: str) -> bool:
        """Read one file again whatever its stamp says; whether its bytes changed."""
        place = place_of(path)
        if place is None:
            return False
        before = self._readings.get(place.address)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reading = self._read(place, before)
        if reading is before:
            return False
        if reading is None:
            self._readings.pop(place.address, None)
            self._stamps.pop(path, None)
            return True
        if before is not None:
            self._readings[place.address] = reading
        else:
            self._readings[place.address] = reading
            order = sorted(
                self._readings.values(),
                key=lambda each: (each.place.path.split("/")[1], each.place.path),
            )
            self._readings = {each.place.address: each for each in order}
        self._stamps.pop(path, None)
        return True

    def _read(self, place: Place, before: FileReading | None) -> FileReading | None:
        try:
            data = (self.root / place.path).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            return _unreadable(
                place, b"", f"The file cannot be read: {error.strerror}; check its permissions."
            )
        if before is not None and before.source.digest == digest_of(data):
            return before
        try:
            source = Source(place.path, data)
        except ProjectError as error:
            return _unreadable(place, data, error.text())
        return read_quietly(place, source, before)


def _unreadable(place: Place, data: bytes, sentence: str) -> FileReading:
    source = Source(place.path, b"")
    source.digest = digest_of(data)
    fault = TextFault(code="SA005", sentence=sentence, start_char=0, end_char=0)
    return FileReading(place=place, source=source, compiles=False, faults=[fault])


@contextmanager
def collector_off() -> Generator[None]:
    """Keep the garbage collector from walking what a scan has just made."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
