"""The tour is shown at a person's first run, until they close it, and again when they ask for it."""

from __future__ import annotations

import pytest
from django.test import Client

from runs.enums import Tour
from runs.models import User
from tests import factories
from tests.factories import alice, bob

pytestmark = pytest.mark.django_db
FORM = "/runs/new/"


def places(client: Client, address: str) -> list[str]:
    page = client.get(address).text
    return [one.partition('"')[0] for one in page.split('role="note" data-at="')[1:]]


def test_hints_are_at_the_form_and_the_pages_of_the_first_run(alice_client: Client) -> None:
    assert places(alice_client, FORM) == ["form"]
    first, second = factories.awaiting_plan(), factories.finished_succeeded()
    assert places(alice_client, FORM) == []
    assert places(alice_client, f"/runs/{first.pk}/") == ["plan", "working", "result"]
    assert places(alice_client, f"/runs/{first.pk}/report/") == ["report"]
    assert places(alice_client, f"/runs/{second.pk}/") == places(alice_client, f"/runs/{second.pk}/report/") == []


def test_it_is_closed_for_good_and_started_again(alice_client: Client) -> None:
    address = f"/runs/{factories.awaiting_plan().pk}/"
    answer = alice_client.post("/tour/", {"do": "closed", "next": address})
    assert (answer.status_code, answer.headers["Location"]) == (302, address)
    assert places(alice_client, address) == []
    alice_client.logout()
    alice_client.force_login(User.objects.get(username="alice"))
    assert places(alice_client, address) == []
    later = factories.awaiting_plan()
    answer = alice_client.post("/tour/", {"do": "started"})
    assert answer.headers["Location"] == FORM
    assert places(alice_client, FORM) == ["form"]
    assert places(alice_client, f"/runs/{later.pk}/") == ["plan", "working", "result"]


def test_it_belongs_to_one_person(client: Client) -> None:
    run = factories.awaiting_plan()
    factories.share(run, bob())
    client.force_login(bob())
    assert places(client, f"/runs/{run.pk}/") == []
    client.force_login(alice())
    client.post("/tour/", {"do": "closed"})
    assert [one.tour for one in (User.objects.get(pk=alice().pk), User.objects.get(pk=bob().pk))] == [
        Tour.CLOSED,
        Tour.FIRST_RUN,
    ]


@pytest.mark.parametrize("elsewhere", ["https://example.com/", "//example.com/", "javascript:alert(1)", ""])
def test_it_leads_to_no_other_site(alice_client: Client, elsewhere: str) -> None:
    assert alice_client.post("/tour/", {"do": "closed", "next": elsewhere}).headers["Location"] == "/"


def test_what_it_is_good_for_is_open_until_the_first_run(alice_client: Client) -> None:
    assert '<details class="fold when" open>' in alice_client.get(FORM).text
    factories.awaiting_plan()
    assert '<details class="fold when">' in alice_client.get(FORM).text


@pytest.mark.parametrize("sent", [{}, {"do": "nonsense"}])
def test_a_form_that_no_page_has_sent_is_refused_in_words(alice_client: Client, sent: dict[str, str]) -> None:
    answer = alice_client.post("/tour/", sent)
    assert answer.status_code == 400
    assert "Go back, reload the page and try again." in answer.text


@pytest.mark.parametrize("place", ["inf", "https://elsewhere.example/", "//elsewhere.example"])
def test_it_leads_to_no_place_that_is_not_on_this_site(alice_client: Client, place: str) -> None:
    assert alice_client.post("/tour/", {"do": "closed", "next": place}).headers["Location"] == "/"
