"""A recorded request as a shell command, its secrets left to variables."""

from __future__ import annotations

import shlex

from sa_builder.spec.logs import LogDetails

_SECRET_HEADERS = {
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "cookie",
}
_LEFT_OUT = {"content-length", "host", "accept-encoding", "connection"}


def as_curl(details: LogDetails) -> str | None:
    """The request as curl would make it; None when it was no HTTP request.

    Every header that may hold a secret names a variable instead of its value.
    """
    if not details.endpoint or details.request_body is None:
        return None
    lines = [f"curl -sS -X POST {shlex.quote(details.endpoint)}"]
    names = {name.lower() for name in details.request_headers}
    for name, value in details.request_headers.items():
        low = name.lower()
        if low in _LEFT_OUT:
            continue
        if low == "authorization":
            lines.append(f'  -H "{name}: Bearer $API_KEY"')
        elif low in _SECRET_HEADERS or "token" in low or "secret" in low:
            lines.append(f'  -H "{name}: $API_KEY"')
        else:
            lines.append(f"  -H {shlex.quote(f'{name}: {value}')}")
    if "content-type" not in names:
        lines.append("  -H 'Content-Type: application/json'")
    lines.append(f"  --data-binary {shlex.quote(details.request_body)}")
    return " \\\n".join(lines)
