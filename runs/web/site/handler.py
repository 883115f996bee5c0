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


class PagesHandler(ASGIHandler):
    """Every view is synchronous, and so is some middleware. Django's handler would go back to the event loop between
    them in each request, and for the signals before and after them, which takes time, and may log an error when a
    browser leaves (asgiref, issue 491). It would also start a thread for each request, and open the database again in
    it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[Executor] = []

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
        made: list[HttpResponseBase] = []
        with closing(body):
            try:
                async with asyncio.TaskGroup() as group:
                    leaving = group.create_task(self.listen_for_disconnect(receive))
                    await sync_to_async(self._make)(scope, body, made)
                    await self.send_response(made[0], send)
                    leaving.cancel()
            except* RequestAborted:
                pass
            if not made or not made[0].closed:
                await sync_to_async(_close)(made)  # in the same thread, and so not before the view has ended

    def _make(self, scope: Any, body: IO[bytes], made: list[HttpResponseBase]) -> None:
        """Add the response to `made`. Unless it is sent in pieces, it is whole now, and the request ends here."""
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=self.__class__, scope=scope)
        request, refused = self.create_request(scope, body)
        response = self.get_response(request) if request is not None else refused
        assert response is not None
        response._handler_class = self.__class__  # type: ignore[attr-defined]  # the sender of `request_finished`
        made.append(response)
        if not response.streaming:
            response.close()


def _close(made: list[HttpResponseBase]) -> None:
    for response in made:
        if not response.closed:
            response.close()
