"""Comments on the parts of a plan, as they are posted: one field for each step, each criterion, and the whole."""

from collections.abc import Iterator, Mapping

from runs.contracts.feedback import Comment
from runs.errors import InvalidInput
from runs.pev.contracts import PlanContract
from runs.web.gates.presenter import MAX_REASON
from runs.web.plan_editor.plan_page import comment_field

MAX_COMMENTS = 100
"""Comments on a plan. Each is a request that the next version has to answer."""


def typed_in(plan: PlanContract, data: Mapping[str, str]) -> dict[str, str]:
    """The comments on this plan as they were posted, by the names of their fields, without empty ones."""
    names = ["reason", *(name for name, _ in _places(plan))]
    texts = {name: str(data.get(name, "")).replace("\0", "") for name in names}
    return {name: text for name, text in texts.items() if text.strip()}


def comments_in(plan: PlanContract, typed: Mapping[str, str]) -> tuple[Comment, ...]:
    """The comments on parts of the plan. Raises InvalidInput for more than a planner could answer."""
    size = sum(map(len, typed.values()))
    if size > MAX_REASON:
        raise InvalidInput(f"These are {size:,} characters; {MAX_REASON:,} fit. Put long texts into a file.")
    found = [place.model_copy(update={"text": typed[name]}) for name, place in _places(plan) if name in typed]
    if len(found) > MAX_COMMENTS:
        raise InvalidInput(f"These are {len(found)} comments; {MAX_COMMENTS} can be sent at once.")
    return tuple(found)


def _places(plan: PlanContract) -> Iterator[tuple[str, Comment]]:
    """Every part of the plan that can be commented on, with the name of its field."""
    for number, step in enumerate(plan.steps, 1):
        yield comment_field(number), Comment(text="", step_id=step.step_id)
        for criterion in range(1, len(step.acceptance_criteria) + 1):
            yield comment_field(number, criterion), Comment(text="", step_id=step.step_id, criterion=criterion)
    for criterion in range(1, len(plan.success_criteria) + 1):
        yield comment_field(0, criterion), Comment(text="", criterion=criterion)
