"""A planner that quietly asks for less: a person is asked, or the outcome says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.enums import GateKind, Outcome, Verb
from runs.errors import DecisionRefused
from runs.models import Run, User
from tests.factories import Submit, answer, drain, finish, open_gate
from tests.fakes.anthropic_answers import Answer, Request, Say
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Player, Team, answering, labels_of, plan, step, told, verdict

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
HARD = "one names every deadline"
SAID = f"Step “Do one” had to meet “{HARD}”; the new plan does not ask for it."


def hard() -> dict[str, Any]:
    asked = step("one")
    asked["acceptance_criteria"].append({"text": HARD, "about": "output", "check": None})
    return asked


@pytest.fixture
def team(api: FakeAnthropic) -> Team:
    """The verifier never passes the hard criterion; the planner drops it when it plans again."""

    def verifier(request: Request, right: Answer) -> Answer:
        if any(HARD in part.text for part in told(request)):
            return Say(json.dumps(verdict(labels_of(request), "", "", passed=False, action="replan")))
        return right

    def planner(request: Request, right: Answer) -> Answer:
        less = answering(request, plan(step("one"), step("two", "one")))
        return right if len(scripted.seen["planner"]) == 1 else Say(json.dumps(less))

    scripted = Team(plan=plan(hard(), step("two", "one")), verifier=verifier, planner=planner)
    api.script(scripted)
    return scripted


def gaps(run: Run) -> list[str]:
    return list(run.events.get(kind="finished").data["gaps"])


@pytest.mark.slow
def test_without_anybody_asked_the_outcome_is_partial_and_says_why(team: Team, submitted: Submit, alice: User) -> None:
    run = finish(submitted(plan_approval="never"), alice)
    assert run.outcome == Outcome.PARTIAL
    assert gaps(run) == [f"A requirement was relaxed, and no one agreed to it: {SAID}"]


@pytest.mark.slow
def test_a_person_is_asked_although_only_the_first_plan_waits(team: Team, submitted: Submit, alice: User) -> None:
    run = submitted(plan_approval="first")
    drain(run)
    answer(run, alice)
    drain(run)
    gate = open_gate(run)
    assert gate.plan is not None
    assert (gate.kind, gate.plan.version, gate.plan.relaxed) == (GateKind.PLAN, 2, [SAID])
    assert (
        gate.plan.reason
        == "“Do one” cannot go on as planned, so it is planned again. Attempt 1: It does not say enough."
    )
    assert finish(run, alice).outcome == Outcome.SUCCEEDED, "a person has read it and agreed"


@pytest.mark.slow
def test_a_plan_that_asks_for_the_same_is_carried_out_without_a_question(
    team: Team, submitted: Submit, alice: User
) -> None:
    team.planner = None
    run = submitted(plan_approval="first", replans=1, exhausted="accept")
    drain(run)
    answer(run, alice)
    drain(run)
    assert (run.plans.count(), run.plans.latest("version").relaxed, run.gates.count()) == (2, [], 1)


@pytest.mark.slow
def test_what_was_dropped_twice_is_still_missing(team: Team, submitted: Submit, alice: User) -> None:
    """The comparison is with what was agreed, not with the version before."""
    dropping = team.planner
    assert dropping

    def planner(request: Request, right: Answer) -> Answer:
        less = plan(step("one"))
        return dropping(request, right) if len(team.seen["planner"]) < 3 else Say(json.dumps(less))

    assert team.verifier is not None
    strict: Player = team.verifier

    def never_done(request: Request, right: Answer) -> Answer:
        final = any("The answer names the result" in part.text for part in told(request) if part.kind == "criteria")
        return Say(json.dumps(verdict(labels_of(request), "", "", passed=False))) if final else strict(request, right)

    team.planner, team.verifier = planner, never_done
    run = finish(submitted(plan_approval="never", replans=2), alice)
    assert run.plans.count() == 3
    assert SAID in run.plans.latest("version").relaxed
    assert run.outcome == Outcome.PARTIAL


def test_people_may_reject_a_bounded_number_of_plans(team: Team, submitted: Submit, alice: User) -> None:
    run = submitted(revisions=1)
    drain(run)
    answer(run, alice, Verb.REJECT, "Shorter.")
    drain(run)
    with pytest.raises(DecisionRefused, match="Changes to the plan of this run were requested once already"):
        answer(run, alice, Verb.REJECT, "Shorter still.")
    answer(run, alice)
