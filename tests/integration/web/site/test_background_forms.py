"""Forms that the script of a page sends in the background."""

import pytest
from django.test import Client

from runs.models import Run
from tests import factories

BACKGROUND = {"X-Requested-With": "XMLHttpRequest"}


def test_a_script_is_told_where_to_go_and_the_message_waits_for_the_page(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    sent = alice_client.post(f"/runs/{run.pk}/manage/", {"verb": "rename", "title": "Leases"}, headers=BACKGROUND)
    assert (sent.status_code, sent.content, sent.headers["X-Location"]) == (204, b"", f"/runs/{run.pk}/")
    assert "Location" not in sent.headers
    assert Run.objects.get().title == "Leases"
    assert "Leases" in alice_client.get(sent.headers["X-Location"]).text.partition('id="messages"')[2][:400]


def test_an_ordinary_form_is_led_there_as_ever(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    sent = alice_client.post(f"/runs/{run.pk}/manage/", {"verb": "rename", "title": "Leases"})
    assert (sent.status_code, sent.headers["Location"]) == (302, f"/runs/{run.pk}/")
    assert "X-Location" not in sent.headers


@pytest.mark.django_db
def test_whoever_is_signed_out_is_told_so_and_not_led_away(client: Client) -> None:
    sent = client.post("/runs/1/manage/", {"verb": "archive"}, headers=BACKGROUND)
    assert (sent.status_code, sent.text) == (401, "You are signed out.")
