"""One definition file, read: its values with places, and what is wrong with its text."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sa_builder.errors import ProjectError
from sa_builder.project.addresses import Path
from sa_builder.project.layout import Place
from sa_builder.project.module_reader import read_module
from sa_builder.project.nodes import (
    Declaration,
    Entry,
    ListNode,
    ModuleNodes,
    Node,
    RecordNode,
    inner,
    plain_record,
)
from sa_builder.project.shapes import Span
from sa_builder.project.source import Source
from sa_builder.spec.findings import Entry as RuleEntry, Finding
from sa_builder.spec.kinds import Kind
from sa_builder.spec.properties import DECLARATION_OF, DECLARATIONS, MODELS


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFault:
    """Something wrong with a file before any rule is asked."""

    code: str
    sentence: str
    start_char: int
    end_char: int


@dataclass(slots=True, kw_only=True)
class FileReading:
    """What one file says."""

    place: Place
    source: Source
    compiles: bool
    faults: list[TextFault] = field(default_factory=list[TextFault])
    module: ModuleNodes | None = None
    declaration: Declaration | None = None
    """The one definition of the file; None when there is none that can be read."""
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    entry: RuleEntry | None = None
    """As the rules see it; made when first asked for."""
    findings: Sequence[Finding] = ()
    """What the rules about one definition alone find; made with `entry`."""
    stale_source: Source | None = None
    """The text of the last good reading that `declaration` belongs to, when it is kept."""

    @property
    def stale(self) -> bool:
        """Whether the file does not compile now."""
        return not self.compiles

    @property
    def named_source(self) -> Source:
        """The text that the places of `declaration` are offsets of."""
        return self.stale_source or self.source

    @property
    def computed(self) -> str | None:
        """Why the definition as a whole is code."""
        return self.declaration.computed if self.declaration else None


def read_file(
    place: Place,
    source: Source,
    before: FileReading | None = None,
    *,
    with_comments: bool = False,
) -> FileReading:
    """Read a file's text; never runs it and never raises for what the text says.

    Args:
        before: the former reading of the same file, kept when this text does not compile.
        with_comments: also find the comments, which an edit needs, while the tree is at hand.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_quietly(place, source, before, with_comments=with_comments)


def read_quietly(
    place: Place,
    source: Source,
    before: FileReading | None = None,
    *,
    with_comments: bool = False,
) -> FileReading:
    """As `read_file`, for a caller that reads many and keeps the compiler's warnings silent."""
    fault = syntax_fault(source)
    if fault is not None and before is not None and before.declaration is not None:
        return FileReading(
            place=place,
            source=source,
            compiles=False,
            faults=[fault],
            module=before.module,
            declaration=before.declaration,
            values=before.values,
            stale_source=before.named_source,
        )
    reading = FileReading(place=place, source=source, compiles=fault is None)
    if fault is not None:
        reading.faults.append(fault)
    if place.kind not in MODELS:
        return reading
    reading.module = read_module(source, with_comments=with_comments)
    _choose(reading)
    return reading


def syntax_fault(source: Source) -> TextFault | None:
    """Where CPython refuses the text, or None."""
    try:
        compile(source.data, source.path, "exec", dont_inherit=True)
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        line = min(max(line, 1), len(source.line_starts))
        start = source.line_starts[line - 1]
        limit = source.line_starts[line] if line < len(source.line_starts) else len(source.text)
        at = min(start + max(column, 1) - 1, max(limit - 1, start))
        reason = (error.msg or "invalid syntax").rstrip(".")
        shown, at_column = source.line_column(at)
        return TextFault(
            code="SA001",
            sentence=f"Line {shown}, column {at_column} is not Python: {reason}.",
            start_char=at,
            end_char=min(at + 1, len(source.text)),
        )
    except (ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, ValueError):
            at = max(source.text.find("\0"), 0)
            reason = "it holds a NUL character" if "\0" in source.text else str(error)
        else:
            at, reason = 0, "it is nested too deeply for Python"
        return TextFault(
            code="SA001",
            sentence=f"Line {source.line_column(at)[0]} is not Python: {reason}.",
            start_char=at,
            end_char=min(at + 1, len(source.text)),
        )
    return None


def _choose(reading: FileReading) -> None:
    module, source, place = reading.module, reading.source, reading.place
    assert module is not None
    wanted = DECLARATION_OF[place.kind]
    every = module.declarations
    fitting = [each for each in every if each.name == wanted]
    bound = [each for each in fitting if each.bound_to is not None]
    if len(every) > 1:
        second = every[1]
        reading.faults.append(
            _fault(
                source,
                "SA003",
                f"The file holds {len(every)} definitions; "
                "keep one and move each other one to a file of its own.",
                second.start,
                second.end,
            )
        )
    elif not every and reading.compiles:
        reading.faults.append(
            TextFault(
                code="SA002",
                sentence=f"The file declares nothing; write a {wanted}(...) in it, "
                "or begin its name with _ if it is helper code.",
                start_char=0,
                end_char=0,
            )
        )
    elif every and not fitting:
        other = every[0]
        kind = DECLARATIONS[other.name]
        reading.faults.append(
            _fault(
                source,
                "SA004",
                f"The file declares {_a(kind)} in a folder for {place.kind.value}s; "
                f"move it to agents/{kind.value}s/ or declare it with {wanted}(...).",
                other.record.start,
                other.record.end,
            )
        )
    elif fitting and not bound:
        other = fitting[0]
        reading.faults.append(
            _fault(
                source,
                "SA002",
                f"The {wanted}(...) is not kept; write {place.kind.value} = {wanted}(...).",
                other.record.start,
                other.record.end,
            )
        )
    if bound:
        reading.declaration = bound[0]
        if bound[0].computed is None:
            reading.values = plain_record(bound[0].record)
        else:
            reading.faults.append(
                _fault(
                    source,
                    "SA007",
                    f"The definition is computed ({bound[0].computed}), so it can be run "
                    "but not read or edited here; write it as one plain call.",
                    bound[0].record.start,
                    bound[0].record.end,
                )
            )


def _fault(source: Source, code: str, sentence: str, start: int, end: int) -> TextFault:
    return TextFault(
        code=code,
        sentence=sentence,
        start_char=source.char_offset(start),
        end_char=source.char_offset(end),
    )


def _a(kind: Kind) -> str:
    return f"an {kind.value}" if kind.value[0] in "aeiou" else f"a {kind.value}"


# places


def find_node(record: RecordNode, path: Path) -> tuple[Node | None, Entry | None]:
    """The node at a path and, when the last step is a key, its entry; None when not written."""
    node: Node = record
    entry: Entry | None = None
    for step in path:
        current = inner(node)
        if isinstance(step, int):
            if not isinstance(current, ListNode) or step >= len(current.items):
                return None, None
            node, entry = current.items[step], None
        else:
            if not isinstance(current, RecordNode):
                return None, None
            entry = current.entry(step)
            if entry is None:
                return None, None
            node = entry.value
    return node, entry


def node_span(reading: FileReading, path: Path) -> Span | None:
    """Where the value at a path stands: the value's own span, a list item whole."""
    if reading.declaration is None:
        return None
    source = reading.named_source
    record = reading.declaration.record
    if not path:
        return source.span(record.start, record.end)
    node, _ = find_node(record, path)
    return source.span(node.start, node.end) if node is not None else None


def nearest_span(reading: FileReading, path: Path) -> Span:
    """The span of a path, or of the nearest thing around it that is written."""
    while True:
        if (span := node_span(reading, path)) is not None:
            return span
        if not path:
            return reading.source.char_span(0, 0)
        path = path[:-1]


def key_span(reading: FileReading, path: Path) -> Span | None:
    """The span of a whole keyword, name and value."""
    if reading.declaration is None or not path:
        return None
    _, entry = find_node(reading.declaration.record, path)
    if entry is None:
        return None
    return reading.named_source.span(entry.start, entry.end)


def decode(place: Place, data: bytes) -> Source | ProjectError:
    """The source of a file's bytes, or why it has none."""
    try:
        return Source(place.path, data)
    except ProjectError as error:
        return error
