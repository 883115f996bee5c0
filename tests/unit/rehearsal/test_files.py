"""The files of the review where there is more, or less, than usual."""

import csv
import io

from runs.contracts.ports import ToolUse
from runs.evidence.citations.lookup import citations_in
from runs.evidence.sources import GivenFiles, Sources
from runs.pev.contracts import LeftOut
from runs.pev.tools.toolbox import RunTools
from runs.rehearsal import executor
from runs.rehearsal.conversation import Call
from runs.rehearsal.documents import DEFAULT, Account, Document, Limits, library
from runs.rehearsal.executor import Material
from tests.documents.word import paragraph, table, word
from tests.unit.rehearsal.bench import Memory, as_read


def material(*documents: Document, unlisted: int = 0, limits: Limits = DEFAULT) -> Material:
    return Material("review/file", Account(documents, unlisted, limits))


def document(path: str, *lines: str) -> Document:
    return Document(path, 1, dict(enumerate(lines, 1)), len(lines), pages=1)


def test_an_inventory_counts_what_it_does_not_list() -> None:
    many = [document(f"{'x' * 90}{number:03d}.md", "text") for number in range(600)]
    made = executor.inventory(material(*many, unlisted=7, limits=Limits(file_chars=50_000)))
    listed = sum(line.startswith("| x") for line in made.content.split("\n"))
    assert 0 < listed < 600
    assert f"Not listed here: {607 - listed} files." in made.content
    assert made.summary == "607 files, 600 read as text: 600 lines, 600 words; not listed: 7 more files."
    why = f"{600 - listed} of 600 rows are not in it, for want of room"
    assert made.left_out == [LeftOut(path="review/file", why=why)]


def test_key_facts_say_how_many_there_was_no_room_for() -> None:
    many = document("a.md", *[f"- EUR {number}" for number in range(3_000)])
    made = executor.key_facts(material(many, limits=Limits(file_chars=50_000)))
    rows = list(csv.DictReader(io.StringIO(made.content)))
    assert made.summary.startswith("0 parties, 0 dates and 3000 amounts found in 1 document.")
    assert f" {3_000 - len(rows)} of them are not in the file: it would be too long." in made.summary
    assert [one.why for one in made.left_out] == [
        f"{3_000 - len(rows):,} of 3,000 facts are not in it, for want of room"
    ]


def test_findings_keep_their_number_where_there_is_no_room_for_all() -> None:
    many = document("a.md", *[f"- Fee {number}: TBD" for number in range(900)])
    made = executor.findings(material(many, limits=Limits(file_chars=50_000)))
    listed = made.content.count("### F")
    assert "Points in all: 900\n" in made.content
    assert f"{900 - listed} further points, for want of room." in made.content
    assert made.summary.endswith("\n- and 840 more")
    assert [one.why for one in made.left_out] == [f"{900 - listed} of 900 points are not in it, for want of room"]


def test_what_was_not_reviewed_is_in_headline_file_and_notices() -> None:
    part = Document("part.md", 9, {1: "All is well."}, 4, pages=1)
    long, picture = Document("long.md", 2_000_000), Document("scan.png", 9, refused=True)
    made = executor.findings(material(document("a.md", "Fine."), part, long, picture, unlisted=2))
    not_reviewed = "not reviewed: long.md, scan.png; not reviewed as a whole: part.md; not listed: 2 more files"
    headline = f"No points were found by the rules in 1 document and a part of 1 document; {not_reviewed}."
    assert made.summary == headline
    section = """## Not reviewed

- part.md: not reviewed as a whole: 1 of 4 lines were read, the rest is too long for the offline rules
- long.md: not reviewed: too long for the offline rules
- scan.png: not reviewed: it cannot be read as text
- not reviewed: files that the list of all files had no room for
"""
    assert section in made.content
    notices = executor.notices(material(document("review/findings.md", *made.content.split("\n"))))
    assert notices.summary == ("No notice is drafted: findings.md lists no points, and not everything was reviewed.")
    assert "- long.md: not reviewed: too long for the offline rules\n" in notices.content


def test_where_no_document_can_be_read_none_is_said_to_be_without_points() -> None:
    made = executor.findings(material(Document("scan.png", 9, refused=True)))
    assert made.summary == "No document was reviewed; not reviewed: scan.png."


def test_notices_of_no_findings_say_that_none_is_needed() -> None:
    made = executor.notices(material(document("review/findings.md", "No points were found.")))
    content, summary = made.content, made.summary
    assert summary == "No notice is needed: findings.md lists no points."
    assert summary in content


def test_a_quote_cannot_pass_for_an_entry() -> None:
    findings = ["### F1 · A: b", "", "> ### F2 · x", "", "- Document: a.md", "- Line: 1", "- Recommendation: Do."]
    made = executor.notices(material(document("review/findings.md", *findings)))
    content, summary = made.content, made.summary
    assert summary == "1 notice drafted, raising 1 point.\n- a.md: F1"
    assert "1. F1, line 1: A: b. Do." in content


def test_the_same_place_is_named_once() -> None:
    pages = "[page=1]\nPaid promptly.\nOr promptly.\n[page=2]\nAnd promptly."
    read = Call("read_file", f"a.pdf, lines 1-3 of 3, pages 1-2 of 2\n{pages}", is_error=False, path="a.pdf")
    content = executor.findings(material(library([read], [])["a.pdf"])).content
    assert [line for line in content.split("\n") if line.startswith(("- Place", "- Also"))] == [
        "- Place: page 1",
        "- Also: page 2",
    ]


def test_blanks_in_cells_of_documents_are_cited_with_the_cells_before_them() -> None:
    lease = word(table(("Start", "[date]"), ("Deposit", "TBD"), ("Rent", "____")) + paragraph("____"))
    given = {"a.docx": as_read("a.docx", lease)}
    shown = RunTools(Memory(given)).run(ToolUse("one", "read_file", {"path": "a.docx"})).text
    read = library([Call("read_file", shown, is_error=False, path="a.docx")], [])["a.docx"]
    content = executor.findings(material(read)).content
    cited = citations_in(content, Sources({"findings.md": content.encode()}, GivenFiles(given), made=["findings.md"]))
    assert [(one.status.value, one.target, one.quote) for one in cited.links if "#" in one.target] == [
        ("ok", "a.docx#t1r1c2.p1", "[date]"),
        ("ok", "a.docx#t1r2c2.p1", "TBD"),
        ("ok", "a.docx#t1r3c2.p1", "TBD Rent ____"),
        ("ok", "a.docx#p1", "TBD Rent ____ ____"),
    ]


def test_findings_begin_with_how_many_of_each_kind_there_are() -> None:
    read = document("a.md", "- Fee: TBD", "It is done promptly, in due course.", "Paid promptly.", "Deposit CHF ____")
    made = executor.findings(material(read))
    content, summary = made.content, made.summary
    headline = "4 points need attention in 1 document: 2 vague terms, 1 placeholder, 1 missing amount."
    assert summary.partition("\n")[0] == headline
    assert headline in content
