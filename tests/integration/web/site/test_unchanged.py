"""What a browser has is answered with 304, before anything is made; never what somebody else has, or what changed."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from runs.enums import GateKind
from runs.events.kinds import Note
from runs.models import Gate, Run, User, WorkItem
from runs.store import trees
from tests import factories

OF_FINISHED = ("report.md", "report.html", "report.json", "files.zip")
OF_ANY = (
    "?part=graph",
    "plan/?part=plan",
    "steps/?part=steps",
    "files/?part=files",
    "history/?part=tree",
    "cost/?part=costs",
    "files/contracts/Service agreement.md?panel=1&start=1&end=9",
    "files/contracts/Service agreement.md?download=1",
)


def places(run: Run) -> list[str]:
    if run.status == "finished":
        return [*OF_ANY, *OF_FINISHED]
    gate = factories.open_gate(run, GateKind.STEP)
    work = WorkItem.objects.filter(run=run).earliest("pk")
    return [*OF_ANY, f"gates/{gate.pk}/how/", f"history/calls/{work.pk}/"]


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.mark.slow
@pytest.mark.parametrize("made", ["step_gate", "finished_succeeded"])
def test_what_the_browser_has_is_not_made_again(alice_client: Client, made: str) -> None:
    run = getattr(factories, made)()
    bob, charlie = signed_in(factories.bob()), signed_in(factories.charlie())
    for place in places(run):
        address = f"/runs/{run.pk}/{place}"
        first = alice_client.get(address)
        known = {"If-None-Match": first["ETag"]}
        assert (first.status_code, first["Cache-Control"]) == (200, "private, no-cache"), place
        with CaptureQueriesContext(connection) as captured:
            again = alice_client.get(address, headers=known)
        assert (again.status_code, again.content, again["Cache-Control"]) == (304, b"", "private, no-cache"), place
        assert len(captured) <= 6, place
        assert bob.get(address, headers=known).status_code == 200, place
        assert charlie.get(address, headers=known).status_code == 404, place
        assert Client().get(address, headers=known).status_code == 302, place
        factories.recorded(run.pk, Note(text="x"))
        assert alice_client.get(address, headers=known).status_code == 200, place


def test_a_file_that_is_named_by_its_hash_is_not_sent_again_whatever_happens(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    sha = trees.files_of(run.inputs)["contracts/Service agreement.md"].sha256
    address = f"/runs/{run.pk}/files/contracts/Service agreement.md?download=1&sha={sha}"
    known = {"If-None-Match": alice_client.get(address)["ETag"]}
    factories.recorded(run.pk, Note(text="x"))
    assert alice_client.get(address, headers=known).status_code == 304


@pytest.mark.django_db
def test_who_may_see_the_run_no_more_is_not_told_that_nothing_changed() -> None:
    run, bob = factories.awaiting_plan(), signed_in(factories.bob())
    for place in OF_ANY:
        known = {"If-None-Match": bob.get(f"/runs/{run.pk}/{place}")["ETag"]}
        run.shares.all().delete()
        assert bob.get(f"/runs/{run.pk}/{place}", headers=known).status_code == 404, place
        factories.share(run, factories.bob())


@pytest.mark.slow
@pytest.mark.exhaustive
def test_what_names_people_is_made_again_when_one_of_them_is_called_otherwise(alice_client: Client) -> None:
    run = factories.step_gate()
    run.shares.all().delete()
    Gate.objects.filter(run=run, kind=GateKind.PLAN).update(decided_by=factories.bob())
    for person in (factories.alice(), factories.bob()):
        known = {place: alice_client.get(f"/runs/{run.pk}/{place}")["ETag"] for place in OF_ANY}
        User.objects.filter(pk=person.pk).update(username=f"{person.username}-smith")
        for place, tag in known.items():
            answer = alice_client.get(f"/runs/{run.pk}/{place}", headers={"If-None-Match": tag})
            assert answer.status_code == 200, place
        assert alice_client.get(f"/runs/{run.pk}/{place}", headers={"If-None-Match": answer["ETag"]}).status_code == 304


@pytest.mark.parametrize("place", ["", "plan/", "history/", "report/", "files/contracts/Service agreement.md"])
def test_pages_are_kept_by_no_browser(alice_client: Client, place: str) -> None:
    answer = alice_client.get(f"/runs/{factories.awaiting_plan().pk}/{place}")
    assert (answer.has_header("ETag"), answer["Cache-Control"]) == (False, "private, no-store")


def test_a_report_of_a_run_that_goes_on_is_made_each_time(alice_client: Client) -> None:
    answer = alice_client.get(f"/runs/{factories.awaiting_plan().pk}/report.md")
    assert (answer.has_header("ETag"), answer["Cache-Control"]) == (False, "private, no-store")


def test_signing_out_empties_what_the_browser_keeps(alice_client: Client) -> None:
    assert alice_client.post("/sign-out/")["Clear-Site-Data"] == '"cache"'
