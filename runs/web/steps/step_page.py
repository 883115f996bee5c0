"""The page of a step: its attempts side by side, with the results of tools and the changes of files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from runs.calibration.results import catch_rates
from runs.enums import GateStatus, RunStatus
from runs.lifecycle.coverage import coverage_of
from runs.models import Attempt, LabelledCase, Overruling, Run
from runs.readmodel.plan_view import AttemptReading, StepReading
from runs.readmodel.run_rows import read_rows
from runs.readmodel.run_view import RunReading
from runs.web.frame.run_frame import RunFrame
from runs.web.markup.diagrams import drawn
from runs.web.markup.prose import cited
from runs.web.site.requests import person, rights_in, visible_run
from runs.web.steps.attempt_changes import FileDiff, diffs_between

RESULT_CHARS = 6_000
"""Characters of each result of a tool."""


@dataclass(frozen=True)
class Column:
    """One attempt; `diffs` is against attempt `against`, 0 for the first. `same`: the first of those right before it
    that say the same as it; 0 for none. `findings`, and what it `said` of its work (reasoning and notes), have their
    citations as links. `earlier` are the overrulings of its verdict that no longer hold, in order, and `seen` is the id
    of the newest of all, 0 for none. `waits`: a decision about it is open, which is the place to overrule it.
    `corrections` are those that hold and are about what a verifier decided: each can become a case for calibrations.
    """

    attempt: AttemptReading
    against: int
    diffs: tuple[FileDiff, ...]
    same: int
    findings: SafeString
    said: Sequence[SafeString]
    earlier: Sequence[Overruling]
    seen: int
    waits: bool
    corrections: Sequence[Overruling]


@dataclass(frozen=True)
class NotOverruled:
    """An overruling that was refused: of which attempt, why, and what the person had chosen and written."""

    attempt: int
    sentence: str
    criterion: str
    reason: str


@dataclass(frozen=True)
class StepPage:
    """Everything that the page of a step shows. `again`: whether the step of a finished run can be done again. `shown`:
    what of the given files was shown at it; None where there are none, or that is not known. `calibrated`: what was
    measured of the verifiers of the run, and what its policy asks for, in sentences.
    """

    run: Run
    step: StepReading
    columns: tuple[Column, ...]
    again: bool
    shown: list[str] | None
    calibrated: Sequence[str] = ()


def step_of(run: Run, step_id: int, *, result_chars: int = 0) -> StepReading:
    """A step of any version, read whole. Raises Http404 if the run has no such step."""
    rows = read_rows(run, lambda steps: [step for step in steps if step.pk == step_id], result_chars=result_chars)
    steps = (step for plan in RunReading(rows).plans for step in plan.steps)
    step = next((step for step in steps if step.row.pk == step_id), None)
    if step is None:
        raise Http404("This run has no such step.")
    return step


def read_step(run: Run, step_id: int) -> StepPage:
    """The page as it is now, with the files of attempts within limits. Raises Http404 if the run has no such step."""
    step = step_of(run, step_id, result_chars=RESULT_CHARS)
    _ = (step.spent, [(attempt.deviations, attempt.tools) for attempt in step.attempts])  # templates read nothing
    covered = coverage_of(run, step_id) if run.inputs.file_count else None
    shown = covered.shown_to(step_id) if covered else None
    rows = Overruling.objects.filter(attempt__in=[one.row.pk for one in step.attempts]).select_related("by")
    rows = rows.annotate(is_kept=Exists(LabelledCase.objects.filter(overruling=OuterRef("pk"))))
    by_model = any(one.verdict and one.verdict.stage == "model" for one in step.attempts)
    demand = [run.policy.demand_on_verifier] if run.policy.demand_on_verifier else []
    calibrated = [*(one.sentence for one in catch_rates(*run.policy.verifiers)), *demand] if by_model else []
    columns = tuple(_columns(step.attempts, list(rows)))
    return StepPage(run, step, columns, run.status == RunStatus.FINISHED, shown, calibrated)


def _columns(attempts: tuple[AttemptReading, ...], overrulings: Sequence[Overruling]) -> Iterator[Column]:
    before: Attempt | None = None
    first = 0
    for attempt in attempts:
        diffs = tuple(diffs_between(before, attempt.row)) if before else ()
        said = _findings(attempt.row)
        same = before is not None and said != "" and said == _findings(before)
        first = first if same else attempt.row.number
        output = attempt.output
        mine = [row for row in overrulings if row.attempt_id == attempt.row.pk]
        holding = {row.pk for row in attempt.rows.overruled.get(attempt.row.pk, ())}
        by_model = (
            {one.label for one in attempt.verdict.results if one.decided_by == "model"} if attempt.verdict else set()
        )
        gates = (gate for gate in attempt.rows.gates if gate.attempt_id == attempt.row.pk)
        yield Column(
            attempt,
            before.number if before else 0,
            diffs,
            first if same else 0,
            drawn(cited(said, attempt.row), attempt.row) if said else SafeString(),
            [cited(text, attempt.row) for text in (output.reasoning, output.notes) if text] if output else [],
            [row for row in mine if row.pk not in holding],
            mine[-1].pk if mine else 0,
            any(gate.status == GateStatus.OPEN for gate in gates),
            [row for row in mine if row.pk in holding and row.label in by_model],
        )
        before = attempt.row


def _findings(attempt: Attempt) -> str:
    return attempt.output.findings if attempt.output else ""


@require_safe
def step_page(request: HttpRequest, run_id: int, step_id: int) -> HttpResponse:
    return show_step(request, visible_run(request, run_id), step_id)


def show_step(
    request: HttpRequest, run: Run, step_id: int, *, refused: NotOverruled | None = None, status: int = 200
) -> HttpResponse:
    frame = RunFrame(run, under="steps", rights=rights_in(request, run)).read_header()
    owns = run.owner_id == person(request).pk
    context = {"frame": frame, "page": read_step(run, step_id), "refused": refused, "owns": owns}
    return render(request, "steps/step.html", context, status=status)
