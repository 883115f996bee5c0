"""The timeline of a run: work and waiting apart, retries as bars of their own, long waits drawn short."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from runs.models import Attempt, Gate, Run
from runs.readmodel.run_view import reading_of
from runs.web.run.timeline import CUT, Timeline, timeline_of
from tests import factories

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def timeline(run: Run) -> Timeline:
    plan = reading_of(run).plan
    assert plan is not None
    return timeline_of(run, plan.steps, plan.rows.gates)


def day_of_work() -> Run:
    """Ten minutes of planning, two hours at the gate, ten minutes of an attempt that failed, then one that passed."""
    run = factories.finished_succeeded()
    begin = run.created_at
    gates = run.gates.order_by("pk")
    move(gates[0], begin + 10 * MINUTE, begin + 130 * MINUTE)
    attempts = Attempt.objects.of_run(run).order_by("pk")
    for number, attempt in enumerate(attempts):
        since = begin + (130 + 10 * number) * MINUTE
        Attempt.objects.filter(pk=attempt.pk).update(created_at=since, finished_at=since + 10 * MINUTE)
    end = begin + (130 + 10 * len(attempts)) * MINUTE
    for gate in gates[1:]:
        move(gate, end, end)
    Run.objects.filter(pk=run.pk).update(finished_at=end)
    return Run.objects.get(pk=run.pk)


def move(gate: Gate, since: datetime, until: datetime) -> None:
    Gate.objects.filter(pk=gate.pk).update(opened_at=since, decided_at=until)


def test_a_long_wait_is_drawn_short_and_written_in_full() -> None:
    found = timeline(day_of_work())
    (cut,) = [cut for cut in found.cuts if cut.ms]
    worked = 50  # minutes: planning and four attempts
    assert cut.ms == 2 * 3_600_000
    assert cut.width == pytest.approx(100 * (worked / CUT) / (worked + worked / CUT), abs=0.1)
    assert found.lines[0].bars[-1].ms == cut.ms, "it belongs to the planning"
    assert found.now is None


def test_each_attempt_is_a_bar_as_long_as_its_work() -> None:
    found = timeline(day_of_work())
    assert [line.name for line in found.lines] == [
        "Planning", "List the contracts and their parties", "Review the clauses", "Draft the notices", "Final answer",
    ]  # fmt: skip
    review = [bar for bar in found.lines[2].bars if bar.kind != "waiting"]
    assert [(bar.kind, bar.ms, bar.words) for bar in review] == [
        ("failed", 600_000, "attempt 1"),
        ("passed", 600_000, "attempt 2"),
    ]
    assert review[0].width == pytest.approx(review[1].width, abs=0.02)
    assert review[0].x + review[0].width == pytest.approx(review[1].x, abs=0.02)


def test_ticks_count_work_only_and_nothing_leaves_the_axis() -> None:
    found = timeline(day_of_work())
    assert [tick.ms for tick in found.ticks] == [minutes * 60_000 for minutes in (0, 10, 20, 30, 40, 50)]
    places = [tick.x for tick in found.ticks]
    assert places == sorted(places)
    assert places[2] - places[1] > places[1] - places[0] - 0.1, "the wait stands between the first and second"
    bars = [bar for line in found.lines for bar in line.bars]
    assert all(0 <= bar.x <= 100 and bar.width > 0 for bar in bars)


@pytest.mark.slow
@pytest.mark.parametrize("make", [factories.planning, factories.executing, factories.step_gate, factories.stopped])
def test_every_state_has_a_page_for_each_view(alice_client: Client, make: Callable[[], Run]) -> None:
    run = make()
    for view in ("graph", "timeline", "table", "nonsense"):
        answer = alice_client.get(f"/runs/{run.pk}/?view={view}")
        assert answer.status_code == 200
        assert "style=" not in answer.text


def test_the_switch_says_which_view_is_open(alice_client: Client) -> None:
    page = alice_client.get(f"/runs/{factories.step_gate().pk}/?view=timeline").text
    assert '<a href="?view=timeline" aria-current="true">Timeline</a>' in page
    assert 'id="run-timeline"' in page
    assert 'id="run-graph"' not in page


@pytest.mark.parametrize(("view", "queries"), [("timeline", 25), ("table", 27)])
def test_the_number_of_queries_does_not_grow_with_steps(
    alice_client: Client, django_assert_num_queries: DjangoAssertNumQueries, view: str, queries: int
) -> None:
    for count in (2, 5):
        run = factories.many_steps(count)
        with django_assert_num_queries(queries):
            alice_client.get(f"/runs/{run.pk}/?view={view}")
