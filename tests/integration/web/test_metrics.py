"""The page of figures: whose runs, of which period, and what it says when there are none."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from runs.accounting import figures
from runs.enums import CalibrationStatus, FaultKind
from runs.models import ModelCall, Run, User, Verdict
from runs.web.operations.metrics_page import FEWEST_COLUMNS
from tests import factories
from tests.factories.calibrations import stored_calibration

ADDRESS = "/metrics/"


def aged(run: Run, days: int) -> Run:
    Run.objects.filter(pk=run.pk).update(created_at=F("created_at") - timedelta(days=days))
    return run


def tile(text: str, title: str) -> str:
    """The figure below a title."""
    return text.split(f"<dt>{title}</dt>")[1].split('<dd class="figure">')[1].split("</dd>")[0].strip()


def test_the_first_time_it_says_what_to_do_next(alice_client: Client) -> None:
    text = alice_client.get(ADDRESS).text
    assert "No figures yet" in text
    assert 'href="/runs/new/">New run</a>' in text
    assert "Passed at once" not in text


def test_every_page_leads_to_it(alice_client: Client) -> None:
    assert f'href="{ADDRESS}"' in alice_client.get("/").text
    assert f'href="{ADDRESS}" aria-current="page"' in alice_client.get(ADDRESS).text


@pytest.mark.slow
def test_it_shows_the_figures(alice_client: Client) -> None:
    factories.finished_succeeded()
    factories.finished_partial()
    text = alice_client.get(ADDRESS).text
    assert (tile(text, "Runs submitted"), tile(text, "Recovered by a retry"), tile(text, "Cost")) == (
        "2",
        "1",
        "$0.675",
    )
    assert "1 succeeded, 1 partial, 0 failed, 0 stopped, 0 not finished" in text
    assert (tile(text, "Passed at once"), tile(text, "Pass rate")) == ("67 %", "83 %")
    assert (tile(text, "Retries"), tile(text, "Accepted with open points"), tile(text, "Replans")) == ("2", "1", "0")
    assert (tile(text, "Unsupported verdicts"), tile(text, "Recovered")) == ("3", "1")
    assert "claude-sonnet-5-5" in text
    assert "70 to 80 %" in text


def test_a_verifier_that_never_says_no_is_doubted(alice_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "DOUBTED_VERDICTS", 1)
    factories.pass_inventory(factories.executing())
    assert "100 % without a retry in 1 verdicts: check that the verifier works." in alice_client.get(ADDRESS).text


@pytest.mark.slow
def test_a_person_sees_figures_of_visible_runs_only(
    client: Client, bob: User, charlie: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.finished_succeeded()
    factories.submitted(owner=charlie, approvers=[charlie])
    monkeypatch.delenv("ANTHROPIC_API_KEY")  # with it the foot of every page names models
    for person, runs in ((bob, "1"), (charlie, "1"), (factories.person("dora"), "")):
        client.force_login(person)
        text = client.get(ADDRESS).text
        assert (tile(text, "Runs submitted") if runs else "") == runs
        assert ("claude-sonnet-5-5" in text) == (person == bob)
    client.logout()
    assert client.get(ADDRESS).status_code == 302


def test_an_administrator_sees_all(client: Client, alice: User) -> None:
    factories.planning()
    client.force_login(factories.person("root", is_superuser=True))
    assert tile(client.get(ADDRESS).text, "Runs submitted") == "1"


def test_the_period_can_be_chosen(alice_client: Client) -> None:
    for days in (0, 20, 60, 400):
        aged(factories.planning(), days)
    for chosen, runs in (("", "2"), ("?days=7", "1"), ("?days=90", "3"), ("?days=all", "4"), ("?days=99'--", "2")):
        text = alice_client.get(f"{ADDRESS}{chosen}").text
        assert (chosen, tile(text, "Runs submitted")) == (chosen, runs)
        assert text.count('aria-current="page"') == 2, "the page in the header, and the period"


def test_an_empty_period_leads_to_all_of_them(alice_client: Client) -> None:
    aged(factories.planning(), 20)
    text = alice_client.get(f"{ADDRESS}?days=7").text
    assert "No run was submitted in the last 7 days" in text
    assert 'href="?days=all">All time</a>' in text


def test_a_run_that_has_just_begun_has_no_figures_to_divide(alice_client: Client) -> None:
    factories.planning()
    text = alice_client.get(ADDRESS).text
    assert (tile(text, "Passed at once"), tile(text, "Waited for a person")) == ("–", "–")
    assert "No run has finished yet." in text
    assert "No criterion has failed." in text


def charts(text: str) -> dict[str, Any]:
    """What the script draws."""
    found: dict[str, Any] = json.loads(
        text.split('<script id="charts" type="application/json">')[1].split("</script>")[0]
    )
    return found


@pytest.mark.slow
def test_charts_and_tables_say_the_same(alice_client: Client) -> None:
    aged(factories.finished_succeeded(), 2)
    factories.finished_partial()
    text = alice_client.get(f"{ADDRESS}?days=7").text
    drawn = charts(text)
    assert drawn["outcomes"]["succeeded"] == [0, 0, 0, 0, 1, 0, 0]
    assert drawn["outcomes"]["partial"] == [0, 0, 0, 0, 0, 0, 1]
    assert drawn["yield"] == [None, None, None, None, 67, None, 67]
    assert drawn["retries"] == {"recovered": [0, 0, 0, 0, 1, 0, 0], "not recovered": [0, 0, 0, 0, 0, 0, 1]}
    assert [one["name"] for one in drawn["costs"]][:2] == ["executor, claude-sonnet-5-5", "planner, claude-opus-5-5"]
    assert [one["said"] for one in drawn["confidence"]["verifier"]] == [90]
    assert drawn["failing"] == [
        {"text": "Each finding quotes the clause it is about.", "unsupported": 3, "other": 0},
        {"text": "Each finding recommends what to do.", "unsupported": 0, "other": 3},
    ]
    rows = re.findall(r'<tr><th scope="row" class="nowrap">(.*?)</th><td class="number">(\d+)</td>', text)
    assert rows[:2] == [(drawn["labels"][6], "1"), (drawn["labels"][4], "1")]


@pytest.mark.parametrize(
    ("age", "days", "columns", "label"),
    [
        (0, "7", 7, r"\d+ \w{3}"),
        (88, "90", 13, r"\d+ \w{3}"),
        (0, "all", 1, r"\d+ \w{3}"),
        (900, "all", 30, r"\w{3} \d{4}"),
    ],
)
def test_long_periods_have_columns_for_weeks_and_months(
    alice_client: Client, age: int, days: str, columns: int, label: str
) -> None:
    aged(factories.planning(), age)
    factories.planning()
    drawn = charts(alice_client.get(f"{ADDRESS}?days={days}").text)
    assert len(drawn["labels"]) in {columns, columns + 1}
    assert [one for one in drawn["labels"] if not re.fullmatch(label, one)] == []
    assert sum(drawn["outcomes"]["open"]) == (1 if age > 90 and days != "all" else 2)


@pytest.mark.parametrize(("age", "columns"), [(0, FEWEST_COLUMNS), (5, FEWEST_COLUMNS), (12, 13)])
def test_charts_leave_out_the_days_before_the_first_run(alice_client: Client, age: int, columns: int) -> None:
    aged(factories.planning(), age)
    assert len(charts(alice_client.get(f"{ADDRESS}?days=30").text)["labels"]) == columns


def test_figures_of_one_person(client: Client, alice: User) -> None:
    client.force_login(factories.person("root", is_superuser=True))
    factories.planning()
    factories.submitted(owner=factories.charlie(), approvers=[factories.alice()])
    assert tile(client.get(ADDRESS).text, "Runs submitted") == "2"
    assert tile(client.get(f"{ADDRESS}?person=charlie").text, "Runs submitted") == "1"
    assert tile(client.get(f"{ADDRESS}?person=mallory").text, "Runs submitted") == "2"


def test_what_a_model_wrote_ends_no_script(alice_client: Client) -> None:
    run = factories.finished_partial()
    verdicts = Verdict.objects.filter(attempt__step__plan__run=run, passed=False)
    for verdict in verdicts:
        verdict.results = [
            one.model_copy(update={"text": "</script><script>alert(1)</script>"}) for one in verdict.results
        ]
        verdict.save()
    text = alice_client.get(ADDRESS).text
    assert "<script>alert" not in text
    assert charts(text)["failing"][0]["text"] == "</script><script>alert(1)</script>"


@pytest.mark.slow
@pytest.mark.exhaustive
def test_where_nothing_cost_anything_that_is_said_instead_of_an_empty_chart(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    assert 'data-chart="costs"' in alice_client.get(ADDRESS).text
    run.model_calls.update(cost_usd=0)
    text = alice_client.get(ADDRESS).text
    assert ('data-chart="costs"' in text, "There are no costs yet." in text) == (False, True)
    run.model_calls.update(cost_usd=None)
    assert "No price is known for these calls." in alice_client.get(ADDRESS).text


def test_unpriced_calls_are_never_free_and_offline_work_is_told_apart_from_ai(alice_client: Client) -> None:
    calls = ModelCall.objects.filter(run=factories.finished_succeeded())
    calls.filter(role="executor").update(cost_usd=None)
    text = alice_client.get(ADDRESS).text
    assert tile(text, "Cost") == "at least $0.116, 4 unpriced"
    assert "No AI was involved" not in text
    calls.update(model="offline-executor")
    assert "No AI was involved" in alice_client.get(ADDRESS).text


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 3])
def test_queries_do_not_grow_with_runs(
    alice_client: Client, rows: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(rows):
        factories.finished_partial()
    with django_assert_num_queries(17):
        alice_client.get(ADDRESS)


def test_what_was_measured_of_verifiers_is_next_to_what_people_overruled(alice_client: Client) -> None:
    factories.finished_partial()
    assert "No verifier was calibrated with all kinds of faults yet." in alice_client.get(ADDRESS).text
    every: dict[str, Any] = {"size": 22, "kinds": list(FaultKind)}
    stored_calibration(missed=3, prompt="earlier", **every)
    stored_calibration("claude-haiku-4-5", **every)
    stored_calibration("claude-haiku-4-5", missed=5, status=CalibrationStatus.STOPPED, **every)
    stored_calibration("claude-haiku-4-5", missed=5)
    card = alice_client.get(ADDRESS).text.partition('id="verifiers-title"')[2].partition("</section>")[0]
    text = " ".join(re.sub(r"<[^>]+>", " ", card).split())
    assert "people disagree with the verdict on 0 criteria." in text
    rates = "95 % (78 % to 99 %) 50 % (9 % to 91 %) 0 % (0 % to 15 %) 44"
    assert re.search(rf"claude-haiku-4-5 \d+ \w+ \d+ {re.escape(rates)} claude-haiku-5-5 old ", text)


def test_it_can_only_be_read(alice_client: Client) -> None:
    assert alice_client.post(ADDRESS).status_code == 405
