"""Has spans sent when what they are about has been committed; where no one collects them, nothing.

A run takes days and several processes, some of which are killed, so no span is ever open in memory. It is made of the
row that has ended, and its ids follow from the row: a parent that ends later, in another process, is the one that its
children have named. What ends in the moment of a kill is missing in the trace, never in the journal.
"""

from functools import partial

from django.conf import settings
from django.db import models, transaction


def ended(row: models.Model) -> None:
    """Send a span for a row whose end this transaction writes, in the background, once it is committed."""
    if settings.TRACES:
        transaction.on_commit(partial(_send, row), robust=True)


def flush() -> None:
    """Send what still waits to be sent: a process that ends calls this. Takes two seconds at most."""
    if settings.TRACES:
        from runs.tracing.exporting import flush  # needs an optional extra

        flush()


def _send(row: models.Model) -> None:
    from runs.tracing.exporting import export  # needs an optional extra
    from runs.tracing.spans import span_of  # only where somebody collects them

    span = span_of(row)
    if span:
        export(span)
