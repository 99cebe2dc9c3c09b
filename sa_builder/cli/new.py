"""new: a project from a template."""

from __future__ import annotations

import argparse
from pathlib import Path

from sa_builder.cli.output import add_json, print_json
from sa_builder.ui.templates import SAMPLE, list_templates, make_project


def configure(command: str, parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder that is new or empty")
    names = [name for name, _ in list_templates()]
    parser.add_argument(
        "--template",
        choices=names,
        default=SAMPLE,
        help=f"one of {', '.join(names)} (default: {SAMPLE})",
    )
    add_json(parser)


def perform(command: str, arguments: argparse.Namespace) -> int:
    """Make the project; returns the exit code."""
    folder = make_project(arguments.template, arguments.folder)
    if arguments.json:
        print_json({"folder": str(folder.resolve()), "template": arguments.template})
    else:
        print(f"Made {folder} from the template {arguments.template}.")
        print(f"Open it with: sa-builder {folder}")
    return 0
