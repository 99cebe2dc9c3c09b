"""Why a file did not load, in one sentence with its line."""

from __future__ import annotations

import traceback

from sa_builder.errors import KnownError
from sa_builder.host.finder import Circle, DidNotLoad
from sa_builder.host.outcome import one_line
from sa_builder.host.sources import Source
from sa_builder.spec.host_wire import LoadProblem


def problem_of(source: Source, error: BaseException) -> LoadProblem:
    """The problem of one definition file, from what its import raised."""
    line = _line_in(source, error)
    return LoadProblem(
        path=source.relative_path,
        sentence=_sentence(source.relative_path, error),
        line=line,
        traceback="" if isinstance(error, Circle) else _traceback(error),
    )


def missing_package(error: BaseException) -> str | None:
    """The package outside of the project whose absence is the cause, if that is the cause."""
    while isinstance(error, DidNotLoad) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, ModuleNotFoundError) and error.name and not _is_ours(error.name):
        return error.name.partition(".")[0]
    return None


def _sentence(path: str, error: BaseException) -> str:
    match error:
        case Circle():
            return f"{path} {error}."
        case DidNotLoad():
            return f"{path} imports {error.source.relative_path}, which did not load."
        case SyntaxError():
            if error.filename is None or error.filename.endswith(path):
                return f"{path} has a syntax error: {error.msg}."
            return f"{path} imports code that has a syntax error: {error.msg}."
        case ModuleNotFoundError(name=str(name)) if _is_ours(name):
            return f"{path} imports {name}, which this project does not have."
        case ModuleNotFoundError(name=str(name)):
            package = name.partition(".")[0]
            return f"{path} needs the package {package}, which the project's Python does not have."
        case SystemExit():
            return f"{path} calls sys.exit() while it is imported."
        case KnownError():
            return error.sentence
        case _:
            return f"{path} failed while it was imported: {one_line(error)}."


def _is_ours(name: str) -> bool:
    return name == "agents" or name.startswith("agents.")


def _line_in(source: Source, error: BaseException) -> int | None:
    """The last line of the file that was running."""
    file = str(source.path)
    match error:
        case Circle():
            return error.line
        case SyntaxError() if error.filename == file:
            return error.lineno
        case _:
            pass
    line: int | None = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == file:
            line = number
    return line


def _traceback(error: BaseException) -> str:
    """The traceback without the frames of the import system and of ours."""
    shown = traceback.TracebackException.from_exception(error, compact=True)
    kept = [frame for frame in shown.stack if not _is_machinery(frame.filename)]
    shown.stack = traceback.StackSummary.from_list(kept)
    return "".join(shown.format())


def _is_machinery(file: str) -> bool:
    name = file.replace("\\", "/")
    return name.startswith("<frozen importlib") or "/sa_builder/host/" in name
