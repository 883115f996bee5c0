"""Work for the thread of an attempt: the session runs on an event loop in another one, the ports stay where they are.

Connections to the database and the watch over calls belong to the thread of the worker.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue


class ThreadBridge:
    """Calls are carried out one after the other, in the thread that is in `serve`."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    async def do[Value](self, call: Callable[[], Value]) -> Value:
        """What `call` returns or raises; from any event loop."""
        future = Future[Value]()
        self._jobs.put(partial(_carried_out, call, future))
        return await asyncio.wrap_future(future)

    def serve(self) -> None:
        """Until `close` is called."""
        while job := self._jobs.get():
            job()

    def close(self) -> None:
        self._jobs.put(None)


def _carried_out[Value](call: Callable[[], Value], future: Future[Value]) -> None:
    if not future.set_running_or_notify_cancel():
        return  # the session has ended since
    try:
        future.set_result(call())
    except Exception as error:
        future.set_exception(error)
