"""What people asked for, put together for the roles: answered by a plan, heeded by an attempt, judged by a verifier."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from django.db.models import Q

from runs.contracts.feedback import Answered
from runs.lifecycle import state as states
from runs.lifecycle.change_requests import judged_at
from runs.models import Attempt, Gate, Run
from runs.pev.planner import Lesson
from runs.pev.step_brief import Critique
from runs.pev.verification.requests import PersonRequest
from runs.store.trees import Overlay


def lessons(gates: Iterable[Gate], learnt: Iterable[Lesson]) -> Iterator[Lesson]:
    """The requests that what was learnt from versions and steps does not tell: what they were said of has passed."""
    known = {lesson.request for lesson in learnt}
    for gate in gates:
        if gate.step and gate.attempt:
            label = f"{gate.decided_by} on attempt {gate.attempt.number} at step {gate.step.key}"
            new = (asked for asked in gate.asked if asked.request not in known)
            yield from (Lesson(label, asked.words, from_person=True, request=asked.request) for asked in new)


def persons(gates: Iterable[Gate], until: datetime | None = None) -> dict[int, str]:
    """What people said, by the number of the request. Of an attempt, until it began: it may be resumed after a crash,
    and must then be told the same.
    """
    said = (gate for gate in gates if until is None or (gate.decided_at and gate.decided_at < until))
    return {asked.request: asked.words for gate in said for asked in gate.asked}


def answers(run: Run, which: Q | None = None) -> tuple[Answered, ...]:
    """What people answered to questions of models, at these gates, by its number. Costs nothing where no one said
    anything.
    """
    if not run.requests:
        return ()
    gates = run.gates.answers().filter(which or Q())
    rows = gates.values_list("request", "question", "reason")
    return tuple(Answered(number, question, words) for number, question, words in rows if number)


def critiques(attempt: Attempt, gates: Iterable[Gate]) -> Iterator[Critique]:
    """What people asked for at attempts of earlier versions of the plan; those of this one are told with the rest."""
    for gate in _judged_here(attempt, gates):
        if gate.attempt and gate.attempt.step_id != attempt.step_id:
            yield from critiques_at(gate, f"attempt {gate.attempt.number} of an earlier plan")


def critiques_at(gate: Gate, what: str) -> Iterator[Critique]:
    """What was asked for there, one by one: each is answered, heeded and judged by its own number."""
    label = f"{gate.decided_by} on {what}"
    yield from (Critique(label, asked.words, from_person=True, request=asked.request) for asked in gate.asked)


def judged(attempt: Attempt, overlay: Overlay, gates: Iterable[Gate]) -> Sequence[PersonRequest]:
    """Those that this attempt is judged by, with the results that they were said of."""
    return [
        request
        for gate in _judged_here(attempt, gates)
        if gate.attempt
        for request in _requests(gate, gate.attempt, overlay)
    ]


def _judged_here(attempt: Attempt, gates: Iterable[Gate]) -> list[Gate]:
    plan = attempt.step.plan
    keys = states.specs_of(plan)
    return [gate for gate in gates if judged_at(gate, plan.header, keys) == attempt.step.key]


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
