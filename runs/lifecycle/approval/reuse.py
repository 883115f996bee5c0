"""Reuse of passed attempts: finding one whose result would be the same now, and telling beforehand which steps would.

Two things have to be equal: the key, a digest of all that is known before an attempt starts, and the files that the
attempt looked at, which are recorded with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from django.conf import settings

from runs.contracts.base import PERSON
from runs.contracts.ports import FileInfo
from runs.enums import SETTLED_STEPS, Effect, Role, StepStatus
from runs.lifecycle.approval.fingerprint import digest_of
from runs.lifecycle.change_requests import judged_at, requests_of
from runs.lifecycle.coverage import shown_in
from runs.lifecycle.moves import StepState
from runs.lifecycle.state import State
from runs.lifecycle.toolset import checking_commands
from runs.llm.capabilities import window_of
from runs.mcp_client.server_config import SEPARATOR
from runs.models import Agent, Attempt, Gate, Plan, Run, Tree, User
from runs.pev import prompts
from runs.pev.agents import AgentDefinition, needed_by, policy_for_agent, subagents_of
from runs.pev.checks.material import matching
from runs.pev.contracts import PlanContract, PlanHeader, PlanStep
from runs.pev.conversation.window import cuts
from runs.pev.input_coverage import read_whole
from runs.pev.plans.ordering import ancestors
from runs.pev.policy import SETTINGS, Policy, deciding_values
from runs.pev.read_set import FileView, concerned, holds
from runs.pev.tools.registry import DEPENDING_ON_TIME, effect_of
from runs.store import renditions, trees
from runs.store.renditions import Readings, joined
from runs.text.paths import clashes

NOBODY: Mapping[str, AgentDefinition] = MappingProxyType({})
MAX_CANDIDATES = 10
"""Attempts with the same key that are compared with the files, newest first: each was done on other files."""


def key_of(state: State, key: str, agents: Mapping[str, AgentDefinition] = NOBODY) -> str:
    """The digest of all that an attempt at this step depends on beside the files: definition, results it rests on, the
    parts of the policy that matter, models with how much they are shown, instructions, and of the `agents` its own and
    its subagents. The names of the other steps are for orientation only: with them in it, a step that is added to a
    plan would have all others paid for again.
    """
    run, plan = state.run, state.plan
    assert plan is not None
    agent, step = agents.get(state.specs[key].agent), state.steps[key]
    policy = policy_for_agent(run.policy, agent)
    before = [state.steps[name] for name in sorted(step.depends_on)]
    return digest_of(
        {
            "request": run.request,
            "goal": plan.header.goal,
            "context": plan.header.context,
            "step": state.specs[key],
            "requests": [
                (gate.request, gate.reason, gate.attempt.fingerprint) for gate in _requests(state, key) if gate.attempt
            ],
            "excluded": run.excluded,
            "outputs": _said_elsewhere(plan.header, state.specs, key),
            "results": [one.fingerprint for one in before if one.status in SETTLED_STEPS],
            "models": [policy.model_for(role) for role in (Role.EXECUTOR, Role.VERIFIER)],
            "policy": deciding_values(policy),
            "instructions": prompts.version(),
            **_window(policy),
            **_answers(run),
            **_commands(state.specs[key]),
            **({"agent": agent.digest} if agent else {}),
            **_subagents(state.specs[key], run.policy, agents),
        }
    )


def _subagents(spec: PlanStep, policy: Policy, agents: Mapping[str, AgentDefinition]) -> dict[str, object]:
    """Who may do parts of the step, and what all of them are told."""
    there = {name: agents[name].digest for name in subagents_of(spec, policy) if name in agents}
    return {"subagents": [prompts.version_for_subagents(), there]} if there else {}


def _window(policy: Policy) -> dict[str, int]:
    """The executor's context window, where it is so small that the model was shown less of files at a time.

    Nothing of windows that cut nothing: these may be others tomorrow, and what was found stays as good.
    """
    window = window_of(policy.model_for(Role.EXECUTOR).model, Role.EXECUTOR)
    return {"window": window} if window and cuts(window) else {}


def _commands(spec: PlanStep) -> dict[str, object]:
    """What the commands are, where the step or a check of it may run them."""
    is_run = any(effect_of(name) is Effect.RUNS_COMMANDS for name in spec.tools)
    runs = is_run or checking_commands(spec.acceptance_criteria)
    return {"commands": settings.COMMANDS} if runs else {}


def _answers(run: Run) -> dict[str, object]:
    """What people have answered to questions of models, where they were asked."""
    said = list(run.gates.answers().values_list("question", "reason")) if run.requests else []
    return {"answers": said} if said else {}


def _said_elsewhere(header: PlanHeader, specs: Mapping[str, PlanStep], key: str) -> list[object]:
    """What other steps and the success criteria say of the files this one writes that its verification heeds: how long
    they are to be, and which are finished texts.
    """
    written, others = set(specs[key].outputs), [spec for name, spec in specs.items() if name != key]
    criteria = [*(one for spec in others for one in spec.acceptance_criteria), *header.success_criteria]
    sizes = [one.check for one in criteria if one.check and one.check.limits_size]
    finished = {output.path for spec in others for output in spec.expected_outputs if not output.cited}
    return [*(check for check in sizes if check.subject in written), *sorted(written & finished)]


def differing(one: Policy, other: Policy) -> list[str]:
    """What of two policies differs that an attempt's result may depend on: fields, and `models`."""
    models = [[policy.model_for(role) for role in (Role.EXECUTOR, Role.VERIFIER)] for policy in (one, other)]
    decided = [deciding_values(policy) for policy in (one, other)]
    fields = [name for name in SETTINGS if decided[0].get(name) != decided[1].get(name)]
    return [*fields, *(["models"] if models[0] != models[1] else [])]


def _requests(state: State, key: str) -> list[Gate]:
    """What people asked for that this step's result is judged by. There is none before anything was tried."""
    plan = state.plan
    assert plan is not None
    if plan.version == 1 and state.steps[key].tries <= 1:
        return []
    return [gate for gate in requests_of(state.run) if judged_at(gate, plan.header, state.steps) == key]


def view_of(run: Run, tree: Tree, specs: Mapping[str, PlanStep], key: str) -> FileView:
    """The files as an attempt at this step of a plan finds them that begins with this tree."""
    known = joined(trees.readings_of(run.inputs), trees.readings_of(tree))
    given, now = trees.files_of(run.inputs), trees.files_of(tree)
    return FileView(given, now, specs[key], known.problems, known.extents, loose_for(specs, key))


def loose_for(specs: Mapping[str, PlanStep], key: str) -> Set[str]:
    """What steps write that this one does not wait for: their files are there or not, as it happens."""
    before = ancestors({name: spec.dependencies for name, spec in specs.items()})[key] | {key}
    others = {path for name, spec in specs.items() if name not in before for path in spec.outputs}
    return others.difference(*(specs[name].outputs for name in before))


def find(
    state: State, key: str, reuse_key: str, view: Callable[[], FileView], taken: Collection[Attempt] = ()
) -> Attempt | None:
    """The newest passed attempt with this key, of the owner's own runs (S4), whose result was kept and which has looked
    at nothing that is otherwise now. `taken`: those that a run which is in no table has taken over.

    None when reuse is off for the run or the step, or when it wrote files that only its own plan declared, or that
    cannot lie beside those there are. One that has no record of what it looked at is not compared, and not reused; nor
    is one that asked a person, read the web or called a server: nobody has said the same here, and the world goes on.
    """
    run = state.run
    if not run.policy.reuse or key in run.policy.without_reuse:
        return None
    same = Attempt.objects.filter(reuse_key=reuse_key)
    if not same.exists():  # nearly always, and a third of the cost of the whole question
        return None
    passed = (
        same.passed()
        .filter(reused_from=None, step__status=StepStatus.PASSED, step__plan__run__owner=run.owner_id)
        .exclude(tool_calls__name__in=DEPENDING_ON_TIME)
        .exclude(tool_calls__name__contains=SEPARATOR)
    )
    now = view()
    for pk, reads in passed.order_by("-pk").values_list("pk", "reads")[:MAX_CANDIDATES]:
        if reads and holds(reads, now):
            found = Attempt.objects.select_related("step__plan", "verdict").get(pk=pk)
            if _fits(found, state.specs[key], now) and _is_proved(found, state, state.specs[key], now, taken):
                return found
    return None


def _fits(attempt: Attempt, spec: PlanStep, view: FileView) -> bool:
    """Whether what it wrote may lie in the workspace."""
    new = [path for path in attempt.overlay if path not in view.workspace]
    beside = any(set(pair) & set(new) for pair in clashes([*view.workspace, *new]))
    return set(attempt.overlay) <= set(spec.outputs) and not beside


def _is_proved(attempt: Attempt, state: State, spec: PlanStep, view: FileView, taken: Collection[Attempt]) -> bool:
    """Whether its verdict rests on nothing that only its own run had: what a person said there, or files that other
    steps had read whole, in which something does not occur.
    """
    verdict = attempt.verdict
    evidence = [*(one.evidence for one in verdict.results), *(one.evidence for one in verdict.requests)]
    proofs = (item for items in evidence for item in items if item.verified)
    if any(name.startswith(PERSON) for item in proofs for name in (item.source, item.cites)):
        return False
    patterns = [one.check.reads_whole for one in spec.acceptance_criteria if one.check and one.check.reads_whole]
    if not patterns:
        return True
    whole = read_whole(view.given, shown_in(state.run, [attempt, *taken]))
    return all(path in whole for pattern in patterns for path in matching(pattern, view.given))


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
        loose = loose_for(state.specs, key)
        return FileView(given.files, files, state.specs[key], known.problems, known.extents, loose)

    while ready := _startable(state, given.policy):
        for key in ready:
            reuse_key = key_of(state, key, there)
            attempt = find(state, key, reuse_key, partial(view_of, key), found.values())
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
        return f"the agent {spec.agent} {'was changed' if now else 'no longer exists'}" if spec.agent else ""

    def of_subagents(self, spec: PlanStep) -> str:
        """What became of those that it may hand parts to, the first of them."""
        then, names = self._subagents.get(spec.step_id), subagents_of(spec, self._policy)
        if then is not None and tuple(sorted(then)) != names:
            return "it may hand parts to other subagents"
        for name in names:
            now = self._agents.get(name)
            if then is not None and (now is None or now.digest != then[name].digest):
                return f"the subagent {name} {'was changed' if now else 'no longer exists'}"
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
    changed = [name.replace("_", " ") for name in differing(given.policy, before.policy)]
    if changed:
        reasons.append(f"the policy changed: {', '.join(changed)}")
    return "; ".join(reasons)
