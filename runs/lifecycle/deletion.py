"""Deleting runs, when their owner wants it or they are older than `PEV_KEEP_DAYS`.

The rows of a run are deleted at once, its files as soon as nothing else uses them. One line for administrators stays.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from runs.accounting.costs import totals
from runs.contracts.ports import Changes, FileInfo
from runs.enums import AuditKind, RunStatus, WorkStatus
from runs.errors import DecisionRefused
from runs.logs import about
from runs.models import Attempt, DeletedRun, Discarded, DraftFile, Gate, Run, Step, ToolCall, Tree, User
from runs.people.permissions import check_can_manage
from runs.store import audit_trail, blobs, broadcast, event_log, garbage_collection

log = logging.getLogger(__name__)
CONTENTS_AT_ONCE = 5_000
"""Contents that one sweep looks at, because databases limit the parameters of a query."""
_MAX_NAMES = 3
"""Runs that a refusal lists."""


def delete(run_id: int, user: User | None) -> DeletedRun:
    """Delete a finished run with its request, plans, attempts, calls and events. Returns the line that stays.

    Its files are deleted by the next sweep, unless another run, a draft or a template uses them. `user` is None
    where the run has been kept for long enough (`runs.lifecycle.deletion`). Raises NotAllowed, or DecisionRefused
    with what stands against it.
    """
    try:
        with event_log.writing():
            run = event_log.locked(run_id)
            if user:
                check_can_manage(user, run)
            if problem := problem_with(run):
                raise DecisionRefused(problem)
            line = _record_deletion(run, user)
            audit_trail.record(AuditKind.RUN_DELETED, by=user, run_id=run_id, name="" if user else "retention")
            _delete(run)
    except IntegrityError as error:
        # Another run took over a result of this one after it was checked. The foreign key does not allow both.
        raise DecisionRefused("Someone has just used something of this run. Try again.") from error
    log.info("run deleted", extra=about(run=run_id))
    return line


def problem_with(run: Run, *, lasting: bool = False) -> str:
    """Why a run cannot be deleted now, and what to do; empty if it can.

    `lasting`: leave out reasons that disappear by themselves within a minute.
    """
    if run.status != RunStatus.FINISHED or run.finished_at is None:
        return "This run is not finished. Stop it first; then it can be deleted."
    stopped = run.work.filter(status=WorkStatus.CANCELLED).exists()
    # A worker of a stopped run notices at its next heartbeat, and then still records what its last call cost.
    if stopped and not lasting and timezone.now() - run.finished_at < timedelta(seconds=2 * settings.LEASE_SECONDS):
        return "Its work was stopped a moment ago and is still ending. Try again in half a minute."
    if citing := citing_runs(run):
        more = f" and {len(citing) - _MAX_NAMES} more" if len(citing) > _MAX_NAMES else ""
        which = ", ".join(f"run {number}" for number in citing[:_MAX_NAMES]) + more
        return (
            f"Results of this run were reused, and what was done for them is only here: {which} would lose its "
            "evidence. Delete that first, or archive this run instead."
        )
    return ""


def citing_runs(run: Run) -> list[int]:
    """The numbers of other runs that took over a result of this one."""
    taken = Attempt.objects.filter(reused_from__step__plan__run=run).exclude(step__plan__run=run)
    return sorted(set(taken.values_list("step__plan__run_id", flat=True)))


def _record_deletion(run: Run, user: User | None) -> DeletedRun:
    spent = totals(run)
    assert run.finished_at is not None
    assert run.outcome is not None
    return DeletedRun.objects.create(
        number=run.pk,
        title=run.title,
        owner=run.owner,
        outcome=run.outcome,
        submitted_at=run.created_at,
        finished_at=run.finished_at,
        calls=spent.calls,
        cost_usd=spent.cost,
        files=run.head.file_count,
        bytes=run.head.total_size,
        deleted_by=user,
    )


def _delete(run: Run) -> None:
    attempts = Attempt.objects.of_run(run)
    # Collected first: after the deletion no row names these contents and trees any more.
    contents = set(_hashes(attempts.values_list("overlay", flat=True)))
    contents.update(_hashes(ToolCall.objects.filter(run=run).values_list("writes", flat=True)))
    contents.update([run.letterhead.logo] if run.letterhead and run.letterhead.logo else [])
    trees = {run.inputs_id, run.head_id, *attempts.values_list("base", flat=True)}
    others = (attempts.values_list("tree", flat=True), attempts.values_list("inputs", flat=True))
    trees |= {pk for found in (*others, run.gates.values_list("inputs", flat=True)) for pk in found if pk}
    roots = set(Tree.objects.filter(pk__in=trees, root__isnull=False).values_list("root_id", flat=True))
    found = Tree.objects.filter(pk__in=trees | roots)
    contents.update(_hashes(found.values_list("changes", flat=True)))
    # Later versions of a plan refer to results of earlier ones, and the foreign keys protect those.
    Step.objects.of_run(run).update(reused_from=None)
    attempts.update(reused_from=None)
    run_id, newest = run.pk, run.event_count
    run.delete()
    _delete_unused_trees(trees | roots)
    garbage_collection.discard(contents)
    # A number that no page has seen, so that each open page asks for news and learns that the run is gone.
    transaction.on_commit(partial(broadcast.announce, run_id, newest + 1), robust=True)


def _hashes(changes: Iterable[Changes]) -> Iterator[str]:
    for each in changes:
        yield from (info.sha256 for info in each.values() if info)


def _delete_unused_trees(trees: Collection[int]) -> None:
    """Delete trees that no run, attempt, gate or other tree uses. Runs with equal files share a tree."""
    in_runs = Run.objects.filter(Q(inputs=OuterRef("pk")) | Q(head=OuterRef("pk")))
    by_attempts = Q(base=OuterRef("pk")) | Q(tree=OuterRef("pk")) | Q(inputs=OuterRef("pk"))
    in_attempts, at_gates = Attempt.objects.filter(by_attempts), Gate.objects.filter(inputs=OuterRef("pk"))
    as_root = Tree.objects.filter(root=OuterRef("pk"))
    used = Exists(in_runs) | Exists(in_attempts) | Exists(at_gates) | Exists(as_root)
    free = Tree.objects.filter(~used, pk__in=trees)
    # Roots are last, since the others refer to them.
    free.filter(root__isnull=False).delete()
    free.filter(root__isnull=True).delete()


def delete_discarded() -> int:
    """Delete contents of deleted runs that nothing else uses. Returns how many were checked.

    Contents that were stored in the last minutes are left for later (`blobs.GRACE`): a run may be about to name them.
    """
    # The rows are deleted after the files: after a crash in between, the next sweep does the same again.
    due = Discarded.objects.filter(due_at__lte=timezone.now()).order_by("due_at")
    contents = list(due.values_list("sha256", flat=True)[:CONTENTS_AT_ONCE])
    if not contents:
        return 0
    later = garbage_collection.delete(contents)
    with event_log.writing():
        Discarded.objects.filter(sha256__in=[one for one in contents if one not in later]).delete()
        Discarded.objects.filter(sha256__in=later).update(due_at=timezone.now() + blobs.GRACE)
    return len(contents)


RUNS_AT_ONCE = 20
"""Runs that one sweep deletes, each in its own transaction, so that people who click wait for one at most."""


def delete_expired() -> bool:
    """Delete some of the runs that are older than `PEV_KEEP_DAYS`. True if there are more."""
    if not settings.KEEP_DAYS:
        return False
    numbers, _ = expired(timezone.now() - timedelta(days=settings.KEEP_DAYS))
    deleted = delete_runs(numbers[:RUNS_AT_ONCE])
    return bool(deleted) and len(numbers) > RUNS_AT_ONCE


def kept_until(run: Run) -> datetime | None:
    """When a finished run may be deleted; None if it is not finished, or if the installation keeps runs for ever."""
    kept = bool(settings.KEEP_DAYS) and run.finished_at is not None
    return run.finished_at + timedelta(days=settings.KEEP_DAYS) if kept and run.finished_at else None


def expired(before: datetime) -> tuple[list[int], list[int]]:
    """The numbers of all runs that finished before that time: those that can be deleted, in order, and the others.

    A run stays if a run that stays has taken over one of its results, which would lose its evidence.
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


def delete_runs(numbers: Collection[int]) -> list[int]:
    """Delete these runs one after the other. Returns the numbers of those that were deleted.

    A run whose result was taken over in the meantime, or whose work is still ending, is left for later.
    """
    deleted = []
    for number in numbers:
        try:
            delete(number, user=None)
        except (DecisionRefused, Run.DoesNotExist):
            continue
        deleted.append(number)
    if deleted:
        log.info("runs deleted that were kept for long enough: %s", ", ".join(map(str, deleted)))
    return deleted


def freed(numbers: Collection[int]) -> tuple[int, int]:
    """How many files, and bytes, would become unused without these runs. Looks through all runs."""
    going = frozenset(numbers)
    files = {info.sha256: info.size for info in _contents(going.__contains__)}
    for info in _contents(lambda run_id: run_id not in going):
        files.pop(info.sha256, None)
    for sha256 in DraftFile.objects.values_list("sha256", flat=True).iterator():
        files.pop(sha256, None)
    return len(files), sum(files.values())


def _contents(is_meant: Callable[[int], bool]) -> Iterator[FileInfo]:
    """The files of the chosen runs: results of attempts, files that tool calls wrote, and their trees."""
    trees = set[int | None]()
    rows: Iterator[tuple[Any, ...]] = chain(
        ToolCall.objects.values_list("run_id", "writes").iterator(),
        Attempt.objects.values_list("step__plan__run_id", "overlay", "base_id", "tree_id", "inputs_id").iterator(),
        ((run_id, {}, tree) for run_id, tree in Gate.objects.values_list("run_id", "inputs_id").iterator()),
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
