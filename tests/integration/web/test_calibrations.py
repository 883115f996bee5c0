"""The pages of calibrations: starting, stopping and resuming one, and what it has shown."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from runs.calibration.calibrations import address_of, prompt_and_rules
from runs.calibration.results import results_of
from runs.enums import CalibrationStatus, FaultKind, Language, Role
from runs.models import Calibration, User, Verdict
from runs.planted_faults.trial import RULES_VERSION
from tests import factories as made
from tests.factories.calibrations import stored_calibration

pytestmark = pytest.mark.django_db
ADDRESS = "/status/calibrations/"
FORM = {
    "verb": "start",
    "verifier": "claude-haiku-5-5",
    "size": "20",
    "budget": "1.50",
    "kinds": ["stub", "wrong_figure"],
    "languages": ["de"],
    "seed": "4",
}

EARLIER = [
    ({"prompt": "earlier"}, "The prompt of verifiers has changed since."),
    ({"rules": "earlier"}, "The rules that verdicts are judged by have changed since."),
]
"""What a calibration was measured with before, and what is said about it."""


@pytest.fixture
def root(client: Client) -> User:
    who = made.person("root", is_superuser=True)
    client.force_login(who)
    return who


def words(text: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def test_the_form_begins_with_the_verifier_of_new_runs_and_an_estimate(client: Client, root: User) -> None:
    page = client.get(ADDRESS)
    assert 'value="claude-haiku-5-5"' in page.text
    assert re.search(r"Estimate: 200 cases, \d\d\d to 1,600 questions, \$0\.\d\d to \$\d\.\d\d\.", page.text)
    assert "No verifier was measured yet." in page.text
    assert Calibration.objects.count() == 0


def test_an_estimate_starts_nothing_and_keeps_what_was_typed(client: Client, root: User) -> None:
    page = client.post(ADDRESS, FORM | {"verb": "estimate"})
    assert (page.status_code, Calibration.objects.count()) == (200, 0)
    assert "Estimate: 40 cases" in page.text
    assert 'value="1.50"' in page.text


def test_start_stores_what_was_chosen_for_a_worker(client: Client, root: User) -> None:
    answer = client.post(ADDRESS, FORM)
    row = Calibration.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"{ADDRESS}{row.pk}/")
    assert (row.model, row.size, row.budget, row.seed, row.by) == ("claude-haiku-5-5", 20, Decimal("1.50"), 4, root)
    assert (row.kinds, row.languages) == ([FaultKind.WRONG_FIGURE, FaultKind.STUB], [Language.GERMAN])
    assert row.status == CalibrationStatus.RUNNING
    page = client.get(answer["Location"]).text
    assert "0 of 40 cases, $0.00 spent of $1.50. You can leave this page." in words(page)
    assert 'hx-trigger="every 2s"' in page


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"size": "0"}, "greater than or equal to 1"),
        ({"kinds": []}, "Choose at least one kind of fault."),
        ({"kinds": ["typo"]}, "typo"),
        ({"languages": []}, "Choose at least one language."),
        ({"verifier": "qwen3-4b"}, "has no known price, so a budget cannot be kept."),
        ({"budget": "lots"}, "Enter a number."),
        ({"verb": "other"}, "Choose one of the buttons."),
    ],
)
def test_what_cannot_be_measured_is_refused(
    client: Client, root: User, changed: dict[str, str | list[str]], problem: str
) -> None:
    page = client.post(ADDRESS, FORM | changed)
    assert (page.status_code, Calibration.objects.count()) == (422, 0)
    assert problem in page.text


def test_only_one_runs_at_a_time(client: Client, root: User) -> None:
    stored_calibration(judged=3, status=CalibrationStatus.RUNNING, ended_at=None)
    page = client.post(ADDRESS, FORM)
    assert page.status_code == 422
    assert "is running. Wait until it has ended, or stop it." in page.text


def test_the_result_has_shares_with_intervals_and_a_diagram(client: Client, root: User) -> None:
    row = stored_calibration(missed=1)
    page = client.get(f"{ADDRESS}{row.pk}/").text
    text = words(page)
    assert "Faults caught 90 % 9 of 10; between 60 % and 98 % with 95 % certainty" in text
    assert "Wrong figure 80 % (38 % to 96 %) 80 % (38 % to 96 %) 1 0 0" in text
    assert "Stub 100 % (57 % to 100 %) 100 % (57 % to 100 %) 0 0 0" in text
    assert "All faults 90 % (60 % to 98 %) 90 % (60 % to 98 %) 1 0 0" in text
    assert "Sound results refused 0 % (0 % to 28 %)" in text
    assert "Confidence off by 5 % on average in 20 verdicts: the distance between how sure it said it was" in text
    assert '<circle class="point" cx="90.0" cy="5.0" r="6.0">' in page
    assert "90 to 100 % 20 90 % 95 %" in text
    assert "“Without the rules” is what the verifier says by itself: only checks of the result count" in text
    assert "hx-trigger" not in page
    assert "Old." not in text


@pytest.mark.parametrize(("changed", "sentence"), EARLIER)
def test_figures_of_an_earlier_prompt_or_of_other_rules_are_marked_as_old(
    client: Client, root: User, changed: dict[str, Any], sentence: str
) -> None:
    row = stored_calibration(**changed)
    assert f"Old. {sentence} These figures" in words(client.get(f"{ADDRESS}{row.pk}/").text)
    assert '<span class="badge">old</span>' in client.get(ADDRESS).text


def test_the_database_counts_cases_that_are_alike(
    client: Client, root: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    many, none = stored_calibration(size=50, missed=3), stored_calibration(judged=0)
    with django_assert_num_queries(1):
        result, empty = results_of([many, none])
    assert (result.judged, result.faults.caught.count, result.sound.refused.total) == (100, 47, 50)
    assert len(result.groups) == 5, "two kinds, let through or caught, and the sound ones"
    assert (result.verdicts, result.cost_per_verdict, result.ms_per_verdict) == (200, Decimal("0.001"), 1_200)
    assert (empty.judged, empty.cost) == (0, Decimal(0))
    many.cases.filter(number=7).update(cost_usd=None)
    assert results_of([many])[0].cost is None


def test_while_it_runs_the_page_does_not_read_each_case(client: Client, root: User) -> None:
    row = stored_calibration(missed=0, status=CalibrationStatus.RUNNING, ended_at=None)
    stored_calibration("claude-haiku-4-5", missed=2)
    address = f"{ADDRESS}{row.pk}/"
    assert "Agreement with other verifiers" not in client.get(address).text
    Calibration.objects.filter(pk=row.pk).update(status=CalibrationStatus.FINISHED)
    assert "Agreement with other verifiers" in client.get(address).text


def test_verifiers_that_judged_the_same_cases_are_compared(client: Client, root: User) -> None:
    row, other = stored_calibration(missed=0), stored_calibration("claude-haiku-4-5", missed=2)
    stored_calibration("another-seed", seed=2)
    stored_calibration("another-prompt", prompt="earlier")
    stored_calibration("other-rules", rules="earlier")
    stored_calibration("other-kinds", kinds=[FaultKind.STUB])
    stored_calibration(other.model, seed=2)
    text = words(client.get(f"{ADDRESS}{row.pk}/").text)
    assert f"{other.model} 90 % (70 % to 97 %) 0.80" in text
    assert not re.search("another-seed|another-prompt|other-rules|other-kinds", text)


def test_a_running_one_is_stopped_and_resumed_with_another_budget(client: Client, root: User) -> None:
    row = stored_calibration(judged=7, status=CalibrationStatus.RUNNING, ended_at=None, budget="1.00")
    client.post(f"{ADDRESS}{row.pk}/", {"verb": "stop"})
    row.refresh_from_db()
    assert row.status == CalibrationStatus.STOPPED
    assert "7 of 20 cases" in words(client.get(f"{ADDRESS}{row.pk}/").text)
    again = client.post(f"{ADDRESS}{row.pk}/", {"verb": "stop"}, follow=True)
    assert "It had ended already." in again.text
    client.post(f"{ADDRESS}{row.pk}/", {"verb": "resume", "budget": "2.50"})
    row.refresh_from_db()
    assert (row.status, row.budget) == (CalibrationStatus.RUNNING, Decimal("2.50"))


def test_to_resume_needs_a_budget_that_is_not_spent_and_enough_is_offered(client: Client, root: User) -> None:
    row = stored_calibration(judged=7, status=CalibrationStatus.STOPPED, budget="1.00", spent_usd="1.00")
    address = f"{ADDRESS}{row.pk}/"
    assert 'value="2.86"' in client.get(address).text
    page = client.post(address, {"verb": "resume", "budget": "1.00"})
    assert (page.status_code, "$1.00 is spent already. The total budget has to be higher." in page.text) == (422, True)
    row.refresh_from_db()
    assert row.status == CalibrationStatus.STOPPED
    Calibration.objects.filter(pk=row.pk).update(budget="5.00")
    assert 'value="5.00"' in client.get(address).text


def test_what_is_finished_is_not_resumed(client: Client, root: User) -> None:
    row = stored_calibration()
    page = client.post(f"{ADDRESS}{row.pk}/", {"verb": "resume"})
    assert page.status_code == 422
    assert "This calibration is not stopped." in page.text


def test_without_a_model_the_page_says_that_offline_rules_are_measured(
    client: Client, root: User, no_model: None
) -> None:
    text = words(client.get(ADDRESS).text)
    assert "No model is connected. The offline rules judge only the document review" in text
    assert 'value="offline-verifier"' in client.get(ADDRESS).text


def test_a_verdict_says_what_its_verifier_catches(client: Client, root: User) -> None:
    run = made.step_gate()
    step = Verdict.objects.filter(stage="model", attempt__step__plan__run=run)[0].attempt.step
    model, address = run.policy.model_for(Role.VERIFIER).model, f"/runs/{run.pk}/steps/{step.pk}/"
    assert "of planted faults" not in client.get(address).text
    every: dict[str, Any] = {"size": 22, "kinds": list(FaultKind)}
    stored_calibration("another-verifier", **every)
    stored_calibration(model)
    stored_calibration(model, size=10, kinds=list(FaultKind))
    assert "of planted faults" not in client.get(address).text, "not all kinds were measured"
    stored_calibration(model, missed=11, **every)
    stored_calibration(model, missed=0)
    found = re.search(rf"{model} catches [^<]*", client.get(address).text)
    day = f"{timezone.localtime():%-d %b %Y}"
    assert found
    assert found[0] == f"{model} catches 50 % of planted faults, 50 % of wrong figures (calibrated {day}, 44 cases)."
    stored_calibration(model, missed=0, address="https://elsewhere.example", **every)
    text = client.get(address).text
    assert f"{model} at https://elsewhere.example catches 100 %" in text
    assert f"{model} at {address_of(model)} catches 50 %" in text
    assert f"{model} at https://elsewhere.example" in words(client.get("/metrics/").text)
    Calibration.objects.filter(address="https://elsewhere.example").delete()
    for changed, sentence in EARLIER:
        Calibration.objects.update(**{"prompt": prompt_and_rules(), "rules": RULES_VERSION} | changed)
        assert f"44 cases). {sentence}" in client.get(address).text
