"""Time limits of decisions: a reminder, another person, an end. They never approve, and they race people fairly."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import Settings

from runs.enums import (
    AtLimit,
    EventKind,
    GateKind,
    GateStatus,
    LimitStage,
    NoticeKind,
    Outcome,
    PlanStatus,
    RunStatus,
    Verb,
)
from runs.errors import DecisionRefused
from runs.events.kinds import read
from runs.lifecycle import effects, limit_stages, time_limits
from runs.lifecycle.gate_decisions import decide_by_limit
from runs.models import AuditEntry, Event, Gate, Notice, Plan, Run, User
from runs.pev.decision_limits import DecisionLimits, parse_installation
from tests import factories as made
from tests.integration.lifecycle.deciding import refused, say

pytestmark = [pytest.mark.django_db, pytest.mark.services]

HOUR = timedelta(hours=1)
STEPS: dict[str, Any] = {"remind_hours": 24, "another_hours": 48, "end_hours": 72}
GATES: dict[GateKind, Callable[[], Run]] = {
    GateKind.PLAN: made.awaiting_plan,
    GateKind.START: made.start_gate,
    GateKind.STEP: made.step_gate,
    GateKind.EXHAUSTED: made.exhausted_gate,
    GateKind.ERROR: made.error_gate,
    GateKind.BUDGET: made.budget_gate,
    GateKind.TOOL: lambda: made.tool_gate("tracker__create_issue", {"title": "Broken lamp"}),
    GateKind.QUESTION: made.question_gate,
}


def gate_of(run: Run) -> Gate:
    return Run.objects.get(pk=run.pk).gates.open().get()


def fresh(gate: Gate) -> Gate:
    return Gate.objects.select_related("run", "decided_by", "assigned_to").get(pk=gate.pk)


def later(gate: Gate, hours: int) -> None:
    """Everything about the gate was so many hours earlier."""
    by = timedelta(hours=hours)
    row = Gate.objects.get(pk=gate.pk)
    for name in ("opened_at", "due_at", "limit_at"):
        if value := getattr(row, name):
            Gate.objects.filter(pk=gate.pk).update(**{name: value - by})


def due_now(run: Run, then: AtLimit = AtLimit.REJECT) -> Gate:
    """The only open gate of this run, whose limit of an hour has just ended."""
    gate = gate_of(run)
    policy = gate.run.policy.changed(end_hours=1, at_end=then)
    Run.objects.filter(pk=gate.run_id).update(policy=policy)
    now = timezone.now()
    Gate.objects.filter(pk=gate.pk).update(due_at=now, limit_at=now, limit_stage=LimitStage.END)
    return fresh(gate)


def ended_plan_gate() -> Gate:
    """The policy of its run is the one that was submitted, so that it can be approved."""
    gate = gate_of(made.awaiting_plan(end_hours=1, at_end="reject"))
    later(gate, 2)
    return fresh(gate)


def told(run_id: int, after: int = 0) -> list[str]:
    found = Event.objects.filter(run=run_id, seq__gt=after).order_by("seq")
    return [read(event.kind, event.data).sentence({}) for event in found]


# ---- stages -------------------------------------------------------------------------------------------------------


def test_without_limits_nothing_is_ever_due() -> None:
    gate = gate_of(made.awaiting_plan())
    later(gate, 10_000)
    assert time_limits.perform_due() == 0


def test_a_reminder_then_another_person_then_the_end() -> None:
    run = made.awaiting_plan(**STEPS, at_end="stop")
    gate, seen = gate_of(run), Run.objects.get(pk=run.pk).event_count
    assert (gate.limit_stage, gate.assigned_to) == ("remind", made.alice())
    assert time_limits.perform_due() == 0
    found = []
    for _ in range(3):
        later(gate, 25)
        found.append((time_limits.perform_due(), time_limits.perform_due()))
    assert found == [(1, 0)] * 3
    assert told(run.pk, seen) == [
        "alice was reminded of the decision.",
        "The decision is assigned to bob: no one has decided within 48 hours.",
        "The policy stopped the run at the question of the plan (time limit): No one decided within 72 hours, the time "
        "limit of this decision.",
        "Finished: cancelled.",
    ]
    kinds = Notice.objects.filter(gate=gate).exclude(kind=NoticeKind.DECISION_NEEDED).order_by("pk")
    assert [(one.kind, one.user) for one in kinds] == [
        (NoticeKind.DECISION_DUE, made.alice()),
        (NoticeKind.ASSIGNED, made.bob()),
    ]


def test_no_policy_of_a_run_switches_off_the_limits_of_the_installation(settings: Settings) -> None:
    settings.DECISION_LIMITS = parse_installation("every: remind 24, end 72, stop; tool: end 96")
    gate = gate_of(made.awaiting_plan(remind_hours=2, end_hours=100, decision_limits="plan: end never, wait"))
    assert (gate.limit_stage, gate.due_at and round((gate.due_at - gate.opened_at) / HOUR)) == ("remind", 72)
    later(gate, 3)
    assert time_limits.perform_due() == 1
    later(gate, 70)
    assert time_limits.perform_due() == 1
    assert fresh(gate).status == GateStatus.STOPPED


def test_limits_that_an_administrator_has_changed_hold_for_open_decisions_from_the_next_stage_on(
    settings: Settings,
) -> None:
    settings.DECISION_LIMITS = parse_installation("every: remind 24, another 48, end 72, stop")
    gate = gate_of(made.awaiting_plan())
    settings.DECISION_LIMITS = parse_installation("every: another 30, end 72, stop")
    later(gate, 73)
    assert [time_limits.perform_due() for _ in range(2)] == [0, 1]  # no reminder any more; then another person
    assert fresh(gate).limit_stage == "end"
    settings.DECISION_LIMITS = {}
    assert [time_limits.perform_due() for _ in range(2)] == [0, 0]
    after = fresh(gate)
    assert (after.status, after.limit_at, after.due_at) == (GateStatus.OPEN, None, None)


def test_after_a_long_pause_every_stage_is_done_in_order() -> None:
    run = made.awaiting_plan(**STEPS, at_end="wait")
    gate = gate_of(run)
    later(gate, 1_000)
    assert [time_limits.perform_due() for _ in range(4)] == [1, 1, 1, 0]
    assert fresh(gate).status == GateStatus.OPEN


def test_with_nobody_else_it_stays_whose_turn_it_was() -> None:
    run = made.planning(another_hours=1)
    run.shares.all().delete()
    made.propose(run)
    gate = gate_of(run)
    later(gate, 2)
    time_limits.perform_due()
    assert (fresh(gate).assigned_to, told(run.pk)[-1]) == (
        made.alice(),
        "The decision is assigned to alice: no one has decided within 1 hour, and no one else may.",
    )


def test_without_a_consequence_it_is_overdue_and_waits() -> None:
    gate = gate_of(made.awaiting_plan(end_hours=5))
    later(gate, 6)
    assert [time_limits.perform_due() for _ in range(2)] == [1, 0]
    assert told(gate.run_id)[-1] == "No one has decided within 5 hours. The decision is overdue, and keeps waiting."
    say(gate, Verb.APPROVE)
    assert fresh(gate).status == GateStatus.APPROVED


def test_who_was_assigned_may_be_gone_and_others_are_reminded() -> None:
    gate = gate_of(made.awaiting_plan(**STEPS))
    User.objects.filter(pk=made.alice().pk).update(is_active=False)
    later(gate, 100)
    assert time_limits.perform_due() == 1
    due = Notice.objects.filter(kind=NoticeKind.DECISION_DUE, gate=gate)
    assert [notice.user for notice in due] == [made.bob()]
    assert [time_limits.perform_due() for _ in range(2)] == [1, 1]
    assert fresh(gate).assigned_to == made.bob()


def test_nobody_is_assigned_again_where_nobody_else_may_decide() -> None:
    run = made.awaiting_plan(**STEPS)
    run.shares.all().delete()
    gate = gate_of(run)
    later(gate, 100)
    lines, notices = AuditEntry.objects.count(), Notice.objects.filter(kind=NoticeKind.ASSIGNED).count()
    assert [time_limits.perform_due() for _ in range(2)] == [1, 1]
    assert (AuditEntry.objects.count(), Notice.objects.filter(kind=NoticeKind.ASSIGNED).count()) == (lines, notices)
    assert "no one else may" in run.events.get(kind=EventKind.GATE_ASSIGNED).data["why"]


def test_limits_are_counted_in_the_zone_of_whose_turn_it_is(settings: Any) -> None:
    settings.BUSINESS_DAYS = frozenset(range(5))
    friday = datetime(2026, 11, 27, 20, tzinfo=UTC)  # in Auckland it is Saturday
    found = []
    for zone in ("", "Pacific/Auckland"):
        gate = Gate(assigned_to=User(username="eve", time_zone=zone))
        limit_stages.begin(gate, DecisionLimits(remind=2, end=3), friday)
        found.append((gate.limit_stage, gate.limit_at, gate.due_at))
    monday = datetime(2026, 11, 29, 11, tzinfo=UTC)  # midnight there
    assert found == [
        ("remind", friday + timedelta(hours=2), friday + timedelta(hours=3)),
        ("remind", monday + timedelta(hours=2), monday + timedelta(hours=3)),
    ]


# ---- the end ------------------------------------------------------------------------------------------------------


def test_every_kind_of_gate_is_looked_at() -> None:
    assert set(GATES) == set(GateKind)


@pytest.mark.parametrize("kind", GateKind)
@pytest.mark.parametrize("then", AtLimit)
def test_a_limit_never_approves(kind: GateKind, then: AtLimit) -> None:
    gate = due_now(GATES[kind](), then)
    assert gate.kind == kind
    approved = Plan.objects.filter(run=gate.run_id, status=PlanStatus.APPROVED).count()
    assert time_limits.perform_due() == 1
    after = fresh(gate)
    assert (
        after.status
        == {
            AtLimit.WAIT: GateStatus.OPEN,
            AtLimit.REJECT: GateStatus.REJECTED,
            AtLimit.STOP: GateStatus.STOPPED,
        }[then]
    )
    assert Plan.objects.filter(run=gate.run_id, status=PlanStatus.APPROVED).count() <= approved
    assert after.decided_by is None
    if then is AtLimit.WAIT:
        return
    assert (after.decided_how, after.decider, after.request) == ("time limit", "The policy", None)
    assert after.reason == "No one decided within 1 hour, the time limit of this decision."
    if kind is GateKind.TOOL and then is AtLimit.REJECT:
        assert (after.run.status, Run.objects.get(pk=gate.run_id).gates.open().count()) == (RunStatus.EXECUTING, 0)
    else:
        assert after.run.status == RunStatus.FINISHED
        assert after.run.outcome in {Outcome.CANCELLED, Outcome.FAILED, Outcome.PARTIAL}


@pytest.mark.parametrize("verb", [verb for verb in Verb if verb not in (Verb.REJECT, Verb.STOP)])
def test_no_other_verb_is_taken(verb: Verb) -> None:
    gate = due_now(made.awaiting_plan())
    with pytest.raises(ValueError, match="cannot"):
        decide_by_limit(gate, verb, 1)


@pytest.mark.parametrize("status", ["approved", "answered", "supplied"])
def test_the_database_takes_no_approval_without_a_person(status: str) -> None:
    gate = due_now(made.question_gate() if status == "answered" else made.awaiting_plan())
    values = {
        "decided_at": timezone.now(),
        "decided_how": "time limit",
        "reason": "Because.",
        "request": 1 if status == "answered" else None,
    }
    with pytest.raises(Exception, match="gate_decision_is_whole"), transaction.atomic():
        Gate.objects.filter(pk=gate.pk).update(status=status, **values)


def test_who_comes_too_late_is_told_that_the_limit_decided() -> None:
    gate = due_now(made.awaiting_plan())
    time_limits.perform_due()
    when = fresh(gate).decided_at
    assert when is not None
    assert refused(gate) == (
        f"The time limit ended this decision at {when:%Y-%m-%d %H:%M:%S} UTC, and the policy rejected it. No one "
        "decided within 1 hour, the time limit of this decision."
    )


def test_a_person_who_is_faster_wins_even_after_the_time() -> None:
    gate = ended_plan_gate()
    say(gate, Verb.APPROVE)
    assert time_limits.perform_due() == 0
    assert time_limits.perform(gate.pk) is False
    assert fresh(gate).decided_by == made.alice()


# ---- what happens in between --------------------------------------------------------------------------------------


def test_a_process_that_ends_in_the_middle_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = due_now(made.awaiting_plan())
    monkeypatch.setattr(effects, "finish", _ends)
    with pytest.raises(KeyboardInterrupt):
        time_limits.perform_due()
    assert (fresh(gate).status, fresh(gate).limit_stage) == (GateStatus.OPEN, "end")
    monkeypatch.undo()
    assert time_limits.perform_due() == 1
    assert fresh(gate).status == GateStatus.REJECTED


def _ends(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_limit_that_fails_is_tried_later_and_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    broken, other = due_now(made.awaiting_plan()), due_now(made.awaiting_plan(), AtLimit.STOP)
    finish = effects.finish

    def fails(run: Run, **how: Any) -> None:
        if run.pk == broken.run_id:
            raise RuntimeError("broken")
        finish(run, **how)

    monkeypatch.setattr(effects, "finish", fails)
    assert [time_limits.perform_due() for _ in range(2)] == [1, 0]
    assert fresh(other).status == GateStatus.STOPPED
    later_at = fresh(broken).limit_at
    assert later_at is not None
    assert later_at > timezone.now()


# ---- at the same moment -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("times", [20, pytest.param(200, marks=pytest.mark.exhaustive)])
@pytest.mark.django_db(transaction=True)
def test_a_limit_that_ends_while_someone_clicks_one_of_them_wins_each_time(times: int) -> None:
    winners = set()
    for number in range(times):
        gate = ended_plan_gate()
        barrier, lost, done = threading.Barrier(2), list[str](), list[bool]()

        def click(gate: Gate = gate, barrier: threading.Barrier = barrier, lost: list[str] = lost) -> None:
            try:
                barrier.wait()
                say(gate, Verb.APPROVE)
            except DecisionRefused as refusal:
                lost.append(str(refusal))
            finally:
                connection.close()

        def limit(gate: Gate = gate, barrier: threading.Barrier = barrier, done: list[bool] = done) -> None:
            try:
                barrier.wait()
                done.append(time_limits.perform(gate.pk))
            finally:
                connection.close()

        order = (click, limit) if number % 2 else (limit, click)
        threads = [threading.Thread(target=what) for what in order]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        after = fresh(gate)
        if after.status == GateStatus.APPROVED:
            assert (lost, done) == ([], [False])
        else:
            assert (after.status, done) == (GateStatus.REJECTED, [True])
            assert [sentence.startswith("The time limit ended this decision at ") for sentence in lost] == [True]
        assert Event.objects.filter(run=gate.run_id, kind=EventKind.GATE_DECIDED).count() == 1
        winners.add(after.status)
    assert winners <= {GateStatus.APPROVED, GateStatus.REJECTED}
