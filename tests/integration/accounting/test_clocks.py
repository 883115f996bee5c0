"""The two clocks of a run: what counts as work, and what as waiting for people."""

from datetime import datetime, timedelta

import pytest

from runs.accounting.usage import Clocks, clocks_of
from runs.enums import GateKind
from runs.models import Attempt, Gate, Run
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def timed(run: Run, gates: list[tuple[str, int, int | None]], attempts: list[tuple[int, int | None]]) -> datetime:
    """The run with just these gates and attempts, in seconds since it was submitted; when it was submitted."""
    begin = run.created_at
    rows = list(Attempt.objects.of_run(run).order_by("pk"))[: len(attempts)]
    Attempt.objects.of_run(run).exclude(pk__in=[row.pk for row in rows]).delete()
    for row, (start, end) in zip(rows, attempts, strict=True):
        ended = None if end is None else begin + timedelta(seconds=end)
        Attempt.objects.filter(pk=row.pk).update(created_at=begin + timedelta(seconds=start), finished_at=ended)
    run.gates.all().delete()
    for kind, start, end in gates:
        gone = None if end is None else begin + timedelta(seconds=end)
        status = "open" if end is None else "withdrawn"
        gate = Gate.objects.create(run=run, kind=kind, status=status, question="?", digest="", withdrawn_at=gone)
        Gate.objects.filter(pk=gate.pk).update(opened_at=begin + timedelta(seconds=start))
    return begin


@pytest.mark.parametrize(
    ("gates", "attempts", "expected"),
    [
        ([], [], Clocks(100_000, 0, working=True)),
        ([(GateKind.PLAN, 10, 40)], [(40, None)], Clocks(70_000, 30_000, working=True)),
        ([(GateKind.STEP, 10, None)], [(5, 10)], Clocks(10_000, 90_000, working=False)),
        ([(GateKind.STEP, 10, None)], [(20, None)], Clocks(90_000, 10_000, working=True)),
        ([(GateKind.STEP, 10, 50), (GateKind.EXHAUSTED, 30, 70)], [(40, 60)], Clocks(60_000, 40_000, working=True)),
        ([(GateKind.BUDGET, 60, None)], [(20, None)], Clocks(60_000, 40_000, working=False)),
    ],
)
def test_waiting_is_an_open_question_with_nobody_at_work(
    gates: list[tuple[str, int, int | None]], attempts: list[tuple[int, int | None]], expected: Clocks
) -> None:
    run = factories.executing()
    begin = timed(run, gates, attempts)
    assert clocks_of(run, begin + timedelta(seconds=100)) == expected


@pytest.mark.slow
def test_the_clocks_of_a_finished_run_stand_still() -> None:
    run = factories.finished_succeeded()
    assert run.finished_at is not None
    once = clocks_of(run, run.finished_at)
    assert clocks_of(run, run.finished_at + timedelta(days=1)) == once
    assert once.working is None
    whole = round((run.finished_at - run.created_at).total_seconds() * 1_000)
    assert abs(once.worked + once.waited - whole) <= 1
