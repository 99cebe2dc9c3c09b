"""check, connect, disconnect, set, unset, new-definition: the canvas's own edits, scriptable.

No user code runs here: definition files are read and written as text.
"""

from __future__ import annotations

import argparse
import ast
import json
from collections import Counter
from collections.abc import Callable

from sa_builder.cli.output import add_json, add_project, plain, print_json
from sa_builder.project.project import Project
from sa_builder.project.shapes import Edit, Problem
from sa_builder.spec.kinds import Kind

_ARGUMENTS: dict[str, dict[str, str]] = {
    "check": {},
    "connect": {
        "source": "what to connect: agents/x.side_a, prompts/y, models/z",
        "target": "what to: prompts/y, handlers/h, agents/x, tools/t, models/z or human",
    },
    "disconnect": {
        "source": "what to disconnect: agents/x.side_a, prompts/y, models/z",
        "target": "what from: prompts/y, handlers/h, agents/x, tools/t, models/z or human",
    },
    "set": {
        "address": "the property, such as agents/x.side_a.max_steps",
        "value": "a number, true, false, a JSON or Python literal; anything else is text",
    },
    "unset": {"address": "the property, such as agents/x.side_a.max_steps"},
    "new-definition": {
        "kind": "agent, prompt, model, tool or handler",
        "name": "the new definition's name, which is also its file's",
    },
}


def configure(command: str, parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    for name, help_text in _ARGUMENTS[command].items():
        choices = [str(kind) for kind in Kind] if name == "kind" else None
        parser.add_argument(name, help=help_text, choices=choices, metavar=name.upper())
    add_project(parser)
    add_json(parser)


def perform(command: str, arguments: argparse.Namespace) -> int:
    """Do the command; returns the exit code."""
    project = Project.open(arguments.project)
    if command == "check":
        return _check(project, as_json=arguments.json)
    edits: dict[str, Callable[[], Edit]] = {
        "connect": lambda: project.connect(arguments.source, arguments.target),
        "disconnect": lambda: project.disconnect(arguments.source, arguments.target),
        "set": lambda: project.set(arguments.address, value_of(arguments.value)),
        "unset": lambda: project.unset(arguments.address),
        "new-definition": lambda: project.apply(
            project.plan_new(Kind(arguments.kind), arguments.name)
        ),
    }
    edit = edits[command]()
    if arguments.json:
        print_json(
            {
                "title": edit.title,
                "summary": edit.summary,
                "notes": edit.notes,
                "files": [change.path for change in edit.changes],
            }
        )
        return 0
    print(edit.summary or edit.title)
    for note in edit.notes:
        print(f"  {note}")
    return 0


def value_of(text: str) -> object:
    """What was typed, as a value: JSON, else a Python literal, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        pass  # not JSON; it may be a Python literal
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _check(project: Project, *, as_json: bool) -> int:
    problems = project.problems()
    counts = Counter(problem.severity for problem in problems)
    if as_json:
        print_json({"problems": [plain(one) for one in problems], "counts": dict(counts)})
    else:
        for problem in problems:
            print(_line(problem))
        print(_summary(len(project.definitions()), counts))
    return 1 if counts["error"] else 0


def _line(problem: Problem) -> str:
    span = problem.span
    return (
        f"{span.path}:{span.line}:{span.column}: "
        f"{problem.code} {problem.severity}: {problem.sentence}"
    )


def _summary(definitions: int, counts: Counter[str]) -> str:
    found = [
        f"{counts[severity]} {severity}{'s' if counts[severity] != 1 else ''}"
        for severity in ("error", "warning", "hint")
        if counts[severity]
    ]
    files = f"{definitions} definition{'s' if definitions != 1 else ''}"
    return f"{files}: {', '.join(found) if found else 'no problems'}"
