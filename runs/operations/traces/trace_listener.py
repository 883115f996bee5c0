"""Listens to committed events, and sends a span for each row that has ended with one of them.

A run takes days and several processes, some of which are killed, so no span is ever open in memory. A span is made of a
row that has ended, and its ids are computed from rows. So children can name a parent that ends later, in another
process. What ends at the moment of a kill is missing in the trace, but never in the journal.
"""

from collections.abc import Iterator, Sequence

from django.conf import settings
from django.db.models import Model

from runs.enums import AttemptStatus, StepStatus
from runs.events import kinds as events
from runs.models import Attempt, Gate, Run, Step
from runs.store.event_log import NewEvent


def send_spans(run_id: int, entries: Sequence[NewEvent], **kwargs: object) -> None:
    """Send a span for each row that ended with these events. Does nothing if no collector is configured."""
    if not settings.TRACES:
        return
    # These need an optional extra.
    from runs.operations.traces.span_export import export
    from runs.operations.traces.spans import span_of

    for entry in entries:
        for row in _ended_rows(run_id, entry):
            if span := span_of(row):
                export(span)


def flush() -> None:
    """Send waiting spans at the end of a process. Takes two seconds at most."""
    if settings.TRACES:
        from runs.operations.traces.span_export import flush  # needs an optional extra

        flush()


def _ended_rows(run_id: int, entry: NewEvent) -> Iterator[Model]:
    steps = Step.objects.filter(plan__run=run_id)
    match entry.event:
        case events.ModelCalled() | events.ToolCalled() | events.VerdictGiven():
            assert entry.row is not None
            yield entry.row
        case events.StepPassed() | events.StepAccepted() | events.StepNotApplicable() | events.StepFailed() as event:
            yield steps.filter(key=event.step).latest("plan__version")
        case events.PlanProposed(version=version):  # it dropped the unsettled steps of the version before
            yield from steps.filter(plan__version=version - 1, status=StepStatus.DROPPED)
        case events.GateDecided(revises=True, gate=gate):  # another plan was asked for instead of another try
            work = Gate.objects.select_related("work__attempt").get(pk=gate).work
            if work and work.attempt:
                yield work.attempt
        case events.Finished():
            run = Run.objects.get(pk=run_id)
            # Attempts that were cancelled earlier have ended with another event.
            cancelled = Attempt.objects.of_run(run).filter(status=AttemptStatus.CANCELLED)
            yield from cancelled.filter(finished_at=run.finished_at)
            if newest := run.plans.newest():
                yield from newest.steps.filter(status=StepStatus.DROPPED)
            yield run
