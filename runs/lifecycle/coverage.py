"""How much of the given files the executors of a run were shown, according to the journal (T6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Q

from runs.contracts.ports import Shown
from runs.documents.formats import DRAWN
from runs.enums import Role, StepStatus
from runs.models import Attempt, Plan, Run, Step, ToolCall, Tree
from runs.pev.contracts import LeftOut, PlanStep
from runs.pev.input_coverage import (
    Extent,
    FileCoverage,
    Inputs,
    coverage,
    each_shown,
    not_read_by_plan,
    readable,
    shown_of,
    summary,
    unread_in,
)
from runs.pev.policy import RULES
from runs.pev.read_set import meant_by
from runs.pev.tools.registry import reads_files
from runs.store import trees
from runs.store.renditions import WAITING
from runs.text.paths import selected
from runs.text.plural import pluralize

MAX_GROUPS = 10
"""Sentences about unread files in one event. Each names only a few of its files."""


@dataclass(frozen=True, eq=False)
class Coverage:
    """How much of the given files was shown to all executors of the run, and to those of each step.

    `shown` is keyed by attempt; a reused attempt has what its source was shown. `steps` maps the id of a step to its
    attempts, including those of earlier versions whose result it keeps.
    """

    inputs: Inputs
    shown: Mapping[int, Sequence[Shown]]
    steps: Mapping[int, Sequence[int]]

    @cached_property
    def files(self) -> tuple[FileCoverage, ...]:
        return coverage(self.inputs, (one for parts in self.shown.values() for one in parts))

    @property
    def summary(self) -> list[str]:
        """A few sentences for people, regardless of how many files there are."""
        return summary(self.files)

    @property
    def readable(self) -> list[str]:
        """The same without unreadable files, for places next to the open points, which name those."""
        return readable(self.files)

    def of_step(self, step_id: int) -> tuple[FileCoverage, ...]:
        """Only files of which something was shown."""
        parts = [one for attempt in self.steps.get(step_id, ()) for one in self.shown.get(attempt, ())]
        seen = {one.sha256 for one in parts if one.lines}
        files = {path: info for path, info in self.inputs.files.items() if info.sha256 in seen}
        return coverage(Inputs(files), parts)

    def shown_of(self, spec: PlanStep) -> str:
        """How many of the files that a step must deal with have been shown; empty if all were."""
        if not reads_files(spec):
            return ""
        return shown_of(self.files, set(meant_by([spec], self.inputs.files)))

    def shown_to(self, step_id: int) -> list[str]:
        """A clause for each given file of which something was shown at a step, up to a limit."""
        return each_shown(self.of_step(step_id))


def shown_in(run: Run, attempts: Iterable[Attempt] = ()) -> Iterator[Shown]:
    """What the executors of a run and of these attempts were shown. A run without rows has only the attempts.

    A reused attempt counts as shown what its source was shown.
    """
    found = Q(attempt__in=attempts)
    if run.pk:
        found |= Q(run=run) | Q(attempt__in=Attempt.objects.of_run(run).reused().values("reused_from"))
    for parts in ToolCall.objects.filter(found).order_by().values_list("shown", flat=True):
        yield from parts


def inputs_of(run: Run, given: Tree | None = None) -> Inputs:
    """The given files: which were excluded, and which cannot be read as a whole or in part; by default all until now.

    Files that still wait for their reader have no problem yet.
    """
    given = given or run.inputs
    files = trees.files_of(given)
    excluded = frozenset(selected(run.excluded, files))
    problems = {path: why for path, why in trees.problems_of(given).items() if why != WAITING}
    return Inputs(files, problems, excluded, trees.notes_of(given), trees.cautions_of(given), trees.blank_in(given))


def coverage_of(run: Run, step_id: int | None = None) -> Coverage:
    """What was shown until now; with `step_id`, to the attempts at that step and to the one whose result it keeps."""
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
    calls = ToolCall.objects.filter(attempt__in=set(sources.values())).order_by()
    found: dict[int, list[Shown]] = defaultdict(list)
    for attempt, parts in calls.values_list("attempt_id", "shown"):
        found[attempt or 0] += (part for part in parts if part.lines)
    shown = {pk: found[source] for pk, source in sources.items() if source in found}
    return Coverage(inputs_of(run), shown, steps)


def remarks_on(run: Run, given: Tree, *, pages: bool = False) -> dict[str, str]:
    """Remarks on given files for planner and executors, by path. `pages`: pages can be shown as images."""
    inputs = inputs_of(run, given)
    known = trees.readings_of(given)
    extents = known.extents
    sizes = {path: extents[info.sha256] for path, info in inputs.files.items() if info.sha256 in extents}
    problems = dict.fromkeys(inputs.problems, "cannot be read")
    if pages:
        drawn = (path for path in problems if known.unread.get(inputs.files[path].sha256) in DRAWN)
        problems |= dict.fromkeys(drawn, "has no text that can be read; read_file may show how it looks")
    return sizes | problems | dict.fromkeys(inputs.excluded, "excluded; leave it alone")


def planned(run: Run, specs: Iterable[PlanStep]) -> list[str]:
    """A sentence for each group of given files that no step will read, for the person who decides on the plan."""
    inputs = inputs_of(run)
    return not_read_by_plan(coverage(inputs, ()), set(meant_by(specs, inputs.files)))


def unreadable(run: Run) -> list[str]:
    """A sentence for each group of given files that are empty, doubtful, or unreadable as a whole or in part."""
    found = coverage(inputs_of(run), ())
    left = [one for one in found if one.extent is Extent.UNREADABLE or one.notes or one.cautions or one.empty]
    return not_read_by_plan(left, {one.path for one in left})


def known_unread(run: Run) -> list[str]:
    """The same for the history, with excluded files, up to MAX_GROUPS sentences."""
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
    """A sentence for each group of given files that make the result of this plan incomplete (T6)."""
    if plan is None:
        return []
    found = coverage_of(run)
    specs = plan.steps.order_by("position").values_list("spec", flat=True)
    reading = [spec for spec in specs if reads_files(spec)]
    meant = meant_by(reading, found.inputs.files) if run.policy.sources_needed else ()
    return unread_in(found.files, set(meant), _left_out(run, plan))


def _left_out(run: Run, plan: Plan) -> Iterator[LeftOut]:
    """What the kept results of a plan report as left out. Only offline rules report this."""
    if not run.policy.model_for(Role.EXECUTOR).model.startswith(RULES):
        return
    own = Attempt.objects.filter(step__plan=plan, step__status__in=(StepStatus.PASSED, StepStatus.ACCEPTED))
    kept = plan.steps.filter(reused_from__isnull=False).order_by("position")
    outputs = dict(kept.values_list("pk", "reused_from__output"))
    outputs |= dict(own.order_by("step__position", "number").values_list("step", "output"))  # the last attempt wins
    for output in outputs.values():
        yield from output.left_out if output else ()
