"""Problems: what the rules find, with a place in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sa_builder.project import addresses
from sa_builder.project.nodes import Arguments
from sa_builder.project.read import FileReading, key_span, nearest_span
from sa_builder.project.shapes import Code, Fix, Problem, Severity
from sa_builder.spec.kinds import Kind
from sa_builder.spec.properties import MODELS
from sa_builder.spec.rules import COMPUTED, ArgumentNames, Entry, Finding, check_one, check_together

_WHOLE_KEY = frozenset({"SA014", "SA017", "SA032", "SA033"})
"""Rules about a property being there at all: their place is the whole keyword."""

_FAULT_SEVERITY: Mapping[str, Severity] = {"SA007": "hint"}


def entry_of_reading(reading: FileReading) -> Entry:
    """A file's definition as the rules see it."""
    place = reading.place
    declaration = reading.declaration
    if declaration is None or reading.computed is not None or place.kind not in MODELS:
        return Entry(
            kind=place.kind,
            name=place.stem,
            stem=place.stem,
            address=place.address,
            known=place.kind not in MODELS,
        )
    values = cast(dict[str, Any], _without_code(reading.values))
    for key in ("args", "output", "required_schema"):
        if key in values and values[key] is not None:
            values[key] = COMPUTED
    name = values.get("name")
    return Entry(
        kind=place.kind,
        name=name if isinstance(name, str) and place.kind is not Kind.TOOL else place.stem,
        stem=place.stem,
        address=place.address,
        values=values,
        arguments=_arguments(declaration.arguments, declaration.takes_no_arguments),
    )


def problems_of(readings: Mapping[str, FileReading]) -> list[Problem]:
    """Every problem of a project, file by file, in the order of the text."""
    entries: list[Entry] = []
    findings: list[Finding] = []
    for reading in readings.values():
        if reading.entry is None:
            reading.entry = entry_of_reading(reading)
            reading.findings = check_one(reading.entry)
        entries.append(reading.entry)
        findings += reading.findings
    findings += check_together(entries)
    found: list[Problem] = []
    for address, reading in readings.items():
        found += [
            Problem(
                code=fault.code,
                severity=_FAULT_SEVERITY.get(fault.code, "error"),
                span=reading.source.char_span(fault.start_char, fault.end_char),
                sentence=fault.sentence,
                address=address,
            )
            for fault in reading.faults
        ]
    found += [_placed(finding, readings) for finding in findings]
    order = {reading.place.path: index for index, reading in enumerate(readings.values())}
    return sorted(found, key=lambda each: (order[each.span.path], each.span.start_char, each.code))


def _placed(finding: Finding, readings: Mapping[str, FileReading]) -> Problem:
    head, path = addresses.split(finding.address, readings)
    reading = readings[head]
    span = key_span(reading, path) if finding.code in _WHOLE_KEY else None
    return Problem(
        code=finding.code,
        severity=finding.severity,
        span=span or nearest_span(reading, path),
        sentence=finding.sentence,
        address=finding.address,
        fixes=[Fix(title=fix.title, act=fix.act, arguments=fix.arguments) for fix in finding.fixes],
    )


def worst_sentences(problems: Sequence[Problem]) -> dict[str, str]:
    """Definition address → the sentence of its worst problem; hints do not count."""
    rank = {"error": 0, "warning": 1, "hint": 2}
    worst: dict[str, Problem] = {}
    for problem in problems:
        if problem.severity == "hint" or problem.address is None:
            continue
        head = _file_address(problem.address)
        known = worst.get(head)
        if known is None or rank[problem.severity] < rank[known.severity]:
            worst[head] = problem
    return {address: problem.sentence for address, problem in worst.items()}


def _file_address(address: str) -> str:
    slash = address.rfind("/")
    cuts = [cut for cut in (address.find(".", slash), address.find("[", slash)) if cut > 0]
    return address[: min(cuts)] if cuts else address


def _without_code(value: Any) -> Any:
    if isinstance(value, Code):
        return COMPUTED
    if isinstance(value, Mapping):
        return {key: _without_code(item) for key, item in cast(Mapping[str, Any], value).items()}
    if isinstance(value, list):
        return [_without_code(item) for item in cast(list[Any], value)]
    return value


def _arguments(read: Arguments | None, takes_none: bool) -> ArgumentNames | None:
    if takes_none:
        return ArgumentNames()
    if read is None:
        return None
    return ArgumentNames(names=frozenset(read.names), required=frozenset(read.required))
