"""The pages of evaluations, and a finished run as a task of a suite."""

from __future__ import annotations

import io
import zipfile
from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from django.test import Client
from pytest_django import Settings

from runs.enums import AuditKind, Outcome
from runs.evaluation.results import FOLDER
from runs.evaluation.running import delivered_by
from runs.evaluation.suite import load_suite, read_task
from runs.evaluation.task_of_run import folder_name, policy_texts
from runs.models import AuditEntry, Run, User
from runs.pev.imports.imported import plan_in
from runs.submission.policy_presets import default_policy, preset_policy, with_texts
from tests import factories as made
from tests.factories import drain
from tests.factories.evaluations import FIGURE, FILE, OUTCOME, stored_evaluation
from tests.fakes.team import Team

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]


@pytest.fixture
def administrator(settings: Settings, tmp_path: Path) -> Client:
    """On an installation without evaluations."""
    settings.DATA_DIR = tmp_path
    client = Client()
    client.force_login(made.person("root", is_superuser=True))
    return client


def test_the_table_shows_what_changed_and_links_to_both_runs(administrator: Client) -> None:
    now, before = made.finished_succeeded(), made.finished_partial()
    number = stored_evaluation(now.submission, before.submission)
    page = administrator.get(f"/evaluations/{number}/").text
    assert '<a href="/runs/' + f'{now.pk}/">Run {now.pk}</a>' in page
    assert '<a href="/runs/' + f'{before.pk}/">Run {before.pk}</a>' in page
    assert "A run in another installation" in page
    assert "1 of 3 (6–79 %)" in page
    assert "3 of 3 (44–100 %)" in page
    assert "lower than the baseline, which may be chance" in page
    assert "The prompts have changed since the baseline (4f1c2a90b7de3355 before, 91bb07c2d4e6a001 now)." in page
    assert "Left out: it needs a model." in page


def test_what_is_worse_comes_first(administrator: Client) -> None:
    page = administrator.get(f"/evaluations/{stored_evaluation()}/").text
    assert page.index(FIGURE) < page.index(OUTCOME) < page.index(FILE)


def test_the_list_has_the_newest_first(administrator: Client) -> None:
    assert "No evaluations here" in administrator.get("/evaluations/").text
    first, second = stored_evaluation(), stored_evaluation()
    page = administrator.get("/evaluations/").text
    assert page.index(f'href="/evaluations/{second}/"') < page.index(f'href="/evaluations/{first}/"')
    assert "1 lower than the baseline, which may be chance" in page


def test_a_file_that_is_no_evaluation_is_not_shown(administrator: Client, settings: Settings) -> None:
    number = stored_evaluation()
    (settings.DATA_DIR / FOLDER / f"{number}.json").write_text("{}")
    (settings.DATA_DIR / FOLDER / "notes.json").write_text("{}")
    assert administrator.get(f"/evaluations/{number}/").status_code == 404
    assert administrator.get("/evaluations/").status_code == 200


@pytest.fixture
def finished(team: Team, alice: User) -> Run:
    """Its policy differs from that of the installation."""
    files = {"notes.md": b"Some notes.\n", "keys/id_rsa": b"x"}
    run = made.submit_as(alice, "Do the work for Müller & Söhne", files, attempts=2, plan_approval="never")
    drain(run)
    return run


def downloaded(client: Client, run: Run, **fields: str) -> zipfile.ZipFile:
    answer = client.post(f"/runs/{run.pk}/evaluation-task/", fields)
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/zip"
    return zipfile.ZipFile(io.BytesIO(b"".join(answer)))


def test_a_person_sees_what_the_task_contains_before_it_is_saved(finished: Run, client: Client) -> None:
    client.force_login(finished.owner)
    page = client.get(f"/runs/{finished.pk}/evaluation-task/").text
    assert "Do the work for Müller &amp; Söhne" in page
    assert "Take out names of people and clients that the task does not need." in page
    assert f'<a href="/runs/{finished.pk}/files/notes.md">notes.md</a>' in page
    assert "<strong>May hold secrets.</strong> keys/id_rsa." in page
    assert "outcome: succeeded" in page
    assert f'href="/runs/{finished.pk}/evaluation-task/"' in client.get(f"/runs/{finished.pk}/").text


def test_the_saved_task_can_be_evaluated_and_the_run_itself_has_what_is_expected(
    finished: Run, client: Client, tmp_path: Path
) -> None:
    client.force_login(finished.owner)
    downloaded(client, finished, name="The notes", request="Do the work for a client").extractall(tmp_path / "suite")
    (task,) = load_suite(tmp_path / "suite").tasks
    assert task.name == "the-notes"
    assert list(task.files) == ["keys/id_rsa", "notes.md"]
    assert task.task.request == "Do the work for a client"
    assert task.task.policy["plan_approval"] == "never"
    assert task.task.policy["attempts"] == "2"
    assert task.task.expect.outcome == (Outcome.SUCCEEDED,)
    assert [one for one in task.task.expect.judge(delivered_by(finished)) if not one.held] == []
    line = AuditEntry.objects.filter(kind=AuditKind.FILE_DOWNLOADED).latest("number")
    assert (line.subject, line.run_number) == ("evaluation task the-notes", finished.pk)


def test_the_approved_plan_belongs_to_the_task_if_a_person_wants_that(finished: Run, client: Client) -> None:
    client.force_login(finished.owner)
    without = downloaded(client, finished, name="notes", request="Do it")
    assert "notes/plan.json" not in without.namelist()
    archive = downloaded(client, finished, name="notes", request="Do it", with_plan="on")
    assert read_task(archive.read("notes/task.yaml")).plan == "plan.json"
    assert len(plan_in(archive.read("notes/plan.json")).steps) == 2


def test_a_run_that_is_not_finished_is_no_task(client: Client) -> None:
    run = made.awaiting_plan()
    client.force_login(run.owner)
    assert (
        "Only a finished run can be saved as an evaluation task." in client.get(f"/runs/{run.pk}/evaluation-task/").text
    )
    assert client.post(f"/runs/{run.pk}/evaluation-task/", {"name": "x", "request": "x"}).status_code == 422


def test_the_description_does_not_repeat_names(finished: Run, client: Client) -> None:
    """The title of a run comes from its request."""
    client.force_login(finished.owner)
    text = downloaded(client, finished, name="notes", request="Do it").read("notes/task.yaml")
    assert "Müller" not in text.decode()
    assert yaml.safe_load(text)["description"] == f"From run {finished.pk}."


@pytest.mark.parametrize("preset", ["careful", "hands-off"])
def test_the_policy_is_that_of_the_run(preset: str) -> None:
    """As it is typed, so that `evaluate` reads the same values back."""
    policy = preset_policy(preset).changed(budget=Decimal("2.50"), web="example.org", sources_needed=False)
    texts = policy_texts(policy)
    assert {"budget": "2.50", "web": "example.org", "sources_needed": "off"}.items() <= texts.items()
    assert with_texts(default_policy(), texts, str) == policy


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The notes", "the-notes"),
        ("../../etc", "etc"),
        ("Müller & Söhne", "m-ller-s-hne"),
        ("…", "task"),
        ("a" * 90, "a" * 60),
    ],
)
def test_a_folder_has_a_name_that_every_system_can_have(text: str, name: str) -> None:
    assert folder_name(text) == name
