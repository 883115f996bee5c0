"""Who answers a question to a model: the rehearsal for its own ids, the API for all others."""

import time
from collections.abc import Callable

from runs.llm.client import Clients
from runs.pev.ports import Ask, Reply
from runs.rehearsal.model import MODELS, Rehearsal

POLL_INTERVAL = 0.1
"""Seconds between two looks at whether a wait has to end."""


class Answering:
    """Safe to share between threads. `delay`: seconds before each reply of the rehearsal, so that one can follow."""

    def __init__(self, delay: float = 0.0) -> None:
        self._delay = delay
        self._rehearsal = Rehearsal()
        self._clients = Clients()

    def ask(self, ask: Ask, keep_going: Callable[[], None] = lambda: None) -> Reply:
        """The reply to one question. `keep_going` raises to break it off, also while the reply is waited for.

        Raises ModelError.
        """
        if ask.model not in MODELS:
            return self._clients.ask(ask, keep_going)
        ends = time.monotonic() + self._delay
        while (left := ends - time.monotonic()) > 0:
            keep_going()
            time.sleep(min(left, POLL_INTERVAL))
        keep_going()
        return self._rehearsal.ask(ask)

    def close(self) -> None:
        self._clients.close()
