"""Imports the project's `agents` package from the bytes that were read, never from a cache."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from sa_builder.host.sources import Source, Sources


class Circle(ImportError):
    """A module that imports itself by way of others."""

    def __init__(self, source: Source, way: Sequence[str], line: int) -> None:
        """Keep the way round.

        Args:
            way: relative paths from this file round to the last one before it again.
            line: where this file imports the next one.
        """
        chain = " → ".join([*way, way[0]])
        super().__init__(f"imports itself in a circle: {chain}", name=source.module)
        self.line = line


class DidNotLoad(ImportError):
    """A module of the project that another one needs, and that failed before."""

    def __init__(self, source: Source, cause: BaseException) -> None:
        super().__init__(f"{source.relative_path} did not load", name=source.module)
        self.source = source
        self.__cause__ = cause


class ProjectFinder(importlib.abc.MetaPathFinder):
    """Stands first on the meta path, so that `agents` always means this project."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self.failed: dict[str, BaseException] = {}
        """Modules whose code raised, which are not run again until they or theirs change."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a module of the project; every other name is left to the finders behind.

        Raises:
            ModuleNotFoundError: the project has no such module.
            DidNotLoad: it has, but its code failed.
        """
        if fullname != "agents" and not fullname.startswith("agents."):
            return None
        source = self._sources.find(fullname)
        if source is not None:
            if fullname in self.failed:
                raise DidNotLoad(source, self.failed[fullname])
            folder = source.path.parent if source.is_package else None
            return _spec(fullname, SourceLoader(self, source), source.path, folder)
        folder = self._sources.folder_of(fullname)
        if folder is None:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return _spec(fullname, FolderLoader(), None, folder)

    def forget(self, module: str) -> None:
        """Have a module run anew at its next import."""
        self.failed.pop(module, None)
        sys.modules.pop(module, None)
        package, _, name = module.rpartition(".")
        if package in sys.modules and name in vars(sys.modules[package]):
            delattr(sys.modules[package], name)


class SourceLoader(importlib.abc.InspectLoader):
    """Runs one file."""

    def __init__(self, finder: ProjectFinder, source: Source) -> None:
        self._finder = finder
        self._source = source

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        try:
            if self._source.error is not None:
                raise self._source.error
            assert self._source.code is not None
            exec(self._source.code, module.__dict__)
        except BaseException as error:  # sys.exit included: it is that file's failure
            self._finder.failed[self._source.module] = error
            raise

    def get_source(self, fullname: str) -> str:
        """The text that runs, for tracebacks, whatever lies on the disk by now."""
        return importlib.util.decode_source(self._source.content)

    def is_package(self, fullname: str) -> bool:
        return self._source.is_package


class FolderLoader(importlib.abc.Loader):
    """A folder without a file of its own."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def _spec(
    name: str, loader: importlib.abc.Loader, file: Path | None, folder: Path | None
) -> importlib.machinery.ModuleSpec:
    spec = importlib.machinery.ModuleSpec(
        name,
        loader,
        origin=None if file is None else str(file),
        is_package=folder is not None,
    )
    if folder is not None:
        spec.submodule_search_locations = [str(folder)]
    spec.has_location = file is not None
    return spec
