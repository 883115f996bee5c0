"""The sample that can be looked at: a real run by the offline rules, which asks nobody."""

import html
import re

import pytest
from django.test import Client
from pytest_django import Settings

from runs.enums import Outcome
from runs.models import Attempt, Run, User
from runs.readmodel.run_view import reading_of
from runs.submission.samples import FINISHED_TITLE, finished_sample, is_finished_sample
from tests import factories


@pytest.fixture(scope="module")
def shared(rows_of_module: None) -> Run:
    """The sample of a person of its own, made while a model is connected, for tests that only look at it."""
    run = finished_sample(factories.person("dora"))
    factories.drain(run)
    return run


@pytest.fixture
def finished(shared: Run, db: None) -> Run:
    return Run.objects.get(pk=shared.pk)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_it_comes_to_its_end_without_a_question(finished: Run) -> None:
    came_to_its_end(finished)


@pytest.mark.slow
def test_it_comes_to_its_end_without_a_model(alice: User, no_model: None) -> None:
    run = finished_sample(alice)
    factories.drain(run)
    came_to_its_end(run)


def came_to_its_end(run: Run) -> None:
    assert (run.outcome, run.title, run.gates.count()) == (Outcome.SUCCEEDED, FINISHED_TITLE, 0)
    assert all(name.startswith("offline-") for name in run.model_calls.values_list("model", flat=True))
    statuses = Attempt.objects.of_run(run).values_list("status", flat=True)
    assert "failed" in statuses, "so that there is a critique and a retry to look at"


@pytest.mark.slow
def test_it_cites_everything_that_it_says_of_the_contracts(finished: Run) -> None:
    found = reading_of(finished).citations
    assert [one.text for document in found.documents for one in document.uncited] == []
    assert (len(found.all), len(found.broken)) == (46, 0)


@pytest.mark.slow
def test_its_page_counts_what_was_met_in_its_steps_too_and_says_that_no_ai_was_involved(
    client: Client, finished: Run
) -> None:
    client.force_login(finished.owner)
    page = client.get(f"/runs/{finished.pk}/").text
    head = page.split('<article class="outcome"')[1]
    assert "<strong>5 of 5 success criteria</strong> met, 15 of 15 criteria of its steps · 46 citations" in head
    assert (
        'reviewed/contracts/Service agreement.docx</a> <span class="faint">40 paragraphs, 7 comments ·</span>' in head
    )
    assert head.index("<h2>Succeeded</h2>") < head.index(">No AI</span>") < head.index('class="toolbar"')


def test_it_is_made_once_for_each_person_and_again_after_it_was_deleted(alice: User, bob: User) -> None:
    run = finished_sample(alice)
    assert finished_sample(alice) == run
    assert finished_sample(bob) != run
    assert (is_finished_sample(run), is_finished_sample(factories.awaiting_plan())) == (True, False)


def test_a_person_without_runs_finds_it(client: Client, charlie: User) -> None:
    client.force_login(charlie)
    assert "See a finished sample" in client.get("/").text
    answer = client.post("/runs/sample/finished/")
    run = Run.objects.get(owner__username="charlie")
    assert (answer.status_code, answer["Location"]) == (302, f"/runs/{run.pk}/")
    assert ">Sample</span>" in client.get(f"/runs/{run.pk}/").text
    assert "See a finished sample" not in client.get("/").text


def test_what_is_in_the_way_is_said(alice: User, client: Client, settings: Settings) -> None:
    settings.MIN_FREE_BYTES = 10**18
    client.force_login(alice)
    assert client.post("/runs/sample/finished/").status_code == 302
    assert "Nothing was stored" in client.get("/").text


@pytest.mark.slow
@pytest.mark.exhaustive
def test_every_file_that_its_page_and_its_report_name_can_be_opened(client: Client, finished: Run) -> None:
    client.force_login(finished.owner)
    pages = [client.get(f"/runs/{finished.pk}/{name}").text for name in ("", "report/")]
    links = {
        html.unescape(link).partition("#")[0]
        for page in pages
        for link in re.findall(r'href="(/runs/[^"]*/files/[^"]+)"', page)
    }
    assert len(links) > 30
    assert {link: client.get(link).status_code for link in links if client.get(link).status_code != 200} == {}
