"""Project templates: which there are, and making a project of one."""

from __future__ import annotations

import shutil
from pathlib import Path

from sa_builder.errors import KnownError
from sa_builder.util.resources import data_root, resources_root

SAMPLE = "repo_assistant"
"""The template that is the sample project itself."""

_SAYS = {
    "empty": "One agent with a prompt, to start from.",
    SAMPLE: "The sample: a person asks, a child thread triages a GitHub issue.",
    "relay": "A handler passes messages on to a child agent.",
    "slack_agent": "An agent that answers in Slack.",
    "sub_agents": "Child agents written in code.",
}
_LEAVE_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".sa_builder")


def list_templates() -> list[tuple[str, str]]:
    """Names and one sentence each, the simplest first."""
    folder = resources_root() / "templates"
    found = {SAMPLE}
    if folder.is_dir():
        found |= {one.name for one in folder.iterdir() if (one / "agents").is_dir()}
    order = list(_SAYS)
    ranked = sorted(found, key=lambda name: (order.index(name) if name in order else 99, name))
    return [(name, _SAYS.get(name, "")) for name in ranked]


def make_project(template: str, folder: Path) -> Path:
    """Copy a template into a folder that is new or empty.

    Raises:
        KnownError: the folder has something in it, or cannot be written.
    """
    source = data_root() if template == SAMPLE else resources_root() / "templates" / template
    if not (source / "agents").is_dir():
        raise KnownError(f"There is no template {template!r}.", code="template.unknown")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise KnownError(
            f"{folder} is not empty.",
            act="Choose a folder that is new or empty, so that nothing of yours is overwritten.",
            code="template.not_empty",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if template == SAMPLE:
            shutil.copytree(source / "agents", folder / "agents", ignore=_LEAVE_OUT)
            shutil.copy2(source / ".env.test", folder / ".env.test")
        else:
            shutil.copytree(source, folder, ignore=_LEAVE_OUT, dirs_exist_ok=True)
    except OSError as error:
        raise KnownError(
            f"{folder} cannot be written: {error.strerror}.",
            act="Choose a folder that you may write to.",
            code="template.write",
        ) from error
    return folder


def count_files(template: str) -> int:
    """How many definition files and recordings a template brings."""
    source = data_root() if template == SAMPLE else resources_root() / "templates" / template
    return sum(
        1
        for one in (source / "agents").rglob("*")
        if one.is_file() and "__pycache__" not in one.parts and one.name != "__init__.py"
    )


def openable_sample(data_folder: Path) -> Path:
    """The sample where its files may be edited.

    In a checkout that is the checkout itself; of an installed product it is a copy in the user's
    data folder, made the first time.

    Raises:
        KnownError: the copy cannot be written.
    """
    root = data_root()
    if root.name != "_data":
        return root
    copy = data_folder / "sample"
    return copy if (copy / "agents").is_dir() else make_project(SAMPLE, copy)
