"""The time zone of a person: chosen on their account, used on all pages, and for nobody else."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.test import Client

from runs.models import Gate, User
from runs.people.time_zones import names, zone_of
from tests import factories

pytestmark = pytest.mark.django_db
DUE = datetime(2096, 7, 3, 15, tzinfo=UTC)


def choose(client: Client, zone: str) -> str:
    return client.post("/account/time-zone/", {"zone": zone}, follow=True).text


def test_pages_show_times_in_the_zone_of_who_reads_them(alice_client: Client) -> None:
    client = Client()
    client.force_login(factories.bob())
    run = factories.awaiting_plan(end_hours=24)
    Gate.objects.filter(run=run).update(due_at=DUE)
    assert "Your time zone is stored." in choose(alice_client, "Asia/Kolkata")
    for address in (f"/runs/{run.pk}/", f"/runs/{run.pk}/?part=gates", f"/runs/{run.pk}/?part=gates"):
        assert "3 July 2096, 20:30 IST" in alice_client.get(address).text
        assert "3 July 2096, 15:00 UTC" in client.get(address).text


def test_what_a_browser_has_already_is_made_again_in_another_zone(alice_client: Client) -> None:
    run = factories.awaiting_plan(end_hours=24)
    Gate.objects.filter(run=run).update(due_at=DUE)
    for address in ("/", f"/runs/{run.pk}/?part=gates"):
        choose(alice_client, "")
        etag = alice_client.get(address).headers["ETag"]
        assert alice_client.get(address, headers={"If-None-Match": etag}).status_code == 304
        choose(alice_client, "Asia/Kolkata")
        assert alice_client.get(address, headers={"If-None-Match": etag}).status_code == 200


@pytest.mark.parametrize("zone", ["Mars/Phobos", "../../etc/passwd", "Europe", "posix/UTC", "x" * 500, "<b>"])
def test_what_is_no_zone_is_refused_and_the_old_one_stays(alice_client: Client, alice: User, zone: str) -> None:
    choose(alice_client, "Europe/Berlin")
    answer = alice_client.post("/account/time-zone/", {"zone": zone})
    assert (answer.status_code, "Not done." in answer.text) == (422, True)
    alice.refresh_from_db()
    assert alice.time_zone == "Europe/Berlin"


def test_an_empty_one_and_one_that_is_gone_are_the_installations(alice: User) -> None:
    assert zone_of(alice).key == "UTC"
    for gone in ("Mars/Phobos", "Europe", "/etc/passwd"):
        alice.time_zone = gone
        assert zone_of(alice).key == "UTC"


def test_every_zone_of_the_list_exists_and_fits_its_column() -> None:
    assert {"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"} <= set(names())
    assert all(ZoneInfo(name).key == name and len(name) <= 64 for name in names())
