"""A decision that a person has put off is hidden in their inbox until a time, and nowhere else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from runs.enums import GateStatus
from runs.lifecycle.snoozes import snoozed_gates
from runs.models import Gate, Run, Snooze, User
from runs.readmodel import run_queries
from runs.readmodel.run_queries import Filters
from tests import factories

pytestmark = pytest.mark.django_db


def snooze(client: Client, run: Run, hours: int) -> str:
    gate = run.gates.get(status=GateStatus.OPEN)
    return str(client.post(f"/decisions/{gate.pk}/snooze/", {"hours": hours}).headers["Location"])


def test_it_is_hidden_until_the_time_and_the_inbox_says_so_with_a_link(alice_client: Client, alice: User) -> None:
    run, other = factories.awaiting_plan(), factories.awaiting_plan()
    assert snooze(alice_client, run, 4) == "/"
    page = alice_client.get("/").text
    assert (f'id="run-{run.pk}"' in page, f'id="run-{other.pk}"' in page) == (False, True)
    assert '<a href="?snoozed=1">1 snoozed</a>' in page
    hidden = alice_client.get("/?snoozed=1").text
    assert f'action="/decisions/{run.gates.get().pk}/snooze/"' in hidden
    assert (f'id="run-{run.pk}"' in hidden, f'id="run-{other.pk}"' in hidden) == (True, False)
    counts = run_queries.counts(alice, Filters(), snoozed_gates(alice))
    assert (counts.mine, counts.needed, counts.snoozed, counts.running, counts.all) == (1, 1, 1, 0, 2)
    assert f'id="run-{run.pk}"' not in alice_client.get("/?show=running").text
    Snooze.objects.update(until=timezone.now() - timedelta(seconds=1))
    page = alice_client.get("/").text
    assert (f'id="run-{run.pk}"' in page, "snoozed" in page) == (True, False)


def test_it_comes_back_at_once_if_one_wants(alice_client: Client, alice: User) -> None:
    run = factories.awaiting_plan()
    snooze(alice_client, run, 24)
    snooze(alice_client, run, 168)
    assert Snooze.objects.get().until > timezone.now() + timedelta(hours=160)
    snooze(alice_client, run, 0)
    assert run_queries.counts(alice, Filters(), snoozed_gates(alice)).mine == 1


def test_the_gate_is_as_it_was_and_others_still_see_it(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    factories.share(run, factories.bob())
    before = Gate.objects.filter(run=run).values().get()
    snooze(alice_client, run, 1)
    assert Gate.objects.filter(run=run).values().get() == before
    assert run_queries.counts(factories.bob(), Filters(), snoozed_gates(factories.bob())).mine == 1


def test_the_next_decision_is_one_that_is_not_put_off(alice_client: Client) -> None:
    first, second = factories.awaiting_plan(), factories.awaiting_plan()
    snooze(alice_client, first, 1)
    gate = second.gates.get()
    assert alice_client.get("/next/").headers["Location"] == f"/runs/{second.pk}/#gate-{gate.pk}-title"
    assert "more in other runs" not in alice_client.get(f"/runs/{second.pk}/").text


def test_only_what_waits_for_oneself_is_put_off(client: Client) -> None:
    gate = factories.awaiting_plan().gates.get()
    client.force_login(User.objects.create_user("charlie"))
    assert client.post(f"/decisions/{gate.pk}/snooze/", {"hours": 1}).status_code == 404
    assert not Snooze.objects.exists()
