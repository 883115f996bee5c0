"""The watch over exchanges in flight. It cuts an exchange that must end off at its socket, whatever the server does.

A library sees neither pings nor silence, informational responses and headers that trickle in start its timeouts again,
and a thread that reads a socket cannot be interrupted. Shutting the socket down from outside ends the read at once.
"""

import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import httpx2

WATCH_INTERVAL = 1.0
"""Seconds between two looks at whether a call should go on."""
_CONNECTED = "connect_tcp.complete"
_here = threading.local()


class Watch:
    """Has `check` called every second from the watcher's thread until the block is left; it raises to end the call.

    The request of the block must be made in its thread, by a client with `attach` as a hook, on a connection of
    its own. When the block fails because it was cut off, what `check` raised comes out of it.
    """

    def __init__(self, check: Callable[[], None]) -> None:
        self._check = check
        self._lock = threading.Lock()
        self._left = False
        self._reason: Exception | None = None
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        _here.watch = self
        _watcher.add(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        _here.watch = None
        _watcher.remove(self)
        with self._lock:  # a check that has begun ends first: its reason counts
            self._left = True
            self._forget()
        if self._reason is not None and isinstance(error, Exception):
            raise self._reason from error

    def traced(self, event: str, info: Mapping[str, Any]) -> None:
        """Told by the transport what it does. The socket is duplicated, because TLS takes it away from its object: so
        a handshake can be cut off as well.
        """
        if event.endswith(_CONNECTED):
            with self._lock:
                self._forget()
                self._socket = info["return_value"].get_extra_info("socket").dup()
                self._cut()

    def look(self) -> None:
        """Check once, and cut the call off when it has to end."""
        with self._lock:
            # the list of calls is a copy, so a call that has ended since is left alone
            if self._left or self._reason is not None:
                return
            try:
                self._check()
            except Exception as reason:
                self._reason = reason
                self._cut()

    def _forget(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _cut(self) -> None:
        """Both threads call this after they have set their part, so whichever is second cuts. Needs the lock."""
        if self._reason is not None and self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


class _Watcher:
    """One thread for all the calls of a process: it begins with the first and ends after the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: set[Watch] = set()
        self._runs = False

    def add(self, call: Watch) -> None:
        with self._lock:
            self._calls.add(call)
            if not self._runs:
                self._runs = True
                threading.Thread(target=self._watch, name="watch", daemon=True).start()

    def remove(self, call: Watch) -> None:
        with self._lock:
            self._calls.discard(call)

    def _watch(self) -> None:
        while True:
            time.sleep(WATCH_INTERVAL)
            with self._lock:
                # `add` takes the same lock: a call that comes now finds this thread running, or starts another
                calls = list(self._calls)
                if not calls:
                    self._runs = False
                    return
            # without the lock: calls begin and end while a check waits
            for call in calls:
                call.look()


_watcher = _Watcher()


def attach(request: httpx2.Request) -> None:
    """A hook on requests: lets the watch of this thread, if there is one, follow what becomes of it."""
    watch: Watch | None = getattr(_here, "watch", None)
    if watch is not None:
        request.extensions["trace"] = watch.traced
