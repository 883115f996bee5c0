"""The state of a run: the newest version of its plan and the steps of it, read once for all that decide."""

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
class RunState:
    """The newest plan of a run and its steps, by key and in order. `specs` are the definitions of the steps.

    It is valid within one transaction, in which steps are changed by `change` only. `results` caches the latest attempt
    at a step.
    """

    run: Run
    plan: Plan | None
    steps: dict[str, StepState]
    specs: Mapping[str, PlanStep]
    results: dict[str, Attempt] = field(default_factory=dict)

    def change(self, key: str, to: StepStatus, **fields: Any) -> None:
        """Give a step another status, and its row other `fields`. Raises MoveRefused if the change is not legal."""
        step = self.steps[key]
        change(Step(pk=step.id, key=key), to, **fields)
        known = {name: value for name, value in fields.items() if name in StepState._fields}
        self.steps[key] = step._replace(status=to, **known)

    def unfinished(self) -> list[StepState]:
        """The steps whose status can still change."""
        return [step for step in self.steps.values() if step.status not in TERMINAL_STEPS]

    def latest(self, key: str) -> Attempt:
        """The last attempt at a step."""
        if key not in self.results:
            attempts = Attempt.objects.select_related("tree", "base", "step").filter(step=self.steps[key].id)
            self.results[key] = attempts.latest("number")
        return self.results[key]


def of(run: Run, plan: Plan | None = None) -> RunState:
    """Read the state of a run. `plan` is the newest version, if the caller has read it."""
    newest = plan or run.plans.defer("estimate").newest()
    if newest is None:
        return RunState(run, None, {}, {})
    specs = specs_of(newest)
    rows = newest.steps.order_by("position").values_list(*_COLUMNS)
    return RunState(run, newest, {row[1]: _step(specs[row[1]], *row) for row in rows}, specs)


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
    """The definitions of the steps of a plan, by key and in order."""
    return _specs(plan.pk, plan.digest)


# Reading the contracts of 200 steps takes as long as everything else that one step costs. A version of a plan never
# changes, and its digest covers all of it, so that a cached value stays right.
@lru_cache(maxsize=64)
def _specs(plan_id: int, digest: str) -> Mapping[str, PlanStep]:
    steps = Step.objects.filter(plan=plan_id, plan__digest=digest).order_by("position")
    return dict(steps.values_list("key", "spec"))
