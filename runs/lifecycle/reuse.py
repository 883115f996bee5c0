"""Owns the reuse of passed attempts: the key that says that nothing would come out otherwise, and where it is found."""

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce

from runs.enums import SETTLED_STEPS, AttemptStatus, Role, StepStatus
from runs.lifecycle.fingerprint import digest_of
from runs.models import Attempt, Run, Step
from runs.pev import prompts


def key_of(run: Run, step: Step) -> str:
    """The digest of all that an attempt at this step depends on: definition, visible files, results it rests on,
    the parts of the policy that matter, models and instructions.
    """
    policy = run.policy
    return digest_of(
        {
            "request": run.request,
            "goal": step.plan.header.goal,
            "step": step.spec,
            "tree": run.head.digest,
            "results": _results(step),
            "models": [policy.model_for(role) for role in (Role.EXECUTOR, Role.VERIFIER)],
            "policy": [policy.rounds, policy.min_confidence, policy.attempt_seconds],
            "instructions": prompts.version(),
        }
    )


def _results(step: Step) -> list[str]:
    """The fingerprints of what the steps before have found and written."""
    if not step.depends_on:
        return []
    latest = Attempt.objects.filter(step=OuterRef("pk")).order_by("-number").values("fingerprint")[:1]
    before = Step.objects.filter(plan=step.plan_id, key__in=step.depends_on, status__in=SETTLED_STEPS)
    return list(before.order_by("key").values_list(Coalesce("reused_from__fingerprint", Subquery(latest)), flat=True))


def find(run: Run, step: Step, key: str) -> Attempt | None:
    """The newest passed attempt with this key, of the owner's own runs (S4), whose result was kept.

    None when reuse is off for the run or the step, or when it wrote files that only its own plan declared.
    """
    if not run.policy.reuse or step.key in run.policy.without_reuse:
        return None
    passed = Attempt.objects.filter(
        reuse_key=key,
        status=AttemptStatus.PASSED,
        reused_from=None,
        step__status=StepStatus.PASSED,
        step__plan__run__owner=run.owner_id,
    )
    newest = passed.order_by("-pk").values_list("pk", flat=True).first()
    if newest is None:
        return None
    found = Attempt.objects.select_related("step__plan", "verdict").get(pk=newest)
    return found if set(found.overlay) <= set(step.spec.expected_outputs) else None
