"""Whose turn a decision is, on its page: taken, handed on, and due."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from runs.models import Gate, Run, User
from tests import factories
from tests.integration.web.deciding import gate_of

pytestmark = pytest.mark.django_db


def assign(client: Client, gate: Gate, **sent: object) -> str:
    answer = client.post(f"/decisions/{gate.pk}/assign/", {"seen": gate.assigned_to_id or "", **sent}, follow=True)
    return answer.text


def shared() -> Gate:
    run = factories.awaiting_plan()
    factories.share(run, factories.bob())
    return gate_of(run)


def test_it_is_handed_on_and_taken_back(alice_client: Client) -> None:
    client = Client()
    client.force_login(factories.bob())
    gate = shared()
    page = alice_client.get(f"/runs/{gate.run_id}/").text
    assert f'<option value="{factories.bob().pk}">bob</option>' in page
    assert "The decision is assigned to bob now." in assign(alice_client, gate, to=factories.bob().pk)
    gate.refresh_from_db()
    assert gate.assigned_to == factories.bob()
    assert "The decision is yours now." in assign(alice_client, gate, to="me")
    assert "The decision was handed on meanwhile: it is assigned to alice now." in assign(client, gate, to="me")
    page = client.get(f"/runs/{gate.run_id}/history/").text
    assert "</span> handed it on to bob." in page
    assert "</span> took the decision on." in page


def test_who_has_it_already_is_not_offered_to_take_it(alice_client: Client) -> None:
    client = Client()
    client.force_login(factories.bob())
    gate = shared()

    def offer(browser: Client, **query: str) -> str:
        text = browser.get(f"/runs/{gate.run_id}/", query).text
        (found,) = re.findall(r'data-assigned-to="alice"([^>]*)>', text)
        assert "Take it" in text
        return str(found).strip()

    assert (offer(alice_client), offer(client)) == ("hidden", "")
    # What is rendered once for both says whose turn it is, and gate.js hides it.
    assert {offer(browser, part="gates") for browser in (alice_client, client)} == {""}


@pytest.mark.parametrize("to", ["", "0", "-1", "9" * 30, "you", "1; DROP TABLE runs_gate", "<b>"])
def test_what_is_no_person_is_refused_with_a_sentence(alice_client: Client, to: str) -> None:
    gate = shared()
    text = assign(alice_client, gate, to=to)
    assert any(words in text for words in ("Choose one of the people", "Choose whose turn", "may not make", "long"))
    gate.refresh_from_db()
    assert gate.assigned_to == factories.alice()


def test_who_may_not_see_the_run_is_told_nothing(client: Client) -> None:
    gate = shared()
    client.force_login(User.objects.create_user("charlie"))
    assert client.post(f"/decisions/{gate.pk}/assign/", {"to": "me"}).status_code == 404


def test_nobody_who_may_not_decide_gets_it(alice_client: Client) -> None:
    gate = shared()
    assert "charlie may not make this decision" in assign(alice_client, gate, to=factories.charlie().pk)


def test_a_page_for_one_person_says_nothing_of_turns(alice_client: Client) -> None:
    run = factories.planning()
    run.shares.all().delete()
    factories.propose(run)
    assert "gate-turn" not in alice_client.get(f"/runs/{run.pk}/").text


def test_the_end_of_the_limit_is_shown_and_overdue_is_a_word(alice_client: Client) -> None:
    run = factories.awaiting_plan(end_hours=24)
    due = datetime(2096, 12, 3, 15, tzinfo=UTC)
    Gate.objects.filter(run=run).update(due_at=due)
    page = " ".join(alice_client.get(f"/runs/{run.pk}/").text.split())
    assert 'due <time datetime="2096-12-03T15:00:00+00:00">3 December 2096, 15:00 UTC</time>' in page
    Gate.objects.filter(run=run).update(due_at=timezone.now() - timedelta(hours=1))
    assert '<strong class="bad">overdue</strong> since' in alice_client.get(f"/runs/{run.pk}/").text


def test_the_number_of_queries_does_not_grow_with_people(alice_client: Client) -> None:
    gate = shared()
    address = f"/runs/{gate.run_id}/"
    few = _queries(alice_client, address)
    for number in range(30):
        factories.share(Run.objects.get(pk=gate.run_id), factories.person(f"p{number}"))
    assert _queries(alice_client, address) == few


def _queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        client.get(address)
    return len(captured)
