"""The inbox: every run in one list once, in a number of queries that does not grow."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from runs.enums import GateKind, GateStatus, Verb
from runs.lifecycle import gate_decisions
from runs.lifecycle.gates.gate_type import Decision
from runs.models import Gate, Run, User
from runs.models.runs import FileNames, Revision
from tests import factories
from tests.factories.crowd import crowd


def page(client: Client, **asked: str) -> str:
    answer = client.get("/", asked)
    assert answer.status_code == 200
    return unescape(answer.text)


def rows(text: str) -> list[int]:
    return [int(number) for number in re.findall(r'<tr id="run-(\d+)">', text)]


def counts(text: str) -> list[int]:
    return [int(number.replace(",", "")) for number in re.findall(r'<span class="count">([\d,]+)</span>', text)]


# ---- the lists ------------------------------------------------------------------------------------------------------


def test_the_first_time_it_offers_the_samples(no_model: None, alice_client: Client) -> None:
    text = page(alice_client)
    assert "Try it: three sample contracts" in text
    assert "Offline rules, no AI" in text


@pytest.mark.slow
@pytest.mark.services
def test_every_run_is_in_one_list_once_and_in_all(alice_client: Client) -> None:
    waiting, working, done = factories.awaiting_plan(), factories.failed_attempt(), factories.finished_partial()
    lists = {show: rows(page(alice_client, show=show)) for show in ("mine", "running", "finished", "all")}
    assert lists == {
        "mine": [waiting.pk],
        "running": [working.pk],
        "finished": [done.pk],
        "all": [done.pk, working.pk, waiting.pk],
    }
    assert counts(page(alice_client)) == [1, 1, 1, 3]


def test_a_question_is_asked_in_a_few_words_and_leads_to_its_gate(alice_client: Client) -> None:
    plan, step, exhausted = factories.awaiting_plan(), factories.step_gate(), factories.exhausted_gate()
    text = page(alice_client)
    assert "(3) Needs your decision · pevsite" in text
    assert re.search(r'rel="icon" [^>]*href="/static/icons/waits', text)
    assert rows(text) == [plan.pk, step.pk, exhausted.pk], "who waits longest comes first"
    for run, words in (
        (plan, "Approve this plan?"),
        (step, "Accept “Review the clauses”?"),
        (exhausted, "“Review the clauses” did not pass in 2 attempts. Accept it with open points?"),
    ):
        assert f'href="/runs/{run.pk}/#gate-{run.gates.open().get().pk}"' in text
        assert words in text


def test_a_run_with_two_open_questions_is_counted_once(alice_client: Client) -> None:
    run = factories.step_gate()
    other = run.plans.get().steps.exclude(gates__status=GateStatus.OPEN).first()
    Gate.objects.create(run=run, kind=GateKind.STEP, step=other, digest="0" * 64, question="Accept it?")
    assert run.gates.open().count() == 2
    assert counts(page(alice_client)) == [1, 0, 0, 1]


def test_a_gate_that_somebody_else_has_to_approve_is_not_mine(client: Client, alice: User, bob: User) -> None:
    run = factories.awaiting_plan(second_person=True)
    client.force_login(alice)
    assert rows(page(client)) == []
    text = page(client, show="running")
    assert rows(text) == [run.pk]
    assert "Needs a decision by bob: Approve this plan?" in text
    client.force_login(bob)
    assert rows(page(client)) == [run.pk]


def test_a_gate_about_an_error_is_mine_also_where_results_need_a_second_person(alice_client: Client) -> None:
    run = factories.error_gate()
    Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(second_person=True))
    text = page(alice_client)
    assert rows(text) == [run.pk]
    assert "Try again? The model's service (api.anthropic.com) refused the API key (401)." in text


@pytest.mark.services
def test_bob_decides_where_he_is_named_and_charlie_sees_nothing(client: Client, bob: User, charlie: User) -> None:
    run = factories.awaiting_plan()
    client.force_login(bob)
    assert rows(page(client)) == [run.pk]
    client.force_login(charlie)
    assert "Start your first task" in page(client)
    assert rows(page(client, show="all", q=run.title.split()[0])) == []


def test_a_working_run_shows_its_steps_and_what_happened_last(alice_client: Client) -> None:
    factories.failed_attempt()
    text = page(alice_client, show="running")
    assert "1 of 3" in text
    assert "Attempt 2 at “Review the clauses” began." in text


def test_a_finished_run_shows_outcome_open_points_and_cost(alice_client: Client) -> None:
    factories.finished_partial()
    text = page(alice_client, show="finished")
    assert 'data-status="partial"' in text
    assert re.search(r"Partial, \d open points?: ", text)
    assert "$0.331" in text


@pytest.mark.services
def test_several_questions_of_a_run_are_one_row(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    work = run.work.create(kind="plan", status="done", due_at=run.created_at)
    run.gates.create(kind=GateKind.ERROR, work=work, digest="d" * 64, question="The service refused.")
    text = page(alice_client)
    assert rows(text) == [run.pk]
    assert "Approve this plan? · 1 more decision" in text


def test_what_was_decided_leaves_the_list_and_the_title(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    gate = run.gates.open().get()
    gate_decisions.decide(gate.pk, run.owner, Decision(Verb.APPROVE, gate.digest))
    text = page(alice_client)
    assert "<title>Needs your decision · pevsite</title>" in text
    assert re.search(r'rel="icon" [^>]*href="/static/icons/favicon', text)
    assert "Nothing needs your decision" in text
    assert "1 running" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("show", "says"),
    [
        ("running", "Nothing is running"),
        ("mine", "Nothing needs your decision"),
        ("finished", "No run has finished yet"),
        ("finished&q=nowhere", "No runs match"),
    ],
)
def test_an_empty_list_says_what_to_do_next(alice_client: Client, show: str, says: str) -> None:
    factories.failed_attempt() if show.startswith("finished") else factories.finished_partial()
    assert says in alice_client.get(f"/?show={show}").text


# ---- pages ----------------------------------------------------------------------------------------------------------


def test_the_whole_state_is_in_the_address_of_every_link(alice_client: Client, alice: User) -> None:
    crowd(alice, 90, open_gates=0, running=0)
    text = page(alice_client, show="finished", q="review", sort="title", page="2")
    assert "Page 2 of 4" in text
    assert 'href="?q=review&show=finished&sort=title&page=1"' in text
    assert 'href="?q=review&show=mine"' in text, (
        "the tab of another list keeps the search, and begins at its first page"
    )
    assert "?show=finished&sort=title" in text, "the search is taken off alone"


@pytest.mark.slow
@pytest.mark.services
def test_pages_end_where_the_list_does(alice_client: Client, alice: User) -> None:
    crowd(alice, 90, open_gates=0, running=0)
    assert [len(rows(page(alice_client, show="all", page=number))) for number in ("1", "2", "4", "999999")] == [
        25,
        25,
        15,
        15,
    ]


# ---- what it costs --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", [{"show": show} for show in ("mine", "running", "finished", "all")] + [{"q": "review"}]
)
@pytest.mark.services
def test_queries_do_not_grow_with_runs(client: Client, alice: User, asked: dict[str, str]) -> None:
    client.force_login(alice)
    page(client, **asked)  # the session remembers which list was seen last
    numbers = set()
    for _ in range(2):
        crowd(alice, 40, open_gates=12, running=9)
        with CaptureQueriesContext(connection) as captured:
            assert rows(page(client, **asked))
        numbers.add(len(captured))
    assert len(numbers) == 1
    assert max(numbers) <= 25


def test_a_refresh_is_the_lists_alone_and_nothing_when_nothing_happened(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    live = {"HX-Request": "true"}
    first = alice_client.get("/", headers=live)
    assert rows(first.text) == [run.pk]
    assert "<html" not in first.text
    seen = live | {"If-None-Match": first.headers["ETag"]}
    with CaptureQueriesContext(connection) as captured:
        again = alice_client.get("/", headers=seen)
    assert (again.status_code, again.content, len(captured)) == (304, b"", 7)
    gate_decisions.cancel(run.pk, run.owner)
    assert alice_client.get("/", headers=seen).status_code == 200


def test_nobody_is_told_that_nothing_happened_by_what_somebody_else_has_seen(
    client: Client, alice_client: Client, charlie: User
) -> None:
    factories.awaiting_plan()
    seen = {"If-None-Match": alice_client.get("/").headers["ETag"]}
    client.force_login(charlie)
    assert client.get("/", headers=seen).status_code == 200


def test_every_outcome_has_its_words(alice_client: Client, alice: User) -> None:
    crowd(alice, 40, open_gates=0, running=0)
    text = page(alice_client, show="finished")
    assert {"Succeeded", "Stopped", "Partial, 1 open point: Step 2 was not done."} <= set(
        re.findall(r'<span class="what">\s*([^<]+?)\s*</span>', text)
    )


@pytest.mark.slow
def test_a_run_that_repeats_another_is_told_apart_by_what_it_has_otherwise(alice_client: Client) -> None:
    before = factories.finished_succeeded()
    again = factories.finished_succeeded()
    revision = Revision(
        changed=FileNames(count=1, named=("in/sales.csv",)),
        removed=FileNames(count=2, named=("secret.md", "b.md")),
        request=True,
    )
    Run.objects.filter(pk=again.pk).update(before=before, revision=revision)
    text = page(alice_client, show="all")
    assert re.findall(r'<span class="again"[^>]*>(.*?)</span>', text) == [
        f"#{before.pk} again: sales.csv, removed 2 files, the request"
    ]
    assert "secret.md" not in text
