"""Calibrations over the fake Messages API: each case counts once, the budget is kept, and stopping loses nothing."""

from __future__ import annotations

import time
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.db.models import Sum
from django.utils import timezone

from runs.accounting.prices import cost_of
from runs.calibration import calibrations
from runs.calibration.calibrations import Wanted
from runs.calibration.verifiers import estimate_cost
from runs.contracts.ports import Usage
from runs.engine import calibrating
from runs.engine.calibrating import MeteredModel, carry_out
from runs.enums import CalibrationStatus, CaseOutcome, FaultKind, Language
from runs.errors import InvalidInput, LeaseLost, LimitReached
from runs.models import AuditEntry, Calibration, CalibrationCase
from runs.pev.verification import questions
from runs.planted_faults.case_verdicts import judge_case
from runs.planted_faults.stored_contracts import VerifierSettings
from tests.fakes.anthropic_answers import Answer, Fail, Ping, Request, Say
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.known_verifiers import catching, scripted_verifier

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.services, pytest.mark.allow_hosts(["127.0.0.1"])]
MODEL = "claude-haiku-5-5"
KINDS = [FaultKind.WRONG_FIGURE, FaultKind.CONTRADICTION, FaultKind.IRRELEVANT_QUOTE]
PERFECT = catching(1.0, "perfect")


def wanted(size: int = 6, **values: Any) -> Wanted:
    options: dict[str, Any] = {"kinds": KINDS, "languages": list(Language), "size": size}
    return Wanted(VerifierSettings(model=MODEL), calibrations.address_of(MODEL), **options | values)


def outcomes(calibration: Calibration) -> list[tuple[str, str]]:
    return list(calibration.cases.values_list("with_rules", "without_rules"))


@pytest.mark.parametrize("parallel", [1, 4])
def test_every_case_is_judged_once_and_its_cost_is_counted(api: FakeAnthropic, parallel: int) -> None:
    api.script(scripted_verifier(wanted(), PERFECT))
    calibration = calibrations.start(wanted())
    seen: list[int] = []
    carry_out(calibration.pk, lambda: seen.append(1), parallel)
    calibration.refresh_from_db()
    assert (calibration.status, calibration.why, calibration.lease_until) == (CalibrationStatus.FINISHED, "", None)
    assert [case.number for case in calibration.cases.all()] == list(range(12))
    assert len(seen) == 12
    passed, refused = CaseOutcome.PASSED, CaseOutcome.REFUSED
    assert outcomes(calibration) == [(refused, refused), (passed, passed)] * 6
    counted = calibration.cases.aggregate(usd=Sum("cost_usd"), calls=Sum("calls"))
    assert counted["calls"] == len(api.requests)
    assert (counted["usd"], calibration.reserved_usd) == (calibration.spent_usd, Decimal(0))
    assert counted["usd"] > 0


def test_the_lower_end_of_the_estimate_is_what_a_verifier_is_asked_that_refuses_everything(api: FakeAnthropic) -> None:
    job = wanted()
    api.script(scripted_verifier(job, catching(1.0, "refuses", false_refusals=1.0)))
    carry_out(calibrations.start(job).pk)
    assert estimate_cost(job).min_questions == len(api.requests) < 2 * job.cases


def test_what_the_verifier_said_itself_is_kept(api: FakeAnthropic) -> None:
    lazy = catching(0.0, "lazy", confidence=0.97)
    api.script(scripted_verifier(wanted(), lazy))
    calibration = calibrations.start(wanted())
    carry_out(calibration.pk)
    assert {(case.claimed, case.confidence) for case in calibration.cases.all()} == {(True, 0.97)}
    assert {case.without_rules for case in calibration.cases.all()} == {CaseOutcome.PASSED}


def test_the_budget_is_kept_and_a_higher_one_lets_it_go_on_without_judging_anything_twice(api: FakeAnthropic) -> None:
    job = wanted(20, budget=Decimal("0.02"))
    api.script(scripted_verifier(job, PERFECT))
    calibration = calibrations.start(job)
    carry_out(calibration.pk)
    calibration.refresh_from_db()
    judged = calibration.cases.count()
    assert (calibration.status, calibration.reserved_usd) == (CalibrationStatus.STOPPED, Decimal(0))
    assert calibration.why == "The budget does not allow another call."
    assert 0 < judged < 40
    assert calibration.spent_usd <= Decimal("0.02")
    assert round(calibration.spent_usd, 6) == cost_so_far(api)
    calibrations.resume(calibration, Decimal(5))
    carry_out(calibration.pk)
    calibration.refresh_from_db()
    assert calibration.status == CalibrationStatus.FINISHED
    assert [case.number for case in calibration.cases.all()] == list(range(40))
    assert round(calibration.spent_usd, 6) == cost_so_far(api)


@pytest.mark.parametrize("ends", [False, True])
def test_what_another_case_has_reserved_is_waited_for_unless_the_calibration_is_ending(
    api: FakeAnthropic, ends: bool
) -> None:
    job = wanted(1, budget=Decimal("0.02"))  # enough for each call, but not together with what is reserved here
    api.script(scripted_verifier(job, PERFECT))
    calibration = calibrations.start(job)
    lease = calibrations.claim(calibration.pk, "here/1")
    assert lease
    reserved = Decimal("0.019")
    assert lease.reserve(reserved)
    checks: list[int] = []

    def check() -> None:
        checks.append(len(api.requests))
        if len(checks) == 2:  # the first one was before the call, so it waits now
            lease.spend(Decimal(0), reserved)

    case = lease.case(lease.cases_left()[0])
    assert case
    model = MeteredModel(lease, check, lambda: ends)
    if ends:
        with pytest.raises(LimitReached):
            judge_case(case, model, job.asked)
        assert api.requests == []
    else:
        assert judge_case(case, model, job.asked).with_rules == CaseOutcome.REFUSED
        assert checks[:2] == [0, 0]
        calibration.refresh_from_db()
        assert calibration.reserved_usd == 0


def test_a_call_waits_only_while_others_may_leave_enough() -> None:
    calibration = calibrations.start(wanted(budget=Decimal(1)))
    lease = calibrations.claim(calibration.pk, "here/1")
    assert lease
    assert lease.reserve(Decimal("0.6"))
    assert not lease.reserve(Decimal("0.6"))
    lease.spend(Decimal("0.4"), Decimal("0.6"))
    assert lease.reserve(Decimal("0.6"))
    with pytest.raises(LimitReached):
        lease.reserve(Decimal("0.61"))
    calibrations.stop(calibration)
    with pytest.raises(LeaseLost):
        lease.reserve(Decimal("0.1"))


def cost_so_far(api: FakeAnthropic) -> Decimal:
    """What the service has charged for, up to a millionth of a dollar."""
    totals, today = api.usage_totals(MODEL), timezone.now().date()
    # Priced by the thousand, since long prompts have other prices.
    tokens = [
        (Usage(input=1_000), totals.input_tokens),
        (Usage(output=1_000), totals.output_tokens),
        (Usage(cache_read=1_000), totals.cache_read_input_tokens),
        (Usage(cache_write_5m=1_000), totals.ephemeral_5m_input_tokens),
    ]
    costs = ((cost_of(MODEL, thousand, today) or Decimal(0)) * count / 1_000 for thousand, count in tokens)
    return round(sum(costs, Decimal(0)), 6)


def test_a_stop_breaks_off_the_call_under_way_and_resuming_judges_the_rest(api: FakeAnthropic) -> None:
    job = wanted(10)
    verifier = scripted_verifier(job, PERFECT)

    def stopping(request: Request) -> Answer:
        if request.number == 9:
            calibrations.stop(calibration)
            connection.close()  # that of a thread of the service
            return Ping(20, verifier(request))
        return verifier(request)

    api.script(stopping)
    calibration = calibrations.start(job)
    began = time.monotonic()
    carry_out(calibration.pk, parallel=1)
    assert time.monotonic() - began < 15, "the call was broken off before its answer"
    calibration.refresh_from_db()
    assert calibration.status == CalibrationStatus.STOPPED
    judged = calibration.cases.count()
    assert 0 < judged < 20
    assert len(api.requests) == 9, "nothing is asked after the stop"
    api.script(verifier)
    calibrations.resume(calibration, None)
    carry_out(calibration.pk)
    calibration.refresh_from_db()
    assert (calibration.status, calibration.cases.count()) == (CalibrationStatus.FINISHED, 20)
    lines = list(AuditEntry.objects.order_by("number").values_list("subject", "details__name"))
    assert lines == [(f"calibration {calibration.pk} of {MODEL}", name) for name in ("started", "stopped", "resumed")]


def test_what_a_killed_process_had_reserved_counts_as_spent(api: FakeAnthropic) -> None:
    job = wanted(2, budget=Decimal(1))
    api.script(scripted_verifier(job, PERFECT))
    calibration = calibrations.start(job)
    killed = calibrations.claim(calibration.pk, "killed/1")
    assert killed is not None
    assert killed.reserve(Decimal("0.25"))
    killed.keep(case_row(0))
    assert calibrations.claim(calibration.pk, "other/2") is None, "its lease has not ended"
    Calibration.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    carry_out(calibration.pk)
    calibration.refresh_from_db()
    assert (calibration.status, calibration.cases.count()) == (CalibrationStatus.FINISHED, 4)
    assert round(calibration.spent_usd, 6) == cost_so_far(api) + Decimal("0.25")
    assert not killed.extend()
    killed.spend(Decimal("0.01"), Decimal("0.25"))
    killed.keep(case_row(1))
    calibration.refresh_from_db()
    assert round(calibration.spent_usd, 6) == cost_so_far(api) + Decimal("0.25"), "it was counted already"
    assert calibration.cases.count() == 4, "the case has its result"


def case_row(number: int) -> CalibrationCase:
    return CalibrationCase(
        number=number,
        kind="",
        language=Language.ENGLISH,
        with_rules=CaseOutcome.PASSED,
        without_rules=CaseOutcome.PASSED,
        verdicts=1,
        calls=1,
        duration_ms=1,
    )


def test_a_service_that_is_busy_is_asked_again(api: FakeAnthropic) -> None:
    job = wanted(1)
    verifier = scripted_verifier(job, PERFECT)
    api.script(
        lambda request: Fail(529, "overloaded_error", "overloaded") if request.number == 1 else verifier(request)
    )
    calibration = calibrations.start(job)
    carry_out(calibration.pk)
    calibration.refresh_from_db()
    assert (calibration.status, calibration.cases.count()) == (CalibrationStatus.FINISHED, 2)


def test_an_error_that_stays_stops_it_with_a_sentence(api: FakeAnthropic) -> None:
    api.script(lambda request: Fail(401, "authentication_error", "invalid x-api-key"))
    calibration = calibrations.start(wanted())
    carry_out(calibration.pk)
    calibration.refresh_from_db()
    assert (calibration.status, calibration.cases.count()) == (CalibrationStatus.STOPPED, 0)
    assert calibration.why


def test_an_answer_that_is_no_verdict_is_a_result_of_its_own(api: FakeAnthropic) -> None:
    api.script(lambda request: Say("I would rather not say."))
    calibration = calibrations.start(wanted(1))
    carry_out(calibration.pk)
    none = CaseOutcome.NO_VERDICT
    assert outcomes(calibration) == [(CaseOutcome.REFUSED, none), (none, none)], "code has found the wrong figure"
    assert [case.claimed for case in calibration.cases.all()] == [None, None]


def test_offline_rules_judge_what_checks_decide_and_nothing_else() -> None:
    job = Wanted(VerifierSettings(model="offline-verifier"), "", 4, [FaultKind.OMITTED_ITEM], [Language.GERMAN])
    calibration = calibrations.start(job)
    carry_out(calibration.pk)
    found = list(calibration.cases.values_list("kind", "with_rules", "cost_usd"))
    omitted = (FaultKind.OMITTED_ITEM, CaseOutcome.REFUSED, Decimal(0))
    assert found == [omitted, ("", CaseOutcome.NO_VERDICT, Decimal(0))] * 4


def test_one_calibration_runs_at_a_time_and_a_budget_needs_a_price() -> None:
    calibration = calibrations.start(wanted())
    with pytest.raises(InvalidInput, match="is running"):
        calibrations.start(wanted())
    calibrations.stop(calibration)
    with pytest.raises(InvalidInput, match="no known price"):
        calibrations.start(Wanted(VerifierSettings(model="qwen3-4b"), "", budget=Decimal(1)))
    with pytest.raises(InvalidInput, match="from 1 to"):
        calibrations.start(wanted(0))
    with pytest.raises(InvalidInput, match="at least one kind"):
        calibrations.start(wanted(kinds=[]))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"prompt": "earlier"}, "The prompt of verifiers has changed since. Start a new calibration."),
        ({"rules": "earlier"}, "The rules that verdicts are judged by have changed since. Start a new calibration."),
    ],
)
def test_nothing_goes_on_under_another_prompt_or_other_rules(changed: dict[str, str], why: str) -> None:
    calibration = calibrations.start(wanted())
    calibrations.stop(calibration)
    Calibration.objects.update(**changed)
    calibration.refresh_from_db()
    with pytest.raises(InvalidInput, match=why):
        calibrations.resume(calibration, None)


def test_a_process_of_a_version_that_knows_no_rules_does_not_go_on_with_it() -> None:
    compared_by_that_version = questions.version()
    assert calibrations.start(wanted()).prompt != compared_by_that_version


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"prompt": "earlier"}, "The prompt of verifiers has changed since. Start a new calibration."),
        ({"address": "https://elsewhere"}, "Another server answers as the verifier now. Start a new calibration."),
    ],
)
def test_after_a_kill_it_stops_if_the_prompt_or_the_server_has_changed(
    api: FakeAnthropic, changed: dict[str, str], why: str
) -> None:
    api.script(scripted_verifier(wanted(1), PERFECT))
    calibration = calibrations.start(wanted(1))
    assert calibrations.claim(calibration.pk, "killed/1")
    Calibration.objects.update(lease_until=timezone.now() - timedelta(seconds=1), **changed)
    carry_out(calibration.pk)
    calibration.refresh_from_db()
    assert (calibration.status, calibration.why, api.requests) == (CalibrationStatus.STOPPED, why, [])


def test_nothing_goes_on_at_another_server_or_with_a_budget_that_cannot_be_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calibration = calibrations.start(Wanted(VerifierSettings(model="qwen3-4b"), calibrations.address_of("qwen3-4b")))
    calibrations.stop(calibration)
    with pytest.raises(InvalidInput, match="no known price"):
        calibrations.resume(calibration, Decimal(1))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://elsewhere.example")
    with pytest.raises(InvalidInput, match="Another server answers"):
        calibrations.resume(calibration, None)


def test_a_process_that_has_lost_the_calibration_does_not_stop_it() -> None:
    calibration = calibrations.start(wanted())
    lost = calibrations.claim(calibration.pk, "slow/1")
    Calibration.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert calibrations.claim(calibration.pk, "other/2")
    assert lost
    lost.stop("The service was away.")
    lost.finish()
    calibration.refresh_from_db()
    assert (calibration.status, calibration.why) == (CalibrationStatus.RUNNING, "")


def test_a_worker_carries_out_what_is_due(api: FakeAnthropic) -> None:
    api.script(scripted_verifier(wanted(1), PERFECT))
    calibration = calibrations.start(wanted(1))
    calibrating.judge_due.call()
    calibration.refresh_from_db()
    assert calibration.status == CalibrationStatus.FINISHED
    assert not calibrations.due().exists()
