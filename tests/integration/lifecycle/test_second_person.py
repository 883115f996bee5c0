"""A second person approves where the policy or the installation says so, and no policy weakens the installation."""

from __future__ import annotations

from typing import Any

import pytest

from runs.enums import Action, ApprovalPolicy, Complexity, PersonRole, ShareLevel, StepApproval, Verb, WorkKind
from runs.errors import InvalidInput, NotAllowed
from runs.lifecycle import outcomes
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gate_decisions import decide
from runs.lifecycle.gates.gate_type import Decision
from runs.lifecycle.plan_edits import edit
from runs.lifecycle.sharing import share
from runs.models import Gate, Run, User
from runs.people.permissions import approvable_gates
from runs.pev.verifier import failed
from runs.submission.submit import submit
from tests import factories as made
from tests.integration.lifecycle.submitting import submission

pytestmark = [pytest.mark.django_db, pytest.mark.services]
SECOND = "A second person has to approve this"


def approve(gate: Gate, user: User) -> None:
    decide(gate.pk, user, Decision(Verb.APPROVE, gate.digest))


@pytest.fixture
def high_risk(settings: Any) -> None:
    settings.SECOND_PERSON = "high_risk"


@pytest.mark.usefixtures("high_risk")
def test_a_plan_with_a_high_risk_step_needs_one_whatever_the_policy_says() -> None:
    gate = made.open_gate(made.awaiting_plan(second_person=False))
    assert (gate.second_person, list(approvable_gates(made.alice()))) == (True, [])
    with pytest.raises(NotAllowed, match=SECOND):
        approve(gate, made.alice())
    approve(gate, made.bob())


def test_a_step_needs_one_only_if_it_is_high_risk(settings: Any) -> None:
    gate = made.open_gate(made.step_gate())
    settings.SECOND_PERSON = "high_risk"
    with pytest.raises(NotAllowed, match=SECOND):
        approve(gate, made.alice())
    gate.run.plans.get().steps.filter(gates=gate).update(complexity=Complexity.LOW)
    approve(gate, made.alice())


def test_a_gate_that_was_open_before_the_setting_needs_one_too(settings: Any) -> None:
    gate = made.open_gate(made.awaiting_plan())
    assert gate.second_person is False
    settings.SECOND_PERSON = "high_risk"
    with pytest.raises(NotAllowed, match=SECOND):
        approve(gate, made.alice())


@pytest.mark.usefixtures("high_risk")
@pytest.mark.parametrize(
    "weaker", [{"plan_approval": ApprovalPolicy.NEVER}, {"step_approval": StepApproval.NONE}], ids=["plan", "steps"]
)
def test_no_policy_goes_around_it(weaker: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="as this installation demands"):
        made.submitted(**weaker)
    assert Run.objects.count() == 0


@pytest.mark.usefixtures("high_risk")
def test_the_run_can_be_shared_with_the_second_person_after_it_was_submitted() -> None:
    run = submit(made.alice(), submission())
    made.propose(run)
    assert made.open_gate(run).second_person is True
    share(run.pk, made.alice(), made.bob(), ShareLevel.DECIDE)
    assert [gate.run for gate in approvable_gates(made.bob())] == [run]


def test_who_edited_the_plan_is_no_second_person() -> None:
    run = made.awaiting_plan(second_person=True)
    made.share(run, made.charlie())
    gate = made.open_gate(run)
    assert gate.plan is not None
    plan = fingerprint.contract_of(gate.plan)
    edit(gate.pk, made.bob(), gate.digest, plan.model_copy(update={"goal": "Another goal."}))
    gate = made.open_gate(run)
    assert list(approvable_gates(made.bob())) == []
    with pytest.raises(NotAllowed, match="you edited the plan"):
        approve(gate, made.bob())
    approve(gate, made.charlie())


@pytest.mark.usefixtures("high_risk")
def test_a_step_that_is_edited_to_a_lower_risk_still_needs_one() -> None:
    gate = made.open_gate(made.awaiting_plan())
    assert gate.plan is not None
    plan = fingerprint.contract_of(gate.plan)
    steps = [step.model_copy(update={"estimated_complexity": Complexity.LOW}) for step in plan.steps]
    edit(gate.pk, made.alice(), gate.digest, plan.model_copy(update={"steps": steps}))
    gate = made.open_gate(gate.run)
    assert (gate.second_person, list(approvable_gates(made.alice()))) == (True, [])
    with pytest.raises(NotAllowed, match=SECOND):
        approve(gate, made.alice())
    approve(gate, made.bob())


def test_a_later_plan_with_a_high_risk_step_waits_although_only_the_first_one_does(settings: Any) -> None:
    run = made.planning(plan_approval=ApprovalPolicy.FIRST)
    settings.SECOND_PERSON = "high_risk"
    made.propose(run, made.plan(made.plan_step("a", "A")))
    approve(made.open_gate(run), made.alice())
    with made.working(run, WorkKind.ATTEMPT, "a") as mine:
        assert mine.attempt is not None
        outcomes.executed(mine.attempt, made.output("The annex is missing.", blocked=True), {})
        outcomes.judged(mine.attempt, failed("The annex is missing.", action=Action.REPLAN), blocked=True)
    risky = made.plan_step("b", "B", estimated_complexity=Complexity.HIGH)
    made.propose(run, made.plan(made.plan_step("a", "A"), risky))
    assert made.open_gate(run).second_person is True


def test_who_may_only_look_is_no_second_person() -> None:
    vera = made.person("vera", roles=[PersonRole.VIEWER])
    with pytest.raises(InvalidInput, match="no one else may decide"):
        made.submitted(approvers=[vera], second_person=True)
    made.submitted(approvers=[vera, made.bob()], second_person=True)
