"""Where workers read and write: one thread for all of a process on SQLite, their own thread elsewhere.

SQLite has one writer, and a thread that waits for a model with a connection open costs three times one without. What a
worker has to do with the database comes here as one short call; between two of them it holds nothing.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from django.db import connection


class Database:
    """Calls run one after the other in the thread of the database while it is started, else where they are made."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None
        self._thread = 0

    def start(self) -> None:
        """Take calls from now on. On other databases than SQLite calls stay in their thread: rows are locked there."""
        if connection.vendor == "sqlite":
            self._executor = ThreadPoolExecutor(1, "database", self._begin)

    def stop(self) -> None:
        """Finish what was called before, and take no more."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.submit(lambda: connection.close())  # looked up there: it is that thread's connection
            executor.shutdown(wait=True)

    def call[Value](self, do: Callable[[], Value]) -> Value:
        """What `do` returns or raises."""
        executor = self._executor
        if executor is None or threading.get_ident() == self._thread:
            try:
                return do()
            finally:
                _release()
        try:
            future = executor.submit(do)
        except RuntimeError:  # stopped since the line above looked
            return do()
        return future.result()

    def _begin(self) -> None:
        self._thread = threading.get_ident()


def _release() -> None:
    """Give the connection back as the settings say: a hundred waiting workers must not hold a hundred of them."""
    if not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()


database = Database()
