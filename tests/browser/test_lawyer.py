"""A lawyer's afternoon: four contracts, a change, a missing annex, and what is sent to the client at the end.

`test_review`, `test_missing_files` and `tests/integration/test_legal_review_job.py` have its parts.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect
from pypdf import PdfReader

from tests.browser.conftest import heard, new_context
from tests.browser.site import Site, served
from tests.browser.test_story import LONG, approve, gate
from tests.documents import pdfs, word, workbooks
from tests.documents.pictures import page as scanned
from tests.documents.pictures import saved
from tests.factories.driving import MODELS
from tests.fakes.anthropic_answers import Answer, Request, Say, ToolUse, UseTools
from tests.fakes.anthropic_api import FakeAnthropic
from tests.fakes.team import Team, block, given_to, plan, report, step, step_of, told, verdict
from tests.installation import Installation

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive, pytest.mark.allow_hosts(["127.0.0.1"])]
SUPPLY, LEASE, LOAN, RENTS = "Supply agreement.docx", "Lease ACME-000001.pdf", "Loan.pdf", "Rents.xlsx"
ANNEX = "Annex B.docx"
COPY = f"reviewed/{SUPPLY}"
FINDINGS = "review/findings.md"
NOTICE, PAYMENT = "A party may give notice of 60 days.", "Payment is due within a reasonable time."
RENT, RATE, CAP = (
    "The rent is CHF 2,500 a month.",
    "The interest rate is 7 percent.",
    "Liability is capped at EUR 40,000.",
)
SUMMARY = "Five points need attention in four contracts."
REQUEST = "Review these four contracts. Say what to change, and put the findings into the Word file as comments."
CHANGE = "Name the severity of each finding."


def documents() -> dict[str, bytes]:
    changed = word.paragraph("A party may give notice of ", word.deleted("30"), word.inserted("60"), " days.")
    stamped = (
        pdfs.line(RENT) + pdfs.line("The tenant pays it in advance.", y=680) + pdfs.line("ACME-000001", x=480, y=30)
    )
    other = pdfs.line("Signed by both parties.") + pdfs.line("ACME-000002", x=480, y=30)
    return {
        SUPPLY: word.word(changed + word.paragraph(PAYMENT) + word.paragraph("The cap is in Annex B.")),
        LEASE: pdfs.pages_of([stamped, other]),
        LOAN: saved(scanned(["The Lender grants a loan.", RATE]), "PDF"),
        RENTS: workbooks.workbook({"Rents": workbooks.rows(["Flat", "Rent"], ["First floor", 2500])}),
    }


POINTS = [
    ("Longer notice", SUPPLY, NOTICE, "p1", "Agree to the tracked change.", "medium"),
    ("Vague term of payment", SUPPLY, PAYMENT, "p2", "Replace it by a number of days.", "high"),
    ("Rent in advance", LEASE, RENT, "page=1", "Ask for a discount.", "low"),
    ("High rate", LOAN, RATE, "page=1", "Negotiate the rate.", "medium"),
    ("Low cap", "", CAP, "p1", "Ask for a higher cap.", "low"),
]
"""Title, document (the annex if empty), quote, place, recommendation, severity."""


def cited(quote: str, document: str, place: str) -> str:
    return f"[“{quote}”](<{document.replace(' ', '%20')}#{place}>)"


def findings(annex: str, *, graded: bool) -> str:
    """The document with the findings, as the executor writes it: graded once it was asked for."""
    text = f"# Findings\n\n{SUMMARY}\n\n"
    for number, (title, document, quote, place, advice, severity) in enumerate(POINTS, 1):
        name = document or annex
        grade = f"- Severity: {severity}\n" if graded else ""
        text += f"## F{number}: {title}\n\n{cited(quote, name, place)}\n\n- Document: {name}\n{grade}"
        text += f"- Recommendation: {advice}\n\n"
    return text


def listed(annex: str) -> str:
    """What the executor reports of them."""
    points = (f"- F{n}: {one[0]}. {cited(one[2], one[1] or annex, one[3])}\n" for n, one in enumerate(POINTS, 1))
    return f"{SUMMARY}\n\n{''.join(points)}"


def criterion(text: str, about: str = "output", **check: str) -> dict[str, Any]:
    return {"text": text, "about": about, "check": check or None}


def planned() -> dict[str, Any]:
    review = step("review", complexity="high", outputs=(FINDINGS,)) | {
        "name": "Review the contracts",
        "description": "Find what to change in each contract, and write it down with recommendations.",
        "acceptance_criteria": [
            criterion("The findings exist", kind="file_exists", path=FINDINGS),
            criterion("The finding about the notice names the days of the contract", "sources"),
        ],
    }
    comments = step("comments", "review", outputs=(COPY,)) | {
        "name": "Comment the Word file",
        "description": "Put the findings into a copy of the Word file as comments.",
        "inputs": [SUPPLY],
        "actions": [{"tool": "comment_document", "purpose": "comment the clauses"}],
        "acceptance_criteria": [criterion("The copy exists", kind="file_exists", path=COPY)],
    }
    success = [criterion("The answer names the notice of the supply agreement", "sources")]
    return plan(review, comments) | {"goal": "Review the four contracts", "success_criteria": success}


class Firm:
    """The models of the story."""

    def annex(self, request: Request) -> str:
        return next((path for path in given_to(request) if "Annex" in path), "")

    def executor(self, request: Request, right: Answer) -> Answer:
        reviews, annex = step_of(request)["step_id"] == "review", self.annex(request)
        if request.tool_results:
            return Say(json.dumps(report(listed(annex) if reviews else "The Word file has two comments.")))
        if not reviews:
            return UseTools(
                ToolUse("comment_document", {"path": SUPPLY, "quote": NOTICE, "comment": "F1: longer notice"}),
                ToolUse("comment_document", {"path": SUPPLY, "quote": PAYMENT, "comment": "F2: vague term"}),
            )
        if not annex:
            blocked = report("Annex B of the supply agreement is missing; the cap is in it.", status="blocked")
            return Say(json.dumps(blocked))
        reads = [ToolUse("read_file", {"path": path}) for path in given_to(request)]
        graded = any(CHANGE in part.text for part in told(request))
        text = findings(annex, graded=graded)
        return UseTools(*reads, ToolUse("write_file", {"path": FINDINGS, "content": text}))

    def verifier(self, request: Request, right: Answer) -> Answer:
        judged = verdict([], "", "")
        for line in block(told(request), "criteria").splitlines():
            label, _, text = line.partition(": ")
            if "notice" in text:
                proof = verdict([label], SUPPLY, NOTICE, NOTICE)
            elif label.startswith("R"):
                proof = verdict([label], "@diff", "- Severity: high")
            else:
                proof = verdict([label], FINDINGS, SUMMARY)
            judged["criteria_results"] += proof["criteria_results"]
        return Say(json.dumps(judged))

    def synthesizer(self, request: Request, right: Answer) -> Answer:
        target = f"{SUPPLY}#p1".replace(" ", "%20")
        answer = f"Five points need attention. The most urgent is the notice: [“{NOTICE}”](<{target}>)."
        return Say(json.dumps({"answer": answer}))


@pytest.fixture(scope="module")
def models() -> Iterator[FakeAnthropic]:
    firm = Firm()
    with FakeAnthropic() as api:
        team = Team(planned(), executor=firm.executor, verifier=firm.verifier, synthesizer=firm.synthesizer)
        api.script(team)
        yield api
        assert api.violations == []


@pytest.fixture(scope="module")
def office(
    models: FakeAnthropic, tmp_path_factory: pytest.TempPathFactory, installation: Installation
) -> Iterator[Site]:
    """A site with a model and a letterhead."""
    folder = tmp_path_factory.mktemp("office")
    Image.new("RGB", (300, 100), "navy").save(folder / "logo.png")
    environ: dict[str, Any] = {f"PEV_MODEL_{role.upper()}": one.model for role, one in MODELS.items()}
    environ |= {
        "ANTHROPIC_BASE_URL": models.url,
        "ANTHROPIC_API_KEY": "test-key-of-nobody",
        "PEV_POLICY": "replans=0",
        "PEV_REPORT_ORGANISATION": "Smith & Partners",
        "PEV_REPORT_LOGO": str(folder / "logo.png"),
        "PEV_REPORT_FOOTER": "1 High Street, London",
    }
    with served(installation.copy(folder / "data"), **environ) as site:
        yield site


@pytest.fixture
def desk(browser: Browser, office: Site, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = new_context(browser, office.account("lawyer"))
    with heard(context, office, request.node) as page:
        yield page
    context.close()


def test_a_lawyer_reviews_four_contracts_and_sends_the_report(desk: Page, office: Site, tmp_path: Path) -> None:
    page = desk
    submit(page, office, tmp_path)
    approve(page, "plan")
    give_the_annex(page, tmp_path)
    expect(gate(page, "step")).to_contain_text("5 of 5 citations found", timeout=LONG)
    gate(page, "step").locator("[name=reason]").fill(CHANGE)
    gate(page, "step").locator("button[value=reject]").click()
    expect(gate(page, "step")).to_contain_text(CHANGE, timeout=LONG)
    expect(gate(page, "step")).to_contain_text("attempt 3", timeout=LONG)
    approve(page, "step")
    expect(page.locator("#run-result")).to_contain_text("Succeeded", timeout=LONG, ignore_case=True)
    check_copy(downloaded(page, f"Download {COPY}"))
    page.locator("#run-result summary", has_text="Download").click()
    check_report(downloaded(page, "Report as PDF"))


def submit(page: Page, site: Site, folder: Path) -> None:
    for name, content in documents().items():
        (folder / name).write_bytes(content)
    page.goto(f"{site.url}/runs/new/")
    page.locator("textarea[name=request]").fill(REQUEST)
    page.locator("input#id_files").set_input_files([folder / name for name in documents()])
    expect(page.locator("#draft-files")).to_contain_text(RENTS)
    expect(page.locator("#draft-files")).not_to_have_attribute("data-reading", re.compile("[1-9]"))
    page.locator("summary", has_text="client, matter, author").click()
    page.get_by_label("Client", exact=True).fill("Acme Ltd")
    page.get_by_label("Matter", exact=True).fill("2026/17")
    page.get_by_label("Author", exact=True).fill("Ann Smith")
    page.locator("#submit").click()
    expect(gate(page, "plan")).to_contain_text("Review the contracts", timeout=LONG)


def give_the_annex(page: Page, folder: Path) -> None:
    blocked = gate(page, "exhausted")
    expect(blocked).to_contain_text("Annex B of the supply agreement is missing", timeout=LONG)
    (folder / ANNEX).write_bytes(word.word(word.paragraph(CAP)))
    blocked.locator("input[type=file]").set_input_files(folder / ANNEX)
    blocked.get_by_role("button", name="Give and try again").click()


def downloaded(page: Page, name: str) -> bytes:
    with page.expect_download() as download:
        page.locator("#run-result").get_by_role("link", name=name, exact=True).click()
    return Path(download.value.path()).read_bytes()


def check_report(data: bytes) -> None:
    """Someone else can read it: with letterhead, titles, recommendations and deliverables, without our numbers."""
    reader = PdfReader(io.BytesIO(data))
    pages = [" ".join(page.extract_text().split()) for page in reader.pages]
    text = " ".join(pages)
    assert reader.metadata
    assert (reader.metadata.author, reader.metadata.title) == ("Ann Smith", "Review these four contracts")
    shown = ["Smith & Partners", "Acme Ltd", "2026/17", "Ann Smith", "Review these four contracts", "Answer"]
    assert [words for words in shown if words not in pages[0]] == []
    assert [page for page in pages if "1 High Street, London" not in page] == []
    assert len(reader.pages[0].images) == 1, "the logo"
    delivered = [
        "Overview of findings",
        "Replace it by a number of days.",
        "high",
        "Supply agreement",
        "Lease ACME-000001",
    ]
    assert [words for words in delivered if words not in text] == []
    ids = re.findall(r"\brun \d+|\b[0-9a-f]{12,}|@\w+|attempt \d|step_id|findings\.md", text)
    assert (ids, "Protocol" in text) == ([], False)


def check_copy(data: bytes) -> None:
    """The comments of the copy are at the words that they are about; the tracked changes are as they were."""
    w = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        body = ElementTree.fromstring(package.read("word/document.xml"))
        notes = ElementTree.fromstring(package.read("word/comments.xml"))
    said = {note.get(f"{w}id"): "".join(part.text or "" for part in note.iter(f"{w}t")) for note in notes}
    commented: dict[str, str] = {}
    open_comments: set[str] = set()
    for element in body.iter():
        number = element.get(f"{w}id", "")
        if element.tag == f"{w}commentRangeStart":
            open_comments.add(number)
        elif element.tag == f"{w}commentRangeEnd":
            open_comments.discard(number)
        elif element.tag == f"{w}t":
            for one in open_comments:
                commented[said[one]] = commented.get(said[one], "") + (element.text or "")
    assert commented == {"F1: longer notice": NOTICE, "F2: vague term": PAYMENT}
    assert [one.tag for one in body.iter() if one.tag in {f"{w}ins", f"{w}del"}] == [f"{w}del", f"{w}ins"]
