"""Retention: what was kept for long enough goes, whoever it belongs to, and nothing that something kept rests on."""

from __future__ import annotations

import uuid
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from runs.engine.sweeper import Sweeper
from runs.lifecycle import deletion
from runs.models import Attempt, DeletedRun, Run
from runs.submission import submission_drafts
from tests import factories as made
from tests.integration.lifecycle.old import contents, long_ago, on_the_disk, reusing

pytestmark = pytest.mark.django_db


@pytest.fixture
def kept_for_30_days(settings: Any) -> None:
    settings.KEEP_DAYS = 30


def numbers() -> set[int]:
    return set(Run.objects.values_list("pk", flat=True))


def command(*options: str) -> list[str]:
    told = StringIO()
    call_command("retention", *options, stdout=told)
    return told.getvalue().splitlines()


@pytest.mark.slow
@pytest.mark.usefixtures("kept_for_30_days")
def test_the_sweeper_deletes_what_was_kept_for_long_enough() -> None:
    old, archived, young = (long_ago(made.finished_succeeded(), days) for days in (31, 40, 29))
    Run.objects.filter(pk=archived.pk).update(archived_at=timezone.now())
    going = made.executing()
    Run.objects.filter(pk=going.pk).update(created_at=timezone.now() - timedelta(days=400))
    Sweeper(lambda _: None).poll()
    assert numbers() == {young.pk, going.pk}
    lines = DeletedRun.objects.order_by("number")
    assert [(line.number, line.deleted_by) for line in lines] == [(old.pk, None), (archived.pk, None)]


def test_without_the_setting_nothing_is_deleted_by_itself() -> None:
    run = long_ago(made.finished_succeeded(), 10_000)
    assert not deletion.delete_expired()
    assert numbers() == {run.pk}
    assert deletion.kept_until(run) is None


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.usefixtures("kept_for_30_days")
def test_one_sweep_deletes_some_and_says_whether_there_are_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "RUNS_AT_ONCE", 2)
    for _ in range(3):
        long_ago(made.finished_succeeded(), 31)
    assert deletion.delete_expired()
    assert len(numbers()) == 1
    assert not deletion.delete_expired()
    assert numbers() == set()


@pytest.mark.slow
def test_a_run_stays_for_as_long_as_one_that_stays_rests_on_it() -> None:
    source, other = long_ago(made.finished_succeeded(), 31), made.finished_partial()
    earlier = Attempt.objects.of_run(source).passed().first()
    Attempt.objects.filter(pk__in=Attempt.objects.of_run(other).values("pk")[:1]).update(reused_from=earlier)
    before = timezone.now() - timedelta(days=30)
    assert deletion.expired(before) == ([], [source.pk])
    assert f"1 run ({source.pk})" in command("--days", "30")[-1]
    assert numbers() == {source.pk, other.pk}
    long_ago(other, 31)
    assert deletion.expired(before) == ([other.pk, source.pk], []), "who rests on the other goes first"
    deletion.delete_runs([other.pk, source.pk])
    assert numbers() == set()


@pytest.mark.slow
def test_who_begins_to_rest_on_a_run_at_the_last_moment_keeps_it() -> None:
    source, other = long_ago(made.finished_succeeded(), 31), long_ago(made.finished_partial(), 31)
    going, _ = deletion.expired(timezone.now() - timedelta(days=30))
    reusing(source)
    assert deletion.delete_runs(going) == [other.pk]
    assert source.pk in numbers()


@pytest.mark.slow
def test_a_dry_run_says_what_the_other_does_and_changes_nothing() -> None:
    run, same_files = long_ago(made.finished_succeeded(), 31), made.finished_partial()
    only = contents(run) - contents(same_files)
    assert only
    assert contents(run) & contents(same_files)
    would, files = command("--days", "30", "--dry-run")
    assert would.startswith(f"Would delete 1 run ({run.pk}) that finished before ")
    assert numbers() == {run.pk, same_files.pk}
    had = on_the_disk(contents(run))
    did, freed = command("--days", "30")
    assert did.startswith(f"Deleted 1 run ({run.pk}) ")
    assert freed.split(" that ")[0] == files.split(" that ")[0]
    assert deletion.delete_discarded()
    gone = had - on_the_disk(had)
    assert gone == only
    assert (len(gone), files.partition(" (")[0]) == (1, "1 file")


def test_files_of_drafts_are_not_counted_as_freed() -> None:
    run = long_ago(made.finished_succeeded(), 31)
    files, size = deletion.freed([run.pk])
    submission_drafts.begin_with(run.owner, uuid.uuid4(), run)
    fewer, smaller = deletion.freed([run.pk])
    assert (fewer, smaller) == (files - len(run.inputs.changes), size - run.inputs.total_size)


@pytest.mark.parametrize("days", ["0", "-1", "100000"])
def test_days_that_make_no_sense_are_one_sentence(days: str) -> None:
    run = long_ago(made.finished_succeeded(), 31)
    with pytest.raises(CommandError, match="from 1 to 36,500"):
        command(f"--days={days}")
    assert numbers() == {run.pk}


def test_without_a_setting_the_command_asks_for_how_long() -> None:
    with pytest.raises(CommandError, match="--days, or PEV_KEEP_DAYS"):
        command()


@pytest.mark.usefixtures("kept_for_30_days")
def test_the_page_of_a_finished_run_says_until_when_it_is_kept(client: Any) -> None:
    run = made.finished_succeeded()
    client.force_login(run.owner)
    day = (timezone.localtime(run.finished_at) + timedelta(days=30)).strftime("%-d %B %Y")
    assert f"kept until {day}" in client.get(f"/runs/{run.pk}/").text
