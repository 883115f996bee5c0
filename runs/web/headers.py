"""Headers of answers that no view has to think of."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

type Message = dict[str, Any]
type Send = Callable[[Message], Awaitable[None]]
_NOSNIFF = (b"x-content-type-options", b"nosniff")


@sync_and_async_middleware
def no_store(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Pages are kept by no cache, unless a view says otherwise: after signing out, *back* shows nothing."""
    if iscoroutinefunction(get_response):

        async def answer(request: HttpRequest) -> HttpResponseBase:
            return _not_stored(await get_response(request))

        return answer
    return lambda request: _not_stored(get_response(request))


def _not_stored(response: HttpResponseBase) -> HttpResponseBase:
    if "Cache-Control" not in response.headers:
        response.headers["Cache-Control"] = "private, no-store"
    return response


class NoSniff:
    """An ASGI application whose answers browsers take for what they are called: static files pass no middleware."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        await self._app(scope, receive, partial(_sniffless, send))


async def _sniffless(send: Send, message: Message) -> None:
    if message["type"] == "http.response.start":
        others = [(name, value) for name, value in message["headers"] if name.lower() != _NOSNIFF[0]]
        message = {**message, "headers": [*others, _NOSNIFF]}
    await send(message)
