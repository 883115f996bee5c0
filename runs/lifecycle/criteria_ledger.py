"""Reads the ledger of a run, from which its outcome is computed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from django.db.models import Q

from runs.enums import WHOLE_STEPS, AttemptStatus, GateKind, GateStatus, Outcome, Severity, StepStatus
from runs.evidence.results import CriterionResult, doubts_in, in_plain_words, not_traced
from runs.lifecycle.change_requests import READ, ChangeRequest, answered, requests_of, said_at, unmet
from runs.lifecycle.coverage import unread
from runs.lifecycle.overruling import with_people
from runs.models import Attempt, Gate, Overruling, Plan, Run, Step, Verdict
from runs.pev.outcome import AttemptEntry, Ledger, Rejection, StepEntry

type Overrulings = Mapping[int, Sequence[Overruling]]
"""By attempt, the overrulings that are in force, in order."""


def was_read(plan: Plan) -> bool:
    """Whether a person approved this version at its gate. A policy and `--approve-all` have not read it."""
    return plan.approved_how in READ


def ledger_of(
    run: Run, plan: Plan | None, overruled: Overrulings | None = None, *, failure: str = "", cancelled: bool = False
) -> Ledger:
    """The ledger of a run with its newest plan. It has no criteria before the success criteria are judged. `overruled`:
    what people judge otherwise in the run, if that is known.
    """
    cancelled = cancelled or run.outcome == Outcome.CANCELLED
    return Ledger(
        steps=entries_of(plan, overruled, run.finished_at) if plan else [],
        criteria=run.final.results if run.final else [],
        broken_citations=run.final.broken_citations if run.final else [],
        untraced=not_traced(run.final.untraced) if run.final else "",
        doubts=_doubts(run, plan),
        answered=bool(run.answer),
        failure=failure or run.failure,
        cancelled=cancelled,
        relaxed=plan.relaxed if plan and not was_read(plan) else (),
        ended=run.ended,
        unread=() if cancelled or failure or run.failure else unread(run, plan),
        requests=unmet(_request_outcomes(run, plan)),
        grounded=_is_grounded(run, plan),
    )


def _is_grounded(run: Run, plan: Plan | None) -> bool:
    """Whether a met criterion rests on more than the run's own words (T9); true before the answer is judged."""
    # Verdicts of steps are read only if no success criterion is enough.
    if plan is None or run.final is None or not run.policy.sources_needed or _any_grounded(run.final.results):
        return True
    passed = plan.steps.filter(status=StepStatus.PASSED)
    own = Q(attempt__step__in=passed, passed=True) | Q(attempt__in=passed.values("reused_from"))
    return any(map(_any_grounded, Verdict.objects.filter(own).values_list("results", flat=True)))


def _doubts(run: Run, plan: Plan | None) -> list[str]:
    """Doubts about what is delivered, once the answer is judged, without those that a person accepted at a gate."""
    if plan is None or run.final is None:
        return []
    passed = plan.steps.filter(status__in=WHOLE_STEPS)
    own = Q(attempt__step__in=passed, passed=True) | Q(attempt__in=passed.values("reused_from"))
    verdicts = Verdict.objects.filter(own).order_by("attempt__step__position")
    doubtful = {
        key: doubts
        for key, name, results, uncalibrated in verdicts.values_list(
            "attempt", "attempt__step__spec", "results", "uncalibrated"
        )
        if (doubts := _doubts_in(results, f"step “{name.name}”", uncalibrated))
    }
    approved = Gate.objects.filter(attempt__in=doubtful, status=GateStatus.APPROVED, decided_how__in=READ)
    accepted = {gate.attempt_id for gate in approved} if doubtful else set()
    found = [doubt for key, doubts in doubtful.items() if key not in accepted for doubt in doubts]
    return [*found, *_doubts_in(run.final.results, "the whole task", run.final.uncalibrated)]


def _doubts_in(results: Sequence[CriterionResult], where: str, uncalibrated: str) -> list[str]:
    rate = "not every verifier of the policy had the catch rate that it asks for"
    unproved = [f"When {where} was judged, {rate}. {uncalibrated}"] if uncalibrated else []
    return [*unproved, *doubts_in(results, where)]


def _any_grounded(results: Iterable[CriterionResult]) -> bool:
    return any(one.grounded for one in results)


def entry_of(
    step: Step,
    attempts: Sequence[Attempt],
    decisions: Mapping[int, Sequence[Gate]],
    overruled: Overrulings,
) -> StepEntry:
    """The entry of a step. `attempts` are at it, or at the step whose result it keeps; `decisions`, and overrulings
    that are in force, are by attempt.
    """
    last = attempts[-1] if attempts else None
    accepted = next((gate.decider for gate in (decisions.get(last.pk, ()) if last else ()) if keeps_unpassed(gate)), "")
    wrote = last is not None and any(last.overlay.get(path) for path in step.spec.outputs)
    tried = _attempt_entries(attempts, decisions, overruled)
    return StepEntry(step.spec.name, StepStatus(step.status), tried, bool(accepted) and wrote, accepted)


def keeps_unpassed(gate: Gate) -> bool:
    """Whether a person, not the policy, accepted at this gate a step that had not passed."""
    return gate.kind == GateKind.EXHAUSTED and gate.status == GateStatus.APPROVED and gate.decided_how in READ


def result_in(attempt: Attempt) -> tuple[str, object] | None:
    """The part of an attempt that is judged; None without a report. Its notes are not part of it."""
    return (attempt.output.findings, attempt.overlay) if attempt.output else None


def _attempt_entries(
    attempts: Sequence[Attempt],
    decisions: Mapping[int, Sequence[Gate]],
    overruled: Overrulings,
) -> list[AttemptEntry]:
    found: list[AttemptEntry] = []
    criticised: tuple[str, object] | None = None
    for attempt in attempts:
        verdict = getattr(attempt, "verdict", None)
        rejections = [gate for gate in decisions.get(attempt.pk, ()) if gate.status == GateStatus.REJECTED]
        one = AttemptEntry(
            number=attempt.number,
            status=AttemptStatus(attempt.status),
            results=with_people(verdict.results, overruled.get(attempt.pk, ())) if verdict else (),
            feedback=in_plain_words(verdict.feedback, verdict.results, verdict.requests) if verdict else "",
            severity=Severity(verdict.severity) if verdict and not verdict.passed else None,
            repeats=criticised is not None and result_in(attempt) == criticised,
            rejections=[(gate.decider, said_at(gate)) for gate in rejections],
        )
        found.append(one)
        if attempt.status == AttemptStatus.FAILED and one.results:
            criticised = result_in(attempt)
    return found


def entries_of(plan: Plan, overruled: Overrulings | None = None, ended_at: datetime | None = None) -> list[StepEntry]:
    """The entries of a plan, in order. Attempts are read only for steps that did not pass, usually none. `overruled`:
    what people judge otherwise in the run, if that is known; `ended_at`: when the run ended, if it has.
    """
    steps = list(plan.steps.order_by("position"))
    attempts = _attempts_of([step for step in steps if step.status not in WHOLE_STEPS])
    decided = Gate.objects.filter(attempt__in=[one.pk for each in attempts.values() for one in each])
    decisions = defaultdict(list)
    for gate in decided.select_related("decided_by").order_by("id") if attempts else ():
        decisions[gate.attempt_id or 0].append(gate)
    overruled = overrulings_of(plan.run_id) if overruled is None else overruled
    rejections = _rejections(steps, overruled, ended_at)
    return [
        replace(entry_of(step, attempts.get(step.pk, ()), decisions, overruled), rejections=rejections.get(step.pk, ()))
        for step in steps
    ]


def overrulings_of(run_id: int) -> Overrulings:
    """What people judge otherwise in a run, by attempt: the overrulings that are in force, in order."""
    found: dict[int, list[Overruling]] = defaultdict(list)
    for row in Overruling.objects.in_force().with_verdicts().filter(attempt__step__plan__run=run_id):
        found[row.attempt_id].append(row)
    return found


def _rejections(
    steps: Sequence[Step], overruled: Overrulings, ended_at: datetime | None
) -> Mapping[int, Sequence[Rejection]]:
    """What people reject of the results that passed, by step."""
    keepers = {step.reused_from_id: step.pk for step in steps if step.status in WHOLE_STEPS and step.reused_from_id}
    own = {step.pk for step in steps if step.status in WHOLE_STEPS and not step.reused_from_id}
    found: dict[int, list[Rejection]] = defaultdict(list)
    for row in (row for rows in overruled.values() for row in rows if not row.met):
        passed = row.attempt.status == AttemptStatus.PASSED and row.attempt.step_id in own
        step = row.attempt.step_id if passed else keepers.get(row.attempt_id)
        if step is not None:
            text = next(one.text for one in row.attempt.verdict.results if one.label == row.label)
            after_end = ended_at is not None and row.at > ended_at
            found[step].append(Rejection(text, row.by.get_username(), row.reason, after_end))
    return found


def _attempts_of(steps: Sequence[Step]) -> Mapping[int, Sequence[Attempt]]:
    """Attempts by step, in order, with verdicts. A step that keeps a result has the attempts at its source."""
    kept = {step.reused_from_id: step.pk for step in steps if step.reused_from_id}
    own = [step.pk for step in steps if not step.reused_from_id]
    if not (kept or own):
        return {}
    where_kept = Attempt.objects.filter(pk__in=list(kept)).values("step")
    chosen = Attempt.objects.filter(Q(step__in=own) | Q(step__in=where_kept))
    attempts = list(chosen.select_related("verdict").order_by("number"))
    doers = {attempt.step_id: kept[attempt.pk] for attempt in attempts if attempt.pk in kept}
    found: dict[int, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        found[doers.get(attempt.step_id, attempt.step_id)].append(attempt)
    return found


def _request_outcomes(run: Run, plan: Plan | None) -> list[ChangeRequest]:
    """What became of people's requests. No query without requests."""
    gates = requests_of(run)
    steps = {step.key: step for step in plan.steps.all()} if plan and gates else {}
    attempts = _attempts_of(list(steps.values()))
    results = run.final.results if run.final else []
    return answered(gates, plan, steps, lambda step: attempts.get(step.pk, ()), results)
