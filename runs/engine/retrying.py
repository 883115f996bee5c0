"""When work is done again for which there was no model's reply: no thread waits, its due time does."""

from datetime import datetime, timedelta

from runs.errors import ModelError

MAX_TRIES = 8
"""With waits that double, a service may be away for two minutes before a person is asked."""
MAX_WAIT = 3_600.0
"""Seconds that a service may ask to be left alone."""


def retry_at(error: ModelError, tries: int, now: datetime) -> datetime | None:
    """When to try again after so many `tries` in a row that failed before this one; None where a person is asked."""
    if not error.retriable or tries + 1 >= MAX_TRIES:
        return None
    wait = min(2.0**tries, 60.0)
    if error.retry_after is not None:
        wait = max(wait, min(error.retry_after, MAX_WAIT))
    return now + timedelta(seconds=wait)
