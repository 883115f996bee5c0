"""Headers that answers get, so that no view has to set them."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

from runs.web.site.requests import GetResponse, is_background_form
from runs.web.site.streaming import without_body

PLACE = "X-Location"
"""The header with the address to go to. The script of forms reads it: static/js/form_words.js."""

type Message = dict[str, Any]
type Send = Callable[[Message], Awaitable[None]]


def changes_headers(alter: Callable[[HttpRequest, HttpResponseBase], None]) -> Callable[[GetResponse], GetResponse]:
    """Makes a middleware of a function that changes the headers of an answer."""

    def middleware(get_response: GetResponse) -> GetResponse:
        def answer(request: HttpRequest) -> HttpResponseBase:
            response = get_response(request)
            alter(request, response)
            return response

        return answer

    return middleware


@changes_headers
def no_store(_: HttpRequest, response: HttpResponseBase) -> None:
    """No cache keeps pages, unless a view says otherwise: after signing out, *back* shows nothing."""
    if "Cache-Control" not in response.headers:
        response.headers["Cache-Control"] = "private, no-store"


@changes_headers
def places_for_scripts(request: HttpRequest, response: HttpResponseBase) -> None:
    """Answers a form that a script has sent with the address to go to in place of a redirect.

    A browser follows redirects without asking the script, so the messages of the page would be shown to no one.
    """
    if is_background_form(request) and "Location" in response.headers and 300 <= response.status_code < 400:
        response.headers[PLACE] = response.headers["Location"]
        del response.headers["Location"]
        response.status_code = HTTPStatus.NO_CONTENT


@changes_headers
def no_body_for_head(request: HttpRequest, response: HttpResponseBase) -> None:
    """Daphne would send all but the first piece of it."""
    if request.method == "HEAD":
        without_body(request, response)


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
