"""The httpx transport that answers from mocks and reaches nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import httpx

from sa_builder.providers.mocks import MockBook


class MockTransport(httpx.AsyncBaseTransport):
    """Answers every request of a client from a book.

    A request that no mock fits raises the book's `ProviderError`, not an httpx error.
    """

    def __init__(self, book: MockBook) -> None:
        self._book = book

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = self._book.answer(request.method, str(request.url), await request.aread())
        if answer.delay_ms:
            await asyncio.sleep(answer.delay_ms / 1000)
        return httpx.Response(
            status_code=answer.status,
            headers=dict(answer.headers),
            stream=_Pieces(answer.pieces, answer.chunk_delay_ms),
            request=request,
        )


class _Pieces(httpx.AsyncByteStream):
    def __init__(self, pieces: Sequence[bytes], pause_ms: int) -> None:
        self._pieces = pieces
        self._pause_s = pause_ms / 1000

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
            await asyncio.sleep(self._pause_s)
