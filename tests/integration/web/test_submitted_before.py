"""A form that has become a run, and comes back: it says which, and makes another run only where one is meant."""

import re
import uuid

import pytest
from django.test import Client

from runs.models import Run
from tests import factories
from tests.integration.web.submitting import JSON, form

TOKEN = str(uuid.UUID(int=7))


def token_in(page: str, name: str = "token") -> str:
    found = re.search(rf'name="{name}" value="([^"]+)"', page)
    assert found
    return found[1]


@pytest.fixture
def sent(alice_client: Client) -> Run:
    alice_client.post("/runs/new/", form(token=TOKEN))
    return Run.objects.get()


@pytest.fixture
def page(alice_client: Client, sent: Run) -> str:
    return alice_client.get(f"/runs/new/?draft={TOKEN}").text


def test_it_says_which_run_it_became_and_shows_its_words(page: str, sent: Run) -> None:
    assert f'<strong>This became <a href="/runs/{sent.pk}/">run {sent.pk}</a>.</strong>' in page
    assert "Summarise the notes</textarea>" in page
    assert token_in(page) != TOKEN
    assert token_in(page, "became") == TOKEN
    assert 'name="another" value="on">Start another run</button>' in page


@pytest.mark.parametrize("words", ["Summarise the notes", "Summarise the notes, and shorter"])
def test_submit_makes_no_second_run(alice_client: Client, sent: Run, page: str, words: str) -> None:
    again = form(token=token_in(page), became=TOKEN, request=words)
    answer = alice_client.post("/runs/new/", again)
    assert answer.status_code == 409
    assert f"run {sent.pk}</a>." in answer.text
    assert f"{words}</textarea>" in answer.text
    told = alice_client.post("/runs/new/", again, headers=JSON)
    assert (told.status_code, told.json()) == (409, {"became": f"/runs/new/?draft={TOKEN}"})
    assert Run.objects.count() == 1


def test_another_run_is_started_where_that_is_said_and_only_once(alice_client: Client, sent: Run, page: str) -> None:
    meant = form(token=token_in(page), became=TOKEN, another="on", request="Summarise them again")
    places = {alice_client.post("/runs/new/", meant)["Location"] for _ in range(2)}
    other = Run.objects.exclude(pk=sent.pk).get()
    assert (places, other.request) == ({f"/runs/{other.pk}/"}, "Summarise them again")


def test_a_form_that_is_sent_twice_opens_its_run(alice_client: Client, sent: Run) -> None:
    """As by a double click, or after a connection that broke before the answer."""
    answers = [
        alice_client.post("/runs/new/", form(token=TOKEN, request=words))
        for words in ("Summarise the notes", "Summarise the notes\r\n")
    ]
    assert [answer["Location"] for answer in answers] == [f"/runs/{sent.pk}/"] * 2
    assert Run.objects.count() == 1


def test_other_words_under_the_same_token_are_not_dropped(alice_client: Client, sent: Run) -> None:
    answer = alice_client.post("/runs/new/", form(token=TOKEN, request="Translate the notes"))
    assert (answer.status_code, Run.objects.count()) == (409, 1)
    assert "Translate the notes</textarea>" in answer.text
    assert token_in(answer.text) != TOKEN
    meant = form(token=token_in(answer.text), became=token_in(answer.text, "became"), another="on")
    alice_client.post("/runs/new/", meant)
    assert Run.objects.count() == 2


def test_what_others_submitted_is_not_told(charlie_client: Client, sent: Run) -> None:
    page = charlie_client.get(f"/runs/new/?draft={TOKEN}").text
    assert "This became" not in page
    charlie_client.post("/runs/new/", form(became=TOKEN))
    assert Run.objects.count() == 2


def test_the_form_of_a_run_again_says_it_too(alice_client: Client) -> None:
    before = factories.finished_succeeded()
    place = f"/runs/{before.pk}/again/with/"
    alice_client.post(place, form(token=TOKEN, begun="on"))
    made = Run.objects.exclude(pk=before.pk).get()
    page = alice_client.get(f"{place}?draft={TOKEN}").text
    assert f">run {made.pk}</a>." in page
    answer = alice_client.post(place, form(token=token_in(page), became=TOKEN, begun="on"), headers=JSON)
    assert (answer.status_code, answer.json()) == (409, {"became": f"{place}?draft={TOKEN}"})
    assert Run.objects.count() == 2
