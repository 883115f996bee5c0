"""What a run would reuse if it were started now, and why not the rest: foretold from the reuse keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from runs import trees
from runs.enums import SETTLED_STEPS, StepStatus
from runs.lifecycle import reuse
from runs.lifecycle.moves import StepState
from runs.lifecycle.state import State
from runs.models import Attempt, Plan, Run, Tree, User
from runs.models.trees import tree_digest
from runs.pev.contracts import PlanContract, PlanStep
from runs.pev.policy import Policy
from runs.pev.ports import FileInfo

_NAMED = 3
"""Files that a reason lists."""


@dataclass(frozen=True)
class Inputs:
    """What would be submitted. `files` are those of the run, by path, sorted."""

    owner: User
    request: str
    policy: Policy
    files: Mapping[str, FileInfo]
    excluded: Sequence[str] = ()


@dataclass(frozen=True)
class Foreseen:
    """One step: the attempt whose result it would take over, or why it would be carried out again, as a clause."""

    key: str
    name: str
    reused: Attempt | None
    why: str = ""


@dataclass
class _Imagined(State):
    """A run that is in no table: what its steps are to do comes from the contract."""

    contract: Mapping[str, PlanStep] = field(default_factory=dict)

    @property
    def specs(self) -> Mapping[str, PlanStep]:
        return self.contract


def foresee(plan: PlanContract, given: Inputs, before: Run) -> list[Foreseen]:
    """Each step of the plan, in order, as it would come out at once. Reasons are told against the run `before`.

    It takes the steps as `moves.due` does, with the results that are waiting for an approval as approved.
    """
    state = _imagined(plan, given)
    found: dict[str, Attempt] = {}
    files = dict(given.files)
    while ready := _startable(state, given.policy):
        for key in ready:
            attempt = reuse.find(state, key, reuse.key_of(state, key))
            _set(state, key, StepStatus.JUDGED if attempt else StepStatus.RUNNING)
            if attempt:
                found[key] = attempt
        for key in ready:
            if key in found:
                _set(state, key, StepStatus.PASSED, found[key].fingerprint)
                files = _changed(files, found[key])
        state.run.head = Tree(digest=tree_digest(files))
    reason = _general_reason(given, before)
    return [
        Foreseen(key, spec.name, found.get(key), "" if key in found else _why(key, spec, plan, found, given, reason))
        for key, spec in state.specs.items()
    ]


def _imagined(plan: PlanContract, given: Inputs) -> _Imagined:
    run = Run(
        owner=given.owner,
        request=given.request,
        policy=given.policy,
        head=Tree(digest=tree_digest(given.files)),
        excluded=tuple(given.excluded),
    )
    steps = {
        step.step_id: StepState(
            step.step_id, StepStatus.PENDING, frozenset(step.dependencies), step.estimated_complexity
        )
        for step in plan.steps
    }
    specs = {step.step_id: step for step in plan.steps}
    return _Imagined(run, Plan(version=1, header=plan.for_another_run().header), steps, contract=specs)


def _startable(state: State, policy: Policy) -> list[str]:
    settled = {step.key for step in state.steps.values() if step.status in SETTLED_STEPS}
    running = sum(1 for step in state.steps.values() if step.status is StepStatus.RUNNING)
    ready = [
        step.key for step in state.steps.values() if step.status is StepStatus.PENDING and step.depends_on <= settled
    ]
    return ready[: max(0, policy.parallel - running)]


def _set(state: State, key: str, status: StepStatus, fingerprint: str = "") -> None:
    state.steps[key] = state.steps[key]._replace(status=status, fingerprint=fingerprint)


def _changed(files: dict[str, FileInfo], attempt: Attempt) -> dict[str, FileInfo]:
    merged = files | {path: info for path, info in attempt.overlay.items() if info is not None}
    gone = {path for path, info in attempt.overlay.items() if info is None}
    return {path: info for path, info in sorted(merged.items()) if path not in gone}


def _why(key: str, spec: PlanStep, plan: PlanContract, found: Mapping[str, Attempt], given: Inputs, reason: str) -> str:
    if not given.policy.reuse:
        return "results are not reused"
    if key in given.policy.without_reuse:
        return "you asked for it"
    again = [step.name for step in plan.steps if step.step_id in spec.dependencies and step.step_id not in found]
    if reason or not again:
        return reason or "no result that passed fits it any more"
    return f"“{again[0]}” runs again before it"


def _general_reason(given: Inputs, before: Run) -> str:
    """What differs from the run before, as it concerns every step."""
    reasons = []
    if given.owner.pk != before.owner_id:
        reasons.append("results of somebody else are not reused")
    if given.request != before.request:
        reasons.append("the request changed")
    if tuple(given.excluded) != tuple(before.excluded or ()):
        reasons.append("other files are left unread")
    reasons += filter(None, [_files_reason(given.files, trees.files_of(before.inputs))])
    changed = [name.replace("_", " ") for name in reuse.differing(given.policy, before.policy)]
    if changed:
        reasons.append(f"the policy changed: {', '.join(changed)}")
    return "; ".join(reasons)


def _files_reason(now: Mapping[str, FileInfo], then: Mapping[str, FileInfo]) -> str:
    """Such as “sales.csv changed, old.md is gone”."""
    parts = []
    for paths, words in (
        ([path for path in now if path in then and now[path] != then[path]], "changed"),
        ([path for path in now if path not in then], "is new"),
        ([path for path in then if path not in now], "is gone"),
    ):
        if paths:
            more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
            parts.append(f"{', '.join(paths[:_NAMED])}{more} {words}")
    return ", ".join(parts)
