"""Edited plans: a new version by a person, asked for like any other, and refused in words where that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from runs.enums import ApprovalPolicy, GateKind, GateStatus, PlanStatus, RunStatus, Verb
from runs.errors import DecisionRefused, InvalidInput, NotAllowed, PevError, PlanRefused
from runs.lifecycle import plan_edits
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gate_decisions import current_digest
from runs.models import Gate, Run, User
from runs.pev.contracts import PlanContract, PlanStep, RequestAnswer
from tests import factories as made
from tests.integration.lifecycle.deciding import fresh, kinds, say, state

pytestmark = pytest.mark.django_db


def newest(run: Run) -> PlanContract:
    plan = run.plans.newest()
    assert plan is not None
    return fingerprint.contract_of(plan)


def with_step(plan: PlanContract, place: int, **changes: Any) -> PlanContract:
    steps = list(plan.steps)
    steps[place] = PlanStep.model_validate({**steps[place].model_dump(), **changes})
    return plan.model_copy(update={"steps": steps})


def edit(run: Run, plan: PlanContract, by: User | None = None, digest: str = "") -> None:
    gate = made.open_gate(run, GateKind.PLAN)
    plan_edits.edit(gate.pk, by or made.alice(), digest or gate.digest, plan)


def refused(run: Run, plan: PlanContract, gate: Gate | None = None, by: User | None = None, digest: str = "") -> str:
    """The sentence of the refusal; nothing has changed."""
    gate = gate or made.open_gate(run, GateKind.PLAN)
    before = state(run.pk)
    with pytest.raises(PevError) as caught:
        plan_edits.edit(gate.pk, by or made.alice(), digest or gate.digest, plan)
    assert state(run.pk) == before
    return str(caught.value)


def test_an_edit_is_a_version_of_its_author_and_is_asked_for() -> None:
    run = made.awaiting_plan()
    made.share(run, made.bob())
    asked, count = made.open_gate(run, GateKind.PLAN), run.event_count
    wanted = with_step(newest(run), 0, name="List them")
    edit(run, wanted, by=made.bob())
    first, second = run.plans.all()
    assert (first.status, second.status, second.version) == (PlanStatus.SUPERSEDED, PlanStatus.PROPOSED, 2)
    assert (first.author, second.author, second.reason) == (None, made.bob(), "bob edited version 1.")
    assert fingerprint.contract_of(second) == wanted
    assert second.estimate is not None
    asked.refresh_from_db()
    gate = made.open_gate(run, GateKind.PLAN)
    assert (asked.status, gate.plan, gate.digest) == (GateStatus.WITHDRAWN, second, current_digest(gate))
    assert gate.question == "bob edited the plan. Approve version 2?"
    assert fresh(run).status == RunStatus.AWAITING_APPROVAL
    assert kinds(run, count) == ["gate_withdrawn", "plan_proposed", "gate_opened"]
    say(gate, Verb.APPROVE)
    second.refresh_from_db()
    assert (second.status, fresh(run).status) == (PlanStatus.APPROVED, RunStatus.EXECUTING)


def test_results_of_steps_that_stay_as_they_were_are_kept() -> None:
    run = made.replanned()
    edit(run, with_step(newest(run), 1, description="Review clause 7.2 alone."))
    plan = run.plans.newest()
    assert plan is not None
    kept = {step.key: (step.status, step.reused_from_id is not None) for step in plan.steps.all()}
    assert kept == {"inventory": ("passed", True), "review-service": ("pending", False)}
    edit(run, with_step(newest(run), 0, description="List them again."))
    plan = run.plans.newest()
    assert plan is not None
    assert [step.reused_from for step in plan.steps.all()] == [None, None]


def test_an_edit_is_asked_for_though_the_policy_would_approve_it() -> None:
    """A later version waits only where it asks for less; an edit that does not is asked for all the same (G2)."""
    run = made.executing(attempts=1, replans=1, plan_approval=ApprovalPolicy.FIRST)
    made.pass_inventory(run)
    made.fail_review(run)
    first = made.plan()
    made.propose(run, first.model_copy(update={"steps": [first.steps[0], made.review_step("again")]}))
    edit(run, newest(run).model_copy(update={"steps": first.steps}))
    plan = run.plans.newest()
    assert plan is not None
    assert (plan.relaxed, fresh(run).status) == ([], RunStatus.AWAITING_APPROVAL)
    assert made.open_gate(run, GateKind.PLAN).plan == plan


@pytest.mark.parametrize(
    ("place", "changes", "sentence"),
    [
        (0, {"dependencies": ["notices"]}, "The steps depend on each other in a circle"),
        (1, {"dependencies": ["nowhere"]}, "depends on “nowhere”, which is no step of this plan."),
        (1, {"step_id": "inventory"}, "The step_id “inventory” is used twice."),
        (2, {"expected_outputs": ["../out.md"]}, "names an output that cannot be written"),
        (
            1,
            {"acceptance_criteria": [{"text": "x", "check": {"kind": "matches", "path": "a.md", "pattern": "("}}]},
            "cannot be used",
        ),
    ],
)
def test_a_plan_that_no_planner_could_bring_is_refused(place: int, changes: dict[str, Any], sentence: str) -> None:
    run = made.awaiting_plan()
    assert sentence in refused(run, with_step(newest(run), place, **changes))


def test_nothing_changed_is_no_edit() -> None:
    run = made.awaiting_plan()
    gate = made.open_gate(run, GateKind.PLAN)
    with pytest.raises(InvalidInput, match="Nothing was changed"):
        plan_edits.edit(gate.pk, made.alice(), gate.digest, newest(run))


def test_who_comes_second_is_told_what_has_happened() -> None:
    run = made.awaiting_plan()
    made.share(run, made.bob())
    gate = made.open_gate(run, GateKind.PLAN)
    mine, theirs = with_step(newest(run), 0, name="Mine"), with_step(newest(run), 0, name="Theirs")
    edit(run, theirs, by=made.bob())
    assert refused(run, mine, gate) == "bob has edited the plan since: decide on version 2, which took its place."
    with pytest.raises(DecisionRefused, match="bob has edited the plan since"):
        say(gate, Verb.APPROVE)
    later = made.open_gate(run, GateKind.PLAN)
    say(later, Verb.APPROVE, by=made.bob())
    assert refused(run, mine, later).startswith("Already decided: bob approved it at ")


def test_only_a_plan_that_is_asked_for_on_this_page_can_be_edited() -> None:
    run = made.awaiting_plan()
    wanted = with_step(newest(run), 0, name="Mine")
    assert "has changed since this page was loaded" in refused(run, wanted, digest="x" * 64)
    gate = made.open_gate(run, GateKind.PLAN)
    with pytest.raises(NotAllowed):
        plan_edits.edit(gate.pk, made.charlie(), gate.digest, wanted)
    waiting = made.step_gate()
    other = made.open_gate(waiting, GateKind.STEP)
    assert refused(waiting, wanted, other) == "Only a plan that needs a decision can be edited."


def test_answers_to_requests_follow_what_they_name() -> None:
    run = made.awaiting_plan()
    made.decide(run, GateKind.PLAN, Verb.REJECT, "Quote every clause.")
    answers = [
        RequestAnswer(request=1, step_id="review", criterion=2, how="It says so."),
        RequestAnswer(request=1, step_id="notices", how="They quote it."),
        RequestAnswer(request=1, criterion=1, how="At the end."),
    ]
    plan = made.plan().model_copy(update={"answers": answers})
    made.propose(run, plan)
    review = plan.steps[1].acceptance_criteria
    edit(run, with_step(newest(run), 1, acceptance_criteria=[review[1], review[0]]))
    assert [(one.step_id, one.criterion) for one in newest(run).answers] == [
        ("review", 1),
        ("notices", None),
        (None, 1),
    ]
    edit(run, newest(run).model_copy(update={"steps": newest(run).steps[:2]}))
    assert [(one.step_id, one.criterion) for one in newest(run).answers] == [("review", 1), (None, 1)]
    edit(run, with_step(newest(run), 1, acceptance_criteria=[review[0]]))
    assert [(one.step_id, one.criterion) for one in newest(run).answers] == [(None, 1)]


def test_the_problems_have_their_places() -> None:
    run = made.awaiting_plan()
    broken = {"text": "x", "about": "output", "check": {"kind": "word_count", "path": "a.md", "min": 9, "max": 1}}
    plan = with_step(newest(run), 1, acceptance_criteria=[{"text": "It is good.", "about": "output"}, broken])
    (problem,) = plan_edits.problems_with(run, plan)
    assert (problem.step_id, problem.criterion, problem.field) == ("review", 2, "check")
    assert problem.what == "min (9) is more than max (1); no text can have so many words."
    with pytest.raises(PlanRefused):
        edit(run, plan)
