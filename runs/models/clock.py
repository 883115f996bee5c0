"""The clock of leases and due times: that of the database, because the clocks of several machines differ.

The values are expressions, so that time that a statement waits for its turn to write is not lost for a lease.
"""

from datetime import timedelta

from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now


def now() -> CombinedExpression:
    """The time of the statement that it is a part of, on SQLite with the digits that Django writes too."""
    return after(timedelta(0))


def after(wait: timedelta) -> CombinedExpression:
    """So long after now."""
    return Now() + wait
