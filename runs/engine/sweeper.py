"""The sweeper notifies workers of work that is due or whose lease expired, and browsers of what other processes wrote.

This one loop makes up for crashes, delays and lost notifications (D2). It changes no status of a run, except by the
time limits of decisions. It deletes drafts that no one submitted, runs that are older than the installation keeps them,
files of deleted runs, old notices and old answers to programs. Notices that are due are sent by threads that it starts.
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

from runs.engine import calibrating, document_work, mcp_listings, probes
from runs.engine.claim import due
from runs.engine.notice_sending import NoticeSender
from runs.engine.process_registry import BACKUP, HeldLock, Presence, forget_the_silent, is_taken
from runs.errors import FromLaterVersion
from runs.lifecycle import assignments, deletion, time_limits
from runs.models import Event, User, WorkItem
from runs.notices import deliveries
from runs.people import accounts, idempotency_keys
from runs.store import broadcast, page_pictures
from runs.submission import submission_drafts

log = logging.getLogger(__name__)
POLL_INTERVAL = 0.5
"""Seconds between two polls, and so the longest time until an event of another process is announced."""
DRAFTS_INTERVAL = 1_800
"""Seconds between two searches for expired drafts, and for runs that are too old."""
UPKEEP_INTERVAL = 2.0
"""Seconds between two searches for files of deleted runs, and for time limits of decisions that are due."""
PEOPLE_INTERVAL = 30.0
"""Seconds between two searches for decisions that are the turn of people who may not make them any more."""
MAX_MISSING = 1_000
"""Missing ids between two events that are waited for. PostgreSQL assigns an id before the transaction commits, and an
id of a transaction that is rolled back stays missing.
"""
_LAST_POLL = 5.0
"""Seconds for which an ending process waits for its last poll, since the database may be away."""
_COMMITTED_WITHIN = timedelta(minutes=2)
"""A time is set before its transaction commits; a writer waits for the lock a minute at most."""


class Sweeper:
    """A thread that polls every `POLL_INTERVAL` seconds and calls `notify` with the ids of due work items.

    In a process that only serves there is no `notify`: it only tells browsers what other processes wrote. What must be
    done once for the installation is done by one process at a time (`HeldLock`).
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
        self._notices = NoticeSender()
        self._only_run = only_run
        self._seen: int | None = None
        self._missing: dict[int, float] = {}
        self._signed_out: set[tuple[int, datetime | None]] = set()
        self._next_people = self._next_drafts = self._next_retention = self._next_upkeep = self._next_pages = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sweep, name="sweeper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop, and wait for the current poll: what follows in the process may close its database."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(_LAST_POLL)
        self._notices.stop()

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
            with suppress(DatabaseError):  # others notice after a while that it is gone
                self._present.leave()
        connection.close()

    def poll(self) -> None:
        """Announce new events, and notify workers of everything that can be claimed."""
        if self._present:
            self._present.refresh()
        self._announce()
        self._close_sockets()
        self._forget_pages()
        probes.refresh()
        if not self._notify:
            return
        items = WorkItem.objects.filter(due()).order_by("due_at")
        if self._only_run is not None:
            items = items.filter(run_id=self._only_run)
        # The oldest 500; the rest follows at later polls, in half a second each.
        self._notify(list(items.values_list("pk", flat=True)[:500]))
        if self._only_run is None:
            document_work.refresh()
            mcp_listings.refresh()
            calibrating.refresh()
            self._notices.refresh()
            self._keep_up()

    def _keep_up(self) -> None:
        """Carry out time limits, and delete what is no longer needed. Not at every poll: a search for drafts goes
        through all trees.
        """
        now = time.monotonic()
        if now >= self._next_upkeep:
            self._next_upkeep = now + UPKEEP_INTERVAL
            if self._upkeep.is_mine() and not is_taken(BACKUP):
                time_limits.perform_due()
                if now >= self._next_people:
                    self._next_people = now + PEOPLE_INTERVAL
                    assignments.follow_people()
                deletion.delete_discarded()
                if now >= self._next_drafts:
                    self._next_drafts = now + DRAFTS_INTERVAL
                    forget_the_silent()
                    submission_drafts.sweep()
                    accounts.forget_ended_sessions()
                    idempotency_keys.forget_old()
                    deliveries.forget_old()
                if now >= self._next_retention:
                    self._next_retention = now + (UPKEEP_INTERVAL if deletion.delete_expired() else DRAFTS_INTERVAL)

    def _forget_pages(self) -> None:
        """Delete old pictures of pages. Every process does so, since they lie on the machine where they were made."""
        if self._only_run is None and time.monotonic() >= self._next_pages:
            self._next_pages = time.monotonic() + DRAFTS_INTERVAL
            page_pictures.sweep()

    def _close_sockets(self) -> None:
        """Close sockets of people who were signed out everywhere by another process."""
        lately = User.objects.filter(signed_out_at__gt=timezone.now() - _COMMITTED_WITHIN)
        signed_out = set(lately.values_list("pk", "signed_out_at"))
        for person_id, _ in signed_out - self._signed_out:
            broadcast.recheck(person_id)
        self._signed_out = signed_out

    def _announce(self) -> None:
        """Announce new events. Those of this process were announced before; a second time does no harm."""
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
