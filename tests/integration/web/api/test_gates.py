"""Decisions over the API: read as people see them, and made only where that is allowed."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import override_settings

from runs.enums import AuditKind, GateKind, GateStatus, TokenScope
from runs.models import AuditEntry, Gate
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
    assert read == {**line, "about": about(gate)}
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
