"""Duties: what one process at a time does for the whole installation. Where it ends, another takes over."""

import time
import uuid
from datetime import timedelta

from django.db.models import Q

from runs.engine import process_registry
from runs.models import LeaderLock, clock
from runs.store import event_log

LASTS = timedelta(seconds=60)
"""For so long after it was seen last a process keeps its duties."""


BACKUP = "backup"
"""While a process has it, files that rows of a moment ago name are left where they are."""


def is_taken(name: str) -> bool:
    """Whether some process has this duty now."""
    return LeaderLock.objects.filter(name=name, until__gte=clock.now()).exists()


class HeldLock:
    """Whether it is this process that has the duty called `name`. Another one may begin when this one was silent for
    as long as it `lasts`.
    """

    def __init__(self, name: str, lasts: timedelta = LASTS) -> None:
        self._name = name
        self._lasts = lasts
        self._owner = f"{process_registry.owner()}/{uuid.uuid4().hex}"
        self._sure_until = 0.0

    def is_mine(self) -> bool:
        """To be asked again and again: that keeps it."""
        began = time.monotonic()
        if began < self._sure_until:
            return True
        held = {"owner": self._owner, "until": clock.after(self._lasts)}
        with event_log.writing():
            _, is_new = LeaderLock.objects.get_or_create(name=self._name, defaults=held)
            free = Q(owner=self._owner) | Q(until__lt=clock.now())
            is_mine = is_new or LeaderLock.objects.filter(free, name=self._name).update(**held) == 1
        self._sure_until = began + self._lasts.total_seconds() / 3 if is_mine else 0.0
        return is_mine

    def give_up(self) -> None:
        """Let another process begin at once."""
        self._sure_until = 0.0
        with event_log.writing():
            LeaderLock.objects.filter(name=self._name, owner=self._owner).update(until=clock.now())
