"""What a run would reuse if it were started now, and why not the rest: foretold as an attempt would find it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from runs.contracts.ports import FileInfo
from runs.enums import SETTLED_STEPS, StepStatus
from runs.lifecycle.approval import reuse
from runs.lifecycle.moves import StepState
from runs.lifecycle.state import State
from runs.models import Agent, Attempt, Plan, Run, User
from runs.pev.agents import AgentDefinition, needed_by, subagents_of
from runs.pev.contracts import PlanContract, PlanStep
from runs.pev.policy import Policy
from runs.pev.read_set import FileView, concerned
from runs.store import renditions, trees
from runs.store.renditions import Readings

_NAMED = 3
"""Files that a reason lists."""


@dataclass(frozen=True)
class PreviewInputs:
    """What would be submitted. `files` are those of the run, by path, sorted."""

    owner: User
    request: str
    policy: Policy
    files: Mapping[str, FileInfo]
    excluded: Sequence[str] = ()


@dataclass(frozen=True)
class StepPreview:
    """One step: the attempt whose result it would take over, or why it would be carried out again, as a clause."""

    key: str
    name: str
    reused: Attempt | None
    why: str = ""


def preview_reuse(plan: PlanContract, given: PreviewInputs, before: Run) -> list[StepPreview]:
    """Each step of the plan, in order, as it would come out at once. Reasons are told against the run `before`.

    It takes the steps as `moves.due` does, with the results that are waiting for an approval as approved.
    """
    state = _imagined(plan, given)
    found: dict[str, Attempt] = {}
    files = dict(given.files)
    known = _readings(given.files)
    there = Agent.objects.definitions(needed_by(plan.steps, given.policy))

    def view_of(key: str) -> FileView:
        loose = reuse.loose_for(state.specs, key)
        return FileView(given.files, files, state.specs[key], known.problems, known.extents, loose)

    while ready := _startable(state, given.policy):
        for key in ready:
            reuse_key = reuse.key_of(state, key, there)
            attempt = reuse.find(state, key, reuse_key, partial(view_of, key), found.values())
            _set(state, key, StepStatus.JUDGED if attempt else StepStatus.RUNNING)
            if attempt:
                found[key] = attempt
        for key in ready:
            if key in found:
                _set(state, key, StepStatus.PASSED, found[key].fingerprint)
                files = _changed(files, found[key])
    differences = _Differences(given, before, known, there)
    return [
        StepPreview(key, spec.name, found.get(key), "" if key in found else _why(spec, plan, found, given, differences))
        for key, spec in state.specs.items()
    ]


def _readings(files: Mapping[str, FileInfo]) -> Readings:
    return renditions.readings({info.sha256 for info in files.values()})


def _imagined(plan: PlanContract, given: PreviewInputs) -> State:
    """The state of a run that is in no table."""
    run = Run(
        owner=given.owner,
        request=given.request,
        policy=given.policy,
        excluded=tuple(given.excluded),
    )
    steps = {
        step.step_id: StepState(
            step.step_id, StepStatus.PENDING, frozenset(step.dependencies), step.estimated_complexity
        )
        for step in plan.steps
    }
    specs = {step.step_id: step for step in plan.steps}
    return State(run, Plan(version=1, header=plan.for_another_run().header), steps, specs)


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


def _why(
    spec: PlanStep, plan: PlanContract, found: Mapping[str, Attempt], given: PreviewInputs, differences: _Differences
) -> str:
    if not given.policy.reuse:
        return "results are not reused"
    if spec.step_id in given.policy.without_reuse:
        return "you asked for it"
    of_step = [differences.of_agent(spec), differences.of_subagents(spec), differences.of_files(spec)]
    if reason := "; ".join(filter(None, [differences.general, *of_step])):
        return reason
    again = [step.name for step in plan.steps if step.step_id in spec.dependencies and step.step_id not in found]
    return f"“{again[0]}” runs again before it" if again else "no result that passed fits it any more"


class _Differences:
    """What differs from the run before: as it concerns every step, and the files that one of them had looked at."""

    def __init__(
        self, given: PreviewInputs, before: Run, known: Readings, agents: Mapping[str, AgentDefinition]
    ) -> None:
        self._agents = agents
        self._now, self._then = given.files, trees.files_of(before.inputs)
        self._known = renditions.joined(known, _readings(self._then))
        passed = Attempt.objects.of_run(before).passed().filter(step__status=StepStatus.PASSED).order_by("pk")
        rows = list(passed.values_list("step__key", "reads", "agent", "subagents"))
        self._reads = {key: reads for key, reads, *_ in rows}
        self._played_by = {key: agent for key, _, agent, _ in rows}
        self._subagents = {key: there for key, _, _, there in rows}
        self._policy = given.policy
        self.general = _general_reason(given, before)

    def of_agent(self, spec: PlanStep) -> str:
        """What became of its agent since the result before."""
        then, now = self._played_by.get(spec.step_id), self._agents.get(spec.agent)
        if then is None or (now and now.digest == then.digest):
            return ""
        return f"the agent {spec.agent} {'was changed' if now else 'is not there any more'}" if spec.agent else ""

    def of_subagents(self, spec: PlanStep) -> str:
        """What became of those that it may hand parts to, the first of them."""
        then, names = self._subagents.get(spec.step_id), subagents_of(spec, self._policy)
        if then is not None and tuple(sorted(then)) != names:
            return "it may hand parts to other subagents"
        for name in names:
            now = self._agents.get(name)
            if then is not None and (now is None or now.digest != then[name].digest):
                return f"the subagent {name} {'was changed' if now else 'is not there any more'}"
        return ""

    def of_files(self, spec: PlanStep) -> str:
        """Such as “sales.csv changed, old.md is gone”, of those that the result before rests on."""
        if spec.step_id not in self._reads:
            return ""
        problems, extents = self._known.problems, self._known.extents
        then, now = (FileView(files, files, spec, problems, extents) for files in (self._then, self._now))
        changed = concerned(self._reads[spec.step_id], then, now)
        parts = []
        for words, paths in (
            ("changed", [path for path in changed if path in self._then and path in self._now]),
            ("is new", [path for path in changed if path not in self._then]),
            ("is gone", [path for path in changed if path not in self._now]),
        ):
            if paths:
                more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
                parts.append(f"{', '.join(paths[:_NAMED])}{more} {words}")
        return ", ".join(parts)


def _general_reason(given: PreviewInputs, before: Run) -> str:
    """What differs from the run before, as it concerns every step."""
    reasons = []
    if given.owner.pk != before.owner_id:
        reasons.append("results of somebody else are not reused")
    if given.request != before.request:
        reasons.append("the request changed")
    if tuple(given.excluded) != tuple(before.excluded):
        reasons.append("other files are left unread")
    changed = [name.replace("_", " ") for name in reuse.differing(given.policy, before.policy)]
    if changed:
        reasons.append(f"the policy changed: {', '.join(changed)}")
    return "; ".join(reasons)
