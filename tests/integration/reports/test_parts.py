"""The report and its protocol, together and apart; what the report has inside, and how it names documents."""

from __future__ import annotations

import io
from typing import Any

import pytest
from docx import Document
from docx.oxml.ns import qn
from pypdf import PdfReader

from runs.contracts.ports import FileInfo
from runs.documents.printing.blocks import PrintableReport, SourceList, TableBlock, plain
from runs.enums import EventKind
from runs.errors import InvalidInput, NotAllowed
from runs.lifecycle.owner_actions import MAX_REPORT_NAME, ReportNames, name_in_report
from runs.models import Run
from runs.reports.formats import FORMATS
from runs.reports.formats.markdown import as_markdown
from runs.reports.main_part import MAX_FILE_CHARACTERS, MAX_ROWS, MAX_SHOWN_FILES
from runs.reports.outline import Part
from runs.reports.report_format import ReportInput
from runs.store import blobs, trees
from tests import factories as made

pytestmark = pytest.mark.django_db

FINDINGS = """# Points of the contracts

## F1: No commencement date

- Document: contracts/Büro lease.md
- Severity: high
- Recommendation: Fill it in.

## F2: No **amount**

- Document: contracts/Büro lease.md
- Recommendation: State `CHF`.
"""


def report_of(run: Run, part: Part = Part.ALL) -> PrintableReport:
    return ReportInput.of(run, part).report


def titles(report: PrintableReport) -> list[str]:
    return [section.title for section in report.sections]


def with_files(files: dict[str, str], answer: str = "It is done.") -> Run:
    run = made.finished_succeeded()
    written: dict[str, FileInfo | None] = {path: blobs.put(text.encode()) for path, text in files.items()}
    head = trees.with_changes(run.inputs, written)
    Run.objects.filter(pk=run.pk).update(head=head, answer=answer)
    return Run.objects.get(pk=run.pk)


def test_report_and_protocol_are_had_together_and_apart() -> None:
    run = made.finished_partial()
    report, protocol, both = (report_of(run, part) for part in Part)
    assert (titles(report)[:2], report.protocol) == (["Answer", "Open points"], ())
    assert (protocol.main, titles(protocol)[:3]) == ((), ["Outcome", "Request", "Decisions"])
    assert {*titles(report), *titles(protocol)} == {*titles(both)}


def test_the_number_of_the_run_is_a_matter_of_the_protocol() -> None:
    run = made.finished_succeeded()
    named = {part: report_of(run, part).about.split(", ")[0] for part in Part}
    with_number = {Part.PROTOCOL: f"Protocol on run {run.pk}", Part.ALL: f"Report with protocol on run {run.pk}"}
    assert named == {Part.REPORT: "Report", **with_number}


def test_files_name_the_author_or_else_the_organisation(settings: Any) -> None:
    settings.REPORT_ORGANISATION = "Smith & Partners"
    run = made.finished_succeeded()
    assert report_of(run).author == "Smith & Partners"
    run.author = "Ann Smith"
    assert report_of(run).author == "Ann Smith"


def test_hashes_are_a_matter_of_the_protocol() -> None:
    run = with_files({}, "See [the lease](contracts/B%C3%BCro%20lease.md).")
    hashed = {}
    for part in Part:
        [listed] = report_of(run, part).sections[-1].blocks
        assert isinstance(listed, SourceList)
        hashed[part] = {bool(one.sha256) for one in listed.rows}
    assert hashed == {Part.REPORT: {False}, Part.PROTOCOL: {True}, Part.ALL: {True}}
    assert "SHA-256" not in as_markdown(report_of(run, Part.REPORT))


def test_delivered_documents_are_sections_and_the_answer_leads_to_them() -> None:
    run = with_files(
        {"review/notices.md": "Dear Sir or Madam,\n\nplease.", "review/points.md": FINDINGS, "facts.csv": "a,b\n1,2\n"},
        "See [the points](review/points.md).",
    )
    report = report_of(run, Part.REPORT)
    sections = {section.title: section for section in report.main}
    assert list(sections)[:5] == ["Answer", "Overview of findings", "Points of the contracts", "Notices", "Facts"]
    links = [one.to for block in sections["Answer"].blocks for one in getattr(block, "spans", ()) if one.to]
    assert links == [f"#{sections['Points of the contracts'].id}"]
    [table] = sections["Facts"].blocks
    assert isinstance(table, TableBlock)
    assert [[plain(cell) for cell in row] for row in (table.head, *table.rows)] == [["a", "b"], ["1", "2"]]


def test_the_overview_has_severity_and_recommendation_and_titles_of_documents() -> None:
    [section] = [one for one in report_of(with_files({"points.md": FINDINGS})).main if one.id == "findings"]
    [table] = section.blocks
    assert isinstance(table, TableBlock)
    assert [[plain(cell) for cell in row] for row in (table.head, *table.rows)] == [
        ["No.", "Finding", "Severity", "Document", "Recommendation"],
        ["F1", "No commencement date", "high", "Büro lease", "Fill it in."],
        ["F2", "No amount", "", "Büro lease", "State CHF."],
    ]


def test_what_is_too_much_for_the_report_is_only_listed() -> None:
    many = {f"n{number:02}.md": f"# Note {number}\n" for number in range(MAX_SHOWN_FILES + 1)}
    run = with_files({**many, "a-long.md": "x" * (MAX_FILE_CHARACTERS + 1), "picture.png": "\0"})
    [section] = [one for one in report_of(run).main if one.id == "files"]
    _, table = section.blocks
    assert isinstance(table, TableBlock)
    assert [plain(row[1]) for row in table.rows] == ["a-long.md", f"n{MAX_SHOWN_FILES}.md", "picture.png"]
    text = "a\n" + "1\n" * (MAX_ROWS + 1)
    [section] = [one for one in report_of(with_files({"t.csv": text})).main if one.title == "T"]
    assert len(section.blocks) == 2, "it says that there are more"


def test_quoted_words_and_code_keep_the_paths_that_they_name() -> None:
    path = "contracts/Büro lease.md"
    run = with_files({"a.md": f"# A\n\nOf {path}:\n\n> see {path}\n\n`cat {path}`, `{path}`\n"})
    text = as_markdown(report_of(run, Part.REPORT)).partition("## A\n")[2].partition("\n## ")[0]
    assert text.strip().split("\n\n") == ["Of Büro lease:", f"> see {path}", f"`cat {path}`, Büro lease"]


def test_a_report_names_client_matter_and_author() -> None:
    run = made.finished_succeeded()
    name_in_report(run.pk, run.owner, ReportNames(" Acme\n Ltd ", "2026/17", ""))
    run.refresh_from_db()
    assert report_of(run).facts[:2] == (("Client", "Acme Ltd"), ("Matter", "2026/17"))
    [event] = run.events.filter(kind=EventKind.REPORT_NAMED)
    assert event.data == {"by": "alice", "client": "Acme Ltd", "matter": "2026/17"}
    name_in_report(run.pk, run.owner, ReportNames.of(run))
    assert run.events.filter(kind=EventKind.REPORT_NAMED).count() == 1, "nothing has changed"


def test_names_are_changed_by_those_who_manage_the_run_and_fit_on_a_line() -> None:
    run = made.finished_succeeded()
    with pytest.raises(NotAllowed):
        name_in_report(run.pk, made.bob(), ReportNames("Acme"))
    with pytest.raises(
        InvalidInput, match=f"The client has {MAX_REPORT_NAME + 1} characters; {MAX_REPORT_NAME} are allowed."
    ):
        name_in_report(run.pk, run.owner, ReportNames("x" * (MAX_REPORT_NAME + 1)))


PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.mark.slow
def test_the_letterhead_is_in_every_file(settings: Any) -> None:
    settings.REPORT_ORGANISATION, settings.REPORT_LOGO = "Smith & Partners", PICTURE
    settings.REPORT_FOOTER = "1 High Street"
    source = ReportInput.of(made.finished_succeeded(), Part.REPORT)
    files = {name: report_format.write(source) for name, report_format in FORMATS.items() if report_format.has_parts}
    assert b"Smith & Partners" in files["markdown"]
    assert f'<span>Smith &amp; Partners</span><img src="data:image/png;base64,{PICTURE}"'.encode() in files["html"]
    page = PdfReader(io.BytesIO(files["pdf"])).pages[0].extract_text()
    assert ("Smith & Partners" in page, "1 High Street" in page) == (True, True)
    paper = Document(io.BytesIO(files["docx"])).sections[0]
    assert [cell.text for cell in paper.first_page_header.tables[0].rows[0].cells] == ["Smith & Partners", ""]
    assert len(paper.first_page_header.part.element.findall(f".//{qn('w:drawing')}")) == 1
    assert [
        footer.paragraphs[0].text.startswith("1 High Street") for footer in (paper.first_page_footer, paper.footer)
    ] == [True, True]


@pytest.mark.parametrize(
    ("path", "row"),
    [("reviewed/service_agreement.bin", []), ("reviewed/service_agreement.docx", ["Service agreement"])],
)
def test_files_that_are_only_listed_have_titles_if_they_are_documents(path: str, row: list[str]) -> None:
    report = report_of(with_files({path: "x"}), Part.REPORT)
    [_, table] = next(section for section in report.main if section.id == "files").blocks
    assert isinstance(table, TableBlock)
    assert [[plain(cell) for cell in cells] for cells in table.rows] == [[*row, path, "1 byte"]]
