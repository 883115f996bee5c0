"""Performs one work item: claims it, calls the loops of pev, and commits the result under the lease.

Whatever goes wrong ends as a row: the item is postponed or suspended at a gate, or its attempt is judged as failed.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple, assert_never

from django.conf import settings
from django.db.models import F
from django.tasks import task
from django.utils import timezone

from runs.accounting.past_estimates import estimate_for
from runs.calibration import canaries
from runs.calibration.canaries import CanaryTrial
from runs.calibration.minimum_catch_rate import problem_with_verifiers
from runs.contracts.ports import GuardedToolbox, JournaledToolbox, Model, Reach, Toolbox, ToolResult
from runs.engine import claim, prompt_inputs, verification_inputs
from runs.engine.canary_trials import try_canary
from runs.engine.database import AWAY, database
from runs.engine.document_work import read_inputs
from runs.engine.reach import RunPeople, checking, commands_for, list_servers, run_servers, web_pages
from runs.engine.recording import Deadline, RecordedModel, RecordedTools, Recording, clients
from runs.enums import Action, AttemptStatus, Executor, WorkKind
from runs.errors import (
    AnswerAwaited,
    ApprovalAwaited,
    ContractBroken,
    FromLaterVersion,
    LeaseLost,
    LimitReached,
    ModelError,
    NoVerdict,
    PlanRepeated,
    StoreAway,
)
from runs.events import kinds as events
from runs.events.kinds import SessionResumed
from runs.evidence.results import Judgement
from runs.lifecycle import effects, outcomes
from runs.lifecycle import state as states
from runs.lifecycle.advance import advance, go_on
from runs.lifecycle.approval import reuse
from runs.lifecycle.gates import budget_gate, error_gate, question_gate, tool_gate
from runs.lifecycle.toolset import service_specs
from runs.models import Attempt, ToolCall, Tree, WorkItem
from runs.pev import executor, planner, verifier
from runs.pev.agents import permitted
from runs.pev.contracts import StepOutput
from runs.pev.imports.imported import Imported
from runs.pev.planner import PlanBrief
from runs.pev.policy import Capacities
from runs.pev.read_set import FileView, ReadTracker
from runs.pev.step_brief import StepBrief
from runs.pev.subagents import with_subagents
from runs.pev.synthesizer import synthesize
from runs.pev.tools.ask_person import AskPerson
from runs.pev.tools.registry import LOOKING, note_looks, tools_of
from runs.pev.tools.tool import limits_for
from runs.pev.tools.toolbox import RunTools
from runs.pev.verification.case import VerificationInput
from runs.pev.verification.untraced import unknown_names_in, untraced_in
from runs.pev.verification.writing import CheckedWrites
from runs.store import trees
from runs.store.event_log import record
from runs.store.journal import results_of, used_seconds
from runs.store.trees import Overlay


class Notifications:
    """The work items that this process was notified of and has not performed yet: further notifications are dropped.

    It counts only while an engine runs in this process. Otherwise another process performs the items, and this one
    cannot know when they are done.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: set[int] | None = None

    def start(self) -> None:
        """Begin with no items, whatever an earlier engine of this process has left."""
        with self._lock:
            self._under_way = set()

    def stop(self) -> None:
        with self._lock:
            self._under_way = None

    def is_first(self, work_id: int) -> bool:
        """Whether this item has to be enqueued. False from the second call until `done` is called for it."""
        with self._lock:
            if self._under_way is None:
                return True
            if work_id in self._under_way:
                return False
            self._under_way.add(work_id)
            return True

    def done(self, work_id: int) -> None:
        """Accept the next notification of this item."""
        with self._lock:
            if self._under_way is not None:
                self._under_way.discard(work_id)


notifications = Notifications()


log = logging.getLogger(__name__)
STORE_WAIT = timedelta(seconds=10)
"""The wait until work is tried again if the store of files did not answer. There is no limit to these tries."""
LATER_SECONDS = 60.0
"""Seconds for which this process leaves an item to processes of a later version, since it does not understand it."""
VERIFYING = 1_000
"""The first ordinal of verification in the journal. Execution has its own range, so that it can be resumed alone."""
VERDICTS = 2
"""How often the verifier is asked for a usable verdict. Then the fallback verifier of the policy is asked once, and
then a person (T12).
"""
OF_ONE_VERDICT = 20
OF_SINGLE_VERDICTS = 1_000
"""Ordinals that are reserved for one conversation with a verifier. A verdict on everything at once takes six questions
at most; single verdicts take as many for each criterion and for each request of a person.
"""


@task
def perform_work(work_id: int) -> None:
    """Perform a work item. The task may arrive twice or never (D2); the row decides."""
    try:
        perform(work_id)
    finally:
        notifications.done(work_id)


def enqueue(work_id: int) -> None:
    """Notify a worker of this item, unless this process has been notified and has not performed it yet."""
    if notifications.is_first(work_id):
        perform_work.enqueue(work_id)


def perform(work_id: int) -> None:
    """Perform a work item if it can be claimed. Never raises: errors become rows that people see.

    An item with values that only a later version knows is left to processes of that version (see `LATER_SECONDS`).
    """
    if _left.get(work_id, 0.0) > time.monotonic():
        return
    try:
        lease = database.call(lambda: claim.claim(work_id))
    except FromLaterVersion as later:
        _leave(work_id, later)
        return
    if lease is None:
        return
    try:
        with claim.heartbeat.keeping(lease):
            _work_under(Recording(lease))
    except FromLaterVersion as later:
        database.call(lambda: claim.give_back(lease))
        _leave(work_id, later)
    except LeaseLost:
        log.info("lease lost: taken over, cancelled or stopped", extra=lease.about)
    except AWAY:
        log.exception("the database was away; the work goes on when its lease is over", extra=lease.about)


def _leave(work_id: int, later: FromLaterVersion) -> None:
    # Ended entries are removed here, so that the table does not grow for as long as the process lives.
    log.warning("work %s is left to processes of a later version: %s", work_id, later)
    now = time.monotonic()
    for ended in [each for each, until in _left.items() if until <= now]:
        del _left[ended]
    _left[work_id] = now + LATER_SECONDS


_left: dict[int, float] = {}
"""By the id of a work item: the monotonic time until which this process leaves it alone."""


def _work_under(recording: Recording) -> None:
    """Do the work. If it ends early, it is postponed, or suspended until a person answers."""
    losses = recording.item.losses
    if losses >= settings.MAX_LOSSES:
        sentence = f"{losses} times in a row the process that worked on it ended without progress. Its log may say why."
        _suspend(recording, sentence, reset=False)
        return
    try:
        _do(recording)
    except LimitReached as limit:
        sentence = str(limit)
        recording.commit(lambda mine: budget_gate.ask(mine, sentence))
        log.warning("suspended at a limit: %s", sentence, extra=recording.lease.about)
    except AnswerAwaited as awaited:
        asked = awaited
        recording.commit(lambda mine: question_gate.ask(mine, asked.question, asked.choices, asked.why))
        log.info("suspended for an answer", extra=recording.lease.about)
    except ApprovalAwaited as awaited:
        call = awaited
        recording.commit(lambda mine: tool_gate.ask(mine, call))
        log.info("suspended for an approval", extra=recording.lease.about)
    except StoreAway as away:
        recording.commit(lambda mine: claim.postpone(mine, timezone.now() + STORE_WAIT))
        log.warning("postponed: %s", away.__cause__ or away, extra=recording.lease.about)
    except ModelError as error:
        _retry_later(recording, error)
    except NoVerdict as missing:
        _suspend(recording, str(missing), reset=False, cause=missing.kind)
    except ContractBroken as broken:
        _suspend(recording, _sentence(broken), reset=True)
    except (LeaseLost, FromLaterVersion, *AWAY):
        raise
    except Exception:
        log.exception("work failed", extra=recording.lease.about)
        _suspend(recording, "pevsite itself failed here. The log of the server says where.", reset=False)


def _do(recording: Recording) -> None:
    match WorkKind(recording.item.kind):
        case WorkKind.READ:
            read_inputs(recording)
        case WorkKind.PLAN:
            _plan(recording)
        case WorkKind.ATTEMPT:
            _attempt(recording)
        case WorkKind.FINALISE:
            _finalise(recording)


def _retry_later(recording: Recording, error: ModelError) -> None:
    """Continue later from the journal, or ask a person if that was tried often enough."""
    until = retry_at(error, recording.item.tries, timezone.now())
    if until is None:
        _suspend(recording, str(error), reset=False, cause=error.kind)
        return

    def postpone(mine: WorkItem) -> None:
        record(mine.run_id, events.WaitingForModel(why=str(error), until=until.isoformat()))
        claim.postpone(mine, until, tries=F("tries") + 1)

    recording.commit(postpone)
    log.warning("postponed until %s: %s", until.isoformat(), error, extra=recording.lease.about)


def _suspend(recording: Recording, sentence: str, *, reset: bool, cause: str = "") -> None:
    recording.commit(lambda mine: error_gate.ask(mine, sentence, reset=reset, cause=cause))
    log.warning("suspended: %s", sentence, extra=recording.lease.about)


def _sentence(error: ContractBroken) -> str:
    return " ".join([str(error), *(f"({item})" for item in error.errors[:5])])


def _plan(recording: Recording) -> None:
    run, capabilities = recording.item.run, recording.capabilities
    item = recording.item
    list_servers(recording)
    brief, reason = database.call(lambda: prompt_inputs.for_planner(item, capabilities))
    overlay = database.call(lambda: _unchanged(run.inputs))
    kind = run.policy.executor
    tools = RunTools(overlay, allowed=planner_tools(kind, capabilities), reach=Reach(_people(recording)))
    model = RecordedModel(clients(), recording)
    try:
        made = loops_of(kind).make_plan(model, brief, RecordedTools(tools, overlay, recording))
    except PlanRepeated as repeated:
        if not brief.stands:  # a person rejected it: no one but a person can say what now
            raise
        why = _sentence(repeated)

        def go_on_as_planned(mine: WorkItem) -> None:
            effects.go_on_without_replan(states.of(mine.run), why)
            _done(mine)

        recording.commit(go_on_as_planned)
        return

    def propose(mine: WorkItem) -> None:
        if kind is Executor.AGENT_SDK and mine.epoch > 1:
            record(mine.run_id, session_resumed(model))
        estimate = estimate_for(mine.run, made.plan)
        why = " ".join([reason, *made.notes])
        outcomes.propose_plan(mine.run, made.plan, reason=why, estimate=estimate)
        _done(mine)

    recording.commit(propose)


def _attempt(recording: Recording) -> None:
    item = recording.item
    assert item.attempt is not None
    used = database.call(lambda: used_seconds(item)) if item.epoch > 1 else 0.0
    deadline = Deadline(item.run.policy.attempt_seconds, used)
    looks = ReadTracker()
    trial = None
    try:
        executing = item.attempt.status == AttemptStatus.EXECUTING
        calls = _execute(recording, deadline, looks) if executing else _recorded_calls(item, looks)
        judgement, trial = _verify(recording, deadline, calls, looks)
    except NoVerdict:
        raise
    except ContractBroken as broken:
        judgement = verifier.failed(_sentence(broken))
    reads = looks.recorded(database.call(lambda: _view_with_earlier(recording.item, looks)))

    def judge(mine: WorkItem) -> None:
        assert mine.attempt is not None
        blocked = bool(mine.attempt.output and mine.attempt.output.status == "blocked")
        canary = canaries.store(mine.attempt, trial) if trial else None
        noted = judgement
        if canary and canary.was_passed:
            noted = judgement.model_copy(update={"notes": [*judgement.notes, canary.sentence]})
        state = outcomes.judged(mine.attempt, noted, reads=reads, blocked=blocked)
        if canary:
            canaries.note(canary, mine.attempt)
        claim.finish(mine)
        go_on(state)

    recording.commit(judge)


def _view_with_earlier(item: WorkItem, looks: ReadTracker) -> FileView:
    """The files as the attempt found them. What earlier attempts read is recorded too, because the prompt has
    their critique.
    """
    attempt = item.attempt
    assert attempt is not None
    step = attempt.step
    if attempt.number > 1:
        for reads in step.attempts.filter(number__lt=attempt.number).values_list("reads", flat=True):
            looks.earlier(reads)
    return reuse.view_of(attempt.given, attempt.base, states.specs_of(step.plan), step.key)


def _execute(recording: Recording, deadline: Deadline, looks: ReadTracker) -> list[ToolCall]:
    """Run the executor and commit its report. Returns its tool calls. Raises ContractBroken for an unusable report."""
    attempt = recording.item.attempt
    assert attempt is not None
    capabilities = recording.capabilities
    overlay, brief = database.call(
        lambda: (_overlay(recording.item), prompt_inputs.for_executor(attempt, capabilities))
    )
    limits = limits_for(brief.window, capabilities.executor.pages)
    servers = run_servers(recording, limits.result_chars)
    kind = recording.item.run.policy.executor
    service = service_specs(recording.item.run.policy, capabilities=capabilities.service_tools)
    reach = Reach(_people(recording), commands_for(recording, overlay), web_pages(recording), servers, service)
    own = RunTools(overlay, limits, permitted(tools_of(attempt.step.spec), attempt.agent), reach)
    inner = tools_for(kind, own, overlay, recording)
    tools = RecordedTools(inner, overlay, recording, deadline, looks)
    model = RecordedModel(clients(), recording, deadline=deadline)
    try:
        output = loops_of(kind).carry_out(model, with_subagents(tools, model, brief), brief)
    finally:
        if servers:
            servers.close()

    def report(mine: WorkItem) -> None:
        assert mine.attempt is not None
        if kind is Executor.AGENT_SDK and mine.epoch > 1:
            record(mine.run_id, session_resumed(model, mine.attempt))
        outcomes.executed(mine.attempt, output, overlay.changes)

    recording.commit(report)
    return tools.calls


def _people(recording: Recording) -> RunPeople | None:
    """The port for questions to people; None if the policy allows no questions."""
    return RunPeople(recording) if recording.item.run.policy.questions else None


def _recorded_calls(item: WorkItem, looks: ReadTracker) -> list[ToolCall]:
    """The tool calls of a report that was committed before a crash, from the journal."""
    calls = database.call(lambda: results_of(item))
    for call in calls:
        note_looks(looks, call.name, call.arguments, ToolResult(call.result, call.is_error, call.shown))
    return calls


def _verify(
    recording: Recording, deadline: Deadline, calls: list[ToolCall], looks: ReadTracker
) -> tuple[Judgement, CanaryTrial | None]:
    """The judgement of a report that rests on these tool calls, and what came of a canary, if one was due."""
    item = recording.item
    attempt = item.attempt
    assert attempt is not None
    output = attempt.output
    assert output is not None  # it was committed with the status
    if output.status == "blocked":
        sentence = f"Reported as blocked. {output.reasoning} {output.findings}"
        return verifier.failed(sentence, action=Action.REPLAN), None
    if attempt.found_nothing_to_do and attempt.overlay:
        wrote = ", ".join(list(attempt.overlay)[:5])
        sentence = f"The step is said not to apply, yet it wrote {wrote}. Do the step, or write nothing."
        return verifier.failed(sentence), None
    if attempt.number > 1 and (before := database.call(lambda: verification_inputs.repeated_attempt(attempt))):
        sentence = "This attempt repeats the one before: the critique was not addressed."
        return verifier.failed(sentence, requests=before.verdict.requests), None
    overlay = database.call(lambda: _overlay(item))
    case = database.call(lambda: verification_inputs.for_verifier(attempt, overlay, calls, recording.capabilities))
    if attempt.found_nothing_to_do:
        case = case.with_nothing_to_do()
    # Before looks are noted: that a figure is in no file depends on all files, which would make reuse impossible.
    untraced = [*untraced_in(case), *unknown_names_in(case)]
    command = checking(recording, overlay, deadline, looks)
    judgement = _judgement(recording, replace(case.watched(looks), command=command, untraced=untraced), deadline)
    # The copy is not watched: what a canary looks at is nothing that the result rests on.
    return judgement, try_canary(recording, case, judgement)


def _judgement(recording: Recording, case: VerificationInput, deadline: Deadline | None = None) -> Judgement:
    """Ask the verifier. Raises NoVerdict.

    After a person said “try again”, it is asked at new places of the journal: at the old ones the same question would
    be answered with the recorded, unusable reply.
    """
    item = recording.item
    gates = item.gates.filter(cause=NoVerdict.kind)
    held = database.call(gates.count) if item.epoch > 1 else 0
    apart = OF_SINGLE_VERDICTS if case.simple else OF_ONE_VERDICT
    verifier_model, *fallback = item.run.policy.verifiers
    names = [*[verifier_model] * VERDICTS, *fallback]
    firsts = (VERIFYING + number * apart for number in range(held * len(names), (held + 1) * len(names)))
    model, *again = (RecordedModel(clients(), recording, first, deadline) for first in firsts)
    judgement = verifier.judge(model, case, list(zip(again, names[1:], strict=True)))
    if judgement.stage != "model":
        return judgement
    # Asked for again, although submissions are refused: figures may have become old, or the server another one.
    problem = database.call(lambda: problem_with_verifiers(item.run.policy))
    return judgement.model_copy(update={"uncalibrated": problem})


def _unchanged(tree: Tree) -> Overlay:
    """The files of a tree for work that writes nothing."""
    return Overlay(tree, {}, max_files=0, max_bytes=0, call=database.call)


def _overlay(item: WorkItem) -> Overlay:
    attempt = item.attempt
    assert attempt is not None
    return Overlay(
        attempt.base,
        attempt.overlay,
        max_files=2 * settings.UPLOAD_FILES,
        max_bytes=2 * settings.UPLOAD_BYTES,
        given=trees.files_of(attempt.given),
        dated=attempt.created_at,
        call=database.call,
    )


def _done(mine: WorkItem) -> None:
    """End the work item and apply the moves that are due, in the same transaction."""
    claim.finish(mine)
    advance(mine.run_id)


def _finalise(recording: Recording) -> None:
    run = recording.item.run
    model = RecordedModel(clients(), recording)
    plan = database.call(lambda: run.plans.defer("estimate").latest("version"))
    delivered = database.call(lambda: verification_inputs.delivered_by(run, plan))
    answer = synthesize(model, database.call(lambda: prompt_inputs.for_synthesizer(run, plan)), delivered.broken_in)
    head = database.call(lambda: _unchanged(run.head))
    case = database.call(lambda: verification_inputs.for_final_verdict(run, plan, answer, recording.capabilities))
    case = replace(case, command=checking(recording, head), untraced=[*untraced_in(case), *unknown_names_in(case)])
    judgement = _judgement(recording, case)
    judgement = judgement.model_copy(update={"broken_citations": delivered.broken(answer)})

    def answered(mine: WorkItem) -> None:
        outcomes.answered(mine.run, answer, judgement)
        _done(mine)

    recording.commit(answered)


_MISSING = "This worker has no Agent SDK, which the policy of the run asks for: run uv sync --extra agent-sdk."


class Loops(NamedTuple):
    """`carry_out` returns the report of an attempt, `make_plan` a plan. Both raise ContractBroken and ModelError."""

    carry_out: Callable[[Model, JournaledToolbox, StepBrief], StepOutput]
    make_plan: Callable[[Model, PlanBrief, Toolbox], Imported]


def loops_of(kind: Executor) -> Loops:
    """The loops of an executor. Raises ModelError if it is not installed."""
    match kind:
        case Executor.MESSAGES:
            return Loops(executor.execute, planner.make_plan)
        case Executor.AGENT_SDK:
            try:
                # An optional extra whose import takes a second: only runs that chose it pay for it.
                from runs.agent_sdk import session
            except ImportError as error:
                raise ModelError(_MISSING, kind="agent_program", retriable=False) from error
            return Loops(session.execute, session.make_plan)
        case _:
            assert_never(kind)


def planner_tools(kind: Executor, capabilities: Capacities) -> frozenset[str]:
    """The tools of a planner. In the plan mode of the Agent SDK it also looks into files."""
    if not capabilities.planner_tools:
        return frozenset()
    return frozenset({AskPerson.name}) if kind is Executor.MESSAGES else LOOKING


def tools_for(kind: Executor, tools: RunTools, overlay: Overlay, recording: Recording) -> GuardedToolbox:
    """The tools of an attempt. A session of the Agent SDK gets at once the errors that code finds in a written file,
    because it works for a long time before its report is checked.
    """
    attempt = recording.item.attempt
    assert attempt is not None
    if kind is Executor.MESSAGES:
        return tools
    return CheckedWrites(tools, overlay, attempt.step.spec, recording.item.run.policy.min_document_bytes)


def session_resumed(model: RecordedModel, attempt: Attempt | None = None) -> SessionResumed:
    """The event of a session, of an attempt or of the planner, that an earlier worker had begun."""
    step, number = (attempt.step.key, attempt.number) if attempt else ("", 0)
    return SessionResumed(step=step, attempt=number, replies=model.replayed, otherwise=model.diverged)


MAX_TRIES = 8
"""With waits that double, a service may be away for about two minutes before a person is asked."""
MAX_WAIT = 3_600.0
"""The most seconds for which a service may ask us to wait."""


def retry_at(error: ModelError, tries: int, now: datetime) -> datetime | None:
    """When to try again after `tries` failures in a row before this one; None if a person has to be asked."""
    if not error.retriable or tries + 1 >= MAX_TRIES:
        return None
    wait = min(2.0**tries, 60.0)
    if error.retry_after is not None:
        wait = max(wait, min(error.retry_after, MAX_WAIT))
    return now + timedelta(seconds=wait)
