"""Retention: runs that finished longer ago than the installation keeps them are deleted, with what only they have."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from runs.contracts.ports import FileInfo
from runs.enums import RunStatus
from runs.errors import DecisionRefused
from runs.lifecycle import deletion
from runs.models import Attempt, DraftFile, Run, ToolCall, Tree

log = logging.getLogger(__name__)
AT_ONCE = 20
"""Runs that one sweep deletes, each in a transaction of its own: people who click wait for one of them at most."""


def sweep() -> bool:
    """Delete some of the runs that have been kept for `PEV_KEEP_DAYS`; True if there are more."""
    if not settings.KEEP_DAYS:
        return False
    numbers, _ = expired(timezone.now() - timedelta(days=settings.KEEP_DAYS))
    deleted = delete(numbers[:AT_ONCE])
    return bool(deleted) and len(numbers) > AT_ONCE


def kept_until(run: Run) -> datetime | None:
    """When a finished run may be deleted; None for one that is not finished, and where nothing is deleted by itself."""
    kept = bool(settings.KEEP_DAYS) and run.finished_at is not None
    return run.finished_at + timedelta(days=settings.KEEP_DAYS) if kept and run.finished_at else None


def expired(before: datetime) -> tuple[list[int], list[int]]:
    """The numbers of all runs that finished before then and can go, in the order in which they can; and of those that
    stay, because a run that stays has taken over one of their results and would lose its evidence.
    """
    old = Run.objects.filter(status=RunStatus.FINISHED, finished_at__lt=before)
    left = set(old.values_list("pk", flat=True))
    taken_by: dict[int, set[int]] = defaultdict(set)
    earlier = "reused_from__step__plan__run_id"
    taken = Attempt.objects.filter(reused_from__isnull=False).exclude(step__plan__run_id=F(earlier))
    for source, run in taken.values_list(earlier, "step__plan__run_id").distinct():
        taken_by[source].add(run)
    order: list[int] = []
    gone = set[int]()
    while free := {number for number in left if taken_by[number] <= gone}:
        order += sorted(free)
        gone |= free
        left -= free
    return order, sorted(left)


def delete(numbers: Collection[int]) -> list[int]:
    """Delete these runs one after the other; returns the numbers of those that are gone.

    One that somebody has begun to rest on meanwhile, or whose work is still coming to its end, is left for later.
    """
    deleted = []
    for number in numbers:
        try:
            deletion.delete(number, user=None)
        except (DecisionRefused, Run.DoesNotExist):
            continue
        deleted.append(number)
    if deleted:
        log.info("runs deleted that were kept for long enough: %s", ", ".join(map(str, deleted)))
    return deleted


def freed(numbers: Collection[int]) -> tuple[int, int]:
    """How many files nobody else has when these runs are gone, and their bytes. It looks through all runs."""
    going = frozenset(numbers)
    files = {info.sha256: info.size for info in _contents(going.__contains__)}
    for info in _contents(lambda run_id: run_id not in going):
        files.pop(info.sha256, None)
    for sha256 in DraftFile.objects.values_list("sha256", flat=True).iterator():
        files.pop(sha256, None)
    return len(files), sum(files.values())


def _contents(is_meant: Callable[[int], bool]) -> Iterator[FileInfo]:
    """What these runs name, in results of attempts, in what tool calls have written, and in their trees."""
    trees = set[int | None]()
    rows: Iterator[tuple[Any, ...]] = chain(
        ToolCall.objects.values_list("run_id", "writes").iterator(),
        Attempt.objects.values_list("step__plan__run_id", "overlay", "base_id", "tree_id").iterator(),
        ((run_id, {}, *both) for run_id, *both in Run.objects.values_list("pk", "inputs_id", "head_id").iterator()),
    )
    for run_id, changes, *rests_on in rows:
        if is_meant(run_id):
            trees.update(rests_on)
            yield from _files(changes)
    trees |= {root for pk, root in Tree.objects.values_list("pk", "root_id").iterator() if pk in trees}
    for pk, changes in Tree.objects.values_list("pk", "changes").iterator():
        if pk in trees:
            yield from _files(changes)


def _files(changes: Any) -> Iterator[FileInfo]:
    return (info for info in changes.values() if info)
