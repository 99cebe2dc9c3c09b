"""What the filter box understands: `kind:model status:failed tokens>1000` and free words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import cast, get_args

from sa_builder.spec.logs import LogKind, LogQuery, LogStatus
from sa_builder.util.ids import LogId

KINDS = cast("tuple[LogKind, ...]", get_args(LogKind))
STATUSES = cast("tuple[LogStatus, ...]", get_args(LogStatus))
_TOKENS = re.compile(r"tokens(>=|>)(\d[\d,_]*)$")
_STATUS_WORDS: dict[str, LogStatus] = {"error": "failed", "ok": "done", "waiting": "parked"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilter:
    """A filter that was read, and what of it could not be."""

    kinds: tuple[LogKind, ...] = ()
    statuses: tuple[LogStatus, ...] = ()
    text: str = ""
    min_tokens: int | None = None
    terms: tuple[str, ...] = field(default_factory=tuple)
    """The terms with a key, as they were written: each one is a chip."""
    fault: str | None = None
    """One sentence on the first term that means nothing; None when all do."""

    def query(self, *, limit: int, after_id: LogId | None = None) -> LogQuery:
        """A page of what matches."""
        return LogQuery(
            kinds=self.kinds,
            statuses=self.statuses,
            text=self.text,
            min_tokens=self.min_tokens,
            after_id=after_id,
            limit=limit,
        )


def read_filter(text: str) -> LogFilter:
    """Read a filter.

    Terms: `kind:` and `status:` with a known value (several of one key: any of them), `model:` and
    `tool:` with a part of a name, `tokens>N` and `tokens>=N`; everything else are words that must
    all occur in name, detail, error or model.
    """
    kinds: list[LogKind] = []
    statuses: list[LogStatus] = []
    free: list[str] = []
    terms: list[str] = []
    min_tokens: int | None = None
    fault: str | None = None
    named: set[str] = set()
    for word in text.split():
        key, colon, value = word.partition(":")
        tokens = _TOKENS.match(word)
        if tokens is not None:
            least = int(tokens.group(2).replace(",", "").replace("_", ""))
            min_tokens = least + (1 if tokens.group(1) == ">" else 0)
            terms.append(word)
        elif word.startswith("tokens>"):
            fault = fault or "tokens> needs a whole number, such as tokens>1000."
        elif not colon or key not in ("kind", "status", "model", "tool"):
            free.append(word)
        elif not value:
            fault = fault or f"{key}: needs a value."
        elif key == "kind":
            if value in KINDS:
                kinds.append(value)
                terms.append(word)
            else:
                fault = fault or f"No kind is called {value}: {', '.join(KINDS)}."
        elif key == "status":
            status = _STATUS_WORDS.get(value, value)
            if status in STATUSES:
                statuses.append(status)
                terms.append(word)
            else:
                fault = fault or f"No status is called {value}: {', '.join(STATUSES)}."
        else:
            named.add(key)
            free.append(value)
            terms.append(word)
    if len(named) > 1:
        fault = fault or "No row is of a model and of a tool at once."
    elif named:
        only = cast("LogKind", named.pop())
        if kinds and only not in kinds:
            fault = fault or f"{only}: finds rows of kind {only} only."
        kinds = [only]
    return LogFilter(
        kinds=tuple(kinds),
        statuses=tuple(statuses),
        text=" ".join(free),
        min_tokens=min_tokens,
        terms=tuple(terms),
        fault=fault,
    )
