"""Imports the project's definition files, again only where something changed."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType

from sa_builder.host.declared import declared_in, kind_of
from sa_builder.host.finder import Circle, ProjectFinder
from sa_builder.host.imports import circles
from sa_builder.host.problems import missing_package, problem_of
from sa_builder.host.running import Runnable, Runnables
from sa_builder.host.sources import Source, Sources
from sa_builder.spec.host_wire import HostManifest, LoadedDefinition, LoadProblem
from sa_builder.spec.kinds import Kind

_LOADED_KINDS = frozenset({Kind.AGENT, Kind.PROMPT, Kind.MODEL, Kind.TOOL, Kind.HANDLER})
"""Kinds whose files are imported to see what they declare."""


class Project:
    """The loaded project; used by one OS thread, but `runnables` may be read from any."""

    def __init__(self, root: Path) -> None:
        self._sources = Sources(root)
        self._finder = ProjectFinder(self._sources)
        self._loaded: dict[str, LoadedDefinition] = {}
        self._problems: dict[str, LoadProblem] = {}
        self._waits_for: dict[str, str] = {}
        """Module → the package it could not find, so that it is tried again once it is there."""
        self._skipped: Mapping[str, str] = {}
        self._by_module: dict[str, Runnable] = {}
        self._runnables: Runnables = {}
        self._generation: int | None = None
        self._manifest: HostManifest | None = None

    def install(self) -> None:
        """Let `agents` mean this project from now on."""
        for name in tuple(sys.modules):
            if name == "agents" or name.startswith("agents."):
                del sys.modules[name]
        sys.meta_path.insert(0, self._finder)

    def runnables(self) -> Runnables:
        """Tools and handlers of the newest generation."""
        return self._runnables

    def refresh(
        self,
        *,
        generation: int,
        skipped: Mapping[str, str],
        on_import: Callable[[str, str], None],
    ) -> HostManifest | None:
        """Load what changed; None when nothing did.

        Args:
            generation: the highest one there has been, from before this process too.
            skipped: path → fingerprint of files that brought a host down when imported.
            on_import: told the path and fingerprint of each file just before it is imported.
        """
        changed = set(self._sources.scan())
        changed.update(self._found_again())
        if skipped != self._skipped:
            known = self._sources.by_module.values()
            changed.update(source.module for source in known if source.relative_path in skipped)
            self._skipped = skipped
        if self._manifest is not None and not changed:
            return None
        affected = self._affected(changed)
        for module in affected:
            self._finder.forget(module)
            self._forget(module)
        self._refuse_circles()
        for source in self._definition_files(affected):
            fingerprint = self._fingerprint(source)
            if skipped.get(source.relative_path) == fingerprint:
                self._problems[source.module] = _skipped(source)
            else:
                on_import(source.relative_path, fingerprint)
                self._load(source)
        self._runnables = {
            (self._loaded[module].kind.value, runnable.name): runnable
            for module, runnable in self._by_module.items()
        }
        self._generation = max(generation, self._generation or 0) + 1
        self._manifest = HostManifest(
            generation=self._generation,
            definitions=[self._loaded[module] for module in sorted(self._loaded)],
            problems=[self._problems[module] for module in sorted(self._problems)],
            content_hash=self._content_hash(),
        )
        return self._manifest

    def _forget(self, module: str) -> None:
        self._loaded.pop(module, None)
        self._problems.pop(module, None)
        self._waits_for.pop(module, None)
        self._by_module.pop(module, None)

    def _found_again(self) -> set[str]:
        """Modules whose missing package has been installed meanwhile."""
        if not self._waits_for:
            return set()
        importlib.invalidate_caches()
        return {module for module, package in self._waits_for.items() if _is_installed(package)}

    def _affected(self, changed: Iterable[str]) -> frozenset[str]:
        """The changed modules and everything that imports them, at any distance."""
        importers: dict[str, set[str]] = {}
        for source in self._sources.by_module.values():
            for imported in source.imports:
                importers.setdefault(imported.module, set()).add(source.module)
        affected: set[str] = set()
        waiting = list(changed)
        while waiting:
            module = waiting.pop()
            if module not in affected:
                affected.add(module)
                waiting.extend(importers.get(module, ()))
        return frozenset(affected)

    def _refuse_circles(self) -> None:
        """Mark every circle that passes through a definition file as not to be run."""
        by_module = self._sources.by_module
        graph = {
            source.module: [
                imported.module
                for imported in source.imports
                if imported.while_importing and imported.module in by_module
            ]
            for source in by_module.values()
        }
        for module, way in circles(graph).items():
            if any(kind_of(by_module[name]) is not None for name in way):
                source = by_module[module]
                following = way[1] if len(way) > 1 else module
                line = next(found.line for found in source.imports if found.module == following)
                paths = [by_module[name].relative_path for name in way]
                self._finder.failed[module] = Circle(source, paths, line)

    def _definition_files(self, affected: frozenset[str]) -> Iterable[Source]:
        for module in sorted(affected):
            source = self._sources.by_module.get(module)
            if source is not None and kind_of(source) in _LOADED_KINDS:
                yield source

    def _load(self, source: Source) -> None:
        try:
            earlier = self._finder.failed.get(source.module)
            if earlier is not None:
                raise earlier
            module = importlib.import_module(source.module)
            self._keep(source, module)
        except BaseException as error:  # whatever user code does at import is its own problem
            self._problems[source.module] = problem_of(source, error)
            package = missing_package(error)
            if package is not None:
                self._waits_for[source.module] = package

    def _keep(self, source: Source, module: ModuleType) -> None:
        """Take what a file declares into the manifest.

        Raises:
            KnownError: it declares nothing, or not what its folder holds.
        """
        declared = declared_in(module, source)
        self._loaded[source.module] = LoadedDefinition(
            kind=declared.kind,
            name=declared.definition.name,
            path=source.relative_path,
            file_hash=source.content_hash,
            values=declared.definition.model_dump(mode="json"),
        )
        if declared.runnable is not None:
            self._by_module[source.module] = declared.runnable

    def _content_hash(self) -> str:
        return _hash_of(self._sources.by_module.values())

    def _fingerprint(self, source: Source) -> str:
        """SHA-256 hex over a file and everything of the project it imports."""
        reached: dict[str, Source] = {}
        waiting = [source.module]
        while waiting:
            module = waiting.pop()
            found = self._sources.by_module.get(module)
            if found is not None and module not in reached:
                reached[module] = found
                waiting.extend(imported.module for imported in found.imports)
        return _hash_of(reached.values())


def _hash_of(sources: Iterable[Source]) -> str:
    whole = hashlib.sha256()
    for source in sorted(sources, key=lambda source: source.module):
        line = f"{source.relative_path}\0{source.content_hash}\n"
        whole.update(line.encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def _skipped(source: Source) -> LoadProblem:
    return LoadProblem(
        path=source.relative_path,
        sentence=f"{source.relative_path} ended or blocked the code host while it was "
        "imported; it is tried again when it changes.",
    )


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False
