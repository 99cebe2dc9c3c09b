"""graph: who is connected to whom, drawn from the text of the definitions."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from sa_builder.cli.output import add_json, add_project, print_json
from sa_builder.errors import ProjectError
from sa_builder.project.project import Project
from sa_builder.project.shapes import Graph


def configure(command: str, parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("agent", nargs="?", metavar="AGENT", help="only what this agent reaches")
    add_project(parser)
    form = parser.add_mutually_exclusive_group()
    add_json(form)  # pyright: ignore[reportArgumentType]
    form.add_argument("--svg", type=Path, metavar="FILE", help="write a drawing")
    form.add_argument("--png", type=Path, metavar="FILE", help="write a picture (loads Qt)")


def perform(command: str, arguments: argparse.Namespace) -> int:
    """Print or draw the graph; returns the exit code."""
    project = Project.open(arguments.project)
    graph = project.graph(arguments.agent)
    if arguments.json:
        print_json({"nodes": graph.nodes, "edges": graph.edges})
    elif arguments.svg:
        _write(arguments.svg, _svg(graph).encode())
        print(f"Wrote {arguments.svg}: {_counts(graph)}")
    elif arguments.png:
        gui = importlib.import_module("sa_builder.cli.gui")
        _write(arguments.png, gui.png_of(_svg(graph)))
        print(f"Wrote {arguments.png}: {_counts(graph)}")
    else:
        _print_text(graph)
    return 0


def _svg(graph: Graph) -> str:
    from sa_builder.project.svg import draw_svg

    return draw_svg(graph)


def _print_text(graph: Graph) -> None:
    for edge in graph.edges:
        words = f" ({edge.label})" if edge.label else ""
        broken = f"  broken: {edge.broken}" if edge.broken else ""
        target = "human" if edge.target.endswith("#human") else edge.target
        print(f"{edge.source} -> {target}  {edge.kind}{words}{broken}")
    print(_counts(graph))


def _counts(graph: Graph) -> str:
    return f"{len(graph.nodes)} nodes, {len(graph.edges)} edges"


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise ProjectError(
            f"{path} cannot be written: {error.strerror}.", code="graph.write"
        ) from error
