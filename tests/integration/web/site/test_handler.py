"""How requests reach the views of a running site."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from asgiref.sync import AsyncToSync
from django.core.signals import request_finished
from django.db import connections
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path
from pytest_django.fixtures import Settings

from pevsite.settings import MIDDLEWARE as DEFAULT_MIDDLEWARE
from runs.web.site import handler as handler_module
from runs.web.site.handler import KEPT_THREADS, PagesHandler
from runs.web.site.requests import GetResponse

_called: list[bool] = []
"""Whether the thread of a page had been called from an event loop that another thread waits for."""
_begun, _left = threading.Event(), threading.Event()
_threads: list[int] = []
"""Those in which the page was made."""
_SCOPE = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"127.0.0.1")], "query_string": b""}


def in_a_thread(get_response: GetResponse) -> GetResponse:
    def answer(request: HttpRequest) -> Any:
        return get_response(request)

    return answer


def slow_page(request: HttpRequest) -> HttpResponse:
    _threads.append(threading.get_ident())
    _called.append(getattr(AsyncToSync.executors, "current", None) is not None)
    _begun.set()
    _left.wait(60)
    return HttpResponse("made")


def slow_download(request: HttpRequest) -> StreamingHttpResponse:
    content = slow_page(request).content

    async def pieces() -> AsyncIterator[bytes]:
        yield content

    return StreamingHttpResponse(pieces())


urlpatterns = [path("", slow_page)]


@pytest.fixture(autouse=True)
def pages(settings: Settings) -> None:
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = [f"{__name__}.in_a_thread", "django_htmx.middleware.HtmxMiddleware"]
    _called.clear()
    _begun.clear()
    _left.clear()
    _threads.clear()


@pytest.fixture
def finished() -> Iterator[list[bool]]:
    """Whether views had ended when their request was said to be finished."""
    said: list[bool] = []

    def note(**_: Any) -> None:
        said.append(_left.is_set())

    request_finished.connect(note)
    yield said
    request_finished.disconnect(note)


def test_a_request_does_not_go_through_the_event_loop_between_its_middleware_and_its_view() -> None:
    _left.set()
    sent = asyncio.run(_answered(leaves=False))
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert _called == [False]


@pytest.mark.parametrize("view", [slow_page, slow_download])
def test_a_browser_that_leaves_ends_its_request_without_an_error(
    view: Any, finished: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "urlpatterns", [path("", view)])
    assert asyncio.run(_answered(leaves=True)) == []
    assert finished == [True]  # once, and not before its view has ended


@pytest.mark.parametrize("view", [slow_page, slow_download])
@pytest.mark.parametrize("breaks_off", [False, True])
def test_every_answer_is_closed_once(
    view: Any, breaks_off: bool, finished: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "urlpatterns", [path("", view)])
    _left.set()

    async def once() -> None:
        with pytest.raises(ConnectionError) if breaks_off else nullcontext():
            await _ask(PagesHandler(), breaks_off=breaks_off)
        async with asyncio.timeout(10):
            while not finished:  # after an error it is closed behind the view, which is not waited for
                await asyncio.sleep(0)

    asyncio.run(once())
    assert finished == [True]


@pytest.mark.parametrize(("alone_seconds", "beside_each_other"), [(3_600, 1), (0, 2)])
def test_a_request_starts_beside_another_only_if_that_takes_long(
    monkeypatch: pytest.MonkeyPatch, alone_seconds: float, beside_each_other: int
) -> None:
    monkeypatch.setattr(handler_module, "ALONE_SECONDS", alone_seconds)

    async def two() -> None:
        handler = PagesHandler()
        asking = [asyncio.create_task(_ask(handler)) for _ in range(2)]
        async with asyncio.timeout(10):
            while len(_threads) < beside_each_other:
                await asyncio.sleep(0)
        for _ in range(100):
            await asyncio.sleep(0)
        assert len(_threads) == beside_each_other
        _left.set()
        await asyncio.gather(*asking)
        assert len(_threads) == 2

    asyncio.run(two())


def test_a_client_that_leaves_while_it_waits_keeps_no_other_from_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler_module, "ALONE_SECONDS", 3_600)

    async def three() -> None:
        handler = PagesHandler()
        first = asyncio.create_task(_ask(handler))
        waiting = asyncio.create_task(_ask(handler))
        async with asyncio.timeout(10):
            while not _threads:
                await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            _left.set()
            await first
            await _ask(handler)

    asyncio.run(three())
    assert len(_threads) == 2  # the one that left was not answered


@pytest.mark.parametrize("view", [slow_page, slow_download])
def test_the_answer_to_head_has_no_body(view: Any, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "urlpatterns", [path("", view)])
    settings.MIDDLEWARE = DEFAULT_MIDDLEWARE[:1]
    _left.set()
    sent: list[Any] = []
    asyncio.run(_ask(PagesHandler(), sent=sent, method="HEAD"))
    assert b"".join(message.get("body", b"") for message in sent) == b""
    assert dict(sent[0]["headers"]).get(b"Content-Length") == (b"4" if view is slow_page else None)


def test_requests_after_each_other_are_answered_in_one_thread() -> None:
    async def in_turn() -> None:
        handler = PagesHandler()
        for _ in range(3):
            await _ask(handler)

    _left.set()
    asyncio.run(in_turn())
    assert len(_threads) == 3
    assert len(set(_threads)) == 1


def test_no_request_is_given_the_thread_of_another_that_broke_off() -> None:
    async def broken_off() -> None:
        handler = PagesHandler()
        with pytest.raises(ConnectionError):
            await _ask(handler, breaks_off=True)
        await _ask(handler)

    _left.set()
    asyncio.run(broken_off())
    assert len(set(_threads)) == 2


def test_the_threads_of_a_crowd_end_and_close_their_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []
    monkeypatch.setattr(connections, "close_all", lambda: closed.append(threading.get_ident()))

    async def together() -> None:
        handler = PagesHandler()
        asking = [asyncio.create_task(_ask(handler)) for _ in range(KEPT_THREADS + 3)]
        async with asyncio.timeout(10):
            while len(_threads) < len(asking):
                await asyncio.sleep(0)
        _left.set()
        await asyncio.gather(*asking)
        async with asyncio.timeout(10):
            while len(closed) < 3:
                await asyncio.sleep(0)

    asyncio.run(together())
    assert len(set(_threads)) == KEPT_THREADS + 3
    assert set(closed) < set(_threads)
    assert len(closed) == 3


async def _answered(*, leaves: bool) -> list[Any]:
    """What was sent in answer to a request whose browser stays, or leaves while its view works."""
    messages = iter([{"type": "http.request", "body": b""}])

    async def receive() -> Any:
        if message := next(messages, None):
            return message
        if leaves:
            await asyncio.to_thread(_begun.wait, 60)
            asyncio.get_running_loop().call_later(0.1, _left.set)
            return {"type": "http.disconnect"}
        return await asyncio.Future()

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await PagesHandler()(_SCOPE, receive, send)
    return sent


async def _ask(
    handler: PagesHandler, *, breaks_off: bool = False, sent: list[Any] | None = None, method: str = "GET"
) -> None:
    """Ask for the page, and add its answer to `sent`. With `breaks_off` its answer cannot be sent."""
    messages = iter([{"type": "http.request", "body": b""}])

    async def receive() -> Any:
        return next(messages, None) or await asyncio.Future()

    async def send(message: Any) -> None:
        if breaks_off:
            raise ConnectionError
        if sent is not None:
            sent.append(message)

    await handler({**_SCOPE, "method": method}, receive, send)
