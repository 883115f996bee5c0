"""Owns what was agreed: the version that counts, what a later one asks less, what is written without a word of it."""

from collections.abc import Collection

from runs.enums import StepStatus
from runs.lifecycle import fingerprint
from runs.models import Run, Step
from runs.pev.contracts import PlanContract
from runs.pev.deviations import undeclared
from runs.pev.relaxing import relaxed_criteria
from runs.reading.ledger import was_read


def relaxed(run: Run, now: PlanContract) -> list[str]:
    """What `now` asks less than the version a person read last; without one, than the first that was approved."""
    approved = list(run.plans.exclude(approved_how="").order_by("version"))
    if not approved:
        return []
    agreed = next((plan for plan in reversed(approved) if was_read(plan)), approved[0])
    passed = Step.objects.filter(plan__run=run, plan__version__gte=agreed.version, status=StepStatus.PASSED)
    return relaxed_criteria(fingerprint.contract_of(agreed), now, [step.spec for step in passed])


def undeclared_by(step: Step, written: Collection[str]) -> list[str]:
    """What was written although no step of the plan had spoken of it. Asks for the other steps only where it must."""
    extra = undeclared(written, set(step.spec.expected_outputs))
    if not extra:
        return []
    outputs = Step.objects.filter(plan=step.plan_id).values_list("spec__expected_outputs", flat=True)
    return undeclared(extra, {path for paths in outputs for path in paths})
