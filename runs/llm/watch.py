"""Owns the watch over a call in flight: one that must end is cut off at its socket, however silent the service is.

The library sees neither pings nor silence, and a thread that reads a socket cannot be told to stop. Shutting the
socket down from outside ends the read at once.
"""

import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import httpx2

WATCH_INTERVAL = 1.0
"""Seconds between two looks at whether a call should go on."""
_CONNECTED = ("connect_tcp.complete", "start_tls.complete")
_here = threading.local()


class Watch:
    """Calls `check` every second from a thread of its own until the block is left; it raises to end the call.

    The request of the block must be made in its thread, by a client with `attach` as a hook, on a connection of
    its own. When the block fails because it was cut off, what `check` raised comes out of it.
    """

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        self._left = threading.Event()
        self._reason: Exception | None = None
        self._socket: socket.socket | None = None
        self._thread = threading.Thread(target=self._look, name="watch", daemon=True)

    def __enter__(self) -> Self:
        _here.watch = self
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        _here.watch = None
        self._left.set()
        self._thread.join()
        if self._reason is not None and isinstance(error, Exception):
            raise self._reason from error

    def traced(self, event: str, info: Mapping[str, Any]) -> None:
        """Told by the transport what it does. Each layer that is put on a connection brings a socket of its own."""
        if event.endswith(_CONNECTED):
            self._socket = info["return_value"].get_extra_info("socket")
            self._cut()

    def _look(self) -> None:
        while not self._left.wait(WATCH_INTERVAL):
            try:
                self._check()
            except Exception as reason:
                self._reason = reason
                self._cut()
                return

    def _cut(self) -> None:
        """Both threads call this after they have set their part, so whoever is second cuts."""
        if self._reason is not None and self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


def attach(request: httpx2.Request) -> None:
    """A hook on requests: lets the watch of this thread, if there is one, follow what becomes of it."""
    watch: Watch | None = getattr(_here, "watch", None)
    if watch is not None:
        request.extensions["trace"] = watch.traced
