"""The approved baseline: which version counts, what a later one asks less, which files no step declared."""

from collections.abc import Collection, Iterable

from runs.enums import StepStatus
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.criteria_ledger import was_read
from runs.models import Run, Step
from runs.pev.contracts import PlanContract, PlanStep
from runs.pev.deviations import undeclared
from runs.pev.plans.relaxing import relaxed_criteria
from runs.pev.tools.registry import tools_of


def relaxed(run: Run, now: PlanContract) -> list[str]:
    """What `now` asks less than the version a person read last; without one, than the first that was approved."""
    approved = list(run.plans.exclude(approved_how="").order_by("version"))
    if not approved:
        return []
    agreed = next((plan for plan in reversed(approved) if was_read(plan)), approved[0])
    passed = Step.objects.filter(plan__run=run, plan__version__gte=agreed.version, status=StepStatus.PASSED)
    return relaxed_criteria(fingerprint.contract_of(agreed), now, [step.spec for step in passed], tools_of)


def undeclared_by(declared: Iterable[PlanStep], written: Collection[str]) -> list[str]:
    """What was written although none of a plan's steps had spoken of it."""
    return undeclared(written, {path for step in declared for path in step.outputs})
