"""Sentences that name a file and a line, as links to it; and what has changed since a request."""

import re
from html import unescape
from urllib.parse import quote

import pytest
from django.test import Client

from runs.enums import GateKind, Verb
from runs.evidence.results import Evidence, RequestResult
from runs.models import Attempt, Run
from runs.pev.checks.contains import Contains
from runs.store import trees
from runs.web.markup.prose import checking, referring
from runs.web.site.addresses import evidence_address
from tests import factories

pytestmark = pytest.mark.django_db


def links(text: str) -> list[tuple[str, str]]:
    return re.findall(r'<a data-source href="([^"]*)">([^<]*)</a>', text)


def address(run: Run, path: str, line: int) -> str:
    return f"/runs/{run.pk}/files/{quote(path)}?sha={trees.files_of(run.inputs)[path].sha256}&amp;line={line}#hit"


def test_a_file_and_its_line_are_a_link() -> None:
    run, path = factories.planning(), factories.LEASE
    text = f"It stands in {path}, line 2; “<b>” in {path}: Line 3. Not in x{path}, line 4, nor in none.md, line 5."
    shown = referring(text, run)
    assert links(shown) == [(address(run, path, 2), f"{path}, line 2"), (address(run, path, 3), f"{path}: Line 3")]
    assert unescape(re.sub("<[^>]*>", "", shown)) == text


def test_a_result_is_that_of_the_attempt() -> None:
    run = factories.failed_attempt()
    attempt = Attempt.objects.select_related("step__plan__run").get(step__key="review", number=1)
    written = attempt.overlay[factories.REVIEW]
    assert written
    words = f"{factories.REVIEW}, line 1"
    place = f"/runs/{run.pk}/files/{factories.REVIEW}?sha={written.sha256}&amp;line=1#hit"
    assert links(referring(words, attempt)) == [(place, words)]
    assert links(referring(words, run)) == []


def test_a_check_leads_to_its_file_once_it_is_there() -> None:
    run, path = factories.planning(), factories.LEASE
    check = Contains(kind="contains", path=path, text="<i>")
    sha = trees.files_of(run.inputs)[path].sha256
    assert links(checking(check, run)) == [(f"/runs/{run.pk}/files/{quote(path)}?sha={sha}", path)]
    assert checking(check, None) == f"{path} contains “&lt;i&gt;”"
    assert links(checking(check.model_copy(update={"path": "none.md"}), run)) == []


def judged_again() -> Attempt:
    """A result that Alice sent back, and the attempt that was judged by what she asked for."""
    run = factories.step_gate()
    factories.decide(run, GateKind.STEP, Verb.REJECT, "Remove the fees of one year.")
    factories.fail_review(run)
    attempt = Attempt.objects.select_related("step__plan__run", "verdict").get(step__key="review", number=3)
    gone = Evidence(kind="quote", source="@diff", verified=True, sentence="", quote="EUR 137,400", sha256="f00")
    attempt.verdict.requests = [RequestResult(number=1, text="Remove", status="met", evidence=[gone])]
    attempt.verdict.save()
    return attempt


@pytest.mark.parametrize(("times", "folded"), [(1, 0), (80, 1)])
def test_a_step_shows_each_request_whole(alice_client: Client, times: int, folded: int) -> None:
    attempt, words = judged_again(), f"{'Name it. ' * times}To the end."
    attempt.verdict.requests = [RequestResult(number=3, text=words, status="not_met", feedback="It is not named.")]
    attempt.verdict.save()
    page = alice_client.get(f"/runs/{attempt.step.plan.run_id}/steps/{attempt.step.pk}/").text
    (shown,) = re.findall(r"<li>Request 3.*?</li>", page, re.DOTALL)
    assert (shown.count(words), shown.count("<details")) == (1, folded)
    assert "<strong>not met</strong>. It is not named." in shown


def test_what_changed_since_a_request_is_a_diff_with_the_line_marked(alice_client: Client) -> None:
    attempt = judged_again()
    run_id = attempt.step.plan.run_id
    place = evidence_address(run_id, attempt.verdict.requests[0].evidence[0], attempt)
    assert place == f"/runs/{run_id}/texts/attempt-{attempt.pk}-diff/?words=EUR+137%2C400#hit"
    page = alice_client.get(place).text
    panel = alice_client.get(f"{place.partition('#')[0]}&panel=1").text
    for text, mark in ((page, '<mark id="hit">'), (panel, "<mark>")):
        (row,) = re.findall(r'<tr class="removed hit-line">.*?</tr>', text)
        assert mark in row
        assert "EUR 137,400" in re.sub("<[^>]*>", "", row)
        assert re.findall("<h3>(.*?)</h3>", text) == ["Findings", factories.REVIEW, "review/scratch.txt"]
    assert f'href="/runs/{run_id}/texts/attempt-{attempt.pk}-diff/?words=EUR+137%2C400#hit"' in panel


def test_an_attempt_that_nothing_was_asked_of_has_no_such_page(alice_client: Client) -> None:
    run = factories.step_gate()
    attempt = Attempt.objects.get(step__key="review", number=2)
    assert alice_client.get(f"/runs/{run.pk}/texts/attempt-{attempt.pk}-diff/").status_code == 404
