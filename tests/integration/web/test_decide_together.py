"""Decisions with equal consequences are approved together, each is recorded singly; others are refused."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from runs.enums import Complexity, GateStatus
from runs.models import Event, Gate, Run, Step, User, Verdict
from tests import factories

pytestmark = pytest.mark.django_db


def send(client: Client, *runs: Run, digest: str = "") -> list[str]:
    gates = [run.gates.get(status=GateStatus.OPEN) for run in runs]
    sent: Any = client.post("/decisions/", {"gate": [f"{gate.pk}:{digest or gate.digest}" for gate in gates]})
    assert (sent.status_code, sent.headers["Location"]) == (302, "/")
    return [str(message) for message in get_messages(sent.wsgi_request)]


def open_gates() -> list[str]:
    return list(Gate.objects.open().order_by("pk").values_list("kind", flat=True))


def awaiting_plan(name: str = "List the parties", **changes: Any) -> Run:
    """A first plan without high-risk steps."""
    return factories.awaiting_plan(factories.plan(factories.plan_step("list", name)), **changes)


def step_gate() -> Run:
    """A result of a step that is not of high risk."""
    run = factories.step_gate()
    Step.objects.filter(plan__run=run).update(complexity=Complexity.MEDIUM)
    return run


def ticks(client: Client) -> list[str]:
    """The groups of the rows that can be ticked."""
    return re.findall(r'name="gate" form="together".*?data-group="(.*?)"', client.get("/").text, re.DOTALL)


def test_plans_are_approved_together_and_each_is_recorded_by_itself(alice_client: Client) -> None:
    runs = [awaiting_plan(), awaiting_plan()]
    page = alice_client.get("/").text
    assert page.count('form="together"') == 2
    assert "Each run carries out this plan with its own files." in page
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


@pytest.mark.parametrize("differs", ["the text", "the policy"])
def test_plans_that_differ_are_not_approved_together(alice_client: Client, differs: str) -> None:
    runs = [awaiting_plan(), awaiting_plan("List the dates") if differs == "the text" else awaiting_plan(attempts=5)]
    assert ticks(alice_client) == []
    part = "plan" if differs == "the text" else "policy"
    assert send(alice_client, *runs) == [
        f"These decisions have different consequences: they differ in {part}. Tick those that are equal and decide the "
        "others one by one."
    ]
    assert open_gates() == ["plan", "plan"]


def test_only_equal_ones_can_be_ticked_and_input_files_may_differ(alice_client: Client) -> None:
    for _ in range(2):
        awaiting_plan()
        awaiting_plan("List the dates")
        factories.awaiting_plan()
    Run.objects.filter(pk=awaiting_plan().pk).update(inputs=factories.files_of_all_kinds().inputs)
    found = Counter(ticks(alice_client))
    assert sorted(found.values()) == [2, 3]


def test_plans_and_results_of_high_risk_are_read_one_by_one(alice_client: Client) -> None:
    plans = [factories.awaiting_plan(), factories.awaiting_plan()]
    results = [factories.step_gate(), factories.step_gate()]
    assert ticks(alice_client) == []
    assert {one.rpartition("</a>. ")[2] for one in send(alice_client, *plans)} == {"The plan has high-risk steps."}
    said = send(alice_client, *results)
    assert {one.rpartition("</a>. ")[2] for one in said[-2:]} == {"It is the result of a high-risk step."}
    assert open_gates() == ["plan", "plan", "step", "step"]


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
    doubtful, plain = step_gate(), step_gate()
    verdict = Verdict.objects.get(attempt=doubtful.gates.get(status=GateStatus.OPEN).attempt)
    verdict.results = [verdict.results[0].model_copy(update={"passed": False, "status": "fail"}), *verdict.results[1:]]
    Verdict.objects.filter(pk=verdict.pk).update(results=verdict.results)
    said = send(alice_client, doubtful, plain)
    assert said[0] == "1 decision approved, each recorded by itself."
    assert said[1].endswith("The result has unmet criteria.")


def test_another_page_than_the_one_that_was_shown_decides_nothing(alice_client: Client) -> None:
    run = awaiting_plan()
    [said] = send(alice_client, run, digest="0" * 64)
    assert "What would run has changed since this page was loaded." in said
    assert open_gates() == ["plan"]


def test_whoever_may_not_approve_cannot_do_it_here(client: Client) -> None:
    run = factories.awaiting_plan()
    client.force_login(User.objects.create_user("charlie"))
    assert send(client, run) == ["None of the ticked decisions is still needed."]
    assert open_gates() == ["plan"]
