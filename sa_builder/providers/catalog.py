"""Opens the provider that a model names."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sa_builder.providers.base import Provider, ProviderError
from sa_builder.providers.offline import ENDPOINT as OFFLINE_ENDPOINT, no_mocks_here
from sa_builder.providers.openai import ChatCompletions, Limits, Wire, endpoint_of
from sa_builder.spec.definitions import ModelDefinition
from sa_builder.util.clock import Clock

if TYPE_CHECKING:
    import httpx

Environment = Callable[[str], str | None]
"""A variable's value as the thread sees it; None when nothing sets it."""

_BASE_URLS: dict[Wire, tuple[str, str]] = {
    "openrouter": ("OPENROUTER_BASE_URL", "https://openrouter.ai/api/v1"),
    "openai": ("OPENAI_BASE_URL", "https://api.openai.com/v1"),
}
_KEYS: dict[Wire, str] = {"openrouter": "OPENROUTER_API_KEY", "openai": "OPENAI_API_KEY"}


class Providers:
    """The built-in providers, with one httpx client for each transport they are asked to use."""

    def __init__(self, clock: Clock, *, limits: Limits | None = None) -> None:
        self._clock = clock
        self._limits = limits or Limits()
        self._clients: dict[httpx.AsyncBaseTransport | None, httpx.AsyncClient] = {}

    def open(
        self,
        model: ModelDefinition,
        environment: Environment,
        transport: httpx.AsyncBaseTransport | None,
    ) -> Provider:
        """The provider of a model, ready to be called.

        Args:
            transport: what carries every call, such as mocks; None is the network.

        Raises:
            ProviderError: its key or address is missing, or there is no such provider.
        """
        match model.provider:
            case "openrouter" | "openai" as wire:
                variable, default = _BASE_URLS[wire]
                given = environment(variable)
                endpoint = _checked(model, endpoint_of, given or default)
                keyless = transport is not None or (given is not None and _is_loopback(given))
                key = _key(model, _KEYS[wire], environment, may_lack=keyless)
            case "compatible" as wire:
                whole = model.base_url
                endpoint = (
                    _checked(model, endpoint_of, environment("COMPATIBLE_BASE_URL") or "")
                    if whole is None
                    else _checked(model, str, whole)
                )
                key = None
                if model.api_key_env is not None:
                    may_lack = transport is not None
                    key = _key(model, model.api_key_env, environment, may_lack=may_lack)
            case "offline" as wire:
                if transport is None:
                    raise no_mocks_here(model)
                endpoint, key = OFFLINE_ENDPOINT, None
            case unknown:
                raise ProviderError(
                    "not_found",
                    f"The model {model.name} names the provider {unknown!r}, which is not known.",
                    act="The built-in ones are openrouter, openai, compatible and offline.",
                )
        return ChatCompletions(
            name=wire,
            endpoint=endpoint,
            key=key,
            client=self._client(transport),
            clock=self._clock,
            limits=self._limits,
        )

    async def close(self) -> None:
        """Close every connection."""
        clients = tuple(self._clients.values())
        self._clients.clear()
        for client in clients:
            await client.aclose()

    def _client(self, transport: httpx.AsyncBaseTransport | None) -> httpx.AsyncClient:
        client = self._clients.get(transport)
        if client is None:
            import httpx

            client = httpx.AsyncClient(
                transport=transport,
                trust_env=transport is None,  # a proxy of the environment would go around it
                follow_redirects=False,
            )
            self._clients[transport] = client
        return client


def _key(
    model: ModelDefinition, variable: str, environment: Environment, *, may_lack: bool
) -> str | None:
    key = (environment(variable) or "").strip()
    if key or may_lack:
        return key or None
    raise ProviderError(
        "no_key",
        f"The model {model.name} needs {variable}, which is not set.",
        act=f"Set {variable} in the environment or in .env, or switch on test mode.",
    )


def _checked(model: ModelDefinition, endpoint: Callable[[str], str], base_url: str) -> str:
    """The endpoint of a base URL that names a host to speak HTTP with."""
    try:
        parts = urlsplit(base_url)
        has_port = parts.port is None or parts.port > 0
        if parts.scheme in ("http", "https") and parts.hostname and has_port:
            return endpoint(base_url)
    except ValueError:
        pass  # said below, with every other address that is none
    raise ProviderError(
        "invalid_request",
        f"The model {model.name} has {f'the base URL {base_url!r}' if base_url else 'no base URL'}"
        f", so {model.provider} cannot be called.",
        act="Set a whole one, such as http://127.0.0.1:8080/v1/chat/completions.",
    )


def _is_loopback(url: str) -> bool:
    """Whether a server on this machine is meant, which often wants no key."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
