"""The project's Python files, read: their bytes, hashes, code and imports, and what changed."""

from __future__ import annotations

import ast
import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from sa_builder.host.imports import Imported, imports_of

_YOUNG_NS = 2_000_000_000
"""A file changed this shortly before it was read is hashed again: a second save may have left
the same size and, on a coarse clock, the same time."""

_MOST_FOLDERS_DEEP = 16


class Stamp(NamedTuple):
    """What the file system says of a file, enough to see most changes."""

    modified_ns: int
    size_bytes: int
    inode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file as it was read; what is compiled is exactly `content`."""

    module: str
    path: Path
    relative_path: str
    """From the project's folder, with forward slashes."""
    is_package: bool
    """Whether it is an `__init__.py`."""
    content: bytes
    content_hash: str
    """SHA-256 hex."""
    stamp: Stamp
    read_at_ns: int
    code: CodeType | None
    """None when it does not compile."""
    error: SyntaxError | ValueError | None
    """Why it does not."""
    imports: Sequence[Imported]


class Sources:
    """Knows every Python file under `agents/` and reads again only what changed."""

    def __init__(self, project_root: Path) -> None:
        self._root = project_root
        self._agents = project_root / "agents"
        self._by_module: dict[str, Source] = {}
        self._folders: frozenset[str] = frozenset()

    @property
    def by_module(self) -> Mapping[str, Source]:
        """Full module name → its file, as of the last scan."""
        return self._by_module

    def scan(self) -> frozenset[str]:
        """Look at every file; gives the modules that are new, changed or gone since last time."""
        found: dict[str, Source] = {}
        folders: set[str] = set()
        changed: set[str] = set()
        for module, path, is_package, stamp in self._files(str(self._agents), "agents", folders):
            known = self._by_module.get(module)
            source = known
            if known is None or known.stamp != stamp or known.is_package != is_package:
                source = self._read(module, Path(path), is_package, stamp)
            elif known.read_at_ns - stamp.modified_ns < _YOUNG_NS:
                source = self._read_if_other(known)
            if source is None:
                continue
            found[module] = source
            if known is None or known.content_hash != source.content_hash:
                changed.add(module)
        changed.update(self._by_module.keys() - found.keys())
        self._by_module = found
        self._folders = frozenset(folders)
        return frozenset(changed)

    def folder_of(self, module: str) -> Path | None:
        """The folder that a package name stands for, or None."""
        folder = self._root.joinpath(*module.split("."))
        return folder if module in self._folders or folder.is_dir() else None

    def find(self, module: str) -> Source | None:
        """A module's file, read now if it appeared after the last scan."""
        known = self._by_module.get(module)
        if known is not None:
            return known
        base = self._root.joinpath(*module.split("."))
        for path, is_package in (
            (base.with_name(f"{base.name}.py"), False),
            (base / "__init__.py", True),
        ):
            try:
                stamp = _stamp(path.stat())
            except OSError:
                continue
            source = self._read(module, path, is_package, stamp)
            if source is not None:
                self._by_module[module] = source
            return source
        return None

    def _files(
        self, folder: str, package: str, folders: set[str]
    ) -> Iterator[tuple[str, str, bool, Stamp]]:
        if package.count(".") > _MOST_FOLDERS_DEEP:
            return
        folders.add(package)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return  # a folder that went away, or may not be read, holds no modules
        for entry in entries:
            stem, ending = os.path.splitext(entry.name)
            if entry.name.startswith(".") or entry.name == "__pycache__":
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from self._files(entry.path, f"{package}.{entry.name}", folders)
            elif ending == ".py" and "." not in stem:
                try:
                    stamp = _stamp(entry.stat()) if entry.is_file() else None
                except OSError:
                    continue  # it went away, or is a link to itself
                if stamp is None:
                    continue
                is_package = stem == "__init__"
                module = package if is_package else f"{package}.{stem}"
                yield module, entry.path, is_package, stamp

    def _read_if_other(self, known: Source) -> Source | None:
        """A file that may have been saved twice within one tick of the clock."""
        content = _bytes_of(known.path)
        if content is not None and hashlib.sha256(content).hexdigest() == known.content_hash:
            return known
        return self._read(known.module, known.path, known.is_package, known.stamp)

    def _read(self, module: str, path: Path, is_package: bool, stamp: Stamp) -> Source | None:
        read_at_ns = time.time_ns()
        content = _bytes_of(path)
        if content is None:
            return None
        code: CodeType | None = None
        error: SyntaxError | ValueError | None = None
        imports: Sequence[Imported] = ()
        try:
            tree = ast.parse(content, str(path))
            code = compile(tree, str(path), "exec", dont_inherit=True)
            imports = imports_of(tree, module=module, is_package=is_package)
        except (SyntaxError, ValueError) as found:
            error = found
        except (RecursionError, MemoryError):  # both are how CPython says it
            code, error = None, ValueError("it is nested too deeply for Python")
        return Source(
            module=module,
            path=path,
            relative_path=path.relative_to(self._root).as_posix(),
            is_package=is_package,
            content=content,
            content_hash=hashlib.sha256(content).hexdigest(),
            stamp=stamp,
            read_at_ns=read_at_ns,
            code=code,
            error=error,
            imports=imports,
        )


def _bytes_of(path: Path) -> bytes | None:
    """The file's bytes; None when it went away or may not be read."""
    try:
        return path.read_bytes()
    except OSError:
        return None


def _stamp(found: os.stat_result) -> Stamp:
    return Stamp(modified_ns=found.st_mtime_ns, size_bytes=found.st_size, inode=found.st_ino)
