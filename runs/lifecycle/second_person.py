"""When an approval has to come from a second person: who neither submitted the task nor edited its plan."""

from __future__ import annotations

from django.conf import settings

from runs.enums import Complexity
from runs.models import Gate, Plan, Run

HIGH_RISK = "high_risk"
"""The value of the setting that demands a second person for high risk, whatever the policies of runs say."""


def guards_high_risk() -> bool:
    """Whether the installation demands one for high risk."""
    return settings.SECOND_PERSON == HIGH_RISK


def may_be_needed(run: Run) -> bool:
    """Whether a decision of this run may need one: by its policy, or by the setting of the installation."""
    return run.policy.second_person or guards_high_risk()


def is_needed(gate: Gate) -> bool:
    """Whether this gate, of a kind for which it matters, needs one."""
    return gate.run.policy.second_person or (guards_high_risk() and _is_high_risk(gate))


def is_needed_for_plan(run: Run, plan: Plan) -> bool:
    return run.policy.second_person or (guards_high_risk() and _has_high_risk(plan))


def _is_high_risk(gate: Gate) -> bool:
    """Whether it is about a call that acts outside, a high-risk step, or a plan that has or had one."""
    if gate.call is not None:
        return True
    if gate.step is not None:
        return gate.step.complexity == Complexity.HIGH
    return gate.plan is not None and _has_high_risk(gate.plan)


def _has_high_risk(plan: Plan) -> bool:
    """Whether this version or one before has a high-risk step: what an edit or a request made of it needs one too."""
    versions = Plan.objects.filter(run_id=plan.run_id, version__lte=plan.version)
    return versions.filter(steps__complexity=Complexity.HIGH).exists()
