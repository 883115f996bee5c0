"""What a later version has written, on the pages of this one: a sentence that says what to do, never an error."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from runs.mcp_client.server_config import ServerConfig
from runs.models import Event, Run
from tests import factories as made
from tests import later

pytestmark = pytest.mark.django_db
WRITES = [
    later.later_gate,
    later.later_status,
    later.later_policy,
    later.later_effect,
    later.later_check,
    later.later_run_status,
    later.later_outcome,
    later.later_revision,
    later.later_question,
]


def rows(client: Client) -> dict[int, str]:
    """The rows of the list of all runs, by the number of the run."""
    page = client.get("/?show=all")
    assert page.status_code == 200
    found = re.findall(r'<tr id="run-(\d+)">(.*?)</tr>', page.text, re.DOTALL)
    return {int(number): " ".join(row.split()) for number, row in found}


@pytest.mark.parametrize("write", WRITES)
def test_a_run_that_uses_it_says_so_and_that_the_upgrade_is_to_be_finished(
    alice_client: Client, write: Callable[[Run], None]
) -> None:
    run = made.step_gate()
    write(run)
    page = alice_client.get(f"/runs/{run.pk}/")
    text = " ".join(page.text.split())
    assert (page.status_code, page["Retry-After"]) == (503, "10")
    assert "<h1>This needs the version after this one</h1>" in text
    assert "A later version of pevsite has written something that this one does not know (" in text
    assert "finish the upgrade by restarting the processes of the earlier version." in text


def test_lists_go_on_without_the_question(alice_client: Client) -> None:
    run, other = made.step_gate(), made.step_gate()
    later.later_gate(run)
    page = alice_client.get("/")
    assert page.status_code == 200
    assert f"/runs/{other.pk}/" in page.text


@pytest.mark.slow
@pytest.mark.parametrize("write", [later.later_run_status, later.later_outcome, later.later_revision])
def test_lists_show_a_run_whose_state_cannot_be_said(alice_client: Client, write: Callable[[Run], None]) -> None:
    run, other = made.step_gate(), made.step_gate()
    asked = rows(alice_client)[other.pk]
    write(run)
    shown = rows(alice_client)
    assert list(shown) == [other.pk, run.pk]
    assert shown[other.pk] == asked
    assert "unknown" in shown[run.pk]
    assert "A later version of pevsite works on it." in shown[run.pk]
    assert ("run-menu" in shown[run.pk], "run-menu" in shown[other.pk]) == (False, True)
    counts = re.findall(r'<span class="count">(\d+)</span>', alice_client.get("/?show=all").text)
    assert counts[-1] == "2"


@pytest.mark.slow
def test_lists_show_a_run_that_repeats_another_with_what_is_not_known(alice_client: Client) -> None:
    before, run = made.step_gate(), made.step_gate()
    Run.objects.filter(pk=run.pk).update(before=before)
    later.later_revision(run)
    assert f"#{before.pk} again" not in rows(alice_client)[run.pk]


def test_lists_go_on_without_what_a_question_is_about(alice_client: Client) -> None:
    run, other = made.step_gate(), made.step_gate()
    later.later_question(run)
    shown = rows(alice_client)
    assert ("Accept “" in shown[run.pk], "Accept “" in shown[other.pk]) == (False, True)


@pytest.mark.slow
def test_other_runs_are_as_before(alice_client: Client) -> None:
    run, other = made.step_gate(), made.step_gate()
    later.later_status(run)
    assert [alice_client.get(f"/runs/{one.pk}/").status_code for one in (run, other)] == [503, 200]


def test_a_decision_is_not_taken(alice_client: Client) -> None:
    run = made.step_gate()
    gate = made.open_gate(run)
    later.later_gate(run)
    answer = alice_client.post(f"/runs/{run.pk}/gates/{gate.pk}/", {"verb": "approve", "digest": gate.digest})
    assert answer.status_code == 503
    assert type(gate).objects.filter(pk=gate.pk).values_list("decided_at", flat=True).get() is None


def test_an_event_of_a_later_kind_is_a_line_of_the_history(alice_client: Client) -> None:
    run = made.step_gate()
    event = Event.objects.filter(run=run).latest("seq")
    later.write(event, "kind", "delegated")
    page = alice_client.get(f"/runs/{run.pk}/history/")
    assert page.status_code == 200
    assert "delegated." in page.text


def test_a_form_in_the_background_gets_the_sentence_as_json(alice_client: Client) -> None:
    run = made.step_gate()
    later.later_gate(run)
    answer = alice_client.get(f"/runs/{run.pk}/", headers={"accept": "application/json"})
    assert answer.status_code == 503
    assert answer.json()["errors"][0].startswith("A later version of pevsite has written something")


@pytest.mark.slow
@pytest.mark.parametrize("write", WRITES)
def test_the_pages_that_are_about_no_run_go_on(client: Client, settings: Any, write: Callable[[Run], None]) -> None:
    settings.MCP = {"wiki": ServerConfig(url="https://wiki.example/")}
    client.force_login(made.person("root", is_superuser=True))
    write(made.step_gate())
    pages = ("/", "/?show=all", "/status/", "/status/servers/", "/metrics/", "/runs/new/", "/people/")
    assert {page: client.get(page).status_code for page in pages} == dict.fromkeys(pages, 200)
