"""How requests reach the views: each in one thread, from the first middleware to the view and back."""

from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase

KEPT_THREADS = 8
"""Threads that wait for the next request. On SQLite each keeps a connection, with a cache of a few megabytes."""


class PagesHandler(ASGIHandler):
    """Every view is synchronous, and so is some middleware. Django's handler would go back to the event loop between
    them in each request, which takes time, and may log an error when a browser leaves (asgiref, issue 491). It would
    also start a thread for each request, and open the database again in it.
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
                await super().__call__(scope, receive, send)
            ended = True
        finally:
            # After an error the view may still be at work: no other request may wait for it.
            if ended and len(self._waiting) < KEPT_THREADS:
                self._waiting.append(thread)
            else:
                thread.submit(connections.close_all)
                thread.shutdown(wait=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = await sync_to_async(self.get_response)(request)
        return response
