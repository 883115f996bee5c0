"""The endpoint of the MCP server: checks who may call, and how often. It ignores cookies, so a session gives no access.

It is an ASGI application in front of the pages, because the library's transport is one (decision 15).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from types import ModuleType
from typing import Any

from django.conf import settings

from runs.models import AccessToken
from runs.store.audit_trail import coming_from
from runs.web.live.subscribers import from_database
from runs.web.mcp.tool_arguments import Caller
from runs.web.site.addresses import MCP_PATH
from runs.web.site.admission import admitted, count_request
from runs.web.site.audit_origin import origin_of_program
from runs.web.site.problems import Refused
from runs.web.site.requests import client_of
from runs.web.site.same_origin import came_as_https, is_same_origin, our_host, values

MAX_BODY = 4_000_000
"""Bytes of one message. It is held in memory several times while it is parsed."""
_OFF = "This installation is no MCP server. Whoever runs it can make it one: PEV_MCP_SERVER=on."


class WithMcp:
    """An ASGI application that answers at `MCP_PATH` and passes all other requests on to the pages."""

    def __init__(self, pages: Any) -> None:
        self._pages = pages

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] != MCP_PATH:
            await self._pages(scope, receive, send)
        elif refusal := _refusal(scope):
            status, sentence = refusal
            await _answer(send, status, sentence, {"Allow": "POST"} if status is HTTPStatus.METHOD_NOT_ALLOWED else {})
        else:
            await _serve(scope, receive, send)


def _refusal(scope: Any) -> tuple[HTTPStatus, str] | None:
    """Returns why the request is refused before its token is checked: wrong host, plain HTTP, another site's page in a
    browser, or the wrong method.
    """
    headers = scope["headers"]
    if not settings.MCP_SERVER:
        return HTTPStatus.NOT_FOUND, _OFF
    if not our_host(headers):
        return HTTPStatus.BAD_REQUEST, "This site does not go by that name."
    if settings.TLS and not came_as_https(headers):
        return HTTPStatus.FORBIDDEN, "This address is for https alone. Revoke the token: it was sent in the clear."
    if values(headers, b"origin") and not is_same_origin(headers):
        return HTTPStatus.FORBIDDEN, "Pages of other sites may not ask here."
    if scope["method"] != "POST":
        return HTTPStatus.METHOD_NOT_ALLOWED, "Messages are posted here. There is no stream, and no session to end."
    return None


async def _serve(scope: Any, receive: Any, send: Any) -> None:
    given, address = values(scope["headers"], b"authorization"), client_of(scope)

    def admit() -> AccessToken:
        token = admitted(given, address, "MCP server")
        count_request(token)
        return token

    try:
        row = await from_database(admit)
    except Refused as refusal:
        await _answer(send, refusal.status, str(refusal), refusal.headers)
        return
    server = await asyncio.to_thread(_load_server)
    scheme = "https" if settings.TLS else "http"
    caller = Caller(row, f"{scheme}://{our_host(scope['headers'])}")
    with coming_from(origin_of_program(address, row)):
        await server.serve(caller, scope, receive, send, MAX_BODY)


def _load_server() -> ModuleType:
    # An optional package. Importing it takes a second, which would block the event loop, and most sites never need it.
    from runs.web.mcp import server

    return server


async def _answer(send: Any, status: HTTPStatus, sentence: str, besides: Mapping[str, str]) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]
    headers += [(name.lower().encode(), value.encode()) for name, value in besides.items()]
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    await send({"type": "http.response.body", "body": f"{sentence}\n".encode()})
