"""How requests reach the views: each in one thread, from the first middleware to the view and back."""

import asyncio
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing
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
        thread = self._waiting.pop() if self._waiting else ThreadPoolExecutor(1, "request")
        ended = False
        try:
            async with ThreadSensitiveContext(executor=thread):
                await self.handle(scope, receive, send)
            ended = True
        finally:
            # After an error the view may still be at work: no other request may wait for it.
            if ended and len(self._waiting) < KEPT_THREADS:
                self._waiting.append(thread)
            else:
                thread.submit(connections.close_all)
                thread.shutdown(wait=False)

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        responses: list[HttpResponseBase] = []  # filled in the thread, whose result is lost when the client leaves
        with closing(body):
            try:
                await self._answer(scope, body, responses, receive, send)
            except RequestAborted:
                await sync_to_async(_close)(responses)  # in the same thread, and so when the view has returned
            finally:
                if responses and not responses[0].closed:
                    await sync_to_async(_close)(responses)

    async def _answer(
        self, scope: Any, body: IO[bytes], responses: list[HttpResponseBase], receive: Any, send: Any
    ) -> None:
        """Raises RequestAborted if the client leaves."""
        try:
            async with asyncio.TaskGroup() as group:
                leaving = group.create_task(self.listen_for_disconnect(receive))
                await self._alone.acquire()
                turn = _Turn(self._alone)
                try:
                    await sync_to_async(self._make)(scope, body, responses)
                finally:
                    turn.end()
                await self.send_response(responses[0], send)
                leaving.cancel()
        except BaseExceptionGroup as errors:
            if len(errors.exceptions) == 1:
                raise errors.exceptions[0] from None
            raise

    def _make(self, scope: Any, body: IO[bytes], responses: list[HttpResponseBase]) -> None:
        """Add the response. Unless it is streamed, it is closed here, which sends `request_finished` and gives the
        connection to the database back before the answer is sent.
        """
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=self.__class__, scope=scope)
        request, refused = self.create_request(scope, body)
        response = self.get_response(request) if request is not None else refused
        assert response is not None
        response._handler_class = self.__class__  # type: ignore[attr-defined]  # the sender of `request_finished`
        responses.append(response)
        if not response.streaming:
            response.close()


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


def _close(responses: list[HttpResponseBase]) -> None:
    for response in responses:
        if not response.closed:
            response.close()
