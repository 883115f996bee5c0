"""Owns the estimate that is stored with a plan, whoever wrote the plan."""

from runs.enums import Role
from runs.llm.estimates import estimate
from runs.measured import history
from runs.models import Run
from runs.pev.contracts import JsonObject, PlanContract


def estimate_for(run: Run, plan: PlanContract) -> JsonObject:
    """What this plan may cost under the run's policy: an `llm.estimates.Estimate` as JSON."""
    policy = run.policy
    models = {role: policy.model_for(role).model for role in Role}
    found = estimate(plan, models, attempts=policy.attempts, history=history(models))
    return found.model_dump(mode="json")
