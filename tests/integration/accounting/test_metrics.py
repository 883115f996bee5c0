"""The figures over hand-made runs: each counted as it is defined, each once, in a fixed number of queries."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import F
from pytest_django import DjangoAssertNumQueries

from runs.accounting import figures
from runs.accounting import metrics as measuring
from runs.accounting.figures import Metrics, Phase, Times
from runs.accounting.metrics import metrics
from runs.enums import AttemptStatus, GateKind, GateStatus, Verb
from runs.lifecycle import gate_decisions
from runs.models import Attempt, Gate, ModelCall, Run, Verdict
from tests import factories

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)
MINUTE = 60_000


def of(*runs: Run) -> Metrics:
    return metrics(Run.objects.filter(pk__in=[run.pk for run in runs]))


def test_nothing_gives_nothing() -> None:
    found = of()
    assert (found.runs.total, found.totals.calls, found.waited, found.executor, found.verifier) == (
        0,
        0,
        Times(),
        (),
        (),
    )
    assert (found.steps.first_pass_yield, found.steps.pass_rate) == (None, None)


@pytest.mark.slow
@pytest.mark.services
def test_a_run_that_succeeded() -> None:
    """Inventory and notices passed at once, the review at its second attempt."""
    found = of(factories.finished_succeeded())
    steps, attempts = found.steps, found.attempts
    assert (steps.attempted, steps.ended, steps.passed, steps.first_pass) == (3, 3, 3, 2)
    assert (steps.first_pass_yield, steps.pass_rate) == (2 / 3, 1.0)
    assert (attempts.judged, attempts.passed, attempts.retries, attempts.unsupported) == (4, 3, 1, 1)
    assert (found.runs.succeeded, found.runs.open, found.runs.replans) == (1, 0, 0)


def test_accepted_with_issues_is_not_passed() -> None:
    found = of(factories.finished_partial())
    assert (found.steps.accepted, found.steps.passed, found.steps.first_pass) == (1, 2, 2)
    assert found.steps.pass_rate == 2 / 3
    assert (found.runs.partial, found.attempts.unsupported) == (1, 2)


@pytest.mark.slow
def test_a_kept_step_is_counted_once_and_a_superseded_one_is_dropped() -> None:
    found = of(factories.replanned())
    assert (found.runs.replans, found.runs.open, found.runs.rejected) == (1, 1, 0)
    assert (found.steps.attempted, found.steps.passed, found.steps.dropped) == (2, 1, 1)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_steps_under_way_are_attempted_and_have_not_ended() -> None:
    waiting = of(factories.step_gate())
    assert (waiting.steps.attempted, waiting.steps.ended, waiting.steps.passed) == (2, 1, 1)
    assert waiting.steps.first_pass_yield == 1.0, "the review is still to be decided"


def test_what_a_stop_cut_off_is_no_attempt() -> None:
    found = of(factories.stopped())
    assert (found.runs.cancelled, found.steps.attempted, found.attempts.judged) == (1, 0, 0)


def test_what_a_person_sends_back_was_not_right_the_first_time() -> None:
    run = factories.executing()
    factories.pass_inventory(run)
    factories.pass_review(run)
    factories.decide(run, GateKind.STEP, Verb.REJECT, "Clause 9 too.")
    factories.pass_review(run)
    factories.decide(run, GateKind.STEP, Verb.APPROVE)
    found = of(run)
    assert (found.attempts.sent_back, found.attempts.passed, found.attempts.retries) == (1, 3, 1)
    assert (found.steps.passed, found.steps.first_pass) == (2, 1)


@pytest.mark.slow
def test_what_was_retried_after_a_failure_and_what_recovered() -> None:
    def found(run: Run) -> tuple[int, int]:
        steps = of(run).steps
        return steps.retried, steps.recovered

    assert found(factories.finished_succeeded()) == (1, 1)
    assert found(factories.finished_partial()) == (1, 0), "accepted is not recovered"
    assert found(factories.replanned()) == (0, 0), "a failure that was not tried again"
    run = factories.executing()
    factories.pass_inventory(run)
    factories.pass_review(run)
    factories.decide(run, GateKind.STEP, Verb.REJECT, "Clause 9 too.")
    factories.pass_review(run)
    assert found(run) == (0, 0), "a person sent it back, no verdict"


@pytest.mark.parametrize(
    ("verdicts", "doubted"), [(2, "100 % without a retry in 2 verdicts: check that the verifier works."), (3, "")]
)
@pytest.mark.slow
def test_what_passes_too_well_is_doubted_from_so_many_verdicts_on(
    verdicts: int, doubted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "DOUBTED_VERDICTS", verdicts)
    run = factories.executing(step_approval="none")
    factories.pass_inventory(run)
    factories.pass_review(run)
    assert of(run).doubt == doubted
    assert of(factories.finished_succeeded()).doubt == "", "there was a retry"


def test_rejected_plans_are_counted() -> None:
    assert of(factories.awaiting_second_plan()).runs.rejected == 1


def taken_over(status: AttemptStatus) -> Run:
    """The inventory is the result of an earlier run, as far as the rows tell."""
    source, run = factories.finished_succeeded(), factories.executing()
    factories.pass_inventory(run)
    earlier = Attempt.objects.get(step__plan__run=source, step__key="inventory")
    mine = Attempt.objects.filter(step__plan__run=run, step__key="inventory")
    mine.update(reused_from=earlier, status=status)
    return run


@pytest.mark.slow
def test_a_result_that_was_taken_over_is_no_pass_of_this_run() -> None:
    found = of(taken_over(AttemptStatus.PASSED))
    assert (found.steps.reused, found.steps.attempted, found.steps.first_pass) == (1, 0, 0)
    assert (found.attempts.judged, found.executor, found.verdicts) == (0, (), 0)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_refused_takeover_is_not_reused() -> None:
    assert of(taken_over(AttemptStatus.REJECTED)).steps.reused == 0


@pytest.mark.services
def test_phases_are_sums_of_the_journal() -> None:
    run = factories.finished_succeeded()
    ModelCall.objects.filter(run=run).update(duration_ms=100)
    run.tool_calls.update(duration_ms=7)
    tools = run.tool_calls.count()
    assert of(run).phases == (
        Phase("planning", 1, 100, 0),
        Phase("executing", 4, 400, 7 * tools),
        Phase("verifying", 4, 400, 0),
        Phase("finalising", 1, 100, 0),
    )


def opened(gate: Gate, minutes: int, **ended: Any) -> None:
    Gate.objects.filter(pk=gate.pk).update(opened_at=NOON, **{k: NOON + timedelta(minutes=minutes) for k in ended})


@pytest.mark.services
def test_gates_wait_from_opening_to_decision() -> None:
    run = factories.finished_succeeded()
    opened(run.gates.get(kind=GateKind.PLAN), 3, decided_at=True)
    opened(run.gates.get(kind=GateKind.STEP), 9, decided_at=True)
    found = of(run)
    assert [(one.kind, one.open, one.times.total_ms) for one in found.waiting] == [
        ("plan", 0, 3 * MINUTE),
        ("step", 0, 9 * MINUTE),
    ]
    assert found.waited == Times(count=2, total_ms=12 * MINUTE, mean_ms=6 * MINUTE, max_ms=9 * MINUTE)


@pytest.mark.services
def test_a_withdrawn_gate_waited_until_it_was_withdrawn() -> None:
    run = factories.awaiting_plan()
    gate_decisions.cancel(run.pk, factories.bob())
    gate = run.gates.get()
    opened(gate, 4, withdrawn_at=True)
    assert of(run).waited.total_ms == 4 * MINUTE


def test_an_open_gate_waits_until_now() -> None:
    run = factories.awaiting_plan()
    run.gates.update(opened_at=F("opened_at") - timedelta(hours=2))
    found = of(run)
    assert found.waiting[0].open == 1
    assert 120 * MINUTE <= found.waited.total_ms < 121 * MINUTE


@pytest.mark.services
def test_wall_time_is_of_finished_runs() -> None:
    done, going = factories.stopped(), factories.executing()
    Run.objects.filter(pk=done.pk).update(created_at=NOON, finished_at=NOON + timedelta(minutes=2))
    assert of(done, going).runs.wall == Times(1, 2 * MINUTE, 2 * MINUTE, 2 * MINUTE)
    assert of(going).runs.wall == Times()


def say(run: Run, *said: float) -> None:
    attempts = Attempt.objects.filter(step__plan__run=run, verdict__isnull=False).order_by("pk")
    for attempt, confidence in zip(attempts, said, strict=True):
        assert attempt.output
        attempt.output = attempt.output.model_copy(update={"confidence": confidence})
        attempt.save()


def test_confidence_is_held_against_the_verdict() -> None:
    run = factories.finished_succeeded()  # passed, failed, passed, passed
    say(run, 0.9, 0.9, 0.5, 1)
    found = of(run).executor
    assert [(one.label, one.count, one.held, round(one.claimed, 3)) for one in found] == [
        ("50 to 70 %", 1, 1, 0.5),
        ("90 to 100 %", 3, 2, 0.933),
    ]
    assert found[1].share == 2 / 3


def test_a_blocked_attempt_claims_nothing() -> None:
    found = of(factories.blocked())
    assert sum(one.count for one in found.executor) == 1, "the inventory alone"


@pytest.mark.services
def test_the_verifiers_claims_are_held_against_the_evidence() -> None:
    """Of its claims that a criterion is met one quoted what does not stand there."""
    found = of(factories.finished_succeeded())
    assert [(one.label, one.count, one.held) for one in found.verifier] == [("90 to 100 %", 5, 4)]
    assert found.verdicts == 4


@pytest.mark.services
def test_only_the_latest_verdicts_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "LATEST_VERDICTS", 1)
    found = of(factories.finished_succeeded())
    assert (found.verdicts, [one.count for one in found.verifier]) == (1, [1])


@pytest.mark.parametrize(
    ("said", "held", "count", "reading"),
    [
        (0.9, 3, 5, "too sure"),
        (0.6, 5, 5, "too modest"),
        (0.85, 4, 5, "about right"),
        (0.9, 0, 4, "too few"),
    ],
)
def test_what_may_be_read_from_a_range(said: float, held: int, count: int, reading: str) -> None:
    assert figures.Bucket(0.5, 1.0, count, held, said).reading == reading


@pytest.mark.slow
@pytest.mark.services
def test_tokens_by_kind_by_role_and_model() -> None:
    run, other = factories.finished_succeeded(), factories.finished_partial()
    kinds = {"cache_read_tokens": 1, "cache_write_5m_tokens": 10, "cache_write_1h_tokens": 100}
    ModelCall.objects.filter(run=run).update(**kinds)
    found = of(run, other)
    assert [(one.role, one.model, one.totals.calls) for one in found.roles] == [
        ("planner", "claude-opus-5-5", 2),
        ("executor", "claude-sonnet-5-5", 8),
        ("verifier", "claude-haiku-5-5", 8),
        ("synthesizer", "claude-sonnet-5-5", 2),
    ]
    sum_ = found.totals
    assert (sum_.cache_read_tokens, sum_.cache_write_5m_tokens, sum_.cache_write_1h_tokens) == (10, 100, 1_000)
    assert sum_.cost == of(run).totals.cost + of(other).totals.cost
    assert of(run).roles[1].totals.tokens == 79_500 + 4 * 111


def test_a_run_is_counted_once_however_often_it_is_found() -> None:
    run = factories.finished_succeeded()
    factories.share(run, factories.alice(), factories.charlie())
    twice = metrics(Run.objects.filter(shares__user__in=[factories.alice(), factories.charlie()]))
    assert (twice.runs.total, twice.steps.passed, twice.totals) == (1, 3, of(run).totals)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_verdicts_without_a_model_do_not_read_as_its_confidence() -> None:
    run = factories.finished_succeeded()
    Verdict.objects.filter(attempt__step__plan__run=run).update(stage="checks")
    assert (of(run).verifier, of(run).verdicts) == ((), 0)


def test_an_open_gate_of_each_kind_has_a_row() -> None:
    runs = [factories.exhausted_gate(), factories.error_gate()]
    assert [(one.kind, one.open) for one in of(*runs).waiting] == [("error", 1), ("exhausted", 1), ("plan", 0)]
    assert Gate.objects.filter(status=GateStatus.OPEN).count() == 2


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_the_number_of_queries_does_not_grow_with_runs(
    count: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(count):
        factories.finished_partial()
        factories.replanned()
    with django_assert_num_queries(9):
        metrics(Run.objects.all())
