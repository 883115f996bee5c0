"""Rows as values: deviations, differences, sentences of the history, counts."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from runs.enums import Action, EventKind, WorkKind
from runs.models import Event, Run
from runs.web.presenters.feed import line
from runs.web.presenters.page import RunPage, run_page
from tests import factories

pytestmark = pytest.mark.django_db


def present(run: Run) -> RunPage:
    return run_page(Run.objects.select_related("owner", "inputs", "head").get(pk=run.pk))


def test_levels_and_what_comes_after_what() -> None:
    page = present(factories.awaiting_plan())
    assert page.plan is not None
    assert [[step.row.key for step in level] for level in page.plan.levels] == [["inventory"], ["review"], ["notices"]]
    assert page.steps[1].after == ["List the contracts and their parties"]


def test_what_differs_from_the_plan() -> None:
    first, second = present(factories.step_gate()).steps[1].attempts
    assert first.deviations == (
        "review/scratch.txt was written, which no step declared.",
        "The plan named the tool search_files; it was not used.",
    )
    assert second.deviations == ()


def test_an_output_that_is_missing_is_a_deviation() -> None:
    run = factories.executing()
    with factories.working(run, WorkKind.ATTEMPT, "inventory") as mine:
        assert mine.attempt is not None
        factories.facts.executed(mine.attempt, factories.output("Nothing."), {})
        factories.facts.judged(mine.attempt, factories.failed("Nothing was written."))
    assert "Expected output review/inventory.md is missing." in present(run).steps[0].attempts[0].deviations


def test_a_retry_names_the_critique_that_it_was_given() -> None:
    first, second = present(factories.failed_attempt()).steps[1].attempts
    assert (first.heeds, first.retry, second.heeds, second.retry) == (0, 2, 1, 0)


def test_the_difference_between_versions() -> None:
    plan = present(factories.awaiting_second_plan()).plan
    assert plan is not None
    assert plan.difference is not None
    assert plan.difference.added == ("List the deadlines",)
    assert plan.difference.removed == ("Draft the notices",)
    assert [(step.name, [change.part for change in step.changes]) for step in plan.difference.changed] == [
        ("Review the clauses", ["description"])
    ]


def test_kept_results_are_counted_and_shown() -> None:
    page = present(factories.replanned())
    assert page.plan is not None
    assert (page.plan.kept, page.plan.new) == (1, 1)
    assert [step.kept_from for step in page.steps] == [1, 0]
    assert [step.estimate is None for step in page.plan.steps] == [True, False], "what is kept costs nothing"
    assert [plan.row.version for plan in page.earlier] == [1]


def test_the_sums_of_attempts_and_the_rest_are_the_total() -> None:
    page = present(factories.finished_succeeded())
    steps = sum(step.spent.cost for step in page.steps)
    assert 0 < steps < page.totals.cost


def test_gaps_are_there_exactly_when_something_is_missing() -> None:
    assert present(factories.finished_succeeded()).gaps == []
    assert len(present(factories.finished_partial()).gaps) == 2


def test_presenting_takes_as_many_queries_for_four_steps_as_for_two() -> None:
    counts = []
    for count in (2, 4):
        run = factories.many_steps(count)
        with CaptureQueriesContext(
            connection,
        ) as captured:
            present(run)
        counts.append(len(captured))
    assert counts[0] == counts[1]


def replanned_with(kept: int) -> Run:
    """A second version that keeps this many results."""
    run = factories.many_steps(kept + 1)
    with factories.working(run, WorkKind.ATTEMPT, f"s{kept + 1}") as mine:
        assert mine.attempt is not None
        factories.facts.executed(mine.attempt, factories.output("Not possible."), {})
        factories.facts.judged(mine.attempt, factories.failed("Not possible.", action=Action.REPLAN))
    specs = [step.spec for step in run.plans.get().steps.order_by("position")]
    factories.propose(run, factories.plan(*specs[:-1], factories.plan_step("other", "Another way")), "step failed")
    return run


def test_kept_results_cost_no_queries_of_their_own() -> None:
    counts = []
    for kept in (1, 3):
        run = replanned_with(kept)
        with CaptureQueriesContext(connection) as captured:
            page = present(run)
        assert page.plan is not None
        assert page.plan.kept == kept
        counts.append(len(captured))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("kind", list(EventKind))
@pytest.mark.parametrize(
    "data", [{}, {"step": "gone", "attempt": 1, "feedback": None, "kind": "?", "ms": None, "new": 1}]
)
def test_every_event_has_a_sentence_whatever_its_data(kind: EventKind, data: dict[str, object]) -> None:
    event = Event(seq=1, kind=kind.value, at=timezone.now(), data=data)
    assert line(event, {}).sentence.strip() or kind is EventKind.NOTE
