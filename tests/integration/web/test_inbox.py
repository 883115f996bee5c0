"""The inbox."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from runs.enums import RunStatus
from runs.models import Run, User
from tests import factories


def test_the_first_time_it_offers_the_samples(no_model: None, alice_client: Client) -> None:
    text = alice_client.get("/").text
    assert "Try it: three sample contracts" in text
    assert "Offline rules, no AI" in text


def test_an_open_question_leads_to_its_gate(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    text = alice_client.get("/").text
    gate = run.gates.get()
    assert f'href="/runs/{run.pk}/#gate-{gate.pk}"' in text
    assert "(1) Inbox" in text


def test_a_working_run_shows_its_steps_and_last_event(alice_client: Client) -> None:
    factories.failed_attempt()
    text = alice_client.get("/").text
    assert "1 of 3 steps" in text
    assert "Attempt 2 at “review” began." in text


def test_a_finished_run_shows_outcome_and_cost(alice_client: Client) -> None:
    factories.finished_partial()
    text = alice_client.get("/").text
    assert 'data-status="partial"' in text
    assert "$0.331" in text


def test_bob_sees_what_he_approves_and_charlie_nothing(client: Client, bob: User, charlie: User) -> None:
    run = factories.awaiting_plan()
    client.force_login(bob)
    assert f"/runs/{run.pk}/#gate" in client.get("/").text
    client.force_login(charlie)
    assert f"/runs/{run.pk}/" not in client.get("/").text


def test_a_refresh_is_the_sections_only(alice_client: Client) -> None:
    factories.awaiting_plan()
    text = alice_client.get("/", headers={"HX-Request": "true"}).text
    assert 'id="waits"' in text
    assert "<html" not in text


@pytest.mark.parametrize("rows", [1, 3])
def test_queries_do_not_grow_with_rows(
    alice_client: Client, rows: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(rows):
        factories.awaiting_plan()
        factories.failed_attempt()
        factories.finished_partial()
    with django_assert_num_queries(6):
        alice_client.get("/")


def test_finished_runs_come_in_pages(alice_client: Client) -> None:
    run = factories.stopped()
    Run.objects.bulk_create(
        Run(
            owner=run.owner,
            title=f"Old {number}",
            request="x",
            policy=run.policy,
            inputs=run.inputs,
            head=run.head,
            status=RunStatus.FINISHED,
            outcome="failed",
            finished_at=run.created_at,
        )
        for number in range(25)
    )
    first = alice_client.get("/").text
    assert "Page 1 of 2" in first
    assert "Page 2 of 2" in alice_client.get("/?page=2").text
    assert "Page 2 of 2" in alice_client.get("/?page=99").text
