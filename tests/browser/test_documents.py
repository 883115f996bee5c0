"""The sample as a person has it: a Word and a PDF file are read, reviewed, and shown at the places that are cited."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import on_a_sample
from tests.browser.site import Site, wait_until
from tests.browser.test_story import LONG, approve, tab


def cited(page: Page, name: str) -> Locator:
    """Opens the first citation of a document, in the panel beside the report."""
    page.locator(f"main a[data-source][href*='{name}'][href$='#hit']").first.click()
    panel = page.locator("dialog.source-panel")
    expect(panel.locator(".source-title")).to_contain_text(name)
    return panel


@pytest.mark.exhaustive
def test_citations_of_the_sample_open_the_page_and_the_clause(blank: Page, site: Site, me: str) -> None:
    page = on_a_sample(blank, site, me, "step")
    tab(page, "Files")
    sizes = page.locator(".file-size")
    expect(sizes.filter(has_text="2 pages")).to_have_count(1)
    expect(sizes.filter(has_text="paragraphs")).to_have_count(1)
    tab(page, "Overview")
    approve(page, "step")
    expect(page.locator("#run-result")).to_contain_text("Succeeded", timeout=LONG, ignore_case=True)
    page.locator("#run-result details.menu").evaluate("menu => { menu.open = true; }")
    with page.expect_download() as download:
        page.locator("#run-result").get_by_role("link", name="Report as PDF").click()
    assert Path(download.value.path()).read_bytes().startswith(b"%PDF-")
    page.locator("#run-controls").get_by_role("link", name="Report").click()
    leaf = cited(page, "agreement.pdf").locator(".leaf")
    expect(leaf.locator("rect").first).to_be_attached()
    wait_until(page, "document.querySelector('dialog .leaf img').naturalWidth > 0")
    clause = cited(page, "agreement.docx").locator(".paragraph.hit-line")
    expect(clause.locator(".paragraph-margin")).to_have_text("2.2")
    expect(clause.locator("mark").first).to_contain_text("reasonable efforts")
