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
    """Steps that start in one transaction share run and plan, and then go on in parallel: each gets its own."""
    work.run = copy(work.run)
    if work.attempt:
        step = work.attempt.step
        step.plan = copy(step.plan)
        step.plan.run = work.run
    _created[work.pk] = work
    while len(_created) > MAX_REMEMBERED:
        _created.popitem(last=False)


def take(work_id: int) -> WorkItem | None:
    """The item as it was committed, given out once. Whether that still holds, only its row can say."""
    return _created.pop(work_id, None)


def reset() -> None:
    """Tests use the keys of rows that were rolled back for others."""
    _created.clear()
