"""A policy may ask for a verifier whose calibration proves that it catches so many of the planted faults."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from runs.calibration.minimum_catch_rate import problem_with_verifiers
from runs.enums import CalibrationStatus, EventKind, FaultKind, GateKind, Missing, Outcome, Role, StepStatus, Verb
from runs.errors import InvalidInput
from runs.models import Calibration, CalibrationCase, Run, Step, User, Verdict
from runs.pev.policy import Policy, RoleModel
from runs.planted_faults.stored_contracts import VerifierSettings
from runs.readmodel.run_view import reading_of
from runs.reports.json_report import report_of
from tests import factories as made
from tests.factories import MODELS, Submit, answer, drain, finish, open_gate
from tests.factories.calibrations import stored_calibration

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
VERIFIER = "claude-haiku-5-5"
ASKED = VerifierSettings(model=VERIFIER, min_document_bytes=0)
WANTED = "this policy asks for a verifier that catches at least 90 % of planted faults"
LATE = f"“{VERIFIER}” has no current calibration, and {WANTED}. The prompt of verifiers has changed since."
NOT_EVERY = "not every verifier of the policy had the catch rate that it asks for"
HANDS_OFF = {"plan_approval": "never", "step_approval": "none"}


def calibrated(**values: Any) -> Calibration:
    """A calibration with all kinds of faults, which are all caught. 60 of 60 prove 94 %."""
    return stored_calibration(**{"kinds": list(FaultKind), "size": 60, "missed": 0, "asked": ASKED, **values})


def policy(**changes: Any) -> Policy:
    return Policy.model_validate({"models": MODELS, "min_catch_rate": 0.9, **changes})


def outdate() -> None:
    """As if the prompt of verifiers had changed since they were calibrated."""
    Calibration.objects.update(prompt="earlier")


def test_without_a_minimum_nothing_is_asked_for() -> None:
    assert problem_with_verifiers(policy(min_catch_rate=None)) == ""


def test_a_verifier_with_the_rate_has_no_problem() -> None:
    calibrated()
    assert problem_with_verifiers(policy()) == ""


def test_few_cases_prove_little_even_if_all_faults_were_caught() -> None:
    calibrated(size=20)
    assert problem_with_verifiers(policy()) == (
        f"“{VERIFIER}” caught 20 of 20 planted faults (100 %, 95 % interval from 83.9 % to 100 %), and {WANTED}. "
        "That is too few cases to prove 90 %: have it calibrated with more planted faults."
    )


def test_a_low_rate_is_said_with_its_interval() -> None:
    calibrated(missed=30)
    assert problem_with_verifiers(policy()) == (
        f"“{VERIFIER}” caught 30 of 60 planted faults (50 %, 95 % interval from 37.7 % to 62.3 %), and {WANTED}."
    )


def test_a_fault_that_passed_with_a_mark_or_without_a_verdict_is_not_caught() -> None:
    calibrated()
    faults = CalibrationCase.objects.exclude(kind="").values_list("pk", flat=True)
    CalibrationCase.objects.filter(pk__in=list(faults[:5])).update(with_rules="marked")
    CalibrationCase.objects.filter(pk__in=list(faults[5:10])).update(with_rules="no_verdict")
    assert "caught 50 of 60 planted faults" in problem_with_verifiers(policy())


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"kinds": [FaultKind.STUB]}, "It has not been calibrated with faults of all kinds."),
        ({"size": 5}, "It has not been calibrated with faults of all kinds."),
        ({"model": "claude-haiku-4-5"}, "It has not been calibrated with faults of all kinds."),
        ({"status": CalibrationStatus.STOPPED}, "It has not been calibrated with faults of all kinds."),
        ({"status": CalibrationStatus.RUNNING}, "It has not been calibrated with faults of all kinds."),
        ({"prompt": "earlier"}, "The prompt of verifiers has changed since."),
        ({"rules": "earlier"}, "The rules that verdicts are judged by have changed since."),
        ({"address": "http://127.0.0.1:9"}, "Another server answers as the verifier now."),
        ({"asked": ASKED.model_copy(update={"simple": True})}, "It was asked in another form than runs ask it now."),
        (
            {"asked": ASKED.model_copy(update={"effort": "high"})},
            "It was calibrated with effort high, a minimum confidence of 0 and documents of at least 0 bytes, and this "
            "policy asks for less.",
        ),
        (
            {"asked": ASKED.model_copy(update={"min_confidence": 0.5})},
            "It was calibrated with effort low, a minimum confidence of 0.5 and documents of at least 0 bytes, and "
            "this policy asks for less.",
        ),
    ],
)
def test_a_calibration_that_does_not_count(values: dict[str, Any], why: str) -> None:
    calibrated(**values)
    assert problem_with_verifiers(policy()) == f"“{VERIFIER}” has no current calibration, and {WANTED}. {why}"


def test_a_policy_that_asks_for_more_than_was_measured_may_rely_on_it() -> None:
    calibrated()
    models = MODELS | {Role.VERIFIER: RoleModel(model=VERIFIER, effort="high")}
    assert problem_with_verifiers(policy(models=models, min_verifier_confidence=0.8)) == ""


def test_the_newest_current_calibration_counts() -> None:
    calibrated()
    calibrated(prompt="earlier", missed=60)
    assert problem_with_verifiers(policy()) == "", "the newer one is out of date"
    calibrated(missed=60)
    assert "caught 0 of 60" in problem_with_verifiers(policy())


def test_the_second_verifier_needs_the_rate_as_well() -> None:
    calibrated()
    assert problem_with_verifiers(policy(fallback_verifier="claude-opus-4-5")).startswith(
        "“claude-opus-4-5” has no current calibration"
    )


def test_offline_rules_have_no_rate() -> None:
    models = dict.fromkeys(MODELS, RoleModel(model="offline-rules"))
    assert problem_with_verifiers(policy(models=models)) == (
        f"Offline rules stand in for the verifier, and {WANTED}. Rules are not calibrated."
    )


@pytest.mark.parametrize(
    ("administers", "calibrate"),
    [(True, "Calibrate it on the page Calibrations"), (False, "Ask an administrator to calibrate it")],
)
def test_a_submission_is_refused_with_what_to_do(submitted: Submit, administers: bool, calibrate: str) -> None:
    owner = made.person("zoe", is_superuser=administers)
    with pytest.raises(InvalidInput) as refused:
        made.submit_as(owner, min_catch_rate=0.9)
    assert str(refused.value) == (
        f"“{VERIFIER}” has no current calibration, and {WANTED}. It has not been calibrated with faults of all kinds. "
        f"{calibrate}, choose another verifier, or lower the minimum catch rate or leave it empty."
    )
    assert Run.objects.count() == 0


@pytest.mark.usefixtures("team")
def test_a_run_with_a_proved_verifier_asks_no_one(submitted: Submit) -> None:
    calibrated()
    run = submitted(min_catch_rate=0.9, **HANDS_OFF)
    drain(run)
    assert (run.outcome, run.gates.count()) == (Outcome.SUCCEEDED, 0)
    assert set(Verdict.objects.values_list("uncalibrated", flat=True)) == {""}


@pytest.mark.usefixtures("team")
def test_where_figures_became_old_a_person_has_to_accept_each_reviewed_result(submitted: Submit, alice: User) -> None:
    calibrated()
    run = submitted(min_catch_rate=0.9, **HANDS_OFF)
    outdate()
    drain(run)
    gate = open_gate(run)
    assert (gate.kind, gate.why) == (GateKind.STEP, "")
    assert gate.question == (
        "“Do one” has passed verification, but not every verifier of the policy has the catch rate that it asks for. "
        "Accept its result?"
    )
    assert gate.attempt is not None
    assert gate.attempt.verdict.remarks == [LATE]
    assert Step.objects.get(plan__run=run, key="two").status == StepStatus.PENDING
    answer(run, alice)
    finish(run, alice)
    assert run.outcome == Outcome.PARTIAL
    assert [(point.kind, point.sentence) for point in reading_of(run).open_points] == [
        (Missing.DOUBT, f"When the whole task was judged, {NOT_EVERY}. {LATE}")
    ], "people accepted the steps, and no one could accept the final answer"
    steps = report_of(reading_of(run)).steps
    verdicts = [attempt.verdict.notes for step in steps for attempt in step.attempts if attempt.verdict]
    assert verdicts == [[LATE], [LATE]]


@pytest.mark.usefixtures("team")
def test_what_only_the_policy_accepted_is_an_open_point(submitted: Submit, alice: User) -> None:
    calibrated()
    run = submitted(min_catch_rate=0.9, **HANDS_OFF)
    outdate()
    for _ in range(2):
        drain(run)
        answer(run, alice, Verb.APPROVE, how="all")
    drain(run)
    sentences = [point.sentence for point in reading_of(run).open_points]
    assert [one.split(".")[0] for one in sentences] == [
        f"When {where} was judged, {NOT_EVERY}" for where in ("step “Do one”", "step “Do two”", "the whole task")
    ]


@pytest.mark.usefixtures("team")
def test_a_reused_result_is_asked_about_as_its_own_run_demands(submitted: Submit, alice: User) -> None:
    finish(submitted(), alice)
    calibrated()
    proved = submitted(min_catch_rate=0.9, **HANDS_OFF)
    drain(proved)
    assert (proved.outcome, proved.gates.count()) == (Outcome.SUCCEEDED, 0)
    late = submitted(min_catch_rate=0.9, **HANDS_OFF)
    outdate()
    drain(late)
    assert late.events.filter(kind=EventKind.ATTEMPT_REUSED).count() == 1
    assert open_gate(late).kind == GateKind.STEP


def test_the_demand_is_in_the_same_figures_as_the_reason(submitted: Submit) -> None:
    policy = submitted().policy.changed(min_catch_rate=0.955)
    assert "at least 95.5 % of planted faults" in policy.demand_on_verifier
    assert "at least 95.5 % of planted faults" in problem_with_verifiers(policy)


@pytest.mark.usefixtures("team")
def test_pages_and_report_say_what_was_asked_for_and_why_it_was_not_there(
    submitted: Submit, client: Client, alice: User
) -> None:
    calibrated()
    run = submitted(min_catch_rate=0.9, **HANDS_OFF)
    outdate()
    drain(run)
    step = Step.objects.get(plan__run=run, key="one")
    demand = (
        "The policy asks for verifiers whose newest calibrations prove that they catch at least 90 % of planted faults."
    )
    client.force_login(alice)
    page = client.get(f"/runs/{run.pk}/").text
    assert f"<strong>Verifier not proved</strong> {LATE}" in page
    assert "but see the warnings above" in page
    page = client.get(f"/runs/{run.pk}/steps/{step.pk}/").text
    assert page.count(LATE) == 1
    assert demand in page
    report = client.get(f"/runs/{run.pk}/report/").text
    assert "The verifier had to be calibrated." in report
    assert demand in report
