"""Very many runs at once, in every state that lists tell apart: rows alone, as what made them would have left them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import batched

from django.utils import timezone

from runs.enums import (
    Action,
    AttemptStatus,
    EventKind,
    GateKind,
    Outcome,
    PlanStatus,
    Role,
    RunStatus,
    Severity,
    StepStatus,
)
from runs.evidence.results import Evidence
from runs.models import Attempt, Event, Gate, ModelCall, Plan, Run, Share, Step, User, Verdict, WorkItem
from runs.pev.contracts import PlanHeader
from runs.store.trees import make_tree
from tests.factories.cast import bob
from tests.factories.parts import output, plan, plan_step, policy, result

STEPS = 4
EVENTS = 8
CALLS = 4
WORDS = ("contract", "lease", "interview", "register", "invoice", "survey", "notice", "audit", "minutes", "budget")
_SPECS = [plan_step(f"s{n}", f"Step number {n}") for n in range(1, STEPS + 1)]
_AT_A_TIME = 2_000


def crowd(owner: User, count: int, *, open_gates: int, running: int, seed: int = 1) -> None:
    """`count` runs of this owner, each with a plan of four steps, eight events and four calls; Bob may approve a third.

    `open_gates` of them wait for a person, a third of these for a second one, and `running` work.
    """
    for numbers in batched(range(count), _AT_A_TIME):
        runs = Run.objects.bulk_create(_runs(owner, numbers, open_gates, running, random.Random(seed)))
        plans = Plan.objects.bulk_create(
            Plan(run=run, version=1, status=PlanStatus.PROPOSED, header=_header(), digest="d" * 64) for run in runs
        )
        Step.objects.bulk_create(step for plan in plans for step in _steps(plan))
        Event.objects.bulk_create(event for run in runs for event in _events(run))
        works = WorkItem.objects.bulk_create(
            WorkItem(run=run, kind="plan", status="done", due_at=timezone.now()) for run in runs
        )
        ModelCall.objects.bulk_create(call for work in works for call in _calls(work))
        Gate.objects.bulk_create(
            Gate(
                run=plan.run,
                kind=GateKind.PLAN,
                plan=plan,
                digest="d" * 64,
                consequences="c" * 64,
                question="Approve this plan?",
                second_person=plan.run.policy.second_person,
            )
            for plan in plans
            if plan.run.status == RunStatus.AWAITING_APPROVAL
        )
        Share.objects.bulk_create(Share(run=run, user=bob()) for run in runs if run.pk % 3 == 0)


def _runs(owner: User, numbers: Sequence[int], open_gates: int, running: int, chance: random.Random) -> Iterator[Run]:
    tree, alone, together = make_tree({}), policy(), policy(second_person=True)
    for number in numbers:
        waits, works = number < open_gates, open_gates <= number < open_gates + running
        subject = " ".join(chance.choices(WORDS, k=4))
        at = timezone.now() - timedelta(minutes=number)
        yield Run(
            owner=owner,
            title=f"Review the {subject} {number}",
            request=f"Review the {subject}. " + "Say what is missing, and quote what you rely on. " * 12,
            policy=together if number % 3 == 0 else alone,
            inputs=tree,
            head=tree,
            status=RunStatus.AWAITING_APPROVAL if waits else RunStatus.EXECUTING if works else RunStatus.FINISHED,
            **({} if waits or works else {"outcome": chance.choice(list(Outcome)).value, "finished_at": at}),
            answer="" if waits or works else "Everything that was asked for is in the folder. " * 40,
            template=chance.choice(["", "", "Document review", "Project analysis"]),
            event_count=EVENTS,
        )


def _header() -> PlanHeader:
    contract = plan(*_SPECS)
    return PlanHeader.model_validate(contract.model_dump(exclude={"steps"}))


def _steps(of: Plan) -> Iterator[Step]:
    for position, spec in enumerate(_SPECS):
        status = StepStatus.PASSED if position < of.run.pk % (STEPS + 1) else StepStatus.PENDING
        yield Step(plan=of, key=spec.step_id, position=position, status=status, spec=spec, complexity="low")


def _events(run: Run) -> Iterator[Event]:
    for seq in range(1, EVENTS):
        data = {"step": "s1", "attempt": seq}
        yield Event(run=run, seq=seq, kind=EventKind.ATTEMPT_STARTED, at=timezone.now(), data=data)
    if run.status == RunStatus.FINISHED:
        data = {"outcome": run.outcome, "gaps": ["Step 2 was not done."]}
        yield Event(run=run, seq=EVENTS, kind=EventKind.FINISHED, at=timezone.now(), data=data)
    else:
        yield Event(run=run, seq=EVENTS, kind=EventKind.STEP_PASSED, at=timezone.now(), data={"step": "s1"})


def _calls(work: WorkItem) -> Iterator[ModelCall]:
    for ordinal in range(1, CALLS + 1):
        yield ModelCall(
            run=work.run,
            work=work,
            generation=0,
            ordinal=ordinal,
            live=True,
            role=Role.EXECUTOR,
            model="claude-sonnet-5-5",
            question="q" * 64,
            content=[{"type": "text", "text": "I have read the file and go on to the next one. " * 20}],
            cost_usd="0.0125",
            duration_ms=900,
        )


def judge(runs: Iterable[Run]) -> None:
    """One attempt at each step of these runs with its verdict; every seventh failed, and the one after it passed."""
    tree = make_tree({})
    for steps in batched(Step.objects.filter(plan__run__in=runs).iterator(), _AT_A_TIME):
        attempts = Attempt.objects.bulk_create(
            Attempt(
                step=step,
                number=number,
                base=tree,
                status=AttemptStatus.FAILED if number < tries else AttemptStatus.PASSED,
                output=output("What there is.", confidence=0.5 + step.pk % 5 / 10),
            )
            for step in steps
            for tries in [1 + (step.pk % 7 == 0)]
            for number in range(1, tries + 1)
        )
        Verdict.objects.bulk_create(map(_verdict, attempts))


def _verdict(attempt: Attempt) -> Verdict:
    passed = attempt.status == AttemptStatus.PASSED
    proof = (
        Evidence(kind="quote", source="@output", verified=True, sentence="It stands there.", quote="What there is.")
        if passed
        else None
    )
    one = result("C1", f"Criterion {attempt.step_id % 30}.", [proof] if proof else [], claimed=passed)
    counts = {"criteria": 1, "supported": int(passed), "results": [one]}
    action = Action.PASS if passed else Action.RETRY
    return Verdict(attempt=attempt, stage="model", passed=passed, action=action, severity=Severity.MINOR, **counts)
