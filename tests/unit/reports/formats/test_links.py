"""A citation with emphasised words in it is one link with one number, in every format."""

import io

import pytest
from docx import Document
from pydantic import TypeAdapter
from pypdf import PdfReader

from runs.documents.printing import typeset, word
from runs.documents.printing.blocks import CitedSource, Paragraph, PrintableReport, ReportSection, SourceList, Span
from runs.reports.formats.html import as_html
from runs.reports.formats.markdown import as_markdown

TO = "#source-7"
CITED = (Span("the ", to=TO), Span("annual rent", strong=True, to=TO), Span(" of the lease", to=TO))
REPORT = PrintableReport(
    title="Review",
    word="",
    tone="",
    about="Report on run 1",
    at="",
    main=(ReportSection("answer", "Answer", (Paragraph((Span("Look at "), *CITED, Span("."))),)),),
    protocol=(ReportSection("sources", "Sources", (SourceList((CitedSource(7, "lease.docx, clause 2", ""),)),)),),
    foot="",
)
DATA = TypeAdapter(PrintableReport).dump_json(REPORT)


def test_html() -> None:
    link = f'<a href="{TO}">the <strong>annual rent</strong> of the lease<sup>7</sup></a>'
    assert f"Look at {link}." in as_html(REPORT)


def test_markdown() -> None:
    assert "Look at the **annual rent** of the lease (lease.docx, clause 2)." in as_markdown(REPORT)


def test_word() -> None:
    document = Document(io.BytesIO(word.docx(DATA)))
    assert "Look at the annual rent of the lease [7]." in [paragraph.text for paragraph in document.paragraphs]


@pytest.mark.slow
def test_pdf() -> None:
    pages = PdfReader(io.BytesIO(typeset.pdf(DATA))).pages
    assert "the annual rent of the lease7." in " ".join(" ".join(page.extract_text() for page in pages).split())
