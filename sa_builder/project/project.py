"""The door to a project's files: read, judge, draw and edit them. Runs no user code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sa_builder.errors import EditRefused, KnownError, ProjectError
from sa_builder.project import addresses
from sa_builder.project.disk import History, read_bytes, write_changes
from sa_builder.project.edit import FileEditor
from sa_builder.project.fields import fields_of
from sa_builder.project.files import ProjectFiles, collector_off
from sa_builder.project.graph import build_graph
from sa_builder.project.layout import AGENTS, NAME, path_of, place_of
from sa_builder.project.nodes import ListNode, Node, RecordNode, inner
from sa_builder.project.plans import edit_of, plan_connect, plan_disconnect
from sa_builder.project.problems import problems_of, worst_sentences
from sa_builder.project.read import FileReading, node_span
from sa_builder.project.shapes import (
    DefinitionSummary,
    Edit,
    FieldValue,
    FileChange,
    Graph,
    Problem,
    Reading,
    Span,
    Target,
)
from sa_builder.project.source import Source
from sa_builder.project.templates import template
from sa_builder.project.wishes import port_of, wish_of
from sa_builder.spec.kinds import FOLDER_OF, Kind


class Project:
    """A folder with `agents/`, read as text.

    Not safe for use from several OS threads at once; a view and a watcher meet in `refresh`,
    which the view calls.
    """

    def __init__(self, files: ProjectFiles) -> None:
        """Keep what was read; use `open`."""
        self._files = files
        self._history = History(root=files.root, done=[], undone=[])
        self._problems: list[Problem] | None = None
        self._graphs: dict[str | None, Graph] = {}

    @classmethod
    def open(cls, root: Path) -> Project:
        """Read a project.

        Raises:
            ProjectError: the folder is missing or holds no `agents/`.
        """
        files = ProjectFiles(Path(root))
        files.refresh()
        return cls(files)

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self._files.root

    # reading

    def refresh(self) -> frozenset[str]:
        """Read what changed on the disk; the paths that changed, came or went."""
        changed = self._files.refresh()
        if changed:
            self._forget()
        return changed

    def definitions(self) -> Sequence[DefinitionSummary]:
        """Every definition file, by folder and name."""
        counts: dict[str, int] = {}
        for problem in self.problems():
            if problem.severity != "hint":
                counts[problem.span.path] = counts.get(problem.span.path, 0) + 1
        return [
            DefinitionSummary(
                address=address,
                kind=reading.place.kind,
                name=_name(reading),
                path=reading.place.path,
                problems=counts.get(reading.place.path, 0),
                stale=reading.stale,
            )
            for address, reading in self._files.readings.items()
        ]

    def reading(self, address: str) -> Reading:
        """A definition as it was read.

        Raises:
            ProjectError: there is no such definition.
        """
        reading, _ = self._at(address)
        return Reading(
            address=reading.place.address,
            kind=reading.place.kind,
            name=_name(reading),
            path=self.root / reading.place.path,
            values=reading.values,
        )

    def problems(self) -> Sequence[Problem]:
        """Every problem, file by file, in the order of the text."""
        if self._problems is None:
            with collector_off():
                self._problems = problems_of(self._files.readings)
        return self._problems

    def graph(self, agent: str | None = None) -> Graph:
        """The whole project as a graph, or what one agent reaches.

        Args:
            agent: an agent's name or address.

        Raises:
            ProjectError: there is no such agent.
        """
        if agent is not None and f"agents/{agent.removeprefix('agents/')}" not in (
            self._files.readings
        ):
            raise ProjectError(
                f"There is no agent {agent}.", act="Check its name.", code="project.no_agent"
            )
        if agent not in self._graphs:
            problems = self.problems()
            broken = {
                each.address: each.sentence
                for each in problems
                if each.address is not None and each.severity == "error"
            }
            for address in list(broken):
                holder, _, tail = address.rpartition(".")
                if tail in ("agent", "name", "prompt") and (
                    holder.endswith("]") or ".session_" in holder
                ):
                    broken.setdefault(holder, broken[address])
            with collector_off():
                self._graphs[agent] = build_graph(
                    self._files.readings, worst_sentences(problems), broken, agent
                )
        return self._graphs[agent]

    def fields(self, address: str) -> Sequence[FieldValue]:
        """The rows of the form of a definition, a side or a relationship.

        Raises:
            ProjectError: there is no such definition.
        """
        reading, path = self._at(address)
        sentences = {
            each.address: each.sentence
            for each in reversed(self.problems())
            if each.address is not None and each.severity != "hint"
        }
        return fields_of(reading, path, self._files.readings, sentences)

    def span(self, address: str) -> Span:
        """Where a definition, side, property or list item stands in the last good text.

        Raises:
            ProjectError: it is not written.
        """
        reading, path = self._at(address)
        span = node_span(reading, path)
        if span is None:
            raise ProjectError(
                f"{address} is not written in {reading.place.path}.",
                act="It has its default value.",
                code="project.not_written",
            )
        return span

    def text(self, path_or_address: str) -> str:
        """A file's text as it was last read.

        Raises:
            ProjectError: there is no such file in the project.
        """
        place = place_of(path_or_address)
        address = place.address if place is not None else path_or_address
        reading = self._files.get(address)
        if reading is None and place is None:
            reading, _ = self._at(path_or_address)
        if reading is not None:
            return reading.source.text
        data = read_bytes(self._inside(path_or_address))
        if data is None:
            raise ProjectError(
                f"There is no file {path_or_address}.", act="", code="project.no_file"
            )
        return Source(path_or_address, data).text

    def address_at(self, path: str, char_offset: int) -> str | None:
        """The innermost definition, property or list item at a character of a file."""
        place = place_of(path)
        reading = self._files.get(place.address) if place is not None else None
        if reading is None or reading.declaration is None or reading.stale_source is not None:
            return None
        at = reading.source.utf8_offset(char_offset)
        declaration = reading.declaration
        if not declaration.start <= at <= declaration.end:
            return None
        found: addresses.Path = ()
        node: Node = declaration.record
        while (step := _step_at(node, at)) is not None:
            key, node = step
            found = (*found, key)
        return addresses.join(reading.place.address, found)

    def targets(self, source_address: str) -> Sequence[Target]:
        """For every node of the whole graph: what dropping a connection on it would do.

        Raises:
            EditRefused: nothing can be connected from the address.
        """
        readings = self._files.readings
        port = port_of(source_address, readings)
        found: list[Target] = []
        for node in self.graph().nodes:
            wish = wish_of(port, node.id, readings)
            found.append(Target(node=node.id, allowed=wish.deed is not None, says=wish.says))
        return found

    # planning

    def plan_connect(self, source: str, target: str) -> Edit:
        """Plan a connection.

        Args:
            source: a side, a prompt or a model.
            target: a definition, or `human`.

        Raises:
            EditRefused: it may not be made; nothing was touched.
        """
        self._read_again(source, target)
        return _refusing(lambda: plan_connect(source, target, self._files.readings))

    def plan_disconnect(self, source: str, target: str) -> Edit:
        """Plan to take a connection away.

        Raises:
            EditRefused: there is none, or it may not be taken away.
        """
        self._read_again(source, target)
        return _refusing(lambda: plan_disconnect(source, target, self._files.readings))

    def plan_set(self, address: str, value: Any) -> Edit:
        """Plan to give a property or list item a value; a side takes what backs it.

        Raises:
            EditRefused: the value cannot be written there.
        """
        self._read_again(address)
        reading, path = self._editable(address)
        if not path:
            raise EditRefused(
                f"{address} is a whole definition, not a property.",
                act="Name a property, such as agents/x.max_session_turns.",
                code="edit.no_property",
            )
        if path in (("side_a",), ("side_b",)) and isinstance(value, str):
            return self.plan_connect(address, value)
        editor = FileEditor(reading)
        editor.set(path, value)
        title = f"Set {_words(path)} of {_name(reading)}"
        return edit_of(title, [editor.finish()], [], editor)

    def plan_unset(self, address: str) -> Edit:
        """Plan to take a property or list item out of its file.

        Raises:
            EditRefused: it is not written, or the text does not allow it.
        """
        self._read_again(address)
        reading, path = self._editable(address)
        if not path:
            raise EditRefused(
                f"{address} is a whole definition, not a property.",
                act="Delete its file instead.",
                code="edit.no_property",
            )
        editor = FileEditor(reading)
        editor.unset(path)
        title = f"Remove {_words(path)} of {_name(reading)}"
        return edit_of(title, [editor.finish()], [], editor)

    def plan_new(self, kind: Kind | str, name: str) -> Edit:
        """Plan a new definition file.

        Raises:
            EditRefused: the name is taken or not allowed.
        """
        self.refresh()
        try:
            wanted = Kind(kind)
        except ValueError as error:
            raise EditRefused(
                f"There is no kind of definition called {kind}.",
                act="Kinds are agent, prompt, model, tool and handler.",
                code="edit.unknown_kind",
            ) from error
        stem = name.replace("-", "_") if wanted is Kind.MODEL else name
        if NAME.fullmatch(stem) is None:
            raise EditRefused(
                f'"{name}" cannot be a name.',
                act="Use lower-case letters, digits and _, beginning with a letter.",
                code="edit.name",
            )
        text = template(
            wanted,
            name,
            prompt=self._choose(Kind.PROMPT, stem),
            model=self._choose(Kind.MODEL, "default"),
        )
        if text is None:
            raise EditRefused(
                f"A {wanted.value} cannot be made here yet.",
                act="Write its file by hand.",
                code="edit.no_template",
            )
        path = path_of(wanted, name)
        if read_bytes(self.root / path) is not None:
            raise EditRefused(
                f"{path} exists already.", act="Choose another name.", code="edit.exists"
            )
        source = Source(path, text.encode())
        change = FileChange(
            path=path,
            before=None,
            after=source.data,
            spans=[source.char_span(0, len(text))],
            characters=len(text),
        )
        return edit_of(f"Create {wanted.value} {name}", [change], [])

    def plan_write(self, path: str, text: str) -> Edit:
        """Plan to replace a file's whole text, as the source view does.

        Line ends follow the file when the text has only LF; encoding and mark stay.

        Raises:
            EditRefused: the path lies outside `agents/`, or the encoding cannot hold the text.
        """
        place = place_of(path)
        target = self._inside(path)
        before = read_bytes(target)
        try:
            old = Source(path, before or b"")
            if old.newline != "\n" and "\r" not in text:
                text = text.replace("\n", old.newline)
            after = old.encode(text.encode("utf-8", "surrogatepass"))
            new = Source(path, after)
        except (UnicodeEncodeError, ProjectError) as error:
            raise EditRefused(
                f"The text cannot be written into {path} in its encoding.",
                act="Save the file as UTF-8.",
                code="edit.encoding",
            ) from error
        head = _common(old.text, new.text)
        tail = _common(old.text[head:][::-1], new.text[head:][::-1])
        end = len(new.text) - tail
        change = FileChange(
            path=path,
            before=before,
            after=after,
            spans=[new.char_span(head, end)],
            characters=(end - head) or (len(old.text) - tail - head),
        )
        name = place.stem if place is not None else path
        return edit_of(f"Edit the text of {name}", [change], [])

    # doing

    def apply(self, edit: Edit) -> Edit:
        """Write a planned edit: all its files or none, as one undo step.

        Raises:
            EditRefused: a file changed outside since the plan, or cannot be written.
        """
        if not edit.changes:
            return edit
        write_changes(self.root, edit.changes)
        self._history.add(edit)
        self._read_changes(edit)
        return edit

    def connect(self, source: str, target: str) -> Edit:
        """Plan and apply a connection."""
        return self.apply(self.plan_connect(source, target))

    def connect_new(self, source: str, kind: Kind | str, name: str) -> Edit:
        """Make a definition and connect to it, as one undo step.

        Raises:
            EditRefused: the name is not allowed, or nothing of the kind can be connected there;
                then no file is left behind.
        """
        wanted = Kind(kind)
        made = self.apply(self.plan_new(wanted, name))
        try:
            self.connect(source, f"{FOLDER_OF[wanted]}/{name}")
        except KnownError:
            self._history.forget_last()
            self._read_changes(made)
            raise
        return self._history.join_last_two()

    def encoding(self, path: str) -> str:
        """How a file is written down: "UTF-8", "UTF-8 with BOM", or what its cookie names."""
        place = place_of(path)
        reading = self._files.get(place.address) if place is not None else None
        if reading is None or reading.source.encoding == "utf-8":
            is_marked = reading is not None and reading.source.bom
            return "UTF-8 with BOM" if is_marked else "UTF-8"
        return reading.source.encoding

    def disconnect(self, source: str, target: str) -> Edit:
        """Plan and apply the removal of a connection."""
        return self.apply(self.plan_disconnect(source, target))

    def set(self, address: str, value: Any) -> Edit:
        """Plan and apply a new value."""
        return self.apply(self.plan_set(address, value))

    def unset(self, address: str) -> Edit:
        """Plan and apply the removal of a property or list item."""
        return self.apply(self.plan_unset(address))

    @property
    def undo_title(self) -> str | None:
        """What `undo` would take back."""
        return self._history.done[-1].title if self._history.done else None

    @property
    def redo_title(self) -> str | None:
        """What `redo` would make again."""
        return self._history.undone[-1].title if self._history.undone else None

    def undo(self) -> Edit | None:
        """Restore the exact bytes before the last edit; None when there is none.

        Returns:
            The edit that was taken back, whose summary says so.

        Raises:
            EditRefused: a file changed outside since.
        """
        edit = self._history.undo()
        if edit is None:
            return None
        self._read_changes(edit)
        return replace(edit, is_undone=True, summary=f"Undid: {edit.title}")

    def redo(self) -> Edit | None:
        """Make the last undone edit again; None when there is none.

        Raises:
            EditRefused: a file changed outside since.
        """
        edit = self._history.redo()
        if edit is not None:
            self._read_changes(edit)
        return edit

    # inside

    def _at(self, address: str) -> tuple[FileReading, addresses.Path]:
        head, path = addresses.split(address, self._files.readings)
        reading = self._files.get(head)
        if reading is None:
            raise ProjectError(
                f"There is no definition {head}.", act="Check its name.", code="project.unknown"
            )
        return reading, path

    def _editable(self, address: str) -> tuple[FileReading, addresses.Path]:
        try:
            return self._at(address)
        except ProjectError as error:
            raise EditRefused(error.sentence, act=error.act, code="edit.unknown") from error

    def _read_again(self, *targets: str) -> None:
        """Base a plan on what the disk says now, whatever the stamps say."""
        changed = False
        for address in targets:
            try:
                head, _ = addresses.split(address, self._files.readings)
            except ProjectError:
                continue
            reading = self._files.get(head)
            if reading is not None:
                changed |= self._files.refresh_one(reading.place.path)
        if changed:
            self._forget()

    def _read_changes(self, edit: Edit) -> None:
        for change in edit.changes:
            self._files.refresh_one(change.path)
        self._forget()

    def _forget(self) -> None:
        self._problems = None
        self._graphs = {}

    def _choose(self, kind: Kind, name: str) -> str:
        names = [_name(each) for each in self._files.readings.values() if each.place.kind is kind]
        return name if name in names or not names else names[0]

    def _inside(self, path: str) -> Path:
        """A path of the project, never one outside its `agents/`."""
        parts = path.split("/")
        if parts[0] != AGENTS or ".." in parts or "\\" in path or len(parts) < 2:
            raise EditRefused(
                f"{path} does not lie under agents/.",
                act="Only files of the project's definitions are edited here.",
                code="edit.outside",
            )
        return self.root / path


def _refusing(plan: Any) -> Edit:
    try:
        return plan()
    except EditRefused:
        raise
    except KnownError as error:
        raise EditRefused(error.sentence, act=error.act, code=error.code) from error


def _name(reading: FileReading) -> str:
    name = reading.values.get("name")
    return name if isinstance(name, str) else reading.place.stem


def _common(left: str, right: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _words(path: addresses.Path) -> str:
    return addresses.join("", path).removeprefix(".")


def _step_at(node: Node, at: int) -> tuple[str | int, Node] | None:
    """The entry or item of a node that an offset stands in."""
    target = inner(node)
    match target:
        case RecordNode():
            for entry in target.entries:
                if entry.start <= at <= entry.end:
                    return entry.key, entry.value
        case ListNode():
            for index, item in enumerate(target.items):
                if item.start <= at <= item.end:
                    return index, item
        case _:
            pass
    return None
