"""The tables of legal moves are complete and kept, and nobody changes a status past them (D1)."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any

import pytest
from django.apps import apps
from django.db.models import F, Model
from django.utils import timezone

from pevsite.installation import SITE
from runs.enums import (
    AttemptStatus,
    GateKind,
    GateStatus,
    PlanStatus,
    RunStatus,
    StepStatus,
    WorkStatus,
)
from runs.errors import MoveRefused
from runs.lifecycle.transitions import TABLES, change
from runs.models import Attempt, Calibration, Delivery, Gate, IdempotencyKey, Plan, Run, Step, WorkItem
from tests import factories as made

ENUMS: Mapping[type[Model], type[StrEnum]] = {
    Run: RunStatus,
    Plan: PlanStatus,
    Step: StepStatus,
    Attempt: AttemptStatus,
    Gate: GateStatus,
    WorkItem: WorkStatus,
}
BEGIN: Mapping[type[Model], str] = {
    Run: RunStatus.PLANNING,
    Plan: PlanStatus.PROPOSED,
    Step: StepStatus.PENDING,
    Attempt: AttemptStatus.EXECUTING,
    Gate: GateStatus.OPEN,
    WorkItem: WorkStatus.READY,
}
END: Mapping[type[Model], set[str]] = {
    Run: {RunStatus.FINISHED},
    Plan: {PlanStatus.REJECTED, PlanStatus.SUPERSEDED},
    Step: {
        StepStatus.PASSED,
        StepStatus.ACCEPTED,
        StepStatus.NOT_APPLICABLE,
        StepStatus.FAILED,
        StepStatus.DROPPED,
    },
    Attempt: {
        AttemptStatus.FAILED,
        AttemptStatus.BLOCKED,
        AttemptStatus.REJECTED,
        AttemptStatus.CONFLICT,
        AttemptStatus.CANCELLED,
    },
    Gate: {
        GateStatus.APPROVED,
        GateStatus.REJECTED,
        GateStatus.ANSWERED,
        GateStatus.SUPPLIED,
        GateStatus.STOPPED,
        GateStatus.WITHDRAWN,
    },
    WorkItem: {WorkStatus.DONE, WorkStatus.CANCELLED},
}
FOR_EACH_TABLE = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)


# ---- the tables ---------------------------------------------------------------------------------------------------


def test_there_is_a_table_for_every_model_with_a_status() -> None:
    every = apps.get_app_config("runs").get_models()
    # A delivery is sent, a calibration is measured, and the status of a key is that of an answer over HTTP.
    moved_by_no_one = {Delivery, Calibration, IdempotencyKey}
    assert set(TABLES) == {model for model in every if hasattr(model, "status")} - moved_by_no_one


@FOR_EACH_TABLE
def test_every_status_appears_and_no_other_word(table: type[Model]) -> None:
    words = set(ENUMS[table])
    assert set(TABLES[table]) == words
    assert set().union(*TABLES[table].values()) <= words


@FOR_EACH_TABLE
def test_only_terminal_statuses_have_no_exit(table: type[Model]) -> None:
    assert {status for status, targets in TABLES[table].items() if not targets} == END[table]


@FOR_EACH_TABLE
def test_every_status_can_be_reached_and_every_one_leads_to_an_end(table: type[Model]) -> None:
    moves = TABLES[table]
    assert reached(moves, BEGIN[table]) == set(ENUMS[table])
    assert all(reached(moves, status) & END[table] for status in ENUMS[table])


def reached(moves: Mapping[Any, set[Any]], begin: str) -> set[str]:
    found, left = {begin}, [begin]
    while left:
        new = moves[left.pop()] - found
        found |= new
        left += new
    return found


@FOR_EACH_TABLE
def test_a_new_row_begins_where_the_table_begins(table: type[Model]) -> None:
    begin: Any = table()
    assert begin.status == BEGIN[table]


# ---- the conditional UPDATE ---------------------------------------------------------------------------------------


def beside(table: type[Model], status: str) -> dict[str, Any]:
    """The fields that the database's constraints want beside a status."""
    now = timezone.now()
    if table is Run:
        over = status == RunStatus.FINISHED
        return {"outcome": "failed" if over else None, "finished_at": now if over else None}
    if table is Plan:
        return {"approval_fingerprint": {}, "approved_how": "person"} if status == PlanStatus.APPROVED else {}
    if table is WorkItem:
        return {"lease_until": now if status == WorkStatus.LEASED else None}
    if table is Gate:
        answered, supplied = status == GateStatus.ANSWERED, status == GateStatus.SUPPLIED
        about: dict[str, Any] = {"supplied": ["a.md"] if supplied else None}
        about["inputs"] = Run.objects.get().inputs if supplied else None
        about |= {"kind": GateKind.QUESTION if answered else GateKind.PLAN, "request": 1 if answered else None}
        if status in {GateStatus.OPEN, GateStatus.WITHDRAWN}:
            return {"decided_by": None, "decided_at": None, "decided_how": "", **about}
        return {"decided_by": made.alice(), "decided_at": now, "decided_how": "person", "reason": "Because.", **about}
    return {}


@FOR_EACH_TABLE
@pytest.mark.services
@pytest.mark.django_db
def test_the_database_row_moves_exactly_where_the_table_says(table: type[Model]) -> None:
    made.executing()
    manager: Any = table._default_manager
    pk = manager.first().pk
    for source in ENUMS[table]:
        for target in ENUMS[table]:
            manager.filter(pk=pk).update(status=source, **beside(table, source))
            legal = target in TABLES[table][source]
            assert moved(manager.get(pk=pk), target) is legal, f"{source} -> {target}"
            assert manager.get(pk=pk).status == (target if legal else source)


def moved(row: Any, target: Any) -> bool:
    try:
        change(row, target, **beside(type(row), target))
    except MoveRefused:
        return False
    return True


@pytest.mark.services
@pytest.mark.django_db
def test_the_row_decides_and_not_the_instance_in_hand() -> None:
    run = made.planning()
    Run.objects.filter(pk=run.pk).update(status=RunStatus.FINISHED, outcome="failed", finished_at=timezone.now())
    assert run.status == RunStatus.PLANNING
    with pytest.raises(MoveRefused, match=r"is not in a state from which it can become executing\.$"):
        change(run, RunStatus.EXECUTING)
    assert run.status == RunStatus.PLANNING
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED


@pytest.mark.services
@pytest.mark.django_db
def test_a_further_condition_refuses_and_nothing_is_changed() -> None:
    item = WorkItem.objects.get(run=made.planning())
    with pytest.raises(MoveRefused):
        change(item, WorkStatus.CANCELLED, where={"epoch": 7}, error="lost")
    item.refresh_from_db()
    assert (item.status, item.error) == (WorkStatus.READY, "")


@pytest.mark.services
@pytest.mark.django_db
def test_fields_are_set_together_with_the_status() -> None:
    item = WorkItem.objects.get(run=made.planning())
    change(item, WorkStatus.CANCELLED, tries=F("tries") + 1, error="gone")
    item.refresh_from_db()
    assert (item.status, item.tries, item.error) == (WorkStatus.CANCELLED, 1, "gone")


@pytest.mark.services
@pytest.mark.django_db
def test_a_row_that_is_gone_is_refused() -> None:
    run = made.planning()
    step = Step(plan_id=0, key="x", pk=987_654)
    with pytest.raises(MoveRefused):
        change(step, StepStatus.RUNNING)
    assert run.status == RunStatus.PLANNING


# ---- nobody goes past them ----------------------------------------------------------------------------------------

RUNS = SITE / "runs"
WRITES = {"update", "create", "get_or_create", "update_or_create", "aupdate", "acreate"}
STATUS_ROWS = {"Run", "Plan", "Step", "Attempt", "Gate", "WorkItem"}
JOURNAL_ROWS = {"Event", "ModelCall", "ToolCall"}
JOURNAL_SETS = {"events", "model_calls", "tool_calls"}


@cache
def modules() -> list[tuple[str, list[ast.AST]]]:
    """The path of each module, and all nodes of its syntax tree."""
    paths = [path for path in sorted(RUNS.rglob("*.py")) if "migrations" not in path.parts]
    return [(path.relative_to(RUNS).as_posix(), list(ast.walk(ast.parse(path.read_text("utf-8"))))) for path in paths]


def called(node: ast.AST) -> str:
    """The last name of what is called, or nothing."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def is_of_report(call: ast.Call) -> bool:
    """Whether it makes a part of the JSON report, whose classes are named like the rows."""
    return isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "contract"


def writes_status(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(isinstance(target, ast.Attribute) and target.attr == "status" for target in targets)
    if not isinstance(node, ast.Call):
        return False
    named = any(keyword.arg == "status" for keyword in node.keywords)
    spelled = any(isinstance(arg, ast.Constant) and arg.value == "status" for arg in node.args)
    listed = any(
        isinstance(arg, ast.List) and "'status'" in ast.dump(arg)
        for arg in [*node.args, *(k.value for k in node.keywords)]
    )
    filled_in = any(isinstance(arg, ast.Dict) and "'status'" in ast.dump(arg) for arg in node.args)
    return (
        (filled_in and called(node) in WRITES)
        or (named and called(node) in WRITES | STATUS_ROWS and not is_of_report(node))
        or (spelled and called(node) == "setattr")
        or (listed and called(node) in {"bulk_update", "save"})
    )


@pytest.mark.slow
def test_only_the_lifecycle_writes_a_status_and_there_only_where_the_table_is_asked() -> None:
    found = {name for name, nodes in modules() for node in nodes if writes_status(node)}
    assert found == {"lifecycle/transitions.py", "notices/deliveries.py"}  # a delivery has a status of its own


@pytest.mark.slow
def test_only_the_lifecycle_and_the_leases_call_for_a_change() -> None:
    users = {name for name, nodes in modules() for node in nodes if called(node) == "change"}
    assert {name for name in users if not name.startswith("lifecycle/")} == {"engine/claim.py"}


@pytest.mark.slow
def test_nobody_goes_past_the_orm() -> None:
    raw = {"raw", "cursor", "execute", "executemany", "RawSQL"}
    found = {
        (name, called(node))
        for name, nodes in modules()
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and called(node) in raw
    }
    a_commands_own = ("management/terminal.py", "execute")
    before_there_are_tables = ("management/commands/migrate.py", "execute")
    of_the_server_itself = {("operations/backup.py", name) for name in ("cursor", "execute")}
    triggers = {("store/audit_triggers.py", name) for name in ("cursor", "execute")}
    assert found == {a_commands_own, before_there_are_tables, *of_the_server_itself, *triggers}


def writes_history(node: ast.AST, imported: set[str]) -> bool:
    """A row of the journal made, changed or deleted; `imported` are the names that mean its tables here."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in imported
    if not isinstance(node.func, ast.Attribute):
        return False
    parts = {part.attr for part in ast.walk(node.func) if isinstance(part, ast.Attribute)}
    names = {part.id for part in ast.walk(node.func) if isinstance(part, ast.Name)}
    makes = node.func.attr in WRITES | {"bulk_create", "bulk_update", "delete"}
    return makes and bool(names & imported or parts & JOURNAL_SETS)


@pytest.mark.slow
def test_only_the_event_log_writes_events_and_only_the_journal_calls() -> None:
    found = set()
    for name, nodes in modules():
        imported = {
            alias.asname or alias.name
            for node in nodes
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runs.models")
            for alias in node.names
            if alias.name in JOURNAL_ROWS
        }
        if any(writes_history(node, imported) for node in nodes):
            found.add(name)
    assert found == {"store/event_log.py", "store/journal.py"}
