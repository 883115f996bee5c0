"""Limits the bytes of answers from outside: from model services, MCP servers, web pages and collectors.

Every HTTP client here requests the identity encoding and reads bodies through `Body`. So the bytes that are counted are
the bytes in memory: nothing is unpacked, and a small answer cannot become a large one.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import anyio
import httpx2

from runs.http_client.watchdog import Watch, attach

ENCODING = ("Accept-Encoding", "identity")
"""The header of each request."""
MAX_ERROR = 100_000
"""Bytes that are read of an error response. The rest is not informative."""
MAX_WHOLE = 16_000_000
"""Bytes of an answer that is not an event stream. The caller holds it in memory as bytes and as text."""
MAX_SINGLE_LINES = 100
"""Lines of one event of a model service, which normally has two. The library takes quadratic time for more."""


class AnswerRefused(httpx2.RemoteProtocolError):
    """Raised if an answer is compressed or too large. The message completes “the server did not answer: …”."""


class Body:
    """The body of one answer while it arrives. Pass pieces to `take`, which returns what may be passed on, and call
    `rest` at the end.

    Events of a stream are passed on one by one, with line feeds as line ends. Any other body is passed on as a whole at
    its end, so that it is in memory once, however small its pieces are. An error keeps its status whatever its body is:
    a compressed body counts as empty, and a too large one is cut off.

    `max_lines`: per event. Raises AnswerRefused.
    """

    def __init__(self, status: int, headers: httpx2.Headers, max_bytes: int, max_lines: int | None = None) -> None:
        self._is_error = status >= 400
        self._is_stream = headers.get("content-type", "").partition(";")[0].strip().lower() == "text/event-stream"
        whole = max_bytes if self._is_stream else min(max_bytes, MAX_WHOLE)
        self._left = self._max = min(max_bytes, MAX_ERROR) if self._is_error else whole
        self._max_lines = max_lines
        self._lines = 0
        self._whole = BytesIO()
        self._event = bytearray()
        self._carriage_return = b""
        if is_encoded(headers):
            if not self._is_error:
                raise AnswerRefused("its answer is compressed, which was not asked for")
            self._left = 0

    @property
    def is_full(self) -> bool:
        """Whether enough of an error response has been read."""
        return self._is_error and self._left <= 0

    def take(self, piece: bytes) -> bytes:
        self._left -= len(piece)
        if self._left < 0:
            if not self._is_error:
                raise AnswerRefused(f"its answer has more than {self._max:,} bytes")
            piece = piece[: max(len(piece) + self._left, 0)]
        if self._is_stream:
            return self._events(piece)
        self._whole.write(piece)
        return b""

    def rest(self) -> bytes:
        return bytes(self._event + self._carriage_return) if self._is_stream else self._whole.getvalue()

    def _events(self, piece: bytes) -> bytes:
        piece = self._carriage_return + piece
        self._carriage_return = piece[-1:] if piece.endswith(b"\r") else b""  # a line feed may follow
        piece = piece.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        begin = max(len(self._event) - 1, 0)
        self._event += piece
        end = self._event.rfind(b"\n\n", begin) + 2
        events = bytes(self._event[:end]) if end >= 2 else b""
        if events:
            del self._event[:end]
        if self._max_lines is not None:
            self._lines = self._event.count(b"\n") if events else self._lines + piece.count(b"\n")
            most = max((event.count(b"\n") for event in events.split(b"\n\n")), default=0)
            if max(most, self._lines) > self._max_lines:
                raise AnswerRefused(f"an event of its answer has more than {self._max_lines} lines")
        return events


def is_encoded(headers: httpx2.Headers) -> bool:
    """Whether a body is compressed or otherwise encoded."""
    named = headers.get_list("content-encoding", split_commas=True)
    return any(one.strip().lower() not in {"", "identity"} for one in named)


def bounded_client(
    max_bytes: int, *, timeout: httpx2.Timeout, made: Callable[..., httpx2.Client] = httpx2.Client, **options: Any
) -> httpx2.Client:
    """Returns a client with limited answers, whose requests can be ended by the `Watch` of their thread.

    Each request has its own connection, because a watch must know its socket, and some servers close connections that
    they promised to keep. Redirects are not followed, because a server could then have our data sent anywhere.
    """

    def ask_plainly(request: httpx2.Request) -> None:
        request.headers[ENCODING[0]] = ENCODING[1]

    def bound(response: httpx2.Response) -> None:
        body = Body(response.status_code, response.headers, max_bytes, MAX_SINGLE_LINES)
        response.headers.pop("content-encoding", None)
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Bounded(response.stream, body)

    return made(
        timeout=timeout,
        limits=httpx2.Limits(max_connections=1_000, max_keepalive_connections=0),
        event_hooks={"request": [ask_plainly, attach], "response": [bound]},
        follow_redirects=False,
        **options,
    )


def ask(
    method: str,
    address: str,
    *,
    headers: dict[str, str],
    content: bytes | None,
    seconds: float,
    max_bytes: int,
    tls: ssl.SSLContext,
) -> httpx2.Response:
    """Returns the answer to one request, read completely. Raises httpx2.HTTPError, and httpx2.TimeoutException after
    `seconds`.
    """
    end = time.monotonic() + seconds

    def check() -> None:
        if time.monotonic() > end:
            raise httpx2.ReadTimeout(f"it did not answer within {seconds:g} seconds")

    timeout = httpx2.Timeout(seconds)
    with Watch(check), bounded_client(max_bytes, timeout=timeout, verify=tls) as client:
        return client.request(method, address, headers=headers, content=content)


class _Bounded(httpx2.SyncByteStream):
    def __init__(self, inner: httpx2.SyncByteStream, body: Body) -> None:
        self._inner = inner
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        if not self._body.is_full:
            for piece in self._inner:
                if events := self._body.take(piece):
                    yield events
                if self._body.is_full:
                    break
        if rest := self._body.rest():
            yield rest

    def close(self) -> None:
        self._inner.close()


class BoundedTransport(httpx2.AsyncHTTPTransport):
    """For asynchronous clients: answers of `max_bytes` at most, within `seconds` from the request to the last byte.

    Streams that a server may send messages over at any time (GET) have the time for their headers alone. What ends a
    session (DELETE) has `closing_seconds`.
    """

    def __init__(self, max_bytes: int, seconds: float, closing_seconds: float) -> None:
        super().__init__(trust_env=False)
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._closing_seconds = closing_seconds

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers[ENCODING[0]] = ENCODING[1]
        end = anyio.current_time() + (self._closing_seconds if request.method == "DELETE" else self._seconds)
        with _until(end):
            response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        try:
            body = Body(response.status_code, response.headers, self._max_bytes)
        except AnswerRefused:
            await response.stream.aclose()
            raise
        response.headers.pop("content-encoding", None)
        response.stream = _BoundedAsync(response.stream, body, None if request.method == "GET" else end)
        return response


class _BoundedAsync(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, body: Body, end: float | None) -> None:
        self._inner = inner
        self._body = body
        self._end = end

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        pieces = aiter(self._inner)
        while not self._body.is_full:
            with _until(self._end):
                piece = await anext(pieces, None)
            if piece is None:
                break
            if events := self._body.take(piece):
                yield events
        if rest := self._body.rest():
            yield rest

    async def aclose(self) -> None:
        await self._inner.aclose()


@contextmanager
def _until(end: float | None) -> Iterator[None]:
    """Raises httpx2.ReadTimeout when the time on the clock of the event loop has come; never without one."""
    try:
        with anyio.fail_after(None if end is None else end - anyio.current_time()):
            yield
    except TimeoutError as error:
        raise httpx2.ReadTimeout("it did not answer in time") from error
