"""How requests reach the views: each in one thread, from the first middleware to the view and back."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.signals import request_started
from django.db import connections
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

KEPT_THREADS = 8
"""Threads that wait for the next request. On SQLite each keeps a connection, with a cache of a few megabytes."""
ALONE_SECONDS = 0.02
"""For this long, no other request starts while one is being answered, because threads slow each other down: short reads
that ran at the same time took 1.6 times as much processor time as one after the other. A request that takes longer is
waiting for something, or is a long page; then the next one starts.
"""


class PagesHandler(ASGIHandler):
    """All views and some middleware are synchronous. Django's handler returns to the event loop between them and for
    each signal, which takes time and can log an error when a browser leaves (asgiref, issue 491). It also starts a
    thread, and opens the database, for each request.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[Executor] = []
        self._alone = asyncio.Lock()

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._alone.acquire()
        turn, work = _Turn(self._alone), _Work()
        thread = self._waiting.pop() if self._waiting else ThreadPoolExecutor(1, "request")
        ended = False
        try:
            async with ThreadSensitiveContext(executor=thread):
                await self._handle(scope, receive, send, turn, work)
            ended = True
        finally:
            turn.end()
            if ended and len(self._waiting) < KEPT_THREADS:
                self._waiting.append(thread)
            else:  # after an error the view may still be at work: no other request may wait for it
                thread.submit(work.close)
                thread.submit(connections.close_all)
                thread.shutdown(wait=False)

    async def _handle(self, scope: Any, receive: Any, send: Any, turn: _Turn, work: _Work) -> None:
        with suppress(RequestAborted):
            body = work.body = await self.read_body(receive)
            try:
                async with asyncio.TaskGroup() as group:
                    leaving = group.create_task(self.listen_for_disconnect(receive))
                    await asyncio.sleep(0)  # nothing is done for a client that has left already
                    response = await sync_to_async(self._make)(scope, body, work)
                    turn.end()
                    await self.send_response(response, send)
                    leaving.cancel()
            except BaseExceptionGroup as errors:
                if len(errors.exceptions) == 1:
                    raise errors.exceptions[0] from None
                raise
        if not work.closed:
            await sync_to_async(work.close)()  # in the same thread, and so when the view has returned

    def _make(self, scope: Any, body: IO[bytes], work: _Work) -> HttpResponseBase:
        """Unless it is streamed, the response is closed here, which sends `request_finished` and gives the connection
        to the database back before the answer is sent.
        """
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=self.__class__, scope=scope)
        request, refused = self.create_request(scope, body)
        response = self.get_response(request) if request is not None else refused
        assert response is not None
        response._handler_class = self.__class__  # type: ignore[attr-defined]  # the sender of `request_finished`
        work.response = response
        if not response.streaming:
            work.close()
        return response


class _Turn:
    """Keeps other requests from starting, until it ends or has taken `ALONE_SECONDS`."""

    def __init__(self, alone: asyncio.Lock) -> None:
        self._alone: asyncio.Lock | None = alone
        self._timer = asyncio.get_running_loop().call_later(ALONE_SECONDS, self.end)

    def end(self) -> None:
        self._timer.cancel()
        alone, self._alone = self._alone, None
        if alone is not None:
            alone.release()


class _Work:
    """What a request has to close, in its thread: the view may still be at work when its client has left."""

    def __init__(self) -> None:
        self.body: IO[bytes] | None = None
        self.response: HttpResponseBase | None = None
        self.closed = False

    def close(self) -> None:
        if self.response is not None and not self.response.closed:
            self.response.close()
        if self.body is not None:
            self.body.close()
        self.closed = True
