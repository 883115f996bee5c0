"""Daphne with limits: the server that `serve` starts."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import IO, Any

from autobahn.websocket.compress import PerMessageDeflateOffer, PerMessageDeflateOfferAccept
from daphne.server import Server as Daphne
from daphne.ws_protocol import WebSocketProtocol
from django.conf import settings

from runs.web.live.consumer import MAX_MESSAGE
from runs.web.server.connections import Connection, Connections
from runs.web.server.http_requests import Pages, Request
from runs.web.server.server_limits import Patience
from runs.web.site.headers import always
from runs.web.site.problems import MEDIA_TYPE, problem_json, reads_problems

type Message = dict[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]

MAX_AT_ONCE = 32
"""Requests that pages answer at the same time, each in a thread of its own; others wait for their turn."""
MAX_WAIT = 30
"""Seconds that a request waits for its turn."""
RESERVED_FILES = 250
"""Files that a process needs besides the connections of clients: databases, blobs, logs, calls of models."""
WINDOW_BITS = 13
_PIECE = 64 * 1024
_BUSY = "The site is busy. Nothing was changed. Try again in a moment."


class Socket(WebSocketProtocol):
    """A web socket whose limit for messages holds for browsers only, not for what they are sent."""

    maxMessagePayloadSize: int

    def sendMessage(self, *args: Any, **options: Any) -> None:
        limit, self.maxMessagePayloadSize = self.maxMessagePayloadSize, 0
        try:
            super().sendMessage(*args, **options)
        finally:
            self.maxMessagePayloadSize = limit


class Server(Daphne):
    """Pages and sockets, to as many clients as `max_files` (the process's limit) and the settings allow.

    A body is read by the pages while they want it, and an answer is produced as fast as its reader reads it.
    """

    def __init__(self, application: Any, max_files: int, **options: Any) -> None:
        super().__init__(
            self._answer,
            websocket_max_message_size=4 * MAX_MESSAGE,  # characters of four bytes
            websocket_max_frame_size=4 * MAX_MESSAGE,
            **options,
        )
        self._pages = application
        self._turns = asyncio.Semaphore(MAX_AT_ONCE)
        self._max = max(1, min(settings.MAX_CONNECTIONS, max_files - RESERVED_FILES))
        self.uploads: dict[Request, int] = {}

    @property
    def http_factory(self) -> Connections:
        """The factory of connections. Daphne makes its own when it runs; ours replaces it."""
        return self._connections

    @http_factory.setter
    def http_factory(self, _made: Any) -> None:
        self._connections = Connections(Pages(self), self._max, Patience())

    @property
    def ws_factory(self) -> Any:
        """The factory of web sockets: Daphne's, with our sockets."""
        return self._sockets

    @ws_factory.setter
    def ws_factory(self, made: Any) -> None:
        made.protocol = Socket
        made.setProtocolOptions(perMessageCompressionAccept=compressed)
        self._sockets = made

    def timeout_checker(self) -> None:
        """Called every two seconds."""
        self._connections.cut_overdue()
        super().timeout_checker()

    def create_application(self, protocol: Any, scope: Message) -> Any:
        body = {"pevsite.body": protocol.body} if isinstance(protocol, Request) else {}
        return super().create_application(protocol, scope | body)

    async def handle_reply(self, protocol: Any, message: Message) -> None:
        """Send a part of an answer, and wait until there is room for the next one."""
        connection: Connection | None = protocol.transport
        await super().handle_reply(protocol, message)
        if connection is not None and (message.get("more_body") or message["type"] == "websocket.send"):
            await connection.can_write.wait()

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._pages(scope, receive, send)
            return
        body = scope.pop("pevsite.body")
        try:
            async with asyncio.timeout(MAX_WAIT):
                await self._turns.acquire()
        except TimeoutError:
            status = HTTPStatus.SERVICE_UNAVAILABLE.value
            kind, refused = "text/plain; charset=utf-8", f"{_BUSY}\n".encode()
            if reads_problems(scope["path"]):
                kind, refused = MEDIA_TYPE, problem_json(status, _BUSY)
            headers = [(b"content-type", kind.encode()), (b"retry-after", b"5"), (b"cache-control", b"no-store")]
            await send({"type": "http.response.start", "status": status, "headers": [*headers, *always()]})
            await send({"type": "http.response.body", "body": refused})
            return
        turn = _Turn(self._turns)
        try:
            await self._pages(scope, partial(_next_message, body, receive), partial(turn.send, send))
        finally:
            turn.end()


class _Turn:
    """Ends when the answer begins, so that a slow reader of a download delays no other request."""

    def __init__(self, turns: asyncio.Semaphore) -> None:
        self._turns: asyncio.Semaphore | None = turns

    async def send(self, send: Send, message: Message) -> None:
        self.end()
        await send(message)

    def end(self) -> None:
        turns, self._turns = self._turns, None
        if turns is not None:
            turns.release()


async def _next_message(body: IO[bytes], receive: Receive) -> Message:
    """The next piece of the body. After the last one Daphne's messages follow, first that there is no more."""
    await asyncio.sleep(0)  # others have their turn between two pieces
    piece = b"" if body.closed else body.read(_PIECE)
    return {"type": "http.request", "body": piece, "more_body": True} if piece else await receive()


def compressed(offers: list[Any]) -> PerMessageDeflateOfferAccept | None:
    """Sockets are compressed where a browser offers it, with a window of 8 kB on each side: a thousand are a few MB.

    What comes in is inflated up to `websocket_max_message_size` at the most, and refused beyond.
    """
    for offer in offers:
        if isinstance(offer, PerMessageDeflateOffer):
            asked = WINDOW_BITS if offer.accept_max_window_bits else 0
            own = min(WINDOW_BITS, offer.request_max_window_bits or WINDOW_BITS)
            return PerMessageDeflateOfferAccept(offer, request_max_window_bits=asked, window_bits=own, mem_level=5)  # type: ignore[no-untyped-call]
    return None
