"""Stores what workers bring back: a plan, an execution, a judgement, an answer.

Every function runs in a transaction of its caller: of a worker, who commits only under its lease, or of a submission
that comes with its plan.
"""

from collections.abc import Sequence

from django.utils import timezone

from runs.accounting.past_estimates import estimate_for
from runs.contracts.ports import Changes
from runs.enums import (
    SETTLED_STEPS,
    AttemptStatus,
    PlanStatus,
    StepStatus,
)
from runs.events import kinds as events
from runs.evidence.results import Judgement
from runs.lifecycle import state as states
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.coverage import known_unread
from runs.lifecycle.criteria_ledger import was_read
from runs.lifecycle.state import RunState
from runs.lifecycle.transitions import change
from runs.models import Attempt, Overruling, Plan, Run, Step, User, Verdict
from runs.pev.agents import needed_by
from runs.pev.contracts import PlanContract, PlanStep, StepOutput
from runs.pev.plans.commented import without_copies
from runs.pev.plans.estimate import Estimate
from runs.pev.plans.relaxing import relaxed_criteria
from runs.pev.read_set import ReadSet
from runs.pev.tools.registry import tools_of
from runs.store import event_log, trees
from runs.store.event_log import keep, record


def documents_read(run: Run) -> None:
    """Record which documents could not be read, and adapt a plan that came with the task.

    Its estimate depends on the texts, and it can make no copies of Word documents that cannot be read.
    """
    record(run.pk, events.DocumentsRead(not_read=tuple(known_unread(run))))
    plan = run.plans.newest()
    if plan is None or plan.status != PlanStatus.PROPOSED:
        return
    contract = fingerprint.contract_of(plan)
    problems = trees.readings_of(run.inputs).problems
    refused = [path for path, info in trees.files_of(run.inputs).items() if info.sha256 in problems]
    changed = without_copies(contract, refused)
    if changed is contract:
        Plan.objects.filter(pk=plan.pk).update(estimate=estimate_for(run, contract))
    else:
        reason = "Without copies of Word documents that cannot be read."
        propose_plan(run, changed, reason=reason, estimate=estimate_for(run, changed), replaces=True)


def propose_plan(
    run: Run,
    plan: PlanContract,
    *,
    reason: str,
    estimate: Estimate | None,
    author: User | None = None,
    replaces: bool = False,
) -> Plan:
    """Store the next version of the plan. Unchanged steps that have passed keep their results.

    `author` is the person who edited the version that waits for a decision; the new version replaces it. `replaces`:
    code made it from a version whose gate has not opened yet.
    """
    before = _supersede(states.of(event_log.locked(run.pk)), edited=replaces or author is not None)
    row = Plan.objects.create(
        run=run,
        version=before.version + 1 if before else 1,
        header=plan.header,
        digest=fingerprint.plan_digest(plan),
        reason=reason,
        author=author,
        estimate=estimate,
        agents=needed_by(plan.steps, run.policy),
        relaxed=_relaxed_since_approval(run, plan) if before else [],
    )
    steps = Step.objects.bulk_create(_step_row(row, position, step) for position, step in enumerate(plan.steps))
    kept = _keep_results(steps, before) if before else []
    event = events.PlanProposed(
        version=row.version,
        steps=len(plan.steps),
        kept=tuple(kept),
        reason=reason,
        relaxed=len(row.relaxed),
        by=author.get_username() if author else "",
    )
    record(run.pk, event)
    return row


def _supersede(state: RunState, *, edited: bool) -> Plan | None:
    """The newest version, superseded if it was approved or is edited.

    Then its steps that are not settled are dropped, and its answer is deleted.
    """
    plan = state.plan
    if plan is None or not (edited or plan.status == PlanStatus.APPROVED):
        return plan
    for step in state.unfinished():
        state.change(step.key, StepStatus.DROPPED)
    change(plan, PlanStatus.SUPERSEDED)
    keep(state.run, final=None, answer="")
    return plan


def _relaxed_since_approval(run: Run, now: PlanContract) -> list[str]:
    """What `now` asks less than the version that a person approved last; without one, than the first approved."""
    approved = list(run.plans.exclude(approved_how="").order_by("version"))
    if not approved:
        return []
    agreed = next((plan for plan in reversed(approved) if was_read(plan)), approved[0])
    passed = Step.objects.filter(plan__run=run, plan__version__gte=agreed.version, status=StepStatus.PASSED)
    return relaxed_criteria(fingerprint.contract_of(agreed), now, [step.spec for step in passed], tools_of)


def _step_row(plan: Plan, position: int, step: PlanStep) -> Step:
    return Step(
        plan=plan,
        key=step.step_id,
        position=position,
        spec=step,
        depends_on=list(step.dependencies),
        complexity=step.estimated_complexity.value,
    )


def _keep_results(steps: Sequence[Step], before: Plan) -> list[str]:
    """Keep settled steps whose definition and dependencies are unchanged, and of which no person rejects a criterion.
    Returns their keys.
    """
    rejections = Overruling.objects.rejections().filter(attempt__step__plan__run=before.run_id)
    rejected = set(rejections.values_list("attempt", flat=True))
    settled = {
        step.key: step
        for step in before.steps.filter(status__in=SETTLED_STEPS)
        if not rejected or _result_of(step).pk not in rejected
    }
    kept: list[str] = []
    remaining = list(steps)
    while ready := [
        step
        for step in remaining
        if step.key in settled and settled[step.key].spec == step.spec and set(step.depends_on) <= set(kept)
    ]:
        for step in ready:
            old = settled[step.key]
            attempt = _result_of(old)
            change(step, StepStatus(old.status), reused_from=attempt, fingerprint=attempt.fingerprint)
            kept.append(step.key)
            remaining.remove(step)
    return kept


def _result_of(step: Step) -> Attempt:
    """The attempt whose result a settled step keeps."""
    return step.reused_from or step.attempts.latest("number")


def executed(attempt: Attempt, output: StepOutput, overlay: Changes) -> None:
    """Store the report of the executor and what it wrote. Nothing of it is in the workspace yet."""
    result = fingerprint.digest_of([output.findings, output.notes, overlay])
    change(attempt, AttemptStatus.VERIFYING, output=output, overlay=overlay, fingerprint=result)
    run = attempt.step.plan.run
    sure = None if run.policy.by_rules else output.confidence
    record(run.pk, events.Verifying(step=attempt.step.key, attempt=attempt.number, confidence=sure))


def judged(attempt: Attempt, judgement: Judgement, *, reads: ReadSet | None = None, blocked: bool = False) -> RunState:
    """Store the verdict, with what the result rests on. Returns the state of the run, in which a move is due."""
    Verdict.objects.create(
        attempt=attempt,
        stage=judgement.stage,
        passed=judgement.passed,
        action=judgement.action.value,
        severity=judgement.severity.value,
        feedback=judgement.feedback,
        notes=judgement.notes,
        results=judgement.results,
        criteria=len(judgement.results),
        supported=sum(1 for result in judgement.results if result.supported),
        unsupported=judgement.unsupported,
        requests=judgement.requests,
        untraced=judgement.untraced,
        uncalibrated=judgement.uncalibrated if judgement.passed else "",
    )
    ended = AttemptStatus.PASSED if judgement.passed else AttemptStatus.FAILED
    tree = trees.with_changes(attempt.base, attempt.overlay) if judgement.passed else None
    status = AttemptStatus.BLOCKED if blocked else ended
    change(attempt, status, tree=tree, reads=reads, finished_at=timezone.now())
    step = attempt.step
    # This plan is the newest: no other version is proposed while an attempt is under way.
    state = states.of(event_log.locked(step.plan.run_id), step.plan)
    failures = state.steps[step.key].failures + (0 if judgement.passed else 1)
    unproved = judgement.passed and judgement.needs_person(asks=state.run.policy.asks_about_steps)
    fields = {"last_action": judgement.action, "failures": failures, "unproved": unproved}
    state.change(step.key, StepStatus.JUDGED, **fields)
    state.results[step.key] = attempt
    event = events.VerdictGiven(
        step=step.key,
        attempt=attempt.number,
        passed=judgement.passed,
        action=judgement.action.value,
        feedback=judgement.feedback[:600],
    )
    record(step.plan.run_id, event, attempt)
    return state


def answered(run: Run, answer: str, judgement: Judgement) -> None:
    """Store the final answer and the judged success criteria."""
    keep(run, answer=answer, final=judgement)
    met = sum(1 for result in judgement.results if result.passed)
    record(run.pk, events.Answered(met=met, criteria=len(judgement.results)))
