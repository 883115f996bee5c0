"""The samples that ship: each is a task that a model can begin on, and without one is refused with what it needs."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client

from runs.enums import GateKind
from runs.errors import InvalidInput
from runs.models import Run, User
from runs.submission.samples import SAMPLES, more_samples, named, submission_of, uploads_of
from runs.submission.submit import submit
from tests.factories import drain, open_gate
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team

pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(["127.0.0.1"])]
MORE = [name for name, _ in more_samples()]
NEEDS_A_MODEL = r"^This plan needs a model( that looks .* web_search)?; .* ask your administrator to connect one"


def test_each_has_a_template_and_its_files_lie_below_one_name() -> None:
    assert list(SAMPLES) == ["contracts", *MORE]
    assert {one.template for _, one in more_samples()} == {
        "legal-review",
        "idea-workflow",
        "project-analysis",
        "file-comparison",
        "look-up",
    }
    for sample in SAMPLES.values():
        paths = [upload.path for upload in uploads_of(sample)]
        assert all(path.startswith(f"{sample.folder}/") for path in paths)
        assert bool(paths) == bool(sample.folder)
    assert "project/flows/weekly.json" in [upload.path for upload in uploads_of(named("project"))]


@pytest.mark.parametrize("name", MORE)
def test_a_model_can_begin_on_it(api: FakeAnthropic, alice: User, settings: Any, name: str) -> None:
    settings.WEB = "*"
    api.script(Team())
    run = submit(alice, submission_of(alice, name, uuid.uuid4()))
    drain(run)
    assert open_gate(run).kind == GateKind.PLAN
    assert run.inputs.file_count == len(uploads_of(named(name)))
    assert run.policy.sources_needed == (name != "ideas")


@pytest.mark.usefixtures("no_model")
@pytest.mark.parametrize("name", MORE)
def test_without_a_model_it_is_refused_with_what_it_needs(alice: User, name: str) -> None:
    with pytest.raises(InvalidInput, match=NEEDS_A_MODEL):
        submit(alice, submission_of(alice, name, uuid.uuid4()))
    assert not Run.objects.exists()


@pytest.mark.parametrize("name", ["", "..", "../../lifecycle", "nothing"])
def test_an_unknown_one_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(InvalidInput, match="contracts, legal-review, ideas"):
        named(name)


def test_the_page_offers_them_where_a_model_answers(api: FakeAnthropic, alice: User, client: Client) -> None:
    client.force_login(alice)
    page = client.get("/runs/new/").text
    assert [name for name in MORE if f'formaction="/runs/sample/{name}/"' in page] == MORE
    api.script(Team())
    token = str(uuid.uuid4())
    answers = [client.post("/runs/sample/three-files/", {"token": token}) for _ in range(2)]
    assert [answer["Location"] for answer in answers] == [f"/runs/{Run.objects.get().pk}/"] * 2


def test_one_that_cannot_be_run_says_so_on_the_page(
    api: FakeAnthropic, alice: User, client: Client, settings: Any
) -> None:
    settings.WEB = ""
    client.force_login(alice)
    answer = client.post("/runs/sample/density/", {"token": str(uuid.uuid4())}, follow=True)
    assert "fetch_page" in answer.text
    assert not Run.objects.exists()


@pytest.mark.usefixtures("no_model")
def test_the_page_offers_none_where_none_can_be_run(alice: User, client: Client) -> None:
    client.force_login(alice)
    assert "More samples" not in client.get("/runs/new/").text
