"""Owns the application of moves: reads the snapshot, applies what `moves.due` says, rings the bell after the commit."""

from collections.abc import Callable
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
    EventKind,
    GateKind,
    GateStatus,
    Outcome,
    PlanStatus,
    RunStatus,
    StepStatus,
    WorkKind,
    WorkStatus,
)
from runs.lifecycle import binding, ledger, moves, reuse
from runs.lifecycle.policy import Policy
from runs.lifecycle.transitions import change
from runs.models import Attempt, Gate, Plan, Run, Step, WorkItem
from runs.pev.outcome import gaps_in, outcome_of

_bells: list[Callable[[int], object]] = []


def ring_with(bell: Callable[[int], object]) -> None:
    """The engine hangs its bell here: it is called with a work item's id after the commit (D2)."""
    _bells[:] = [bell]


def ring(work_id: int) -> None:
    for bell in _bells:
        transaction.on_commit(lambda bell=bell: bell(work_id), robust=True)  # type: ignore[misc]


def locked(run_id: int) -> Run:
    """The run's row, locked for this transaction. SQLite locks the database when the transaction begins."""
    return Run.objects.select_for_update().get(pk=run_id)


def advance(run_id: int) -> None:
    """Apply every move that is due. Called in the transaction of the fact that made them due."""
    with transaction.atomic():
        run = locked(run_id)
        while due := moves.due(snapshot(run)):
            for move in due:
                _apply(run, move)


def snapshot(run: Run) -> moves.Snapshot:
    """What `moves.due` decides upon, in four queries."""
    plan = run.plans.order_by("-version").first()
    busy = run.work.filter(attempt=None, status__in=OPEN_WORK).exists()
    rows = (
        plan.steps.order_by("position").only("key", "status", "depends_on", "complexity", "failures", "last_action")
        if plan
        else []
    )
    deciding = plan is not None and plan.status == PlanStatus.PROPOSED
    bound = plan is None or plan.status != PlanStatus.APPROVED or not binding.differences(plan, run)
    final = (run.final or {}).get("action")
    return moves.Snapshot(
        status=RunStatus(run.status),
        policy=Policy.model_validate(run.policy),
        plan=PlanStatus(plan.status) if plan else None,
        agreed=deciding and run.plans.exclude(approved_how="").exists(),
        weakens=bool(plan and plan.weakened),
        bound=bound,
        steps=tuple(_view(step) for step in rows),
        busy=busy,
        paused=run.paused,
        replans=run.replans,
        final=Action(final) if final else None,
    )


def _view(step: Step) -> moves.StepView:
    return moves.StepView(
        key=step.key,
        status=StepStatus(step.status),
        depends_on=frozenset(step.depends_on),
        complexity=Complexity(step.complexity),
        failures=step.failures,
        asked=Action(step.last_action) if step.last_action else None,
    )


def _apply(run: Run, move: moves.Move) -> None:
    match move:
        case moves.AskForPlan():
            _create_work(run, WorkKind.PLAN)
            journal.record(run.pk, EventKind.PLANNING, {"version": run.plans.count() + 1})
        case moves.OpenPlanGate():
            _open_plan_gate(run)
        case moves.ApprovePlan():
            approve_plan(run, current_plan(run), by=run.owner, how="policy")
        case moves.StartAttempt(key):
            _start_attempt(run, _step(run, key))
        case moves.OpenStepGate(key):
            _open_step_gate(run, _step(run, key))
        case moves.PassStep(key):
            settle(run, _step(run, key), StepStatus.PASSED)
        case moves.OpenExhaustedGate(key):
            _open_exhausted_gate(run, _step(run, key))
        case moves.AcceptStep(key):
            settle(run, _step(run, key), StepStatus.ACCEPTED)
        case moves.FailStep(key):
            _fail_step(run, _step(run, key))
        case moves.Replan(key):
            _replan(run, key)
        case moves.StartFinalise():
            _start_finalise(run)
        case moves.Finish():
            finish(run)


def current_plan(run: Run) -> Plan:
    """The newest version. Raises Plan.DoesNotExist before there is one."""
    return run.plans.latest("version")


def _step(run: Run, key: str) -> Step:
    return current_plan(run).steps.get(key=key)


def _create_work(run: Run, kind: WorkKind, attempt: Attempt | None = None) -> None:
    work = WorkItem.objects.create(run=run, kind=kind.value, attempt=attempt, due_at=timezone.now())
    ring(work.pk)


def open_gate(run: Run, kind: GateKind, question: str, digest: str, **about: Any) -> Gate:
    """Ask a person. The gate holds no worker, thread, connection or lease (G6)."""
    gate = Gate.objects.create(run=run, kind=kind.value, question=question, digest=digest, **about)
    data = {"gate": gate.pk, "kind": kind.value, "question": question}
    if gate.step:
        data["step"] = gate.step.key
    journal.record(run.pk, EventKind.GATE_OPENED, data)
    return gate


def _open_plan_gate(run: Run) -> None:
    plan = current_plan(run)
    question = f"Version {plan.version} of the plan is ready. Shall it be carried out as it stands?"
    if plan.status == PlanStatus.APPROVED:
        parts = ", ".join(binding.differences(plan, run))
        question = f"What would run has changed since version {plan.version} was approved ({parts}). Shall it go on?"
        change(plan, PlanStatus.PROPOSED, binding=None, approved_by=None, approved_how="")
    change(run, RunStatus.AWAITING_APPROVAL)
    open_gate(run, GateKind.PLAN, question, binding.digest_of(binding.binding_of(run, plan)), plan=plan)


def approve_plan(run: Run, plan: Plan, *, by: Any, how: str) -> None:
    """The plan may be carried out from now on, bound to what it was approved with (G1)."""
    change(plan, PlanStatus.APPROVED, binding=binding.binding_of(run, plan), approved_by=by, approved_how=how)
    change(run, RunStatus.EXECUTING)
    data = {"version": plan.version, "by": by.get_username(), "how": how, "digest": plan.digest}
    journal.record(run.pk, EventKind.PLAN_APPROVED, data)


def _start_attempt(run: Run, step: Step) -> None:
    change(step, StepStatus.RUNNING)
    number = step.attempts.count() + 1
    policy = Policy.model_validate(run.policy)
    key = reuse.key_of(run, step, policy)
    earlier = reuse.find(run, step, key, policy) if number == 1 else None
    attempt = Attempt.objects.create(step=step, number=number, base=run.head, reuse_key=key)
    if earlier:
        _reuse(run, step, attempt, earlier)
        return
    journal.record(run.pk, EventKind.ATTEMPT_STARTED, {"step": step.key, "attempt": number})
    _create_work(run, WorkKind.ATTEMPT, attempt)


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
    data = {"step": step.key, "from_run": source.plan.run_id, "from_step": source.pk, "from_attempt": earlier.number}
    journal.record(run.pk, EventKind.ATTEMPT_REUSED, data)


def _open_step_gate(run: Run, step: Step) -> None:
    attempt = step.attempts.latest("number")
    change(step, StepStatus.WAITING)
    name = step.spec.get("name", step.key)
    question = (
        f"“{name}” has passed verification and counts as {step.complexity} in complexity. Shall its result be kept?"
    )
    open_gate(run, GateKind.STEP, question, binding.attempt_digest(attempt), step=step, attempt=attempt)


def _open_exhausted_gate(run: Run, step: Step) -> None:
    attempt = step.attempts.latest("number")
    change(step, StepStatus.WAITING)
    name = step.spec.get("name", step.key)
    question = f"“{name}” did not pass in {step.failures} attempts. Shall the run go on with this gap?"
    open_gate(run, GateKind.EXHAUSTED, question, binding.attempt_digest(attempt), step=step, attempt=attempt)


def settle(run: Run, step: Step, status: StepStatus) -> None:
    """Commit the latest attempt's overlay to the workspace; on a conflict try the step again on the new tree (D4)."""
    attempt = step.attempts.select_related("base").latest("number")
    touched = trees.conflicts(attempt.base, run.head, attempt.overlay)
    if touched and attempt.status == AttemptStatus.PASSED:
        change(attempt, AttemptStatus.CONFLICT)
        change(step, StepStatus.PENDING)
        why = f"Another step changed {touched[0]} in the meantime."
        journal.record(run.pk, EventKind.STEP_RETRIED, {"step": step.key, "why": why})
        return
    if touched:
        text = f"The files of {step.key} were left out: another step changed {touched[0]} in the meantime."
        journal.record(run.pk, EventKind.NOTE, {"text": text})
    head = trees.with_changes(run.head, {} if touched else attempt.overlay)
    Run.objects.filter(pk=run.pk).update(head=head)
    run.head = head
    change(step, status)
    kind = EventKind.STEP_PASSED if status is StepStatus.PASSED else EventKind.STEP_ACCEPTED
    journal.record(run.pk, kind, {"step": step.key, "attempt": attempt.number, "tree": head.digest})


def _fail_step(run: Run, step: Step) -> None:
    change(step, StepStatus.FAILED)
    journal.record(run.pk, EventKind.STEP_FAILED, {"step": step.key, "attempts": step.failures})


def _replan(run: Run, key: str) -> None:
    """Back to the planner. The old version is superseded; what has not been settled in it is dropped."""
    plan = current_plan(run)
    gaps = [] if key else gaps_in(ledger.ledger_of(run))
    change(plan, PlanStatus.SUPERSEDED, unmet="\n".join(gaps))
    for step in plan.steps.exclude(status__in=TERMINAL_STEPS):
        change(step, StepStatus.DROPPED)
    change(run, RunStatus.PLANNING, replans=run.replans + 1, final=None, answer="")
    why = f"Step {key} could not be done." if key else "Success criteria are not met."
    journal.record(run.pk, EventKind.REPLANNING, {"step": key, "why": why, "replan": run.replans})


def _start_finalise(run: Run) -> None:
    if run.status != RunStatus.FINALISING:
        change(run, RunStatus.FINALISING)
    _create_work(run, WorkKind.FINALISE)
    journal.record(run.pk, EventKind.FINALISING)


def withdraw(gate: Gate) -> None:
    """The question goes away without an answer."""
    change(gate, GateStatus.WITHDRAWN, withdrawn_at=timezone.now())
    journal.record(gate.run_id, EventKind.GATE_WITHDRAWN, {"gate": gate.pk, "kind": gate.kind})


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
    book = ledger.ledger_of(run, failure=failure, cancelled=cancelled)
    outcome: Outcome = outcome_of(book)
    change(run, RunStatus.FINISHED, outcome=outcome.value, failure=failure, ended=ended, finished_at=timezone.now())
    data = {"outcome": outcome.value, "gaps": gaps_in(book)[:20]}
    journal.record(run.pk, EventKind.FINISHED, data)
