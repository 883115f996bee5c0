"""What was decided in a run, on which basis, and whether it ran: gates next to their lines of the audit trail.

Everything is compared with what is stored now, so that a row that was changed since does not look approved.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runs.enums import AuditKind, GateStatus, PlanStatus
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.gates.gate_type import Subject
from runs.lifecycle.gates.registry import type_of
from runs.models import Attempt, AuditEntry, Gate, Run
from runs.text.plural import list_with_and, pluralize

MAX_DECISIONS = 200
"""Decisions that a page compares, the newest ones."""


@dataclass(frozen=True)
class Comparison:
    """Whether what was approved is what ran, as a sentence. `holds` is None where there is nothing to compare."""

    holds: bool | None
    sentence: str


@dataclass(frozen=True)
class DecisionOnRecord:
    """A decision at a gate, with what was decided as the rest of a sentence that begins with who did. `line` is None if
    it was made before there was an audit trail.
    """

    gate: Gate
    line: AuditEntry | None
    decided: str
    compared: Comparison

    @property
    def parts(self) -> Mapping[str, str]:
        """The fingerprint that was approved, part by part."""
        return self.line.details.get("parts", {}) if self.line else {}


def decisions_on_record(run: Run) -> list[DecisionOnRecord]:
    """The newest decisions of the run, the oldest of them first."""
    undecided = [GateStatus.OPEN, GateStatus.WITHDRAWN]
    rows = run.gates.exclude(status__in=undecided).select_related("decided_by", "plan", "step__plan", "attempt__tree")
    gates = list(rows.order_by("-decided_at", "-pk")[:MAX_DECISIONS])[::-1]
    lines = AuditEntry.objects.filter(run_number=run.pk, kind=AuditKind.DECIDED).order_by("number")
    by_gate = {line.details.get("gate"): line for line in lines}
    return [_decision(run, gate, by_gate.get(gate.pk)) for gate in gates]


def _decision(run: Run, gate: Gate, line: AuditEntry | None) -> DecisionOnRecord:
    gate.run = run
    return DecisionOnRecord(gate, line, type_of(gate).decided(gate), _compare(run, gate, line))


def _compare(run: Run, gate: Gate, line: AuditEntry | None) -> Comparison:
    if line is not None and differs(gate, line):
        return Comparison(False, "The decision as it is stored now differs from the audit trail: it was changed since.")
    if gate.status != GateStatus.APPROVED:
        return Comparison(None, "Nothing was approved.")
    match type_of(gate).subject:
        case Subject.PLAN | Subject.START:
            return _compare_plan(run, gate, line)
        case Subject.RESULT | Subject.UNPASSED:
            return _compare_result(gate)
        case Subject.CALL:
            sent = "It was sent." if gate.sent_at else "It was not sent."
            return Comparison(True if gate.sent_at else None, f"The approval is bound to this very call. {sent}")
        case _:
            return Comparison(None, "The decision is not bound to what ran.")


def differs(gate: Gate, line: AuditEntry) -> bool:
    """Whether a decision as it is stored now is not the one that its line records."""
    was = (line.digest, line.by_id, line.details.get("decision"))
    return was != (gate.digest, gate.decided_by_id, gate.status)


def _compare_plan(run: Run, gate: Gate, line: AuditEntry | None) -> Comparison:
    plan = gate.plan or (gate.step.plan if gate.step else None)
    if plan is None:
        return Comparison(None, "There is no plan to compare.")
    if fingerprint.plan_digest(fingerprint.contract_of(plan)) != plan.digest:
        return Comparison(False, f"Version {plan.version} of the plan is not what was approved: it was changed since.")
    attempts = Attempt.objects.filter(step__plan=plan).count()
    if not attempts:
        return Comparison(None, f"Nothing ran under version {plan.version}.")
    approved = line.details.get("parts", {}) if line else {}
    ran = plan.approval_fingerprint
    if not approved or ran is None:
        is_current = plan.status == PlanStatus.APPROVED and ran and fingerprint.digest_of(ran) == gate.digest
        same = f"{pluralize(attempts, 'attempt')} ran under this approval."
        return Comparison(True, same) if is_current else Comparison(None, "Its parts were not recorded.")
    changed = [part for part in {**ran, **approved} if ran.get(part) != approved.get(part)]
    if changed:
        what = list_with_and(changed)
        return Comparison(
            False, f"{pluralize(attempts, 'attempt')} ran. Another decision changed what was approved here: {what}."
        )
    return Comparison(True, f"{pluralize(attempts, 'attempt')} ran with exactly what was approved.")


def _compare_result(gate: Gate) -> Comparison:
    if gate.attempt is None or gate.step is None:
        return Comparison(None, "There is no result to compare.")
    if fingerprint.attempt_digest(gate.attempt) != gate.digest:
        return Comparison(False, "The result as it is stored now is not what was approved: it was changed since.")
    if gate.step.fingerprint == gate.attempt.fingerprint:
        return Comparison(
            True, f"The result of attempt {gate.attempt.number} that was approved is the one that was kept."
        )
    return Comparison(None, f"The result of attempt {gate.attempt.number} that was approved was not kept.")
