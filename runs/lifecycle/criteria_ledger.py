"""Reads the ledger of a run, from which its outcome is computed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Q

from runs.enums import WHOLE_STEPS, AttemptStatus, GateKind, GateStatus, Outcome, Severity, StepStatus
from runs.evidence.results import CriterionResult, doubts_in, in_plain_words, not_traced
from runs.lifecycle.change_requests import READ, ChangeRequest, answered, requests_of, said_at, unmet
from runs.lifecycle.coverage import unread
from runs.models import Attempt, Gate, Plan, Run, Step, Verdict
from runs.pev.outcome import AttemptEntry, Ledger, StepEntry


def was_read(plan: Plan) -> bool:
    """Whether a person approved this version at its gate. A policy and `--approve-all` have not read it."""
    return plan.approved_how in READ


def ledger_of(run: Run, plan: Plan | None, *, failure: str = "", cancelled: bool = False) -> Ledger:
    """The ledger of a run with its newest plan. It has no criteria before the success criteria are judged."""
    cancelled = cancelled or run.outcome == Outcome.CANCELLED
    return Ledger(
        steps=entries_of(plan) if plan else [],
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
        for key, name, results in verdicts.values_list("attempt", "attempt__step__spec", "results")
        if (doubts := doubts_in(results, f"step “{name.name}”"))
    }
    approved = Gate.objects.filter(attempt__in=doubtful, status=GateStatus.APPROVED, decided_how__in=READ)
    accepted = {gate.attempt_id for gate in approved} if doubtful else set()
    found = [doubt for key, doubts in doubtful.items() if key not in accepted for doubt in doubts]
    return [*found, *doubts_in(run.final.results, "the whole task")]


def _any_grounded(results: Iterable[CriterionResult]) -> bool:
    return any(one.grounded for one in results)


def entry_of(step: Step, attempts: Sequence[Attempt], decisions: Mapping[int, Sequence[Gate]]) -> StepEntry:
    """The entry of a step. `attempts` are at it, or at the step whose result it keeps; `decisions` are by attempt."""
    last = attempts[-1] if attempts else None
    accepted = any(
        gate.kind == GateKind.EXHAUSTED and gate.status == GateStatus.APPROVED and gate.decided_how in READ
        for gate in (decisions.get(last.pk, ()) if last else ())
    )
    wrote = last is not None and any(last.overlay.get(path) for path in step.spec.outputs)
    return StepEntry(step.spec.name, StepStatus(step.status), _attempt_entries(attempts, decisions), accepted and wrote)


def result_in(attempt: Attempt) -> tuple[str, object] | None:
    """The part of an attempt that is judged; None without a report. Its notes are not part of it."""
    return (attempt.output.findings, attempt.overlay) if attempt.output else None


def _attempt_entries(attempts: Sequence[Attempt], decisions: Mapping[int, Sequence[Gate]]) -> list[AttemptEntry]:
    found: list[AttemptEntry] = []
    criticised: tuple[str, object] | None = None
    for attempt in attempts:
        verdict = getattr(attempt, "verdict", None)
        rejections = [gate for gate in decisions.get(attempt.pk, ()) if gate.status == GateStatus.REJECTED]
        one = AttemptEntry(
            number=attempt.number,
            status=AttemptStatus(attempt.status),
            results=verdict.results if verdict else (),
            feedback=in_plain_words(verdict.feedback, verdict.results, verdict.requests) if verdict else "",
            severity=Severity(verdict.severity) if verdict and not verdict.passed else None,
            repeats=criticised is not None and result_in(attempt) == criticised,
            rejections=[(gate.decider, said_at(gate)) for gate in rejections],
        )
        found.append(one)
        if attempt.status == AttemptStatus.FAILED and one.results:
            criticised = result_in(attempt)
    return found


def entries_of(plan: Plan) -> list[StepEntry]:
    """The entries of a plan, in order. Attempts are read only for steps that did not pass, usually none."""
    steps = list(plan.steps.order_by("position"))
    attempts = _attempts_of([step for step in steps if step.status not in WHOLE_STEPS])
    decided = Gate.objects.filter(attempt__in=[one.pk for each in attempts.values() for one in each])
    decisions = defaultdict(list)
    for gate in decided.select_related("decided_by").order_by("id") if attempts else ():
        decisions[gate.attempt_id or 0].append(gate)
    return [entry_of(step, attempts.get(step.pk, ()), decisions) for step in steps]


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
