"""What a line or a service does to a call: it is journalled, the thread is free at once, and the work goes on later."""

from __future__ import annotations

import socket
import threading
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from runs.engine import recording
from runs.engine.perform import MAX_TRIES, MAX_WAIT, perform
from runs.enums import EventKind, GateKind, Outcome, Role, WorkStatus
from runs.http_client import watchdog
from runs.lifecycle.gate_decisions import cancel
from runs.models import ModelCall, Run, User, WorkItem
from tests.factories import Submit, answer, drain, finish, hurry, open_gate
from tests.fakes.anthropic_answers import Answer, CutStream, EndEarly, ErrorInStream, Fail, Ping, Request, Stall
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, plan, step

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
SOON = 20.0
"""Seconds within which a worker must be free again, on a busy machine."""


def waiting(run: Run, before: datetime) -> timedelta:
    """The time from `before` until the attempt is due; nobody holds it."""
    work = WorkItem.objects.get(run=run, kind="attempt")
    assert (work.status, work.lease_until) == (WorkStatus.READY, None)
    return work.due_at - before


def failures(run: Run) -> list[ModelCall]:
    return list(ModelCall.objects.filter(run=run).exclude(error=""))


def same_tokens(run: Run, api: FakeAnthropic) -> bool:
    """Whether the journal has what the service has told, to the token (T5)."""
    told, calls = api.usage_totals(), list(ModelCall.objects.filter(run=run))
    return (
        sum(call.input_tokens for call in calls),
        sum(call.cache_read_tokens for call in calls),
        sum(call.cache_write_5m_tokens for call in calls),
        sum(call.output_tokens for call in calls),
    ) == (told.input_tokens, told.cache_read_input_tokens, told.cache_creation_input_tokens, told.output_tokens)


@pytest.mark.parametrize(
    ("bad", "told", "begun"),
    [
        (Fail(429, "rate_limit_error", "slow down", retry_after=600), "too many requests (429)", False),
        (Fail(529, "overloaded_error", "busy"), "is overloaded (529)", False),
        (CutStream("half of"), "The connection broke", True),
        (EndEarly("half of"), "ended before it was complete", True),
        (ErrorInStream("overloaded_error"), "is overloaded", True),
    ],
    ids=["429", "529", "cut", "ends early", "error in stream"],
)
def test_a_failed_call_is_a_row_with_its_least_cost_and_frees_its_thread(
    api: FakeAnthropic, submitted: Submit, alice: User, bad: Answer, told: str, begun: bool
) -> None:
    def once(request: Request, right: Answer) -> Answer:
        return bad if len(team.seen["executor"]) == 2 else right

    team = Team(plan=plan(step("one")), executor=once)
    api.script(team)
    run = submitted()
    drain(run)
    answer(run, alice)
    before = timezone.now()
    drain(run)
    minimum = min(bad.retry_after or 0.0, MAX_WAIT) if isinstance(bad, Fail) else 0.0
    assert timedelta(seconds=minimum) <= waiting(run, before) < timedelta(seconds=minimum + SOON)
    (failed,) = failures(run)
    assert told in failed.error
    assert (failed.role, failed.live, failed.cost_is_lower_bound) == (Role.EXECUTOR, False, True)
    assert ((failed.cost_usd or 0) > 0, failed.output_tokens, failed.content) == (begun, int(begun), [])
    assert same_tokens(run, api)
    hurry(run)
    assert finish(run, alice).outcome == Outcome.SUCCEEDED
    assert len(failures(run)) == 1
    assert same_tokens(run, api)


@pytest.mark.slow
def test_a_service_that_nobody_hears_of_is_tried_and_then_a_question(
    api: FakeAnthropic, submitted: Submit, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.script(Team(plan=plan(step("one"))))
    run = submitted()
    drain(run)
    answer(run, alice)
    with socket.socket() as free, monkeypatch.context() as away:
        free.bind(("127.0.0.1", 0))  # nobody listens there
        away.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{free.getsockname()[1]}")
        recording.clients.cache_clear()
        for tries in range(1, MAX_TRIES):
            before = timezone.now()
            drain(run)
            assert waiting(run, before) > timedelta(seconds=min(2 ** (tries - 1), 60))
            hurry(run)
        drain(run)
    assert run.events.filter(kind=EventKind.WAITING_FOR_MODEL).count() == MAX_TRIES - 1
    assert [(call.cost_usd, call.cost_is_lower_bound) for call in failures(run)] == [(Decimal(0), True)] * MAX_TRIES
    gate = open_gate(run)
    assert gate.kind == GateKind.ERROR
    assert "cannot be reached" in gate.question
    recording.clients.cache_clear()
    assert finish(run, alice).outcome == Outcome.SUCCEEDED


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("silence", [Stall, Ping])
def test_a_cancel_frees_a_worker_whose_service_says_nothing(
    api: FakeAnthropic,
    submitted: Submit,
    alice: User,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    silence: type[Stall | Ping],
) -> None:
    settings.LEASE_SECONDS = 1.5
    monkeypatch.setattr(watchdog, "WATCH_INTERVAL", 0.05)
    asked = threading.Event()

    def silent(request: Request, right: Answer) -> Answer:
        asked.set()
        return silence(30.0, right)

    api.script(Team(planner=silent))
    run = submitted()
    worker = threading.Thread(target=perform, args=[WorkItem.objects.get(run=run).pk])
    worker.start()
    assert asked.wait(SOON)
    cancel(run.pk, alice)
    worker.join(SOON)
    assert not worker.is_alive()
    run.refresh_from_db()
    assert run.outcome == Outcome.CANCELLED
    (failed,) = failures(run)
    assert (failed.error, failed.cost_is_lower_bound) == ("The lease of this work is gone.", True)
    assert (failed.cost_usd or 0) > 0
