"""Work that this process has created and nobody has claimed yet, with its rows: who claims it reads nothing."""

from collections import OrderedDict
from copy import copy

from django.db import transaction

from runs.models import WorkItem

MAX_REMEMBERED = 256
_created: OrderedDict[int, WorkItem] = OrderedDict()


def remember(work: WorkItem) -> None:
    """Keep an item in memory from the commit on, with the run, attempt, step and plan that are in hand with it."""
    transaction.on_commit(lambda: _remember(work))


def _remember(work: WorkItem) -> None:
    _created[work.pk] = _own(work)
    while len(_created) > MAX_REMEMBERED:
        _created.popitem(last=False)


def take(work_id: int) -> WorkItem | None:
    """The item as it was committed, given out once. Whether that still holds, only its row can say."""
    return _created.pop(work_id, None)


def _own(work: WorkItem) -> WorkItem:
    """Copies of the rows that change: steps that start in one transaction share a run, and then go on in parallel."""
    own = copy(work)
    own.run = copy(work.run)
    if own.attempt:
        own.attempt = copy(own.attempt)
        own.attempt.step = copy(own.attempt.step)
        own.attempt.step.plan = copy(own.attempt.step.plan)
        own.attempt.step.plan.run = own.run
    return own


def reset() -> None:
    """Tests use the keys of rows that were rolled back for others."""
    _created.clear()
