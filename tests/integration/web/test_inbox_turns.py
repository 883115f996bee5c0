"""The inbox by whose turn decisions are and when they are due, and its order with many of them."""

from __future__ import annotations

import random
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from runs.enums import Show
from runs.models import Gate, Run, User
from runs.readmodel import run_queries
from runs.readmodel.run_queries import Filters, Sort
from tests import factories
from tests.integration.web.deciding import gate_of

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def listed(client: Client, address: str = "/") -> list[int]:
    return [int(key) for key in re.findall(r'<tr id="run-(\d+)"', client.get(address).text)]


def assigned(to: User | None, group: Group | None = None) -> Run:
    run = factories.awaiting_plan()
    Gate.objects.filter(run=run).update(assigned_to=to, assigned_group=group)
    return run


def test_decisions_are_filtered_by_whose_turn_they_are(alice_client: Client) -> None:
    legal, other = Group.objects.create(name="Legal"), Group.objects.create(name="Other")
    factories.alice().groups.add(legal)
    mine, bobs, nobodys = assigned(factories.alice()), assigned(factories.bob(), legal), assigned(None, other)
    assert listed(alice_client) == [mine.pk, bobs.pk, nobodys.pk]
    assert listed(alice_client, "/?assigned=me") == [mine.pk]
    assert listed(alice_client, "/?assigned=groups") == [bobs.pk]
    assert listed(alice_client, "/?assigned=everyone") == [mine.pk, bobs.pk, nobodys.pk]
    page = alice_client.get("/?assigned=me").text
    assert ">assigned to me" in page
    assert "There is no such assigned to filter by" in alice_client.get("/?assigned=%3Cb%3E").text


def test_a_row_says_whose_turn_it_is_and_when_it_is_due_or_overdue_in_words(alice_client: Client) -> None:
    run = assigned(factories.bob())
    now = timezone.now()
    Gate.objects.filter(run=run).update(due_at=now + timedelta(days=400))
    page = " ".join(alice_client.get("/").text.split())
    assert "assigned to bob · due <time" in page
    Gate.objects.filter(run=run).update(due_at=now - timedelta(hours=1), assigned_to=factories.alice())
    page = " ".join(alice_client.get("/").text.split())
    assert ("assigned to" in page.split('id="run-')[1], '<strong class="bad">overdue</strong> since <time' in page) == (
        False,
        True,
    )


def test_what_is_due_first_comes_first(alice_client: Client) -> None:
    now, runs = timezone.now(), [factories.awaiting_plan() for _ in range(4)]
    for run, hours in zip(runs, (None, 5, 1, 3), strict=True):
        Gate.objects.filter(run=run).update(due_at=hours and now + timedelta(hours=hours))
    order = [runs[2].pk, runs[3].pk, runs[1].pk, runs[0].pk]
    assert listed(alice_client, "/?sort=due") == order
    assert listed(alice_client, "/?show=all&sort=due") == order
    first = alice_client.get("/next/").headers["Location"]
    assert first.startswith(f"/runs/{order[0]}/")


def test_pages_of_gates_have_the_order_of_the_runs_that_wait(alice: User) -> None:
    """The quick way from the oldest gate on, against the plain one: with several gates, snoozed and second ones."""
    chance, now = random.Random(1), timezone.now()
    for _ in range(12):
        run = factories.awaiting_plan()
        factories.share(run, factories.bob())
        gate = gate_of(run)
        Gate.objects.filter(pk=gate.pk).update(
            opened_at=now - timedelta(hours=chance.randrange(5)), second_person=chance.random() < 0.3
        )
        for _ in range(chance.randrange(3)):
            other = Gate.objects.create(run=run, kind="error", digest="d", question="?")
            Gate.objects.filter(pk=other.pk).update(opened_at=now - timedelta(hours=chance.randrange(5)))
    gates = list(Gate.objects.values_list("pk", flat=True))
    for user in (alice, factories.bob(), factories.person("root", is_superuser=True), factories.charlie()):
        for put_off in ([], chance.sample(gates, 5)):
            for filters in (Filters(), Filters(snoozed=True), Filters(words=("contract",)), Filters(words=("none",))):
                given = (user, Show.MINE, filters, Sort.WAITING, put_off)
                plain = [run.pk for run in run_queries.runs_of_list(*given)]
                assert list(run_queries.keys_of_list(*given)) == plain


def test_the_inbox_has_as_many_queries_with_many_gates_as_with_two(alice_client: Client) -> None:
    assigned(factories.bob())
    assigned(factories.bob())
    few = _queries(alice_client)
    for _ in range(6):
        assigned(factories.bob())
    assert _queries(alice_client) == few


def _queries(client: Client) -> int:
    with CaptureQueriesContext(connection) as captured:
        client.get("/")
    return len(captured)
