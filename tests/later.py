"""Rows as a later version writes them: values that this one does not know, past the checks of its tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, models

from runs.models import Gate, Plan, Run, Step

_CHECKS = {
    "runs_gate": ("gate_kind_known",),
    "runs_step": ("step_status_known",),
    "runs_run": ("run_status_known", "run_outcome_known", "run_outcome_exactly_when_finished"),
}


@contextmanager
def unchecked() -> Iterator[None]:
    """The later version has widened its checks."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = ON")
        else:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with pending checks of its keys cannot be altered
            for table, names in _CHECKS.items():
                for name in names:
                    cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}")
        yield
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA ignore_check_constraints = OFF")


def write(row: models.Model, column: str, value: Any) -> None:
    """Put this into a column, as text or as JSON."""
    stored = value if isinstance(value, str) else json.dumps(value)
    with unchecked(), connection.cursor() as cursor:
        cursor.execute(f'UPDATE {row._meta.db_table} SET "{column}" = %s WHERE id = %s', [stored, row.pk])


def later_gate(run: Run) -> None:
    """Its open question is of a kind that there will be."""
    write(Gate.objects.get(run=run, status="open"), "kind", "vote")


def later_status(run: Run) -> None:
    write(Step.objects.filter(plan__run=run)[0], "status", "delegated")


def later_run_status(run: Run) -> None:
    """It does something that there will be."""
    write(run, "status", "rehearsing")


def later_outcome(run: Run) -> None:
    """It ended in a way that there will be."""
    write(run, "finished_at", "2026-01-01 00:00:00+00:00")
    write(run, "status", "finished")
    write(run, "outcome", "superseded")


def later_revision(run: Run) -> None:
    """It repeats another with something that one will be able to change."""
    write(run, "revision", {"votes": 2})


def later_question(run: Run) -> None:
    """The step that it asks about has a check that there will be."""
    gate = Gate.objects.get(run=run, status="open")
    assert gate.step
    _check_later(gate.step)


def later_policy(run: Run) -> None:
    write(run, "policy", {**run.policy.model_dump(mode="json"), "votes": 2})


def later_effect(run: Run) -> None:
    write(run, "policy", {**run.policy.model_dump(mode="json"), "exhausted": "delegate"})


def later_check(run: Run) -> None:
    _check_later(Step.objects.filter(plan__run=run)[0])
    assert Plan.objects.filter(run=run).exists()


def _check_later(step: Step) -> None:
    spec = step.spec.model_dump(mode="json", by_alias=True)
    spec["acceptance_criteria"][0]["check"] = {"kind": "is_signed", "path": "a.md"}
    write(step, "spec", spec)
