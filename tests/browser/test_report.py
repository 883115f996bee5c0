"""The page of a report: its protocol folded, and what comes out of a printer."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from playwright.sync_api import Page
from pypdf import PdfReader

from runs.documents.printing.blocks import (
    CheckItem,
    CheckList,
    FactList,
    Heading,
    Letterhead,
    PrintableReport,
    ReportSection,
    TableBlock,
    paragraph,
    spans,
)
from runs.reports.formats.html import as_html
from tests.browser.accessible import check_fits
from tests.browser.site import Site


def pages_of(page: Page) -> list[str]:
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    return [one.extract_text() for one in PdfReader(io.BytesIO(printed)).pages]


@pytest.mark.exhaustive
def test_it_prints_with_its_protocol_and_without_a_blank_page(site: Site, me: str, blank: Page, tmp_path: Path) -> None:
    page = blank
    number = site.write("sample", me)
    page.goto(f"{site.url}/runs/{number}/report/")
    assert not page.get_by_text("Estimate", exact=True).first.is_visible()
    pages = pages_of(page)
    assert [text for text in pages if not text.strip()] == []
    assert pages[0].lstrip().startswith("Sample: review three contracts")
    assert "Answer" in pages[0]
    assert "Inbox" not in pages[0]
    assert len([text for text in pages if text.lstrip().startswith("Protocol")]) == 1, "it begins on a page of its own"
    assert "$0.00; 32 calls" in "".join(pages)
    page.locator(".toolbar .menu > summary").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Report with protocol as HTML").click()
    download.value.save_as(tmp_path / "report.html")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "report.html").as_uri())
    assert [address for address in asked if not address.startswith("file:")] == []
    alone = pages_of(page)
    assert [text for text in alone if not text.strip()] == []
    assert "Sources" in "".join(alone[2:])
    page.get_by_role("link", name="“1.3 The Tenant may use").first.click()
    assert page.locator("#source-6").is_visible()


def test_the_longest_word_is_no_wider_than_a_phone(blank: Page, tmp_path: Path) -> None:
    word = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung" * 4
    found = (
        Heading(2, spans(word)),
        paragraph(word),
        FactList(((word, spans(word)),)),
        CheckList((CheckItem("met", "", spans(word), word),)),
        TableBlock("Table", (spans(word),), ((spans(word),),)),
    )
    section = ReportSection("a", word, found)
    report = PrintableReport(word, facts=(("Client", word),), main=(section,), letterhead=Letterhead(word, "", word))
    (tmp_path / "report.html").write_text(as_html(report))
    blank.goto((tmp_path / "report.html").as_uri())
    check_fits(blank)
