"""Deleting a run: its rows at once, its files when nothing else has them; a line in the installation's log stays."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from runs.accounting.totals import totals
from runs.contracts.ports import Changes
from runs.enums import RunStatus, WorkStatus
from runs.errors import DecisionRefused
from runs.logs import about
from runs.models import Attempt, DeletedRun, Discarded, Run, Step, ToolCall, Tree, User
from runs.people.permissions import check_can_manage
from runs.store import blobs, broadcast, event_log, garbage_collection

log = logging.getLogger(__name__)
AT_ONCE = 5_000
"""Contents that one sweep looks at: databases bound the parameters of a query."""
_NAMED = 3
"""Runs that a refusal lists."""


def delete(run_id: int, user: User | None) -> DeletedRun:
    """Delete a finished run with its request, plans, attempts, calls and events; returns the line that stays.

    Files go with the next sweep, except for those that another run, a draft or a template still has. `user` is None
    where the run has been kept for long enough (`runs.lifecycle.retention`). Raises NotAllowed, or DecisionRefused
    with what stands against it.
    """
    try:
        with event_log.writing():
            run = event_log.locked(run_id)
            if user:
                check_can_manage(user, run)
            if problem := problem_with(run):
                raise DecisionRefused(problem)
            line = _line(run, user)
            _delete(run)
    except IntegrityError as error:
        # Somebody has begun to rest on this run since it was looked at: the database keeps both from being true.
        raise DecisionRefused("Somebody used something of this run at this moment. Try again.") from error
    log.info("run deleted", extra=about(run=run_id))
    return line


def problem_with(run: Run, *, lasting: bool = False) -> str:
    """Why a run cannot be deleted now, as sentences that say what to do; empty if it can.

    `lasting`: only what does not pass by itself within the minute.
    """
    if run.status != RunStatus.FINISHED or run.finished_at is None:
        return "This run is not finished. Stop it first; then it can be deleted."
    stopped = run.work.filter(status=WorkStatus.CANCELLED).exists()
    # A worker whose run was stopped notices at its next heartbeat, and then still records what its last call has cost.
    if stopped and not lasting and timezone.now() - run.finished_at < timedelta(seconds=2 * settings.LEASE_SECONDS):
        return "Its work was stopped only just now and is still coming to its end. Try again in half a minute."
    if citing := citing_runs(run):
        more = f" and {len(citing) - _NAMED} more" if len(citing) > _NAMED else ""
        which = ", ".join(f"run {number}" for number in citing[:_NAMED]) + more
        return (
            f"Results of this run were reused, and what was done for them stands only here: {which} would lose its "
            "evidence. Delete that first, or archive this run instead."
        )
    return ""


def citing_runs(run: Run) -> list[int]:
    """The numbers of other runs that took over a result of this one."""
    taken = Attempt.objects.filter(reused_from__step__plan__run=run).exclude(step__plan__run=run)
    return sorted(set(taken.values_list("step__plan__run_id", flat=True)))


def _line(run: Run, user: User | None) -> DeletedRun:
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
    contents = set(_hashes(_changes_of(run)))
    trees = {run.inputs_id, run.head_id, *attempts.values_list("base", flat=True)}
    trees |= {pk for pk in attempts.values_list("tree", flat=True) if pk}
    roots = set(Tree.objects.filter(pk__in=trees, root__isnull=False).values_list("root_id", flat=True))
    found = Tree.objects.filter(pk__in=trees | roots)
    contents.update(_hashes(found.values_list("changes", flat=True)))
    # Versions of a plan keep results of earlier ones, and those are protected while anything refers to them.
    Step.objects.of_run(run).update(reused_from=None)
    attempts.update(reused_from=None)
    run_id, newest = run.pk, run.event_count
    run.delete()
    _delete_unused_trees(trees | roots)
    garbage_collection.discard(contents)
    transaction.on_commit(partial(broadcast.announce, run_id, newest + 1), robust=True)  # open pages look, and close


def _changes_of(run: Run) -> Iterator[Changes]:
    yield from Attempt.objects.of_run(run).values_list("overlay", flat=True)
    yield from ToolCall.objects.filter(run=run).values_list("writes", flat=True)


def _hashes(changes: Iterable[Changes]) -> Iterator[str]:
    for each in changes:
        yield from (info.sha256 for info in each.values() if info)


def _delete_unused_trees(trees: Collection[int]) -> None:
    """Equal files are one tree, whoever has them: only those go that no run, attempt or tree needs. Roots come last."""
    in_runs = Run.objects.filter(Q(inputs=OuterRef("pk")) | Q(head=OuterRef("pk")))
    in_attempts = Attempt.objects.filter(Q(base=OuterRef("pk")) | Q(tree=OuterRef("pk")))
    as_root = Tree.objects.filter(root=OuterRef("pk"))
    free = Tree.objects.filter(~Exists(in_runs), ~Exists(in_attempts), ~Exists(as_root), pk__in=trees)
    free.filter(root__isnull=False).delete()
    free.filter(root__isnull=True).delete()


def sweep() -> int:
    """Delete contents of deleted runs that nothing else has. Returns how many were looked at.

    What somebody stored in the last minutes is left for later: a run that names it may be on its way
    (`blobs.GRACE`). A crash in between costs nothing, since the rows are deleted after the files.
    """
    due = Discarded.objects.filter(due_at__lte=timezone.now()).order_by("due_at")
    contents = list(due.values_list("sha256", flat=True)[:AT_ONCE])
    if not contents:
        return 0
    later = garbage_collection.delete(contents)
    with event_log.writing():
        Discarded.objects.filter(sha256__in=[one for one in contents if one not in later]).delete()
        Discarded.objects.filter(sha256__in=later).update(due_at=timezone.now() + blobs.GRACE)
    return len(contents)
