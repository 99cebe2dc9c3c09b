"""logs FILE.db: one thread's file, offline; no project and no runtime."""

from __future__ import annotations

import argparse
from pathlib import Path

from sa_builder.cli.output import add_json, print_json
from sa_builder.cli.tables import log_lines
from sa_builder.spec.logs import LogQuery, LogRow
from sa_builder.store.thread_reader import ThreadReader
from sa_builder.util.ids import LogId


def configure(command: str, parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("file", type=Path, metavar="FILE.db", help="a thread.db")
    parser.add_argument("--log", type=int, metavar="ID", help="one row, with everything kept of it")
    add_json(parser)


def perform(command: str, arguments: argparse.Namespace) -> int:
    """Print the file's log; returns the exit code."""
    path: Path = arguments.file
    reader = ThreadReader(path / "thread.db" if path.is_dir() else path)
    try:
        if arguments.log is not None:
            print_json(reader.log(LogId(arguments.log)))
            return 0
        rows = all_rows(reader)
        if arguments.json:
            print_json({"thread": reader.details(), "logs": rows})
            return 0
        summary = reader.details().summary
        print(f"{summary.title}  ({summary.agent_name}, {summary.id})")
        for line in log_lines(rows):
            print(line)
    finally:
        reader.close()
    return 0


def all_rows(reader: ThreadReader) -> list[LogRow]:
    """Every log row, page by page."""
    rows: list[LogRow] = []
    after: LogId | None = None
    while True:
        page = reader.logs(LogQuery(after_id=after, limit=1000))
        rows.extend(page.rows)
        if not page.has_more or not page.rows:
            return rows
        after = page.rows[-1].id
