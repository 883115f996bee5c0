"""The ledger of a run, from which its outcome is computed, read from its rows."""

from django.db.models import Q

from runs.enums import StepStatus
from runs.models import Plan, Run, Verdict
from runs.pev.outcome import Ledger, StepEntry

_READ = frozenset({"person", "terminal"})


def was_read(plan: Plan) -> bool:
    """Whether somebody read this version at its gate and said yes; a policy and `--approve-all` read nothing."""
    return plan.approved_how in _READ


def ledger_of(run: Run, *, failure: str = "", cancelled: bool = False) -> Ledger:
    """The ledger of the newest plan. Before the success criteria are judged its criteria are empty."""
    plan = run.plans.order_by("-version").first()
    steps = list(plan.steps.order_by("position")) if plan else []
    kept = {step.reused_from_id: step.pk for step in steps if step.reused_from_id}
    verdicts = Verdict.objects.filter(Q(attempt__step__in=steps) | Q(attempt__in=kept)).order_by("attempt__number")
    rows = verdicts.values_list("attempt_id", "attempt__step_id", "feedback")
    feedback = {kept.get(attempt_id, step_id): text for attempt_id, step_id, text in rows}
    return Ledger(
        steps=[StepEntry(step.spec.name, StepStatus(step.status), feedback.get(step.pk, "")) for step in steps],
        criteria=run.final.results if run.final else [],
        answered=bool(run.answer),
        failure=failure or run.failure,
        cancelled=cancelled,
        relaxed=plan.relaxed if plan and not was_read(plan) else (),
        ended=run.ended,
    )
