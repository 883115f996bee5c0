"""The tab with the files of a run: as of any moment, who wrote them, and what differs between two moments."""

import hashlib
import re
import uuid

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from runs.enums import StepApproval, WorkKind
from runs.lifecycle import outcomes
from runs.models import Run
from runs.store import blobs
from runs.submission.intake import Upload
from runs.submission.submit import Submission, submit
from tests import factories

pytestmark = pytest.mark.django_db


def tab(client: Client, run: Run, query: str = "") -> str:
    answer = client.get(f"/runs/{run.pk}/files/{query}")
    assert answer.status_code == 200
    return answer.text


def names(page: str, section: str) -> list[str]:
    part = page.split(f'id="files-{section}"')[1].split("</section>")[0]
    return re.findall(r'data-source aria-label="([^"]+)"', part)


def moments(page: str) -> list[tuple[str, str]]:
    return re.findall(r'<option value="(\d*)"[^>]*>([^<]+)', page.split('id="files-to"')[1].split("</select>")[0])


CHANGES: dict[str, dict[str, str | None]] = {
    "s1": {factories.LEASE: "one\ntwo\nthree\n", factories.DATA: None, "out/a.md": "First."},
    "s2": {factories.LEASE: "one\n2\nthree\n", "out/b.md": "Second."},
}


def rewriting() -> Run:
    """Two steps have passed: the first changed one given file and removed another, the second changed it again."""
    steps = [factories.plan_step("s1", "First"), factories.plan_step("s2", "Second", dependencies=["s1"])]
    run = factories.executing(factories.plan(*steps), parallel=1, step_approval=StepApproval.NONE)
    for key, changes in CHANGES.items():
        with factories.working(run, WorkKind.ATTEMPT, key) as mine:
            assert mine.attempt is not None
            written = {path: blobs.put(text.encode()) if text else None for path, text in changes.items()}
            outcomes.executed(mine.attempt, factories.output(f"{key} is done."), written)
            quoted = factories.quote(mine.attempt, "@output", f"{key} is done")
            outcomes.judged(mine.attempt, factories.judgement([factories.result("C1", "Done.", [quoted])]))
    return Run.objects.get(pk=run.pk)


def test_results_and_given_files_say_what_became_of_them_and_who_did_it(alice_client: Client) -> None:
    run = rewriting()
    page = tab(alice_client, run)
    assert names(page, "results") == sorted([factories.DATA, factories.LEASE, "out/a.md", "out/b.md"])
    assert names(page, "given") == sorted([factories.DATA, factories.LEASE, factories.SERVICE])
    first, second = run.plans.get().steps.order_by("position")
    rows = dict(
        re.findall(r'aria-label="([^"]+)">.*?<span class="file-by">(.*?)</span>\s*<span class="file-size">', page, re.S)
    )
    assert rows["out/a.md"].startswith(f'<a href="/runs/{run.pk}/steps/{first.pk}/#attempt-1">First</a>')
    assert rows[factories.LEASE].startswith(f'<a href="/runs/{run.pk}/steps/{second.pk}/#attempt-1">Second</a>')
    assert rows[factories.SERVICE] == ""
    assert page.count('data-tone="bad">removed</span>') == 2
    assert page.count('data-tone="warn">changed</span>') == 2


def test_files_as_of_an_earlier_moment(alice_client: Client) -> None:
    run = rewriting()
    (_, now), (one, after), (zero, start) = moments(tab(alice_client, run))
    assert (now, after, zero, start) == ("now", "after “First”", "0", "the start")
    page = tab(alice_client, run, f"?to={one}")
    assert names(page, "results") == sorted([factories.DATA, factories.LEASE, "out/a.md"])
    assert "out/b.md" not in page
    assert f"sha={hashlib.sha256(b'one\ntwo\nthree\n').hexdigest()}" in page
    assert names(tab(alice_client, run, "?to=0"), "given") == sorted(
        [factories.DATA, factories.LEASE, factories.SERVICE]
    )
    assert 'id="files-results"' in tab(alice_client, run, "?to=0")


def test_changes_between_two_moments_are_marked_word_by_word(alice_client: Client) -> None:
    run = rewriting()
    (_, _), (one, _), _ = moments(tab(alice_client, run))
    page = tab(alice_client, run, f"?from={one}")
    assert "Changes since “First”" in page
    assert re.findall(r'class="file-diff-path">([^<]+)', page) == [factories.LEASE, "out/b.md"]
    assert '<tr class="removed"><td class="at before">2</td>' in page
    assert "No files differ." in tab(alice_client, run, f"?from={one}&to={one}")


@pytest.mark.parametrize("query", ["?to=99", "?from=99", "?to=x", "?to=-1", "?from=1e3", "?to=٣", "?to=9999999999999"])
def test_a_moment_that_is_none_is_not_found(alice_client: Client, query: str) -> None:
    run = factories.step_gate()
    assert alice_client.get(f"/runs/{run.pk}/files/{query}").status_code == 404


def test_a_part_of_a_path_chooses(alice_client: Client) -> None:
    run = rewriting()
    page = tab(alice_client, run, "?path=OUT/")
    assert names(page, "results") == ["out/a.md", "out/b.md"]
    assert "None of your files matches this path." in page


def test_many_files_come_page_by_page(alice_client: Client) -> None:
    uploads = [Upload(f"folder {number % 7}/{number:04}.txt", ContentFile(b"x")) for number in range(450)]
    run = submit(factories.alice(), Submission("Do it", uploads, factories.policy(), uuid.uuid4()))
    page = tab(alice_client, run)
    assert "1 to 200 of 450" in page
    assert len(names(page, "given")) == 200
    assert page.count('class="file-folder"') <= 8
    last = tab(alice_client, run, "?given=3")
    assert "401 to 450 of 450" in last
    assert len(names(last, "given")) == 50
    for wrong in ("0", "x", "99"):
        assert len(names(tab(alice_client, run, f"?given={wrong}"), "given")) in {50, 200}


@pytest.mark.slow
def test_the_number_of_queries_does_not_grow(
    alice_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for count in (3, 12):
        run = factories.many_steps(count)
        for query in ("", "?from=0"):
            with django_assert_max_num_queries(26):
                tab(alice_client, run, query)


def test_an_unreadable_file_says_why(alice_client: Client) -> None:
    uploads = [Upload("talk.mp4", ContentFile(b"\0\0\0 ftypisom")), Upload("a.txt", ContentFile(b"words"))]
    run = submit(factories.alice(), Submission("Do it", uploads, factories.policy(), uuid.uuid4()))
    assert '<span class="file-problem">is sound or film' in tab(alice_client, run)


@pytest.mark.parametrize("query", ["?", "?path=lease&", "?from=0&"])
def test_the_part_that_a_page_asks_for_is_what_the_page_has(alice_client: Client, query: str) -> None:
    run = rewriting()
    part = tab(alice_client, run, f"{query}part=files")
    assert part.startswith('<div id="run-files"')
    assert part in tab(alice_client, run, query)
    assert alice_client.get(f"/runs/{run.pk}/files/?part=news").status_code == 404
