"""The processes of an installation: a row for each, which shows that it lives, and tasks that one of them has."""

from __future__ import annotations

import os
import pkgutil
import socket
import threading
import time
import uuid
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.crypto import salted_hmac

from pevsite.installation import version
from runs import migrations
from runs.enums import AuditKind
from runs.models import LeaderLock, Process, clock
from runs.store import audit_trail, event_log

INTERVAL = 5.0
"""Seconds between two updates of the row. So long it takes until a process knows that it must take no new work."""
SILENT_AFTER = timedelta(seconds=30)
"""A process that was not seen for so long was killed, or cannot reach the database."""
_FORGOTTEN_AFTER = timedelta(hours=1)

draining = threading.Event()
"""Set while this process must finish its work and take no new work."""


def owner() -> str:
    """The owner of the leases of this process: host name and process id."""
    return f"{socket.gethostname()[:40]}/{os.getpid()}"


def newest_migration() -> str:
    """The name of the newest migration that this code knows."""
    return max(name for _, name, _ in pkgutil.iter_modules(migrations.__path__))


def key_mark() -> str:
    """A value that is equal for processes with the same secret key, and does not reveal the key."""
    return salted_hmac("pevsite.presence", "secret key", algorithm="sha256").hexdigest()[:16]


def forget_the_silent() -> None:
    """Delete the rows of processes that were killed."""
    with event_log.writing():
        Process.objects.filter(seen_at__lt=clock.after(-_FORGOTTEN_AFTER)).delete()


class Presence:
    """The row of this process. `threads`: how many work items it carries out at the same time, 0 if it only serves."""

    def __init__(self, *, serves: bool, threads: int) -> None:
        self._name = f"{owner()}/{uuid.uuid4().hex}"
        self._facts = {
            "owner": owner(),
            "serves": serves,
            "threads": threads,
            "engine": settings.ENGINE,
            "messages": bool(settings.REDIS_URL),
            "version": version(),
            "schema": newest_migration(),
            "key": key_mark(),
        }
        self._next = 0.0

    def refresh(self) -> None:
        """Update the row. May be called often: it uses the database every `INTERVAL` seconds only."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + INTERVAL
        mine = Process.objects.filter(name=self._name)
        began, asked_at = time.monotonic(), timezone.now()
        found = mine.values_list("draining", Now()).first()
        if found is None:
            with event_log.writing():
                mine.create(name=self._name, started_at=clock.now(), seen_at=clock.now(), **self._facts)
            return
        shall_drain, there = found
        (draining.set if shall_drain else draining.clear)()
        on_the_way = timedelta(seconds=(time.monotonic() - began) / 2)
        with event_log.writing():
            mine.update(seen_at=clock.now(), clock_ahead=(asked_at + on_the_way - there).total_seconds())

    def leave(self) -> None:
        """Delete the row, because the process ends in an orderly way."""
        with event_log.writing():
            Process.objects.filter(name=self._name).delete()


def drain(process_id: int, *, drains: bool) -> bool:
    """Let a process take no new work, or take it again. It knows after `INTERVAL`. False if nothing changes."""
    with event_log.writing():
        others = Process.objects.filter(pk=process_id, threads__gt=0).exclude(draining=drains)
        is_changed = others.update(draining=drains) == 1
        if is_changed:
            does = "takes no new work" if drains else "takes new work again"
            audit_trail.record(AuditKind.OPERATED, subject=f"process {process_id}", name=does)
    return is_changed


LASTS = timedelta(seconds=60)
"""How long a process keeps a lock after it has last extended it."""


BACKUP = "backup"
"""The lock of a back-up. While a process holds it, no files are deleted: a copied row may still name them."""


def is_taken(name: str) -> bool:
    """Whether a process holds this lock now."""
    return LeaderLock.objects.filter(name=name, until__gt=clock.now()).exists()


class HeldLock:
    """A named lock that one process holds at a time. It expires if it is not extended within `lasts`."""

    def __init__(self, name: str, lasts: timedelta = LASTS) -> None:
        self._name = name
        self._lasts = lasts
        self._owner = f"{owner()}/{uuid.uuid4().hex}"
        self._sure_until = 0.0

    def is_mine(self) -> bool:
        """Whether this process holds the lock. Takes it if it is free, and extends it: must be called regularly."""
        # Counted from before the query, so that a slow query cannot make this process believe in an expired lock.
        began = time.monotonic()
        if began < self._sure_until:
            return True
        held = {"owner": self._owner, "until": clock.after(self._lasts)}
        with event_log.writing():
            # Of several processes, one creates the row; of those that find it expired, one UPDATE matches.
            _, is_new = LeaderLock.objects.get_or_create(name=self._name, defaults=held)
            free = Q(owner=self._owner) | Q(until__lte=clock.now())
            is_mine = is_new or LeaderLock.objects.filter(free, name=self._name).update(**held) == 1
        self._sure_until = began + self._lasts.total_seconds() / 3 if is_mine else 0.0
        return is_mine

    def give_up(self) -> None:
        """Release the lock, so that another process can take it at once."""
        self._sure_until = 0.0
        with event_log.writing():
            LeaderLock.objects.filter(name=self._name, owner=self._owner).update(until=clock.now())
