"""How long it takes from an event to the browsers that hear of it, counted since this process began."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds; what took longer is counted after the last."""


class Latency:
    """Filled by the event loop alone; whoever reads meanwhile may miss the newest message."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def add(self, happened_at: datetime) -> None:
        """A message has left that tells of this event. Clocks of several machines may differ: never below zero."""
        taken = max(0.0, (timezone.now() - happened_at).total_seconds())
        self.counts[sum(taken > bound for bound in BOUNDS)] += 1
        self.seconds += taken


latency = Latency()
"""Of this process."""
