"""The database refuses halves (G5): of decisions, approvals, outcomes and leases."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from runs.enums import GateKind, GateStatus, Outcome, PlanStatus, RunStatus, WorkStatus
from runs.models import Gate, Plan, Run, Tree, WorkItem
from tests import factories as made
from tests.integration.lifecycle.small import waiting

pytestmark = [pytest.mark.django_db, pytest.mark.services]

PEOPLE = get_user_model()._meta.db_table
WHO = f"decided_by_id = (SELECT id FROM {PEOPLE} WHERE username = 'alice')"
WHEN = "decided_at = '2026-11-21 12:00:00'"
HOW = "decided_how = 'person'"


HALVES = [
    "status = 'approved'",
    "status = 'stopped'",
    f"status = 'approved', {WHO}",
    f"status = 'approved', {WHO}, {WHEN}",
    f"status = 'approved', {WHEN}, {HOW}",
    f"status = 'approved', {WHO}, {HOW}",
    f"status = 'rejected', {WHO}, {WHEN}, {HOW}",
    WHO,
    WHEN,
    HOW,
    f"{WHO}, {WHEN}, {HOW}",
    f"status = 'withdrawn', {WHO}, {WHEN}, {HOW}",
    "status = 'maybe'",
    "kind = 'wish'",
]


def test_half_a_decision_cannot_be_stored() -> None:
    gate = made.open_gate(made.awaiting_plan(), GateKind.PLAN)
    for half in HALVES:
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE runs_gate SET {half} WHERE id = {gate.pk}")


def test_a_whole_decision_can_be_stored() -> None:
    gate = made.open_gate(made.awaiting_plan(), GateKind.PLAN)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE runs_gate SET status = 'approved', {WHO}, {WHEN}, {HOW} WHERE id = {gate.pk}")
    gate.refresh_from_db()
    assert (gate.status, gate.decided_by) == (GateStatus.APPROVED, made.alice())


def test_a_plan_is_approved_only_with_what_it_is_bound_to() -> None:
    plan = Plan.objects.get(run=made.awaiting_plan())
    halves: list[dict[str, Any]] = [{"approval_fingerprint": {}}, {"approved_how": "person"}, {}]
    for half in halves:
        with pytest.raises(IntegrityError), transaction.atomic():
            Plan.objects.filter(pk=plan.pk).update(status=PlanStatus.APPROVED, **half)


def test_an_outcome_stands_exactly_at_a_finished_run() -> None:
    run = made.planning()
    now = timezone.now()
    halves: list[dict[str, Any]] = [
        {"outcome": Outcome.SUCCEEDED},
        {"status": RunStatus.FINISHED},
        {"status": RunStatus.FINISHED, "outcome": Outcome.FAILED},
        {"status": RunStatus.FINISHED, "finished_at": now},
    ]
    for half in halves:
        with pytest.raises(IntegrityError), transaction.atomic():
            Run.objects.filter(pk=run.pk).update(**half)


def test_one_run_has_one_open_plan_gate_and_one_step_one_open_gate() -> None:
    gate = made.open_gate(run := made.awaiting_plan(), GateKind.PLAN)
    with pytest.raises(IntegrityError), transaction.atomic():
        Gate.objects.create(run=run, kind=GateKind.PLAN, plan=gate.plan, digest="0", question="Again?")
    step_gate = made.open_gate(waiting(), GateKind.STEP)
    with pytest.raises(IntegrityError), transaction.atomic():
        Gate.objects.create(run=step_gate.run, kind=GateKind.ERROR, step=step_gate.step, digest="0", question="Again?")


def test_a_lease_has_an_end_and_only_a_lease_has_one() -> None:
    item = WorkItem.objects.get(run=made.planning())
    for half in ({"status": WorkStatus.LEASED}, {"lease_until": timezone.now()}):
        with pytest.raises(IntegrityError), transaction.atomic():
            WorkItem.objects.filter(pk=item.pk).update(**half)


def test_trees_and_people_that_runs_rest_on_cannot_be_deleted() -> None:
    run = made.planning()
    for row in (run.inputs, run.owner):
        with pytest.raises(IntegrityError), transaction.atomic():
            row.delete()
    assert Tree.objects.filter(pk=run.inputs_id).exists()
