"""What user code returned or raised, as the data that goes back to the runtime."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from sa_builder.errors import KnownError
from sa_builder.host.channel import StateError
from sa_builder.spec.definitions import ToolResult
from sa_builder.spec.host_wire import HostOutcome


def outcome_of(returned: object, *, captured_output: str) -> HostOutcome:
    """The outcome of code that returned.

    A `ToolResult` says itself how it went; a str, a pydantic model, any JSON value or None is a
    success; anything else is an error that names the type.
    """
    match returned:
        case ToolResult():
            return HostOutcome(
                status=returned.status,
                result=returned.result,
                error=returned.error,
                error_code=returned.error_code,
                error_data=_plain(returned.error_data),
                error_type="tool_error" if returned.status == "error" else None,
                attachments=[_plain(attachment) or {} for attachment in returned.attachments],
                captured_output=captured_output,
            )
        case None:
            return HostOutcome(status="success", captured_output=captured_output)
        case str():
            return HostOutcome(
                status="success", result=str(returned), captured_output=captured_output
            )
        case BaseModel():
            text = returned.model_dump_json()
        case _:
            try:
                text = to_json(returned, inf_nan_mode="constants").decode()
            except (PydanticSerializationError, ValueError, RecursionError) as error:
                return HostOutcome(
                    status="error",
                    error=f"It returned a {type(returned).__name__}, which cannot be told to a "
                    "model: return a ToolResult, a str, a pydantic model or JSON data.",
                    error_type="unusable_result",
                    traceback=str(error),
                    captured_output=captured_output,
                )
    return HostOutcome(status="success", result=text, captured_output=captured_output)


def outcome_of_error(error: BaseException, *, captured_output: str, our_frames: int) -> HostOutcome:
    """The outcome of code that raised.

    Args:
        our_frames: how many frames of the traceback, outermost first, are the product's own.
    """
    shown = error.__traceback__
    for _ in range(our_frames):
        if shown is None or shown.tb_next is None:
            break
        shown = shown.tb_next
    return HostOutcome(
        status="error",
        error=one_line(error),
        error_type=type(error).__name__,
        traceback="".join(traceback.format_exception(type(error), error, shown)),
        captured_output=captured_output,
    )


def one_line(error: BaseException) -> str:
    """An exception in one line: "ValueError: bad number"."""
    if isinstance(error, KnownError | StateError):
        said = str(error)
    elif isinstance(error, SystemExit):
        said = f"it called sys.exit({'' if error.code is None else repr(error.code)})"
    else:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return " ".join(said.split())


def invalid_arguments(name: str, error: ValidationError) -> HostOutcome:
    """The outcome of a call whose arguments do not fit; written for the model that made it."""
    faults = "; ".join(
        f"{_place(fault['loc'])}: {fault['msg']}{_got(fault)}"
        for fault in error.errors(include_url=False, include_context=False)
    )
    return HostOutcome(
        status="error",
        error=f"The arguments do not fit {name}. {faults}.",
        error_type="invalid_arguments",
    )


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "arguments"


def _got(fault: Mapping[str, Any]) -> str:
    if fault["type"] == "missing":
        return ""
    shown = repr(fault["input"])
    return f" (got {shown if len(shown) <= 80 else shown[:79] + '…'})"


def _plain(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if value is None else to_jsonable_python(dict(value), fallback=str)
