"""Decisions of people: who may answer a gate, what an answer is bound to, and what follows from it."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.utils import timezone

from runs.contracts.feedback import Comment
from runs.enums import AuditKind, GateStatus, RunStatus, Verb, WorkKind
from runs.errors import DecisionRefused, InvalidInput, MoveRefused, NotAllowed
from runs.events import kinds as events
from runs.lifecycle import effects
from runs.lifecycle.advance import advance
from runs.lifecycle.approval import fingerprint
from runs.lifecycle.change_requests import place_in, said_at
from runs.lifecycle.gates.gate_type import Decision, Subject, open_gate, quoted_step
from runs.lifecycle.gates.registry import type_of
from runs.lifecycle.transitions import change
from runs.models import Attempt, Gate, Plan, User
from runs.models.gates import BY_LIMIT
from runs.people.permissions import check_can_decide, part_in_plan
from runs.pev.checks.material import list_in_words
from runs.pev.soundness import about_sources
from runs.store import audit_trail, event_log
from runs.text.plural import pluralize

CHANGED = "What would run has changed since this page was loaded. Read it again, then decide."
_STATUS = {
    Verb.APPROVE: GateStatus.APPROVED,
    Verb.REJECT: GateStatus.REJECTED,
    Verb.ANSWER: GateStatus.ANSWERED,
    Verb.DELEGATE: GateStatus.ANSWERED,
    Verb.STOP: GateStatus.STOPPED,
    Verb.GIVE_UP: GateStatus.REJECTED,
}
MAX_AT_ONCE = 100
"""Requests in one answer. Each is judged separately; a verdict on more would be longer than a model may answer."""
MAX_REQUESTS = 200
"""Requests in a run. A plan names a place for each of them, and its contract holds no more."""
_AS_DECIDED = ("status", "decided_by", "decided_at", "decided_how", "reason", "assigned_to")
"""What may have changed of a gate since it was read, when its run is locked."""
_ANSWERING = frozenset({Verb.ANSWER, Verb.DELEGATE})
_ONLY_QUESTIONS = "Only a question can be answered, and nothing else can be done with it."


def decide(gate_id: int, user: User, decision: Decision) -> None:
    """Answer a gate and apply what follows, in one transaction. A gate is answered once.

    Raises NotAllowed; InvalidInput for a rejection without a reason; DecisionRefused if someone else was faster (with
    who, what and when), or if what would run is not what the page showed.
    """
    with event_log.writing():
        gate = Gate.objects.select_related("run", "plan", "step", "attempt", "work", "decided_by").get(pk=gate_id)
        run = event_log.locked(gate.run_id)
        # The row was read before the run was locked: another person may have decided in between.
        gate.refresh_from_db(fields=[*_AS_DECIDED])
        gate.run = run
        check_can_decide(user, run)
        outdated = gate.status == GateStatus.OPEN and gate.digest != current_digest(gate)
        if outdated:
            # What would run changed while the gate was open: ask about what would run now (G1).
            ask_again(gate)
        else:
            _decide(gate, user, decision)
    if outdated:  # raised after the transaction, which has to commit the new gate
        raise DecisionRefused(CHANGED)


def decision_without_person(gate: Gate, how: str) -> Decision:
    """The answer to a gate where no person looks: it goes on where that is harmless. `how` says through what."""
    verb = type_of(gate).unattended
    reason = "" if verb in {Verb.APPROVE, Verb.DELEGATE} else f"{how}: no person looked into it"
    return Decision(verb, gate.digest, reason, how=how)


def ask_again(gate: Gate) -> None:
    """Ask the same question about what would run now."""
    about = {"plan": gate.plan, "step": gate.step, "attempt": gate.attempt, "work": gate.work}
    effects.withdraw(gate)
    open_gate(gate.run, type_of(gate), gate.question, current_digest(gate), instead_of=gate, **about)


def _decide(gate: Gate, user: User, decision: Decision) -> None:
    if gate.status == GateStatus.SUPPLIED and gate.plan:  # the same plan is asked about again, with more files
        raise DecisionRefused(CHANGED)
    if gate.status != GateStatus.OPEN:
        raise DecisionRefused(already_decided(gate))
    if decision.digest != gate.digest:
        raise DecisionRefused(CHANGED)
    if decision.verb is Verb.APPROVE and gate.needs_second_person and (did := part_in_plan(user, gate.run)):
        raise NotAllowed(f"A second person has to approve this: you {did}. You may request changes, or stop the run.")
    if decision.verb is Verb.APPROVE:
        type_of(gate).check_approval(gate)
    decision = _complete(gate, decision)
    if decision.no_sources:
        _do_without_sources(gate, decision)
    _close(gate, user, decision)
    if decision.verb is Verb.STOP:
        effects.finish(gate.run, cancelled=True)
    else:
        type_of(gate).follow(gate, user, decision)
    advance(gate.run_id)


def decide_by_limit(gate: Gate, verb: Verb, hours: int) -> None:
    """Reject an open gate or stop its run, because no one has decided within so many hours. The run must be locked, and
    the gate read under that lock. Raises MoveRefused if the gate is not open, and ValueError for any other verb: a
    limit never approves (G4).
    """
    if verb not in (Verb.REJECT, Verb.STOP):
        raise ValueError(f"A time limit cannot {verb}.")
    gate_type = type_of(gate)
    reason = f"No one decided within {pluralize(hours, 'hour')}, the time limit of this decision."
    change(gate, _STATUS[verb], decided_at=timezone.now(), decided_how=BY_LIMIT, reason=reason)
    _record(gate, reason)
    if verb is Verb.STOP:
        effects.finish(gate.run, cancelled=True)
    elif gate_type.goes_on_at_limit:
        effects.resume_suspended(gate.run)
    else:
        about = gate_type.about(gate, quoted_step(gate))
        effects.finish(
            gate.run, ended=f"No one decided about {about} within the time limit of {pluralize(hours, 'hour')}."
        )
    advance(gate.run_id)


def _complete(gate: Gate, decision: Decision) -> Decision:
    """The decision with everything it needs. Raises InvalidInput or DecisionRefused if something is missing."""
    gate_type = type_of(gate)
    if decision.verb not in gate_type.verbs:
        given_up = decision.verb is Verb.GIVE_UP
        only = "Only work that an error holds is given up." if given_up else _ONLY_QUESTIONS
        raise DecisionRefused(only)
    if decision.met and decision.verb is not Verb.STOP:
        if not gate_type.marks_open_points:
            raise DecisionRefused("Criteria are judged as met only where a step did not pass. Reload the page.")
        if decision.verb is not Verb.APPROVE:
            words = gate_type.wording_of(gate)
            raise InvalidInput(
                f"Criteria are ticked as met, which goes with “{words.approve}”. To choose “{words.reject}”, take the "
                "ticks away."
            )
    if decision.comments and decision.verb not in (Verb.REJECT, Verb.STOP):
        raise InvalidInput("An approval sends no comments. Request changes with them, or empty their fields.")
    decision = gate_type.complete(decision)
    if decision.verb is not Verb.REJECT or not gate_type.wording.needs_reason:
        return decision
    decision = replace(decision, **_place_comments(gate, decision))
    if not decision.reason.strip():
        raise InvalidInput("Say what should be different: the words go to the model that tries again.")
    plans, requests = gate.run.plans.only("status"), gate.run.gates.requests().only("kind", "request")
    if problem := problem_with_revision(gate, plans, requests):
        raise DecisionRefused(problem)
    count, room = max(1, len(decision.comments)), min(MAX_AT_ONCE, MAX_REQUESTS - gate.run.requests)
    if count > room:
        known = f", and this run has {gate.run.requests} already" if room < MAX_AT_ONCE else ""
        raise InvalidInput(
            f"These are {count} requests; at most {room} can be made, since each is judged by itself{known}. Send back "
            "fewer points, or say once, for the whole, what holds for many of them."
        )
    return decision


def problem_with_revision(gate: Gate, plans: Collection[Plan], gates: Iterable[Gate]) -> str:
    """Why the planner cannot be asked for changes at this gate; empty if it can. `plans` and `gates` are of the run."""
    gate_type = type_of(gate)
    if gate_type.makes_requests and gate.run.requests >= MAX_REQUESTS:
        return (
            f"{MAX_REQUESTS} requests were made in this run, and no plan can answer more. Decide without another one, "
            "or stop the run and submit the task again with what is missing in the request."
        )
    if not gate_type.revises_plan:
        return ""
    instead = "Approve this one" if gate.plan else gate_type.wording_of(gate).approve
    stop = "stop the run and submit the task again with what is missing in the request"
    if not plans:
        return f"There is no plan yet that could be changed. {instead}, or {stop}."
    if gate.work is not None and gate.work.kind == WorkKind.READ:
        return f"The new files have to be read before the plan can change. {instead}, or {stop}."
    limit = gate.run.policy.revisions
    if sum(1 for one in gates if one.request and type_of(one).revises_plan) < limit:
        return ""
    times = f"{limit} times" if limit > 1 else "once"
    spent = f"Changes to the plan of this run were requested {times} already, and its policy allows no more."
    return f"{spent if limit else 'Its policy allows no revision.'} {instead}, or {stop}."


def _place_comments(gate: Gate, decision: Decision) -> dict[str, Any]:
    """The comments with their places in words, and all of them as one reason. The one on the whole comes first.

    Comments on a result already name their points. Raises InvalidInput for a place that the plan does not have.
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
    """Change the policy, before an approval is bound to it. Raises DecisionRefused if that cannot be chosen now."""
    run = gate.run
    if gate.plan is None or decision.verb is Verb.STOP:
        raise DecisionRefused("Whether sources are needed is chosen with the answer to a plan.")
    if Attempt.objects.filter(step__plan__run=run).exists():
        raise DecisionRefused("Work has begun on the understanding that sources are needed; that cannot change now.")
    left = about_sources(fingerprint.contract_of(gate.plan))
    if decision.verb is Verb.APPROVE and left:
        more = f", and {len(left) - 1} more" if len(left) > 1 else ""
        raise InvalidInput(
            f"This plan has criteria about sources: {left[0]}{more}. Request changes with the box ticked, and the "
            "next version has none; or approve the plan without the tick."
        )
    event_log.keep(run, policy=run.policy.changed(sources_needed=False))


def already_decided(gate: Gate) -> str:
    """The sentence for a person who decides too late (G3)."""
    if gate.decided_how == BY_LIMIT and gate.decided_at:
        did = "stopped the run" if gate.status == GateStatus.STOPPED else "rejected it"
        return f"The time limit ended this decision at {_moment(gate.decided_at)}, and the policy {did}. {gate.reason}"
    if gate.decided_by is None or gate.decided_at is None:
        later = gate.run.plans.newest() if gate.plan else None
        if later and later.author and gate.plan and later.version > gate.plan.version:
            return f"{later.author} has edited the plan since: decide on version {later.version}, which took its place."
        return "This question was withdrawn and no longer needs a decision."
    reason = f" Reason: {gate.reason}" if gate.reason else ""
    did = f"{gate.status} it"
    if gate.status == GateStatus.SUPPLIED:
        did = f"gave {list_in_words(gate.supplied or [])}"
    if gate.status == GateStatus.REJECTED:
        did = "requested changes" if type_of(gate).makes_requests else "declined it"
    return f"Already decided: {gate.decided_by.get_username()} {did} at {_moment(gate.decided_at)}.{reason}"


def _moment(at: datetime) -> str:
    """In the time zone of the person who reads it, which is that of their request."""
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M:%S %Z}"


def current_digest(gate: Gate) -> str:
    """What an approval of this gate would be bound to now."""
    return type_of(gate).digest(gate)


def _close(gate: Gate, user: User, decision: Decision) -> None:
    asked, gate_type = _number_comments(gate, decision), type_of(gate)
    revised = gate.run.plans.newest() if asked and gate_type.revises_plan and not gate.plan else None
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
            plan=gate.plan or revised,
            seconds_on_page=decision.seconds_on_page,
        )
    except MoveRefused as error:
        raise DecisionRefused("Someone else decided at the same moment. Reload the page.") from error
    _record(gate, said_at(gate), no_sources=decision.no_sources, revises=revised is not None)


def _record(gate: Gate, reason: str, *, no_sources: bool = False, revises: bool = False) -> None:
    event = events.GateDecided(
        gate=gate.pk,
        gate_kind=gate.kind,
        decision=gate.status,
        by=gate.decider,
        how=gate.decided_how,
        reason=reason[:2_000],
        step=gate.step.key if gate.step else "",
        no_sources=no_sources,
        revises=revises,
        words=type_of(gate).decided_in_history(gate),
    )
    event_log.record(gate.run_id, event)
    record_decision(gate)


def record_decision(gate: Gate) -> None:
    """The line of the audit trail for an answer, with what it was bound to. The words are in the gate."""
    call = gate.call if isinstance(gate.call, dict) else {}
    audit_trail.record(
        AuditKind.DECIDED,
        by=gate.decided_by,
        run_id=gate.run_id,
        subject=_subject(gate),
        digest=gate.digest,
        gate=gate.pk,
        gate_kind=gate.kind,
        decision=gate.status,
        how=gate.decided_how,
        words=audit_trail.digest_of_words(gate.reason),
        version=gate.plan.version if gate.plan else None,
        step=gate.step.key if gate.step else "",
        attempt=gate.attempt.number if gate.attempt else None,
        name=str(call.get("name", ""))[:200],
        parts=_parts_approved(gate),
    )


def _parts_approved(gate: Gate) -> dict[str, str]:
    """The parts of what an approval is bound to, where that is everything that would run."""
    if gate.status != GateStatus.APPROVED or type_of(gate).subject not in {Subject.PLAN, Subject.START}:
        return {}
    plan = gate.plan or (gate.step.plan if gate.step else None)
    return fingerprint.fingerprint_of(gate.run, plan) if plan else {}


def _subject(gate: Gate) -> str:
    parts = [f"plan version {gate.plan.version}"] if gate.plan else []
    parts += [f"step {gate.step.key}"] if gate.step else []
    parts += [f"attempt {gate.attempt.number}"] if gate.attempt else []
    return ", ".join(parts) or type_of(gate).label.lower()


def _number_comments(gate: Gate, decision: Decision) -> list[Comment]:
    """The parts of a rejection or an answer, each with the next number of the run (T7)."""
    rejected = decision.verb is Verb.REJECT and type_of(gate).makes_requests
    if not (rejected or decision.verb in _ANSWERING):
        return []
    said = decision.comments or (Comment(text=decision.reason.strip()),)
    known = gate.run.requests
    event_log.keep(gate.run, requests=known + len(said))
    return [comment.model_copy(update={"request": number}) for number, comment in enumerate(said, known + 1)]


def cancel(run_id: int, user: User, reason: str = "") -> None:
    """Stop a run now. Workers notice at their next heartbeat or commit, and their work is not kept (D6)."""
    with event_log.writing():
        run = event_log.locked(run_id)
        check_can_decide(user, run)
        if run.status == RunStatus.FINISHED:
            raise DecisionRefused("This run is already finished.")
        event_log.record(run_id, events.Note(text=f"{user.get_username()} stopped the run.", reason=reason))
        effects.finish(run, cancelled=True)
        audit_trail.record(AuditKind.STOPPED, by=user, run_id=run_id, words=audit_trail.digest_of_words(reason))


def pause(run_id: int, user: User, *, paused: bool) -> None:
    """Pause or resume a run. Attempts under way finish; no new one starts while it is paused."""
    with event_log.writing():
        run = event_log.locked(run_id)
        check_can_decide(user, run)
        if run.paused == paused or run.status == RunStatus.FINISHED:
            raise DecisionRefused("The run is already in that state, or finished.")
        event_log.keep(run, paused=paused)
        kind = events.Paused if paused else events.Resumed
        event_log.record(run_id, kind(by=user.get_username()))
        audit_trail.record(AuditKind.PAUSED if paused else AuditKind.RESUMED, by=user, run_id=run_id)
        advance(run_id)
