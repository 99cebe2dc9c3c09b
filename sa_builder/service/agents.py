"""The agents a new thread may be made of, read from text: no user code runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from sa_builder.project.project import Project
from sa_builder.project.shapes import Reading
from sa_builder.spec.kinds import Kind
from sa_builder.spec.threads import AgentSummary, MissingVariable


def agent_summaries(root: Path, value: Callable[[str], str | None]) -> list[AgentSummary]:
    """Every agent, primary ones first, with the variables that nothing sets.

    Args:
        value: name → what sets a variable now; None when nothing does.
    """
    project = Project.open(root)
    errors = {
        problem.address.split(".", 1)[0]: problem.sentence
        for problem in project.problems()
        if problem.severity == "error" and problem.address
    }
    found = [
        _summary(project, project.reading(one.address), errors, value)
        for one in project.definitions()
        if one.kind is Kind.AGENT
    ]
    return sorted(found, key=lambda agent: (not agent.primary, agent.name))


def _summary(
    project: Project,
    reading: Reading,
    errors: Mapping[str, str],
    value: Callable[[str], str | None],
) -> AgentSummary:
    values = reading.values
    human: Literal["a", "b"] | None = None
    missing: list[MissingVariable] = []
    for letter in ("a", "b"):
        side = _mapping(values.get(f"side_{letter}"))
        if side.get("human") is True:
            human = letter
        prompt = side.get("prompt")
        if isinstance(prompt, str):
            missing += _missing(project, f"prompts/{prompt}", value)
    description = values.get("description")
    return AgentSummary(
        name=reading.name,
        description=description if isinstance(description, str) else None,
        primary=values.get("primary") is not False,
        human_side=human,
        missing_variables=missing,
        problem=errors.get(reading.address),
    )


def _missing(
    project: Project, address: str, value: Callable[[str], str | None]
) -> list[MissingVariable]:
    known = {one.address for one in project.definitions()}
    if address not in known:
        return []
    names = project.reading(address).values.get("tools")
    tools = [f"tools/{name}" for name in _texts(names)]
    found: list[MissingVariable] = []
    for place in (address, *(tool for tool in tools if tool in known)):
        for variable in _items(project.reading(place).values.get("variables")):
            entry = _mapping(variable)
            name = entry.get("name")
            if isinstance(name, str) and entry.get("required") is True and value(name) is None:
                found.append(
                    MissingVariable(
                        name=name,
                        type="text" if entry.get("type") == "text" else "secret",
                        description=cast("str | None", entry.get("description")),
                        needed_by=place,
                    )
                )
    return found


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _items(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else ()


def _texts(value: Any) -> list[str]:
    return [item for item in _items(value) if isinstance(item, str)]
