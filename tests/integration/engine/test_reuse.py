"""Reuse: what could not come out otherwise is not paid for twice, says where it is from, and can be refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.enums import AttemptStatus, EventKind, GateKind, Outcome, Role, Verb
from runs.models import Attempt, Run, User
from runs.pev.policy import RoleModel
from tests import factories
from tests.factories import MODELS, Submit, answer, drain, finish, open_gate, reused, submit_as
from tests.fakes.anthropic_answers import Answer, Request, Say
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.allow_hosts(["127.0.0.1"]),
    pytest.mark.slow,
    pytest.mark.usefixtures("team"),
]


@pytest.fixture(scope="module", autouse=True)
def before(rows_of_module: None, service: FakeAnthropic) -> Run:
    """A finished run of two steps, which the tests share."""
    service.reset()
    service.script(Team())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_BASE_URL", service.url)
        owner = factories.alice()
        run = finish(submit_as(owner), owner)
    assert service.violations == []
    return run


def reused_in(run: Run, owner: User) -> list[str]:
    """The steps whose results the run has taken over when it is finished."""
    assert finish(run, owner).outcome == Outcome.SUCCEEDED
    return reused(run)


def test_the_same_task_on_the_same_files_is_not_done_twice(
    before: Run, team: Team, submitted: Submit, alice: User
) -> None:
    run = finish(submitted(), alice)
    assert (run.outcome, reused(run)) == (Outcome.SUCCEEDED, ["one", "two"])
    assert sorted(team.seen) == ["planner", "synthesizer", "verifier"]
    assert len(team.seen["verifier"]) == 1, "only the success criteria are judged"
    assert run.head.digest == before.head.digest
    assert not run.model_calls.filter(attempt__isnull=False).exists()
    told = run.events.filter(kind=EventKind.ATTEMPT_REUSED).first()
    assert told is not None
    assert (told.data["from_run"], told.data["from_attempt"]) == (before.pk, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"request": "Do other work"},
        {"files": {"notes.md": b"Some notes.\nMore of them.\n", "sales.csv": b"1"}},
        {"rounds": 11},
        {"min_confidence": 0.6},
        {"min_verifier_confidence": 0.5},
        {"min_document_bytes": 5},
        {"model_review": "all"},
        {"fallback_verifier": "claude-opus-5-5"},
        {"original_pages": "never"},
        {"models": MODELS | {Role.VERIFIER: RoleModel(model="claude-opus-5-5")}},
        {"models": MODELS | {Role.EXECUTOR: RoleModel(model="claude-sonnet-5-5", effort="high")}},
        {"reuse": False},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_matters_makes_it_another_result(submitted: Submit, alice: User, change: dict[str, Any]) -> None:
    assert reused_in(submitted(**change), alice) == []


@pytest.mark.parametrize("change", [{"parallel": 5}, {"attempts": 1}, {"replans": 0}])
def test_what_does_not_matter_does_not(submitted: Submit, alice: User, change: dict[str, Any]) -> None:
    assert reused_in(submitted(**change), alice) == ["one", "two"]


def test_another_definition_of_a_step_is_done_again(team: Team, submitted: Submit, alice: User) -> None:
    team.plan = plan(step("one"), step("two", "one") | {"description": "Otherwise."})
    assert reused_in(submitted(), alice) == ["one"]


@pytest.mark.exhaustive
def test_another_context_of_the_plan_is_done_again(team: Team, submitted: Submit, alice: User) -> None:
    team.plan = team.plan | {"context": [{"name": "currency", "value": "EUR"}]}
    assert reused_in(submitted(), alice) == []


def test_a_step_that_is_added_leaves_the_others_reused(team: Team, submitted: Submit, alice: User) -> None:
    team.plan = plan(step("one"), step("two", "one"), step("three", "two"))
    assert reused_in(submitted(), alice) == ["one", "two"]


@pytest.mark.exhaustive
def test_other_notes_of_the_step_before_make_other_results(
    before: Run, team: Team, submitted: Submit, alice: User
) -> None:
    def doubtful(request: Request, right: Answer) -> Answer:
        return (
            Say(right.text.replace('"notes": ""', '"notes": "Page 3 was not legible."'))
            if isinstance(right, Say)
            else right
        )

    team.executor = doubtful
    assert reused_in(submitted(without_reuse=("one",)), alice) == []


@pytest.mark.exhaustive
def test_other_instructions_make_other_results(
    before: Run, submitted: Submit, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.pev.prompts.version", lambda: "another")
    assert reused_in(submitted(), alice) == []


def test_one_step_can_be_done_anew_and_what_rests_on_it_follows(before: Run, submitted: Submit, alice: User) -> None:
    """Step one comes out as before, so that step two finds the same files and findings again."""
    assert reused_in(submitted(without_reuse=("one",)), alice) == ["two"]


def test_results_of_other_people_are_never_taken(before: Run, submitted: Submit, bob: User) -> None:
    Run.objects.filter(pk=before.pk).update(owner=bob)
    run = submitted()
    assert reused_in(run, run.owner) == []


def test_neither_what_a_person_has_rejected_nor_its_answer_comes_back(
    team: Team, submitted: Submit, alice: User
) -> None:
    team.plan = plan(step("one", complexity="high"))
    first = submitted()
    drain(first)
    answer(first, alice)
    drain(first)
    answer(first, alice, Verb.REJECT, "Not like this.")
    finish(first, alice)
    second = submitted()
    drain(second)
    answer(second, alice)
    drain(second)
    attempt = Attempt.objects.get(step__plan__run=second)
    assert attempt.reused_from is None, "the one that was approved in the end answers what no one has asked for here"


def test_a_reused_result_waits_for_its_gate_and_can_be_refused(team: Team, submitted: Submit, alice: User) -> None:
    team.plan = plan(step("one", complexity="high"))
    finish(submitted(), alice)
    run = submitted()
    drain(run)
    answer(run, alice)
    assert (open_gate(run).kind, reused(run)) == (GateKind.STEP, ["one"])
    answer(run, alice, Verb.REJECT, "Look again.")
    drain(run)
    attempts = Attempt.objects.filter(step__plan__run=run).order_by("number")
    assert [(a.status, a.reused_from_id is None) for a in attempts] == [
        (AttemptStatus.REJECTED, False),
        (AttemptStatus.PASSED, True),
    ]
    assert "Look again." in json.dumps(team.seen["executor"][-2].messages)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
