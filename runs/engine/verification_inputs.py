"""What the verifier is given to judge a result or the final answer: its criteria, files, tool calls and requests."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime, timedelta
from urllib.parse import unquote_plus

from django.db.models import F, Q
from django.utils import timezone
from pydantic import JsonValue

from runs.contracts.base import STEP
from runs.contracts.ports import FileInfo
from runs.engine import original_pages
from runs.engine.prompt_inputs import answers, persons, requests_judged_at
from runs.enums import (
    AttemptStatus,
    Complexity,
    Effect,
    Role,
)
from runs.evidence.citations.citing import Delivered
from runs.evidence.sources import GivenFiles, ToolText, rested_on, source_of
from runs.lifecycle import state as states
from runs.lifecycle import toolset
from runs.lifecycle.change_requests import requests_of
from runs.lifecycle.coverage import shown_in
from runs.lifecycle.criteria_ledger import result_in
from runs.lifecycle.gates.question_gate import question_digest
from runs.models import Attempt, Gate, Plan, Run, ToolCall
from runs.pev.checks.base import Check
from runs.pev.contracts import Criterion
from runs.pev.deviations import undeclared
from runs.pev.input_coverage import read_whole
from runs.pev.policy import Capacities
from runs.pev.read_set import meant_by
from runs.pev.tools.ask_person import AskPerson
from runs.pev.tools.registry import ABOUT_FILES, SHOWING_FILES, TOOLS, calculation_in, missing_in
from runs.pev.tools.tool import Results
from runs.pev.verification.case import VerificationInput
from runs.pev.verification.requests import PersonRequest
from runs.readmodel.run_files import written_files
from runs.store import trees
from runs.store.journal import CHECKS
from runs.store.trees import Overlay
from runs.text.dates import Day


def repeated_attempt(attempt: Attempt) -> Attempt | None:
    """The last attempt whose criteria were judged, if this one has the same files and findings; else None.

    An attempt without judged criteria was not criticised, so that repeating it is no failure (T12).
    """
    before = attempt.step.attempts.filter(number__lt=attempt.number, status=AttemptStatus.FAILED)
    judged = (one for one in before.select_related("verdict").order_by("-number") if one.verdict.results)
    last = next(judged, None)
    return last if last and result_in(last) == result_in(attempt) else None


def for_verifier(attempt: Attempt, overlay: Overlay, calls: Sequence[ToolCall], shown: Capacities) -> VerificationInput:
    step, run = attempt.step, attempt.step.plan.run
    spec, policy = step.spec, run.policy
    role_model = policy.model_for(Role.VERIFIER)
    showing = (call for call in calls if call.name in SHOWING_FILES and not call.is_error)
    read = {str(call.arguments["path"]) for call in showing if "path" in call.arguments}
    inputs, specs = trees.files_of(attempt.given), states.specs_of(step.plan)
    made = dict.fromkeys([*overlay.changes, *spec.outputs])
    asked = requests_of(run)
    return VerificationInput(
        subject=f"{spec.name}: {spec.description}",
        request=run.request,
        criteria=spec.acceptance_criteria,
        expected_outputs=spec.outputs,
        files=overlay.contents(),
        inputs=GivenFiles(trees.contents_of(attempt.given), inputs),
        shown=[source_of(path, inputs) for path in made],
        given=rested_on(read - made.keys(), inputs, trees.files_of(attempt.base)),
        output=attempt.output.findings if attempt.output else "",
        notes=attempt.output.notes if attempt.output else "",
        tools=[source_of_call(call) for call in calls],
        earlier=earlier_calls(step.plan, attempt.created_at),
        days=_days(run),
        model=role_model.model,
        effort=role_model.effort,
        undeclared=undeclared(overlay.changes, {path for one in specs.values() for path in one.outputs}),
        finished={output.path for one in specs.values() for output in one.expected_outputs if not output.cited},
        own_confidence=attempt.output.confidence if attempt.output else 1.0,
        min_confidence=policy.min_confidence,
        min_verifier_confidence=policy.min_verifier_confidence,
        min_document_bytes=policy.min_document_bytes,
        size_checks=_size_checks(step.plan),
        review=policy.model_reviews(Complexity(step.complexity)),
        persons=persons(asked, attempt.created_at) | _answers_by_number(run, _known_questions(attempt, calls)),
        requests=judged_requests(attempt, overlay, asked),
        read_whole=_read_whole(run, spec.acceptance_criteria, inputs),
        meant=meant_by([spec], inputs) or list(inputs),
        pages=original_pages.read_in(calls, overlay, shown.verifier),
        simple=Role.VERIFIER in shown.simple,
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
        inputs=GivenFiles(trees.contents_of(run.inputs), inputs),
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
        persons=persons(requests_of(run)) | _answers_by_number(run),
        read_whole=_read_whole(run, plan.header.success_criteria, inputs),
        meant=list(inputs),
        simple=Role.VERIFIER in capabilities.simple,
    )


def delivered_by(run: Run, plan: Plan) -> Delivered:
    """What the run delivers. Rows are read here, the contents of files when they are needed."""
    inputs = trees.files_of(run.inputs)
    steps = states.specs_of(plan).values()
    return Delivered(
        made=list(written_files(run, run.head)),
        files=trees.contents_of(run.head),
        given=GivenFiles(trees.contents_of(run.inputs), inputs),
        finished={output.path for step in steps for output in step.expected_outputs if not output.cited},
        earlier=earlier_calls(plan),
    )


def _days(run: Run) -> list[Day]:
    """The days on which the run took place, until today."""
    first, last = run.created_at.date(), timezone.now().date()
    days = (first + timedelta(number) for number in range((last - first).days + 1))
    return [Day(day.year, day.month, day.day) for day in days]


def _answers_by_number(run: Run, which: Q | None = None) -> dict[int, str]:
    """The answers of people at these gates, by number."""
    return {one.number: one.words for one in answers(run, which)}


def _known_questions(attempt: Attempt, calls: Sequence[ToolCall]) -> Q:
    """The questions that were answered before the attempt began, and those that it asked itself."""
    # By digest and not by work item: another step may have asked the same question first, and the gate belongs to it.
    asked = [call for call in calls if call.name == AskPerson.name and not call.is_error]
    digests = [question_digest(call.arguments["question"]) for call in asked]
    return Q(decided_at__lt=attempt.created_at) | Q(digest__in=digests)


def _read_whole(run: Run, criteria: Sequence[Criterion], inputs: Mapping[str, FileInfo]) -> Set[str]:
    """The given files of which executors were shown every line; empty if no criterion needs that."""
    if not any(criterion.check and criterion.check.reads_whole for criterion in criteria):
        return frozenset()
    return read_whole(inputs, shown_in(run))


def _size_checks(plan: Plan) -> list[Check]:
    """The checks in the whole plan that limit the size of files."""
    specs = states.specs_of(plan).values()
    criteria = [*(one for spec in specs for one in spec.acceptance_criteria), *plan.header.success_criteria]
    return [one.check for one in criteria if one.check and one.check.limits_size]


def judged_requests(attempt: Attempt, overlay: Overlay, gates: Iterable[Gate]) -> Sequence[PersonRequest]:
    """The requests that this attempt is judged by, with the results that they are about."""
    return [
        request
        for gate in requests_judged_at(attempt, gates)
        if gate.attempt
        for request in _requests(gate, gate.attempt, overlay)
    ]


def _requests(gate: Gate, rejected: Attempt, overlay: Overlay) -> list[PersonRequest]:
    before = Overlay(rejected.base, rejected.overlay, max_files=0, max_bytes=0).contents()
    return [
        PersonRequest(
            number=asked.request,
            words=asked.words,
            since=f"attempt {rejected.number}",
            paths=sorted({*rejected.overlay, *overlay.changes}),
            before=before,
            findings=rejected.output.findings if rejected.output else "",
        )
        for asked in gate.asked
    ]


_CALL_COLUMNS = ("attempt", "ordinal", "name", "arguments", "result", "is_error", "shown")
"""The columns that are needed. The others are not read, since a plan of 200 steps has thousands of calls."""


def source_of_call(call: ToolCall) -> ToolText:
    """The result of a call as a source, with everything that the executor had put into the call."""
    texts = list(_texts_in(call.arguments))
    results = TOOLS[call.name].results if call.name in TOOLS else None
    if toolset.is_of_a_server(call.name):
        reads_outside = toolset.server_effect(call.name) is Effect.READS_OUTSIDE
    else:
        reads_outside = results is Results.WEB
    is_outside = reads_outside and not call.is_error
    if is_outside:  # a page may repeat what its address says, which came from the executor
        texts += [unquote_plus(text) for text in texts]
    expression = "" if call.is_error else calculation_in(call.name, call.arguments)
    missing = None if call.is_error else missing_in(call.name, call.arguments, call.result)
    is_printed = not call.is_error and results is Results.COMMAND
    return ToolText(
        call.result, call.shown, "\n".join([call.name, *texts]), expression, is_outside, is_printed, missing
    )


def earlier_calls(plan: Plan, before: datetime | None = None) -> dict[str, ToolText]:
    """The calls of attempts that had passed `before` a moment, by their names as sources.

    Calls that show or write files are left out, because the files are sources themselves. Nearly every step makes such
    calls: with them, each step of a long plan would cost more than the one before.
    """
    until = Q(finished_at__lt=before) if before else Q()
    passed = Attempt.objects.filter(until, step__plan=plan, status=AttemptStatus.PASSED).order_by("number")
    doers = {reused or own: key for own, reused, key in passed.values_list("pk", "reused_from", "step__key")}
    if plan.version > 1:  # only later versions keep results of earlier ones
        kept = plan.steps.filter(reused_from__isnull=False)
        kept_doers = kept.values_list("reused_from", "reused_from__reused_from", "key")
        doers |= {reused or own: key for own, reused, key in kept_doers if own}
    of_doers = ToolCall.objects.filter(attempt__in=doers, generation=F("work__generation"), ordinal__lt=CHECKS)
    calls = of_doers.exclude(name__in=ABOUT_FILES).order_by("work", "ordinal").only(*_CALL_COLUMNS)
    return {f"{STEP}{doers[call.attempt_id or 0]}/tool-{call.ordinal}": source_of_call(call) for call in calls}


def _texts_in(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for name, item in value.items():
                yield name
                yield from _texts_in(item)
        case list():
            for item in value:
                yield from _texts_in(item)
