"""Whether a plan says where it meets each request of a person (T7): the answers that it gives, and what they name."""

from collections.abc import Collection, Iterator

from runs.pev.contracts import PlanContract, RequestAnswer


def problems_in(plan: PlanContract, requests: Collection[int]) -> list[str]:
    """A sentence for each request that is left out, and each answer that names something that does not exist."""
    given = {answer.request for answer in plan.answers}
    problems = [
        f"Request {number} is answered nowhere: name in `answers` the step or criterion that meets it."
        for number in requests
        if number not in given
    ]
    for answer in plan.answers:
        problems += _problems_with(answer, plan, requests)
    return problems


def _problems_with(answer: RequestAnswer, plan: PlanContract, requests: Collection[int]) -> Iterator[str]:
    what = f"The answer to request {answer.request}"
    if answer.request not in requests:
        there = f"there are: {', '.join(map(str, requests))}" if requests else "nobody has asked for anything"
        yield f"{what} answers nothing; {there}."
        return
    if answer.step_id is None:
        if answer.criterion is None:
            yield f"{what} names neither a step nor a criterion."
        elif answer.criterion > len(plan.success_criteria):
            yield f"{what} names success criterion {answer.criterion}; there are {len(plan.success_criteria)}."
        return
    step = next((step for step in plan.steps if step.step_id == answer.step_id), None)
    if step is None:
        yield f"{what} names “{answer.step_id}”, which is no step of this plan."
    elif answer.criterion and answer.criterion > len(step.acceptance_criteria):
        count = len(step.acceptance_criteria)
        yield f"{what} names criterion {answer.criterion} of step “{answer.step_id}”, which has {count}."
