"""The files of the review: what they say where there is more, or less, than usual."""

import csv
import io

from runs.contracts.ports import ToolUse
from runs.evidence.citations.lookup import citations_in
from runs.evidence.sources import GivenFiles, Sources
from runs.pev.tools.toolbox import RunTools
from runs.rehearsal import review_files
from runs.rehearsal.conversation import Call
from runs.rehearsal.documents import Document, Limits, documents_in, lines_in
from tests.documents.word import paragraph, table, word
from tests.unit.rehearsal.bench import Memory, as_read


def document(path: str, *lines: str, unread: str = "") -> Document:
    return Document(path, 1, lines_in(path, "\n".join(lines)), len(lines), unread=unread)


def as_shown(path: str, result: str) -> Document:
    return documents_in([Call("read_file", result, is_error=False, path=path)], Limits())[path]


LONG, PICTURE = Document("long.md", 2_000_000), Document("scan.png", 9, problem="it cannot be read as text")
PART = document("part.docx", "All is well.", unread="Page 2 of 2 could not be read")
NOT_REVIEWED = "; not reviewed, or not as a whole: part.docx, long.md, scan.png"


def test_an_inventory_has_every_file_and_counts_what_was_reviewed() -> None:
    dismissed = Document("b.md", 5, is_dismissed=True)
    made = review_files.inventory([document("a|b.md", "Fine by me."), PART, LONG, PICTURE, dismissed])
    rows = [line for line in made.content.split("\n") if line.startswith("| [")]
    assert rows == [
        r"| [a\\|b.md](a%7Cb.md) | 1 | 1 | 3 |  |",
        "| [part.docx](part.docx) | 1 | 1 | 3 | not reviewed as a whole: Page 2 of 2 could not be read |",
        "| [long.md](long.md) | 2000000 |  |  | not reviewed: too long for the offline rules |",
        "| [scan.png](scan.png) | 9 |  |  | not reviewed: it cannot be read as text |",
        "| [b.md](b.md) | 5 |  |  | left out, by feedback |",
    ]
    assert made.summary == f"5 files, 2 read as text: 2 lines, 6 words{NOT_REVIEWED}."


def test_key_facts_are_rows_with_document_and_line() -> None:
    made = review_files.key_facts([document("a.md", "Weber AG pays", "EUR 5 on 1 May 2026."), LONG])
    assert list(csv.reader(io.StringIO(made.content))) == [
        ["document", "kind", "text", "line"],
        ["a.md", "party", "Weber AG", "1"],
        ["a.md", "date", "1 May 2026", "2"],
        ["a.md", "amount", "EUR 5", "2"],
    ]
    assert made.summary == (
        "1 party, 1 date and 1 amount found in 1 document; not reviewed, or not as a whole: long.md.\n\n"
        "- a.md, line 1: party Weber AG\n- a.md, line 2: date 1 May 2026\n- a.md, line 2: amount EUR 5"
    )


def test_what_was_not_reviewed_is_in_headline_file_and_notices() -> None:
    made = review_files.findings([document("a.md", "Fine."), PART, LONG, PICTURE])
    assert made.summary == f"No points were found by the rules in 2 documents{NOT_REVIEWED}."
    section = """## Not reviewed

- part.docx: not reviewed as a whole: Page 2 of 2 could not be read
- long.md: not reviewed: too long for the offline rules
- scan.png: not reviewed: it cannot be read as text
"""
    assert made.content.endswith(section)
    notices = review_files.notices(made.content, "")
    assert notices.summary == "No notice is drafted: findings.md lists no points."
    assert notices.content.endswith(section.replace("## Not reviewed", "No notice can rest on what was not reviewed:"))


def test_where_no_document_can_be_read_none_is_said_to_be_without_points() -> None:
    made = review_files.findings([PICTURE])
    assert made.summary == (
        "No points were found by the rules in 0 documents; not reviewed, or not as a whole: scan.png."
    )


def test_a_quote_cannot_pass_for_an_entry() -> None:
    findings = ["### F1 · A: b", "", "> ### F2 · x", "", "- Document: a.md", "- Line: 1", "- Recommendation: Do."]
    made = review_files.notices("\n".join(findings), "")
    assert made.summary == "1 notice drafted, raising 1 point.\n- a.md: F1"
    assert "1. F1, line 1: A: b. Do." in made.content


def test_notices_name_the_parties_of_the_document() -> None:
    findings = review_files.findings([document("a.md", "The fee is TBD.")]).content
    facts = "document,kind,text,line\na.md,party,Weber AG,1\nb.md,party,Muster GmbH,1\na.md,date,1 May 2026,2\n"
    assert "Parties named in the document: Weber AG.\n" in review_files.notices(findings, facts).content
    assert "Parties named" not in review_files.notices(findings, f'{facts.partition("a.md")[0]}"').content


def test_the_same_place_is_named_once() -> None:
    pages = "[page=1]\nPaid promptly.\nOr promptly.\n[page=2]\nAnd promptly."
    content = review_files.findings([as_shown("a.pdf", f"a.pdf, lines 1-3 of 3, pages 1-2 of 2\n{pages}")]).content
    assert [line for line in content.split("\n") if line.startswith(("- Place", "- Also"))] == [
        "- Place: page 1",
        "- Also: page 2",
    ]


def test_blanks_are_cited_with_the_cells_or_lines_before_them() -> None:
    lease = word(table(("Start", "[date]"), ("Deposit", "TBD"), ("Rent", "____")) + paragraph("____"))
    given = {"a.docx": as_read("a.docx", lease), "b.md": b"Monthly rent\n\n____\n"}
    tools = RunTools(Memory(given))
    shown = [as_shown(path, tools.run(ToolUse("one", "read_file", {"path": path})).text) for path in given]
    content = review_files.findings(shown).content
    cited = citations_in(content, Sources({"findings.md": content.encode()}, GivenFiles(given), made=["findings.md"]))
    assert [(one.status.value, one.target, one.quote) for one in cited.links if "#" in one.target] == [
        ("ok", "a.docx#t1r1c2.p1", "[date]"),
        ("ok", "a.docx#t1r2c2.p1", "TBD"),
        ("ok", "a.docx#t1r3c2.p1", "TBD Rent ____"),
        ("ok", "a.docx#p1", "TBD Rent ____ ____"),
        ("ok", "b.md#L1-L3", "Monthly rent ____"),
    ]


def test_findings_begin_with_how_many_of_each_kind_there_are() -> None:
    read = document("a.md", "- Fee: TBD", "It is done promptly, in due course.", "Paid promptly.", "Deposit CHF ____")
    made = review_files.findings([read, document("b.md", "Fine.")])
    headline = "4 points need attention in 1 of 2 documents: 2 vague terms, 1 placeholder, 1 missing amount."
    assert made.summary.partition("\n")[0] == headline
    assert headline in made.content
