"""What a provider's refusal means: its status, code and words, as a typed error."""

from __future__ import annotations

import email.utils
import json
import re
from collections.abc import Mapping
from datetime import UTC
from typing import Any, cast

from sa_builder.providers.base import ProviderError, ProviderErrorCode
from sa_builder.util.clock import Clock
from sa_builder.util.text import sanitize, shorten

_CONTEXT_LENGTH = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length|context length of"
    r"|exceeds? the (available |model's )?(maximum )?context|prompt is too long"
    r"|input is too long|too many (input )?tokens|reduce the length of the messages"
    r"|maximum number of tokens|input token count",
    re.IGNORECASE,
)
_CONTENT_FILTER = re.compile(
    r"content_filter|content_policy|content management policy|flagged|moderation|safety system",
    re.IGNORECASE,
)
_NO_MONEY = re.compile(r"insufficient_quota|insufficient credits|billing", re.IGNORECASE)
_OVERLOADED = re.compile(
    r"overloaded|capacity|temporarily unavailable|loading model", re.IGNORECASE
)
_RATE_LIMIT = re.compile(r"rate.?limit|too many requests", re.IGNORECASE)

_BY_STATUS: Mapping[int, ProviderErrorCode] = {
    400: "invalid_request",
    401: "auth",
    402: "permission",
    403: "permission",
    404: "not_found",
    405: "not_found",
    408: "timeout",
    413: "context_length",
    422: "invalid_request",
    429: "rate_limit",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}

_SAYS: Mapping[ProviderErrorCode, tuple[str, str]] = {
    "auth": ("refused the key", "Check the key's variable."),
    "permission": ("does not allow this with this key", ""),
    "invalid_request": ("did not accept the request", ""),
    "context_length": (
        "cannot take a request this long",
        "Send less history, or use a model with a larger context.",
    ),
    "not_found": ("does not know this model or address", "Check the model's id and base URL."),
    "rate_limit": ("asks for fewer requests", "Try again a little later."),
    "overloaded": ("is overloaded", "Try again a little later."),
    "timeout": ("took too long", ""),
    "content_filter": ("refused the content", ""),
    "server": ("failed", ""),
}


def failure_of_response(
    provider: str, status: int, headers: Mapping[str, str], body: bytes, clock: Clock
) -> ProviderError:
    """The error of an answer whose status is not 200."""
    said, code = _words_of(body)
    return _failure(
        provider,
        _classify(status, f"{code} {said}"),
        said,
        status=status,
        retry_after_s=retry_after_s(headers, clock),
    )


def failure_of_object(
    provider: str, error: object, *, partial_content: str | None
) -> ProviderError:
    """The error of an error object that came inside an answer with status 200."""
    said, code = _words_of_object(error)
    status = int(code) if code.isdigit() and len(code) == 3 else None
    return _failure(
        provider,
        _classify(status, f"{code} {said}"),
        said,
        status=status,
        partial_content=partial_content,
    )


def retry_after_s(headers: Mapping[str, str], clock: Clock) -> float | None:
    """How long the provider asks to wait: from milliseconds, seconds or a date; 0 is a wish too.

    Args:
        headers: names in lower case.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        try:
            seconds = float(text) * unit
        except ValueError:
            continue
        return max(0.0, seconds) if seconds < float("inf") else None
    text = headers.get("retry-after", "")
    try:
        when = email.utils.parsedate_to_datetime(text)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, when.timestamp() - clock.now_us() / 1_000_000)


def _failure(
    provider: str,
    code: ProviderErrorCode,
    said: str,
    *,
    status: int | None,
    retry_after_s: float | None = None,
    partial_content: str | None = None,
) -> ProviderError:
    deed, act = _SAYS.get(code, ("failed", ""))
    shown_status = f" ({status})" if status is not None else ""
    words = shorten(sanitize(said), 300).rstrip(".")
    return ProviderError(
        code,
        f"{provider} {deed}{shown_status}{': ' + words if words else ''}.",
        act=act,
        retry_after_s=retry_after_s,
        partial_content=partial_content,
    )


def _classify(status: int | None, words: str) -> ProviderErrorCode:
    if status in (None, 400, 413, 422, 500) and _CONTEXT_LENGTH.search(words):
        return "context_length"
    if status in (None, 400, 403, 422) and _CONTENT_FILTER.search(words):
        return "content_filter"
    if status in (None, 402, 403, 429) and _NO_MONEY.search(words):
        return "permission"
    if status is not None:
        known = _BY_STATUS.get(status)
        if known is not None:
            return known
        return "server" if status >= 500 else "invalid_request"
    if _RATE_LIMIT.search(words):
        return "rate_limit"
    return "overloaded" if _OVERLOADED.search(words) else "server"


def _words_of(body: bytes) -> tuple[str, str]:
    text = body.decode("utf-8", "replace")
    try:
        value: object = json.loads(text)
    except ValueError:
        return ("" if text.lstrip().startswith("<") else text, "")  # a page of HTML says nothing
    if isinstance(value, list) and value:
        value = cast(list[object], value)[0]
    if isinstance(value, dict):
        found = cast(dict[str, Any], value)
        return _words_of_object(found.get("error", found.get("detail", found)))
    return (text, "")


def _words_of_object(error: object) -> tuple[str, str]:
    """(message, code) of an error object, whatever it looks like."""
    if not isinstance(error, dict):
        return ("" if error is None else str(error), "")
    found = cast(dict[str, Any], error)
    message = found.get("message") or found.get("error") or found.get("detail") or ""
    metadata = found.get("metadata")
    if isinstance(metadata, dict):
        raw = cast(dict[str, Any], metadata).get("raw")
        if isinstance(raw, str) and raw:
            message = f"{message}: {raw}"
    code = found.get("code")
    kind = found.get("type") or found.get("status") or ""
    if code is None or code == "":
        code = kind
    said = str(message)
    if isinstance(kind, str) and kind and kind != str(code):
        # The kind is read for its meaning only; people get the message.
        return (said, f"{code} {kind}" if not str(code).isdigit() else str(code))
    return (said, str(code))
