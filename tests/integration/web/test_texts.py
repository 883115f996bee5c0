"""The pages of texts that evidence names and that are no files."""

import pytest
from django.test import Client

from runs.models import Attempt, Run
from tests import factories

pytestmark = pytest.mark.django_db


def attempt_of(run: Run, key: str, number: int = 1) -> Attempt:
    return Attempt.objects.get(step__plan__run=run, step__plan__version=1, step__key=key, number=number)


def test_evidence_from_a_tool_leads_to_its_words_in_the_whole_result(alice_client: Client) -> None:
    run = factories.executing()
    factories.pass_inventory(run)
    attempt = attempt_of(run, "inventory")
    quoted = next(proof for one in attempt.verdict.results for proof in one.evidence if proof.source == "@tool-2")
    address = f"/runs/{run.pk}/texts/attempt-{attempt.pk}-tool-2/?start={quoted.start}&end={quoted.end}"
    step_page = alice_client.get(f"/runs/{run.pk}/steps/{attempt.step_id}/").text
    assert f'<a href="{address.replace("&", "&amp;")}#hit" data-source>result of tool call 2' in step_page
    text = alice_client.get(address).text
    assert '<mark id="hit">made on 14 March 2026</mark>' in text
    assert "<h1>Result of tool call 2, read_file</h1>" in text
    assert f'<a href="/runs/{run.pk}/steps/{attempt.step_id}/#attempt-1">' in text


@pytest.mark.slow
def test_findings_what_a_person_asked_for_and_the_answer_are_texts(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    attempt = attempt_of(run, "notices")
    assert (
        "One notice, to Kestrel Systems." in alice_client.get(f"/runs/{run.pk}/texts/attempt-{attempt.pk}-output/").text
    )
    assert "leave **three points** open" in alice_client.get(f"/runs/{run.pk}/texts/answer/").text
    asked = factories.awaiting_second_plan()
    assert "leave the notices to me" in alice_client.get(f"/runs/{asked.pk}/texts/request-1/").text


def test_a_result_taken_over_shows_the_tools_of_the_run_that_made_it(alice_client: Client) -> None:
    run, later = factories.failed_attempt(), factories.executing()
    earlier, attempt = attempt_of(run, "inventory"), attempt_of(later, "inventory")
    Attempt.objects.filter(pk=attempt.pk).update(reused_from=earlier)
    assert "Written." in alice_client.get(f"/runs/{later.pk}/texts/attempt-{attempt.pk}-tool-3/").text


@pytest.mark.parametrize(
    "place", ["answer", "request-9", "attempt-{}-tool-99", "attempt-{}-notes", "attempt-0-output", "x"]
)
def test_what_is_not_there_is_not_found(alice_client: Client, place: str) -> None:
    run = factories.failed_attempt()
    attempt = attempt_of(run, "inventory")
    assert alice_client.get(f"/runs/{run.pk}/texts/{place.format(attempt.pk)}/").status_code == 404


def test_a_text_of_another_run_is_not_found(alice_client: Client) -> None:
    mine, other = factories.failed_attempt(), factories.failed_attempt()
    place = f"attempt-{attempt_of(other, 'inventory').pk}-output"
    assert alice_client.get(f"/runs/{mine.pk}/texts/{place}/").status_code == 404
    assert alice_client.get(f"/runs/{other.pk}/texts/{place}/").status_code == 200
