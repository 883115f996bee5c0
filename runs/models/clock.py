"""The clock that leases and due times follow: the database's, since those of several machines differ."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone


def now() -> Any:
    """The moment of the statement that it becomes a part of. On SQLite, which one machine has, that of this process."""
    return timezone.now() if connection.vendor == "sqlite" else Now()


def after(wait: timedelta) -> Any:
    """So long after now."""
    return now() + wait
