"""The field for missing files at a gate: when it is there, what it says, and what its answers are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from runs.enums import GateKind, GateStatus, Verb
from runs.models import Gate, Run
from tests import factories as made
from tests.documents.archives import zipped

pytestmark = pytest.mark.django_db


def asking_for_annex() -> Run:
    return made.awaiting_plan(made.plan(made.plan_step("s1", "Compare", inputs=["annex-b.md"])))


def send(client: Client, gate: Gate, name: str = "annex-b.md", content: bytes = b"40 euros", **more: Any) -> Any:
    address = f"/runs/{gate.run_id}/gates/{gate.pk}/files/"
    return client.post(address, {"files": SimpleUploadedFile(name, content), **more})


def page(client: Client, run: Run) -> str:
    return " ".join(client.get(f"/runs/{run.pk}/").text.split())


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (made.blocked, GateKind.EXHAUSTED, "Give missing files</label>"),
        (made.exhausted_gate, GateKind.EXHAUSTED, "<summary>Give a missing file</summary>"),
        (
            asking_for_annex,
            GateKind.PLAN,
            "reads <code>annex-b.md</code>, which is not among your files. If you approve without it, the work starts",
        ),
    ],
)
def test_a_given_file_leads_back_to_the_run(
    alice_client: Client, make: Callable[[], Run], kind: GateKind, said: str
) -> None:
    run = make()
    gate = made.open_gate(run, kind)
    assert said in page(alice_client, run)
    answer = send(alice_client, gate)
    assert (answer.status_code, answer["Location"]) == (302, f"/runs/{run.pk}/#run-gates")
    gate.refresh_from_db()
    assert gate.status == GateStatus.SUPPLIED
    twice = send(alice_client, gate)
    assert (twice.status_code, twice["Location"]) == (302, f"/runs/{run.pk}/#run-gates")


def test_a_plan_that_lacks_no_file_has_no_field(alice_client: Client) -> None:
    assert 'class="give"' not in page(alice_client, made.awaiting_plan())


def test_the_plan_says_afterwards_which_file_was_given(alice_client: Client) -> None:
    run = asking_for_annex()
    send(alice_client, made.open_gate(run, GateKind.PLAN))
    assert "<strong>New file:</strong> alice gave annex-b.md." in page(alice_client, run)


def test_an_approval_from_the_page_before_is_refused(alice_client: Client) -> None:
    run = asking_for_annex()
    gate = made.open_gate(run, GateKind.PLAN)
    send(alice_client, gate)
    answer = alice_client.post(f"/runs/{run.pk}/gates/{gate.pk}/", {"verb": Verb.APPROVE, "digest": gate.digest})
    assert answer.status_code == 409
    assert made.open_gate(run, GateKind.PLAN).pk > gate.pk


def test_what_is_wrong_is_said_at_the_field(alice_client: Client) -> None:
    run = made.blocked()
    answer = send(alice_client, made.open_gate(run), made.SERVICE.rpartition("/")[2], b"")
    assert answer.status_code == 302
    run = made.blocked()
    answer = send(alice_client, made.open_gate(run), "contracts")
    said = " ".join(answer.text.split('<p class="form-answer bad"')[1].split("</p>")[0].split())
    assert answer.status_code == 422
    assert "cannot lie in one folder; rename the one that you give." in said
    assert "Not done." not in answer.text


def test_a_file_that_is_there_already_is_no_error(alice_client: Client) -> None:
    run = made.awaiting_plan(made.plan(made.plan_step("s1", "Compare", inputs=["annex-b.md", "annex-c.md"])))
    send(alice_client, made.open_gate(run))
    answer = send(alice_client, made.open_gate(run))
    assert answer.status_code == 200
    assert "annex-b.md is among the files already, with the same content. Nothing was changed." in answer.text
    assert made.open_gate(run).status == GateStatus.OPEN


def test_what_an_archive_lacks_is_said_though_its_other_files_are_there_already(alice_client: Client) -> None:
    run = made.awaiting_plan(made.plan(made.plan_step("s1", "Compare", inputs=["annex-b.md", "annex-c.md"])))
    archive = zipped({"b.md": b"40 euros", "../../evil.md": b"x"})
    send(alice_client, made.open_gate(run), "annexes.zip", archive)
    answer = send(alice_client, made.open_gate(run), "annexes.zip", archive)
    said = answer.text.split('<p class="form-answer"')[1].split("</p>")[0]
    assert "Nothing was changed. annexes.zip/../../evil.md was not taken." in said


def test_charlie_gets_404(client: Client) -> None:
    run = made.blocked()
    client.force_login(made.charlie())
    assert send(client, made.open_gate(run)).status_code == 404


def test_the_files_tab_shows_when_the_file_came(alice_client: Client) -> None:
    run = made.blocked()
    send(alice_client, made.open_gate(run))
    assert "annex-b.md" in alice_client.get(f"/runs/{run.pk}/files/").text
    start = alice_client.get(f"/runs/{run.pk}/files/?to=0")
    assert (start.status_code, "annex-b.md" in start.text) == (200, False)
