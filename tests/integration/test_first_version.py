"""A data folder of the first version, as it was left then: after an upgrade everything in it can be read and goes on.

How the folder was made stands in `tests/fixtures/first_version/make.py`. Each test works on a copy of its own.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from pytest_django import DjangoDbBlocker, Settings

from runs.enums import GateKind, ModelReview, OriginalPages, Outcome, RunStatus, Verb
from runs.errors import DecisionRefused
from runs.lifecycle.approval.fingerprint import contract_of
from runs.lifecycle.gate_decisions import Decision, decide
from runs.models import Attempt, Gate, Run, User
from runs.pev.contracts import Matches, MinBytes, WordCount
from runs.pev.imports.imported import plan_in
from runs.pev.policy import Policy
from runs.reports.machine import as_json
from runs.store.trees import files_of
from runs.submission.run_templates import called
from tests.factories import drain, finish, open_gate
from tests.fakes.team import Team
from tests.installation import ROOT, migrate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow, pytest.mark.exhaustive]
FIXTURE = ROOT / "tests" / "fixtures" / "first_version"
REJECTIONS = """
    UPDATE runs_gate SET status = 'rejected', reason = 'Otherwise.' WHERE id IN (6, 7, 12);
    UPDATE runs_gate SET decided_at = '2026-11-22 01:00:00' WHERE id = 7;
    UPDATE runs_gate SET status = 'rejected', reason = 'No money.', decided_at = opened_at, decided_how = 'person',
        decided_by_id = (SELECT min(id) FROM runs_user) WHERE id = 17;
"""
"""Decisions that the folder's people might have made: gate 4, of the same run as 6 and 7, they have rejected."""
EXPECTED = json.loads((FIXTURE / "expected.json").read_text())


@pytest.fixture(scope="session")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder after `manage.py migrate`, which is what an operator calls, or `serve` for them."""
    folder = tmp_path_factory.mktemp("first-version")
    with zipfile.ZipFile(FIXTURE / "data.zip") as archive:
        archive.extractall(folder)
    migrate(folder)
    return folder


@pytest.fixture(autouse=True)
def on_a_copy(
    upgraded: Path,
    tmp_path: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[None]:
    """This process works on a copy of the folder, in place of the tests' own database and blobs."""
    folder = shutil.copytree(upgraded, tmp_path / "data")
    blobs = settings.STORAGES["blobs"] | {"OPTIONS": {"location": folder / "blobs"}}
    settings.STORAGES = settings.STORAGES | {"blobs": blobs}
    with django_db_blocker.unblock():
        connection.close()
        with monkeypatch.context() as patched:
            patched.setitem(connection.settings_dict, "NAME", str(folder / "pevsite.sqlite3"))
            yield
            connection.close()


@pytest.fixture
def alice() -> User:
    return User.objects.get(username="alice")


@pytest.fixture
def bob() -> User:
    return User.objects.get(username="bob")


def run_called(title: str) -> Run:
    return Run.objects.get(title=title)


def approve(run: Run, user: User, **limits: Any) -> None:
    answer(run, user, Verb.APPROVE, **limits)


def answer(run: Run, user: User, verb: Verb, reason: str = "", **limits: Any) -> Gate:
    """As a person does: when the page says that what would run has changed meanwhile, it is read again."""
    for _ in range(2):
        gate = open_gate(run)
        try:
            decide(gate.pk, user, Decision(verb, gate.digest, reason, **limits))
        except DecisionRefused:
            assert open_gate(run) != gate
        else:
            return gate
    raise AssertionError("what would run has changed twice")


def criteria(report: Any) -> list[Any]:
    """Each judged criterion with its evidence, in the form of `expected.json`."""
    steps = [(f"{plan['version']} {step['step_id']}", step) for plan in report["plans"] for step in plan["steps"]]
    judged = [
        (f"{place} {attempt['number']}", result)
        for place, step in steps
        for attempt in step["attempts"]
        for result in (attempt["verdict"] or {"results": []})["results"]
    ]
    judged += [("answer", result) for result in report["success_criteria"]]
    return [
        [
            place,
            result["label"],
            result["passed"],
            [[e["source"], e["quote"], e["verified"]] for e in result["evidence"]],
        ]
        for place, result in judged
    ]


def calls_of(team: Team) -> dict[str, int]:
    return {role: len(requests) for role, requests in team.seen.items()}


def test_rejections_of_before_are_numbered_in_the_order_of_decision(tmp_path: Path) -> None:
    """Three in one run, the last row decided first, and one in another; the decisions about money are no requests."""
    with zipfile.ZipFile(FIXTURE / "data.zip") as archive:
        archive.extractall(tmp_path / "old")
    with closing(sqlite3.connect(tmp_path / "old" / "pevsite.sqlite3")) as database:
        database.executescript(REJECTIONS)
    migrate(tmp_path / "old")
    with closing(sqlite3.connect(tmp_path / "old" / "pevsite.sqlite3")) as database:
        gates = dict(database.execute("SELECT id, request FROM runs_gate WHERE request IS NOT NULL"))
        runs = dict(database.execute("SELECT id, requests FROM runs_run WHERE requests > 0"))
    assert (gates, runs) == ({7: 1, 4: 2, 6: 3, 12: 1}, {3: 3, 6: 1})


@pytest.mark.parametrize("title", EXPECTED)
def test_a_finished_run_says_the_same_with_the_same_evidence(title: str) -> None:
    run = Run.objects.get(title=title, status=RunStatus.FINISHED)
    report = as_json(run)
    assert report["outcome"] == run.outcome == EXPECTED[title]["outcome"]
    assert report["judged_answer"] == EXPECTED[title]["answer"]
    assert criteria(report) == EXPECTED[title]["criteria"]


def test_every_page_of_every_run_can_be_opened(client: Client, alice: User) -> None:
    client.force_login(alice)
    pages = ["/", "/metrics/", "/templates/", "/runs/new/"]
    for run in Run.objects.all():
        given = quote(next(iter(files_of(run.inputs))))
        pages += [f"/runs/{run.pk}/{page}" for page in ("", "report/", "report.md", "files.zip", f"files/{given}")]
        pages += [f"/runs/{run.pk}/plans/{plan.version}.json" for plan in run.plans.all()]
        pages += [f"/runs/{run.pk}/steps/{step.pk}/" for plan in run.plans.all() for step in plan.steps.all()]
    answers: dict[str, Any] = {page: client.get(page) for page in pages}
    assert {page: answer.status_code for page, answer in answers.items()} == dict.fromkeys(pages, 200)
    streamed = [answer for answer in answers.values() if answer.streaming]
    assert all(b"".join(answer.streaming_content) for answer in streamed)


def test_a_plan_that_waits_is_approved_and_carried_out(team: Team, bob: User) -> None:
    run = run_called("Wait at the plan")
    approve(run, bob)
    assert finish(run, bob).outcome == Outcome.SUCCEEDED
    assert calls_of(team) == {"executor": 4, "verifier": 3, "synthesizer": 1}


def test_a_result_that_waits_is_approved_and_the_run_goes_on(team: Team, bob: User) -> None:
    run = run_called("Wait at a step")
    approve(run, bob)
    assert finish(run, run.owner).outcome == Outcome.SUCCEEDED
    assert calls_of(team) == {"executor": 2, "verifier": 2, "synthesizer": 1}


def test_a_rejected_result_is_tried_again_with_what_the_person_said(team: Team, bob: User) -> None:
    run = run_called("Wait at a step")
    gate = answer(run, bob, Verb.REJECT, "Name the clause.")
    approve(run, bob)  # the instructions of the models are others now: the plan is asked about again
    drain(run)
    assert "Name the clause." in team.seen["executor"][0].last_text
    assert open_gate(run).attempt == Attempt.objects.get(step=gate.step, number=2)


def test_a_step_without_attempts_left_is_accepted_and_the_gap_stays(team: Team, bob: User) -> None:
    run = run_called("Wait after the last attempt")
    approve(run, bob)
    assert finish(run, bob).outcome == Outcome.PARTIAL
    assert calls_of(team) == {"verifier": 1, "synthesizer": 1}


def test_a_run_that_waits_for_its_service_is_asked_again(team: Team, bob: User) -> None:
    run = run_called("Wait for the service")
    approve(run, bob)
    drain(run)
    assert (open_gate(run).kind, calls_of(team)) == (GateKind.PLAN, {"planner": 1})


def test_a_run_that_waits_for_money_goes_on_with_a_higher_limit(team: Team, bob: User) -> None:
    run = run_called("Wait for more money")
    approve(run, bob, budget=50)
    drain(run)
    assert (open_gate(run).kind, calls_of(team)) == (GateKind.PLAN, {"planner": 1})


def test_a_run_in_mid_step_goes_on_and_nothing_is_done_twice(team: Team) -> None:
    """Step two has a reply and a tool's result in its journal, step three its report. Four was not begun.

    Executors are asked in other words now, so that the reply of step two answers another question: it is asked again.
    Step three had read no file, which was enough then: its criterion rests on nothing now, and it is tried again.
    """
    run = run_called("Go on in mid-step")
    assert sorted(Attempt.objects.filter(step__plan__run=run).values_list("step__key", "status")) == [
        ("one", "passed"),
        ("three", "verifying"),
        ("two", "executing"),
    ]
    assert finish(run, run.owner).outcome == Outcome.SUCCEEDED
    assert calls_of(team) == {"executor": 2 + 2 + 2, "verifier": 2 + 1 + 2 + 1, "synthesizer": 1}
    assert sorted(Attempt.objects.filter(step__plan__run=run).values_list("step__key", "number", "status")) == [
        ("four", 1, "passed"),
        ("one", 1, "passed"),
        ("three", 1, "failed"),
        ("three", 2, "passed"),
        ("two", 1, "passed"),
    ]
    assert run.events.filter(kind="recovered").count() == 2
    assert list(run.events.values_list("seq", flat=True)) == list(range(1, run.event_count + 1))


def test_an_offline_run_at_a_gate_is_carried_out_as_it_was_planned(alice: User) -> None:
    run = Run.objects.exclude(status=RunStatus.FINISHED).get(title="Review these three contracts")
    approve(run, alice)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert "no AI was involved" in run.answer


def test_an_offline_run_of_another_job_stops_and_says_how_to_connect_a_model(alice: User) -> None:
    run = Run.objects.exclude(status=RunStatus.FINISHED).get(title="Review these three contracts")
    answer(run, alice, Verb.REJECT, "Do it otherwise.")
    step = run.plans.get().steps.get(key="findings")
    step.spec = step.spec.model_copy(update={"description": "Report the largest of three files."})
    step.save(update_fields=["spec"])
    drain(run)
    assert open_gate(run).kind == GateKind.ERROR
    assert "The rehearsal without AI does not know the plan of this run" in open_gate(run).question
    assert "set a key (ANTHROPIC_API_KEY)" in open_gate(run).question


def test_what_a_person_set_and_the_checks_of_plans_keep_their_values(alice: User) -> None:
    plan = run_called("Wait at the plan").plans.get()
    policy = Policy.model_validate(plan.run.policy)
    assert (policy.min_confidence, policy.min_verifier_confidence, policy.max_steps) == (0.6, 0.6, 7)
    assert (policy.min_document_bytes, policy.model_review, policy.sources_needed) == (0, ModelReview.NONE, True)
    assert policy.original_pages == OriginalPages.NEVER
    measured = [
        MinBytes(kind="min_bytes", path="one.md", min=10),
        Matches(kind="matches", path="one.md", pattern="[a-z]+", min=3),
        WordCount(kind="word_count", path="one.md", min=4, max=50),
    ]
    exported = plan_in((FIXTURE / "plan.json").read_bytes())
    for contract in (contract_of(plan), called(alice, "Measured work").plan, exported):
        assert [criterion.check for criterion in contract.steps[0].acceptance_criteria[2:]] == measured
        assert contract.success_criteria[1].check == MinBytes(kind="min_bytes", path="two.md", min=12)
