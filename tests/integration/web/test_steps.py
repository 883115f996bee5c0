"""The tab of a run's steps: one row each, of which those are unfolded that there is something to say about."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from runs.enums import GateKind, StepStatus, Verb
from runs.models import Run, Step, Verdict
from runs.web.steps.step_rows import StepRow, row_of, rows_of
from tests import factories

pytestmark = pytest.mark.django_db


def page_of(client: Client, run: Run) -> str:
    answer = client.get(f"/runs/{run.pk}/steps/")
    assert answer.status_code == 200
    return answer.text


def steps_of(run: Run) -> list[Step]:
    return list(Step.objects.filter(plan=run.plans.latest("version")).order_by("position"))


def test_a_row_has_state_criteria_attempts_time_and_cost() -> None:
    run = factories.failed_attempt()
    first, second, third = rows_of(steps_of(run), ["passed", "waiting", "pending"])
    assert [(row.number, row.met, row.criteria, row.attempts) for row in (first, second, third)] == [
        (1, 2, 2, 1),
        (2, 1, 3, 2),
        (3, None, 1, 0),
    ]
    assert (first.unmet, second.unmet, third.unmet) == (False, True, False)
    assert max(first.share, second.share) == 100
    assert (third.ms, third.share, third.spent.calls) == (None, 0, 0)
    assert first.spent.cost > 0


def test_an_attempt_of_which_no_criterion_was_judged_hides_none() -> None:
    run = factories.exhausted_gate()
    step = Step.objects.get(plan__run=run, key="review")
    before = row_of(step)
    last = step.attempts.latest("number")
    Verdict.objects.filter(attempt=last).update(results=[], criteria=0, supported=0)
    after = row_of(step)
    assert (before.criteria, after.criteria, after.met is not None) == (3, 3, True)


@pytest.mark.parametrize("make", [factories.failed_attempt, factories.replanned, factories.exhausted_gate])
def test_one_row_alone_is_what_it_is_among_all(make: Callable[[], Run]) -> None:
    run = make()

    def still(row: StepRow) -> tuple[object, ...]:
        return row.step.pk, row.met, row.criteria, row.attempts, row.spent, row.reused

    assert [still(row_of(step)) for step in steps_of(run)] == [
        still(row) for row in rows_of(steps_of(run), [step.status for step in steps_of(run)])
    ]


def test_one_row_takes_as_many_queries_among_few_as_among_many(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for count in (2, 6):
        step = steps_of(factories.many_steps(count))[0]
        with django_assert_num_queries(6):
            row_of(step)


def test_a_kept_result_says_from_which_version(alice_client: Client) -> None:
    assert "reused from version 1" in page_of(alice_client, factories.replanned())


@pytest.mark.slow
def test_what_was_tried_in_earlier_versions_is_folded_and_leads_to_its_step(alice_client: Client) -> None:
    run = factories.replanned()
    failed = Step.objects.get(plan__run=run, plan__version=1, key="review")
    factories.decide(run, GateKind.PLAN, Verb.APPROVE)
    for address in (f"/runs/{run.pk}/steps/", f"/runs/{run.pk}/?view=timeline"):
        fold = alice_client.get(address).text.partition('id="earlier-steps"')[2].partition("</details>")[0]
        assert re.findall(r'<a href="([^"]*)">', fold) == [f"/runs/{run.pk}/steps/{failed.pk}/"], "not what is kept"
        assert "1 step</span>" in fold
        assert "version 1 · 1 attempt, failed<" in fold
    assert "earlier-steps" not in alice_client.get(f"/runs/{factories.finished_succeeded().pk}/steps/").text


def test_the_page_of_a_step_stands_under_the_tab_of_steps(alice_client: Client) -> None:
    step = steps_of(factories.finished_succeeded())[0]
    page = alice_client.get(f"/runs/{step.plan.run_id}/steps/{step.pk}/").text
    assert re.findall(r'<a href="(\S+)" aria-current="true"', page) == [f"/runs/{step.plan.run_id}/steps/"]


def test_what_runs_waits_or_failed_is_unfolded_and_nothing_of_the_rest_is_sent(alice_client: Client) -> None:
    run = factories.step_gate()
    page = page_of(alice_client, run)
    folds = re.findall(r'<details class="row" data-step="\d+" data-status="(\w+)"( open)?', page)
    assert folds == [("passed", ""), ("waiting", " open"), ("pending", "")]
    assert "names a problem and stops there" in page, "the critique of the step that waits"
    assert "review/inventory.md" not in page, "what the first step wrote is folded"


def test_a_fold_fetches_what_it_shows_and_leads_to_the_page_of_its_step_without_scripts(alice_client: Client) -> None:
    run = factories.step_gate()
    step = steps_of(run)[0]
    folded = f'<div class="row-body" id="step-{step.pk}-body" data-unread><p><a href="/runs/{run.pk}/steps/{step.pk}/">'
    assert folded in page_of(alice_client, run)
    body = alice_client.get(f"/runs/{run.pk}/steps/?part=step-{step.pk}-body").text
    assert body.startswith(f'<div class="row-body stack tight" id="step-{step.pk}-body">')
    assert "review/inventory.md" in body
    assert "<html" not in body


def test_a_line_is_fetched_alone_in_some_hundred_bytes(alice_client: Client) -> None:
    run = factories.step_gate()
    step = steps_of(run)[1]
    line = alice_client.get(f"/runs/{run.pk}/steps/?part=step-{step.pk}").text
    assert line.startswith(
        f'<summary class="row-line" id="step-{step.pk}" data-step="{step.pk}" data-status="waiting">'
    )
    assert line in page_of(alice_client, run)
    assert len(line.encode()) < 1_000


@pytest.mark.parametrize("part", ["step-{other}", "step-{other}-body", "step-0", "step--1", "step-1-head", "step-"])
def test_what_is_no_step_of_the_run_is_not_found(alice_client: Client, part: str) -> None:
    run, other = factories.executing(), factories.executing()
    address = f"/runs/{run.pk}/steps/?part={part.format(other=steps_of(other)[0].pk)}"
    assert alice_client.get(address).status_code == 404


def test_what_a_fold_fetches_is_not_for_everyone(charlie_client: Client) -> None:
    run = factories.step_gate()
    assert charlie_client.get(f"/runs/{run.pk}/steps/?part=step-{steps_of(run)[0].pk}-body").status_code == 404


def test_unmet_criteria_stand_first(alice_client: Client) -> None:
    page = page_of(alice_client, factories.exhausted_gate())
    marks = re.findall(r'<li data-status="([\w ]+)"><span class="mark"', page)
    assert marks == ["unsupported", "failed", "passed"]
    assert "Finding 2 has no recommendation." in page


@pytest.mark.slow
def test_two_hundred_steps_are_two_hundred_rows_of_few_bytes(alice_client: Client) -> None:
    steps = [factories.plan_step(f"s{n}", f"Step {n}") for n in range(200)]
    run = factories.executing(factories.plan(*steps), max_steps=500, parallel=1)
    Step.objects.filter(plan__run=run, position__gt=0).update(status=StepStatus.PASSED)
    page = page_of(alice_client, run)
    rows = re.findall(r'<details class="row".*?</details>', page, re.DOTALL)
    assert len(rows) == 200
    assert max(len(row.encode()) for row in rows[1:]) < 1_400
