"""The policy that new runs start from, each of its fields on the command line, and what presets say of themselves."""

from decimal import Decimal
from typing import Any

import pytest

from pevsite.setting_values import policy_values
from runs.enums import Complexity, Role, StepApproval, StepMoment
from runs.errors import InvalidInput
from runs.management.policy_options import POLICY_OPTIONS
from runs.pev.policy import Policy
from runs.submission.policy_presets import SETTABLE, Described, default_policy, with_texts
from runs.web.new_run.policy_forms import ROLES
from tests.factories.driving import MODELS

INTERNAL = {"without_reuse": "which steps are done again is said where a run is run again"}
IN_PARTS = {"models": [f"{role}_{part}" for role in ROLES for part in ("model", "effort")]}


def test_every_field_of_a_policy_is_an_option_and_can_be_set_for_all() -> None:
    wanted = {part for name in Policy.model_fields if name not in INTERNAL for part in IN_PARTS.get(name, [name])}
    assert set(POLICY_OPTIONS) == set(SETTABLE) == wanted
    assert "" not in POLICY_OPTIONS.values()


def test_what_an_installation_sets_is_what_new_runs_start_with(settings: Any) -> None:
    settings.POLICY = policy_values(
        "attempts=2, budget=5.50 time_limit=none,reuse=off,step_approval=all,verifier_effort=high"
    )
    policy = default_policy()
    assert (policy.attempts, policy.budget, policy.time_limit, policy.reuse) == (2, Decimal("5.50"), None, False)
    assert (policy.step_approval, policy.model_for(Role.VERIFIER).effort) == (StepApproval.ALL, "high")
    assert policy.model_reviews(Complexity.MEDIUM)
    assert policy.rounds == Policy.model_fields["rounds"].default


@pytest.mark.parametrize(
    ("variable", "sentence"),
    [
        (
            "attempts=99",
            "“attempts” in PEV_POLICY cannot be used: Input should be less than or equal to 10. "
            "Correct it, or leave it out.",
        ),
        (
            "planner_effort=huge",
            "“planner_effort” in PEV_POLICY cannot be used: Input should be 'low', 'medium' or 'high'. "
            "Correct it, or leave it out.",
        ),
    ],
)
def test_what_an_installation_cannot_set_is_a_sentence(settings: Any, variable: str, sentence: str) -> None:
    settings.POLICY = policy_values(variable)
    with pytest.raises(InvalidInput) as refused:
        default_policy()
    assert str(refused.value) == sentence


def test_an_unknown_field_is_told_which_there_are(settings: Any) -> None:
    settings.POLICY = policy_values("models=x")
    with pytest.raises(InvalidInput) as refused:
        default_policy()
    assert str(refused.value).startswith("“models” in PEV_POLICY is no field of a policy. There are: plan_approval, ")


@pytest.mark.parametrize("text", ["", "nan", "-1", "1e999990", "9" * 5_000, "\x1b[2J", "\0", "🙂" * 3_000])
def test_whatever_is_written_is_taken_or_refused_in_words(text: str) -> None:
    """Names of models may be anything that is not too long: whether there is one is known when it is asked."""
    taken, badly_refused = dict[str, object](), dict[str, str]()
    for name in SETTABLE:
        try:
            policy = with_texts(default_policy(), {name: text}, str)
        except InvalidInput as error:
            if not str(error).startswith(f"{name} cannot be used: ") or len(str(error)) >= 400:
                badly_refused[name] = str(error)
        else:
            assert Policy.model_validate_json(policy.model_dump_json()) == policy
            taken[name] = None if name.endswith(("_model", "_verifier")) else getattr(policy, name)
    models = [name for name in SETTABLE if name.endswith("_model") and text.strip() and len(text) < 120]
    models += ["fallback_verifier"] if len(text) < 120 else []  # which may be empty
    lists: dict[str, dict[str, object]] = {
        "": {"web": "", "service_tools": (), "servers": (), "subagents": (), "decision_limits": ""},
        "nan": {"servers": ("nan",), "subagents": ("nan",)},
    }
    assert badly_refused == {}
    assert taken == dict.fromkeys(models) | lists.get(text, {})


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
