"""The legal changes of every status, and the one function that changes a status (D1).

The state diagram in `docs/architecture.md` is generated from the tables.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any, overload

from django.db.models import Model

from runs.enums import AttemptStatus, GateStatus, PlanStatus, RunStatus, StepStatus, WorkStatus
from runs.errors import MoveRefused
from runs.models import Attempt, Gate, Plan, Run, Step, WorkItem

RUN = {
    RunStatus.PLANNING: {
        RunStatus.AWAITING_APPROVAL,
        RunStatus.EXECUTING,
        RunStatus.FINALISING,
        RunStatus.FINISHED,
    },
    RunStatus.AWAITING_APPROVAL: {RunStatus.PLANNING, RunStatus.EXECUTING, RunStatus.FINISHED},
    RunStatus.EXECUTING: {
        RunStatus.AWAITING_APPROVAL,
        RunStatus.PLANNING,
        RunStatus.FINALISING,
        RunStatus.FINISHED,
    },
    RunStatus.FINALISING: {RunStatus.PLANNING, RunStatus.FINISHED},
    RunStatus.FINISHED: set[RunStatus](),
}
PLAN = {
    PlanStatus.PROPOSED: {PlanStatus.APPROVED, PlanStatus.REJECTED, PlanStatus.SUPERSEDED},
    PlanStatus.APPROVED: {PlanStatus.PROPOSED, PlanStatus.SUPERSEDED},
    PlanStatus.REJECTED: set[PlanStatus](),
    PlanStatus.SUPERSEDED: set[PlanStatus](),
}
STEP = {
    StepStatus.PENDING: {
        StepStatus.RUNNING,
        StepStatus.WAITING,
        StepStatus.PASSED,
        StepStatus.ACCEPTED,
        StepStatus.NOT_APPLICABLE,
        StepStatus.DROPPED,
    },
    StepStatus.RUNNING: {StepStatus.JUDGED, StepStatus.PENDING, StepStatus.DROPPED},
    StepStatus.JUDGED: {
        StepStatus.RUNNING,
        StepStatus.WAITING,
        StepStatus.PASSED,
        StepStatus.ACCEPTED,
        StepStatus.NOT_APPLICABLE,
        StepStatus.FAILED,
        StepStatus.PENDING,
        StepStatus.DROPPED,
    },
    StepStatus.WAITING: {
        StepStatus.PASSED,
        StepStatus.ACCEPTED,
        StepStatus.NOT_APPLICABLE,
        StepStatus.PENDING,
        StepStatus.DROPPED,
    },
    StepStatus.PASSED: set[StepStatus](),
    StepStatus.ACCEPTED: set[StepStatus](),
    StepStatus.NOT_APPLICABLE: set[StepStatus](),
    StepStatus.FAILED: set[StepStatus](),
    StepStatus.DROPPED: set[StepStatus](),
}
ATTEMPT = {
    AttemptStatus.EXECUTING: {
        AttemptStatus.VERIFYING,
        AttemptStatus.FAILED,
        AttemptStatus.CANCELLED,
    },
    AttemptStatus.VERIFYING: {
        AttemptStatus.PASSED,
        AttemptStatus.FAILED,
        AttemptStatus.BLOCKED,
        AttemptStatus.CANCELLED,
    },
    AttemptStatus.PASSED: {AttemptStatus.REJECTED, AttemptStatus.CONFLICT},
    AttemptStatus.FAILED: set[AttemptStatus](),
    AttemptStatus.BLOCKED: set[AttemptStatus](),
    AttemptStatus.REJECTED: set[AttemptStatus](),
    AttemptStatus.CONFLICT: set[AttemptStatus](),
    AttemptStatus.CANCELLED: set[AttemptStatus](),
}
GATE = {
    GateStatus.OPEN: {
        GateStatus.APPROVED,
        GateStatus.REJECTED,
        GateStatus.ANSWERED,
        GateStatus.SUPPLIED,
        GateStatus.STOPPED,
        GateStatus.WITHDRAWN,
    },
    GateStatus.APPROVED: set[GateStatus](),
    GateStatus.REJECTED: set[GateStatus](),
    GateStatus.ANSWERED: set[GateStatus](),
    GateStatus.SUPPLIED: set[GateStatus](),
    GateStatus.STOPPED: set[GateStatus](),
    GateStatus.WITHDRAWN: set[GateStatus](),
}
WORK = {
    WorkStatus.READY: {WorkStatus.LEASED, WorkStatus.CANCELLED},
    WorkStatus.LEASED: {
        WorkStatus.LEASED,
        WorkStatus.READY,
        WorkStatus.SUSPENDED,
        WorkStatus.DONE,
        WorkStatus.CANCELLED,
    },
    WorkStatus.SUSPENDED: {WorkStatus.READY, WorkStatus.CANCELLED},
    WorkStatus.DONE: set[WorkStatus](),
    WorkStatus.CANCELLED: set[WorkStatus](),
}
TABLES: Mapping[type[Model], Mapping[Any, set[Any]]] = {
    Run: RUN,
    Plan: PLAN,
    Step: STEP,
    Attempt: ATTEMPT,
    Gate: GATE,
    WorkItem: WORK,
}
_ANYTHING: Mapping[str, Any] = {}


@overload
def change(row: Run, to: RunStatus, *, where: Mapping[str, Any] = _ANYTHING, **fields: Any) -> None: ...
@overload
def change(row: Plan, to: PlanStatus, *, where: Mapping[str, Any] = _ANYTHING, **fields: Any) -> None: ...
@overload
def change(row: Step, to: StepStatus, *, where: Mapping[str, Any] = _ANYTHING, **fields: Any) -> None: ...
@overload
def change(row: Attempt, to: AttemptStatus, *, where: Mapping[str, Any] = _ANYTHING, **fields: Any) -> None: ...
@overload
def change(row: Gate, to: GateStatus, *, where: Mapping[str, Any] = _ANYTHING, **fields: Any) -> None: ...
@overload
def change(row: WorkItem, to: WorkStatus, *, where: Mapping[str, Any] = _ANYTHING, **fields: Any) -> None: ...
def change(row: Model, to: StrEnum, *, where: Mapping[str, Any] = _ANYTHING, **fields: Any) -> None:
    """Set the status of a row, and other `fields` with it, if its status in the database permits that.

    The lookups in `where` must hold as well. Raises MoveRefused if they do not, or if the change is not legal; then
    nothing was changed. The instance is brought up to date.
    """
    # One conditional UPDATE instead of reading and writing: of two processes that want to change the status at the same
    # time, the database lets the first one and the other finds that no row matches.
    matching = type(row)._default_manager.filter(pk=row.pk, **_legal(type(row), to), **where)
    if matching.update(status=to, **fields) != 1:
        raise MoveRefused(f"{row} is not in a state from which it can become {to}.")
    for name, value in {"status": str(to), **fields}.items():
        setattr(row, name, value)


@cache
def _legal(table: type[Model], to: StrEnum) -> Mapping[str, Any]:
    """The lookup for rows whose status may become `to`."""
    sources = [status.value for status, targets in TABLES[table].items() if to in targets]
    return {"status": sources[0]} if len(sources) == 1 else {"status__in": sources}
