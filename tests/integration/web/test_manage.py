"""Renaming, archiving and deleting a run from its menu: who may, what is said, and where one comes back to."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from runs.enums import Outcome
from runs.models import DeletedRun, Run, User
from tests import factories as made


def said(answer: Any) -> list[str]:
    return [str(message) for message in get_messages(answer.wsgi_request)]


def test_the_menu_comes_with_the_page_that_one_goes_back_to(alice_client: Client) -> None:
    run = made.stopped()
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/?show=finished&page=2"}
    part = alice_client.get(f"/runs/{run.pk}/manage/", headers=headers).text
    assert "<html" not in part
    assert 'name="next" value="http://testserver/?show=finished&amp;page=2"' in part
    assert (">Archive<" in part, ">Delete…</a>" in part, " disabled" in part) == (True, True, False)


def test_a_run_that_works_is_only_renamed(alice_client: Client) -> None:
    page = alice_client.get(f"/runs/{made.executing().pk}/manage/").text
    buttons = re.findall(r"<button ([^>]*)>(Rename|Archive|Delete…)</button>", page)
    assert [(name, "disabled" in attributes) for attributes, name in buttons] == [
        ("Rename", False),
        ("Archive", True),
        ("Delete…", True),
    ]
    assert 'disabled aria-describedby="why-not-archive"' in page
    assert '<p class="hint" id="why-not-archive">Only a finished run can be archived.' in page
    assert '<p class="hint" id="why-not-delete">This run is not finished. Stop it first;' in page


def test_renaming_leads_back_and_says_so(alice_client: Client) -> None:
    run = made.executing()
    sent = {"verb": "rename", "title": "Contracts of May", "next": "http://testserver/?show=running"}
    answer = alice_client.post(f"/runs/{run.pk}/manage/", sent)
    assert (answer.status_code, answer["Location"]) == (302, "http://testserver/?show=running")
    assert said(answer) == [f"Run {run.pk} is now called “Contracts of May”."]
    assert Run.objects.get(pk=run.pk).title == "Contracts of May"


@pytest.mark.parametrize("next_", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "", "x" * 9_000])
def test_nobody_is_led_to_another_site(alice_client: Client, next_: str) -> None:
    run = made.executing()
    answer = alice_client.post(f"/runs/{run.pk}/manage/", {"verb": "rename", "title": "T", "next": next_})
    assert answer["Location"] == f"/runs/{run.pk}/"


def test_archiving_takes_a_run_off_the_lists_and_back(alice_client: Client) -> None:
    run = made.stopped()
    link = f'href="/runs/{run.pk}/"'
    for verb, listed in (("archive", False), ("restore", True)):
        alice_client.post(f"/runs/{run.pk}/manage/", {"verb": verb})
        assert (link in alice_client.get("/?show=all").text) is listed
        assert (link in alice_client.get("/?show=all&archived=1").text) is not listed


@pytest.mark.parametrize(
    ("sent", "status", "says"),
    [
        ({"verb": "rename", "title": " "}, 422, "Give the run a title."),
        ({"verb": "rename", "title": "x" * 121}, 422, "The title has 121 characters; 120 are allowed."),
        ({"verb": "burn"}, 422, "Choose one of the buttons."),
        ({"verb": "archive"}, 409, "Only a finished run can be archived."),
    ],
)
def test_what_is_refused_says_why_and_keeps_what_was_typed(
    alice_client: Client, sent: dict[str, str], status: int, says: str
) -> None:
    run = made.awaiting_plan()
    answer = alice_client.post(f"/runs/{run.pk}/manage/", sent)
    assert (answer.status_code, says in answer.text) == (status, True)
    assert f'value="{sent.get("title", run.title)}"' in answer.text


def test_an_approver_is_told_who_can_and_the_list_offers_nothing(client: Client, bob: User) -> None:
    run = made.finished_succeeded()
    made.share(run, bob)
    client.force_login(bob)
    for page in ("manage", "delete"):
        text = client.get(f"/runs/{run.pk}/{page}/").text
        assert "Only alice or an administrator can" in text
        buttons = re.findall("<button ([^>]*)>", text.split('id="main"')[1].split("</main>")[0])
        assert [one for one in buttons if 'disabled aria-describedby="why-not-rename"' not in one] == []
    assert "run-menu" not in client.get("/?show=finished").text
    assert client.post(f"/runs/{run.pk}/delete/").status_code == 403
    assert Run.objects.filter(pk=run.pk).exists()


@pytest.mark.slow
def test_deleting_is_asked_with_the_title_and_leaves_a_line(alice_client: Client) -> None:
    run = made.finished_succeeded()
    title = run.title
    page = alice_client.get(f"/runs/{run.pk}/delete/").text
    assert f"<h1>Delete “{title}”?</h1>" in page
    assert f"Delete run {run.pk}</button>" in page
    answer = alice_client.post(f"/runs/{run.pk}/delete/")
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert said(answer) == [f"Run {run.pk} “{title}” was deleted."]
    assert DeletedRun.objects.values_list("number", "outcome").get() == (run.pk, Outcome.SUCCEEDED)
    assert alice_client.get(f"/runs/{run.pk}/").status_code == 404


def test_a_run_that_cannot_be_deleted_says_why_instead_of_asking(alice_client: Client) -> None:
    run = made.executing()
    assert "Stop it first; then it can be deleted." in alice_client.get(f"/runs/{run.pk}/delete/").text
    assert alice_client.post(f"/runs/{run.pk}/delete/").status_code == 409


@pytest.mark.slow
def test_a_deleted_run_is_a_line_for_administrators_alone(client: Client, alice: User) -> None:
    run = made.finished_succeeded()
    title = run.title
    client.force_login(alice)
    client.post(f"/runs/{run.pk}/delete/")
    assert client.get("/admin/runs/deletedrun/").status_code == 404
    client.force_login(made.person("root", is_superuser=True))
    page = client.get("/admin/runs/deletedrun/").text
    assert title in page
    assert client.get(f"/admin/runs/deletedrun/{DeletedRun.objects.get().pk}/change/").status_code == 200


def test_the_list_is_new_when_a_run_was_deleted(alice_client: Client) -> None:
    made.planning()
    run = made.finished_succeeded()
    seen = {"If-None-Match": alice_client.get("/").headers["ETag"], "HX-Request": "true"}
    assert alice_client.get("/", headers=seen).status_code == 304
    alice_client.post(f"/runs/{run.pk}/delete/")
    assert alice_client.get("/", headers=seen).status_code == 200
