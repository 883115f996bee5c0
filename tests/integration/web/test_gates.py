"""Answering gates over HTTP: once, bound to what was shown, with a clear sentence for what cannot be done."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from runs.enums import GateKind, GateStatus, Outcome, PlanStatus, RunStatus, StepStatus, Verb
from runs.models import Gate, Run, User
from tests import factories
from tests.integration.web.deciding import address, form, gate_of

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def test_approving_redirects_back_and_starts_the_run(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert (answer.status_code, answer.headers["Location"]) == (302, f"/runs/{run.pk}/#run-gates")
    run.refresh_from_db()
    assert run.status == RunStatus.EXECUTING


def test_with_htmx_the_regions_come_back(alice_client: Client) -> None:
    gate = gate_of(factories.awaiting_plan())
    answer = alice_client.post(address(gate), form(gate, "approve"), headers=HTMX)
    assert answer.status_code == 200
    assert 'id="run-gates" class="stack" hx-swap-oob="outerMorph"' in answer.text
    assert '<strong data-person="alice">alice</strong> approved version 1 of the plan' in answer.text


def test_a_rejection_takes_the_words_to_the_planner(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    alice_client.post(address(gate_of(run)), form(gate_of(run), "reject", "Leave the notices to me."))
    run.refresh_from_db()
    assert run.status == RunStatus.PLANNING
    assert run.plans.get().status == PlanStatus.REJECTED
    assert run.gates.get().reason == "Leave the notices to me."


def test_a_rejection_without_words_is_refused(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), "reject", "  "))
    assert answer.status_code == 422
    assert "Say what should be different" in answer.text
    assert gate_of(run).status == GateStatus.OPEN


@pytest.mark.parametrize("verb", ["", "yes", "APPROVE"])
def test_an_unknown_verb_keeps_the_words(alice_client: Client, verb: str) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), verb, "My words."))
    assert answer.status_code == 422
    assert "My words.</textarea>" in answer.text
    assert gate_of(run).status == GateStatus.OPEN


def test_words_without_end_are_refused(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), "reject", "x" * 20_001))
    assert answer.status_code == 422
    assert "20,000 fit" in answer.text


def test_a_stale_page_is_refused_with_the_words_kept(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.post(
        address(gate_of(run)), form(gate_of(run), "approve", "Looks good.") | {"digest": "0" * 64}
    )
    assert answer.status_code == 409
    assert "has changed since this page was loaded" in answer.text
    assert "Looks good." in answer.text
    assert gate_of(run).status == GateStatus.OPEN


def test_who_comes_second_reads_the_time_by_their_own_clock(alice: User, alice_client: Client) -> None:
    gate = factories.decide(factories.awaiting_plan(), GateKind.PLAN, Verb.APPROVE, by=factories.bob())
    Gate.objects.filter(pk=gate.pk).update(decided_at=datetime(2030, 7, 1, 12, tzinfo=UTC))
    for zone, says in (("Europe/Berlin", "2030-07-01 14:00:00 CEST."), ("", "2030-07-01 12:00:00 UTC.")):
        User.objects.filter(pk=alice.pk).update(time_zone=zone)
        answer = alice_client.post(address(gate), form(gate, "reject", "No."))
        assert f"Already decided: bob approved it at {says}" in answer.text


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_whoever_comes_second_learns_who_decided_and_keeps_the_words(
    alice_client: Client, headers: dict[str, str]
) -> None:
    run = factories.awaiting_plan()
    gate = factories.decide(run, GateKind.PLAN, Verb.APPROVE, by=factories.bob())
    answer = alice_client.post(address(gate), form(gate, "reject", "Not like this."), headers=headers)
    assert answer.status_code == 409
    assert "Already decided: bob approved it at" in answer.text
    assert "Not like this." in answer.text
    gate.refresh_from_db()
    assert (gate.status, gate.reason) == (GateStatus.APPROVED, "")


def test_a_double_click_is_harmless(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    gate = gate_of(run)
    first, second = (alice_client.post(address(gate), form(gate, "approve")) for _ in range(2))
    assert (first.status_code, second.status_code) == (302, 302)
    assert run.gates.count() == 1
    assert run.events.filter(kind="gate_decided").count() == 1


def test_stop_at_a_gate(alice_client: Client) -> None:
    run = factories.step_gate()
    alice_client.post(address(gate_of(run)), form(gate_of(run), "stop"))
    run.refresh_from_db()
    assert run.outcome == Outcome.CANCELLED


def test_a_step_is_approved_by_the_approver(client: Client) -> None:
    run = factories.step_gate()
    client.force_login(factories.bob())
    client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert run.plans.get().steps.get(key="review").status == StepStatus.PASSED


def test_a_rejected_step_is_tried_again_with_the_words(alice_client: Client) -> None:
    run = factories.step_gate()
    alice_client.post(address(gate_of(run)), form(gate_of(run), "reject", "Quote the annex too."))
    assert "Quote the annex too." in alice_client.get(f"/runs/{run.pk}/").text
    page = alice_client.get(f"/runs/{run.pk}/steps/").text
    assert "was given the critique of attempt 2" in page


def test_the_owner_is_told_that_somebody_else_has_to_let_it_start(alice_client: Client) -> None:
    run = factories.start_gate()
    Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(second_person=True))
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert answer.status_code == 409, "the policy is part of what the answer is bound to"
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert (answer.status_code, "A second person has to approve this" in answer.text) == (403, True)


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        ("approve", "approved the start of “Review the clauses”"),
        ("reject", "asked for another plan instead of the start of “Review the clauses”"),
    ],
)
def test_the_page_names_who_decided_about_a_start(alice_client: Client, verb: str, said: str) -> None:
    run = factories.start_gate()
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), verb, "Mind the annex."), headers=HTMX)
    assert (answer.status_code, f'<strong data-person="alice">alice</strong> {said}' in answer.text) == (200, True)
    history = alice_client.get(f"/runs/{run.pk}/history/?level=all").text
    assert f"{'approved' if verb == 'approve' else 'asked for another plan instead of'} the start of" in history


def test_who_is_signed_out_is_told_at_the_button(client: Client) -> None:
    gate = gate_of(factories.awaiting_plan())
    sent = client.post(address(gate), form(gate, "reject", "My words."), headers=HTMX)
    assert (sent.status_code, sent.text) == (401, "You are signed out.")
    assert client.post(address(gate), form(gate, "reject", "My words.")).status_code == 302


def test_an_exhausted_step_is_accepted_with_issues(alice_client: Client) -> None:
    run = factories.exhausted_gate()
    alice_client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert run.plans.get().steps.get(key="review").status == StepStatus.ACCEPTED


def test_a_gate_of_another_run_is_not_found(alice_client: Client) -> None:
    mine, other = factories.awaiting_plan(), factories.awaiting_plan()
    answer = alice_client.post(f"/runs/{mine.pk}/gates/{gate_of(other).pk}/", form(gate_of(other), "approve"))
    assert answer.status_code == 404
    assert gate_of(other).status == GateStatus.OPEN


def test_words_of_people_are_escaped(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    page = alice_client.post(address(gate_of(run)), form(gate_of(run), "?", "</textarea><script>x</script>")).text
    assert "<script>x" not in page


def test_a_refused_decision_is_logged_with_what_it_is_about(
    alice_client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    gate = gate_of(factories.awaiting_plan())
    alice_client.post(address(gate), form(gate, "approve") | {"digest": "0" * 64})
    (line,) = [record for record in caplog.records if record.name == "runs.web.run.controls"]
    assert line.getMessage() == "refused: a decision, DecisionRefused"
    who = {"user": "alice", "address": "127.0.0.1"}
    assert vars(line)["about"] == {"run": gate.run_id, "gate": gate.pk, **who}
