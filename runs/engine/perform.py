"""Owns the performance of one work item: the only place where pev meets the database.

Claim, do, commit under the lease, move on. What goes wrong ends as a row: postponed, suspended at a gate, or judged
as failed.
"""

import logging
from collections.abc import Callable

from django.conf import settings
from django.tasks import task

from runs.accounting.history import estimate_for
from runs.engine import briefs, work
from runs.engine.answering import Answering
from runs.engine.deadline import Deadline
from runs.engine.notifications import notifications
from runs.engine.recording import RecordedModel, RecordedTools, clients, release_connection
from runs.engine.work import Lease
from runs.enums import Action, AttemptStatus, WorkKind
from runs.errors import ContractBroken, LeaseLost, LimitReached, ModelError, Postponed
from runs.events import kinds as events
from runs.journal import record, results_of, used_seconds
from runs.lifecycle import facts
from runs.lifecycle.advance import advance
from runs.models import Attempt, WorkItem
from runs.pev import verifier
from runs.pev.executor import execute
from runs.pev.planner import make_plan
from runs.pev.results import Judgement
from runs.pev.synthesizer import synthesize
from runs.pev.tools import FileTools, ToolLimits
from runs.trees import Overlay

log = logging.getLogger(__name__)
VERIFYING = 1_000
"""Ordinals of verification start here, so that execution may be resumed on its own."""


@task
def perform_work(work_id: int) -> None:
    """The notification. It may come twice or never; the row decides."""
    try:
        perform(work_id)
    finally:
        notifications.done(work_id)


def enqueue(work_id: int) -> None:
    """Notify a worker of this item. While one of this process has still to perform it nothing more is sent."""
    if notifications.is_first(work_id):
        perform_work.enqueue(work_id)


def perform(work_id: int) -> None:
    """Do one work item if it can be claimed. Never raises: what goes wrong is a row for people to see."""
    try:
        lease = work.claim(work_id)
        if lease is not None:
            with work.heartbeat.keeping(lease):
                _under(lease)
    except LeaseLost:
        log.info("work %s was taken over or cancelled", work_id)
    finally:
        release_connection()


def _under(lease: Lease) -> None:
    item = lease.item
    if lease.taken_over:
        with work.fenced(lease):
            record(item.run_id, events.Recovered(work=item.kind))
    doing: dict[str, Callable[[Lease, WorkItem, Answering], None]] = {
        WorkKind.PLAN: _plan,
        WorkKind.ATTEMPT: _attempt,
        WorkKind.FINALISE: _finalise,
    }
    try:
        doing[item.kind](lease, item, clients())
    except Postponed as postponed:
        with work.fenced(lease) as mine:
            record(mine.run_id, events.WaitingForModel(why=str(postponed), until=postponed.until.isoformat()))
            work.postpone(mine, postponed.until)
    except LimitReached as limit:
        with work.fenced(lease) as mine:
            facts.suspend_for_budget(mine, str(limit))
    except (ModelError, ContractBroken) as error:
        _suspend(lease, _sentence(error), reset=isinstance(error, ContractBroken))
    except LeaseLost:
        raise
    except Exception:
        log.exception("work %s failed", lease.work_id)
        _suspend(lease, "pevsite itself failed here; the log of the server says where.", reset=False)


def _suspend(lease: Lease, sentence: str, *, reset: bool) -> None:
    with work.fenced(lease) as mine:
        facts.suspend(mine, sentence, reset=reset)


def _sentence(error: ModelError | ContractBroken) -> str:
    errors = error.errors if isinstance(error, ContractBroken) else ()
    return " ".join([str(error), *(f"({item})" for item in errors[:5])])


def _plan(lease: Lease, item: WorkItem, asking: Answering) -> None:
    brief, reason = briefs.for_planner(item.run)
    plan = make_plan(RecordedModel(asking, lease, item), brief)
    cost = estimate_for(item.run, plan)
    with work.fenced(lease) as mine:
        facts.propose_plan(mine.run, plan, reason=reason, estimate=cost)
        work.done(mine)
        advance(mine.run_id)


def _attempt(lease: Lease, item: WorkItem, asking: Answering) -> None:
    assert item.attempt is not None
    attempt = item.attempt
    policy = item.run.policy
    watch = Deadline(policy.attempt_seconds, used_seconds(item) if item.epoch > 1 else 0.0)
    if attempt.status == AttemptStatus.EXECUTING and not _execute(lease, item, attempt, asking, watch):
        return
    output = attempt.output
    assert output is not None  # it was committed with the status
    if output.status == "blocked":
        _judged(
            lease, verifier.failed(f"Reported as blocked. {output.reasoning} {output.findings}", action=Action.REPLAN)
        )
        return
    if briefs.repeats_the_one_before(attempt):
        _judged(lease, verifier.failed("This attempt repeats the one before: the critique was not addressed."))
        return
    overlay = _overlay(attempt)
    case = briefs.for_verifier(attempt, overlay, results_of(item))
    try:
        judgement = verifier.judge(RecordedModel(asking, lease, item, VERIFYING, watch), case)
    except ContractBroken as broken:
        judgement = verifier.failed(f"The verifier gave no usable verdict: {_sentence(broken)}")
    _judged(lease, judgement)


def _execute(lease: Lease, item: WorkItem, attempt: Attempt, asking: Answering, watch: Deadline) -> bool:
    """Run the executor and commit its report. False when there is none; the failure is judged already."""
    overlay = _overlay(attempt)
    tools = RecordedTools(FileTools(overlay, ToolLimits()), overlay, lease, item, watch)
    brief = briefs.for_executor(attempt, overlay)
    try:
        output = execute(RecordedModel(asking, lease, item, watch=watch), tools, brief)
    except ContractBroken as broken:
        _judged(lease, verifier.failed(_sentence(broken)))
        return False
    with work.fenced(lease) as mine:
        assert mine.attempt is not None
        facts.executed(mine.attempt, output, overlay.changes)
    return True


def _overlay(attempt: Attempt) -> Overlay:
    return Overlay(
        attempt.base,
        attempt.overlay,
        max_files=2 * settings.UPLOAD_FILES,
        max_bytes=2 * settings.UPLOAD_BYTES,
    )


def _judged(lease: Lease, judgement: Judgement) -> None:
    with work.fenced(lease) as mine:
        assert mine.attempt is not None
        output = mine.attempt.output
        facts.judged(mine.attempt, judgement, blocked=bool(output and output.status == "blocked"))
        work.done(mine)
        advance(mine.run_id)


def _finalise(lease: Lease, item: WorkItem, asking: Answering) -> None:
    model = RecordedModel(asking, lease, item)
    answer = synthesize(model, briefs.for_synthesizer(item.run))
    judgement = verifier.judge(model, briefs.for_final_verdict(item.run, answer))
    with work.fenced(lease) as mine:
        facts.answered(mine.run, answer, judgement)
        work.done(mine)
        advance(mine.run_id)
