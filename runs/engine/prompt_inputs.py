"""The input for the prompts of each role: reads rows and makes the briefs that pev takes."""

import codecs
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q

from runs.contracts.feedback import AnsweredQuestion
from runs.contracts.ports import ToolSpec
from runs.enums import (
    SETTLED_STEPS,
    Action,
    AttemptStatus,
    GateStatus,
    Missing,
    OriginalPages,
    PlanStatus,
    Role,
)
from runs.lifecycle import state as states
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.available_agents import agent_roster
from runs.lifecycle.change_requests import judged_at, requests_of
from runs.lifecycle.coverage import remarks_on
from runs.lifecycle.criteria_ledger import entries_of, ledger_of
from runs.lifecycle.gates import start_gate
from runs.lifecycle.gates.error_gate import where_of
from runs.lifecycle.gates.gate_type import Subject
from runs.lifecycle.gates.registry import type_of
from runs.lifecycle.toolset import command_lines, commands_allowed, server_specs, tool_names
from runs.models import Attempt, Gate, Plan, Run, Step, Tree, WorkItem
from runs.models.plans import FIRST_PLAN
from runs.pev.agents import DELEGATE, NO_AGENTS, Subagent, permitted, policy_for_agent
from runs.pev.outcome import gaps_in, point_of
from runs.pev.planner import Lesson, PlanBrief, RejectedWork
from runs.pev.policy import Capacities, Policy
from runs.pev.step_brief import Critique, StepBrief
from runs.pev.synthesizer import AnswerBrief
from runs.pev.tools.delegate import Delegate
from runs.pev.tools.registry import specs, tools_of
from runs.readmodel.run_files import written_files
from runs.store import blobs, trees
from runs.text.truncate import truncate_line

RESULT_CHARS = 4_000
"""Characters of the result of a step that a new plan may keep. The planner only needs to know what it is about."""
_CARRIED_OUT = frozenset({PlanStatus.APPROVED, PlanStatus.SUPERSEDED})
"""The statuses of earlier versions that were carried out. The newest stays approved until there is another."""
REASON_CHARS = 300
"""Characters of a reason: one line of the plan gate. The attempt or the decision has the whole text."""
_OF_THE_ANSWER = frozenset({Missing.ANSWER, Missing.JUDGEMENT, Missing.CRITERION, Missing.GROUNDS})
"""Gaps that always exist before the answer is written."""
REASONS = 3
"""Reasons that are given with a version that must not be repeated: the last ones. The lessons have all of them."""


MAX_NAMED = 50
"""Files that were given and that the next attempt is told by name. It sees all in the list of files."""


def for_planner(item: WorkItem, capabilities: Capacities) -> tuple[PlanBrief, str]:
    """The brief, and a sentence that says why this version of the plan is written."""
    run = item.run
    policy = run.policy
    role_model = policy.model_for(Role.PLANNER)
    files = trees.files_of(run.inputs)
    plans = list(run.plans.order_by("version"))
    previous = plans[-1] if plans else None
    settled = (
        list(previous.steps.filter(status__in=SETTLED_STEPS).order_by("position").values_list("key", "spec"))
        if previous
        else []
    )
    results = results_of(previous, [key for key, _ in settled]) if previous else {}
    learnt = {plan.pk: _lessons(plan) for plan in plans}
    happened = [lesson for plan in plans for lesson in learnt[plan.pk]]
    lessons = (*request_lessons(requests_of(run), happened), *happened)
    brief = PlanBrief(
        request=run.request,
        files=files,
        previews=previews_of(run.inputs),
        tools=(*specs(tool_names(policy), command_lines()), *delegating(policy), *server_specs(policy)),
        model=role_model.model,
        effort=role_model.effort,
        max_steps=policy.max_steps,
        commands=list(commands_allowed(policy)),
        agents=agent_roster(policy),
        sources_needed=policy.sources_needed,
        remarks=remarks_on(run, run.inputs, pages=capabilities.executor.pages is not OriginalPages.NEVER),
        lessons=lessons,
        answers=answers(run, ~Q(work=item.pk)),  # its own answers come as results of its tool, also after a crash
        kept=tuple(spec for _, spec in settled),
        results={key: result.text[:RESULT_CHARS] for key, result in results.items()},
        previous=fingerprint.contract_of(previous) if previous else None,
        spent=(*_spent_versions(plans, learnt), *_spent_steps(run)) if previous else (),
        stands=previous is not None and previous.status == PlanStatus.APPROVED,
        simple=Role.PLANNER in capabilities.simple,
    )
    return brief, _reason(lessons[-1], previous) if lessons else FIRST_PLAN


def _reason(lesson: Lesson, previous: Plan | None) -> str:
    """Why there is a new version: what happened last. The words of a person are shown with their decision instead."""
    failures = list(_failures(previous)) if previous and previous.status in _CARRIED_OUT else []
    if failures and _lesson(*failures[-1]) == lesson:
        step, critique = failures[-1]
        used_up = step.failures >= step.plan.run.policy.attempts
        name = f"“{step.spec.name}”"
        why = f"All attempts at {name} are used up" if used_up else f"{name} cannot go on as planned"
        words = "" if critique.from_person else f" {critique.label.capitalize()}: {_short(critique.text)}"
        return f"{why}, so it is planned again.{words}"
    if not lesson.from_person:
        return f"{lesson.label}: {_short(lesson.text)}"
    label = lesson.label
    for step in previous.steps.all() if previous else ():  # the label has the key of a step, which only models need
        label = label.replace(f" the start of step {step.key} of ", f" the start of “{step.spec.name}” in ", 1)
        if label.endswith(where := f" in step {step.key}"):
            label = f"{label.removesuffix(where)} in “{step.spec.name}”"
            break
    return f"{label.replace(' rejected ', ' requested changes to ', 1)}."


def _short(text: str) -> str:
    return truncate_line(text, REASON_CHARS)


def _spent_versions(plans: Sequence[Plan], learnt: Mapping[int, Sequence[Lesson]]) -> Iterator[RejectedWork]:
    """The newest version and all that were carried out, each with the last reasons against it: what it did not
    achieve, according to the steps that were tried, and what people said.
    """
    for plan in plans:
        was_carried_out = plan.status in _CARRIED_OUT
        if was_carried_out or plan is plans[-1]:
            why = []
            if was_carried_out:
                missed = (entry for entry in entries_of(plan) if entry.tried and entry.status not in SETTLED_STEPS)
                why += [point_of(entry).sentence for entry in missed]
                why += [_short(line) for line in plan.unmet.splitlines()]
            why += [f"{lesson.label}: {_short(lesson.text)}" for lesson in learnt[plan.pk] if lesson.from_person]
            yield RejectedWork(plan.version, fingerprint.contract_of(plan), " ".join(why[-REASONS:]))


def _spent_steps(run: Run) -> Iterator[RejectedWork]:
    """The steps of all versions that, according to the latest verdict, cannot be done."""
    impossible = Step.objects.of_run(run).filter(last_action=Action.CANNOT).exclude(status__in=SETTLED_STEPS)
    for step in impossible.select_related("plan").order_by("pk"):
        yield RejectedWork(step.plan.version, step.spec, _short(" ".join(one.text for one in critiques_of(step)[-1:])))


def _lessons(plan: Plan) -> tuple[Lesson, ...]:
    """What failed in a version that was carried out, and what people said about a rejected version, in order."""
    about = Q(plan=plan) | Q(step__plan=plan, kind=start_gate.GATE.kind)
    gates = plan.run.gates.filter(about, status=GateStatus.REJECTED).select_related("decided_by", "step").order_by("id")
    found: list[Lesson] = []
    if plan.status in _CARRIED_OUT:
        found += (_lesson(step, critique) for step, critique in _failures(plan))
        if plan.unmet:
            found.append(Lesson(f"Success criteria that version {plan.version} did not meet", plan.unmet))
    for gate in gates:
        gate_type = type_of(gate)
        if gate_type.subject is Subject.ERROR:  # what a person asked for is about this error
            found.append(Lesson(f"An error that held version {plan.version}{where_of(gate)}", gate.question))
        label = f"{gate.decider} rejected {gate_type.about_request_for_planner(gate, f'version {plan.version}')}"
        found += (Lesson(label, asked.words, from_person=True, request=asked.request) for asked in gate.asked)
    return tuple(found)


def _failures(plan: Plan) -> Iterator[tuple[Step, Critique]]:
    for step in plan.steps.exclude(status__in=SETTLED_STEPS).select_related("plan__run").order_by("position"):
        yield from ((step, critique) for critique in critiques_of(step))


def _lesson(step: Step, critique: Critique) -> Lesson:
    label = f"Version {step.plan.version}, step {step.key}, {critique.label}"
    return Lesson(label, critique.text, critique.from_person, critique.request)


def critiques_of(step: Step) -> tuple[Critique, ...]:
    """Everything that verifier and people said about the attempts at a step, in order."""
    found: list[Critique] = []
    attempts = step.attempts.order_by("number").select_related("verdict").prefetch_related("gates__decided_by")
    for attempt in attempts:
        verdict = getattr(attempt, "verdict", None)
        if verdict and verdict.feedback:
            found.append(Critique(f"attempt {attempt.number}", verdict.feedback))
        if attempt.status == AttemptStatus.CONFLICT:
            found.append(
                Critique(f"attempt {attempt.number}", "Another step changed the same file; work on the new one.")
            )
        found += [_supply_in(gate) for gate in attempt.gates.all() if gate.status == GateStatus.SUPPLIED]
        rejections = (gate for gate in attempt.gates.all() if gate.status == GateStatus.REJECTED)
        found += [one for gate in rejections for one in critiques_at(gate, f"attempt {attempt.number}")]
    return tuple(found)


def _supply_in(gate: Gate) -> Critique:
    """Not words of a person: the names may come from an archive that someone else made."""
    number = gate.attempt.number if gate.attempt else 0
    names = ", ".join((gate.supplied or [])[:MAX_NAMED])
    text = f"These files were missing, and are now among the input files: {names}."
    return Critique(f"{gate.decider} after attempt {number}", text)


def for_executor(attempt: Attempt, capabilities: Capacities) -> StepBrief:
    step = attempt.step
    run = step.plan.run
    policy = policy_for_agent(run.policy, attempt.agent)
    role_model = policy.model_for(Role.EXECUTOR)
    results = results_of(step.plan, step.depends_on)
    earlier = earlier_critiques(attempt, requests_of(run)) if step.plan.version > 1 else ()
    return StepBrief(
        request=run.request,
        goal=step.plan.header.goal,
        context=step.plan.header.context,
        steps={key: spec.name for key, spec in states.specs_of(step.plan).items()},
        step=step.spec,
        files=trees.files_of(attempt.given),
        remarks=remarks_on(run, attempt.given, pages=capabilities.executor.pages is not OriginalPages.NEVER),
        changed_files=written_files(run, attempt.base),
        results={key: result.text for key, result in results.items()},
        notes={key: result.notes for key, result in results.items()},
        model=role_model.model,
        effort=role_model.effort,
        rounds=policy.rounds,
        window=capabilities.executor.window,
        answers=answers(run, Q(decided_at__lt=attempt.created_at)),
        critiques=(*earlier, *(critiques_of(step) if attempt.number > 1 else ())),
        instructions=attempt.agent.instructions if attempt.agent else "",
        subagents=subagents_of_attempt(attempt, capabilities),
        simple=Role.EXECUTOR in capabilities.simple,
    )


class StepResult(NamedTuple):
    """What an attempt passes to dependent steps, apart from files: its findings, and notes on them."""

    text: str
    notes: str


def results_of(plan: Plan, keys: Sequence[str]) -> dict[str, StepResult]:
    """The results of the latest attempts at settled steps, by key and in the order of the plan."""
    if not keys:
        return {}
    own = Attempt.objects.filter(step__plan=plan.pk, step__key__in=keys)
    outputs = list(own.order_by("number").values_list("step__key", "output"))  # the last attempt wins
    if plan.version > 1:  # only later versions keep results of earlier ones
        kept = plan.steps.filter(key__in=keys, reused_from__isnull=False)
        outputs += kept.order_by().values_list("key", "reused_from__output")
    found = {key: StepResult(output.findings, output.notes) for key, output in outputs if output}
    return {key: found[key] for key in states.specs_of(plan) if key in found}


def for_synthesizer(run: Run, plan: Plan) -> AnswerBrief:
    role_model = run.policy.model_for(Role.SYNTHESIZER)
    statuses = dict(plan.steps.values_list("key", "status"))
    settled = [key for key, status in statuses.items() if status in SETTLED_STEPS]
    results = results_of(plan, settled)
    return AnswerBrief(
        request=run.request,
        goal=plan.header.goal,
        results={key: result.text for key, result in results.items()},
        notes={key: result.notes for key, result in results.items()},
        files=list(written_files(run, run.head)),
        gaps=[point.sentence for point in gaps_in(ledger_of(run, plan)) if point.kind not in _OF_THE_ANSWER],
        model=role_model.model,
        effort=role_model.effort,
    )


MAX_PREVIEWS = 12
PREVIEW_CHARS = 1_200
"""The beginnings of so many files, in all about 4,000 tokens, are enough to plan. The executor reads whole files."""
PAGE_CHARS = 2_500
"""Characters of a document, about its first page: what it is about comes after letterhead and parties."""


def previews_of(tree: Tree) -> dict[str, str]:
    """The beginnings of the first files that can be read and are not blank, by path."""
    found: dict[str, str] = {}
    problems, known = trees.problems_of(tree), trees.readings_of(tree)
    for path, info in trees.files_of(tree).items():
        if len(found) == MAX_PREVIEWS:
            break
        if path in problems:
            continue
        is_document = info.sha256 in known.layouts
        text = _beginning(known.texts.get(info.sha256, info.sha256), PAGE_CHARS if is_document else PREVIEW_CHARS)
        if text.strip():
            found[path] = text.partition("\f")[0] if is_document else text
    return found


def _beginning(sha256: str, characters: int) -> str:
    """The beginning of a text; empty if the content is no UTF-8."""
    with blobs.opened(sha256) as blob:
        start = blob.read(4 * characters)
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError:
        return ""
    return "" if "\0" in text else text[:characters]


def delegating(policy: Policy) -> Iterator[ToolSpec]:
    """The tool `delegate`, which plans may give to steps, if the run has subagents."""
    known = agent_roster(policy) if policy.subagents else NO_AGENTS
    if there := {name: known.agents[name] for name in policy.subagents if not known.missing(name)}:
        yield Delegate.spec_for(there)


def subagents_of_attempt(attempt: Attempt, capabilities: Capacities) -> dict[str, Subagent]:
    """The subagents of an attempt as they were when it began; none if its own agent may not delegate."""
    if DELEGATE not in permitted(tools_of(attempt.step.spec), attempt.agent):
        return {}
    return {name: Subagent(one, capabilities.subagents[name].window) for name, one in attempt.subagents.items()}


def request_lessons(gates: Iterable[Gate], learnt: Iterable[Lesson]) -> Iterator[Lesson]:
    """Requests that no other lesson contains, because the steps that they are about have passed since."""
    known = {lesson.request for lesson in learnt}
    for gate in gates:
        if gate.step and gate.attempt:
            label = f"{gate.decider} on attempt {gate.attempt.number} at step {gate.step.key}"
            new = (asked for asked in gate.asked if asked.request not in known)
            yield from (Lesson(label, asked.words, from_person=True, request=asked.request) for asked in new)


def persons(gates: Iterable[Gate], until: datetime | None = None) -> dict[int, str]:
    """What people requested, by number, up to a moment.

    For an attempt that is its start: after a crash, its prompt must be the same.
    """
    said = (gate for gate in gates if until is None or (gate.decided_at and gate.decided_at < until))
    return {asked.request: asked.words for gate in said for asked in gate.asked}


def answers(run: Run, which: Q | None = None) -> tuple[AnsweredQuestion, ...]:
    """What people answered to questions of models, by number. No query if there was neither request nor answer."""
    if not run.requests:
        return ()
    gates = run.gates.answers().filter(which or Q())
    rows = gates.values_list("request", "question", "reason")
    return tuple(AnsweredQuestion(number, question, words) for number, question, words in rows if number)


def earlier_critiques(attempt: Attempt, gates: Iterable[Gate]) -> Iterator[Critique]:
    """What people requested at attempts of earlier versions of the plan. `critiques_of` has those of this version."""
    for gate in requests_judged_at(attempt, gates):
        if gate.attempt and gate.attempt.step_id != attempt.step_id:
            yield from critiques_at(gate, f"attempt {gate.attempt.number} of an earlier plan")


def critiques_at(gate: Gate, what: str) -> Iterator[Critique]:
    """The requests of a gate, each on its own, since each is answered and judged by its number."""
    label = f"{gate.decider} on {what}"
    yield from (Critique(label, asked.words, from_person=True, request=asked.request) for asked in gate.asked)


def requests_judged_at(attempt: Attempt, gates: Iterable[Gate]) -> list[Gate]:
    """The gates whose requests this attempt is judged by."""
    plan = attempt.step.plan
    keys = states.specs_of(plan)
    return [gate for gate in gates if judged_at(gate, plan.header, keys) == attempt.step.key]
