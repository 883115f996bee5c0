"""A finished run is run again: with what it found before, without, or with one step done again."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from runs.enums import GateKind, Outcome
from runs.models import Run, User
from tests.factories import Submit, drain, finish, open_gate, reused
from tests.fakes.team import Team

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]


@pytest.fixture
def first(team: Team, submitted: Submit, alice: User) -> Run:
    run = finish(submitted(), alice)
    team.seen.clear()
    return run


def again(client: Client, run: Run, user: Any, **fields: Any) -> Run:
    client.force_login(user)
    page = client.get(f"/runs/{run.pk}/again/").text
    found = re.search(r'name="token" value="([^"]+)"', page)
    assert found
    answers = [client.post(f"/runs/{run.pk}/again/", {"token": found[1], **fields}) for _ in range(2)]
    assert answers[0]["Location"] == answers[1]["Location"], "a double click makes one run"
    return Run.objects.latest("pk")


def test_it_waits_for_approval_of_the_same_plan_and_takes_results_over(
    first: Run, team: Team, client: Client, alice: User
) -> None:
    run = again(client, first, alice)
    assert open_gate(run).kind == GateKind.PLAN
    assert run.plans.get().reason == f"Version 1 of run {first.pk}, once more."
    assert (run.inputs, run.request) == (first.inputs, first.request)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert reused(run) == ["one", "two"]
    assert "planner" not in team.seen
    assert "executor" not in team.seen


def test_without_reuse_everything_is_done(first: Run, client: Client, alice: User) -> None:
    assert reused(finish(again(client, first, alice, all="on"), alice)) == []


def test_one_step_is_done_again(first: Run, team: Team, client: Client, alice: User) -> None:
    run = finish(again(client, first, alice, redo=["one", "no step of this plan"]), alice)
    assert (run.policy.without_reuse, reused(run)) == (("one",), ["two"])


def test_the_page_of_a_reused_step_leads_there(first: Run, client: Client, alice: User) -> None:
    run = finish(again(client, first, alice), alice)
    step = run.plans.get().steps.get(key="two")
    assert f'href="/runs/{run.pk}/again/?redo=two"' in client.get(f"/runs/{run.pk}/steps/{step.pk}/").text
    assert 'value="two" checked' in client.get(f"/runs/{run.pk}/again/?redo=two").text


def test_before_it_starts_the_page_says_what_is_reused_and_why_not_the_rest(
    first: Run, client: Client, alice: User
) -> None:
    client.force_login(alice)
    place = f"/runs/{first.pk}/again/"
    assert "2 of 2 reused" in client.get(place).text
    assert "runs again: you asked for it" in client.get(f"{place}?redo=one").text
    looked = client.post(place, {"look": "on", "all": "on"}).text
    assert "0 of 2 reused" in looked
    assert "runs again: results are not reused" in looked
    assert Run.objects.count() == 1


def test_a_run_under_way_is_not_run_again(team: Team, submitted: Submit, client: Client, alice: User) -> None:
    run = submitted()
    drain(run)
    client.force_login(alice)
    assert client.post(f"/runs/{run.pk}/again/")["Location"] == f"/runs/{run.pk}/"
    assert Run.objects.count() == 1


def test_others_find_nothing(first: Run, client: Client, bob: User) -> None:
    client.force_login(bob)
    assert client.post(f"/runs/{first.pk}/again/").status_code == 404
