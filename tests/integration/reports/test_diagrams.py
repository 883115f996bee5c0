"""Diagrams in reports that leave the product: pictures with words beside them, and the same bytes twice."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

import pytest
from docx import Document
from pypdf import PdfReader

from runs.documents.printing.blocks import Diagram, PrintableReport
from runs.models import Run
from runs.reports.formats.html import as_html
from runs.reports.isolated_writing import pictured
from tests import factories as made
from tests.reporting import exported, written

pytestmark = pytest.mark.django_db
FLOW = "flowchart LR\n  accTitle: Where data goes\n  web[Website] --> db[(Database)]"
BROKEN = "flowchart LR\n  a[Open --> b"


def report_with(*sources: str) -> PrintableReport:
    run = made.finished_succeeded()
    answer = "Done.\n\n" + "\n\n".join(
        f"- it\n\n  > ```mermaid\n  > {one.replace('\n', '\n  > ')}\n  > ```" for one in sources
    )
    Run.objects.filter(pk=run.pk).update(answer=answer)
    return exported(Run.objects.get(pk=run.pk))


@pytest.mark.slow
def test_the_one_html_file_has_the_picture_and_may_show_nothing_else() -> None:
    html = as_html(report_with(FLOW))
    assert 'content="default-src &#x27;none&#x27;; img-src data:; style-src &#x27;sha256-' in html
    assert re.search(r'<img src="data:image/png;base64,[A-Za-z0-9+/=]+" width="\d+" height="\d+" alt="([^"]+)">', html)
    assert 'alt="Flowchart: Where data goes"' in html
    assert "<details><summary>Source of the diagram</summary><pre><code>flowchart LR" in html
    assert "<svg" not in html


def test_a_report_without_diagrams_may_show_no_pictures() -> None:
    assert "img-src" not in as_html(exported(made.finished_succeeded()))


@pytest.mark.slow
def test_what_cannot_be_drawn_is_a_sentence_and_its_source() -> None:
    html = as_html(report_with(BROKEN))
    assert "This diagram is not drawn: Error: Parse error on line" in html
    assert "a[Open --&gt; b" in html
    assert "img-src" not in html


def test_in_markdown_it_stays_its_source() -> None:
    assert "```mermaid\n" in written(report_with(FLOW), "markdown").decode().replace("  > ", "").replace("> ", "")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["pdf", "docx"])
def test_files_have_the_picture_and_are_the_same_bytes_twice(form: str) -> None:
    report = report_with(FLOW)
    first = written(report, form)
    assert written(report, form) == first
    if form == "pdf":
        pages = PdfReader(io.BytesIO(first)).pages
        assert sum(len(page.images) for page in pages) == 1
        assert "Where data goes".encode("utf-16-be") in first or b"Where data goes" in first
    else:
        with zipfile.ZipFile(io.BytesIO(first)) as package:
            assert [name for name in package.namelist() if name.startswith("word/media/")] == ["word/media/image1.png"]
        document: Any = Document(io.BytesIO(first))
        assert [one.get("descr") for one in document.element.body.iter() if one.tag.endswith("}docPr")] == [
            "Flowchart: Where data goes"
        ]


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("form", ["pdf", "docx"])
def test_files_say_what_cannot_be_drawn(form: str) -> None:
    data = written(report_with(BROKEN), form)
    text = (
        " ".join(page.extract_text() for page in PdfReader(io.BytesIO(data)).pages)
        if form == "pdf"
        else "".join(one.text for one in Document(io.BytesIO(data)).paragraphs)
    )
    assert "This diagram is not drawn: Error: Parse error" in " ".join(text.split())


@pytest.mark.slow
@pytest.mark.exhaustive
def test_of_a_report_no_more_than_twenty_are_drawn() -> None:
    report = pictured(report_with(*["boxes"] * 21))
    found = [block for section in report.sections for block in found_in(section.blocks)]
    assert [one.problem for one in found][19:] == [found[0].problem, "only the first 20 of a report are"]


def found_in(blocks: Any) -> list[Diagram]:
    found = list[Diagram]()
    for block in blocks:
        if isinstance(block, Diagram):
            found.append(block)
        for row in getattr(block, "rows", ()):
            found += found_in(row) if isinstance(row, tuple) else []
        found += found_in(getattr(block, "blocks", ()))
    return found
