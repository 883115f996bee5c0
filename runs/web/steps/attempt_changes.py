"""The differences between a result and the one that people saw last, in this run or in the run that it repeats."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from runs.enums import SETTLED_STEPS
from runs.models import Attempt, Run, Step
from runs.people.permissions import all_may_see
from runs.readmodel.plan_view import AttemptReading
from runs.text.plural import pluralize
from runs.web.steps.presenter import FileDiff, diffs_between


@dataclass(frozen=True, eq=False)
class Changes:
    """The files of an attempt against those of an earlier one, which `since` names. Reads files when asked for."""

    since: str
    before: Attempt
    after: Attempt

    @cached_property
    def files(self) -> tuple[FileDiff, ...]:
        return tuple(diffs_between(self.before, self.after))

    @property
    def words(self) -> str:
        """The changes in a few words."""
        if not self.files:
            return "the files are the same"
        lines = [line for one in self.files for line in one.lines]
        added, removed = (sum(1 for line in lines if line.kind == kind) for kind in ("added", "removed"))
        parts = [f"+{pluralize(added, 'line')}"] if added else []
        parts += [f"−{pluralize(removed, 'line')}"] if removed else []
        return ", ".join(parts) or pluralize(len(self.files), "file differs", "files differ")

    @property
    def first(self) -> str:
        """The first new line."""
        lines = (line.text.strip() for one in self.files for line in one.lines if line.kind == "added")
        return next((line for line in lines if line), "")


def changes_of(attempt: AttemptReading) -> Changes | None:
    """Against the latest that a person sent back; else what the run before came to at this step, where all who see this
    run see that one; else the attempt before, which nobody has seen. None where there is no other.
    """
    earlier = [one for one in attempt.step.attempts if one.row.number < attempt.row.number]
    seen = next((one for one in reversed(earlier) if one.rejections), None)
    run = attempt.rows.run
    accepted = _accepted_before(run, attempt.step.row) if seen is None else None
    if accepted:
        return Changes(f"run {run.before_id}", accepted, attempt.row)
    last = seen or (earlier[-1] if earlier else None)
    return Changes(f"attempt {last.row.number}", last.row, attempt.row) if last else None


def _accepted_before(run: Run, step: Step) -> Attempt | None:
    """The settled attempt at the step with this key, or this name, in the run that is repeated."""
    if run.before is None or not all_may_see(run.before, run):
        return None
    settled = Step.objects.of_run(run.before).filter(status__in=SETTLED_STEPS).order_by("-plan__version", "position")
    steps = list(settled.select_related("reused_from"))
    same = [one for one in steps if one.key == step.key] or [one for one in steps if one.spec.name == step.spec.name]
    if not same:
        return None
    return same[0].reused_from or same[0].attempts.order_by("number").last()
