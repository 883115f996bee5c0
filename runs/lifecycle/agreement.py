"""Owns what people have agreed to: the version that counts, and what a later one no longer asks for."""

from runs.enums import StepStatus
from runs.lifecycle import binding
from runs.models import Plan, Run, Step
from runs.pev.contracts import PlanContract
from runs.pev.weakening import weakenings

_READ = frozenset({"person", "terminal"})


def was_read(plan: Plan) -> bool:
    """Whether somebody read this version at its gate and said yes; a policy and `--approve-all` read nothing."""
    return plan.approved_how in _READ


def weakened(run: Run, now: PlanContract) -> list[str]:
    """What `now` asks less than the version a person read last; without one, than the first that was approved."""
    approved = list(run.plans.exclude(approved_how="").order_by("version"))
    if not approved:
        return []
    agreed = next((plan for plan in reversed(approved) if was_read(plan)), approved[0])
    passed = Step.objects.filter(plan__run=run, plan__version__gte=agreed.version, status=StepStatus.PASSED)
    return weakenings(binding.contract_of(agreed), now, [binding.spec_of(step) for step in passed])
