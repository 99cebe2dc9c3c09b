"""Times, costs and sizes as a person reads them; pure, so that every view says the same."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, cast

from PySide6.QtCore import QCoreApplication

from sa_builder.spec.threads import ThreadSummary
from sa_builder.ui.widgets.states import StateName

MINUTE_US = 60_000_000
HOUR_US = 60 * MINUTE_US
_QUARTER_US = 15 * MINUTE_US
"""No time zone's day begins within a quarter of an hour."""

_STATE_OF_THREAD: dict[str, StateName] = {
    "idle": "done",
    "running": "running",
    "awaiting_human": "waiting",
    "parked": "parked",
    "failed": "failed",
    "terminated": "waiting",
}
_STATE_OF_LOG: dict[str, StateName] = {
    "running": "running",
    "done": "done",
    "failed": "failed",
    "parked": "parked",
    "lost": "failed",
    "started": "running",
    "unknown": "parked",
}
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}


def tr(text: str) -> str:
    """A string of this page, translated."""
    return QCoreApplication.translate("threads", text)


def local(time_us: int) -> datetime:
    """A moment in the machine's own time zone."""
    return datetime.fromtimestamp(time_us / 1_000_000).astimezone()


@lru_cache(maxsize=4096)
def _day_of_quarter(quarter: int) -> date:
    return local(quarter * _QUARTER_US).date()


def local_day(time_us: int) -> date:
    """The day of a moment in the machine's own time zone."""
    return _day_of_quarter(time_us // _QUARTER_US)


def clock_time(time_us: int, *, millis: bool = False) -> str:
    """Hours, minutes, seconds; with `millis` also the thousandths."""
    moment = local(time_us)
    text = f"{moment:%H:%M:%S}"
    return f"{text}.{moment.microsecond // 1000:03d}" if millis else text


def date_time(time_us: int) -> str:
    """Day and time to the second."""
    return f"{local(time_us):%Y-%m-%d %H:%M:%S}"


def age(time_us: int, now_us: int) -> str:
    """How long ago, in one or two short words: "now", "12 min", "Sun 16:20", "3 Nov"."""
    passed = now_us - time_us
    moment, now = local(time_us), local(now_us)
    if passed < MINUTE_US:
        return tr("now")
    if moment.date() == now.date():
        if passed < HOUR_US:
            return f"{passed // MINUTE_US} {tr('min')}"
        return f"{passed // HOUR_US} {tr('h')}"
    if now.date() - moment.date() < timedelta(days=7):
        return f"{moment:%a %H:%M}"
    if moment.year == now.year:
        return f"{moment.day} {moment:%b}"
    return f"{moment:%Y-%m-%d}"


def day_name(day: date, today: date) -> str:
    """The heading of a day in a list."""
    if day >= today:
        return tr("Today")
    if day == today - timedelta(days=1):
        return tr("Yesterday")
    if today - day < timedelta(days=7):
        return f"{day:%A}"
    if day.year == today.year:
        return f"{day.day} {day:%B}"
    return f"{day.day} {day:%B %Y}"


def duration(duration_ms: float) -> str:
    """A span of time with its unit after a thin space."""
    if duration_ms < 1:
        return "<1 ms" if duration_ms > 0 else "0 ms"
    if duration_ms < 1000:
        return f"{duration_ms:,.0f} ms"
    if duration_ms < 60_000:
        return f"{duration_ms / 1000:.2f} s"
    minutes, rest = divmod(round(duration_ms / 1000), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def cost(text: str | None, currency: str | None = None) -> str:
    """An exact amount with its currency sign: "0.0188 USD" becomes "$0.0188"."""
    if not text:
        return ""
    amount, _, unit = text.partition(" ")
    unit = unit or currency or "USD"
    try:
        value = Decimal(amount)
    except InvalidOperation:
        return text
    places = max(4, -cast(int, value.as_tuple().exponent)) if value else 4
    shown = f"{value:,.{places}f}"
    symbol = _SYMBOLS.get(unit)
    return f"{symbol}{shown}" if symbol else f"{shown} {unit}"


def size(size_bytes: int) -> str:
    """A number of bytes in the unit that fits."""
    if size_bytes < 1024:
        return f"{size_bytes} B"
    if size_bytes < 1024 * 1024:
        return f"{size_bytes / 1024:,.0f} KiB"
    return f"{size_bytes / 1024 / 1024:,.1f} MiB"


def state_of_thread(summary: ThreadSummary) -> StateName:
    """The glyph and colour of a thread's state."""
    if _is_new(summary) or _is_stopped(summary):
        return "waiting"
    return _STATE_OF_THREAD.get(summary.state, "waiting")


def state_of_log(status: str) -> StateName:
    """The glyph and colour of a log row's or an act's status."""
    return _STATE_OF_LOG.get(status, "waiting")


def thread_state_word(summary: ThreadSummary) -> str:
    """A thread's state as its pill says it."""
    if _is_new(summary):
        return tr("new")
    return {
        "idle": tr("stopped") if _is_stopped(summary) else tr("done"),
        "awaiting_human": tr("waiting for you"),
    }.get(summary.state, summary.state)


def _is_new(summary: ThreadSummary) -> bool:
    return summary.state == "idle" and summary.message_count == 0


def _is_stopped(summary: ThreadSummary) -> bool:
    return summary.state == "idle" and summary.state_reason == "stopped"


def arguments_line(arguments_json: str, most_chars: int = 400) -> str:
    """Call arguments in one line: `owner="acme" number=482`; the raw text when not an object."""
    if len(arguments_json) > 64 * 1024:
        return " ".join(arguments_json[:most_chars].split())
    try:
        found: Any = json.loads(arguments_json or "{}")
    except ValueError:
        return " ".join(arguments_json[:most_chars].split())
    if not isinstance(found, dict):
        return json.dumps(found, ensure_ascii=False)[:most_chars]
    pairs = cast("dict[str, Any]", found).items()
    line = " ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in pairs)
    return " ".join(line[:most_chars].split())


def pretty_json(text: str) -> str:
    """JSON on several lines; any other text, and JSON too long to parse here, as it is."""
    if len(text) > 256 * 1024:
        return text
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text
