"""A run of many steps with several attempts each, for whatever is to stay fast then."""

from runs.enums import StepApproval
from runs.models import Run
from tests.factories.attempts import fail_review, final_answer, pass_review
from tests.factories.parts import plan, plan_step
from tests.factories.runs import executing


def long_run(steps: int, attempts: int, findings: str = "") -> Run:
    """Every step passes at its last attempt; each of them has a critique and evidence before that."""
    specs = [plan_step(f"s{number}", f"Review part {number}") for number in range(1, steps + 1)]
    run = executing(plan(*specs), parallel=1, attempts=attempts, step_approval=StepApproval.NONE, max_steps=500)
    for spec in specs:
        for number in range(1, attempts):
            fail_review(run, f"{findings}Attempt {number}.", key=spec.step_id)
        pass_review(run, key=spec.step_id)
    final_answer(run)
    return Run.objects.get(pk=run.pk)
