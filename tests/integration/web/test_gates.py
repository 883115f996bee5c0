"""Answering gates over HTTP: once, bound to what was shown, with a clear sentence for what cannot be done."""

import pytest
from django.test import Client

from runs.enums import GateKind, GateStatus, Outcome, PlanStatus, RunStatus, StepStatus, Verb
from runs.lifecycle.gates import current_digest
from runs.models import Gate, Run
from tests import factories

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def form(gate: Gate, verb: str, reason: str = "") -> dict[str, str]:
    return {"verb": verb, "digest": gate.digest, "reason": reason}


def address(gate: Gate) -> str:
    return f"/runs/{gate.run_id}/gates/{gate.pk}/"


def gate_of(run: Run) -> Gate:
    return run.gates.get(status=GateStatus.OPEN)


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
    assert 'id="run-gates" class="stack" hx-swap-oob="outerMorph"' in answer.content.decode()
    assert "<strong>alice</strong> approved version 1 of the plan" in answer.content.decode()


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
    assert "Say what should be different" in answer.content.decode()
    assert gate_of(run).status == GateStatus.OPEN


@pytest.mark.parametrize("verb", ["", "yes", "APPROVE"])
def test_an_unknown_verb_keeps_the_words(alice_client: Client, verb: str) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), verb, "My words."))
    assert answer.status_code == 422
    assert "My words.</textarea>" in answer.content.decode()
    assert gate_of(run).status == GateStatus.OPEN


def test_words_without_end_are_refused(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.post(address(gate_of(run)), form(gate_of(run), "reject", "x" * 20_001))
    assert answer.status_code == 422
    assert "20,000 fit" in answer.content.decode()


def test_a_stale_page_is_refused_with_the_words_kept(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    answer = alice_client.post(
        address(gate_of(run)), form(gate_of(run), "approve", "Looks good.") | {"digest": "0" * 64}
    )
    assert answer.status_code == 409
    assert "has changed since this page was loaded" in answer.content.decode()
    assert "Looks good." in answer.content.decode()
    assert gate_of(run).status == GateStatus.OPEN


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_whoever_comes_second_learns_who_decided_and_keeps_the_words(
    alice_client: Client, headers: dict[str, str]
) -> None:
    run = factories.awaiting_plan()
    gate = factories.decide(run, GateKind.PLAN, Verb.APPROVE, by=factories.bob())
    answer = alice_client.post(address(gate), form(gate, "reject", "Not like this."), headers=headers)
    assert answer.status_code == 409
    assert "Already decided: bob approved it at" in answer.content.decode()
    assert "Not like this." in answer.content.decode()
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


def test_an_exhausted_step_shows_first_what_was_not_met(alice_client: Client) -> None:
    run = factories.exhausted_gate()
    text = " ".join(alice_client.get(f"/runs/{run.pk}/").text.split())
    unmet = '<p><strong>Not met</strong></p> <ul class="gaps"><li>“{}”: Unsupported: no quote of the verifier'
    text_of = run.plans.get().steps.get(key="review").spec.acceptance_criteria[0].text
    assert unmet.format(text_of) in text
    assert "<p>Major: it must be mended before anyone relies on it.</p>" in text
    assert text.index("<strong>Not met</strong>") < text.index("<h3>Attempt 2</h3>")


def test_an_exhausted_step_is_accepted_with_issues(alice_client: Client) -> None:
    run = factories.exhausted_gate()
    alice_client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert run.plans.get().steps.get(key="review").status == StepStatus.ACCEPTED


def test_trouble_offers_try_again_and_stop_only(alice_client: Client) -> None:
    run = factories.error_gate()
    page = alice_client.get(f"/runs/{run.pk}/").content.decode()
    assert "Plan again</button>" in page
    assert 'value="reject"' not in page
    alice_client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert run.work.get().status == "ready"


def test_a_gate_of_another_run_is_not_found(alice_client: Client) -> None:
    mine, other = factories.awaiting_plan(), factories.awaiting_plan()
    answer = alice_client.post(f"/runs/{mine.pk}/gates/{gate_of(other).pk}/", form(gate_of(other), "approve"))
    assert answer.status_code == 404
    assert gate_of(other).status == GateStatus.OPEN


def test_words_of_people_are_escaped(alice_client: Client) -> None:
    run = factories.awaiting_plan()
    page = alice_client.post(
        address(gate_of(run)), form(gate_of(run), "?", "</textarea><script>x</script>")
    ).content.decode()
    assert "<script>x" not in page


def test_it_takes_a_second_person_to_approve(client: Client) -> None:
    run = factories.awaiting_plan()
    Run.objects.filter(pk=run.pk).update(policy=run.policy.changed(second_person=True))
    run.refresh_from_db()
    gate = gate_of(run)
    Gate.objects.filter(pk=gate.pk).update(digest=current_digest(gate_of(run)))
    client.force_login(factories.alice())
    refused = client.post(address(gate_of(run)), form(gate_of(run), "approve"))
    assert refused.status_code == 403
    assert "A second person has to approve this: you submitted the task." in refused.text
    assert "alice submitted the task and may only reject it" in refused.text
    assert gate_of(run).status == GateStatus.OPEN
    client.force_login(factories.bob())
    assert client.post(address(gate_of(run)), form(gate_of(run), "approve")).status_code == 302
    run.refresh_from_db()
    assert run.status == "executing"


def test_a_refused_decision_is_logged_with_what_it_is_about(
    alice_client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    gate = gate_of(factories.awaiting_plan())
    alice_client.post(address(gate), form(gate, "approve") | {"digest": "0" * 64})
    (line,) = [record for record in caplog.records if record.name == "runs.web.views.gates"]
    assert line.getMessage() == "refused: a decision, DecisionRefused"
    who = {"user": "alice", "address": "127.0.0.1"}
    assert vars(line)["about"] == {"run": gate.run_id, "gate": gate.pk, **who}
