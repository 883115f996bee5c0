"""A preset says in a sentence what its policy means."""

from runs.enums import StepApproval, StepMoment
from runs.pev.policy import Policy
from runs.submission.policy_presets import Described
from tests.factories.driving import MODELS


def test_it_says_whether_one_is_asked_before_or_after() -> None:
    asked = {
        moment: Described("", Policy(models=MODELS, step_approval=StepApproval.ALL, step_moment=moment)).sentence
        for moment in StepMoment
    }
    assert asked == {
        StepMoment.AFTER: "You approve every plan and every result. You are asked when a step is out of attempts.",
        StepMoment.BEFORE: (
            "You approve every plan and the start of every step. You are asked when a step is out of attempts."
        ),
    }
