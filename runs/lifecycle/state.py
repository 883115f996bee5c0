"""How a run stands while a transaction works on it: read at most once, changed in memory, saved once at the end."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.db import transaction

from runs.enums import TERMINAL_STEPS, Action, Complexity, PlanStatus, RunStatus, StepStatus
from runs.errors import MoveRefused
from runs.lifecycle import moves
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.moves import StepState
from runs.lifecycle.transitions import STEP
from runs.models import Attempt, Plan, Run, Step
from runs.pev.contracts import PlanStep
from runs.store import event_log, trees

_COLUMNS = (
    "key",
    "status",
    "depends_on",
    "complexity",
    "failures",
    "last_action",
    "tries",
    "fingerprint",
    "pk",
    "unproved",
    "cleared",
    "refused",
)
MAX_REMEMBERED = 256
"""Runs whose steps a process remembers as of their newest event: a run at work is read once, not once for each step."""


@dataclass
class State:
    """The newest plan of a run and the steps of it, by key and in order, as this transaction sees them.

    `results` are attempts in hand that are the latest at their step. Without `trusted` rows were changed past it.
    """

    run: Run
    plan: Plan | None
    steps: dict[str, StepState]
    results: dict[str, Attempt] = field(default_factory=dict)
    trusted: bool = True
    _saved: dict[str, StepState] = field(default_factory=dict)
    _fields: dict[str, dict[str, Any]] = field(default_factory=dict)

    def change(self, key: str, to: StepStatus, **fields: Any) -> None:
        """Give a step another status, and `fields` of its row with it. Raises MoveRefused when that is not legal."""
        status = self.steps[key].status
        if to not in STEP[status]:
            raise MoveRefused(f"Step {key} is {status} and cannot become {to}.")
        self._set(key, to, fields)

    def mark(self, key: str, **fields: Any) -> None:
        """Change `fields` of a step's row; its status stays."""
        self._set(key, self.steps[key].status, fields)

    def _set(self, key: str, to: StepStatus, fields: Mapping[str, Any]) -> None:
        step = self.steps[key]
        self._saved.setdefault(key, step)
        self._fields.setdefault(key, {}).update(fields, status=to.value)
        known = {_STATE_NAMES[name]: value for name, value in fields.items() if name in _STATE_NAMES}
        self.steps[key] = step._replace(status=to, **known)

    def save(self) -> None:
        """One conditional UPDATE for each step that changed, from the status that it was read with."""
        while self._fields:
            key, fields = self._fields.popitem()
            before = self._saved.pop(key)
            moved = Step.objects.filter(pk=before.id, status=before.status.value).update(**fields)
            if moved != 1:
                raise MoveRefused(f"Step {key} is not in a state from which it can become {fields['status']}.")

    def unfinished(self) -> list[StepState]:
        """Steps that can still become something else."""
        return [step for step in self.steps.values() if step.status not in TERMINAL_STEPS]

    def latest(self, key: str) -> Attempt:
        """The last attempt at a step."""
        if key not in self.results:
            attempts = Attempt.objects.select_related("tree", "base", "step").filter(step=self.steps[key].id)
            self.results[key] = attempts.latest("number")
        return self.results[key]

    def row(self, key: str) -> Step:
        """The step's row without a statement: what never changes of it. The rest is read when somebody asks for it."""
        assert self.plan is not None
        spec = self.specs[key]
        columns = {"id": self.steps[key].id, "plan_id": self.plan.pk, "key": key, "spec": spec}
        columns |= {"depends_on": list(spec.dependencies), "complexity": spec.estimated_complexity.value}
        row = Step.from_db(self.plan._state.db, list(columns), list(columns.values()))
        row.plan = self.plan
        return row

    @property
    def specs(self) -> Mapping[str, PlanStep]:
        """What each step is to do, by key."""
        return specs_of(self.plan.pk, self.plan.digest) if self.plan else {}

    def snapshot(self) -> moves.Snapshot:
        """What `moves.due` decides upon."""
        run, plan = self.run, self.plan
        deciding = plan is not None and plan.status == PlanStatus.PROPOSED
        return moves.Snapshot(
            status=RunStatus(run.status),
            policy=run.policy,
            plan=PlanStatus(plan.status) if plan else None,
            agreed=plan is not None and deciding and plan.version > 1 and run.plans.exclude(approved_how="").exists(),
            relaxes=bool(plan and plan.relaxed),
            bound=plan is None or plan.status != PlanStatus.APPROVED or not fingerprint.differences(plan, run),
            steps=tuple(self.steps.values()),
            unread=run.status == RunStatus.PLANNING and bool(trees.readings_of(run.inputs).waiting),
            busy=run.status in _HAS_WORK and run.work.filter(attempt=None).open().exists(),
            paused=run.paused,
            replans=run.replans,
            final=run.final.action if run.final else None,
            repeated=run.repeated,
        )


_HAS_WORK = frozenset({RunStatus.PLANNING, RunStatus.FINALISING})
"""The statuses in which a work item for the whole run may be under way."""

_STATE_NAMES = {"last_action": "asked"} | {
    name: name for name in ("failures", "tries", "fingerprint", "unproved", "cleared", "refused")
}
"""The fields of a step's row that a decision depends on, and what the state calls them."""


def of(run: Run, plan: Plan | None = None) -> State:
    """The state of a run in this transaction; only the first call reads it. `plan` is the newest, where it is known."""
    found = event_log.state_of(run.pk)
    if isinstance(found, State):
        return found
    newest = plan or run.plans.defer("estimate").newest()
    return _held(State(run, newest, _steps(run, newest) if newest else {}))


def begin(plan: Plan, steps: Iterable[Step]) -> None:
    """From here on the run stands with this new version of its plan, whose steps were written in this transaction."""
    known = {step.key: _step(*(getattr(step, column) for column in _COLUMNS)) for step in steps}
    _held(State(event_log.locked(plan.run_id), plan, known))


def _held(state: State) -> State:
    event_log.hold(state.run.pk, state)
    transaction.on_commit(lambda: _remember(state))
    return state


def end(run: Run) -> None:
    """Save what was changed, and forget it: rows are changed past the state from here on, so who asks next reads."""
    state = event_log.state_of(run.pk)
    if isinstance(state, State):
        state.save()
        state.trusted = False
        event_log.hold(run.pk, None)
    _remembered.pop(run.pk, None)


def reset_memory() -> None:
    """Tests roll back the events that the memory is kept by."""
    _remembered.clear()


_remembered: OrderedDict[int, tuple[int, int, dict[str, StepState]]] = OrderedDict()
"""By run: the number of its newest event, its newest plan, and the steps as they were then.

Nothing of a run changes without an event, so the steps are right for as long as the number is. Threads may lose each
other's entries; that costs a read.
"""


def _remember(state: State) -> None:
    if state.plan is None or not state.trusted:
        return
    _remembered[state.run.pk] = (state.run.event_count, state.plan.pk, state.steps)
    _remembered.move_to_end(state.run.pk)
    while len(_remembered) > MAX_REMEMBERED:
        _remembered.popitem(last=False)


def carry(run_id: int, before: int, after: int) -> None:
    """The events from `before` to `after` were of calls and reports: what is remembered of the steps still holds."""
    number, plan_id, steps = _remembered.get(run_id, (-1, -1, {}))
    if number == before:
        _remembered[run_id] = (after, plan_id, steps)


def known(run: Run) -> Mapping[str, StepState]:
    """The steps of the newest plan as of the run's newest event, where this process remembers them; else none."""
    number, _, steps = _remembered.get(run.pk, (-1, -1, {}))
    return steps if number == run.event_count else {}


def _steps(run: Run, plan: Plan) -> dict[str, StepState]:
    number, plan_id, steps = _remembered.get(run.pk, (-1, -1, {}))
    if (number, plan_id) == (run.event_count, plan.pk):
        return dict(steps)
    rows = plan.steps.order_by("position").values_list(*_COLUMNS)
    return {row[0]: _step(*row) for row in rows}


def _step(
    key: str, status: str, depends_on: list[str], complexity: str, failures: int, action: str | None, *rest: Any
) -> StepState:
    asked = Action(action) if action else None
    return StepState(key, StepStatus(status), frozenset(depends_on), Complexity(complexity), failures, asked, *rest)


@lru_cache(maxsize=64)
def specs_of(plan_id: int, digest: str) -> Mapping[str, PlanStep]:
    """What each step of a plan is to do, by key. A version never changes; its digest tells it from others."""
    steps = Step.objects.filter(plan=plan_id, plan__digest=digest).order_by("position")
    return dict(steps.values_list("key", "spec"))
