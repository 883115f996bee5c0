"""What of the given files the executors of a run were shown, read from the journal (T6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Q

from runs.contracts.ports import Shown
from runs.documents.formats import DRAWN
from runs.enums import Role, StepStatus
from runs.models import Attempt, Plan, Run, Step, ToolCall
from runs.pev.contracts import LeftOut, PlanStep
from runs.pev.input_coverage import (
    Covered,
    Extent,
    Inputs,
    coverage,
    each_shown,
    not_read_by_plan,
    readable,
    shown_of,
    summary,
    unread_in,
)
from runs.pev.input_selection import meant_by
from runs.pev.policy import RULES
from runs.pev.tools.registry import reads_files
from runs.store import trees
from runs.store.renditions import WAITING
from runs.text.path_patterns import selected
from runs.text.plural import pluralize

MAX_GROUPS = 10
"""Sentences of an event about files that are not read; each names few files."""


@dataclass(frozen=True, eq=False)
class Coverage:
    """How much of the given files was shown: to the executors of the run together, and to those of a step.

    `shown` is by attempt; a reused attempt has what the attempt was shown that it came from. `steps` has the attempts
    at a step by its id, kept ones of earlier versions too.
    """

    inputs: Inputs
    shown: Mapping[int, Sequence[Shown]]
    steps: Mapping[int, Sequence[int]]

    @cached_property
    def files(self) -> tuple[Covered, ...]:
        return coverage(self.inputs, (one for parts in self.shown.values() for one in parts))

    @property
    def summary(self) -> list[str]:
        """A few sentences for people, however many files there are."""
        return summary(self.files)

    @property
    def readable(self) -> list[str]:
        """The same without what could not be read: beside open points, which name that."""
        return readable(self.files)

    def of_step(self, step_id: int) -> tuple[Covered, ...]:
        """Only the files of which something was shown."""
        parts = [one for attempt in self.steps.get(step_id, ()) for one in self.shown.get(attempt, ())]
        seen = {one.sha256 for one in parts if one.lines}
        files = {path: info for path, info in self.inputs.files.items() if info.sha256 in seen}
        return coverage(Inputs(files), parts)

    def shown_of(self, spec: PlanStep) -> str:
        """How many of the files that a step is to deal with have been shown by now; empty where all were."""
        if not reads_files(spec):
            return ""
        return shown_of(self.files, set(meant_by([spec], self.inputs.files)))

    def shown_to(self, step_id: int) -> list[str]:
        """A clause for each of the given files of which something was shown at a step, up to a bound."""
        return each_shown(self.of_step(step_id))


def shown_in(run: Run, attempts: Iterable[Attempt] = ()) -> Iterator[Shown]:
    """What executors of a run were shown, or of these attempts. Attempts that were reused brought their reading with
    them. A run may be in no table.
    """
    found = Q(attempt__in=attempts)
    if run.pk:
        found |= Q(run=run) | Q(attempt__in=Attempt.objects.of_run(run).reused().values("reused_from"))
    for parts in ToolCall.objects.filter(found).order_by().values_list("shown", flat=True):
        yield from parts


def inputs_of(run: Run) -> Inputs:
    """The given files, which of them cannot be read or were excluded, and of which a part cannot be read. Of those that
    wait for their reader nothing is known yet.
    """
    files = trees.files_of(run.inputs)
    excluded = frozenset(selected(run.excluded, files))
    problems = {path: why for path, why in trees.problems_of(run.inputs).items() if why != WAITING}
    return Inputs(
        files, problems, excluded, trees.notes_of(run.inputs), trees.cautions_of(run.inputs), trees.blank_in(run.inputs)
    )


def coverage_of(run: Run, step_id: int | None = None) -> Coverage:
    """What was shown until now. With a step: to its own attempts, or to the one whose result it keeps."""
    attempts = Attempt.objects.of_run(run).order_by().values_list("pk", "step_id", "reused_from_id")
    sources: dict[int, int] = {}
    steps: dict[int, list[int]] = defaultdict(list)
    for pk, step, reused in attempts:
        sources[pk] = reused or pk
        steps[step].append(pk)
    kept = Step.objects.of_run(run).filter(reused_from__isnull=False).order_by()
    for step, attempt in kept.values_list("pk", "reused_from_id"):
        steps[step].append(attempt)
    if step_id is not None:
        sources = {pk: sources.get(pk, pk) for pk in steps.get(step_id, ())}
    return Coverage(inputs_of(run), _shown(sources), steps)


def _shown(sources: Mapping[int, int]) -> dict[int, Sequence[Shown]]:
    """By attempt, from the tool calls of the attempt that each of them comes from."""
    calls = ToolCall.objects.filter(attempt__in=set(sources.values())).order_by()
    found: dict[int, list[Shown]] = defaultdict(list)
    for attempt, parts in calls.values_list("attempt_id", "shown"):
        found[attempt or 0] += (part for part in parts if part.lines)
    return {pk: found[source] for pk, source in sources.items() if source in found}


def remarks_on(run: Run, *, pages: bool = False) -> dict[str, str]:
    """What planner and executors are told of some of the given files, by path. `pages`: they can be looked at."""
    inputs = inputs_of(run)
    known = trees.readings_of(run.inputs)
    extents = known.extents
    sizes = {path: extents[info.sha256] for path, info in inputs.files.items() if info.sha256 in extents}
    problems = dict.fromkeys(inputs.problems, "cannot be read")
    if pages:
        drawn = (path for path in problems if known.unread.get(inputs.files[path].sha256) in DRAWN)
        problems |= dict.fromkeys(drawn, "has no text that can be read; read_file may show how it looks")
    return sizes | problems | dict.fromkeys(inputs.excluded, "excluded; leave it alone")


def planned(run: Run, specs: Iterable[PlanStep]) -> list[str]:
    """A sentence for each group of given files that no step of a plan will read, for the person who decides on it."""
    inputs = inputs_of(run)
    return not_read_by_plan(coverage(inputs, ()), set(meant_by(specs, inputs.files)))


def unreadable(run: Run) -> list[str]:
    """A sentence for each group of given files that are empty, or of which all or a part cannot be read, and on texts
    that are doubtful: what is known since the submission.
    """
    found = coverage(inputs_of(run), ())
    left = [one for one in found if one.extent is Extent.UNREADABLE or one.notes or one.cautions or one.empty]
    return not_read_by_plan(left, {one.path for one in left})


def known_unread(run: Run) -> list[str]:
    """For the history, as it stands at the submission: a sentence for each group of given files of which all or a part
    cannot be read, that are empty, or that were excluded, and on doubtful texts, up to MAX_GROUPS.
    """
    kinds = (Extent.UNREADABLE, Extent.EXCLUDED)
    left = [
        one for one in coverage(inputs_of(run), ()) if one.extent in kinds or one.notes or one.cautions or one.empty
    ]
    found = not_read_by_plan(left, {one.path for one in left})
    more = len(found) - MAX_GROUPS
    if more > 0:
        rest = pluralize(more, "more group of files is", "more groups of files are")
        found[MAX_GROUPS:] = [f"{rest} not read."]
    return found


def unread(run: Run, plan: Plan | None) -> list[str]:
    """A sentence for each group of given files that keep the result of this plan from being whole (T6)."""
    if plan is None:
        return []
    found = coverage_of(run)
    specs = plan.steps.order_by("position").values_list("spec", flat=True)
    reading = [spec for spec in specs if reads_files(spec)]
    meant = meant_by(reading, found.inputs.files) if run.policy.sources_needed else ()
    return unread_in(found.files, set(meant), _left_out(run, plan))


def _left_out(run: Run, plan: Plan) -> Iterator[LeftOut]:
    """What the kept results of a plan have left out by their own words. Only offline rules say this."""
    if not run.policy.model_for(Role.EXECUTOR).model.startswith(RULES):
        return
    own = Attempt.objects.filter(step__plan=plan, step__status__in=(StepStatus.PASSED, StepStatus.ACCEPTED))
    kept = plan.steps.filter(reused_from__isnull=False).order_by("position")
    outputs = dict(kept.values_list("pk", "reused_from__output"))
    outputs |= dict(own.order_by("step__position", "number").values_list("step", "output"))  # the last of a step stays
    for output in outputs.values():
        yield from output.left_out if output else ()
