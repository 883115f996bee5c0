"""Corrections of people as labelled cases: the owner agrees to what is kept, and calibrations count them apart."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client
from django.utils import timezone

from runs.calibration import calibrations
from runs.calibration.calibrations import Wanted
from runs.calibration.results import agreements, as_json, catch_rates, result_of
from runs.calibration.verifiers import estimate_cost
from runs.engine.calibrating import carry_out
from runs.engine.labelled_cases import content_to_keep, digest_of, keep, take_back
from runs.enums import About, AuditKind, CalibrationStatus, CaseOutcome, FaultKind, Language
from runs.errors import DecisionRefused, InvalidInput, NotAllowed
from runs.lifecycle.deletion import delete
from runs.lifecycle.overruling import overrule
from runs.models import Attempt, AuditEntry, Calibration, LabelledCase, Overruling, Run, User
from runs.planted_faults.stored_contracts import VerifierSettings
from tests import factories as made
from tests.factories.calibrations import stored_calibration
from tests.fakes.anthropic_answers import Answer, Request, Say
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.known_verifiers import catching, scripted_verifier
from tests.fakes.team import block, told, verdict
from tests.integration.lifecycle.old import long_ago

pytestmark = [pytest.mark.django_db, pytest.mark.services, pytest.mark.allow_hosts(["127.0.0.1"])]
MODEL = "claude-haiku-5-5"
REASON = "A party is missing."
KINDS = [FaultKind.WRONG_FIGURE]


def corrected(run: Run | None = None, *, key: str = "inventory", by: User | None = None) -> Overruling:
    """A criterion that a verifier found met, and that the owner rejects."""
    run = run or made.finished_succeeded()
    attempt = Attempt.objects.of_run(run).filter(step__key=key, verdict__passed=True).latest("pk")
    label = next(one.label for one in attempt.verdict.results if one.decided_by == "model")
    newest = attempt.overrulings.last()
    return overrule(attempt.pk, by or run.owner, label, met=False, reason=REASON, seen=newest.pk if newest else 0)


def kept(row: Overruling) -> LabelledCase:
    return keep(row, row.attempt.step.plan.run.owner, digest_of(content_to_keep(row)))


def lines(run: Run) -> QuerySet[AuditEntry, tuple[str, str]]:
    kinds = [AuditKind.CASE_KEPT, AuditKind.CASE_DELETED]
    found = AuditEntry.objects.filter(kind__in=kinds, run_number=run.pk).order_by("number")
    return found.values_list("kind", "subject")


# ---- what is kept ----------------------------------------------------------------------------------------------------


def test_only_what_was_judged_is_kept() -> None:
    row = corrected()
    run = row.attempt.step.plan.run
    content = content_to_keep(row)
    assert (content.criterion, content.about) == ("Every contract is listed with both parties.", About.SOURCES)
    assert content.output == "Three contracts, six parties; see the table."
    assert [one.name for one in content.made] == ["review/inventory.md"]
    assert [one.name.rpartition("/")[2] for one in content.given] == [
        "Büro lease.md",
        "Service agreement.md",
        "data-processing-agreement.md",
    ]
    assert content.calls == [], "calls that show files are left out: the files are kept"
    stored = content.model_dump_json()
    assert not any(text in stored for text in (REASON, run.request, run.title, "alice", row.attempt.step.spec.name))


def test_a_criterion_about_the_result_keeps_no_source_that_its_verdict_does_not_quote() -> None:
    row = corrected()
    results = row.attempt.verdict.results
    row.attempt.verdict.results = [
        one.model_copy(update={"about": About.OUTPUT, "evidence": one.evidence[:1]}) for one in results
    ]
    content = content_to_keep(row)
    assert ([one.name for one in content.made], content.given) == (["review/inventory.md"], [])


def test_secrets_of_the_installation_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    row = corrected()
    assert "41,000 pallets a month" in content_to_keep(row).model_dump_json()
    monkeypatch.setenv("PALLET_TOKEN", "41,000 pallets a month")
    stored = content_to_keep(row).model_dump_json()
    assert "41,000" not in stored
    assert "(redacted)" in stored


def test_what_cannot_be_judged_again_is_not_kept() -> None:
    row = corrected()
    attempt = row.attempt
    results = attempt.verdict.results
    said = results[1].evidence[0].model_copy(update={"source": "@person-1"})
    by_person = results[1].model_copy(update={"evidence": [said]})
    by_check = results[1].model_copy(update={"decided_by": "check"})
    for result, why in ((by_person, "what people said"), (by_check, "did not decide this criterion")):
        attempt.verdict.results = [result]
        with pytest.raises(InvalidInput, match=why):
            content_to_keep(row)
    attempt.verdict.results = results
    attempt.reused_from = Attempt.objects.exclude(pk=attempt.pk)[0]
    with pytest.raises(InvalidInput, match="taken over from another run"):
        content_to_keep(row)
    attempt.reused_from = None
    overrule(attempt.pk, row.by, row.label, met=True, reason="It is there.", seen=row.pk)
    with pytest.raises(InvalidInput, match="does not hold any more"):
        content_to_keep(row)


def test_too_much_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    row = corrected()
    monkeypatch.setattr("runs.planted_faults.corrected_cases.SHOWN_IN_ALL", 1_000)
    with pytest.raises(InvalidInput, match=r"has [\d,]+ characters\. At most 1,000"):
        content_to_keep(row)


# ---- consent ---------------------------------------------------------------------------------------------------------


def test_only_the_owner_agrees_also_to_what_another_person_has_said() -> None:
    run = made.finished_succeeded()
    bob = made.bob()
    made.share(run, bob)
    row = corrected(run, by=bob)
    seen = digest_of(content_to_keep(row))
    for other in (bob, made.person("root", is_superuser=True)):
        with pytest.raises(NotAllowed, match="Only the person who submitted the task"):
            keep(row, other, seen)
    assert not LabelledCase.objects.exists()
    case = keep(row, run.owner, seen)
    assert case == keep(row, run.owner, seen), "sent twice"
    with pytest.raises(NotAllowed):
        take_back(row, bob)
    take_back(row, run.owner)
    take_back(row, run.owner)
    assert not LabelledCase.objects.exists()
    subject = f"{row.label} of step inventory, attempt 1"
    assert list(lines(run)) == [(AuditKind.CASE_KEPT, subject), (AuditKind.CASE_DELETED, subject)]


def test_nothing_is_kept_that_the_owner_has_not_looked_at() -> None:
    row = corrected()
    with pytest.raises(DecisionRefused, match="has changed since you opened this page"):
        keep(row, row.by, "0" * 64)
    assert not LabelledCase.objects.exists()


def test_a_case_goes_when_its_criterion_is_overruled_again() -> None:
    row = corrected()
    kept(row)
    overrule(row.attempt_id, row.by, row.label, met=True, reason="It is there.", seen=row.pk)
    assert not LabelledCase.objects.exists()
    assert [kind for kind, _ in lines(row.attempt.step.plan.run)] == [AuditKind.CASE_KEPT, AuditKind.CASE_DELETED]


def test_a_case_goes_with_its_run() -> None:
    row = corrected()
    run = row.attempt.step.plan.run
    kept(row)
    long_ago(run)
    delete(run.pk, run.owner)
    assert not LabelledCase.objects.exists()


def test_the_page_shows_what_would_be_kept_and_keeps_nothing_by_itself(client: Client) -> None:
    row = corrected()
    run = row.attempt.step.plan.run
    address, step = f"/runs/{run.pk}/overrulings/{row.pk}/case/", f"/runs/{run.pk}/steps/{row.attempt.step_id}/"
    client.force_login(run.owner)
    assert f'href="{address}"' in client.get(step).text
    page = client.get(address)
    for one in (content := content_to_keep(row)).made + content.given:
        assert one.text.splitlines()[0] in page.text
    assert f"{row.attempt.step.spec.name}, attempt 1</a>" in page.text
    assert "Keep nothing" in page.text
    assert not LabelledCase.objects.exists()
    refused = client.post(address, {"verb": "keep", "seen": "0"})
    assert (refused.status_code, LabelledCase.objects.count()) == (409, 0)
    client.post(address, {"verb": "keep", "seen": page.context["seen"]})
    assert LabelledCase.objects.get().content == content
    assert f"{row.label} is a case for calibrations" in client.get(step).text
    assert "Take back and delete the case" in client.get(address).text
    client.post(address, {"verb": "take_back"})
    assert not LabelledCase.objects.exists()


def test_others_who_see_the_run_get_no_page_and_no_link(client: Client) -> None:
    row = corrected()
    run = row.attempt.step.plan.run
    address, step = f"/runs/{run.pk}/overrulings/{row.pk}/case/", f"/runs/{run.pk}/steps/{row.attempt.step_id}/"
    bob = made.bob()
    made.share(run, bob)
    for other in (bob, made.person("root", is_superuser=True)):
        client.force_login(other)
        assert client.get(address).status_code == client.post(address, {"verb": "keep"}).status_code == 403
        assert address not in client.get(step).text
    client.force_login(made.person("eve"))
    assert client.get(address).status_code == 404


def test_the_page_says_why_nothing_can_be_kept(client: Client) -> None:
    row = corrected()
    run = row.attempt.step.plan.run
    overrule(row.attempt_id, row.by, row.label, met=True, reason="It is there.", seen=row.pk)
    client.force_login(run.owner)
    page = client.get(f"/runs/{run.pk}/overrulings/{row.pk}/case/")
    assert "This correction does not hold any more" in page.text
    assert "Agree and keep" not in page.text


# ---- in calibrations -------------------------------------------------------------------------------------------------


def wanted(size: int = 1, **values: Any) -> Wanted:
    options: dict[str, Any] = {"kinds": KINDS, "languages": list(Language), "size": size}
    return Wanted(VerifierSettings(model=MODEL), calibrations.address_of(MODEL), **options | values)


def answering(job: Wanted, *, passes: bool) -> Any:
    """A verifier that catches all planted faults, and passes or fails every result of a run."""
    generated = scripted_verifier(job._replace(corrections=()), catching(1.0, "perfect"))

    def answer(request: Request) -> Answer:
        parts = told(request)
        if not any(part.name == "review/inventory.md" for part in parts):
            return generated(request)
        words = "Kestrel Systems GmbH"
        source, quote = (
            ("contracts/Service agreement.md", words)
            if "sources" in block(parts, "about")
            else ("@output", "Three contracts")
        )
        (one,) = verdict(["C1"], source, quote, words, passed=passes)["criteria_results"]
        return Say(json.dumps({**verdict([], "", "", passed=passes), "criteria_results": [one]}))

    return answer


EACH, ONE = "Every contract is listed with both parties.", "Kestrel Systems GmbH is listed as a party."


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("criterion", "passes", "with_rules", "without_rules"),
    [
        (ONE, True, CaseOutcome.PASSED, CaseOutcome.PASSED),
        (ONE, False, CaseOutcome.REFUSED, CaseOutcome.REFUSED),
        (EACH, True, CaseOutcome.REFUSED, CaseOutcome.PASSED),  # evidence for one of three is not enough
    ],
    ids=["let through", "caught", "caught by the rules"],
)
def test_a_calibration_judges_them_and_counts_them_apart(
    api: FakeAnthropic, criterion: str, passes: bool, with_rules: CaseOutcome, without_rules: CaseOutcome
) -> None:
    labelled = kept(corrected())
    labelled.content = labelled.content.model_copy(update={"criterion": criterion})
    labelled.save()
    job = wanted(corrections=calibrations.corrections())
    api.script(answering(job, passes=passes))
    assert estimate_cost(job).sentence.startswith("Estimate: 3 cases, ")
    calibration = calibrations.start(job)
    carry_out(calibration.pk)
    calibration.refresh_from_db()
    assert calibration.status == CalibrationStatus.FINISHED
    case = calibration.cases.get(number=2)
    assert (case.met_by_person, case.kind) == (False, "")
    assert (case.with_rules, case.without_rules) == (with_rules, without_rules)
    result = result_of(calibration)
    assert (result.faults.caught.total, result.sound.refused.total, len(result.claims)) == (1, 1, 2)
    assert result.corrections
    assert (result.corrections.rejected.alone.count, result.corrections.rejected.alone.total) == (not passes, 1)
    assert result.corrections.accepted.refused.total == 0


@pytest.mark.django_db(transaction=True)
def test_a_case_that_was_taken_back_since_is_not_judged(api: FakeAnthropic) -> None:
    row = corrected()
    kept(row)
    job = wanted(corrections=calibrations.corrections())
    api.script(answering(job, passes=True))
    calibration = calibrations.start(job)
    take_back(row, row.by)
    carry_out(calibration.pk)
    calibration.refresh_from_db()
    assert (calibration.status, calibration.cases.count()) == (CalibrationStatus.FINISHED, 2)
    assert not any("Kestrel" in str(request.body) for request in api.requests)


def with_corrections(**values: Any) -> Calibration:
    """Two results that people rejected, one of them caught, and one that they accepted, which is refused."""
    calibration = stored_calibration(corrections=[1, 2, 3], **{"size": 2} | values)
    first = calibration.cases.first()
    assert first
    passed, refused = CaseOutcome.PASSED, CaseOutcome.REFUSED
    numbers = range(calibration.cases.count(), calibration.cases.count() + 3)
    for number, met, outcome in zip(numbers, (False, False, True), (refused, passed, refused), strict=True):
        first.pk, first.number, first.kind, first.language = None, number, "", ""
        first.met_by_person, first.with_rules, first.without_rules = met, outcome, outcome
        first.save(force_insert=True)
    return calibration


def test_figures_of_corrections_stand_apart_on_the_page_and_in_json(client: Client) -> None:
    calibration = with_corrections()
    client.force_login(made.person("root", is_superuser=True))
    text = words(client.get(f"/status/calibrations/{calibration.pk}/").text)
    assert "Rejected by people 50 % (9 % to 91 %) 50 % (9 % to 91 %) 1 0 0" in text
    assert "Accepted by people, refused 100 % (21 % to 100 %)" in text
    assert "Sound results refused 0 % (0 % to 66 %)" in text
    assert "on average in 4 verdicts: the distance between" in text
    assert "7 of 7" in words(client.get("/status/calibrations/").text)
    figures: Any = as_json(result_of(calibration))
    assert figures["corrections"]["rejected"]["caught"]["share"] == 0.5
    assert figures["corrections"]["accepted_refused"]["of"] == 1
    assert (figures["sound_refused"]["of"], figures["cases"], figures["judged"]) == (2, 7, 7)


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_corrections_change_neither_the_catch_rate_nor_the_agreement() -> None:
    every: dict[str, Any] = {"size": len(FaultKind), "kinds": list(FaultKind)}
    calibration, other = with_corrections(**every), with_corrections(model="other", **every)
    (agreement,) = agreements(result_of(calibration))
    assert (agreement.other, agreement.same.total) == (other, 2 * len(FaultKind))
    for rate in catch_rates():
        assert (rate.cases, rate.caught.total, rate.refused.count, rate.refused.total) == (22, 11, 0, 11)


def test_an_administrator_sees_how_many_there_are_and_starts_with_them(client: Client) -> None:
    client.force_login(made.person("root", is_superuser=True))
    assert "from your own runs" not in client.get("/status/calibrations/").text
    case = kept(corrected())
    page = client.get("/status/calibrations/").text
    assert "With 1 case from your own runs" in page
    assert "Kestrel" not in page
    form = {"verb": "start", "verifier": MODEL, "size": "1", "kinds": ["stub"], "languages": ["en"], "seed": "1"}
    client.post("/status/calibrations/", form)
    assert Calibration.objects.get().corrections is None
    Calibration.objects.update(status=CalibrationStatus.FINISHED, ended_at=timezone.now())
    client.post("/status/calibrations/", form | {"corrections": "on"})
    assert Calibration.objects.latest("pk").corrections == [case.pk]
