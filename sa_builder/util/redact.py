"""Secrets kept out of what is stored and shown: by value in text, by name in headers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MARK = "[redacted]"

SHORTEST_CHARS = 8
"""Shorter values would also hit ordinary text, so they are not replaced."""

_SECRET_HEADERS = frozenset(
    {
        "api-key",
        "authorization",
        "cookie",
        "openai-organization",
        "proxy-authorization",
        "set-cookie",
        "x-api-key",
        "x-auth-token",
        "x-goog-api-key",
    }
)


class Redactor:
    """Replaces known secret values, the longest first, so that no part of one is left."""

    def __init__(self, secrets: Iterable[str]) -> None:
        """Keep the values that are long enough to be recognised."""
        kept = {secret for secret in secrets if len(secret) >= SHORTEST_CHARS}
        self._secrets = sorted(kept, key=lambda secret: (-len(secret), secret))

    def text(self, text: str) -> str:
        """The text with each secret replaced by a mark."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MARK)
        return text

    def stream(self) -> StreamRedactor:
        """The same for text that comes in pieces."""
        return StreamRedactor(self._secrets)


class StreamRedactor:
    """Redacts a stream; holds text back only while it may be the beginning of a secret."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = tuple(secrets)
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take a piece; gives what is safe to show now, maybe nothing."""
        text = self._held + piece
        safe: list[str] = []
        at = 0
        while at < len(text):
            found = self._secret_at(text, at)
            if found is None:
                end = self._next_start(text, at)
                safe.append(text[at:end])
                at = end
            elif found:
                safe.append(MARK)
                at += len(found)
            else:
                break
        self._held = text[at:]
        return "".join(safe)

    def end(self) -> str:
        """What was held back and was no secret after all; a last whole secret is replaced."""
        held, self._held = self._held, ""
        return Redactor(self._secrets).text(held)

    def _secret_at(self, text: str, at: int) -> str | None:
        """The secret that begins here; "" when one may; None when none does."""
        for secret in self._secrets:
            if text.startswith(secret, at):
                return secret
            if len(text) - at < len(secret) and secret.startswith(text[at:]):
                return ""
        return None

    def _next_start(self, text: str, at: int) -> int:
        """The next place where a secret's first character stands, else the end."""
        places = (text.find(secret[0], at + 1) for secret in self._secrets)
        return min((place for place in places if place >= 0), default=len(text))


def redact_headers(headers: Mapping[str, str], redactor: Redactor | None = None) -> dict[str, str]:
    """Headers with the values of secret ones replaced, and known values in all others."""
    return {
        name: MARK
        if name.lower() in _SECRET_HEADERS
        else value
        if redactor is None
        else redactor.text(value)
        for name, value in headers.items()
    }
