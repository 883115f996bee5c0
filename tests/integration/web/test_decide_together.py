"""Decisions of one kind are approved together, each is recorded singly, and what needs reading is refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from runs.enums import GateStatus
from runs.models import Event, Gate, Run, User, Verdict
from tests import factories

pytestmark = pytest.mark.django_db


def send(client: Client, *runs: Run, digest: str = "") -> list[str]:
    gates = [run.gates.get(status=GateStatus.OPEN) for run in runs]
    sent: Any = client.post("/decisions/", {"gate": [f"{gate.pk}:{digest or gate.digest}" for gate in gates]})
    assert (sent.status_code, sent.headers["Location"]) == (302, "/")
    return [str(message) for message in get_messages(sent.wsgi_request)]


def open_gates() -> list[str]:
    return list(Gate.objects.open().order_by("pk").values_list("kind", flat=True))


def test_plans_are_approved_together_and_each_is_recorded_by_itself(alice_client: Client) -> None:
    runs = [factories.awaiting_plan(), factories.awaiting_plan()]
    page = alice_client.get("/").text
    assert page.count('form="together"') == 2
    assert "Each of these plans is carried out as it is." in page
    assert send(alice_client, *runs) == ["2 decisions approved, each recorded by itself."]
    assert open_gates() == []
    decided = Event.objects.filter(kind="gate_decided").order_by("run_id")
    assert [(one.run_id, one.data["by"], one.data["how"]) for one in decided] == [
        (run.pk, "alice", "bulk decision") for run in runs
    ]


def test_one_row_of_its_kind_has_no_box(alice_client: Client) -> None:
    factories.awaiting_plan()
    factories.step_gate()
    assert 'form="together"' not in alice_client.get("/").text


def test_decisions_of_different_kinds_are_not_made_together(alice_client: Client) -> None:
    runs = [factories.awaiting_plan(), factories.step_gate()]
    assert send(alice_client, *runs) == [
        "Decisions of different kinds have different consequences. Tick those of one kind."
    ]
    assert open_gates() == ["plan", "step"]


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (factories.awaiting_second_plan, "The plan is not the first of its run: read what has changed."),
        (factories.exhausted_gate, "A decision of this kind needs reading of its own."),
        (factories.error_gate, "A decision of this kind needs reading of its own."),
        (factories.budget_gate, "A decision of this kind needs reading of its own."),
        (lambda: factories.tool_gate("mail__send", {"to": "bob"}), "A decision of this kind needs reading of its own."),
    ],
)
def test_what_needs_reading_of_its_own_is_refused(alice_client: Client, made: Any, why: str) -> None:
    run = made()
    before = open_gates()
    [said] = send(alice_client, run)
    assert said == f'Not approved: <a href="/runs/{run.pk}/">{run.title}</a>. {why}'
    assert open_gates() == before


def test_a_result_with_a_doubt_is_refused_and_one_without_is_kept(alice_client: Client) -> None:
    doubtful, plain = factories.step_gate(), factories.step_gate()
    verdict = Verdict.objects.get(attempt=doubtful.gates.get(status=GateStatus.OPEN).attempt)
    verdict.results = [verdict.results[0].model_copy(update={"passed": False, "status": "fail"}), *verdict.results[1:]]
    Verdict.objects.filter(pk=verdict.pk).update(results=verdict.results)
    said = send(alice_client, doubtful, plain)
    assert said[0] == "1 decision approved, each recorded by itself."
    assert said[1].endswith("The result has unmet criteria.")


def test_another_page_than_the_one_that_was_shown_decides_nothing(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    [said] = send(alice_client, run, digest="0" * 64)
    assert "What would run has changed since this page was loaded." in said
    assert open_gates() == ["plan"]


def test_whoever_may_not_approve_cannot_do_it_here(client: Client) -> None:
    run = factories.awaiting_plan()
    client.force_login(User.objects.create_user("charlie"))
    assert send(client, run) == ["Nothing that is ticked needs your decision any more."]
    assert open_gates() == ["plan"]
