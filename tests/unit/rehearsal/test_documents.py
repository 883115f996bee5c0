"""What tool results show of the documents."""

from runs.pev.contracts import LeftOut
from runs.pev.conversation.turns import MAX_CALLS
from runs.rehearsal.conversation import Call
from runs.rehearsal.documents import (
    LINES_OF_A_CALL,
    Document,
    Limits,
    Line,
    documents_in,
    gaps_of,
    lines_in,
    lines_of,
    next_reads,
    not_listed,
)

LISTING = Call("list_files", "3 files, size in bytes and path:\n7\ta.md\n5\tb, lines 1-2 of 2.md", is_error=False)
LIMITS = Limits()


def page(path: str, result: str, *, error: bool = False) -> Call:
    return Call("read_file", result, error, path)


def known(*calls: Call, limits: Limits = LIMITS) -> dict[str, Document]:
    return documents_in(calls, limits)


def test_files_are_known_by_listing_and_by_reading() -> None:
    read = page("a.md", "a.md, lines 1-2 of 3\none\r\ntwo\n[more follows; go on with first_line=3]")
    documents = documents_in([LISTING, read], LIMITS, ["review/findings.md"])
    assert list(documents) == ["a.md", "b, lines 1-2 of 2.md", "review/findings.md"]
    assert documents["a.md"] == Document("a.md", 7, list(lines_of("a.md", ["one", "two"])), 3)
    assert documents["b, lines 1-2 of 2.md"].total is None


def test_what_is_due_is_the_next_page_of_what_was_begun_then_new_files() -> None:
    begun, fresh = Document("z.md", lines=lines_in("z.md", "a\nb"), total=3), Document("a.md")
    whole, refused = Document("b.md", lines=lines_in("b.md", "a"), total=1), Document("c.png", problem="it is none")
    dismissed = Document("d.md", is_dismissed=True)
    assert next_reads([fresh, whole, refused, dismissed, begun], LIMITS, 1) == [
        ("read_file", {"path": "z.md", "first_line": 3, "lines": LINES_OF_A_CALL}),
        ("read_file", {"path": "a.md", "first_line": 1, "lines": LINES_OF_A_CALL}),
    ]


def test_a_turn_has_a_limited_number_of_reads_and_the_last_turns_have_none() -> None:
    files = [Document(f"{number}.md") for number in range(MAX_CALLS + 3)]
    assert len(next_reads(files, LIMITS, 1)) == MAX_CALLS
    assert next_reads(files, Limits(turns=3), 3) == []


def test_documents_beyond_a_limit_are_named_with_the_reason() -> None:
    documents = known(
        page("cut.md", "cut.md, lines 1-1 of 3\nlong\n[cut: line 1 has 9 characters and 4 are shown]"),
        page("long.md", "long.md, lines 1-2 of 3\nmany\nwords\n[more follows; go on with first_line=3]"),
        page("no.png", "no.png is not a text file", error=True),
        page("begun.md", "begun.md, lines 1-1 of 2\none\n[more follows; go on with first_line=2]"),
        page("none.md", "none.md is empty"),
        limits=Limits(file_characters=10),
    )
    assert gaps_of(documents.values()) == [
        LeftOut(path="begun.md", why="not reviewed: too long for the offline rules"),
        LeftOut(path="cut.md", why="not reviewed: it has a line that is too long for the offline rules"),
        LeftOut(path="long.md", why="not reviewed: too long for the offline rules"),
        LeftOut(path="no.png", why="not reviewed: it cannot be read as text"),
    ]
    assert [path for path, one in documents.items() if one.is_reviewed] == ["none.md"]
    assert [path for path, one in documents.items() if one.is_due] == ["begun.md"]


def test_what_a_person_has_left_out_is_noted_and_is_no_gap() -> None:
    dismissed = Document("a.md", is_dismissed=True)
    assert (dismissed.note, dismissed.is_reviewed, gaps_of([dismissed])) == ("left out, by feedback", False, [])


def test_files_that_are_not_listed_are_counted() -> None:
    more = Call("list_files", f"{LISTING.result}\n[12 more are not listed; use a prefix to see them]", is_error=False)
    assert (not_listed([LISTING]), not_listed([more]), not_listed([])) == (0, 12, 0)


def test_of_a_document_the_names_of_places_are_no_part_of_its_lines() -> None:
    lease = page(
        "lease.docx",
        "lease.docx, lines 1-3 of 3\n[p1] 4 Rent\n[p2] 4.2(b) {inserted by Bob: “now”} {hidden} Due now.\n[p3] Signed.",
    )
    report = page(
        "a.pdf", "a.pdf, lines 1-3 of 3, pages 1-2 of 2\n[page=1] “i”\nFirst.\nMore.\n[page=2] {read by OCR}\nLast."
    )
    documents = known(lease, report)
    assert {path: (one.text, one.is_reviewed) for path, one in documents.items()} == {
        "lease.docx": ("Rent\nDue now.\nSigned.", True),
        "a.pdf": ("First.\nMore.\nLast.", True),
    }


def test_places_of_documents_are_named_as_people_do_and_cited_by_their_names() -> None:
    pages = "a.pdf, lines 1-3 of 3, pages 1-2 of 2\n[page=1]\nFirst.\nMore.\n[page=2]\nLast."
    paragraphs = "b.docx, lines 1-3 of 3\n[p1] 4.2(b) Rent.\n[p2] 30 days.\n[cm0.p1] {comment by Bob} Why?"
    documents = known(page("a.pdf", pages), page("b.docx", paragraphs))
    report, lease = documents["a.pdf"], documents["b.docx"]
    text = Document("c.md", lines=lines_in("c.md", "one\ntwo\n"))
    assert [[line.place for line in one.lines] for one in (report, lease, text)] == [
        ["page 1", "page 1", "page 2"],
        ["clause 4.2(b)", "paragraph 2", "comment 0"],
        ["line 1", "line 2"],
    ]
    assert [report.anchor(1, 2), report.anchor(2, 3), lease.anchor(1, 1), lease.anchor(1, 2), text.anchor(1, 2)] == [
        "page=1",
        "page=1-2",
        "p1",
        "p2",
        "L1-L2",
    ]


def test_a_text_that_begins_like_a_document_is_a_text() -> None:
    read = page("a.md", "a.md, lines 1-2 of 2\n[p1] 4.2 Rent\n[page=1]")
    assert known(read)["a.md"].text == "[p1] 4.2 Rent\n[page=1]"


def test_comments_on_pages_are_no_text_of_the_pages() -> None:
    shown = ["[page=1] {comment page=1.cm1 by Ann: “fee”}", "The fee is due.", "[page=1.cm1] {comment by Ann} 1 VAT?"]
    assert list(lines_of("fee.pdf", shown)) == [
        Line(1, "The fee is due.", "page=1", "page 1"),
        Line(2, "1 VAT?", "page=1.cm1", "comment 1 on page 1", begins=True),
    ]
