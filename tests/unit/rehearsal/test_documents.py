"""What tool results show of the documents."""

from runs.rehearsal.conversation import Call
from runs.rehearsal.documents import IN_REACH, Document, due, in_reach, library, shortfall, unlisted
from runs.rehearsal.places import Line, lines_of

LISTING = Call("list_files", "3 files, size in bytes and path:\n7\ta.md\n5\tb, lines 1-2 of 2.md", is_error=False)


def page(path: str, result: str, *, error: bool = False) -> Call:
    return Call("read_file", result, error, path)


def test_files_are_known_by_listing_and_by_reading() -> None:
    read = page("a.md", "a.md, lines 1-2 of 3\none\r\ntwo\n[more follows; go on with first_line=3]")
    known = library([LISTING, read], ["review/findings.md"])
    assert list(known) == ["a.md", "b, lines 1-2 of 2.md", "review/findings.md"]
    assert known["a.md"] == Document("a.md", 7, {1: "one", 2: "two"}, 3)
    assert known["b, lines 1-2 of 2.md"].total is None


def test_what_is_due_is_the_next_page_then_new_files() -> None:
    begun, fresh = Document("z.md", 9, {1: "a", 2: "b"}, 3), Document("a.md", 9)
    whole, refused = Document("b.md", 1, {1: "a"}, 1), Document("c.png", 9, refused=True)
    cut = Document("d.md", 9, {1: "a"}, 2, cut=True)
    assert due([fresh, whole, refused, cut, begun]) == [
        ("read_file", {"path": "z.md", "first_line": 3}),
        ("read_file", {"path": "a.md", "first_line": 1}),
    ]


def test_every_gap_is_named() -> None:
    cut = page("cut.md", "cut.md, lines 1-1 of 1\nlong\n[cut: line 1 has 9 characters and 4 are shown]")
    empty, refused = page("empty.md", "empty.md is empty"), page("x.png", "x.png is not a text file.", error=True)
    known = library([cut, empty, refused], ["new.md"])
    assert {path: one.gap for path, one in known.items()} == {
        "cut.md": "read in part",
        "empty.md": "",
        "new.md": "not read, too long or too many",
        "x.png": "not readable as text",
    }
    assert shortfall(list(known.values())) == (
        "1 file not read, too long or too many: new.md; 1 file not readable as text: x.png; "
        "1 file read in part: cut.md."
    )
    assert shortfall([known["empty.md"]]) == ""


def test_as_much_is_read_as_a_verifier_can_be_shown() -> None:
    files = [Document(f"{number}.md", 59_000) for number in range(4)]
    assert in_reach([Document("large.md", 60_001), *files]) == files[: IN_REACH // 59_300]


def test_files_that_are_not_listed_are_counted() -> None:
    more = Call("list_files", f"{LISTING.result}\n[12 more are not listed; use a prefix to see them]", is_error=False)
    assert (unlisted([LISTING]), unlisted([more]), unlisted([])) == (0, 12, 0)


def test_of_a_document_the_names_of_places_are_no_part_of_its_lines() -> None:
    lease = page(
        "lease.docx",
        "lease.docx, lines 1-3 of 3\n[p1] 4 Rent\n[p2] 4.2(b) {inserted by Bob: “now”} {hidden} Due now.\n[p3] Signed.",
    )
    report = page(
        "a.pdf", "a.pdf, lines 1-3 of 3, pages 1-2 of 2\n[page=1] “i”\nFirst.\nMore.\n[page=2] {read by OCR}\nLast."
    )
    known = library([lease, report], [])
    assert {path: (one.lines, one.gap) for path, one in known.items()} == {
        "lease.docx": ({1: "Rent", 2: "Due now.", 3: "Signed."}, ""),
        "a.pdf": ({1: "First.", 2: "More.", 3: "Last."}, ""),
    }


def test_places_of_documents_are_named_as_people_do_and_cited_by_their_names() -> None:
    pages = "a.pdf, lines 1-3 of 3, pages 1-2 of 2\n[page=1]\nFirst.\nMore.\n[page=2]\nLast."
    paragraphs = "b.docx, lines 1-3 of 3\n[p1] 4.2(b) Rent.\n[p2] 30 days.\n[cm0.p1] {comment by Bob} Why?"
    known = library([page("a.pdf", pages), page("b.docx", paragraphs)], [])
    report, lease = known["a.pdf"], known["b.docx"]
    assert [report.place(3), lease.place(1), lease.place(2), Document("c.md").place(7)] == [
        "page 2",
        "clause 4.2(b)",
        "paragraph 2",
        "line 7",
    ]
    assert [report.anchor(1, 2), report.anchor(2, 3), lease.anchor(1, 1), Document("c.md").anchor(7, 8)] == [
        "page=1",
        "page=1-2",
        "p1",
        "L7-L8",
    ]
    assert lease.own == {1: "Rent.", 2: "30 days."}


def test_of_a_document_its_text_counts_and_not_its_size() -> None:
    scan = Document("a.pdf", 5_000_000)
    assert in_reach([scan, Document("a.md", 5_000_000)]) == [scan]
    read = page("a.pdf", "a.pdf, lines 1-2 of 9\n[page=1]\n" + "x" * 60_000 + "\nMore.")
    assert in_reach([library([read], [])["a.pdf"]]) == []


def test_a_text_that_begins_like_a_document_is_a_text() -> None:
    read = page("a.md", "a.md, lines 1-2 of 2\n[p1] 4.2 Rent\n[page=1]")
    assert library([read], [])["a.md"].lines == {1: "[p1] 4.2 Rent", 2: "[page=1]"}


def test_comments_on_pages_are_no_text_of_the_pages() -> None:
    shown = ["[page=1] {comment page=1.cm1 by Ann: “fee”}", "The fee is due.", "[page=1.cm1] {comment by Ann} 1 VAT?"]
    assert list(lines_of("fee.pdf", shown)) == [
        Line("The fee is due.", "page=1", "page 1"),
        Line("1 VAT?", "page=1.cm1", "comment 1 on page 1", begins=True),
    ]
