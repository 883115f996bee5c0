"""The admin: superusers look at everything and change nothing; others find nothing, and no one signs in here."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from runs.models import Event, Gate, ModelCall, Run, ToolCall, User, WorkItem
from tests import factories as made

pytestmark = pytest.mark.django_db
LOOKED_AT = [Event, Gate, ModelCall, Run, ToolCall, User, WorkItem]


def place(model: type[Any], rest: str = "") -> str:
    return f"/admin/runs/{model.__name__.lower()}/{rest}"


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(made.person("root", is_superuser=True))
    return client


def test_whoever_has_not_signed_in_is_sent_to_the_page_for_it(client: Client) -> None:
    for page in ("/admin/", place(WorkItem), place(User, "add/")):
        answer = client.get(page, follow=True)
        assert unquote(answer.redirect_chain[-1][0]) == f"/sign-in/?next={page}"
        assert 'id="passkey_login"' in answer.text


@pytest.mark.parametrize("is_staff", [False, True])
def test_who_is_no_administrator_finds_nothing(client: Client, *, is_staff: bool) -> None:
    run = made.executing()
    client.force_login(made.person("somebody", is_staff=is_staff))
    for page in ("/admin/", place(Run), place(Run, f"{run.pk}/change/"), place(User), place(User, "add/")):
        assert client.get(page).status_code == 404
    assert client.post(place(User, "add/"), {"username": "eve", "is_superuser": "on"}).status_code == 404
    assert not User.objects.filter(username="eve").exists()


def test_being_the_owner_is_no_way_in(client: Client) -> None:
    run = made.executing()
    client.force_login(run.owner)
    assert client.get(place(Run, f"{run.pk}/change/")).status_code == 404


@pytest.mark.parametrize("model", LOOKED_AT)
def test_rows_are_looked_at_and_neither_added_nor_changed_nor_deleted(root: Client, model: type[Any]) -> None:
    made.failed_attempt()
    row = model.objects.order_by("pk").first()
    before = model.objects.values().get(pk=row.pk)
    assert root.get(place(model)).status_code == 200
    page = root.get(place(model, f"{row.pk}/change/"))
    assert page.status_code == 200
    assert 'name="_save"' not in page.text
    refused = [
        root.get(place(model, "add/")),
        root.post(place(model, "add/"), {}),
        root.post(place(model, f"{row.pk}/change/"), {"status": "done"}),
        root.post(place(model, f"{row.pk}/delete/"), {"post": "yes"}),
        root.post(place(model), {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"}),
    ]
    assert [answer.status_code for answer in refused] == [403, 403, 403, 403, 200]  # the list has no such action
    assert model.objects.values().get(pk=row.pk) == before


def test_what_a_run_was_asked_to_obey_and_how_it_was_judged_is_shown_as_json(root: Client) -> None:
    page = root.get(place(Run, f"{made.finished_partial().pk}/change/")).text
    assert "&quot;plan_approval&quot;: &quot;always&quot;" in page
    assert "&quot;stage&quot;: " in page


def test_a_lease_is_found_by_its_owner(root: Client) -> None:
    work = made.executing().work.open().get()
    WorkItem.objects.filter(pk=work.pk).update(lease_owner="host-a/17/3")
    link = f'href="/admin/runs/workitem/{work.pk}/change/'
    assert link in root.get(place(WorkItem) + "?q=host-a").text
    assert link not in root.get(place(WorkItem) + "?q=host-b").text


@pytest.mark.slow
@pytest.mark.parametrize("model", LOOKED_AT)
def test_a_list_costs_the_same_for_one_run_and_for_three(
    root: Client, model: type[Any], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        made.failed_attempt()
    with django_assert_max_num_queries(7):
        root.get(place(model))


def test_signing_out_there_is_signing_out_here(root: Client) -> None:
    assert root.post("/admin/logout/")["Location"] == "/sign-in/"
    assert root.get("/admin/").status_code == 302


def test_only_superusers_are_shown_the_way(root: Client) -> None:
    assert 'href="/admin/"' in root.get("/").text
    root.force_login(made.alice())
    assert 'href="/admin/"' not in root.get("/").text
