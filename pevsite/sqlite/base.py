"""Owns how the threads of a process share SQLite: who wants to write waits in turn, and open connections are kept.

SQLite lets waiting writers poll: with two hundred threads some were never served and failed with "database is locked".
Opening a connection takes longer than most transactions, and workers give theirs back before each call to a model.
"""

import os
import sqlite3
import threading
from collections import deque
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base

PATIENCE = 60.0
"""Seconds after which a writer gives up. Only a transaction that never ends can take so long."""


class _File:
    """What the threads share of one database file. Eight connections wait for their next thread, no more."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.idle: deque[sqlite3.Connection] = deque()


_files: dict[str, _File] = {}


def close_idle() -> None:
    """Close every connection that waits for a thread; none may be carried into another process."""
    for file in _files.values():
        while file.idle:
            file.idle.pop().close()


os.register_at_fork(before=close_idle)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's, whose writers take turns. Other processes are waited for by SQLite's own timeout."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._file = _File()
        self._my_turn = False
        self.execute_wrappers.append(self._write_in_turn)

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        self._file = _files.setdefault(str(conn_params["database"]), _File())
        try:
            return self._file.idle.pop()
        except IndexError:
            return super().get_new_connection(conn_params)

    def _start_transaction_under_autocommit(self) -> None:
        self._take_turn()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._end_turn()
            raise

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]
        self._end_turn()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._end_turn()

    def _close(self) -> None:
        try:
            if self.connection and not self.connection.in_transaction and len(self._file.idle) < 8:
                self._file.idle.append(self.connection)
            else:
                super()._close()  # type: ignore[misc]
        finally:
            self._end_turn()

    def _write_in_turn(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        """A single write outside a transaction waits like all others."""
        if self._my_turn or not sql.startswith(("INSERT", "UPDATE", "DELETE")):
            return execute(sql, params, many, context)
        self._take_turn()
        try:
            return execute(sql, params, many, context)
        finally:
            self._end_turn()

    def _take_turn(self) -> None:
        if not self._file.turn.acquire(timeout=PATIENCE):
            raise OperationalError("database is locked: another thread has been writing for a minute")
        self._my_turn = True

    def _end_turn(self) -> None:
        if self._my_turn:
            self._my_turn = False
            self._file.turn.release()
