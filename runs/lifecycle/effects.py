"""What each move does to rows: it creates work, starts and settles steps, approves and replaces plans, ends runs."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from django.db import transaction
from django.utils import timezone

from runs.calibration.minimum_catch_rate import problem_with_verifiers
from runs.enums import (
    OPEN_ATTEMPTS,
    Action,
    AttemptStatus,
    GateStatus,
    Outcome,
    PlanStatus,
    RunStatus,
    StepStatus,
    WorkKind,
    WorkStatus,
)
from runs.errors import MoveRefused
from runs.events import kinds as events
from runs.evidence.results import needs_person
from runs.lifecycle import available_agents
from runs.lifecycle.approval import fingerprint, reuse
from runs.lifecycle.criteria_ledger import ledger_of
from runs.lifecycle.state import RunState
from runs.lifecycle.transitions import change
from runs.logs import about
from runs.models import Agent, Attempt, Gate, Plan, Run, Step, User, WorkItem, clock
from runs.people import outbox
from runs.pev.agents import AgentDefinition, needed_by, subagents_of
from runs.pev.deviations import undeclared
from runs.pev.outcome import gaps_in, outcome_of
from runs.store import event_log, trees
from runs.store.event_log import record
from runs.text.truncate import quoted

log = logging.getLogger(__name__)


_receivers: list[Callable[[int], object]] = []


def notify_with(receiver: Callable[[int], object]) -> None:
    """Have `receiver` called with the id of each work item that can be claimed, instead of the one before."""
    _receivers[:] = [receiver]


def notify(work_id: int) -> None:
    """Tell the engine of a work item after the commit (D2)."""
    # A receiver that fails is only logged: the sweeper finds the item as well.
    for receiver in _receivers:
        transaction.on_commit(lambda receiver=receiver: receiver(work_id), robust=True)  # type: ignore[misc]


def _create_work(run: Run, kind: WorkKind, attempt: Attempt | None = None) -> None:
    work = WorkItem.objects.create(run=run, kind=kind.value, attempt=attempt, due_at=clock.now())
    notify(work.pk)


def resume_suspended(run: Run) -> None:
    """Let all suspended work go on, except where a gate about this very work is open.

    Work that still waits for something else, such as another limit, is suspended again when it gets there.
    """
    for work in run.work.filter(status=WorkStatus.SUSPENDED).exclude(gates__status=GateStatus.OPEN):
        change(work, WorkStatus.READY, due_at=clock.now())
        notify(work.pk)


def read_documents(state: RunState) -> None:
    _create_work(state.run, WorkKind.READ)
    record(state.run.pk, events.Reading(done=0, documents=len(trees.readings_of(state.run.inputs).waiting)))


def ask_for_plan(state: RunState) -> None:
    _create_work(state.run, WorkKind.PLAN)
    record(state.run.pk, events.Planning(version=state.plan.version + 1 if state.plan else 1))


def approve_plan(run: Run, plan: Plan, *, by: User, how: str) -> None:
    """Approve a plan. The approval is bound to everything that would run now (G1)."""
    bound = fingerprint.fingerprint_of(run, plan)
    change(
        plan,
        PlanStatus.APPROVED,
        approval_fingerprint=bound,
        approved_by=by,
        approved_how=how,
        approved_agents=available_agents.as_bound(bound),
    )
    change(run, RunStatus.EXECUTING)
    event = events.PlanApproved(
        version=plan.version, by=by.get_username(), how=how, digest=fingerprint.digest_of(bound)
    )
    record(run.pk, event)


def start_attempt(state: RunState, key: str) -> None:
    """Start another attempt at a step, or take over the result of an earlier run if nothing it depends on differs."""
    run, step = state.run, state.steps[key]
    spec = state.specs[key]
    there = Agent.objects.definitions(needed_by([spec], run.policy))
    if not _are_approved(state, key, there):
        return
    agent, subagents = there.get(spec.agent), {name: there[name] for name in subagents_of(spec, run.policy)}
    number = step.tries + 1
    state.change(key, StepStatus.RUNNING, tries=number)
    reuse_key = reuse.key_of(state, key, there)
    view = partial(reuse.view_of, run.inputs, run.head, state.specs, key)
    earlier = reuse.find(state, key, reuse_key, view) if number == 1 else None
    attempt = Attempt(step_id=step.id, number=number, base=run.head, inputs=run.inputs)
    attempt.reuse_key, attempt.agent = reuse_key, agent
    attempt.subagents = subagents
    if earlier:
        _take_over(state, key, attempt, earlier)
        return
    attempt.save(force_insert=True)
    record(run.pk, events.AttemptStarted(step=key, attempt=number, agent=spec.agent))
    _create_work(run, WorkKind.ATTEMPT, attempt)


def _are_approved(state: RunState, key: str, there: Mapping[str, AgentDefinition]) -> bool:
    """Whether the agents of the step are still those that were approved.

    Raises MoveRefused if the approval names no such agent: the move would stay due for ever.
    """
    # An administrator may have changed an agent after this transaction checked that the approval holds. Then the step
    # is not started, and the next `advance` finds the difference and asks for approval again.
    plan = state.plan
    assert plan is not None
    approved = plan.approval_fingerprint or {}
    for name in needed_by([state.specs[key]], state.run.policy):
        if f"{available_agents.PART}{name}" not in approved:
            raise MoveRefused(f"The approval of version {plan.version} says nothing of the agent {name}.")
        if name not in there or approved[f"{available_agents.PART}{name}"] != there[name].digest:
            return False
    return True


def _take_over(state: RunState, key: str, attempt: Attempt, earlier: Attempt) -> None:
    """Give the attempt the result of an earlier run. It opens gates like any other result."""
    attempt.status, attempt.reused_from = AttemptStatus.PASSED.value, earlier
    attempt.overlay, attempt.output, attempt.fingerprint = earlier.overlay, earlier.output, earlier.fingerprint
    attempt.tree, attempt.reads = trees.with_changes(attempt.base, earlier.overlay), earlier.reads
    attempt.finished_at = timezone.now()
    attempt.save(force_insert=True)
    verdict = earlier.verdict
    verdict.pk, verdict.attempt = None, attempt
    # What this run asks for counts, and what is known of its verifier today.
    verdict.uncalibrated = problem_with_verifiers(state.run.policy) if verdict.stage == "model" else ""
    verdict.save(force_insert=True)
    unproved = bool(verdict.uncalibrated) or needs_person(
        verdict.results, verdict.requests, asks=state.run.policy.asks_about_steps
    )
    state.change(key, StepStatus.JUDGED, last_action=Action(verdict.action), unproved=unproved)
    state.results[key] = attempt
    source = earlier.step
    event = events.AttemptReused(
        step=key, from_run=source.plan.run_id, from_step=source.pk, from_attempt=earlier.number
    )
    record(state.run.pk, event)


_SETTLED_EVENTS = {
    StepStatus.PASSED: events.StepPassed,
    StepStatus.ACCEPTED: events.StepAccepted,
    StepStatus.NOT_APPLICABLE: events.StepNotApplicable,
}


def settle(state: RunState, key: str, status: StepStatus) -> None:
    """Put what the latest attempt wrote into the workspace. If another step changed the same files, try again (D4).

    A step that passed because it had nothing to do becomes “not applicable”.
    """
    run, attempt = state.run, state.latest(key)
    undisturbed = attempt.tree if attempt.base_id == run.head_id else None
    touched = [] if undisturbed else trees.conflicts(attempt.base, run.head, attempt.overlay)
    if touched and attempt.status == AttemptStatus.PASSED:
        change(attempt, AttemptStatus.CONFLICT)
        state.change(key, StepStatus.PENDING)
        why = f"Another step changed {touched[0]} in the meantime."
        record(run.pk, events.StepRetried(step=key, why=why))
        return
    if touched:
        text = f"The files of {key} were left out: another step changed {touched[0]} in the meantime."
        record(run.pk, events.Note(text=text))
    overlay = {} if touched else attempt.overlay
    if status is StepStatus.PASSED and attempt.found_nothing_to_do:
        status = StepStatus.NOT_APPLICABLE
    if status is StepStatus.ACCEPTED:  # no one agreed to undeclared files, such as a changed input file
        extra = undeclared(overlay, {path for spec in state.specs.values() for path in spec.outputs})
        overlay = {path: entry for path, entry in overlay.items() if path not in extra}
        if extra:
            text = f"Files of {key} that no step had declared were left out: {', '.join(extra[:10])}."
            record(run.pk, events.Note(text=text))
    head = undisturbed or trees.with_changes(run.head, overlay)
    event_log.keep(run, head=head)
    state.change(key, status, fingerprint=attempt.fingerprint)
    record(run.pk, _SETTLED_EVENTS[status](step=key, attempt=attempt.number, tree=head.digest))


def fail_step(state: RunState, key: str) -> None:
    state.change(key, StepStatus.FAILED)
    record(state.run.pk, events.StepFailed(step=key, attempts=state.steps[key].failures))


def replan(state: RunState, key: str) -> None:
    """Go back to the planner. The current version and its answer stay until there is a new one."""
    run, plan = state.run, state.plan
    assert plan is not None
    refused = {step.key for step in state.steps.values() if step.refused}
    # If the planner has nothing new, the question whether to start the step is asked again.
    plan.steps.filter(refused=True).update(refused=False)
    if key in refused:
        became = "cannot go on after an error" if state.steps[key].tries else "was not allowed to start"
        why = f"Step {quoted(state.specs[key].name)} {became}."
        _plan_again(run, plan, why, key)
        return
    points = [] if key else gaps_in(ledger_of(run, plan))
    why = f"Step {quoted(state.specs[key].name)} could not be done." if key else "Success criteria are not met."
    _plan_again(run, plan, why, key, unmet=[point.sentence for point in points], counted=True)


def _plan_again(
    run: Run, plan: Plan, why: str, key: str = "", *, unmet: Sequence[str] = (), counted: bool = False
) -> None:
    """`counted`: it counts as one of the replans that the policy allows. What a person asks for does not."""
    Plan.objects.filter(pk=plan.pk).update(unmet="\n".join(unmet))
    change(run, RunStatus.PLANNING, replans=run.replans + (1 if counted else 0))
    record(run.pk, events.Replanning(step=key, why=why, replan=run.replans))


def plan_instead(state: RunState, work: WorkItem) -> None:
    """End work that an error holds, because a person wants another plan instead of another try. Nothing of it is kept.

    The planner is asked as soon as no other step of the plan is under way or waits for a decision.
    """
    change(work, WorkStatus.CANCELLED, lease_until=None, reserved_usd=0, reserved_uses={})
    if work.attempt:
        change(work.attempt, AttemptStatus.CANCELLED, finished_at=timezone.now())
        state.change(work.attempt.step.key, StepStatus.PENDING, refused=True)
    elif state.run.status == RunStatus.FINALISING:
        assert state.plan is not None
        _plan_again(state.run, state.plan, "The answer could not be written after an error.")


def go_on_without_replan(state: RunState, why: str) -> None:
    """Continue where the run was, because the planner had nothing new. From here on no replan is left."""
    run, plan = state.run, state.plan
    assert plan is not None
    change(run, RunStatus.FINALISING if run.final else RunStatus.EXECUTING, repeated=True)
    record(run.pk, events.NothingNew(version=plan.version, why=why[:2_000]))


def start_finalise(state: RunState) -> None:
    if state.run.status != RunStatus.FINALISING:
        change(state.run, RunStatus.FINALISING)
    _create_work(state.run, WorkKind.FINALISE)
    record(state.run.pk, events.Finalising())


def finish(run: Run, *, failure: str = "", ended: str = "", cancelled: bool = False) -> None:
    """End the run, with the outcome that its ledger gives. Open work, gates and attempts end as well."""
    newest = run.plans.defer("estimate").newest()
    for work in run.work.open():
        change(work, WorkStatus.CANCELLED, lease_until=None)
    for gate in run.gates.open():
        withdraw(gate)
    now = timezone.now()
    for attempt in Attempt.objects.of_run(run).filter(status__in=OPEN_ATTEMPTS):
        change(attempt, AttemptStatus.CANCELLED, finished_at=now)
    for step in Step.objects.of_run(run).unfinished():
        change(step, StepStatus.DROPPED)
    run.ended = ended  # the ledger reads it; the row gets it with the new status
    book = ledger_of(run, newest, failure=failure, cancelled=cancelled)
    outcome: Outcome = outcome_of(book)
    change(run, RunStatus.FINISHED, outcome=outcome.value, failure=failure, ended=ended, finished_at=now)
    record(run.pk, events.Finished(outcome=outcome.value, gaps=tuple(point.sentence for point in gaps_in(book)[:20])))
    outbox.announce_end(run)
    log.info("run finished: %s", outcome, extra=about(run=run.pk))


def withdraw(gate: Gate) -> None:
    """Take back the question of a gate."""
    change(gate, GateStatus.WITHDRAWN, withdrawn_at=timezone.now())
    record(gate.run_id, events.GateWithdrawn(gate=gate.pk, gate_kind=gate.kind))
