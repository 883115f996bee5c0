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
from runs.lifecycle.moves import StepState, free_places, ready_to_start
from runs.lifecycle.state import RunState
from runs.lifecycle.toolset import checking_commands
from runs.llm.capabilities import window_of
from runs.mcp_client.server_config import SEPARATOR
from runs.models import Agent, Attempt, Gate, Overruling, Plan, Run, Tree, User
from runs.pev import prompts
from runs.pev.agents import AgentDefinition, needed_by, policy_for_agent, subagents_of
from runs.pev.checks.material import matching
from runs.pev.contracts import PlanContract, PlanHeader, PlanStep
from runs.pev.conversation.window import cuts
from runs.pev.input_coverage import read_whole
from runs.pev.plans.ordering import ancestors_of
from runs.pev.policy import SETTINGS, Policy, deciding_values
from runs.pev.read_set import FileView, concerned, holds
from runs.pev.tools.registry import DEPENDING_ON_TIME, effect_of
from runs.store import renditions, trees
from runs.store.renditions import Readings, joined
from runs.text.paths import clashes

NOBODY: Mapping[str, AgentDefinition] = MappingProxyType({})
MAX_CANDIDATES = 10
"""Attempts with the same key whose files are compared, newest first. Each of them worked on other files."""


def key_of(state: RunState, key: str, agents: Mapping[str, AgentDefinition] = NOBODY) -> str:
    """The digest of everything that an attempt at this step depends on, apart from files.

    That is its definition, the results it rests on, the parts of the policy that matter, the models and how much they
    are shown, the instructions, its agent and its subagents (from `agents`, by name).
    """
    # The names of the other steps are left out, although the prompt has them: they are for orientation only, and
    # with them a step that is added to a plan would have all others carried out and paid for again.
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
            "outputs": _required_elsewhere(plan.header, state.specs, key),
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
    """The subagents of the step, with the instructions that all of them share."""
    there = {name: agents[name].digest for name in subagents_of(spec, policy) if name in agents}
    return {"subagents": [prompts.version_for_subagents(), there]} if there else {}


def _window(policy: Policy) -> dict[str, int]:
    """The executor's context window, if it is so small that files are shown in smaller parts.

    Larger windows do not matter: another size gives the same result.
    """
    window = window_of(policy.model_for(Role.EXECUTOR).model, Role.EXECUTOR)
    return {"window": window} if window and cuts(window) else {}


def _commands(spec: PlanStep) -> dict[str, object]:
    """The commands of the installation, if the step or one of its checks may run them."""
    is_run = any(effect_of(name) is Effect.RUNS_COMMANDS for name in spec.tools)
    runs = is_run or checking_commands(spec.acceptance_criteria)
    return {"commands": settings.COMMANDS} if runs else {}


def _answers(run: Run) -> dict[str, object]:
    """The answers of people to questions of models, if there are any."""
    said = list(run.gates.answers().values_list("question", "reason")) if run.requests else []
    return {"answers": said} if said else {}


def _required_elsewhere(header: PlanHeader, specs: Mapping[str, PlanStep], key: str) -> list[object]:
    """What other steps and the success criteria require of the files that this step writes.

    Verification heeds it: how long they must be, and which are finished texts without citations.
    """
    written, others = set(specs[key].outputs), [spec for name, spec in specs.items() if name != key]
    criteria = [*(one for spec in others for one in spec.acceptance_criteria), *header.success_criteria]
    sizes = [one.check for one in criteria if one.check and one.check.limits_size]
    finished = {output.path for spec in others for output in spec.expected_outputs if not output.cited}
    return [*(check for check in sizes if check.subject in written), *sorted(written & finished)]


def differing(one: Policy, other: Policy) -> list[str]:
    """The names of the fields in which two policies differ so that the result of an attempt may differ."""
    models = [[policy.model_for(role) for role in (Role.EXECUTOR, Role.VERIFIER)] for policy in (one, other)]
    decided = [deciding_values(policy) for policy in (one, other)]
    fields = [name for name in SETTINGS if decided[0].get(name) != decided[1].get(name)]
    return [*fields, *(["models"] if models[0] != models[1] else [])]


def _requests(state: RunState, key: str) -> list[Gate]:
    """The requests of people by which the result of this step is judged. None before something was tried."""
    plan = state.plan
    assert plan is not None
    if plan.version == 1 and state.steps[key].tries <= 1:
        return []
    return [gate for gate in requests_of(state.run) if judged_at(gate, plan.header, state.steps) == key]


def view_of(inputs: Tree, tree: Tree, specs: Mapping[str, PlanStep], key: str) -> FileView:
    """The files as an attempt at this step finds them if it begins with these input files and this tree."""
    known = joined(trees.readings_of(inputs), trees.readings_of(tree))
    given, now = trees.files_of(inputs), trees.files_of(tree)
    return FileView(given, now, specs[key], known.problems, known.extents, loose_for(specs, key))


def loose_for(specs: Mapping[str, PlanStep], key: str) -> Set[str]:
    """Files of steps that this step does not wait for: whether they exist when it starts is a matter of chance."""
    before = ancestors_of(key, {name: spec.dependencies for name, spec in specs.items()}) | {key}
    others = {path for name, spec in specs.items() if name not in before for path in spec.outputs}
    return others.difference(*(specs[name].outputs for name in before))


def find(
    state: RunState, key: str, reuse_key: str, view: Callable[[], FileView], taken: Collection[Attempt] = ()
) -> Attempt | None:
    """The newest passed attempt with this key in the owner's own runs (S4) whose result can be taken over; else None.

    Everything that it looked at must be unchanged, and the files that it wrote must be declared by this step and fit
    next to the others. An attempt without a record of what it looked at is not reused. An attempt that asked a person,
    read the web or called an MCP server is not reused either: the answer may be different today. Nor is one of which a
    person rejects a criterion.

    `taken` are attempts that a run without rows has taken over (`preview_reuse`).
    """
    run = state.run
    if not run.policy.reuse or key in run.policy.without_reuse:
        return None
    same = Attempt.objects.filter(reuse_key=reuse_key)
    if not same.exists():  # the usual case, for a third of the time that the query below takes
        return None
    passed = (
        same.passed()
        .filter(reused_from=None, step__status=StepStatus.PASSED, step__plan__run__owner=run.owner_id)
        .exclude(tool_calls__name__in=DEPENDING_ON_TIME)
        .exclude(tool_calls__name__contains=SEPARATOR)
        .exclude(overrulings__in=Overruling.objects.rejections())
    )
    now = view()
    for pk, reads in passed.order_by("-pk").values_list("pk", "reads")[:MAX_CANDIDATES]:
        if reads and holds(reads, now):
            found = Attempt.objects.select_related("step__plan", "verdict").get(pk=pk)
            if _fits(found, state.specs[key], now) and _is_proved(found, state, state.specs[key], now, taken):
                return found
    return None


def _fits(attempt: Attempt, spec: PlanStep, view: FileView) -> bool:
    """Whether the files that it wrote are declared and clash with no name in the workspace."""
    new = [path for path in attempt.overlay if path not in view.workspace]
    beside = any(set(pair) & set(new) for pair in clashes([*view.workspace, *new]))
    return set(attempt.overlay) <= set(spec.outputs) and not beside


def _is_proved(attempt: Attempt, state: RunState, spec: PlanStep, view: FileView, taken: Collection[Attempt]) -> bool:
    """Whether its verdict holds in this run as well.

    It does not if it quotes what a person said in the other run, or if a check found terms in no file and this run has
    not read all of those files whole.
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


_MAX_NAMES = 3
"""Files that a reason lists."""


@dataclass(frozen=True)
class PreviewInputs:
    """What would be submitted. `files` are sorted by path."""

    owner: User
    request: str
    policy: Policy
    files: Mapping[str, FileInfo]
    excluded: Sequence[str] = ()


@dataclass(frozen=True)
class StepPreview:
    """A step with the attempt whose result it would take over, or a clause that says why it would run again."""

    key: str
    name: str
    reused: Attempt | None
    why: str = ""


def preview_reuse(plan: PlanContract, given: PreviewInputs, before: Run) -> list[StepPreview]:
    """Which steps of a plan would be reused if it were started now, in order. Reasons compare with the run `before`.

    Steps are taken in the order of `moves.due`, as if every result that waits for a person were approved.
    """
    state = _state_without_rows(plan, given)
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
                changed = {**files, **found[key].overlay}
                files = {path: info for path, info in sorted(changed.items()) if info is not None}
    differences = _Differences(given, before, known, there)
    return [
        StepPreview(key, spec.name, found.get(key), "" if key in found else _why(spec, plan, found, given, differences))
        for key, spec in state.specs.items()
    ]


def _readings(files: Mapping[str, FileInfo]) -> Readings:
    return renditions.readings({info.sha256 for info in files.values()})


def _state_without_rows(plan: PlanContract, given: PreviewInputs) -> RunState:
    """The state of a run that has no rows."""
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
    return RunState(run, Plan(version=1, header=plan.for_another_run().header), steps, specs)


def _startable(state: RunState, policy: Policy) -> list[str]:
    steps = state.steps.values()
    return [step.key for step in ready_to_start(steps)[: free_places(steps, policy)]]


def _set(state: RunState, key: str, status: StepStatus, fingerprint: str = "") -> None:
    state.steps[key] = state.steps[key]._replace(status=status, fingerprint=fingerprint)


def _why(
    spec: PlanStep, plan: PlanContract, found: Mapping[str, Attempt], given: PreviewInputs, differences: _Differences
) -> str:
    if not given.policy.reuse:
        return "results are not reused"
    if spec.step_id in given.policy.without_reuse:
        return "you asked for it"
    of_step = [part(spec) for part in differences.of_step]
    if reason := "; ".join(filter(None, [differences.general, *of_step])):
        return reason
    again = [step.name for step in plan.steps if step.step_id in spec.dependencies and step.step_id not in found]
    return f"“{again[0]}” runs again before it" if again else "no passed result fits it any longer"


class _Differences:
    """The differences from the run before: those that concern every step, and those that concern one."""

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
        self._rejected = set(
            passed.filter(overrulings__in=Overruling.objects.rejections()).values_list("step__key", flat=True)
        )
        self._policy = given.policy
        self.general = _general_reason(given, before)

    @property
    def of_step(self) -> Sequence[Callable[[PlanStep], str]]:
        """What tells the reasons that concern one step."""
        return self.of_agent, self.of_subagents, self.of_files, self.of_people

    def of_agent(self, spec: PlanStep) -> str:
        """What happened to its agent since the earlier result."""
        then, now = self._played_by.get(spec.step_id), self._agents.get(spec.agent)
        if then is None or (now and now.digest == then.digest):
            return ""
        return f"the agent {spec.agent} {'was changed' if now else 'no longer exists'}" if spec.agent else ""

    def of_subagents(self, spec: PlanStep) -> str:
        """What happened to its subagents since the earlier result; the first change."""
        then, names = self._subagents.get(spec.step_id), subagents_of(spec, self._policy)
        if then is not None and tuple(sorted(then)) != names:
            return "it may hand parts to other subagents"
        for name in names:
            now = self._agents.get(name)
            if then is not None and (now is None or now.digest != then[name].digest):
                return f"the subagent {name} {'was changed' if now else 'no longer exists'}"
        return ""

    def of_people(self, spec: PlanStep) -> str:
        """Whether a person rejects the earlier result."""
        return "a person rejects its result" if spec.step_id in self._rejected else ""

    def of_files(self, spec: PlanStep) -> str:
        """Changes of the files that the earlier result rests on, such as “sales.csv changed, old.md is gone”."""
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
                more = f" and {len(paths) - _MAX_NAMES} more" if len(paths) > _MAX_NAMES else ""
                parts.append(f"{', '.join(paths[:_MAX_NAMES])}{more} {words}")
        return ", ".join(parts)


def _general_reason(given: PreviewInputs, before: Run) -> str:
    """The differences that concern every step."""
    reasons = []
    if given.owner.pk != before.owner_id:
        reasons.append("results of another person are not reused")
    if given.request != before.request:
        reasons.append("the request changed")
    if tuple(given.excluded) != tuple(before.excluded):
        reasons.append("other files are left unread")
    changed = [name.replace("_", " ") for name in differing(given.policy, before.policy)]
    if changed:
        reasons.append(f"the policy changed: {', '.join(changed)}")
    return "; ".join(reasons)
