"""What counts against the limits of a run: every call's money, calls in flight, and time at work only."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from runs.accounting.costs import totals
from runs.accounting.usage import Clocks, clocks_of, reserved_usd, reserved_uses, spent_usd, worked_seconds
from runs.enums import GateKind, Verb, WorkKind, WorkStatus
from runs.lifecycle.gate_decisions import pause
from runs.models import Attempt, Gate, ModelCall, Run, WorkItem
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.services]


def test_every_call_counts_with_what_is_known_of_it() -> None:
    assert spent_usd(factories.planning()) == Decimal(0)
    run = factories.failed_attempt()
    before = totals(run).cost
    assert spent_usd(run) == before > 0
    broken = ModelCall.objects.filter(run=run, cost_usd__gt=0).latest("pk")
    ModelCall.objects.filter(pk=broken.pk).update(cost_usd=None, error="Broken off.")
    assert spent_usd(run) == before - (broken.cost_usd or 0)


def test_only_other_calls_in_flight_are_reserved() -> None:
    run = factories.planning()
    mine = factories.open_work(run, WorkKind.PLAN)
    other = WorkItem.objects.create(run=run, kind=WorkKind.FINALISE, due_at=timezone.now())
    until = timezone.now() + timedelta(minutes=1)
    run.work.update(status=WorkStatus.LEASED, lease_until=until, reserved_usd=Decimal("0.30"))
    assert reserved_usd(run, besides=mine) == Decimal("0.30")
    run.work.filter(pk=other.pk).update(status=WorkStatus.DONE, lease_until=None)
    assert reserved_usd(run, besides=mine) == Decimal(0)


def test_the_uses_that_other_calls_in_flight_may_make_are_reserved_too() -> None:
    run = factories.planning()
    mine = factories.open_work(run, WorkKind.PLAN)
    WorkItem.objects.create(run=run, kind=WorkKind.FINALISE, due_at=timezone.now())
    until = timezone.now() + timedelta(minutes=1)
    leased = run.work.exclude(pk=mine.pk)
    run.work.update(reserved_uses={"web_search": 2, "web_fetch": 1})
    assert reserved_uses(run, besides=mine) == {}
    leased.update(status=WorkStatus.LEASED, lease_until=until)
    assert reserved_uses(run, besides=mine) == {"web_search": 2, "web_fetch": 1}


def test_waiting_for_people_and_pauses_are_no_work() -> None:
    run = factories.awaiting_plan()
    begun = timezone.now() - timedelta(hours=2)
    Run.objects.filter(pk=run.pk).update(created_at=begun)
    Gate.objects.filter(run=run).update(opened_at=begun + timedelta(minutes=1))
    run.refresh_from_db()
    assert worked_seconds(run, timezone.now()) == pytest.approx(60, abs=5)
    pause(run.pk, factories.alice(), paused=True)
    factories.decide(run, GateKind.PLAN, Verb.APPROVE)
    assert worked_seconds(run, timezone.now() + timedelta(hours=5)) == pytest.approx(60, abs=5), "it is paused"
    pause(run.pk, factories.alice(), paused=False)
    assert worked_seconds(run, timezone.now() + timedelta(hours=5)) == pytest.approx(5 * 3_600 + 60, abs=5)


def test_time_in_which_a_run_waits_for_two_reasons_counts_once() -> None:
    run = factories.awaiting_plan()
    begun = timezone.now() - timedelta(seconds=100)
    Run.objects.filter(pk=run.pk).update(created_at=begun)
    Gate.objects.filter(run=run).update(opened_at=begun + timedelta(seconds=10))
    run.refresh_from_db()
    pause(run.pk, factories.alice(), paused=True)
    run.events.filter(kind="paused").update(at=begun + timedelta(seconds=40))
    pause(run.pk, factories.alice(), paused=False)
    run.events.filter(kind="resumed").update(at=begun + timedelta(seconds=70))
    assert worked_seconds(run, begun + timedelta(seconds=100)) == pytest.approx(10)


# ---- The two clocks of a run: what counts as work, and what as waiting for people ------------------------------------


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
