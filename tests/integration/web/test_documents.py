"""Documents of a run on their pages and in the panel: laid out at the place, drawn page by page, or with a sentence."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from django.core.files.storage import storages
from django.test import Client

from runs import isolation
from runs.errors import InvalidInput
from runs.lifecycle.coverage import planned
from runs.models import Rendition, Run
from runs.store import blobs, input_examination, page_pictures, renditions, trees
from tests.documents import pdfs, word, workbooks
from tests.integration.web.test_files import run_with

pytestmark = pytest.mark.django_db
LEASE = word.word(
    word.paragraph(word.run("The rent is 1,200 EUR."), number=(1, 0))
    + word.paragraph(
        word.run("It is paid within "), word.inserted("thirty"), word.deleted("sixty"), word.run(" days.")
    ),
    {"numbering": word.lists({1: [word.level(0, "decimal", "%1.")]})},
)
REPORT = pdfs.pages_of([pdfs.line("The first page."), pdfs.line("The keys were handed over.")])


@pytest.fixture(autouse=True)
def nothing_drawn() -> None:
    shutil.rmtree(storages["pages"].path(""), ignore_errors=True)


def run_of(files: dict[str, bytes]) -> Run:
    run = run_with(files)
    input_examination.examine(trees.files_of(run.inputs))
    for source in renditions.untaken():
        if row := renditions.take(source):
            renditions.make(row)
            renditions.keep(row)
    assert not Rendition.objects.exclude(problem="").exists()
    return run


def test_a_word_file_is_laid_out_with_its_numbers_and_changes(alice_client: Client) -> None:
    run = run_of({"lease.docx": LEASE})
    page = alice_client.get(f"/runs/{run.pk}/files/lease.docx").text
    assert '<span class="paragraph-margin">1.</span><p>The rent is 1,200 EUR.</p>' in page
    assert '<span class="inserted" title="inserted by Ann, 2026-03-01">thirty</span>' in page
    assert '<del title="deleted by Bob, 2026-03-02">sixty</del>' in page
    assert "<li>2 paragraphs</li>" in page


def test_numbers_that_differ_from_the_references_of_the_document_are_said_at_the_file_and_at_the_gate(
    alice_client: Client,
) -> None:
    clause = word.paragraph(word.bookmark("_Ref1"), "Liability", number=(1, 0))
    reference = word.paragraph("See clause ", word.field(r"REF _Ref1 \r \h", "2"), " and § 3 (Liability).")
    numbering = word.lists({1: [word.level(0, "decimal", "%1.")]})
    run = run_of({"lease.docx": word.word(clause + reference, {"numbering": numbering})})
    Run.objects.filter(pk=run.pk).update(excluded=[])
    said = [
        f"Paragraph 2 refers to number {number} for what is counted as clause 1 (“Liability”): the reference is out of "
        "date or the number is wrong. Look at both in Word."
        for number in (2, 3)
    ]
    page = alice_client.get(f"/runs/{run.pk}/files/lease.docx").text
    assert f'<p class="alert warn">{" ".join(said)}</p>' in page
    assert planned(Run.objects.get(pk=run.pk), ()) == [
        "No step of this plan is given lease.docx.",
        f"lease.docx: {' '.join(said)}",
    ]


def test_the_page_of_html_says_whether_it_was_read_with_its_tags(alice_client: Client) -> None:
    letter = "<html><body><p>" + "The rent is due on the first day of each month. " * 3 + "</p></body></html>"
    run = run_of({"letter.html": letter.encode(), "part.html": b"<p>{{ rent }}</p>"})
    pages = {name: alice_client.get(f"/runs/{run.pk}/files/{name}.html").text for name in ("letter", "part")}
    assert "<li>read as a web page, without its tags</li>" in pages["letter"]
    assert "<li>read as source, with its tags</li>" in pages["part"]
    assert "read as source, with its tags · " in alice_client.get(f"/runs/{run.pk}/files/part.html?panel=1").text


def test_comments_of_cells_stand_beside_them(alice_client: Client) -> None:
    note = (
        '<comments xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><authors><author>Ann</author>'
        '</authors><commentList><comment ref="B1" authorId="0"><text><t>Too high?</t></text></comment></commentList>'
        "</comments>"
    )
    parts = {
        "xl/worksheets/_rels/sheet1.xml.rels": workbooks.related([("r1", "comments", "../comments1.xml")]),
        "xl/comments1.xml": note,
    }
    cells = "".join(f"<c><v>{number}</v></c>" for number in range(62))
    book = workbooks.workbook({"Rents": f'<sheetData><row r="1">{cells}</row></sheetData>'}, parts=parts)
    run = run_of({"book.xlsx": book})
    page = alice_client.get(f"/runs/{run.pk}/files/book.xlsx").text
    assert '<td class="commented-cell">1<aside><strong>Ann</strong><br>Too high?</aside></td>' in page
    assert "<span>not shown here: 21 columns on the right</span>" in page


def test_an_anchor_leads_to_its_paragraph_and_says_where_it_is(alice_client: Client) -> None:
    run = run_of({"lease.docx": LEASE})
    address = f"/runs/{run.pk}/files/lease.docx"
    assert '<mark id="hit">The rent is 1,200 EUR.</mark>' in alice_client.get(f"{address}?at=p1").text
    panel = alice_client.get(f"{address}?at=1&panel=1").text
    assert "clause 1" in panel
    assert "<mark>The rent is 1,200 EUR.</mark>" in panel
    assert "There is no place “p99” in this file." in alice_client.get(f"{address}?at=p99").text


@pytest.mark.slow
def test_a_page_of_a_pdf_file_is_a_picture_with_the_place_marked_on_it(alice_client: Client) -> None:
    run = run_of({"report.pdf": REPORT})
    address = f"/runs/{run.pk}/files/report.pdf"
    page = alice_client.get(f"{address}?words=keys were handed").text
    assert "Page 2 of 2" in page
    assert (len(re.findall(r"<rect ", page)), page.count('<rect id="hit" x=')) == (1, 1)
    panel = alice_client.get(f"{address}?words=keys were handed&panel=1").text
    assert 'class="leaf-crop"' in panel
    sha256 = trees.files_of(run.inputs)["report.pdf"].sha256
    drawn = alice_client.get(f"{address}?sha={sha256}&picture=2")
    assert (drawn["Content-Type"], b"".join(drawn.streaming_content)[8:12]) == ("image/webp", b"WEBP")  # type: ignore[attr-defined]
    small = alice_client.get(f"{address}?sha={sha256}&thumbnail=1")
    assert b"".join(small.streaming_content)[8:12] == b"WEBP"  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.exhaustive
def test_comments_on_a_page_stand_beside_it(alice_client: Client) -> None:
    note = "/Subtype/Highlight/Rect[72 690 90 712]/QuadPoints[72 712 95 712 72 690 95 690]/Contents(Which?)/T(Ann)"
    report = pdfs.pages_of([pdfs.line("The keys.")], page=f"/Annots[<</Type/Annot{note}/M(D:20261103)>>]")
    run = run_of({"report.pdf": pdfs.joined(REPORT, report)})
    address = f"/runs/{run.pk}/files/report.pdf"
    assert "<li>3 pages, 1 comment</li>" in alice_client.get(address).text
    assert "Which?" not in alice_client.get(address).text
    beside = '<strong>Ann</strong> <span class="faint">2026-11-03</span><br>Which?</aside>'
    assert f"<aside>{beside}" in alice_client.get(f"{address}?page=3").text
    pointed = alice_client.get(f"{address}?at=page%3D3.cm1").text
    assert ("Page 3 of 3" in pointed, f'<aside class="hit-line">{beside}' in pointed) == (True, True)
    assert (len(re.findall(r"<rect ", pointed)), pointed.count('id="hit"')) == (1, 1)
    assert '<span class="commented" title="commented by Ann, 2026-11-03">The</span> keys.' in pointed


@pytest.mark.slow
@pytest.mark.exhaustive
def test_pages_are_turned(alice_client: Client) -> None:
    run = run_of({"report.pdf": REPORT})
    address = f"/runs/{run.pk}/files/report.pdf"
    first = alice_client.get(address).text
    assert "Page 1 of 2" in first
    assert f'href="{address}?page=2" rel="next"' in first
    second = alice_client.get(f"{address}?page=2&panel=1").text
    assert ("Page 2 of 2" in second, f'href="{address}?page=1" rel="prev"' in second) == (True, True)


@pytest.mark.slow
def test_what_was_drawn_goes_with_the_content_or_when_nobody_looks(
    alice_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of({"report.pdf": REPORT, "other.pdf": pdfs.pages_of([pdfs.line("Another one.")])})
    shas = {path: info.sha256 for path, info in trees.files_of(run.inputs).items()}
    for path in shas:
        alice_client.get(f"/runs/{run.pk}/files/{path}?picture=1")
    assert {path for path, sha256 in shas.items() if drawn_of(sha256)} == {"report.pdf", "other.pdf"}
    page_pictures.forget(shas["other.pdf"])
    page_pictures.sweep()
    assert {path for path, sha256 in shas.items() if drawn_of(sha256)} == {"report.pdf"}
    monkeypatch.setattr(page_pictures, "KEPT_SECONDS", -1)
    page_pictures.sweep()
    assert not drawn_of(shas["report.pdf"])


def drawn_of(sha256: str) -> bool:
    return Path(storages["pages"].path(sha256)).exists()


def test_a_page_is_drawn_once(alice_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of({"report.pdf": REPORT})
    address = f"/runs/{run.pk}/files/report.pdf?picture=1"
    first = b"".join(alice_client.get(address).streaming_content)  # type: ignore[attr-defined]
    monkeypatch.setattr(isolation, "run", None)
    assert b"".join(alice_client.get(address).streaming_content) == first  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("number", ["0", "3", "-1", "x", "99999999999999999999"])
def test_a_page_that_there_is_not_is_not_found(alice_client: Client, number: str) -> None:
    run = run_of({"report.pdf": REPORT})
    assert alice_client.get(f"/runs/{run.pk}/files/report.pdf?picture={number}").status_code == 404
    assert alice_client.get(f"/runs/{run.pk}/files/report.pdf?page={number}").status_code == 200


def test_a_page_that_cannot_be_drawn_is_a_sentence_above_its_text(
    alice_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of({"report.pdf": REPORT})

    def fails(*_: object, **__: object) -> bytes:
        raise InvalidInput("has a page that cannot be drawn")

    monkeypatch.setattr(isolation, "run", fails)
    page = alice_client.get(f"/runs/{run.pk}/files/report.pdf").text
    assert "This page cannot be shown as a picture." in page
    assert "The first page." in page


@pytest.mark.slow
@pytest.mark.parametrize("drawing", ["picture=1", "thumbnail=1"])
def test_pictures_of_pages_are_for_those_who_may_see_the_run(
    alice_client: Client, charlie_client: Client, drawing: str
) -> None:
    run = run_of({"report.pdf": REPORT})
    sha256 = trees.files_of(run.inputs)["report.pdf"].sha256
    addresses = [f"/runs/{run.pk}/files/report.pdf?{sha}{drawing}" for sha in ("", f"sha={sha256}&")]
    drawn = [alice_client.get(address) for address in addresses]
    assert [(answer.status_code, answer["Content-Type"]) for answer in drawn] == [(200, "image/webp")] * 2
    for address, answer in zip(addresses, drawn, strict=True):
        assert alice_client.get(address, headers={"If-None-Match": answer["ETag"]}).status_code == 304
        for known in ({}, {"If-None-Match": answer["ETag"]}, {"If-None-Match": "*"}):
            assert charlie_client.get(address, headers=known).status_code == 404


def test_a_list_of_files_shows_how_much_documents_are(alice_client: Client) -> None:
    run = run_of({"report.pdf": REPORT, "lease.docx": LEASE})
    page = alice_client.get(f"/runs/{run.pk}/files/").text
    assert "2 pages, " in page
    assert "2 paragraphs, " in page
    assert page.count("thumbnail=1") == 1


def test_downloads_are_the_original_bytes(alice_client: Client) -> None:
    run = run_of({"lease.docx": LEASE})
    answer = alice_client.get(f"/runs/{run.pk}/files/lease.docx?download=1")
    assert b"".join(answer.streaming_content) == LEASE  # type: ignore[attr-defined]
    assert blobs.put(LEASE) == trees.files_of(run.inputs)["lease.docx"]
