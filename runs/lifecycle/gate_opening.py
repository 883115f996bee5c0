"""Questions to people: opening them, and taking them back when they have lost their object (G1, G6)."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from runs.contracts.ports import ToolUse
from runs.enums import APPROVING_GATES, Action, GateKind, GateStatus, PlanStatus, RunStatus, StepStatus, WorkStatus
from runs.errors import ApprovalAwaited
from runs.events import kinds as events
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.state import State
from runs.lifecycle.transitions import change
from runs.models import Attempt, Gate, Plan, Run, Step, Verdict, WorkItem
from runs.store.event_log import record
from runs.store.journal import CallPlace
from runs.text.plural import pluralize

DELEGATED = "Decide for yourself."
"""How an answer begins that leaves the decision to the model that asked."""


def open_gate(run: Run, kind: GateKind, question: str, digest: str, **on: Any) -> Gate:
    """Ask a person. The gate holds no worker, thread, connection or lease (G6)."""
    gate = Gate(run=run, kind=kind.value, question=question, digest=digest, **on)
    gate.second_person = needs_second_person(gate)
    gate.save(force_insert=True)
    step = gate.step.key if gate.step else ""
    record(run.pk, events.GateOpened(gate=gate.pk, gate_kind=kind.value, question=question, step=step))
    return gate


def needs_second_person(gate: Gate) -> bool:
    """Whether an approval of this gate has to come from somebody else than the one who submitted the task."""
    return gate.kind in APPROVING_GATES and gate.run.policy.second_person


def open_plan_gate(state: State) -> None:
    """Ask for the newest plan. One that was approved is asked about again when what would run has changed since."""
    run, plan = state.run, state.plan
    assert plan is not None
    question = f"Version {plan.version} of the plan is ready. Approve it?"
    if plan.status == PlanStatus.APPROVED:
        parts = ", ".join(fingerprint.differences(plan, run))
        question = f"What would run has changed since version {plan.version} was approved ({parts}). Approve it again?"
        change(plan, PlanStatus.PROPOSED, approval_fingerprint=None, approved_by=None, approved_how="")
    change(run, RunStatus.AWAITING_APPROVAL)
    _ask_for_plan(run, plan, question)


def ask_for_edited_plan(run: Run, plan: Plan) -> None:
    """Ask for a version that took the place of the one that was asked for: an edit is no approval, whatever the policy
    says (G2).
    """
    _ask_for_plan(run, plan, f"{plan.author} edited the plan. Approve version {plan.version}?")


def _ask_for_plan(run: Run, plan: Plan, question: str) -> None:
    digest = fingerprint.digest_of(fingerprint.fingerprint_of(run, plan))
    open_gate(run, GateKind.PLAN, question, digest, plan=plan)


def open_start_gate(state: State, key: str) -> None:
    """Ask before a step is carried out; no worker, and no place among the parallel steps, is held meanwhile."""
    question = f"Start “{state.specs[key].name}”? It is a {state.steps[key].complexity}-risk step."
    state.change(key, StepStatus.WAITING)
    step = Step.objects.get(pk=state.steps[key].id)
    open_gate(state.run, GateKind.START, question, start_digest(state, key), step=step)


def start_digest(state: State, key: str) -> str:
    """What letting a step start is bound to (G1): its definition, all that the plan's approval is bound to, and the
    results that it rests on.
    """
    assert state.plan is not None
    bound = fingerprint.fingerprint_of(state.run, state.plan)
    before = {name: state.steps[name].fingerprint for name in state.steps[key].depends_on}
    return fingerprint.digest_of([state.specs[key], bound, before])


def open_step_gate(state: State, key: str) -> None:
    spec, step = state.specs[key], state.steps[key]
    why = f"; it is a {step.complexity}-risk step"
    if step.unproved:
        why = f", but {_unproved(step.id)}"
    question = f"“{spec.name}” has passed verification{why}. Accept its result?"
    _open_result_gate(state, key, GateKind.STEP, question)


def _unproved(step: int) -> str:
    """Why somebody has to see a result that passed."""
    verdict = Verdict.objects.filter(attempt__step=step).order_by("attempt__number").last()
    if verdict and not any(request.unproved for request in verdict.requests):
        return "some of its evidence may have nothing to do with what it is to support"
    return "nothing plainly proves that what was asked for at an earlier attempt has been done"


def open_exhausted_gate(state: State, key: str) -> None:
    spec, failures = state.specs[key], state.steps[key].failures
    tries = pluralize(failures, "attempt")
    cannot = " The verdict says that nobody can do it." if state.steps[key].last_action is Action.CANNOT else ""
    question = f"“{spec.name}” did not pass in {tries}.{cannot} Accept it with open points?"
    _open_result_gate(state, key, GateKind.EXHAUSTED, question)


def _open_result_gate(state: State, key: str, kind: GateKind, question: str) -> None:
    """Ask for the latest result of a step; the answer is bound to exactly this result."""
    attempt = Attempt.objects.select_related("step", "tree").filter(step=state.steps[key].id).latest("number")
    state.change(key, StepStatus.WAITING)
    open_gate(state.run, kind, question, fingerprint.attempt_digest(attempt), step=attempt.step, attempt=attempt)


def suspend(work: WorkItem, sentence: str, *, reset: bool, cause: str = "") -> None:
    """Hold the work at an error gate. `reset` starts it with an empty journal when a person says try again; `cause` is
    the kind of a ModelError.
    """
    begun: dict[str, Any] = {"generation": work.generation + 1, "capacities": None, "withheld": {}}
    change(work, WorkStatus.SUSPENDED, lease_until=None, error=sentence[:2_000], **(begun if reset else {}))
    digest = fingerprint.digest_of([work.pk, work.epoch, sentence])
    step = work.attempt.step if work.attempt else None
    open_gate(work.run, GateKind.ERROR, sentence, digest, work=work, step=step, cause=cause[:80])


def suspend_for_budget(work: WorkItem, sentence: str) -> None:
    """Hold the work until somebody has raised the limit it would break, or finished the run. One gate asks for all."""
    change(work, WorkStatus.SUSPENDED, lease_until=None, reserved_usd=0, reserved_uses={})
    run = work.run
    if not run.gates.open().filter(kind=GateKind.BUDGET).exists():
        question = f"{sentence} Raise the limit, or finish with what is there?"
        open_gate(run, GateKind.BUDGET, question, fingerprint.policy_digest(run.policy))


def question_digest(question: str) -> str:
    """By which a question is known in its run: it is not asked twice."""
    return fingerprint.digest_of(["question", " ".join(question.split())])


def suspend_for_answer(work: WorkItem, question: str, choices: Sequence[str]) -> None:
    """Hold the work until a person has answered. One gate asks for all work that wants to know the same."""
    change(work, WorkStatus.SUSPENDED, lease_until=None, reserved_usd=0, reserved_uses={})
    digest = question_digest(question)
    if not work.run.gates.open().filter(kind=GateKind.QUESTION, digest=digest).exists():
        step = work.attempt.step if work.attempt else None
        open_gate(work.run, GateKind.QUESTION, question, digest, work=work, step=step, choices=list(choices))


def call_digest(work: WorkItem, place: CallPlace, use: ToolUse, number: int) -> str:
    """What letting a call that acts outside go is bound to: this call at its place in this work, byte for byte.
    `number`: how often it may have been carried out before.
    """
    return fingerprint.digest_of(["call", work.pk, place.generation, place.ordinal, use.name, use.input, number])


def suspend_for_call(work: WorkItem, awaited: ApprovalAwaited) -> None:
    """Hold the work until a person has let the call go, or refused it."""
    change(work, WorkStatus.SUSPENDED, lease_until=None, reserved_usd=0, reserved_uses={})
    question = f"Let the AI call {awaited.name}? It acts outside this run."
    if awaited.again:
        question = (
            f"Let the AI call {awaited.name} again? The process ended in the middle of this call, so that it may have "
            "been carried out already."
        )
    step = work.attempt.step if work.attempt else None
    call = {"name": awaited.name, "arguments": dict(awaited.arguments)}
    open_gate(work.run, GateKind.TOOL, question, awaited.digest, work=work, step=step, call=call)


def withdraw(gate: Gate) -> None:
    """The question goes away without an answer."""
    change(gate, GateStatus.WITHDRAWN, withdrawn_at=timezone.now())
    record(gate.run_id, events.GateWithdrawn(gate=gate.pk, gate_kind=gate.kind))
