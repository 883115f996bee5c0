"""What the panel beside a text is sent: the place of a reference, without the page around it."""

import re
import uuid
from html import unescape

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from runs.models import Run
from runs.store import blobs, trees
from runs.submission.intake import Upload
from runs.submission.submit import Submission, submit
from runs.web.files.excerpt import PANEL_LINES
from tests import factories

pytestmark = pytest.mark.django_db


def run_with(files: dict[str, bytes]) -> Run:
    uploads = [Upload(path, ContentFile(content)) for path, content in files.items()]
    return submit(factories.alice(), Submission("Do it", uploads, factories.policy(), uuid.uuid4(), no_files=True))


def test_a_panel_is_the_place_and_the_way_to_the_whole_file(alice_client: Client) -> None:
    run = run_with({"a.txt": b"one\ntwo\n"})
    text = alice_client.get(f"/runs/{run.pk}/files/a.txt?start=4&end=7&panel=1").text
    assert "<html" not in text
    assert "<mark>two</mark>" in text
    assert "as submitted" in text
    assert re.search(rf'href="/runs/{run.pk}/files/a.txt\?sha=[0-9a-f]+&amp;start=4&amp;end=7#hit"', text)
    assert ' id="L1"' not in text


def test_a_panel_has_few_lines_around_the_place(alice_client: Client) -> None:
    run = run_with({"long.txt": b"0123456789\n" * 50_000})
    text = alice_client.get(f"/runs/{run.pk}/files/long.txt?start=110000&end=110005&panel=1").text
    assert "<mark>01234</mark>" in text
    assert text.count("<tr") <= PANEL_LINES
    assert len(text) < 40_000


def test_a_panel_of_one_long_line_is_small(alice_client: Client) -> None:
    run = run_with({"one.txt": b"word " * 200_000})
    text = alice_client.get(f"/runs/{run.pk}/files/one.txt?start=500000&end=500004&panel=1").text
    assert "<mark>word</mark>" in text
    assert len(text) < 40_000


def test_a_panel_of_what_is_no_text_says_so(alice_client: Client) -> None:
    run = run_with({"logo.bin": b"\x89\0\1"})
    text = alice_client.get(f"/runs/{run.pk}/files/logo.bin?panel=1").text
    assert "This file is not text." in text
    assert "<table" not in text


@pytest.mark.slow
def test_every_reference_of_a_step_and_a_report_has_a_panel(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    pages = [f"/runs/{run.pk}/report/", *(f"/runs/{run.pk}/steps/{step.pk}/" for step in run.plans.get().steps.all())]
    links = {
        link for page in pages for link in re.findall(r'<a href="([^"]+)" data-source>', alice_client.get(page).text)
    }
    assert len(links) > 5
    for link in links:
        address, _, place = unescape(link).partition("#")
        text = alice_client.get(f"{address}{'&' if '?' in address else '?'}panel=1").text
        assert 'class="source-head"' in text
        assert ("<mark>" in text) == (place == "hit")


def test_a_citation_in_a_text_is_a_reference_and_other_links_are_not(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    given = sorted(run.inputs.changes)[0]
    Run.objects.filter(pk=run.pk).update(answer=f"[a file](<{given}>), [a site](https://example.org), `<a href=x>`")
    text = alice_client.get(f"/runs/{run.pk}/report/").text
    answer = text.split('id="answer"')[1].split("</section>")[0]
    assert re.findall(r"<a (data-source )?href=\"([^\"]+)\"", answer)[1:] == [("", "https://example.org")]
    assert re.findall(r"<a (data-source )?href=\"", answer)[0] == "data-source "
    assert "&lt;a href=x&gt;" in answer


@pytest.mark.slow
def test_a_broken_citation_leads_to_what_comes_nearest(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    Run.objects.filter(pk=run.pk).update(
        answer=f"It is [“dealt with as promptly as needed”](<{factories.SERVICE}#L3>)."
    )
    for page in (f"/runs/{run.pk}/report/", f"/runs/{run.pk}/"):
        text = alice_client.get(page).text
        found = re.search(r'<a data-source href="([^"]+)"[^>]*>(?:<strong>)?\[broken citation', text)
        assert found, page
        panel = alice_client.get(unescape(found[1]).replace("#hit", "&panel=1")).text
        assert "“dealt with as promptly as needed” is not in this text. What comes nearest" in panel
        assert re.findall("<mark>([^<]*)</mark>", panel) == ["dealt with as soon as"]


def test_a_line_of_an_address_is_marked_whole(alice_client: Client) -> None:
    run = run_with({"a.txt": b"one\n  two three\n"})
    assert "<mark>two three</mark>" in alice_client.get(f"/runs/{run.pk}/files/a.txt?line=2&panel=1").text
    assert '<mark id="hit">two three</mark>' in alice_client.get(f"/runs/{run.pk}/files/a.txt?line=2").text


def test_a_broken_citation_of_a_file_leads_to_where_it_stands_too(alice_client: Client) -> None:
    run = factories.finished_succeeded()
    text = b'# Points\n\nIt is ["thirty days"](none.md#L1).\n'
    tree = trees.make_tree({**trees.files_of(run.inputs), "points.md": blobs.put(text)})
    Run.objects.filter(pk=run.pk).update(head=tree)
    page = alice_client.get(f"/runs/{run.pk}/files/points.md").text
    assert "points.md: Line 3: There is no file" in page
    (place,) = re.findall(r'<a href="([^"]+)" data-source>In the text', page)
    assert place == f"/runs/{run.pk}/files/points.md?line=3#hit"
    panel = alice_client.get(place.replace("#hit", "&panel=1")).text
    assert "<mark>It is [&quot;thirty days&quot;](none.md#L1).</mark>" in panel
