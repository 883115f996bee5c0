"""What each role is told: reads rows and puts together the briefs that pev wants."""

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import timedelta
from typing import NamedTuple

from django.db.models import Q
from django.utils import timezone

from runs.contracts.ports import FileInfo
from runs.engine import original_pages, prompt_requests
from runs.engine.calls import earlier_calls, source_of_call
from runs.engine.input_previews import previews_of
from runs.engine.subagents import delegating, of_attempt
from runs.enums import (
    SETTLED_STEPS,
    Action,
    AttemptStatus,
    Complexity,
    GateStatus,
    Missing,
    OriginalPages,
    PlanStatus,
    Role,
)
from runs.evidence.citations.citing import Delivered
from runs.evidence.sources import Given, rested_on, source_of
from runs.lifecycle import state as states
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.approval.baseline import undeclared_by
from runs.lifecycle.available_agents import agent_roster
from runs.lifecycle.change_requests import requests_of
from runs.lifecycle.coverage import remarks_on, shown_in
from runs.lifecycle.criteria_ledger import entries_of, ledger_of, result_in
from runs.lifecycle.gates import start_gate
from runs.lifecycle.gates.error_gate import where_of
from runs.lifecycle.gates.gate_type import Subject
from runs.lifecycle.gates.question_gate import question_digest
from runs.lifecycle.gates.registry import type_of
from runs.lifecycle.toolset import command_lines, commands_allowed, server_specs, tool_names
from runs.models import Attempt, Gate, Plan, Run, Step, ToolCall, WorkItem
from runs.models.plans import FIRST_PLAN
from runs.pev.agents import policy_for_agent
from runs.pev.checks.base import Check
from runs.pev.contracts import Criterion, PlanStep
from runs.pev.input_coverage import read_whole
from runs.pev.input_selection import meant_by
from runs.pev.outcome import gaps_in, point_of
from runs.pev.planner import Lesson, PlanBrief
from runs.pev.plans.repeating import RejectedWork
from runs.pev.policy import Capacities
from runs.pev.step_brief import Critique, StepBrief
from runs.pev.synthesizer import AnswerBrief
from runs.pev.tools.ask_person import AskPerson
from runs.pev.tools.registry import SHOWING_FILES, specs
from runs.pev.verification.case import VerificationInput
from runs.readmodel.run_files import written_files
from runs.store import trees
from runs.store.trees import Overlay
from runs.text.dates import Day
from runs.text.truncate import truncate_line

RESULT_CHARS = 4_000
"""Of each step that a new plan may keep: its result stays in the run, the planner only has to know what it was."""
_CARRIED_OUT = frozenset({PlanStatus.APPROVED, PlanStatus.SUPERSEDED})
"""Of versions before the one that is planned: the newest of them is approved until then."""
REASON_CHARS = 300
"""One line of the plan gate: the whole text stands with the attempt or decision that it comes from."""
_OF_THE_ANSWER = frozenset({Missing.ANSWER, Missing.JUDGEMENT, Missing.CRITERION, Missing.GROUNDS})
"""What is missing as long as the answer is not written."""
REASONS = 3
"""Of a version that must not come again, the last ones: a planner has all of them as lessons anyway."""


def for_planner(item: WorkItem, capabilities: Capacities) -> tuple[PlanBrief, str]:
    """The brief, and in one sentence why this version of the plan is written."""
    run = item.run
    policy = run.policy
    role_model = policy.model_for(Role.PLANNER)
    files = trees.files_of(run.inputs)
    plans = list(run.plans.order_by("version"))
    previous = plans[-1] if plans else None
    learnt = {plan.pk: _lessons(plan) for plan in plans}
    happened = [lesson for plan in plans for lesson in learnt[plan.pk]]
    lessons = (*prompt_requests.lessons(requests_of(run), happened), *happened)
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
        remarks=remarks_on(run, pages=capabilities.executor.pages is not OriginalPages.NEVER),
        lessons=lessons,
        answers=prompt_requests.answers(run, ~Q(work=item.pk)),  # its own it is given by its tool, also after a crash
        kept=_kept(previous) if previous else (),
        results=_results(previous) if previous else {},
        previous=fingerprint.contract_of(previous) if previous else None,
        spent=(*_spent_versions(plans, learnt), *_spent_steps(run)) if previous else (),
        stands=previous is not None and previous.status == PlanStatus.APPROVED,
        simple=Role.PLANNER in capabilities.simple,
    )
    return brief, _reason(lessons[-1], previous) if lessons else FIRST_PLAN


def _reason(lesson: Lesson, previous: Plan | None) -> str:
    """Why there is a new version: what happened last. A person's words stand with their decision; others' are begun."""
    failures = list(_failures(previous)) if previous and previous.status in _CARRIED_OUT else []
    if failures and _lesson(*failures[-1]) == lesson:
        return _given_up(*failures[-1])
    if lesson.from_person:
        return f"{_titled(lesson.label, previous).replace(' rejected ', ' requested changes to ', 1)}."
    return f"{lesson.label}: {_short(lesson.text)}"


def _titled(label: str, plan: Plan | None) -> str:
    """The label with the title of a step where models are told its key."""
    for step in plan.steps.all() if plan else ():
        label = label.replace(f" the start of step {step.key} of ", f" the start of “{step.spec.name}” in ", 1)
        if label.endswith(where := f" in step {step.key}"):
            return f"{label.removesuffix(where)} in “{step.spec.name}”"
    return label


def _short(text: str) -> str:
    return truncate_line(text, REASON_CHARS)


def _spent_versions(plans: Sequence[Plan], learnt: Mapping[int, Sequence[Lesson]]) -> Iterator[RejectedWork]:
    """The newest version, and all that were carried out, each with the last of what was learnt from it."""
    for plan in plans:
        if plan.status in _CARRIED_OUT or plan is plans[-1]:
            why = [
                *_missed(plan),
                *(f"{one.label}: {_short(one.text)}" for one in learnt[plan.pk] if one.from_person),
            ]
            yield RejectedWork(plan.version, fingerprint.contract_of(plan), " ".join(why[-REASONS:]))


def _missed(plan: Plan) -> Iterator[str]:
    """What a version that was carried out has not brought: only the steps that were tried tell why."""
    if plan.status in _CARRIED_OUT:
        missed = (entry for entry in entries_of(plan) if entry.tried and entry.status not in SETTLED_STEPS)
        yield from (point_of(entry).sentence for entry in missed)
        yield from (_short(line) for line in plan.unmet.splitlines())


def _spent_steps(run: Run) -> Iterator[RejectedWork]:
    """Steps of all versions of which the latest verdict says that they cannot be done."""
    impossible = Step.objects.of_run(run).filter(last_action=Action.CANNOT).exclude(status__in=SETTLED_STEPS)
    for step in impossible.select_related("plan").order_by("pk"):
        yield RejectedWork(step.plan.version, step.spec, _short(" ".join(one.text for one in critiques_of(step)[-1:])))


def _lessons(plan: Plan) -> tuple[Lesson, ...]:
    """What failed in a version that was carried out, and what people said of one that they rejected, in order."""
    about = Q(plan=plan) | Q(step__plan=plan, kind=start_gate.GATE.kind)
    gates = plan.run.gates.filter(about, status=GateStatus.REJECTED).select_related("decided_by", "step").order_by("id")
    said = (lesson for gate in gates for lesson in _said(gate, plan))
    return (*(_unreached(plan) if plan.status in _CARRIED_OUT else ()), *said)


def _said(gate: Gate, plan: Plan) -> Iterator[Lesson]:
    """What a person asked for; after an error, what that was stands before it."""
    gate_type = type_of(gate)
    if gate_type.subject is Subject.ERROR:
        yield Lesson(f"An error that held version {plan.version}{where_of(gate)}", gate.question)
    what = gate_type.about_request_for_planner(gate, f"version {plan.version}")
    for asked in gate.asked:
        yield Lesson(f"{gate.decided_by} rejected {what}", asked.words, from_person=True, request=asked.request)


def _unreached(plan: Plan) -> Iterator[Lesson]:
    yield from (_lesson(step, critique) for step, critique in _failures(plan))
    if plan.unmet:
        yield Lesson(f"Success criteria that version {plan.version} did not meet", plan.unmet)


def _failures(plan: Plan) -> Iterator[tuple[Step, Critique]]:
    for step in plan.steps.exclude(status__in=SETTLED_STEPS).select_related("plan__run").order_by("position"):
        yield from ((step, critique) for critique in critiques_of(step))


def _lesson(step: Step, critique: Critique) -> Lesson:
    label = f"Version {step.plan.version}, step {step.key}, {critique.label}"
    return Lesson(label, critique.text, critique.from_person, critique.request)


def _given_up(step: Step, critique: Critique) -> str:
    """In words for people: why a step is planned again."""
    used_up = step.failures >= step.plan.run.policy.attempts
    why = (
        f"All attempts at “{step.spec.name}” are used up" if used_up else f"“{step.spec.name}” cannot go on as planned"
    )
    said = "" if critique.from_person else f" {critique.label.capitalize()}: {_short(critique.text)}"
    return f"{why}, so it is planned again.{said}"


def _kept(previous: Plan) -> tuple[PlanStep, ...]:
    settled = previous.steps.filter(status__in=SETTLED_STEPS).order_by("position")
    return tuple(step.spec for step in settled)


def _results(previous: Plan) -> dict[str, str]:
    settled = previous.steps.filter(status__in=SETTLED_STEPS).values_list("key", flat=True)
    return {key: result.text[:RESULT_CHARS] for key, result in results_of(previous, list(settled)).items()}


def critiques_of(step: Step) -> tuple[Critique, ...]:
    """Everything earlier attempts at a step were told, by the verifier and by people, in order."""
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
        rejections = (gate for gate in attempt.gates.all() if gate.status == GateStatus.REJECTED)
        found += [one for gate in rejections for one in prompt_requests.critiques_at(gate, f"attempt {attempt.number}")]
    return tuple(found)


def for_executor(attempt: Attempt, capabilities: Capacities) -> StepBrief:
    step = attempt.step
    run = step.plan.run
    policy = policy_for_agent(run.policy, attempt.agent)
    role_model = policy.model_for(Role.EXECUTOR)
    results = results_of(step.plan, step.depends_on)
    earlier = prompt_requests.critiques(attempt, requests_of(run)) if step.plan.version > 1 else ()
    return StepBrief(
        request=run.request,
        goal=step.plan.header.goal,
        context=step.plan.header.context,
        steps={key: spec.name for key, spec in states.specs_of(step.plan).items()},
        step=step.spec,
        files=trees.files_of(run.inputs),
        remarks=remarks_on(run, pages=capabilities.executor.pages is not OriginalPages.NEVER),
        made=written_files(run, attempt.base),
        results={key: result.text for key, result in results.items()},
        notes={key: result.notes for key, result in results.items()},
        model=role_model.model,
        effort=role_model.effort,
        rounds=policy.rounds,
        window=capabilities.executor.window,
        answers=prompt_requests.answers(run, Q(decided_at__lt=attempt.created_at)),
        critiques=(*earlier, *(critiques_of(step) if attempt.number > 1 else ())),
        instructions=attempt.agent.instructions if attempt.agent else "",
        subagents=of_attempt(attempt, capabilities),
        simple=Role.EXECUTOR in capabilities.simple,
    )


class StepResult(NamedTuple):
    """What an attempt hands on to the steps that rest on it, besides its files: findings, and notes on them."""

    text: str
    notes: str


def results_of(plan: Plan, keys: Sequence[str]) -> dict[str, StepResult]:
    """What settled steps found in their latest attempts, by their keys and in the order of the plan."""
    if not keys:
        return {}
    own = Attempt.objects.filter(step__plan=plan.pk, step__key__in=keys)
    outputs = list(own.order_by("number").values_list("step__key", "output"))  # the last of a step stays
    if plan.version > 1:  # only later versions keep results of earlier ones
        kept = plan.steps.filter(key__in=keys, reused_from__isnull=False)
        outputs += kept.order_by().values_list("key", "reused_from__output")
    found = {key: StepResult(output.findings, output.notes) for key, output in outputs if output}
    return {key: found[key] for key in states.specs_of(plan) if key in found}


def repeated(attempt: Attempt) -> Attempt | None:
    """The previous attempt whose criteria were judged, if files and findings are identical to those of it. Of others
    nothing was criticised that could have been mended.
    """
    before = attempt.step.attempts.filter(number__lt=attempt.number, status=AttemptStatus.FAILED)
    judged = (one for one in before.select_related("verdict").order_by("-number") if one.verdict.results)
    last = next(judged, None)
    return last if last and result_in(last) == result_in(attempt) else None


def for_verifier(
    attempt: Attempt, overlay: Overlay, calls: Sequence[ToolCall], capabilities: Capacities
) -> VerificationInput:
    step = attempt.step
    spec = step.spec
    run = step.plan.run
    policy = run.policy
    role_model = policy.model_for(Role.VERIFIER)
    showing = (call for call in calls if call.name in SHOWING_FILES and not call.is_error)
    read = {str(call.arguments["path"]) for call in showing if "path" in call.arguments}
    inputs = trees.files_of(run.inputs)
    specs = states.specs_of(step.plan)
    made = dict.fromkeys([*overlay.changes, *spec.outputs])
    asked = requests_of(run)
    return VerificationInput(
        subject=f"{spec.name}: {spec.description}",
        request=run.request,
        criteria=spec.acceptance_criteria,
        expected_outputs=spec.outputs,
        files=overlay.contents(),
        inputs=Given(trees.contents_of(run.inputs), inputs),
        shown=[source_of(path, inputs) for path in made],
        given=rested_on(read - made.keys(), inputs, trees.files_of(attempt.base)),
        output=attempt.output.findings if attempt.output else "",
        notes=attempt.output.notes if attempt.output else "",
        tools=[source_of_call(call) for call in calls],
        earlier=earlier_calls(step.plan, attempt.created_at),
        days=_days(run),
        model=role_model.model,
        effort=role_model.effort,
        undeclared=undeclared_by(specs.values(), overlay.changes),
        finished={output.path for one in specs.values() for output in one.expected_outputs if not output.cited},
        own_confidence=attempt.output.confidence if attempt.output else 1.0,
        min_confidence=policy.min_confidence,
        min_verifier_confidence=policy.min_verifier_confidence,
        min_document_bytes=policy.min_document_bytes,
        size_checks=_size_checks(step.plan),
        review=policy.model_reviews(Complexity(step.complexity)),
        persons=prompt_requests.persons(asked, attempt.created_at) | _answered(run, _known_to(attempt, calls)),
        requests=prompt_requests.judged(attempt, overlay, asked),
        read_whole=_read_whole(run, spec.acceptance_criteria, inputs),
        meant=meant_by([spec], inputs) or list(inputs),
        pages=original_pages.read_in(calls, overlay, capabilities.verifier),
        simple=Role.VERIFIER in capabilities.simple,
    )


def _days(run: Run) -> list[Day]:
    """Those on which the run took place, until now."""
    first, last = run.created_at.date(), timezone.now().date()
    days = (first + timedelta(number) for number in range((last - first).days + 1))
    return [Day(day.year, day.month, day.day) for day in days]


def _answered(run: Run, which: Q | None = None) -> dict[int, str]:
    """What people answered, at these gates, by its number."""
    return {one.number: one.words for one in prompt_requests.answers(run, which)}


def _known_to(attempt: Attempt, calls: Sequence[ToolCall]) -> Q:
    """The questions answered before the attempt began, and those that it asked itself: another step may have asked the
    same before, and then the gate is that one's.
    """
    asked = [call for call in calls if call.name == AskPerson.name and not call.is_error]
    digests = [question_digest(call.arguments["question"]) for call in asked]
    return Q(decided_at__lt=attempt.created_at) | Q(digest__in=digests)


def _read_whole(run: Run, criteria: Sequence[Criterion], inputs: Mapping[str, FileInfo]) -> Set[str]:
    """The given files of which executors were shown every line, where a criterion asks for that."""
    if not any(criterion.check and criterion.check.reads_whole for criterion in criteria):
        return frozenset()
    return read_whole(inputs, shown_in(run))


def _size_checks(plan: Plan) -> list[Check]:
    """What the plan itself says about how long files are to be, whichever step or success criterion says it."""
    specs = states.specs_of(plan).values()
    criteria = [*(one for spec in specs for one in spec.acceptance_criteria), *plan.header.success_criteria]
    return [one.check for one in criteria if one.check and one.check.limits_size]


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


def for_final_verdict(run: Run, plan: Plan, answer: str, capabilities: Capacities) -> VerificationInput:
    policy = run.policy
    role_model = policy.model_for(Role.VERIFIER)
    inputs, made = trees.files_of(run.inputs), written_files(run, run.head)
    return VerificationInput(
        subject="The whole task. @output is the final answer.",
        request=run.request,
        criteria=plan.header.success_criteria,
        expected_outputs=(),
        files=trees.contents_of(run.head),
        inputs=Given(trees.contents_of(run.inputs), inputs),
        shown=[source_of(path, inputs) for path in made],
        given=list(inputs),
        output=answer,
        tools=(),
        earlier=earlier_calls(plan),
        days=_days(run),
        whole=True,
        model=role_model.model,
        effort=role_model.effort,
        min_verifier_confidence=policy.min_verifier_confidence,
        persons=prompt_requests.persons(requests_of(run)) | _answered(run),
        read_whole=_read_whole(run, plan.header.success_criteria, inputs),
        meant=list(inputs),
        simple=Role.VERIFIER in capabilities.simple,
    )


def delivered_by(run: Run, plan: Plan) -> Delivered:
    """What the run hands over. It is read here; its files are read when they are asked for."""
    inputs = trees.files_of(run.inputs)
    steps = states.specs_of(plan).values()
    return Delivered(
        made=list(written_files(run, run.head)),
        files=trees.contents_of(run.head),
        given=Given(trees.contents_of(run.inputs), inputs),
        finished={output.path for step in steps for output in step.expected_outputs if not output.cited},
        earlier=earlier_calls(plan),
    )
