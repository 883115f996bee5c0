"""What a reading says of a run by its outcome, its policy and the agents of its attempts."""

from __future__ import annotations

from typing import Any

import pytest

from runs.enums import Outcome, Role
from runs.models import Attempt, Plan, Run
from runs.pev.policy import Policy, RoleModel
from runs.readmodel.run_rows import RunRows
from runs.readmodel.run_view import RunReading
from tests import factories
from tests.factories.agents import defined


def reading(*attempts: Attempt, plans: tuple[Plan, ...] = (), **fields: Any) -> RunReading:
    return RunReading(RunRows(Run(**fields), plans, {}, {1: attempts}, {}, [], 0))


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        (None, "NOT FINISHED"),
        (Outcome.SUCCEEDED, ""),
        (Outcome.PARTIAL, "PARTIAL"),
        (Outcome.FAILED, "FAILED"),
        (Outcome.CANCELLED, "STOPPED"),
    ],
)
def test_a_report_begins_with_a_word_unless_all_is_well(outcome: Outcome | None, word: str) -> None:
    assert reading(outcome=outcome).verdict_word == word


@pytest.mark.parametrize("outcome", [None, Outcome.SUCCEEDED, Outcome.CANCELLED])
def test_what_to_do_with_the_results_is_not_said_of_a_run_that_missed_nothing(outcome: Outcome | None) -> None:
    """For runs that go on, succeeded or were stopped. Other outcomes need the trees of the run's files."""
    plan = Plan(header=factories.plan().header)
    assert plan.header.rollback_strategy
    assert reading(plans=(plan,), outcome=outcome).rollback == ""


def policy(verifier: str) -> Policy:
    found = factories.policy()
    return found.changed(models={**found.models, Role.VERIFIER: RoleModel(model=verifier)})


def test_one_model_in_two_roles_is_named() -> None:
    assert reading(policy=policy("claude-haiku-5-5")).same_model == ""
    assert reading(policy=policy("claude-sonnet-5-5")).same_model == "claude-sonnet-5-5"


def test_the_model_of_an_agent_or_of_its_helper_is_one_of_them() -> None:
    same, other = (defined(instructions="Be short.", model=name) for name in ("claude-haiku-5-5", "claude-opus-5-5"))
    used = [Attempt(agent=same), Attempt(agent=other, subagents={"helper": same}), Attempt(agent=other), Attempt()]
    found = [reading(attempt, policy=policy("claude-haiku-5-5")).same_model for attempt in used]
    assert found == ["claude-haiku-5-5", "claude-haiku-5-5", "", ""]
