"""The page of those who may decide in a run."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from runs.models import Run, User
from tests import factories


def address(run: Run) -> str:
    return f"/runs/{run.pk}/people/"


def test_the_owner_adds_and_removes(alice_client: Client, charlie: User) -> None:
    run = factories.awaiting_plan()
    page = alice_client.post(address(run), {"verb": "add", "person": charlie.pk}, follow=True).text
    assert "charlie may see this run and decide in it." in page
    page = alice_client.post(address(run), {"verb": "remove", "person": factories.bob().pk}, follow=True).text
    assert "bob can no longer see this run or decide in it." in page
    assert list(run.approvers.all()) == [charlie]
    assert "Who may decide</a>: alice, charlie<" in alice_client.get(f"/runs/{run.pk}/").text


def test_an_approver_sees_who_may_decide_and_changes_nothing(client: Client, charlie: User) -> None:
    run = factories.awaiting_plan()
    client.force_login(factories.bob())
    page = client.get(address(run)).text
    assert "Only alice or an administrator can change this." in page
    assert ("charlie" in page, 'name="verb"' in page) == (False, False)
    refused = client.post(address(run), {"verb": "add", "person": charlie.pk})
    assert refused.status_code == 403
    assert "Only the person who submitted the task or an administrator can choose" in refused.text
    assert list(run.approvers.all()) == [factories.bob()]


def test_nobody_else_finds_it(charlie_client: Client, charlie: User) -> None:
    run = factories.awaiting_plan()
    answers = [
        charlie_client.get(address(run)),
        charlie_client.post(address(run), {"verb": "add", "person": charlie.pk}),
    ]
    assert [answer.status_code for answer in answers] == [404, 404]


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({}, "Choose one of the buttons."),
        ({"verb": "own"}, "Choose one of the buttons."),
        ({"verb": "add"}, "Choose a person."),
        ({"verb": "add", "person": "0"}, "This person no longer exists."),
        ({"verb": "add", "person": "9" * 40}, "This person no longer exists."),
        ({"verb": "add", "person": "x"}, "This person no longer exists."),
    ],
)
def test_what_cannot_be_done_is_said(alice_client: Client, sent: dict[str, str], problem: str) -> None:
    answer = alice_client.post(address(factories.awaiting_plan()), sent)
    assert (answer.status_code, problem in answer.text) == (422, True)


def test_it_costs_the_same_for_one_and_for_many(
    alice_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    run = factories.awaiting_plan()
    run.approvers.add(*(factories.person(name) for name in "abcd"))
    for name in "efgh":
        factories.person(name)
    with django_assert_max_num_queries(6):
        alice_client.get(address(run))
