"""How requests reach the views of a running site."""

import asyncio
import threading
from typing import Any

import pytest
from asgiref.sync import AsyncToSync
from django.core.signals import request_finished
from django.http import HttpRequest, HttpResponse
from django.urls import path
from pytest_django.fixtures import Settings

from runs.web.site.handler import PagesHandler
from runs.web.site.requests import GetResponse

_called: list[bool] = []
"""Whether the thread of a page had been called from an event loop that another thread waits for."""
_begun, _left = threading.Event(), threading.Event()


def in_a_thread(get_response: GetResponse) -> GetResponse:
    def answer(request: HttpRequest) -> Any:
        return get_response(request)

    return answer


def slow_page(request: HttpRequest) -> HttpResponse:
    _called.append(hasattr(AsyncToSync.executors, "current"))
    _begun.set()
    _left.wait(5)
    return HttpResponse("made")


urlpatterns = [path("", slow_page)]


@pytest.fixture(autouse=True)
def pages(settings: Settings) -> None:
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = [f"{__name__}.in_a_thread", "django_htmx.middleware.HtmxMiddleware"]
    _called.clear()
    _begun.clear()
    _left.clear()


def test_a_request_does_not_go_through_the_event_loop_between_its_middleware_and_its_view() -> None:
    _left.set()
    sent = asyncio.run(_answered(leaves=False))
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert _called == [False]


def test_a_browser_that_leaves_ends_its_request_without_an_error() -> None:
    finished: list[bool] = []

    def note(**_: Any) -> None:
        finished.append(_left.is_set())

    request_finished.connect(note)
    try:
        assert asyncio.run(_answered(leaves=True)) == []
    finally:
        request_finished.disconnect(note)
    assert finished == [True]  # once, and not before its view has ended


async def _answered(*, leaves: bool) -> list[Any]:
    """What was sent in answer to a request whose browser stays, or leaves while its view works."""
    messages = iter([{"type": "http.request", "body": b""}])
    sent: list[Any] = []

    async def receive() -> Any:
        if message := next(messages, None):
            return message
        if leaves:
            await asyncio.to_thread(_begun.wait, 5)
            asyncio.get_running_loop().call_later(0.1, _left.set)
            return {"type": "http.disconnect"}
        return await asyncio.Future()

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"127.0.0.1")], "query_string": b""}
    await PagesHandler()(scope, receive, send)
    return sent
