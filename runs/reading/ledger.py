"""The ledger of a run, from which its outcome is computed, read from its rows."""

from django.db.models import Q

from runs.enums import StepStatus
from runs.models import Plan, Run, Verdict
from runs.pev.outcome import Ledger, StepEntry

_READ = frozenset({"person", "terminal"})


def was_read(plan: Plan) -> bool:
    """Whether somebody read this version at its gate and said yes; a policy and `--approve-all` read nothing."""
    return plan.approved_how in _READ


def ledger_of(run: Run, plan: Plan | None, *, failure: str = "", cancelled: bool = False) -> Ledger:
    """The ledger of a run, whose newest plan this is. Before the success criteria are judged its criteria are empty."""
    columns = ("pk", "spec", "status", "reused_from")
    steps = list(plan.steps.order_by("position").values_list(*columns)) if plan else []
    kept = {attempt: step for step, _, _, attempt in steps if attempt}
    verdicts = Verdict.objects.filter(Q(attempt__step__plan=plan) | Q(attempt__in=kept)).order_by("attempt__number")
    rows = verdicts.values_list("attempt_id", "attempt__step_id", "feedback")
    feedback = {kept.get(attempt_id, step_id): text for attempt_id, step_id, text in rows}
    return Ledger(
        steps=[StepEntry(spec.name, StepStatus(status), feedback.get(step, "")) for step, spec, status, _ in steps],
        criteria=run.final.results if run.final else [],
        answered=bool(run.answer),
        failure=failure or run.failure,
        cancelled=cancelled,
        relaxed=plan.relaxed if plan and not was_read(plan) else (),
        ended=run.ended,
    )
