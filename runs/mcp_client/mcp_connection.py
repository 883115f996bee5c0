"""The client of MCP servers, based on the official library: lists tools, and calls one at a time.

Servers are not trusted: messages are limited here, their content in `mcp_answers`, and no server is waited for longer
than configured.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import anyio
import httpx2

from runs.errors import InvalidInput
from runs.http_client.bounded_reading import BoundedTransport
from runs.mcp_client import relay
from runs.mcp_client.mcp_answers import Answers
from runs.mcp_client.server_config import Listing, ServerConfig, ServerTool

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal
    from mcp import Client


from anyio.abc import ObjectReceiveStream
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCResponse

MAX_MESSAGE = 5_000_000
"""Bytes of one message."""
MAX_PAGES = 10  # of a server's list of tools
CONNECT_SECONDS = 30.0
CLOSE_SECONDS = 3.0
"""Time for a server to notice the end of a session. Its answer is not needed."""
MISSING = "MCP servers need an extra: uv sync --extra mcp."
_POLL_SECONDS = 0.1


class McpConnection:
    """A connection to one server. It is opened by the first call and closed with the context. It is not thread-safe.

    Calls raise InvalidInput, with a sentence, for everything that a server does wrong, and what `keep_going` raises.
    `name`: of the server, which precedes the names of its tools.
    """

    def __init__(self, config: ServerConfig, keep_going: Callable[[], None] = lambda: None, name: str = "") -> None:
        self._config = config
        self._answers = Answers(name)
        self._keep_going = keep_going
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._client: Client | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the session. Errors while closing are ignored, because the answers have been read already."""
        self._client = self._portal = None
        try:
            self._stack.close()
        except Exception:
            return

    def tools(self) -> Listing:
        """Returns the tools that the server lists now."""
        self._answers.begin_listing()
        found: list[ServerTool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = self._ask("list its tools", "list_tools", CONNECT_SECONDS, cursor=cursor, cache_mode="refresh")
            found += [ServerTool(tool.name, tool.description or "", tool.input_schema) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
        names = Counter(tool.name for tool in found)
        twice = [f"{name} is there twice" for name in sorted(names) if names[name] > 1]
        once = [tool for tool in found if names[tool.name] == 1]
        return Listing(sorted(once, key=lambda tool: tool.name), [*twice, *self._answers.problems])

    def call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """Returns the text of the result, and whether the server marks it as an error."""
        result = self._ask(f"answer the call of {tool}", "call_tool", self._config.seconds, tool, arguments)
        return "".join(block.text for block in result.content), bool(result.is_error)

    def _ask(self, what: str, method: str, seconds: float, *given: Any, **named: Any) -> Any:
        try:
            client, portal = self._open()
            future = portal.start_task_soon(_calling(getattr(client, method), given, named))
            return self._wait(future, seconds)
        except NotYet as error:
            self.close()
            raise InvalidInput(f"The server did not {what} within {seconds:g} seconds.") from error
        except (InvalidInput, MemoryError):
            raise
        except (Exception, CancelledError) as error:
            self.close()  # whatever its state is, the next call starts a new session
            if type(error).__module__.startswith("runs."):
                raise
            raise InvalidInput(f"The server did not {what}: {_why(error)}.") from error

    def _wait(self, future: Future[Any], seconds: float) -> Any:
        end = time.monotonic() + seconds
        while True:
            try:
                return future.result(_POLL_SECONDS)
            except NotYet:
                if future.done():
                    raise
            try:
                self._keep_going()
            except BaseException:
                future.cancel()
                raise
            if time.monotonic() >= end:
                future.cancel()
                raise NotYet

    def _open(self) -> tuple[Client, BlockingPortal]:
        if self._client is None or self._portal is None:
            if find_spec("mcp") is None:
                raise InvalidInput(MISSING)
            # comes with that extra
            from anyio.from_thread import start_blocking_portal

            config = self._config.resolved()
            portal = self._stack.enter_context(start_blocking_portal())
            opened: Future[Client] = Future()
            end = portal.call(_ending)
            session = portal.start_task_soon(_hold, _session(config, self._answers), opened, end)
            self._stack.callback(_end, portal, session, opened, end)
            self._client = self._wait(opened, max(self._config.seconds, CONNECT_SECONDS))
            self._portal = portal
        return self._client, self._portal


async def _ending() -> anyio.Event:
    return anyio.Event()


async def _hold(session: AbstractAsyncContextManager[Client], opened: Future[Client], end: anyio.Event) -> None:
    """Keeps a session open in one task, so that the thread that waits for it can be interrupted."""
    try:
        async with session as client:
            opened.set_result(client)
            await end.wait()
    except BaseException as error:
        if not opened.done():
            opened.set_exception(error)
        raise


def _end(portal: BlockingPortal, session: Future[None], opened: Future[Client], end: anyio.Event) -> None:
    if opened.done() and not opened.cancelled() and opened.exception() is None:
        portal.call(end.set)
    else:
        # A session that has not opened waits for its server, and not for `end`.
        session.cancel()
    # Wait until the task has closed the transport; how it ended does not matter.
    with suppress(Exception, CancelledError):
        session.result()


@asynccontextmanager
async def _session(config: ServerConfig, answers: Answers) -> AsyncGenerator[Client]:
    # an optional package that is slow to import
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    # moved

    seconds = max(config.seconds, CONNECT_SECONDS)
    with ExitStack() as stack:
        if config.command:
            errors = stack.enter_context(Path(os.devnull).open("w"))
            wrapped = [str(Path(relay.__file__)), str(MAX_MESSAGE), config.command, *config.args]
            parameters = StdioServerParameters(command=sys.executable, args=["-I", "-S", *wrapped], env=config.env)
            transport = stdio_client(parameters, errlog=errors)
            async with Client(rewriting(transport, answers), read_timeout_seconds=seconds) as client:
                yield client
            return
        limits = httpx2.Timeout(seconds, connect=CONNECT_SECONDS)
        bounded = BoundedTransport(MAX_MESSAGE, seconds, CLOSE_SECONDS)
        async with (
            httpx2.AsyncClient(headers=config.headers, timeout=limits, transport=bounded, trust_env=False) as http,
            Client(
                rewriting(streamable_http_client(config.url, http_client=http), answers), read_timeout_seconds=seconds
            ) as client,
        ):
            yield client


def _calling(method: Callable[..., Any], given: Sequence[Any], named: dict[str, Any]) -> Callable[[], Any]:
    async def call() -> Any:
        return await method(*given, **named)

    return call


def _why(error: BaseException) -> str:
    """Returns the first informative cause. Exception groups only say that there is one."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return " ".join(str(error).split())[:300].rstrip(".") or type(error).__name__


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
