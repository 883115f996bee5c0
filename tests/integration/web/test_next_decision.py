"""From one decision to the next one in the inbox."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client

from runs.models import Gate, Run
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def waiting() -> list[Run]:
    """Three runs that need a decision, in the order in which they have waited."""
    runs = [factories.awaiting_plan() for _ in range(3)]
    for day, run in zip((3, 1, 2), runs, strict=True):
        Gate.objects.filter(run=run).update(opened_at=datetime(2026, 5, day, tzinfo=UTC))
    return [runs[1], runs[2], runs[0]]


def place_of(run: Run) -> str:
    return f"/runs/{run.pk}/#gate-{run.gates.get().pk}-title"


def test_the_next_one_is_behind_the_last_in_the_order_of_the_inbox(alice_client: Client, waiting: list[Run]) -> None:
    ways = [alice_client.get(f"/next/?after={run.pk}").headers["Location"] for run in waiting]
    assert ways == [place_of(waiting[1]), place_of(waiting[2]), place_of(waiting[0])]
    assert alice_client.get("/next/").headers["Location"] == place_of(waiting[0])
    assert alice_client.get("/next/?after=none").headers["Location"] == place_of(waiting[0])


def test_after_a_decision_the_page_says_how_many_more_there_are(alice_client: Client, waiting: list[Run]) -> None:
    gate = waiting[0].gates.get()
    answer = alice_client.post(
        f"/runs/{waiting[0].pk}/gates/{gate.pk}/",
        {"verb": "approve", "digest": gate.digest},
        headers={"HX-Request": "true"},
    ).text
    assert f'<a href="/next/?after={waiting[0].pk}">Next decision<svg' in answer
    assert "2 more in other runs" in answer
    assert "2 more in other runs" in alice_client.get(f"/runs/{waiting[0].pk}/").text


def test_after_a_decision_one_goes_on_from_where_one_was(alice_client: Client, waiting: list[Run]) -> None:
    """The run may ask its next question already, which is the last of the list."""
    gate = waiting[1].gates.get()
    alice_client.post(f"/runs/{waiting[1].pk}/gates/{gate.pk}/", {"verb": "approve", "digest": gate.digest})
    assert alice_client.get(f"/next/?after={waiting[1].pk}").headers["Location"] == place_of(waiting[2])
    waiting[1].gates.create(kind="step", digest="0" * 64, question="Accept it?")
    assert alice_client.get(f"/next/?after={waiting[1].pk}").headers["Location"] == place_of(waiting[2])


def test_what_is_snoozed_leads_to_the_one_behind_it(alice_client: Client, waiting: list[Run]) -> None:
    alice_client.post(f"/decisions/{waiting[1].gates.get().pk}/snooze/", {"hours": 1})
    assert alice_client.get(f"/next/?after={waiting[1].pk}").headers["Location"] == place_of(waiting[2])


def test_the_next_one_follows_order_and_filter_of_the_list_that_was_seen_last(
    alice_client: Client, waiting: list[Run]
) -> None:
    oldest, newest, middle = waiting[2], waiting[1], waiting[0]
    Run.objects.filter(pk__in=[oldest.pk, newest.pk]).update(title="Lease")
    alice_client.get("/?sort=newest")
    assert alice_client.get(f"/next/?after={newest.pk}").headers["Location"] == place_of(middle)
    alice_client.get("/?q=lease")
    assert alice_client.get(f"/next/?after={newest.pk}").headers["Location"] == place_of(oldest)
    assert alice_client.get(f"/next/?after={middle.pk}").headers["Location"] == place_of(newest)
    page = " ".join(alice_client.get(f"/runs/{newest.pk}/").text.split())
    assert "1 more on your filtered list" in page
    Run.objects.filter(pk=oldest.pk).update(title="Other")
    assert alice_client.get(f"/next/?after={newest.pk}").headers["Location"] == "/?q=lease"
    assert "Nothing else on your filtered list needs your decision." in alice_client.get("/?q=lease").text


def test_without_another_decision_one_comes_back_to_the_inbox(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    assert alice_client.get(f"/next/?after={run.pk}").headers["Location"] == "/"
    assert "Nothing else needs your decision." in alice_client.get("/").text
    assert "Next decision" not in alice_client.get(f"/runs/{run.pk}/").text


def test_decisions_of_others_are_none_of_mine(alice_client: Client, waiting: list[Run]) -> None:
    Gate.objects.update(second_person=True)
    assert alice_client.get("/next/").headers["Location"] == "/"
