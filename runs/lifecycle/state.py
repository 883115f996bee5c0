"""How a run stands: the newest version of its plan with the steps of it, read once and passed to those that decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from runs.enums import TERMINAL_STEPS, Action, StepStatus
from runs.lifecycle.moves import StepState
from runs.lifecycle.transitions import change
from runs.models import Attempt, Plan, Run, Step
from runs.pev.contracts import PlanStep

_COLUMNS = ("pk", "key", "status", "failures", "tries", "last_action", "fingerprint", "unproved", "cleared", "refused")


@dataclass
class State:
    """The newest plan of a run and its steps, by key and in order. `specs`: what each step is to do.

    It belongs to one transaction, in which only `change` changes steps. `results` are attempts in hand that are the
    latest at their step.
    """

    run: Run
    plan: Plan | None
    steps: dict[str, StepState]
    specs: Mapping[str, PlanStep]
    results: dict[str, Attempt] = field(default_factory=dict)

    def change(self, key: str, to: StepStatus, **fields: Any) -> None:
        """Give a step another status, and `fields` of its row with it. Raises MoveRefused when that is not legal."""
        step = self.steps[key]
        change(Step(pk=step.id, key=key), to, **fields)
        known = {name: value for name, value in fields.items() if name in StepState._fields}
        self.steps[key] = step._replace(status=to, **known)

    def unfinished(self) -> list[StepState]:
        """Steps that can still become something else."""
        return [step for step in self.steps.values() if step.status not in TERMINAL_STEPS]

    def latest(self, key: str) -> Attempt:
        """The last attempt at a step."""
        if key not in self.results:
            attempts = Attempt.objects.select_related("tree", "base", "step").filter(step=self.steps[key].id)
            self.results[key] = attempts.latest("number")
        return self.results[key]


def of(run: Run, plan: Plan | None = None) -> State:
    """The state of a run as it is now. `plan` is the newest, where it is known."""
    newest = plan or run.plans.defer("estimate").newest()
    if newest is None:
        return State(run, None, {}, {})
    specs = specs_of(newest)
    rows = newest.steps.order_by("position").values_list(*_COLUMNS)
    return State(run, newest, {row[1]: _step(specs[row[1]], *row) for row in rows}, specs)


def _step(
    spec: PlanStep, pk: int, key: str, status: str, failures: int, tries: int, action: str | None, *rest: Any
) -> StepState:
    fingerprint, unproved, cleared, refused = rest
    return StepState(
        key,
        StepStatus(status),
        frozenset(spec.dependencies),
        spec.estimated_complexity,
        failures=failures,
        last_action=Action(action) if action else None,
        tries=tries,
        fingerprint=fingerprint,
        id=pk,
        unproved=unproved,
        cleared=cleared,
        refused=refused,
    )


def specs_of(plan: Plan) -> Mapping[str, PlanStep]:
    """What each step of a plan is to do, by key and in order."""
    return _specs(plan.pk, plan.digest)


@lru_cache(maxsize=64)  # reading the contracts of 200 steps takes as long as all else that a step costs
def _specs(plan_id: int, digest: str) -> Mapping[str, PlanStep]:
    """A version never changes, and its digest is over all of it: what is remembered stays right."""
    steps = Step.objects.filter(plan=plan_id, plan__digest=digest).order_by("position")
    return dict(steps.values_list("key", "spec"))
