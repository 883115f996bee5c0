"""What counts against the limits of a run: every call's money, calls in flight, and time at work only."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from runs.accounting.costs import totals
from runs.accounting.usage import reserved_usd, reserved_uses, spent_usd, worked_seconds
from runs.enums import GateKind, Verb, WorkKind, WorkStatus
from runs.lifecycle.gate_decisions import pause
from runs.models import Gate, ModelCall, Run, WorkItem
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
