"""Decisions over the API: read as people see them, and made only where that is allowed."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import override_settings

from runs.enums import AuditKind, GateKind, GateStatus, TokenScope
from runs.models import AuditEntry, Gate, Overruling, Verdict
from runs.readmodel.gate_text import about
from tests import factories as made
from tests.integration.web.api.asking import Program, program_of

pytestmark = pytest.mark.django_db
DECIDES = (TokenScope.GATES_READ, TokenScope.GATES_DECIDE)


@pytest.fixture
def gate() -> Gate:
    return made.open_gate(made.awaiting_plan(), GateKind.PLAN)


@pytest.fixture
def alice() -> Any:
    with override_settings(API_DECIDES=True):
        yield program_of(made.alice(), *DECIDES)


def test_open_decisions_are_listed_and_read_as_people_see_them(gate: Gate, alice: Program) -> None:
    (line,) = alice.get("/gates").json()["gates"]
    assert (line["gate"], line["run"], line["kind"], line["yours"]) == (gate.pk, gate.run_id, "plan", True)
    assert line["fingerprint"] == gate.digest
    read = alice.get(f"/gates/{gate.pk}").json()
    assert read == {**line, "about": about(gate), "criteria": [], "points": []}
    assert read["about"][0] == gate.question


def test_an_approval_with_what_was_read_is_made_and_recorded(gate: Gate, alice: Program) -> None:
    answer = alice.post(f"/gates/{gate.pk}/decision", {"verb": "approve", "fingerprint": gate.digest})
    assert (answer.status_code, answer.json()["status"]) == (200, "approved")
    gate.refresh_from_db()
    assert (gate.decided_by, gate.decided_how) == (made.alice(), "through the API by token “ci”")
    line = AuditEntry.objects.get(kind=AuditKind.DECIDED)
    assert (line.by, line.channel, line.through, line.digest) == ("alice", "program", "access token “ci”", gate.digest)
    twice = alice.post(f"/gates/{gate.pk}/decision", {"verb": "approve", "fingerprint": gate.digest})
    assert twice.status_code == 409


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"verb": "approve", "fingerprint": "0" * 64}, 409),
        ({"verb": "approve"}, 422),
        ({"verb": "approve", "fingerprint": ""}, 422),
        ({"verb": "reject", "fingerprint": None}, 422),
        ({"verb": "give_up", "fingerprint": "0" * 64}, 409),
        ({"verb": "sign", "fingerprint": "0" * 64}, 422),
    ],
)
def test_anything_else_decides_nothing(gate: Gate, alice: Program, sent: dict[str, Any], status: int) -> None:
    answer = alice.post(f"/gates/{gate.pk}/decision", sent)
    gate.refresh_from_db()
    assert (answer.status_code, gate.status) == (status, GateStatus.OPEN)


def test_a_rejection_needs_a_reason(gate: Gate, alice: Program) -> None:
    sent = {"verb": "reject", "fingerprint": gate.digest}
    assert alice.post(f"/gates/{gate.pk}/decision", sent).status_code == 422
    assert alice.post(f"/gates/{gate.pk}/decision", {**sent, "reason": "Check the annex."}).json()["status"] == (
        "rejected"
    )


def test_what_people_have_to_decide_themselves_is_refused(gate: Gate, alice: Program) -> None:
    sent = {"verb": "approve", "fingerprint": gate.digest}

    def refused(**settings: Any) -> str:
        with override_settings(**settings):
            answer = alice.post(f"/gates/{gate.pk}/decision", sent)
        assert answer.status_code == 403
        return str(answer.json()["detail"])

    assert refused(API_DECIDES=False).startswith("This access token does not allow “gates:decide”.")
    Authenticator.objects.create(user=made.alice(), type="totp", data={"secret": "x"})
    assert "second factor" in refused(SECOND_FACTOR="everyone")
    Gate.objects.filter(pk=gate.pk).update(second_person=True)
    assert refused() == "A second person has to decide this, on its page."
    gate.refresh_from_db()
    assert gate.status == GateStatus.OPEN


def test_who_may_not_see_the_run_finds_no_decision(gate: Gate) -> None:
    with override_settings(API_DECIDES=True):
        charlie = program_of(made.charlie(), *DECIDES)
        sent = {"verb": "approve", "fingerprint": gate.digest}
        assert charlie.get("/gates").json() == {"gates": []}
        assert charlie.get(f"/gates/{gate.pk}").status_code == 404
        assert charlie.post(f"/gates/{gate.pk}/decision", sent).status_code == 404


# ---- what the form of the page can say besides --------------------------------------------------------------------


def test_criteria_are_accepted_with_the_approval_of_a_step_that_did_not_pass(alice: Program) -> None:
    gate = made.open_gate(made.exhausted_gate(), GateKind.EXHAUSTED)
    read = alice.get(f"/gates/{gate.pk}").json()
    labels = [one["label"] for one in read["criteria"]]
    judged = Verdict.objects.get(attempt=gate.attempt).results
    assert labels == [one.label for one in judged if not one.met]
    assert 0 < len(labels) < len(judged)
    assert [set(one) for one in read["criteria"]] == [{"label", "text", "finding"}] * len(labels)
    sent = {"verb": "approve", "fingerprint": gate.digest, "met": labels[:1]}
    without = alice.post(f"/gates/{gate.pk}/decision", sent)
    assert (without.status_code, without.json()["detail"]) == (
        422,
        "Say why you overrule the verdict. It stays visible next to your reason.",
    )
    decided = alice.post(f"/gates/{gate.pk}/decision", sent | {"why_met": "The annex says so."})
    assert (decided.status_code, decided.json()["status"], decided.json()["criteria"]) == (200, "approved", [])
    overruling = Overruling.objects.get()
    assert (overruling.label, overruling.met, overruling.by, overruling.reason) == (
        labels[0],
        True,
        made.alice(),
        "The annex says so.",
    )


@pytest.mark.parametrize("met", [["C99"], ["C1", "C99"]])
def test_a_criterion_that_is_not_unmet_is_not_accepted(alice: Program, met: list[str]) -> None:
    gate = made.open_gate(made.exhausted_gate(), GateKind.EXHAUSTED)
    sent = {"verb": "approve", "fingerprint": gate.digest, "met": met, "why_met": "It is."}
    assert alice.post(f"/gates/{gate.pk}/decision", sent).status_code == 409
    gate.refresh_from_db()
    assert (gate.status, Overruling.objects.count()) == (GateStatus.OPEN, 0)


def test_points_of_a_result_are_sent_back_as_on_the_page(alice: Program) -> None:
    run = made.reporting("Two points.\n\n- F1: clause 1 names no date\n- F2: clause 2 names no date")
    gate = made.open_gate(run, GateKind.STEP)
    points = alice.get(f"/gates/{gate.pk}").json()["points"]
    assert [(one["number"], one["text"]) for one in points] == [
        (1, "F1: clause 1 names no date"),
        (2, "F2: clause 2 names no date"),
    ]
    back = [{"point": 2, "note": "Quote the clause.\0"}]
    sent = {"fingerprint": gate.digest, "send_back": back}
    assert alice.post(f"/gates/{gate.pk}/decision", {**sent, "verb": "approve"}).status_code == 422
    unknown = alice.post(f"/gates/{gate.pk}/decision", {**sent, "verb": "reject", "send_back": [{"point": 3}]})
    assert (unknown.status_code, "has no point 3" in unknown.json()["detail"]) == (422, True)
    assert alice.post(f"/gates/{gate.pk}/decision", {**sent, "verb": "reject"}).json()["status"] == "rejected"
    gate.refresh_from_db()
    assert [one.words for one in gate.comments] == ["On point 2 “F2: clause 2 names no date”: Quote the clause."]


def test_a_plan_is_commented_on_part_by_part(gate: Gate, alice: Program) -> None:
    comments = [{"text": "Count them.", "step": "inventory"}, {"text": "Be exact.", "step": "review", "criterion": 1}]
    sent = {"fingerprint": gate.digest, "comments": comments}
    approved = alice.post(f"/gates/{gate.pk}/decision", {**sent, "verb": "approve"})
    assert (approved.status_code, approved.json()["detail"]) == (
        422,
        "An approval sends no comments. Request changes with them, or empty their fields.",
    )
    wrong = alice.post(
        f"/gates/{gate.pk}/decision", {**sent, "verb": "reject", "comments": [{"text": "x", "step": "../x"}]}
    )
    assert wrong.status_code == 422
    assert alice.post(f"/gates/{gate.pk}/decision", {**sent, "verb": "reject"}).json()["status"] == "rejected"
    gate.refresh_from_db()
    assert [(one.step_id, one.criterion, one.text) for one in gate.comments] == [
        ("inventory", None, "Count them."),
        ("review", 1, "Be exact."),
    ]


# ---- whose turn it is ---------------------------------------------------------------------------------------------


def test_a_decision_is_handed_on_to_someone_who_may_decide(gate: Gate, alice: Program) -> None:
    made.share(gate.run, made.bob())
    address = f"/gates/{gate.pk}/assignee"
    assert alice.get(f"/gates/{gate.pk}").json()["assigned_to"] == "alice"
    assert alice.post(address, {"to": "bob", "seen": None}).status_code == 409
    handed = alice.post(address, {"to": "bob", "seen": "alice"})
    assert (handed.status_code, handed.json()["assigned_to"], handed.json()["status"]) == (200, "bob", "open")
    assert alice.post(address, {"to": "alice", "seen": "alice"}).status_code == 409


@pytest.mark.parametrize("to", ["charlie", "nobody-here", "\0"])
def test_a_decision_is_not_handed_on_to_someone_who_may_not(gate: Gate, alice: Program, to: str) -> None:
    made.charlie()
    assert alice.post(f"/gates/{gate.pk}/assignee", {"to": to, "seen": "alice"}).status_code == 422
    gate.refresh_from_db()
    assert gate.assigned_to == made.alice()
