"""What the choices of a policy mean, and what it starts from."""

import pytest

from runs.enums import Complexity, ModelReview, StepApproval, StepMoment
from runs.pev.policy import Policy
from tests.factories.driving import MODELS

LEVELS = {
    "none": set[Complexity](),
    "high": {Complexity.HIGH},
    "medium_and_high": {Complexity.MEDIUM, Complexity.HIGH},
    "all": {Complexity.LOW, Complexity.MEDIUM, Complexity.HIGH},
}


@pytest.mark.parametrize("choice", StepApproval)
def test_which_steps_wait_for_a_person(choice: StepApproval) -> None:
    policy = Policy(models=MODELS, step_approval=choice)
    assert {complexity for complexity in Complexity if policy.step_waits(complexity)} == LEVELS[choice]


@pytest.mark.parametrize("moment", StepMoment)
def test_a_step_waits_once_at_the_moment_that_was_chosen(moment: StepMoment) -> None:
    policy = Policy(models=MODELS, step_approval=StepApproval.ALL, step_moment=moment)
    assert [one for one in StepMoment if policy.step_waits(Complexity.LOW, one)] == [moment]


@pytest.mark.parametrize("choice", ModelReview)
def test_which_steps_a_model_looks_at_where_checks_decide_everything(choice: ModelReview) -> None:
    policy = Policy(models=MODELS, model_review=choice)
    assert {complexity for complexity in Complexity if policy.model_reviews(complexity)} == LEVELS[choice]


def test_a_stored_policy_without_the_newer_fields_gets_their_defaults() -> None:
    fresh = Policy(models=MODELS)
    newer = {"step_moment", "min_verifier_confidence", "min_document_bytes", "model_review", "sources_needed"}
    newer |= {"original_pages"}
    assert Policy.model_validate(fresh.model_dump(mode="json", exclude=newer)) == fresh
    assert fresh.model_dump(mode="json", include={"min_confidence", *newer}) == {
        "step_moment": "after",
        "min_confidence": 0.5,
        "min_verifier_confidence": 0.0,
        "min_document_bytes": 100,
        "model_review": "medium_and_high",
        "sources_needed": True,
        "original_pages": "layout",
    }
