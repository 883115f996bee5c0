"""Headers that every answer gets, so that no view has to set them."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.decorators import sync_and_async_middleware

type Message = dict[str, Any]
type Send = Callable[[Message], Awaitable[None]]


@sync_and_async_middleware
def no_store(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """No cache keeps pages, unless a view says otherwise: after signing out, *back* shows nothing."""
    if iscoroutinefunction(get_response):

        async def answer(request: HttpRequest) -> HttpResponseBase:
            return _not_stored(await get_response(request))

        return answer
    return lambda request: _not_stored(get_response(request))


def _not_stored(response: HttpResponseBase) -> HttpResponseBase:
    if "Cache-Control" not in response.headers:
        response.headers["Cache-Control"] = "private, no-store"
    return response


class Compressed(GZipMiddleware):
    """Pages go out compressed. Downloads do not: they are files as they are, with their length, often zipped already.

    Django adds a random number of bytes to each answer, masks the token of forms, and the session's cookie comes with
    no request of another site but a click on a link: what a length could tell is not to be had by repetition.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming or response.has_header("Content-Disposition"):
            return response
        return super().process_response(request, response)


class WithHeaders:
    """An ASGI application whose answers all have the headers that pages get from middleware, which static files do not
    pass through.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        await self._app(scope, receive, partial(_send_with_headers, send))


async def _send_with_headers(send: Send, message: Message) -> None:
    if message["type"] == "http.response.start":
        present = {name.lower() for name, _ in message["headers"]}
        missing = [(name, value) for name, value in always() if name not in present]
        message = {**message, "headers": [*message["headers"], *missing]}
    await send(message)


def always() -> Iterator[tuple[bytes, bytes]]:
    """The headers of an answer that has no others with their names."""
    yield b"x-content-type-options", b"nosniff"
    yield b"content-security-policy", b"default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
    if settings.SECURE_HSTS_SECONDS:
        yield b"strict-transport-security", f"max-age={settings.SECURE_HSTS_SECONDS}".encode()
