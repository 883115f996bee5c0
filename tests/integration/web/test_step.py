"""The page of a step: attempts side by side, with the difference of their files."""

import re

import pytest
from django.test import Client

from runs.models import Run, Step
from tests import factories
from tests.factories.long import long_run

pytestmark = pytest.mark.django_db


def page_of(client: Client, run: Run, step: Step) -> str:
    answer = client.get(f"/runs/{run.pk}/steps/{step.pk}/")
    assert answer.status_code == 200
    return answer.text


def step_of(run: Run, key: str, version: int = 1) -> Step:
    return Step.objects.get(plan__run=run, plan__version=version, key=key)


def test_attempts_stand_side_by_side_with_the_difference(alice_client: Client) -> None:
    run = factories.step_gate()
    page = page_of(alice_client, run, step_of(run, "review"))
    assert 'id="attempt-1"' in page
    assert 'id="attempt-2"' in page
    assert "Files against attempt 1" in page
    assert '<span class="added">3. Lease: the commencement date is empty.</span>' in page
    assert "Not written this time." in page


def test_an_attempt_that_says_the_same_again_is_folded(alice_client: Client) -> None:
    run = factories.exhausted_gate()
    step = step_of(run, "review")
    page = page_of(alice_client, run, step)
    assert "Same result as" not in page
    said = step.attempts.get(number=1).output
    step.attempts.update(output=said)
    assert (
        page_of(alice_client, run, step).count("<summary>Same result as attempt 1</summary>")
        == step.attempts.count() - 1
    )


def test_a_kept_step_shows_the_attempt_that_it_keeps(alice_client: Client) -> None:
    run = factories.replanned()
    page = page_of(alice_client, run, step_of(run, "inventory", version=2))
    assert "result reused from version 1" in page
    assert "Three contracts, six parties" in page


def test_a_step_of_an_earlier_version_says_so(alice_client: Client) -> None:
    run = factories.replanned()
    page = page_of(alice_client, run, step_of(run, "review"))
    assert "which was replaced" in page
    assert "Two findings in the service agreement." in page


def test_a_step_that_has_not_started(alice_client: Client) -> None:
    run = factories.executing()
    assert "Not started" in page_of(alice_client, run, step_of(run, "notices"))


def test_a_step_of_another_run_is_not_found(alice_client: Client) -> None:
    mine, other = factories.executing(), factories.executing()
    assert alice_client.get(f"/runs/{mine.pk}/steps/{step_of(other, 'review').pk}/").status_code == 404


def test_the_last_two_attempts_are_a_pair_below_the_earlier_ones_and_show_what_failed_first(
    alice_client: Client,
) -> None:
    run = long_run(1, 4)
    step = run.plans.get().steps.order_by("position").first()
    assert step is not None
    page = alice_client.get(f"/runs/{run.pk}/steps/{step.pk}/").text
    columns = page.split('<li class="card attempt-column"')[1:]
    assert ["data-earlier" in one.partition(">")[0] for one in columns] == [True, True, False, False]
    assert ['<details class="fold">' in one.split("<article")[0] for one in columns] == [True, True, False, False]
    exhausted = factories.exhausted_gate()
    review = exhausted.plans.get().steps.get(key="review")
    page = alice_client.get(f"/runs/{exhausted.pk}/steps/{review.pk}/").text
    judged = re.findall(r'<li class="judgement" data-status="(\w+)"', page.split('<li class="card attempt-column"')[2])
    assert judged == ["unsupported", "failed", "passed"]
