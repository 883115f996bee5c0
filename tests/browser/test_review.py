"""The whole of a review as a person has it: documents in a folder, and a commented contract to hand on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from runs.documents.formats.docx import docx_reader as docx
from runs.documents.formats.pdf import pdf_reader as pdf
from runs.documents.model.layout import MarkKind
from runs.documents.places.document import Document
from runs.documents.reading.building import BuiltDocument
from tests.browser.site import wait_until
from tests.browser.test_story import LONG, approve, gate
from tests.documents import pdfs, pictures
from tests.documents.samples import documents
from tests.documents.workbooks import rows, workbook

SCANNED = "The Tenant shall be told in due course."
CELL = "Deposit: to be paid promptly"
"""Words that the rules find, in the scan and in the workbook."""
READ = {
    "deal/Service agreement.docx": "40 paragraphs, 1 comment",
    "deal/annex.pdf": "1 page, read by OCR",
    "deal/data-processing-agreement.pdf": "2 pages",
    "deal/rents.xlsx": "1 sheet",
}
MARKED = """words => [...document.querySelectorAll("dialog mark")].map((mark) => mark.textContent).join("")
    .replace(/[^\\p{L}\\p{N}_]+/gu, "").includes(words)"""
"""Whether these letters and digits are marked: spaces stand otherwise between cells, lines and pieces of a quote."""
FINDINGS = [
    "F1 · Vague term: reasonable efforts",
    "F2 · Placeholder: [insert date]",
    "F3 · Vague term: as soon as possible",
    "F4 · Vague term: market standard",
    "F5 · Missing party: the Escrow Agent",
    "F6 · Missing amount: amount to be agreed",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The contracts of the sample that are documents, a scanned annex, and a workbook."""
    made = tmp_path / "deal"
    made.mkdir()
    for name, content in documents().items():
        (made / Path(name).name).write_bytes(content)
    scan = pictures.page(["Annex 1: house rules", "", SCANNED, "Signed by both parties."], width=1_224, height=1_584)
    (made / "annex.pdf").write_bytes(pdfs.over_picture(b"", scan))
    cells = rows(["Unit", "Rent", "Terms"], ["Shed 4", 1_200, CELL])
    (made / "rents.xlsx").write_bytes(workbook({"Rents": cells}))
    return made


def test_a_folder_of_documents_is_reviewed_and_the_contract_comes_back_with_comments(page: Page, folder: Path) -> None:
    submit(page, folder)
    expect(gate(page, "plan")).to_contain_text("Comment the Word documents", timeout=LONG)
    approve(page, "plan")
    expect(gate(page, "step")).to_be_visible(timeout=LONG)
    approve(page, "step")
    expect(page.locator("#run-result")).to_contain_text("Succeeded", timeout=LONG, ignore_case=True)
    cited = opened(page)
    assert cited.keys() == READ.keys()
    check_report(taken(page, "Report as PDF"))
    copy = docx.make(taken(page, "Download reviewed/deal/Service agreement.docx"))
    assert [words for words, _ in comments_in(copy)] == cited["deal/Service agreement.docx"]
    assert [said.partition(".")[0] for _, said in comments_in(copy)] == FINDINGS


def submit(page: Page, folder: Path) -> None:
    """Hands the folder over, once the page has said of each file how far it can be read."""
    page.get_by_role("link", name="New run").first.click()
    page.locator("textarea[name=request]").fill("Review these documents")
    page.get_by_label("Plan", exact=True).select_option("document-review")
    page.locator("input#id_folder").set_input_files(folder)
    listed = page.locator("#draft-files li")
    expect(listed.locator(".path")).to_have_text(list(READ))
    expect(listed.locator(".size")).to_contain_text(list(READ.values()), timeout=LONG)
    page.locator("#submit").click()


def opened(page: Page) -> dict[str, list[str]]:
    """The quotes of the answer by their files. Each opens its place with its words marked: as text, and of a page on
    its picture too.
    """
    links = page.locator("#output a[data-source][href*='#hit']")
    quotes: dict[str, list[str]] = {}
    page.get_by_text("Show all of the answer").click()
    panel = page.locator("dialog.source-panel")
    for link in links.all():
        quote = link.inner_text().strip("“”")
        link.click()
        wait_until(page, MARKED, re.sub(r"\W+", "", quote))
        name = panel.locator(".source-title").inner_text()
        if name.endswith(".pdf"):
            expect(panel.locator(".leaf-crop rect").first).to_be_visible()
        else:
            expect(panel.locator("mark").first).to_be_in_viewport()
        quotes.setdefault(name, []).append(quote)
    page.keyboard.press("Escape")
    return quotes


def taken(page: Page, name: str) -> bytes:
    """What a link of the result downloads."""
    link = page.locator("#run-result").get_by_role("link", name=name)
    is_in_menu = not link.count()
    page.locator("#run-result details.menu").evaluate("(menu, open) => { menu.open = open; }", is_in_menu)
    with page.expect_download() as download:
        link.click()
    return Path(download.value.path()).read_bytes()


def check_report(content: bytes) -> None:
    """It is a PDF that names the places as people do."""
    assert content.startswith(b"%PDF-")
    text = " ".join(pdf.make(content).text.split())
    for place in ("Service agreement, clause 2.2", "Annex, page 1", "Rents"):
        assert place in text
    assert SCANNED in text


def comments_in(made: BuiltDocument) -> list[tuple[str, str]]:
    """The words that each comment of pevsite is about, and what it says."""
    document = Document(made.text, made.rendered.layout)
    marks = [one for one in document.marks_on(0, len(made.text), MarkKind.COMMENTED) if one.by == "pevsite"]
    spans = [(mark, document.span_of(mark.note)) for mark in marks]
    return [(made.text[mark.start : mark.end], made.text[slice(*span)]) for mark, span in spans if span]
