"""The files of the review where there is more, or less, than usual."""

import csv
import io

from runs.pev.citations.lookup import citations_in
from runs.pev.evidence.sources import Given, Sources
from runs.pev.ports import ToolUse
from runs.pev.tools.toolbox import RunTools
from runs.rehearsal import files
from runs.rehearsal.conversation import Call
from runs.rehearsal.documents import Document, library
from runs.rehearsal.files import Material
from tests.documents.word import paragraph, table, word
from tests.unit.rehearsal.bench import Memory, as_read


def material(*documents: Document, unlisted: int = 0) -> Material:
    return Material(documents, documents, frozenset(), unlisted, "", 0, silent=False)


def document(path: str, *lines: str) -> Document:
    return Document(path, 1, dict(enumerate(lines, 1)), len(lines))


def test_an_inventory_counts_what_it_does_not_list() -> None:
    many = [document(f"{'x' * 90}{number:03d}.md", "text") for number in range(600)]
    content, summary = files.inventory(material(*many, unlisted=7))
    listed = sum(line.startswith("| x") for line in content.split("\n"))
    assert 0 < listed < 600
    assert f"Not listed here: {607 - listed} files." in content
    assert summary == "607 files, 600 read as text: 600 lines, 600 words."


def test_key_facts_say_how_many_there_was_no_room_for() -> None:
    content, summary = files.key_facts(material(document("a.md", *[f"- EUR {number}" for number in range(3_000)])))
    rows = list(csv.DictReader(io.StringIO(content)))
    assert len(content) < 60_000
    assert summary.startswith("0 parties, 0 dates and 3000 amounts found in 1 document.")
    assert f" {3_000 - len(rows)} of them are not in the file: it would be too long." in summary


def test_findings_keep_their_number_where_there_is_no_room_for_all() -> None:
    content, summary = files.findings(material(document("a.md", *[f"- Fee {number}: TBD" for number in range(900)])))
    assert "Points in all: 900\n" in content
    assert "further points, for want of room." in content
    assert summary.endswith("\n- and 840 more")


def test_notices_of_no_findings_say_that_none_is_needed() -> None:
    content, summary = files.notices(material(document("review/findings.md", "No points were found.")))
    assert summary == "No notice is needed: findings.md lists no points."
    assert summary in content


def test_a_quote_cannot_pass_for_an_entry() -> None:
    findings = ["### F1 · A: b", "", "> ### F2 · x", "", "- Document: a.md", "- Line: 1", "- Recommendation: Do."]
    content, summary = files.notices(material(document("review/findings.md", *findings)))
    assert summary == "1 notice drafted, raising 1 point.\n- a.md: F1"
    assert "1. F1, line 1: A: b. Do." in content


def test_the_same_place_is_named_once() -> None:
    pages = "[page=1]\nPaid promptly.\nOr promptly.\n[page=2]\nAnd promptly."
    read = Call("read_file", f"a.pdf, lines 1-3 of 3, pages 1-2 of 2\n{pages}", is_error=False, path="a.pdf")
    content, _ = files.findings(material(library([read], [])["a.pdf"]))
    assert [line for line in content.split("\n") if line.startswith(("- Place", "- Also"))] == [
        "- Place: page 1",
        "- Also: page 2",
    ]


def test_blanks_in_cells_of_documents_are_cited_with_the_cells_before_them() -> None:
    lease = word(table(("Start", "[date]"), ("Deposit", "TBD"), ("Rent", "____")) + paragraph("____"))
    given = {"a.docx": as_read("a.docx", lease)}
    shown = RunTools(Memory(given)).run(ToolUse("one", "read_file", {"path": "a.docx"})).text
    read = library([Call("read_file", shown, is_error=False, path="a.docx")], [])["a.docx"]
    content, _ = files.findings(material(read))
    cited = citations_in(content, Sources({"findings.md": content.encode()}, Given(given), made=["findings.md"]))
    assert [(one.status.value, one.target, one.quote) for one in cited.links if "#" in one.target] == [
        ("ok", "a.docx#t1r1c2.p1", "[date]"),
        ("ok", "a.docx#t1r2c2.p1", "TBD"),
        ("ok", "a.docx#t1r3c2.p1", "TBD Rent ____"),
        ("ok", "a.docx#p1", "TBD Rent ____ ____"),
    ]


def test_findings_begin_with_how_many_of_each_kind_there_are() -> None:
    read = document("a.md", "- Fee: TBD", "It is done promptly, in due course.", "Paid promptly.", "Deposit CHF ____")
    content, summary = files.findings(material(read))
    headline = "4 points need attention in 1 document: 2 vague terms, 1 placeholder, 1 missing amount."
    assert summary.partition("\n")[0] == headline
    assert headline in content
