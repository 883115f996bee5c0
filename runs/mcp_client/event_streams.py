"""Wraps the streams of the official library to rewrite answers before the library parses them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from anyio.abc import ObjectReceiveStream
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCResponse

from runs.mcp_client.mcp_answers import Answers


@asynccontextmanager
async def rewriting(transport: Transport, answers: Answers) -> AsyncGenerator[tuple[Any, Any]]:
    """Returns the transport with rewritten results."""
    async with transport as (read, write):
        yield _Rewritten(read, answers), write


class _Rewritten(ObjectReceiveStream["SessionMessage | Exception"]):
    def __init__(self, inner: Any, answers: Answers) -> None:
        self._inner = inner
        self._answers = answers

    async def receive(self) -> SessionMessage | Exception:
        item: SessionMessage | Exception = await self._inner.receive()
        if isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCResponse):
            item.message.result = self._answers.rewritten(item.message.result)
        return item

    async def aclose(self) -> None:
        await self._inner.aclose()
