"""Lines of a history as a tree: whose they are, how long they took, and what is folded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from runs.enums import AttemptStatus, StepStatus
from runs.events.kinds import (
    Answered,
    AttemptStarted,
    EventData,
    GateDecided,
    GateOpened,
    ModelCalled,
    Note,
    PlanProposed,
    StepPassed,
    VerdictGiven,
)
from runs.models import Event
from runs.web.history.history_tree import (
    MAX_OPEN_STEPS,
    AttemptNode,
    AttemptRow,
    Calls,
    Context,
    HistoryLine,
    HistoryStep,
    Marks,
    Node,
    StepNode,
    tree,
)

BEGIN = datetime(2026, 3, 14, 9, tzinfo=UTC)
PLANNED = PlanProposed(version=1, steps=2, kept=(), reason="", relaxed=0)


def at(minutes: float) -> datetime:
    return BEGIN + timedelta(minutes=minutes)


def event(seq: int, told: EventData, minutes: float | None = None) -> Event:
    """The row of an event, by default as many minutes after the beginning as its number says."""
    return Event(seq=seq, kind=told.kind.value, at=at(seq if minutes is None else minutes), data=told.data())


def step(
    pk: int, key: str, *, status: StepStatus = StepStatus.PASSED, version: int = 1, minutes: float = 0
) -> HistoryStep:
    return HistoryStep(pk, key, f"Name of {key}", status.value, version, at(minutes))


def attempt(pk: int, of: HistoryStep, number: int, begin: float, end: float | None, *, work: int = 0) -> AttemptRow:
    status = AttemptStatus.EXECUTING if end is None else AttemptStatus.PASSED
    return AttemptRow(pk, of.pk, of.key, number, status.value, at(begin), None if end is None else at(end), work)


def calls(work: int, *, unfolded: bool = False) -> Calls:
    return Calls(work, 1, 0, 0, 5, Decimal(0), 0, 0, open=unfolded)


def context(
    *steps: HistoryStep,
    attempts: Sequence[AttemptRow] = (),
    folds: Sequence[Calls] = (),
    marks: Marks | None = None,
    works: Mapping[int, int] | None = None,
) -> Context:
    by_key: dict[str, list[HistoryStep]] = {}
    by_number: dict[tuple[str, int], list[AttemptRow]] = {}
    for row in steps:
        by_key.setdefault(row.key, []).append(row)
    for one in attempts:
        by_number.setdefault((one.key, one.number), []).append(one)
    return Context(by_key, by_number, {one.work: one for one in folds}, marks or Marks((), (), {}), works or {})


def outline(nodes: Sequence[Node]) -> list[object]:
    """The numbers of the lines; those of a step and of an attempt below the key, or the key and the number."""

    def of(item: HistoryLine | AttemptNode) -> object:
        if isinstance(item, AttemptNode):
            return ((item.row.key, item.row.number), [line.seq for line in item.lines])
        return item.seq

    return [(one.row.pk, [of(item) for item in one.items]) if isinstance(one, StepNode) else one.seq for one in nodes]


def verdict(key: str, number: int) -> VerdictGiven:
    return VerdictGiven(step=key, attempt=number, passed=True, action="pass", feedback="")


def test_a_step_has_its_attempts_and_lines_where_it_began_and_an_attempt_only_its_own() -> None:
    a, b = step(1, "a"), step(2, "b")
    rows = [attempt(11, a, 1, 2, 5), attempt(12, a, 2, 6, 9), attempt(21, b, 1, 3, None)]
    nodes = tree(
        [
            event(1, Note(text="Begins.")),
            event(2, AttemptStarted(step="a", attempt=1)),
            event(3, AttemptStarted(step="b", attempt=1)),
            event(4, ModelCalled(role="executor", model="m", ms=5, stop="end_turn", step="a", attempt=1)),
            event(5, verdict("a", 1)),
            event(6, AttemptStarted(step="a", attempt=2)),
            event(7, verdict("a", 2)),
            event(8, StepPassed(step="a", attempt=2, tree="t")),
            event(9, Note(text="Ends.")),
        ],
        context(a, b, attempts=rows),
    )
    assert outline(nodes) == [1, (1, [(("a", 1), [4, 5]), (("a", 2), [7]), 8]), (2, [(("b", 1), [])]), 9]
    (first, second), (third,) = (one.attempts for one in nodes if isinstance(one, StepNode))
    assert [one.began for one in (first, second, third)] == [2, 6, 3]
    assert [(one.took, one.moving) for one in (first, second, third)] == [
        (180_000, False),
        (180_000, False),
        (None, True),
    ]
    assert [one.took for one in nodes if isinstance(one, StepNode)] == [360_000, 0]


def test_an_attempt_that_began_on_another_page_has_no_number_of_its_beginning() -> None:
    a = step(1, "a")
    [node] = tree([event(5, verdict("a", 1))], context(a, attempts=[attempt(11, a, 1, 2, 5)]))
    assert isinstance(node, StepNode)
    assert [(one.began, [line.seq for line in one.lines]) for one in node.attempts] == [(0, [5])]


def test_keys_and_numbers_of_a_new_plan_belong_to_its_own_steps_and_attempts() -> None:
    """Each version begins with attempt 1, so only the time says which attempt an event belongs to."""
    old, new = step(1, "a", status=StepStatus.DROPPED), step(2, "a", version=2, minutes=4)
    rows = [attempt(11, old, 1, 2, 5), attempt(21, new, 1, 7, 9)]
    started = AttemptStarted(step="a", attempt=1)
    old_ends, new_ends = event(5, verdict("a", 1)), event(9, verdict("a", 1))
    passed = event(6, StepPassed(step="a", attempt=1, tree="t"))
    nodes = tree([event(2, started), old_ends, passed, event(7, started), new_ends], context(old, new, attempts=rows))
    assert outline(nodes) == [(1, [(("a", 1), [5]), 6]), (2, [(("a", 1), [9])])]
    assert [one.began for node in nodes if isinstance(node, StepNode) for one in node.attempts] == [2, 7]


def test_steps_that_no_plan_has_are_lines_of_the_run() -> None:
    assert outline(tree([event(1, verdict("gone", 1))], context(step(1, "a")))) == [1]


def test_a_decision_says_how_long_it_was_waited_for_and_a_call_how_long_it_took() -> None:
    marks = Marks([(1, at(0)), (4, at(10))], [(7, at(30))], {3: at(2)})
    decided = {"gate_kind": "plan", "decision": "approved", "by": "bob", "how": "person", "reason": ""}
    found = tree(
        [
            event(2, PLANNED, 1.5),
            event(3, GateOpened(gate=3, gate_kind="plan", question="Approve?"), 2),
            event(5, GateDecided.model_validate({"gate": 3, **decided}), 16),
            event(6, PLANNED, 20),
            event(8, ModelCalled(role="synthesizer", model="m", ms=2_700, stop="end_turn"), 31),
            event(9, Answered(met=1, criteria=1), 32),
            event(10, GateDecided.model_validate({"gate": 4, **decided}), 40),
        ],
        context(marks=marks),
    )
    assert [(one.seq, one.took, one.waited) for one in found if isinstance(one, HistoryLine)] == [
        (2, 90_000, False),
        (3, None, False),
        (5, 840_000, True),
        (6, 600_000, False),
        (8, 2_700, False),
        (9, 120_000, False),
        (10, None, True),
    ]


def test_sums_of_calls_stand_at_what_began_their_work() -> None:
    a = step(1, "a")
    rows = [attempt(11, a, 1, 2, 5, work=7)]
    begun, started = event(1, Note(text="Planning.")), event(2, AttemptStarted(step="a", attempt=1))
    line, node = tree([begun, started], context(a, attempts=rows, folds=[calls(3), calls(7)], works={1: 3}))
    assert isinstance(line, HistoryLine)
    assert isinstance(node, StepNode)
    assert (line.calls, node.attempts[0].calls) == (calls(3), calls(7))


def folded(last: StepStatus, *, steps: int, shown: int = 0, unfolded: bool = False, begun: bool = True) -> list[bool]:
    """Whether each of so many passed steps is open. The last has this status, or unfolded calls. Without `begun` the
    attempts began on another page.
    """
    rows = [step(pk, f"s{pk}") for pk in range(1, steps)] + [step(steps, f"s{steps}", status=last)]
    tried = [attempt(pk, row, 1, 0, 99, work=pk) for pk, row in enumerate(rows, 1)]
    started = [event(10 * one.pk - 1, AttemptStarted(step=one.key, attempt=1)) for one in rows]
    judged = [event(10 * one.pk, verdict(one.key, 1)) for one in rows]
    folds = [calls(row.pk, unfolded=unfolded and row.pk == steps) for row in rows]
    nodes = tree([*(started if begun else []), *judged], context(*rows, attempts=tried, folds=folds), shown=shown)
    return [one.open for one in nodes if isinstance(one, StepNode)]


def test_few_steps_are_all_open() -> None:
    assert folded(StepStatus.PASSED, steps=MAX_OPEN_STEPS) == [True] * MAX_OPEN_STEPS


@pytest.mark.parametrize(
    ("status", "is_open"),
    [
        (StepStatus.RUNNING, True),
        (StepStatus.JUDGED, True),
        (StepStatus.WAITING, True),
        (StepStatus.FAILED, True),
        (StepStatus.PASSED, False),
        (StepStatus.ACCEPTED, False),
        (StepStatus.DROPPED, False),
    ],
)
def test_of_many_steps_those_that_are_settled_are_folded(status: StepStatus, is_open: bool) -> None:
    assert folded(status, steps=MAX_OPEN_STEPS + 1) == [False] * MAX_OPEN_STEPS + [is_open]


def test_of_many_steps_those_whose_attempts_began_on_another_page_are_folded_too() -> None:
    assert folded(StepStatus.PASSED, steps=MAX_OPEN_STEPS + 1, begun=False) == [False] * (MAX_OPEN_STEPS + 1)


def test_of_many_steps_the_one_that_a_link_leads_to_is_open_and_the_one_whose_calls_are_unfolded() -> None:
    last = [False] * MAX_OPEN_STEPS + [True]
    begin, line = 10 * len(last) - 1, 10 * len(last)
    assert [folded(StepStatus.PASSED, steps=len(last), shown=seq) for seq in (begin, line)] == [last, last]
    assert folded(StepStatus.PASSED, steps=len(last), unfolded=True) == last
