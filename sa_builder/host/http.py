"""`state.http`: the project's way out, over the network or, in test mode, into its mocks."""

from __future__ import annotations

import base64
import ssl
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from sa_builder.host.scope import CallScope

_TIMEOUT_S = 30.0
_NOT_TRUE_ANY_MORE = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that speak of bytes on a wire; the body that comes from a mock is plain."""


class Connections:
    """The connections that all calls of this process share, opened when first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._context: ssl.SSLContext | None = None
        self._async: httpx.AsyncClient | None = None
        self._sync: httpx.Client | None = None

    def async_client(self) -> httpx.AsyncClient:
        """The shared client of the loop."""
        with self._lock:
            if self._async is None:
                self._async = httpx.AsyncClient(verify=self._tls(), timeout=_TIMEOUT_S)
            return self._async

    def sync_client(self) -> httpx.Client:
        """The shared client of the worker OS threads."""
        with self._lock:
            if self._sync is None:
                self._sync = httpx.Client(verify=self._tls(), timeout=_TIMEOUT_S)
            return self._sync

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = httpx.create_ssl_context()
        return self._context


class _SharedAsync(httpx.AsyncBaseTransport):
    """Sends over the shared connections; closing a call's client leaves them open."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._connections.async_client().send(request, stream=True)


class _SharedSync(httpx.BaseTransport):
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._connections.sync_client().send(request, stream=True)


class _MockedAsync(httpx.AsyncBaseTransport):
    """Has the runtime answer from the project's mocks."""

    def __init__(self, scope: CallScope) -> None:
        self._scope = scope

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        wish = _wish(request, await request.aread())
        return _response(await self._scope.ask_async("http", wish))


class _MockedSync(httpx.BaseTransport):
    def __init__(self, scope: CallScope) -> None:
        self._scope = scope

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return _response(self._scope.ask_sync("http", _wish(request, request.read())))


def async_client(scope: CallScope, connections: Connections) -> httpx.AsyncClient:
    """A client for one call: its cookies and settings are that call's alone."""
    transport = _MockedAsync(scope) if scope.test_mode else _SharedAsync(connections)
    return httpx.AsyncClient(transport=transport, trust_env=False, timeout=_TIMEOUT_S)


def sync_client(scope: CallScope, connections: Connections) -> httpx.Client:
    """The same for a sync function."""
    transport = _MockedSync(scope) if scope.test_mode else _SharedSync(connections)
    return httpx.Client(transport=transport, trust_env=False, timeout=_TIMEOUT_S)


def _wish(request: httpx.Request, body: bytes) -> Mapping[str, Any]:
    return {
        "method": request.method,
        "url": str(request.url),
        "headers": dict(request.headers),
        "body_base64": base64.b64encode(body).decode("ascii"),
    }


def _response(answer: Mapping[str, Any]) -> httpx.Response:
    headers = {
        name: value
        for name, value in answer["headers"].items()
        if name.lower() not in _NOT_TRUE_ANY_MORE
    }
    return httpx.Response(
        status_code=int(answer["status"]),
        headers=headers,
        content=base64.b64decode(answer["body_base64"]),
    )
