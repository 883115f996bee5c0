"""What must not be planned once more: a version that has failed or was rejected, a step that cannot be done."""

from collections.abc import Iterable
from dataclasses import dataclass

from runs.pev.contracts import PlanContract, PlanStep


@dataclass(frozen=True)
class RejectedWork:
    """What must not be planned once more: a whole version, or a step that nobody can do. `why`: what became of it."""

    version: int
    what: PlanContract | PlanStep
    why: str


def repeated_in(plan: PlanContract, spent: Iterable[RejectedWork]) -> list[str]:
    """A sentence for each thing in the plan that has been tried and must not be tried once more as it was."""
    problems: list[str] = []
    for one in spent:
        match one.what:
            case PlanContract() if _work(plan) == _work(one.what):
                problems.append(
                    f"This is version {one.version} of the plan again, word for word. {one.why} "
                    "Change the steps or criteria that this is about, or take another way."
                )
            case PlanStep() as cannot:
                problems += [
                    f"Step “{step.step_id}” is a step of version {one.version} again that cannot be done. {one.why} "
                    "Change what it asks for, or leave it out."
                    for step in plan.steps
                    if _task(step) == _task(cannot)
                ]
    return problems


def _work(plan: PlanContract) -> tuple[object, ...]:
    """What of a plan is carried out and judged."""
    return plan.goal, plan.context, plan.steps, plan.success_criteria


def _task(step: PlanStep) -> dict[str, object]:
    """What of a step says what is to be done; what it is called and how hard it seems does not."""
    return step.model_dump(exclude={"step_id", "name", "estimated_complexity"})
