"""Owns the application of moves: reads the snapshot, applies what `moves.due` says, notifies the engine."""

from dataclasses import replace
from typing import Any

from django.db import transaction
from django.utils import timezone

from runs import journal, trees
from runs.enums import (
    OPEN_ATTEMPTS,
    OPEN_WORK,
    TERMINAL_STEPS,
    Action,
    AttemptStatus,
    Complexity,
    GateKind,
    GateStatus,
    Outcome,
    PlanStatus,
    RunStatus,
    StepStatus,
    WorkKind,
    WorkStatus,
)
from runs.events import kinds as events
from runs.lifecycle import baseline, fingerprint, moves, reuse
from runs.lifecycle.notify import notify
from runs.lifecycle.transitions import change
from runs.models import Attempt, Gate, Plan, Run, Step, WorkItem
from runs.pev.outcome import gaps_in, outcome_of
from runs.pev.ports import Changes
from runs.reading.ledger import ledger_of


def locked(run_id: int) -> Run:
    """The run's row, locked for this transaction. SQLite locks the database when the transaction begins."""
    runs = Run.objects.select_for_update(of=("self",)).select_related("inputs").defer("inputs__changes")
    return runs.get(pk=run_id)


def advance(run_id: int) -> None:
    """Apply every move that is due. Called in the transaction of the fact that made them due."""
    with transaction.atomic(savepoint=False):
        run = locked(run_id)
        plan = run.plans.defer("estimate").order_by("-version").first()
        seen = snapshot(run, plan)
        while due := moves.due(seen):
            moved = [step for move in due if (step := _apply(run, plan, move))]
            seen = _with(seen, moved) if moved else snapshot(run, plan)


def snapshot(run: Run, plan: Plan | None) -> moves.Snapshot:
    """What `moves.due` decides upon; `plan` is the newest version."""
    rows = plan.steps.order_by("position").values_list(*_VIEWED) if plan else ()
    deciding = plan is not None and plan.status == PlanStatus.PROPOSED
    return moves.Snapshot(
        status=RunStatus(run.status),
        policy=run.policy,
        plan=PlanStatus(plan.status) if plan else None,
        agreed=deciding and run.plans.exclude(approved_how="").exists(),
        relaxes=bool(plan and plan.relaxed),
        bound=plan is None or plan.status != PlanStatus.APPROVED or not fingerprint.differences(plan, run),
        steps=tuple(_view(*row) for row in rows),
        busy=run.work.filter(attempt=None, status__in=OPEN_WORK).exists(),
        paused=run.paused,
        replans=run.replans,
        final=run.final.action if run.final else None,
    )


_VIEWED = ("key", "status", "depends_on", "complexity", "failures", "last_action")


def _view(
    key: str, status: str, depends_on: list[str], complexity: str, failures: int, asked: str | None
) -> moves.StepView:
    return moves.StepView(
        key,
        StepStatus(status),
        frozenset(depends_on),
        Complexity(complexity),
        failures,
        Action(asked) if asked else None,
    )


def _with(seen: moves.Snapshot, moved: list[Step]) -> moves.Snapshot:
    """The snapshot after moves that have changed these steps and nothing else."""
    views = {step.key: _view(*(getattr(step, name) for name in _VIEWED)) for step in moved}
    return replace(seen, steps=tuple(views.get(view.key, view) for view in seen.steps))


def _apply(run: Run, plan: Plan | None, move: moves.Move) -> Step | None:
    """Apply one move. Returns the step that it has changed, None for a move of the whole run."""
    match move:
        case moves.AskForPlan():
            _create_work(run, WorkKind.PLAN)
            journal.record(run.pk, events.Planning(version=plan.version + 1 if plan else 1))
        case moves.StartFinalise():
            _start_finalise(run)
        case moves.Finish():
            finish(run)
        case _:
            assert plan is not None
            return _apply_to(run, plan, move)
    return None


def _apply_to(run: Run, plan: Plan, move: moves.Move) -> Step | None:
    match move:
        case moves.OpenPlanGate():
            _open_plan_gate(run, plan)
        case moves.ApprovePlan():
            approve_plan(run, plan, by=run.owner, how="policy")
        case moves.Replan(key):
            _replan(run, plan, key)
        case moves.StartAttempt(key):
            return _start_attempt(run, _step(plan, key))
        case moves.OpenStepGate(key):
            return _open_step_gate(run, _step(plan, key))
        case moves.PassStep(key):
            return settle(run, _step(plan, key), StepStatus.PASSED)
        case moves.OpenExhaustedGate(key):
            return _open_exhausted_gate(run, _step(plan, key))
        case moves.AcceptStep(key):
            return settle(run, _step(plan, key), StepStatus.ACCEPTED)
        case moves.FailStep(key):
            return _fail_step(run, _step(plan, key))
    return None


def _step(plan: Plan, key: str) -> Step:
    step = plan.steps.get(key=key)
    step.plan = plan
    return step


def _create_work(run: Run, kind: WorkKind, attempt: Attempt | None = None) -> None:
    work = WorkItem.objects.create(run=run, kind=kind.value, attempt=attempt, due_at=timezone.now())
    notify(work.pk)


def open_gate(run: Run, kind: GateKind, question: str, digest: str, **about: Any) -> Gate:
    """Ask a person. The gate holds no worker, thread, connection or lease (G6)."""
    gate = Gate.objects.create(run=run, kind=kind.value, question=question, digest=digest, **about)
    key = gate.step.key if gate.step else ""
    journal.record(run.pk, events.GateOpened(gate=gate.pk, gate_kind=kind.value, question=question, step=key))
    return gate


def _open_plan_gate(run: Run, plan: Plan) -> None:
    question = f"Version {plan.version} of the plan is ready. Shall it be carried out as it stands?"
    if plan.status == PlanStatus.APPROVED:
        parts = ", ".join(fingerprint.differences(plan, run))
        question = f"What would run has changed since version {plan.version} was approved ({parts}). Shall it go on?"
        change(plan, PlanStatus.PROPOSED, approval_fingerprint=None, approved_by=None, approved_how="")
    change(run, RunStatus.AWAITING_APPROVAL)
    open_gate(run, GateKind.PLAN, question, fingerprint.digest_of(fingerprint.fingerprint_of(run, plan)), plan=plan)


def approve_plan(run: Run, plan: Plan, *, by: Any, how: str) -> None:
    """The plan may be carried out from now on, bound to what it was approved with (G1)."""
    change(
        plan,
        PlanStatus.APPROVED,
        approval_fingerprint=fingerprint.fingerprint_of(run, plan),
        approved_by=by,
        approved_how=how,
    )
    change(run, RunStatus.EXECUTING)
    told = events.PlanApproved(version=plan.version, by=by.get_username(), how=how, digest=plan.digest)
    journal.record(run.pk, told)


def _start_attempt(run: Run, step: Step) -> Step:
    change(step, StepStatus.RUNNING)
    number = step.attempts.count() + 1
    key = reuse.key_of(run, step)
    earlier = reuse.find(run, step, key) if number == 1 else None
    attempt = Attempt.objects.create(step=step, number=number, base=run.head, reuse_key=key)
    if earlier:
        _reuse(run, step, attempt, earlier)
        return step
    journal.record(run.pk, events.AttemptStarted(step=step.key, attempt=number))
    _create_work(run, WorkKind.ATTEMPT, attempt)
    return step


def _reuse(run: Run, step: Step, attempt: Attempt, earlier: Attempt) -> None:
    """The result of an earlier run stands in for the attempt's own; gates for it open as for any other."""
    same = {name: getattr(earlier, name) for name in ("overlay", "output", "fingerprint")}
    change(attempt, AttemptStatus.VERIFYING, reused_from=earlier, **same)
    verdict = earlier.verdict
    verdict.pk, verdict.attempt = None, attempt
    verdict.save(force_insert=True)
    tree = trees.with_changes(attempt.base, earlier.overlay)
    change(attempt, AttemptStatus.PASSED, tree=tree, finished_at=timezone.now())
    change(step, StepStatus.JUDGED, last_action=verdict.action)
    source = earlier.step
    told = events.AttemptReused(
        step=step.key, from_run=source.plan.run_id, from_step=source.pk, from_attempt=earlier.number
    )
    journal.record(run.pk, told)


def _open_step_gate(run: Run, step: Step) -> Step:
    attempt = step.attempts.latest("number")
    change(step, StepStatus.WAITING)
    rated = f"counts as {step.complexity} in complexity"
    question = f"“{step.spec.name}” has passed verification and {rated}. Shall its result be kept?"
    open_gate(run, GateKind.STEP, question, fingerprint.attempt_digest(attempt), step=step, attempt=attempt)
    return step


def _open_exhausted_gate(run: Run, step: Step) -> Step:
    attempt = step.attempts.latest("number")
    change(step, StepStatus.WAITING)
    tries = f"{step.failures} attempt{'s' if step.failures != 1 else ''}"
    question = f"“{step.spec.name}” did not pass in {tries}. Shall the run go on with this gap?"
    open_gate(run, GateKind.EXHAUSTED, question, fingerprint.attempt_digest(attempt), step=step, attempt=attempt)
    return step


def settle(run: Run, step: Step, status: StepStatus) -> Step:
    """Commit the latest attempt's overlay to the workspace; on a conflict try the step again on the new tree (D4)."""
    attempt = step.attempts.select_related("tree").latest("number")
    undisturbed = attempt.tree if attempt.base_id == run.head_id else None
    touched = [] if undisturbed else trees.conflicts(attempt.base, run.head, attempt.overlay)
    if touched and attempt.status == AttemptStatus.PASSED:
        change(attempt, AttemptStatus.CONFLICT)
        change(step, StepStatus.PENDING)
        why = f"Another step changed {touched[0]} in the meantime."
        journal.record(run.pk, events.StepRetried(step=step.key, why=why))
        return step
    if touched:
        text = f"The files of {step.key} were left out: another step changed {touched[0]} in the meantime."
        journal.record(run.pk, events.Note(text=text))
    overlay = {} if touched else attempt.overlay
    if status is StepStatus.ACCEPTED:
        overlay = _declared(run, step, overlay)
    head = undisturbed or trees.with_changes(run.head, overlay)
    Run.objects.filter(pk=run.pk).update(head=head)
    run.head = head
    change(step, status)
    kind = events.StepPassed if status is StepStatus.PASSED else events.StepAccepted
    journal.record(run.pk, kind(step=step.key, attempt=attempt.number, tree=head.digest))
    return step


def _declared(run: Run, step: Step, overlay: Changes) -> Changes:
    """What of an accepted overlay the plan had spoken of: nobody agreed to the rest, such as a changed input."""
    extra = baseline.undeclared_by(step, overlay)
    if extra:
        text = f"Files of {step.key} that no step had declared were left out: {', '.join(extra[:10])}."
        journal.record(run.pk, events.Note(text=text))
    return {path: entry for path, entry in overlay.items() if path not in extra}


def _fail_step(run: Run, step: Step) -> Step:
    change(step, StepStatus.FAILED)
    journal.record(run.pk, events.StepFailed(step=step.key, attempts=step.failures))
    return step


def _replan(run: Run, plan: Plan, key: str) -> None:
    """Back to the planner. The old version is superseded; what has not been settled in it is dropped."""
    gaps = [] if key else gaps_in(ledger_of(run))
    change(plan, PlanStatus.SUPERSEDED, unmet="\n".join(gaps))
    for step in plan.steps.exclude(status__in=TERMINAL_STEPS):
        change(step, StepStatus.DROPPED)
    change(run, RunStatus.PLANNING, replans=run.replans + 1, final=None, answer="")
    why = f"Step {key} could not be done." if key else "Success criteria are not met."
    journal.record(run.pk, events.Replanning(step=key, why=why, replan=run.replans))


def _start_finalise(run: Run) -> None:
    if run.status != RunStatus.FINALISING:
        change(run, RunStatus.FINALISING)
    _create_work(run, WorkKind.FINALISE)
    journal.record(run.pk, events.Finalising())


def withdraw(gate: Gate) -> None:
    """The question goes away without an answer."""
    change(gate, GateStatus.WITHDRAWN, withdrawn_at=timezone.now())
    journal.record(gate.run_id, events.GateWithdrawn(gate=gate.pk, gate_kind=gate.kind))


def finish(run: Run, *, failure: str = "", ended: str = "", cancelled: bool = False) -> None:
    """End the run with the outcome that the ledger gives. Open work, gates and attempts end with it."""
    for work in run.work.filter(status__in=OPEN_WORK):
        change(work, WorkStatus.CANCELLED, lease_until=None)
    for gate in run.gates.filter(status=GateStatus.OPEN):
        withdraw(gate)
    for attempt in Attempt.objects.filter(step__plan__run=run, status__in=OPEN_ATTEMPTS):
        change(attempt, AttemptStatus.CANCELLED, finished_at=timezone.now())
    for step in Step.objects.filter(plan__run=run).exclude(status__in=TERMINAL_STEPS):
        change(step, StepStatus.DROPPED)
    run.ended = ended
    book = ledger_of(run, failure=failure, cancelled=cancelled)
    outcome: Outcome = outcome_of(book)
    change(run, RunStatus.FINISHED, outcome=outcome.value, failure=failure, ended=ended, finished_at=timezone.now())
    journal.record(run.pk, events.Finished(outcome=outcome.value, gaps=tuple(gaps_in(book)[:20])))
