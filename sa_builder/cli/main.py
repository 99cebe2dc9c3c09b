"""The command line: finds the command that is asked for, and loads that one alone.

Exit codes: 0 done (of `run`: answered), 1 failed, 2 called wrongly, 3 parked (waits for somebody).
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn, Protocol, cast

from sa_builder.cli.version import VERSION

if TYPE_CHECKING:
    import argparse

COMMANDS = {
    "new": ("new", "make a project from a template"),
    "check": ("project_commands", "say what is wrong in the definitions"),
    "graph": ("graph_command", "show who is connected to whom, as text, JSON, SVG or PNG"),
    "connect": ("project_commands", "connect a side, prompt or model to something"),
    "disconnect": ("project_commands", "undo a connection"),
    "set": ("project_commands", "give a property a value"),
    "unset": ("project_commands", "remove a property"),
    "new-definition": ("project_commands", "make a new definition file"),
    "run": ("run", "send an agent a message and print its answer"),
    "resume": ("run", "go on with what a crash or a stop left"),
    "threads": ("threads", "list, show or delete threads"),
    "logs": ("archive", "show the logs of a thread file, offline"),
    "journey": ("journey", "do the three acts in a window that nobody sees, and keep a picture"),
}
"""Command → its module in this room, and what it does."""

WINDOW_OPTIONS = ("--test-mode", "--live", "--trust")


class CommandModule(Protocol):
    """What the module of a command offers."""

    def configure(self, command: str, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments to its parser."""
        ...

    def perform(self, command: str, arguments: argparse.Namespace) -> int:
        """Do it; returns the exit code."""
        ...


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: the words after the program's name; None takes the process's own.

    Returns:
        The exit code.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    _prepare_stdout()
    if words[:1] == ["--version"]:
        print(f"sa-builder {VERSION}")
        return 0
    if words[:1] == ["--host"]:
        return _be_code_host(words[1:])
    if words[:1] and words[0] in ("-h", "--help", "help"):
        print(_overview())
        return 0
    return _guarded(words)


def _prepare_stdout() -> None:
    """A stdout that knows few characters gets escapes; one that is closed takes all and shows none.

    A program that is started with its stdout closed finds None there.
    """
    stdout: object = sys.stdout
    if stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the whole run
    elif isinstance(stdout, io.TextIOWrapper):
        stdout.reconfigure(errors="backslashreplace")


def _guarded(words: Sequence[str]) -> int:
    """Do what is asked; every error becomes a sentence and an exit code."""
    from sa_builder.errors import KnownError

    try:
        code = _perform(words)
        sys.stdout.flush()
    except KnownError as error:
        return _say(error.text(), 1)
    except KeyboardInterrupt:
        return _say("Stopped.", 130)
    except BrokenPipeError:
        # Whoever read our output has gone; nothing may be written at exit either.
        sys.stdout = None
        return 1
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO, errno.EDQUOT) or error.filename:
            return _report_bug()
        # The output's own device is full: what it still holds would fail once more at exit.
        sys.stdout = None
        return _say(f"The output cannot be written: {error.strerror}.", 1)
    except Exception:  # the outermost edge: what nobody expected
        return _report_bug()
    return code


def _report_bug() -> int:
    from sa_builder.cli.bug_report import keep_traceback

    return _say(
        "Something went wrong inside sa-builder itself. "
        f"Please report it with the file {keep_traceback()}.",
        1,
    )


def _perform(words: Sequence[str]) -> int:
    if words and words[0] in COMMANDS:
        return _run_command(words[0], words[1:])
    gui = importlib.import_module("sa_builder.cli.gui")
    options = [word for word in words if word in WINDOW_OPTIONS]
    places = [word for word in words if word not in WINDOW_OPTIONS]
    wrong = next((word for word in places if word.startswith("-")), None)
    if wrong is not None:
        return _say(f"There is no option {wrong}. See sa-builder --help.", 2)
    if len(places) > 1:
        return _say(f"There is no command {places[0]}. See sa-builder --help.", 2)
    return int(gui.open_window(places[0] if places else None, options))


def _run_command(command: str, words: Sequence[str]) -> int:
    import argparse

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            sentence = message[:1].upper() + message[1:].rstrip(".")
            self.exit(2, f"{sentence}. See {self.prog} --help.\n")

    module_name, help_text = COMMANDS[command]
    module = cast(CommandModule, importlib.import_module(f"sa_builder.cli.{module_name}"))
    parser = Parser(prog=f"sa-builder {command}", description=f"{help_text.capitalize()}.")
    module.configure(command, parser)
    try:
        arguments = parser.parse_args(words)
    except SystemExit as exit_:
        return int(exit_.code or 0)
    return module.perform(command, arguments)


def _be_code_host(words: Sequence[str]) -> int:
    """A bundled application has no interpreter beside it: it starts itself as the code host."""
    host = importlib.import_module("sa_builder.host.main")
    return int(host.main(list(words)) or 0)


def _overview() -> str:
    lines = [f"  {name:<16}{help_text}" for name, (_, help_text) in COMMANDS.items()]
    return "\n".join(
        [
            "sa-builder [PROJECT]          open the window on a project folder",
            "sa-builder FILE.db            open one thread's file, read-only",
            "sa-builder COMMAND --help     say more about a command",
            "",
            *lines,
            "",
            "Commands take --project DIR (default: this folder) and, where they answer with",
            "data, --json. The window takes --test-mode, --live and --trust.",
        ]
    )


def _say(sentence: str, code: int) -> int:
    print(sentence, file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
