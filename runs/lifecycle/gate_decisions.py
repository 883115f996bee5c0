"""Decisions of people: who may answer a gate, what an answer is bound to, and what follows from it."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.utils import timezone

from runs.contracts.feedback import Comment
from runs.enums import (
    REQUESTING_GATES,
    AttemptStatus,
    GateKind,
    GateStatus,
    PlanStatus,
    RunStatus,
    StepStatus,
    Verb,
    WorkKind,
    WorkStatus,
)
from runs.errors import DecisionRefused, InvalidInput, MoveRefused, NotAllowed
from runs.events import kinds as events
from runs.lifecycle import available_agents, effects, gate_opening, run_limits
from runs.lifecycle import state as states
from runs.lifecycle.advance import advance
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.change_requests import place_in
from runs.lifecycle.notify import notify
from runs.lifecycle.people_answers import said_at
from runs.lifecycle.transitions import change
from runs.models import Attempt, Gate, Plan, Run, User, clock
from runs.people.permissions import check_can_decide
from runs.pev.soundness import about_sources
from runs.store import event_log

_CHANGED = "What would run has changed since this page was loaded. Read it again, then decide."
_STATUS = {
    Verb.APPROVE: GateStatus.APPROVED,
    Verb.REJECT: GateStatus.REJECTED,
    Verb.ANSWER: GateStatus.ANSWERED,
    Verb.DELEGATE: GateStatus.ANSWERED,
    Verb.STOP: GateStatus.STOPPED,
    Verb.GIVE_UP: GateStatus.REJECTED,
}
MAX_AT_ONCE = 100
"""Requests in one answer: each is judged by itself, and a verdict on more is longer than what a model may answer."""
MAX_REQUESTS = 200
"""Of a run: a plan names a place for each of them, and its contract holds as many."""
_ANSWERING = frozenset({Verb.ANSWER, Verb.DELEGATE})
_REVISING_GATES = frozenset({GateKind.PLAN, GateKind.ERROR})
"""A rejection asks the planner for the next version, as often as the policy allows revisions."""


@dataclass(frozen=True)
class Decision:
    """A person's answer. `digest` is the one on the page that was answered; `how` says through what.

    `budget` (USD) and `time_limit` (seconds) are the new limits with which a budget gate is approved. With
    `no_sources` a plan is approved or rejected as one for creative work, which needs none. `comments` are on parts of a
    plan, without numbers and places in words yet; `reason` is on the whole of it. A rejection needs one or the other.
    """

    verb: Verb
    digest: str
    reason: str = ""
    how: str = "person"
    budget: Decimal | None = None
    time_limit: int | None = None
    no_sources: bool = False
    comments: tuple[Comment, ...] = ()


def decide(gate_id: int, user: User, decision: Decision) -> None:
    """Answer a gate, once, and let what follows happen in the same transaction.

    Raises NotAllowed; InvalidInput for a rejection without a reason; DecisionRefused when somebody else was first
    (with who, what and when), or when what would run is not what the page showed.
    """
    with event_log.writing():
        gate = Gate.objects.select_related("run", "plan", "step", "attempt", "work", "decided_by").get(pk=gate_id)
        run = event_log.locked(gate.run_id)
        gate.refresh_from_db(fields=["status", "decided_by", "decided_at", "reason"])
        gate.run = run
        check_can_decide(user, run)
        outdated = gate.status == GateStatus.OPEN and gate.digest != current_digest(gate)
        if outdated:
            _ask_again(gate)
        else:
            _decide(gate, user, decision)
    if outdated:
        raise DecisionRefused(_CHANGED)


def _decide(gate: Gate, user: User, decision: Decision) -> None:
    if gate.status != GateStatus.OPEN:
        raise DecisionRefused(already_decided(gate))
    if decision.digest != gate.digest:
        raise DecisionRefused(_CHANGED)
    if decision.verb is Verb.APPROVE and user.pk == gate.run.owner_id and gate_opening.needs_second_person(gate):
        raise NotAllowed("A second person has to approve this: you submitted the task. You may reject it, or stop.")
    if decision.verb is Verb.APPROVE and gate.kind == GateKind.PLAN:
        _check_agents(gate)
    decision = _complete(gate, decision)
    if decision.no_sources:
        _do_without_sources(gate, decision)
    _close(gate, user, decision)
    _follow(gate, user, decision)
    advance(gate.run_id)


def _check_agents(gate: Gate) -> None:
    """Raises DecisionRefused for a plan whose steps name an agent that the run cannot have (any more)."""
    assert gate.plan is not None
    if gate.plan.agents:
        there = available_agents.agent_roster(gate.run.policy)
        for name in gate.plan.agents:
            if why := there.missing(name):
                instead = "Request changes, edit the plan, or have an administrator put that right."
                raise DecisionRefused(f"The plan names the agent “{name}”, {why} {instead}")


def _complete(gate: Gate, decision: Decision) -> Decision:
    """The decision with all that it needs. Raises InvalidInput or DecisionRefused when that is missing."""
    if decision.verb is Verb.GIVE_UP and gate.kind != GateKind.ERROR:
        raise DecisionRefused("Only work that an error holds is given up.")
    if gate.kind == GateKind.QUESTION or decision.verb in _ANSWERING:
        return _answered(gate, decision)
    if decision.verb is not Verb.REJECT:
        return decision
    if gate.kind == GateKind.BUDGET:
        return replace(decision, reason=decision.reason.strip() or "Finish with what is there.")
    decision = replace(decision, **_commented(gate, decision))
    if not decision.reason.strip():
        raise InvalidInput("Say what should be different: the words go to the model that tries again.")
    plans, requests = gate.run.plans.only("status"), gate.run.gates.requests().only("kind", "request")
    if problem := problem_with_revision(gate, plans, requests):
        raise DecisionRefused(problem)
    if problem := _problem_with_number(gate.run, max(1, len(decision.comments))):
        raise InvalidInput(problem)
    return decision


def _answered(gate: Gate, decision: Decision) -> Decision:
    """The answer to a model's question, whose words are never empty."""
    if decision.verb is Verb.STOP:
        return decision
    if gate.kind != GateKind.QUESTION or decision.verb not in _ANSWERING:
        raise DecisionRefused("Only a question is answered, and nothing else is done with it.")
    words = decision.reason.strip()
    if decision.verb is Verb.DELEGATE:
        return replace(decision, reason=f"{gate_opening.DELEGATED} {words}".strip())
    if not words:
        raise InvalidInput("Write an answer or choose one, or let the AI decide.")
    return replace(decision, reason=words)


def _problem_with_number(run: Run, count: int) -> str:
    """Why so many requests cannot be made at once; empty if they can."""
    room = min(MAX_AT_ONCE, MAX_REQUESTS - run.requests)
    if count <= room:
        return ""
    known = f", and this run has {run.requests} already" if room < MAX_AT_ONCE else ""
    return (
        f"These are {count} requests; at most {room} can be made, since each is judged by itself{known}. Send back "
        "fewer points, or say once, for the whole, what holds for many of them."
    )


def problem_with_revision(gate: Gate, plans: Collection[Plan], gates: Iterable[Gate]) -> str:
    """Why the planner cannot be asked for changes here, of a run with these plans and gates; empty if it can."""
    if gate.kind in REQUESTING_GATES and gate.run.requests >= MAX_REQUESTS:
        return (
            f"{MAX_REQUESTS} requests were made in this run, and no plan can answer more. Decide without another one, "
            "or stop the run and submit the task again with what is missing in the request."
        )
    if gate.kind not in _REVISING_GATES:
        return ""
    planned = gate.kind == GateKind.PLAN
    planning = gate.work is not None and gate.work.kind == WorkKind.PLAN
    instead = "Approve this one" if planned else "Plan again" if planning else "Try again"
    stop = "stop the run and submit the task again with what is missing in the request"
    if not plans:
        return f"There is no plan yet that could be changed. {instead}, or {stop}."
    limit = gate.run.policy.revisions
    rejected = sum(1 for plan in plans if plan.status == PlanStatus.REJECTED)
    if rejected + sum(1 for one in gates if one.kind == GateKind.ERROR and one.request) < limit:
        return ""
    times = f"{limit} times" if limit > 1 else "once"
    spent = f"Changes to the plan of this run were requested {times} already, and its policy allows no more."
    return f"{spent if limit else 'Its policy allows no revision.'} {instead}, or {stop}."


def _commented(gate: Gate, decision: Decision) -> dict[str, Any]:
    """The comments with their places in words, that on the whole plan before the others, and all of them as one reason.

    Those on a result name their points themselves. Raises InvalidInput for what this plan does not have.
    """
    said = [comment for comment in decision.comments if comment.text.strip()]
    if not said:
        return {"comments": ()}
    plan = fingerprint.contract_of(gate.plan) if gate.plan else None
    if plan is None and not all(comment.place and comment.step_id is None for comment in said):
        raise DecisionRefused("Only the parts of a plan and the points of a result can be commented on.")
    placed = [
        comment.model_copy(
            update={"text": comment.text.strip(), "place": place_in(plan, comment) if plan else comment.place}
        )
        for comment in said
    ]
    if decision.reason.strip():
        placed.insert(0, Comment(text=decision.reason.strip()))
    return {"comments": tuple(placed), "reason": "\n".join(comment.words for comment in placed)}


def _do_without_sources(gate: Gate, decision: Decision) -> None:
    """Change the policy before an approval is bound to it. Raises DecisionRefused where that cannot be chosen."""
    run = gate.run
    if gate.kind != GateKind.PLAN or gate.plan is None or decision.verb is Verb.STOP:
        raise DecisionRefused("Whether sources are needed is chosen with the answer to a plan.")
    if Attempt.objects.filter(step__plan__run=run).exists():
        raise DecisionRefused("Work has begun on the understanding that sources are needed; that cannot change now.")
    left = about_sources(fingerprint.contract_of(gate.plan))
    if decision.verb is Verb.APPROVE and left:
        more = f", and {len(left) - 1} more" if len(left) > 1 else ""
        raise InvalidInput(
            f"This plan has criteria about sources: {left[0]}{more}. Reject it with the box ticked, and the next "
            "version has none; or approve it without the tick."
        )
    event_log.keep(run, policy=run.policy.changed(sources_needed=False))


def _ask_again(gate: Gate) -> None:
    """What would run changed while the gate was open: withdraw it and ask about what would run now (G1)."""
    about = {"plan": gate.plan, "step": gate.step, "attempt": gate.attempt, "work": gate.work}
    gate_opening.withdraw(gate)
    gate_opening.open_gate(gate.run, GateKind(gate.kind), gate.question, current_digest(gate), **about)


def already_decided(gate: Gate) -> str:
    """The sentence for anyone who comes second (G3)."""
    if gate.decided_by is None or gate.decided_at is None:
        later = gate.run.plans.newest() if gate.kind == GateKind.PLAN else None
        if later and later.author and gate.plan and later.version > gate.plan.version:
            return f"{later.author} edited the plan meanwhile: decide on version {later.version}, which took its place."
        return "This question was withdrawn; there is nothing to decide any more."
    when = gate.decided_at.strftime("%Y-%m-%d %H:%M:%S")
    reason = f" Reason: {gate.reason}" if gate.reason else ""
    did = "requested changes" if gate.status == GateStatus.REJECTED else f"{gate.status} it"
    return f"Already decided: {gate.decided_by.get_username()} {did} at {when} UTC.{reason}"


def current_digest(gate: Gate) -> str:
    """What an approval of this gate would be bound to now."""
    match GateKind(gate.kind):
        case GateKind.PLAN if gate.plan:
            return fingerprint.digest_of(fingerprint.fingerprint_of(gate.run, gate.plan))
        case GateKind.START if gate.step:
            return gate_opening.start_digest(states.of(gate.run), gate.step.key)
        case GateKind.STEP | GateKind.EXHAUSTED if gate.attempt:
            return fingerprint.attempt_digest(gate.attempt)
        case GateKind.BUDGET:
            return fingerprint.policy_digest(gate.run.policy)
        case _:
            return gate.digest


def _close(gate: Gate, user: User, decision: Decision) -> None:
    asked = _numbered(gate, decision)
    revises = bool(asked) and gate.kind == GateKind.ERROR
    try:
        change(
            gate,
            _STATUS[decision.verb],
            decided_by=user,
            decided_at=timezone.now(),
            decided_how=decision.how,
            reason=decision.reason.strip(),
            request=asked[0].request if asked else None,
            comments=asked if decision.comments else [],
            plan=gate.run.plans.newest() if revises else gate.plan,
        )
    except MoveRefused as error:
        raise DecisionRefused("Somebody else decided at the same moment. Load the page again.") from error
    event = events.GateDecided(
        gate=gate.pk,
        gate_kind=gate.kind,
        decision=gate.status,
        by=user.get_username(),
        how=decision.how,
        reason=said_at(gate)[:2_000],
        step=gate.step.key if gate.step else "",
        no_sources=decision.no_sources,
        revises=revises,
    )
    event_log.record(gate.run_id, event)


def _numbered(gate: Gate, decision: Decision) -> list[Comment]:
    """What is asked for with a rejection, or answered, each part with the run's next number (T7)."""
    rejected = decision.verb is Verb.REJECT and gate.kind in REQUESTING_GATES
    if not (rejected or decision.verb in _ANSWERING):
        return []
    said = decision.comments or (Comment(text=decision.reason.strip()),)
    known = gate.run.requests
    event_log.keep(gate.run, requests=known + len(said))
    return [comment.model_copy(update={"request": number}) for number, comment in enumerate(said, known + 1)]


def _follow(gate: Gate, user: User, decision: Decision) -> None:
    if decision.verb is Verb.STOP:
        effects.finish(gate.run, cancelled=True)
        return
    match GateKind(gate.kind):
        case GateKind.PLAN:
            _after_plan(gate, user, decision)
        case GateKind.START | GateKind.STEP | GateKind.EXHAUSTED:
            _after_step(gate, approved=decision.verb is Verb.APPROVE)
        case GateKind.ERROR:
            _after_error(gate, gate.run, decision.verb)
        case GateKind.BUDGET:
            _after_limit(gate.run, user, decision)
        case GateKind.QUESTION | GateKind.TOOL:
            run_limits.resume_suspended(gate.run)


def _after_plan(gate: Gate, user: User, decision: Decision) -> None:
    assert gate.plan is not None
    if decision.verb is Verb.APPROVE:
        effects.approve_plan(gate.run, gate.plan, by=user, how=decision.how)
    else:
        change(gate.plan, PlanStatus.REJECTED)
        change(gate.run, RunStatus.PLANNING)


def _after_step(gate: Gate, *, approved: bool) -> None:
    """One that may start or may not, or whose result is taken or tried again."""
    assert gate.step is not None
    key = gate.step.key
    if gate.kind == GateKind.START:
        let = {"cleared": True} if approved else {"refused": True}
        states.of(gate.run).change(key, StepStatus.PENDING, **let)
    elif approved:
        settled = StepStatus.PASSED if gate.kind == GateKind.STEP else StepStatus.ACCEPTED
        effects.settle(states.of(gate.run), key, settled)
    else:
        if gate.kind == GateKind.STEP:
            assert gate.attempt is not None
            change(gate.attempt, AttemptStatus.REJECTED)
        states.of(gate.run).change(key, StepStatus.PENDING)


def _after_limit(run: Run, user: User, decision: Decision) -> None:
    if decision.verb is Verb.APPROVE:
        run_limits.raise_to(run, user, budget=decision.budget, time_limit=decision.time_limit)
    else:
        who = user.get_username()
        effects.finish(run, ended=f"The limit was reached, and {who} finished the run with what was there.")


def _after_error(gate: Gate, run: Run, verb: Verb) -> None:
    if verb is Verb.GIVE_UP or gate.work is None:
        effects.finish(run, failure=f"Given up after: {gate.question}")
    elif verb is Verb.REJECT:
        effects.plan_instead(states.of(run), gate.work)
    else:
        change(gate.work, WorkStatus.READY, due_at=clock.now(), tries=0, losses=0)
        notify(gate.work.pk)


def cancel(run_id: int, user: User, reason: str = "") -> None:
    """Stop a run now. Workers notice at their next heartbeat or commit; nothing of theirs is kept (D6)."""
    with event_log.writing():
        run = event_log.locked(run_id)
        check_can_decide(user, run)
        if run.status == RunStatus.FINISHED:
            raise DecisionRefused("This run is already finished.")
        event_log.record(run_id, events.Note(text=f"{user.get_username()} stopped the run.", reason=reason))
        effects.finish(run, cancelled=True)


def pause(run_id: int, user: User, *, paused: bool) -> None:
    """Hold or release a run. Attempts under way finish; no new one is started while it is paused."""
    with event_log.writing():
        run = event_log.locked(run_id)
        check_can_decide(user, run)
        if run.paused == paused or run.status == RunStatus.FINISHED:
            raise DecisionRefused("The run is already in that state, or finished.")
        event_log.keep(run, paused=paused)
        kind = events.Paused if paused else events.Resumed
        event_log.record(run_id, kind(by=user.get_username()))
        advance(run_id)
