"""A server on this machine that the agent's program uses instead of a model's service, for one attempt.

The program needs no key and no network, and each of its questions goes through the journal, the budget and the lease.
"""

import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from hmac import compare_digest
from typing import NamedTuple

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from runs.agent_sdk.wire import PING, events_of
from runs.contracts.ports import Reply
from runs.text.json_values import is_nested_deeper

PING_INTERVAL = 10.0
"""Seconds. The program ends silent connections, and a reply arrives as a whole."""
MAX_BODY = 64 * 1024 * 1024
"""Bytes: twice what the API accepts."""
MAX_LEVELS = 100
"""Nesting of lists and objects. A question of the program has about ten."""

type Asks = Callable[[object], Awaitable["Pending"]]


class Pending:
    """A pending reply. If its question fails, it never arrives, and the session ends."""

    def __init__(self) -> None:
        self.reply: Reply | None = None
        self.number = 0
        self.done = anyio.Event()


class Gateway(NamedTuple):
    """`secret` is the program's key. Other programs on this machine cannot ask."""

    address: str
    secret: str


@asynccontextmanager
async def serving(asks: Asks) -> AsyncIterator[Gateway]:
    """Runs a gateway that passes each question to `asks`, on a free port of the loopback interface."""
    secret = secrets.token_urlsafe(32)
    app = Starlette(routes=[Route("/v1/messages", _endpoint(asks, secret), methods=["POST"])])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False, timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve, [listening])
            try:
                yield Gateway(f"http://127.0.0.1:{listening.getsockname()[1]}", secret)
            finally:
                server.should_exit = True


def _endpoint(asks: Asks, secret: str) -> Callable[[Request], Awaitable[Response]]:
    async def messages(request: Request) -> Response:
        if not compare_digest(request.headers.get("x-api-key", "").encode(), secret.encode()):
            return _refuse(401, "authentication_error", "This is not the program of the attempt.")
        if int(request.headers.get("content-length") or MAX_BODY + 1) > MAX_BODY:
            return _refuse(413, "request_too_large", "The request is too large.")
        try:
            body = await request.json()
        except (ValueError, RecursionError):
            return _refuse(400, "invalid_request_error", "The request is no JSON.")
        if is_nested_deeper(body, MAX_LEVELS):
            return _refuse(400, "invalid_request_error", f"The request is nested more than {MAX_LEVELS} levels deep.")
        if not isinstance(body, dict) or not body.get("stream"):
            return _refuse(400, "invalid_request_error", "Only streams are answered.")
        return StreamingResponse(_frames(await asks(body)), media_type="text/event-stream")

    return messages


async def _frames(pending: Pending) -> AsyncIterator[bytes]:
    while not pending.done.is_set():
        with anyio.move_on_after(PING_INTERVAL):
            await pending.done.wait()
        if not pending.done.is_set():
            yield PING
    if pending.reply is not None:
        for event in events_of(pending.reply, pending.number):
            yield event


def _refuse(status: int, kind: str, sentence: str) -> JSONResponse:
    return JSONResponse({"type": "error", "error": {"type": kind, "message": sentence}}, status)
