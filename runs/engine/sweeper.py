"""The sweeper: it notifies workers of what is due or whose lease expired, and browsers of what other processes wrote.

Crash recovery, back-off and lost notifications are this one loop (D2). Of runs it changes nothing; drafts that nobody
has submitted go with it, runs that were kept for long enough, and files of runs that were deleted.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from django.db import DatabaseError, connection
from django.db.models import Max, Q
from django.utils import timezone

from runs.engine import document_work, mcp_listings, probes
from runs.engine.claim import due
from runs.engine.process_registry import BACKUP, HeldLock, Presence, forget_the_silent, is_taken
from runs.errors import FromLaterVersion
from runs.lifecycle import deletion

# moved
from runs.models import Event, User, WorkItem
from runs.store import broadcast, page_pictures
from runs.submission import submission_drafts

log = logging.getLogger(__name__)
POLL_INTERVAL = 0.5
"""Seconds between two polls: the longest that an event of another process stays unannounced."""
DRAFTS_INTERVAL = 1_800
"""Seconds between two looks for drafts that have expired, and for runs that were kept for long enough."""
UPKEEP_INTERVAL = 2.0
"""Seconds between two looks for files of runs that were deleted."""
MAX_MISSING = 1_000
"""Ids that are waited for between two events: PostgreSQL gives one out before its transaction ends, or is undone."""
_LAST_POLL = 5.0
"""Seconds that a process which ends waits for its last poll: a database that is away must not keep it."""
_COMMITTED_WITHIN = timedelta(minutes=2)
"""A time is written down before its transaction ends; a writer waits for a minute at most."""


class Sweeper:
    """A thread that polls every `POLL_INTERVAL` seconds and calls `notify` with the ids of work items that are due.

    Without `notify` it belongs to a process that only serves: it tells browsers what others wrote, and does no more.
    What has to be done once for the installation one process at a time does (`HeldLock`).
    """

    def __init__(
        self,
        notify: Callable[[Sequence[int]], object] | None,
        only_run: int | None = None,
        present: Presence | None = None,
    ) -> None:
        self._notify = notify
        self._present = present
        self._upkeep = HeldLock("upkeep")
        self._only_run = only_run
        self._seen: int | None = None
        self._missing: dict[int, float] = {}
        self._signed_out: set[tuple[int, datetime | None]] = set()
        self._next_drafts = self._next_retention = self._next_upkeep = self._next_pages = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sweep, name="sweeper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Poll no more, and wait for the poll that is under way: what follows may take its database away."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(_LAST_POLL)

    def _sweep(self) -> None:
        while True:
            try:
                self.poll()
            except FromLaterVersion as later:
                log.warning("the sweeper leaves something to processes of a later version: %s", later)
            except Exception:
                log.exception("the sweeper could not poll; it will try again")
                connection.close()
            if self._stop.wait(POLL_INTERVAL):
                break
        if self._present:
            with suppress(DatabaseError):  # others see that it is silent
                self._present.leave()
        connection.close()

    def poll(self) -> None:
        """Notify of everything that may be claimed now, and announce new events."""
        if self._present:
            self._present.refresh()
        self._announce()
        self._recheck()
        self._forget_pages()
        probes.refresh()
        if self._notify:
            self._work(self._notify)

    def _work(self, notify: Callable[[Sequence[int]], object]) -> None:
        items = WorkItem.objects.filter(due()).order_by("due_at")
        if self._only_run is not None:
            items = items.filter(run_id=self._only_run)
        notify(list(items.values_list("pk", flat=True)[:500]))
        if self._only_run is None:
            document_work.refresh()
            mcp_listings.refresh()
            self._keep_up()

    def _keep_up(self) -> None:
        """Drafts take a look through all trees, so not at every poll; what was deleted one at an index, as a rule."""
        now = time.monotonic()
        if now >= self._next_upkeep:
            self._next_upkeep = now + UPKEEP_INTERVAL
            if self._upkeep.is_mine() and not is_taken(BACKUP):
                deletion.delete_discarded()
                if now >= self._next_drafts:
                    self._next_drafts = now + DRAFTS_INTERVAL
                    forget_the_silent()
                    submission_drafts.sweep()
                if now >= self._next_retention:
                    self._next_retention = now + (UPKEEP_INTERVAL if deletion.delete_expired() else DRAFTS_INTERVAL)

    def _forget_pages(self) -> None:
        """Of this machine: pictures of pages are made where they are asked for."""
        if self._only_run is None and time.monotonic() >= self._next_pages:
            self._next_pages = time.monotonic() + DRAFTS_INTERVAL
            page_pictures.sweep()

    def _recheck(self) -> None:
        """Sockets of people whom another process has signed out everywhere look whether they may stay open."""
        lately = User.objects.filter(signed_out_at__gt=timezone.now() - _COMMITTED_WITHIN)
        signed_out = set(lately.values_list("pk", "signed_out_at"))
        for person_id, _ in signed_out - self._signed_out:
            broadcast.recheck(person_id)
        self._signed_out = signed_out

    def _announce(self) -> None:
        """Events of this process were announced already; a second time is harmless, and others' must be."""
        if self._seen is None:
            self._seen = Event.objects.aggregate(newest=Max("id"))["newest"] or 0
        self._missing = {event_id: ends for event_id, ends in self._missing.items() if ends > time.monotonic()}
        new = Event.objects.filter(Q(id__gt=self._seen) | Q(id__in=self._missing)).order_by("id")
        newest: dict[int, int] = {}
        for event_id, run_id, seq in new.values_list("id", "run_id", "seq")[:10_000]:
            lost = time.monotonic() + _COMMITTED_WITHIN.total_seconds()
            self._missing |= dict.fromkeys(range(self._seen + 1, min(event_id, self._seen + MAX_MISSING)), lost)
            self._missing.pop(event_id, None)
            self._seen = max(self._seen, event_id)
            newest[run_id] = max(newest.get(run_id, 0), seq)
        for run_id, seq in newest.items():
            broadcast.found(run_id, seq)
