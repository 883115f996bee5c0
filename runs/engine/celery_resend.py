"""Work that is due and that nobody has claimed, sent to Celery workers again: a notification may have been lost.

Redis gets each one now and then and not at every poll, or the queue would grow while all workers are busy.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings

from runs.engine.celery_backend import sender
from runs.engine.leader_locks import HeldLock
from runs.engine.perform import enqueue

SEEN_TWICE = 0.25
"""Seconds, less than between two polls: who has created it has just sent it, so the first poll that sees it waits."""
FIRST_WAIT, MAX_WAIT = 5.0, 120.0
"""Seconds until it is sent once more; each time twice as long."""


class Overdue:
    """What the sweepers of Celery workers call with the items that are due. One process at a time sends them."""

    def __init__(self) -> None:
        # as long as a lease: both end together when their process is killed
        self._turn = HeldLock("notify", lasts=timedelta(seconds=settings.LEASE_SECONDS))
        self._next: dict[int, tuple[float, float]] = {}

    def __call__(self, due: Sequence[int]) -> None:
        if not self._turn.is_mine():
            self._next.clear()
            return
        now = time.monotonic()
        if sender.is_away and due:  # one tries whether it answers; when it does, all are sent at the next poll
            self._next = dict.fromkeys(due, (now, FIRST_WAIT))
            enqueue(due[0])
            return
        self._next = {work_id: self._next.get(work_id, (now + SEEN_TWICE, FIRST_WAIT)) for work_id in due}
        for work_id, (at, wait) in self._next.items():
            if now >= at:
                enqueue(work_id)
                self._next[work_id] = (now + wait, min(2 * wait, MAX_WAIT))

    def stop(self) -> None:
        """Another process may begin at once."""
        self._turn.give_up()
