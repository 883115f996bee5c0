"""The time that one attempt may take: its model calls and tools together, waiting for the service not counted."""

import time

from runs.errors import TimeUsedUp


class Deadline:
    """`used` seconds of `limit` are gone already, by the journal: a resumed attempt gets no new time."""

    def __init__(self, limit: float, used: float) -> None:
        self._limit = limit
        self._used = used

    def add(self, began: float) -> None:
        """Count what has passed since the monotonic moment `began`."""
        self._used += time.monotonic() - began

    def check(self, began: float | None = None) -> None:
        """Raises TimeUsedUp when the time is over, what has passed since `began` included."""
        running = time.monotonic() - began if began is not None else 0.0
        if self._used + running >= self._limit:
            raise TimeUsedUp(f"The attempt has used the {self._limit:.0f} seconds that it may take.")
