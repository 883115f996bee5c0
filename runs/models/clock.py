"""The clock of leases and due times: that of the database, because the clocks of several machines differ."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone


def now() -> Any:
    """The time of the statement that it is a part of. On SQLite, on one machine only, that of this process."""
    return timezone.now() if connection.vendor == "sqlite" else Now()


def after(wait: timedelta) -> Any:
    """So long after now."""
    return now() + wait
