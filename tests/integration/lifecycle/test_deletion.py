"""Deleting a run: nothing of it is left but one line, and nothing of any other run is missing."""

from __future__ import annotations

import os
import uuid
from typing import Any

import pytest
from django.apps import apps
from django.utils import timezone

from runs.accounting.costs import totals
from runs.enums import GateKind, Verb, WorkStatus
from runs.errors import DecisionRefused, InvalidInput, NotAllowed
from runs.lifecycle import deletion
from runs.models import Attempt, DeletedRun, Discarded, Rendition, Run, Template, Tree, User
from runs.store import blobs, garbage_collection, trees
from runs.submission.submit import again
from tests import factories as made
from tests.integration.lifecycle.old import contents, long_ago, on_the_disk, place, reusing

pytestmark = pytest.mark.django_db
REMAIN = {"AuditEntry", "AuditHead", "User", "Link", "DeletedRun", "Discarded", "Probe", "Template", "Rendition"}


def rows() -> dict[str, int]:
    """How many rows each table has, without those that a deletion leaves or adds."""
    models = [model for model in apps.get_app_config("runs").get_models() if model.__name__ not in REMAIN]
    return {model.__name__: model._default_manager.count() for model in models}


@pytest.mark.parametrize("make", [made.finished_succeeded, made.finished_partial, made.stopped])
@pytest.mark.services
def test_nothing_is_left_but_a_line(make: Any) -> None:
    before = rows()
    run = long_ago(make())
    had, spent, number, title = contents(run), totals(run), run.pk, run.title
    assert on_the_disk(had) == had
    line = deletion.delete(run.pk, run.owner)
    assert deletion.delete_discarded() == Discarded.objects.count() + len(had)
    assert (rows(), on_the_disk(had), Discarded.objects.count()) == (before, set(), 0)
    assert (line.number, line.title, line.outcome, line.owner) == (number, title, run.outcome, run.owner)
    assert (line.calls, line.cost_usd, line.deleted_by) == (spent.calls, spent.cost, run.owner)
    assert list(DeletedRun.objects.all()) == [line]


@pytest.mark.services
def test_a_run_with_several_versions_of_its_plan_that_keep_results_goes_too() -> None:
    run = made.replanned()
    made.decide(run, GateKind.PLAN, Verb.STOP)
    assert Run.objects.get(pk=run.pk).plans.count() == 2
    deletion.delete(long_ago(run).pk, run.owner)
    assert rows()["Attempt"] == 0


@pytest.mark.slow
@pytest.mark.services
def test_what_another_run_has_as_well_stays_whole() -> None:
    run, other = long_ago(made.finished_succeeded()), made.finished_partial()
    shared = contents(run) & contents(other)
    assert len(shared) > 3
    for sha256 in shared:
        os.utime(place(sha256), (0, 0))
    deletion.delete(run.pk, run.owner)
    deletion.delete_discarded()
    other = Run.objects.get(pk=other.pk)
    assert on_the_disk(contents(other)) == contents(other)
    assert [blobs.read(info.sha256) for info in trees.files_of(other.head).values()]
    assert Tree.objects.filter(pk__in=[other.inputs_id, other.head_id]).count() == 2


def test_a_run_whose_result_another_one_took_over_stays_and_the_refusal_names_it() -> None:
    run = long_ago(made.finished_succeeded())
    other = reusing(run)
    before = rows()
    with pytest.raises(DecisionRefused, match=f"run {other.pk} would lose its evidence"):
        deletion.delete(run.pk, run.owner)
    assert (rows(), DeletedRun.objects.count()) == (before, 0)


@pytest.mark.slow
def test_a_refusal_names_three_and_counts_the_others() -> None:
    run = long_ago(made.finished_succeeded())
    numbers = [reusing(run).pk for _ in range(5)]
    first = ", ".join(f"run {number}" for number in numbers[:3])
    assert f"{first} and 2 more would lose" in deletion.problem_with(run)


def test_a_run_that_took_over_a_result_can_be_deleted_and_the_other_stays() -> None:
    run = long_ago(made.finished_succeeded())
    other = reusing(run)
    other.work.update(status=WorkStatus.CANCELLED, lease_until=None)
    finished = long_ago(made.stopped())
    Attempt.objects.of_run(finished).update(reused_from=Attempt.objects.of_run(run).passed().last())
    deletion.delete(finished.pk, finished.owner)
    assert Run.objects.filter(pk=run.pk).exists()


def test_a_run_that_is_not_finished_is_stopped_first() -> None:
    run = made.executing()
    with pytest.raises(DecisionRefused, match="Stop it first"):
        deletion.delete(run.pk, run.owner)
    assert Run.objects.filter(pk=run.pk).exists()


def test_a_run_that_was_stopped_just_now_waits_for_its_workers() -> None:
    run = made.stopped()
    assert "Try again in half a minute" in deletion.problem_with(run)
    assert deletion.problem_with(long_ago(run)) == ""


def test_a_run_that_came_to_its_own_end_just_now_waits_for_nobody() -> None:
    assert deletion.problem_with(made.finished_succeeded()) == ""


def test_who_may_only_decide_may_not_delete() -> None:
    run = long_ago(made.finished_succeeded())
    with pytest.raises(NotAllowed):
        deletion.delete(run.pk, made.bob())
    assert Run.objects.filter(pk=run.pk).exists()


def test_an_administrator_deletes_for_an_owner_who_has_left() -> None:
    run, root = long_ago(made.finished_succeeded()), made.person("root", is_superuser=True)
    line = deletion.delete(run.pk, root)
    assert (line.owner.username, line.deleted_by) == ("alice", root)


@pytest.mark.services
def test_the_number_of_a_deleted_run_is_given_to_no_other() -> None:
    run = long_ago(made.finished_succeeded())
    number = run.pk
    deletion.delete(number, run.owner)
    assert made.planning().pk > number


def test_a_template_of_a_deleted_run_stays(alice: User) -> None:
    run = long_ago(made.finished_succeeded())
    template = Template.objects.create(owner=alice, name="Mine", plan=made.plan(), digest="d", from_run=run)
    deletion.delete(run.pk, run.owner)
    template.refresh_from_db()
    assert template.from_run is None


# ---- files, and others who store the same at that moment -----------------------------------------------------------


def test_files_that_were_stored_lately_are_looked_at_again_later() -> None:
    run = made.finished_succeeded()
    had = contents(run)
    deletion.delete(run.pk, run.owner)
    assert deletion.delete_discarded() == len(had)
    assert on_the_disk(had) == had
    assert deletion.delete_discarded() == 0, "not before they are older"
    for sha256 in had:
        os.utime(place(sha256), (0, 0))
    Discarded.objects.update(due_at=timezone.now())
    assert deletion.delete_discarded() == len(had)
    assert (on_the_disk(had), Discarded.objects.count()) == (set(), 0)


@pytest.mark.services
def test_files_that_somebody_submits_again_between_deletion_and_sweep_stay() -> None:
    run = long_ago(made.finished_succeeded())
    deletion.delete(run.pk, run.owner)
    new = made.planning()
    for sha256 in contents(new):
        os.utime(place(sha256), (0, 0))  # as if the sweep came much later
    deletion.delete_discarded()
    assert on_the_disk(contents(new)) == contents(new)
    assert Discarded.objects.count() == 0


def test_files_that_are_about_to_be_submitted_stay_until_that_is_decided() -> None:
    """The race: the bytes are found in the store, and the row that will name them is not there yet."""
    run = long_ago(made.finished_succeeded())
    given = dict(trees.files_of(run.inputs))
    content = blobs.read(next(iter(given.values())).sha256)
    deletion.delete(run.pk, run.owner)
    info = blobs.put(content)
    deletion.delete_discarded()
    assert on_the_disk({info.sha256}) == {info.sha256}
    assert list(Discarded.objects.values_list("sha256", flat=True)) == [info.sha256]


@pytest.mark.django_db(transaction=True)
@pytest.mark.services
def test_running_a_run_again_that_is_deleted_at_that_moment_makes_no_run_without_files() -> None:
    """`again` has read the run, and its tree goes before the new run is written: the database refuses one of them."""
    run = long_ago(made.finished_succeeded())
    stale = Run.objects.select_related("owner", "inputs", "head").get(pk=run.pk)
    deletion.delete(run.pk, run.owner)
    with pytest.raises(InvalidInput):
        again(stale, made.alice(), uuid.uuid4())
    assert (Run.objects.count(), Tree.objects.count()) == (0, 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.services
def test_a_result_that_is_taken_over_at_the_moment_of_the_deletion_keeps_its_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, other = long_ago(made.finished_succeeded()), made.executing()
    earlier = Attempt.objects.of_run(run).passed().first()

    def late(_: Run) -> str:
        Attempt.objects.of_run(other).update(reused_from=earlier)  # after the look, as another process might
        return ""

    monkeypatch.setattr(deletion, "problem_with", late)
    with pytest.raises(DecisionRefused, match="just used something of this run"):
        deletion.delete(run.pk, run.owner)
    assert Run.objects.filter(pk=run.pk).exists()


def test_what_contents_read_as_goes_with_them() -> None:
    run = long_ago(made.finished_succeeded())
    source = next(iter(contents(run)))
    Rendition.objects.create(source=source, reader="text 1", problem="is no text")
    deletion.delete(run.pk, run.owner)
    deletion.delete_discarded()
    assert Rendition.objects.count() == 0


@pytest.mark.services
def test_a_crash_between_deletion_and_sweep_loses_no_file_from_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    run = long_ago(made.finished_succeeded())
    had = contents(run)
    deletion.delete(run.pk, run.owner)

    def crash(_: object) -> set[str]:
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(garbage_collection, "delete", crash)
        with pytest.raises(KeyboardInterrupt):
            deletion.delete_discarded()
    assert Discarded.objects.count() == len(had)
    deletion.delete_discarded()
    assert on_the_disk(had) == set()
