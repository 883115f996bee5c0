"""Files sent in pieces: attachments that a browser saves and never shows, and pictures that pages show."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from urllib.parse import quote

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header


def attachment(request: HttpRequest, pieces: Iterator[bytes], name: str, content_type: str) -> StreamingHttpResponse:
    """A download called `name`. Only one piece at a time is in memory."""
    response = _stream(request, pieces, content_type)
    response["Content-Disposition"] = content_disposition_header(True, name) or f"attachment; filename={quote(name)}"
    return response


def picture(request: HttpRequest, pieces: Iterator[bytes], content_type: str) -> StreamingHttpResponse:
    """A picture, unchanged, for a page of ours. It is not decoded here."""
    response = _stream(request, pieces, content_type)
    response["Content-Disposition"] = "inline"
    return response


def without_body(request: HttpRequest, response: HttpResponseBase) -> None:
    """Make the answer to GET that to HEAD: the same headers, with the length where it is known, and no body."""
    if isinstance(response, StreamingHttpResponse):
        response.streaming_content = _pieces_for(request, iter(()))  # what was there has not begun to be read
    elif isinstance(response, HttpResponse):
        response.headers.setdefault("Content-Length", str(len(response.content)))
        response.content = b""


def _stream(request: HttpRequest, pieces: Iterator[bytes], content_type: str) -> StreamingHttpResponse:
    """Content from outside, with headers that keep a browser from guessing its type and from running anything in it."""
    response = StreamingHttpResponse(_pieces_for(request, pieces), content_type=content_type)
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox"
    response["Cache-Control"] = "private, no-store"
    return response


def _pieces_for(request: HttpRequest, pieces: Iterator[bytes]) -> Iterator[bytes] | AsyncIterator[bytes]:
    return _without_blocking(pieces) if isinstance(request, ASGIRequest) else pieces


async def _without_blocking(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    fetch = sync_to_async(_next, thread_sensitive=False)
    while (piece := await fetch(pieces)) is not None:
        yield piece


def _next(pieces: Iterator[bytes]) -> bytes | None:
    """The next piece that is not empty; None after the last one."""
    return next(filter(None, pieces), None)
