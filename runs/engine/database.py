"""Where workers use the database: on SQLite in one thread per process, elsewhere in their own threads.

SQLite allows one writer, and a waiting thread with an open connection needs three times the memory of one without. So
workers pass short calls to this thread, and hold no connection between two of them.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import InterfaceError, OperationalError, connection

AWAY = (InterfaceError, OperationalError)
"""Errors of a database that is away, full or restarting. Nothing is wrong with the work itself."""


class Database:
    """Runs calls one after the other in one thread while it is started; otherwise in the thread of the caller."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._thread = 0

    def start(self) -> None:
        """Start the thread, on SQLite only. Other databases have several writers."""
        if connection.vendor == "sqlite":
            self._executor = ThreadPoolExecutor(1, "database", self._begin)

    def stop(self) -> None:
        """Finish the calls that were made, and take no more."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.submit(lambda: connection.close())  # a lambda, because `connection` depends on the thread
            executor.shutdown(wait=True)

    def call[Value](self, do: Callable[[], Value]) -> Value:
        """Call `do`; returns or raises what it does."""
        executor = self._executor
        if executor is None or threading.get_ident() == self._thread:
            try:
                return do()
            finally:
                # A hundred waiting workers must not hold a hundred connections.
                if not connection.in_atomic_block:
                    connection.close_if_unusable_or_obsolete()
        try:
            future = executor.submit(do)
        except RuntimeError:  # stopped since the check above
            return do()
        return future.result()

    def _begin(self) -> None:
        self._thread = threading.get_ident()


database = Database()
