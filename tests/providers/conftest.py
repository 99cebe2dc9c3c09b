"""A real HTTP server on loopback that says exactly the bytes a test wants."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest
import pytest_asyncio

from sa_builder.providers.base import (
    Chunk,
    ContentDelta,
    Exchange,
    ModelAnswer,
    ModelRequest,
    Provider,
    ToolSpec,
)
from sa_builder.providers.catalog import Providers
from sa_builder.providers.openai import Limits
from sa_builder.spec.definitions import ModelDefinition
from sa_builder.util.clock import FakeClock

Piece = bytes | int | float | None
"""Bytes to send; seconds to wait; None to cut the connection."""


@dataclass
class RawServer:
    """Answers each connection's requests with raw bytes, one script a request."""

    url: str = ""
    scripts: list[Sequence[Piece]] = field(default_factory=list[Sequence[Piece]])
    requests: list[bytes] = field(default_factory=list[bytes])
    connections: int = 0
    client_left: asyncio.Event = field(default_factory=asyncio.Event)

    def answers(self, *pieces: Piece) -> None:
        """Say these pieces to the next request, and nothing around them."""
        self.scripts.append(pieces)

    def streams(self, *pieces: Piece, headers: str = "", cut: bool = False) -> None:
        """Answer the next request with a chunked event stream."""
        head = (
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            f"transfer-encoding: chunked\r\n{headers}\r\n"
        ).encode()
        framed: list[Piece] = [
            b"%x\r\n%b\r\n" % (len(piece), piece) if isinstance(piece, bytes) else piece
            for piece in pieces
        ]
        self.answers(head, *framed, None if cut else b"0\r\n\r\n")

    def says(self, status: int, body: bytes, headers: str = "") -> None:
        """Answer the next request with a plain body."""
        head = (
            f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\n{headers}\r\n"
        )
        self.answers(head.encode() + body)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._answer_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.client_left.set()
        finally:
            writer.close()

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        )
        self.requests.append(head + await reader.readexactly(length))
        for piece in self.scripts.pop(0):
            if piece is None:
                return False
            if isinstance(piece, float | int):
                left = asyncio.ensure_future(reader.read(1))
                done, _ = await asyncio.wait([left], timeout=piece)
                if done:
                    self.client_left.set()
                    return False
                left.cancel()
                continue
            writer.write(piece)
            await writer.drain()
        return True


@pytest_asyncio.fixture
async def server() -> AsyncIterator[RawServer]:
    raw = RawServer()
    listening = await asyncio.start_server(raw.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    raw.url = f"http://127.0.0.1:{port}/v1/chat/completions"
    async with listening:
        yield raw


@pytest_asyncio.fixture
async def providers() -> AsyncIterator[Providers]:
    opened = Providers(FakeClock(), limits=Limits(connect_s=2, read_s=2, total_s=5))
    yield opened
    await opened.close()


@pytest.fixture
def provider(server: RawServer, providers: Providers) -> Provider:
    model = ModelDefinition(
        name="m", provider="compatible", model="tiny", base_url=server.url, api_key_env="KEY"
    )
    return providers.open(model, {"KEY": "sk-very-secret-key"}.get, None)


@dataclass
class Heard:
    """Everything one call gave."""

    chunks: list[Chunk]
    exchange: Exchange

    @property
    def answer(self) -> ModelAnswer:
        last = self.chunks[-1]
        assert isinstance(last, ModelAnswer)
        return last

    @property
    def streamed_text(self) -> str:
        return "".join(chunk.text for chunk in self.chunks if isinstance(chunk, ContentDelta))


def a_request(**changes: object) -> ModelRequest:
    base: dict[str, object] = {
        "model": "tiny",
        "messages": [{"role": "user", "content": "Hello"}],
        "tools": [ToolSpec(name="f", description="does f", parameters={"type": "object"})],
    }
    return ModelRequest(**(base | changes))  # pyright: ignore[reportArgumentType]


async def listen(provider: Provider, exchange: Exchange | None = None) -> Heard:
    exchange = exchange or Exchange()
    chunks = [chunk async for chunk in provider.stream(a_request(), exchange)]
    return Heard(chunks=chunks, exchange=exchange)


def unset(name: str) -> str | None:
    """An environment that sets nothing."""
    return None
