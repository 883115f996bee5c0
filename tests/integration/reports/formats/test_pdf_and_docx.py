"""The report as PDF and for Word: what it says, that it is tagged, the same bytes twice, what hostile text becomes."""

from __future__ import annotations

import io
import threading
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from docx import Document
from pypdf import PdfReader

from runs import isolation
from runs.documents.printing import typeset
from runs.documents.printing.blocks import Paragraph, PrintableReport, ReportSection, Span
from runs.models import Run
from runs.reports import isolated_writing as room
from runs.reports.formats import BY_SUFFIX, FORMATS
from runs.reports.isolated_writing import ReportNotWritten
from runs.web.report import preparing
from tests import factories as made
from tests.reporting import exported, written

pytestmark = pytest.mark.django_db

HOSTILE = [
    '#panic("typst") $x$ *bold* _it_ @label <label> \\u{41} // comment /* */ `raw` = Heading',
    "[link](javascript:alert(1)) <script>alert(1)</script> &amp; ]]> <w:t>",
    '=HYPERLINK("http://evil.example","x") +1 @SUM(A1) {{ 7*7 }} {% now %}',
    "abc\u202etxt.exe \x1b[2J \x00 \u2028 \ufffe",
    "株式会社 你好 한국어 مرحبا שלום ไทย हिन्दी ≤ ✓ 😀",
]


def with_text(text: str, title: str = "") -> Run:
    run = made.finished_partial()
    Run.objects.filter(pk=run.pk).update(title=title or text[:120], request=text, answer=text)
    return Run.objects.get(pk=run.pk)


def text_of(data: bytes, form: str) -> str:
    if form == "pdf":
        return " ".join(page.extract_text() for page in PdfReader(io.BytesIO(data)).pages)
    document: Any = Document(io.BytesIO(data))
    return "\n".join(element.text or "" for element in document.element.body.iter() if element.tag.endswith("}t"))


@pytest.mark.slow
@pytest.mark.parametrize("form", ["pdf", "docx"])
def test_it_says_what_the_report_says_and_is_the_same_bytes_twice(form: str) -> None:
    run = made.finished_partial()
    first = written(exported(run), form)
    text = text_of(first, form)
    for words in ("PARTIAL: ", "Open points", "Every open point of the three contracts", "Fingerprint", "SHA-256"):
        assert words in text
    if form == "docx":  # a zip says of each part when it was written
        parts = zipfile.ZipFile(io.BytesIO(first)).infolist()
        assert {part.date_time for part in parts} == {(1980, 1, 1, 0, 0, 0)}
    assert written(exported(run), form) == first


def test_a_pdf_is_tagged_has_a_title_and_links_its_citations() -> None:
    reader = PdfReader(io.BytesIO(written(exported(made.finished_succeeded()), "pdf")))
    root: Any = reader.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"
    assert reader.metadata is not None
    assert reader.metadata.title == "Review these three contracts"
    links = [one for page in reader.pages for one in page.get("/Annots", []) if one.get_object()["/Subtype"] == "/Link"]
    assert len(links) > 4


@pytest.mark.slow
def test_the_answer_comes_first_and_no_page_is_blank() -> None:
    reader = PdfReader(io.BytesIO(written(exported(made.finished_partial()), "pdf")))
    pages = [page.extract_text() for page in reader.pages]
    assert pages[0].startswith("PARTIAL: Review these three contracts")
    headings = [
        line for line in "\n".join(pages).splitlines() if line in ("Answer", "Open points", "Protocol", "Decisions")
    ]
    assert headings == ["Answer", "Open points", "Protocol", "Decisions"]
    assert [page for page in pages if not page.strip()] == []


@pytest.mark.slow
@pytest.mark.parametrize("form", ["pdf", "docx"])
def test_hostile_text_stays_text(form: str) -> None:
    texts = [text.replace("\0", "") for text in HOSTILE]
    run = with_text("\n\n".join(texts), title=" ".join(text[:22] for text in texts))
    data = written(exported(run), form)
    said = text_of(data, form)
    assert "Request" in said
    assert [words for words in ("#panic(", "alert(1)", "=HYPERLINK(", "txt.exe", "株式会社") if words not in said] == []
    assert not {"\x1b", "\u202e", "\0"} & set(said)
    if form == "docx":
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            body = package.read("word/document.xml").decode()
            targets = package.read("word/_rels/document.xml.rels").decode()
        contents = '<w:instrText xml:space="preserve"> TOC \\o "1-1" \\h \\n </w:instrText>'
        assert body.count(contents) == 1
        body = body.replace(contents, "")
        assert not [word for word in ("instrText", "fldSimple", "altChunk", "<script") if word in body]
        assert "javascript:" not in targets
    else:
        assert b"/JavaScript" not in data
        assert b"/Launch" not in data


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_character_without_a_glyph_is_printed_as_its_name() -> None:
    text = text_of(written(exported(with_text("It is done 😀, 株式会社.")), "pdf"), "pdf")
    assert "[grinning face]" in text
    assert "株式会社" in text


@pytest.mark.slow
@pytest.mark.exhaustive
def test_every_character_that_the_fonts_are_said_to_have_is_printed() -> None:
    listed = Path(typeset.__file__).parent.joinpath("fonts", "coverage.txt").read_text().split()
    ranges = [(int(first, 16), int(last or first, 16)) for first, _, last in (row.partition("-") for row in listed)]
    words = (Span(" ".join(map(chr, range(first, last + 1)))) for first, last in ranges)
    section = ReportSection("answer", "Answer", tuple(Paragraph((one, Span("x"))) for one in words))
    report = PrintableReport("Letters", main=(section,))
    assert written(report, "pdf").startswith(b"%PDF-")


@pytest.mark.slow
def test_what_cannot_be_made_is_said_in_a_sentence(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "LIMITS", isolation.Limits(megabytes=2_000, cpu_seconds=0.001, seconds=60, files=64))
    run = made.finished_succeeded()
    with pytest.raises(ReportNotWritten):
        written(exported(run), "pdf")
    client.force_login(run.owner)
    answer = client.get(f"/runs/{run.pk}/report.pdf")
    assert answer.status_code == 302
    assert answer["Location"] == f"/runs/{run.pk}/report/"
    assert [str(one) for one in get_messages(answer.wsgi_request)] == [
        "The PDF was not made: it took more than 0.001 seconds of the processor. Take the report as HTML instead."
    ]


@pytest.mark.slow
def test_one_that_takes_long_is_waited_for_on_a_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "WAIT_SECONDS", 0)
    go = threading.Event()
    late = replace(FORMATS["pdf"], write=lambda source: b"%PDF-late" if go.wait(60) else b"")
    monkeypatch.setitem(BY_SUFFIX, "pdf", late)
    run = made.finished_succeeded()
    client.force_login(run.owner)
    answer = client.get(f"/runs/{run.pk}/report.pdf")
    assert answer["Location"] == f"/runs/{run.pk}/report/pdf/?part=report"
    page = client.get(f"/runs/{run.pk}/report/pdf/").text
    assert "The PDF is being made" in page
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in page, "a script asks for the words alone"
    go.set()
    monkeypatch.setattr(preparing, "WAIT_SECONDS", 60)
    file: Any = client.get(f"/runs/{run.pk}/report.pdf")
    assert b"".join(file.streaming_content) == b"%PDF-late"
    ready = client.get(f"/runs/{run.pk}/report/pdf/").text
    assert f'<meta http-equiv="refresh" content="0; url=/runs/{run.pk}/report.pdf?part=report">' in ready
    asked = client.get(f"/runs/{run.pk}/report/pdf/", headers={"HX-Request": "true"})
    assert asked["HX-Redirect"] == f"/runs/{run.pk}/report/pdf/"


BEGINNINGS = {"pdf": b"%PDF-", "docx": b"PK", "html": b"<!doctype", "json": b"{", "md": b"# "}


@pytest.mark.slow
@pytest.mark.parametrize("ending", BEGINNINGS)
def test_a_download_has_a_safe_name(client: Client, ending: str) -> None:
    run = made.finished_succeeded()
    Run.objects.filter(pk=run.pk).update(title='../"; evil\r\nX: y')
    client.force_login(run.owner)
    answer: Any = client.get(f"/runs/{run.pk}/report.{ending}")
    assert answer["Content-Disposition"] == f'attachment; filename="run-{run.pk}-report.{ending}"'
    assert b"".join(answer.streaming_content).startswith(BEGINNINGS[ending])
