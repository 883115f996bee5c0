"""What tool results show of the documents."""

from runs.rehearsal.conversation import Call
from runs.rehearsal.documents import PAGE_LINES, Document, Limits, Line, due, library, lines_of, unlisted

LISTING = Call("list_files", "3 files, size in bytes and path:\n7\ta.md\n5\tb, lines 1-2 of 2.md", is_error=False)


def page(path: str, result: str, *, error: bool = False) -> Call:
    return Call("read_file", result, error, path)


def test_files_are_known_by_listing_and_by_reading() -> None:
    read = page("a.md", "a.md, lines 1-2 of 3\none\r\ntwo\n[more follows; go on with first_line=3]")
    known = library([LISTING, read], ["review/findings.md"])
    assert list(known) == ["a.md", "b, lines 1-2 of 2.md", "review/findings.md"]
    assert known["a.md"] == Document("a.md", 7, {1: "one", 2: "two"}, 3, pages=1)
    assert known["b, lines 1-2 of 2.md"].total is None


def test_what_is_due_is_the_next_page_then_new_files() -> None:
    begun, fresh = Document("z.md", 9, {1: "a", 2: "b"}, 3, pages=1), Document("a.md", 9)
    whole, refused = Document("b.md", 1, {1: "a"}, 1, pages=1), Document("c.png", 9, refused=True)
    assert due([fresh, whole, refused, begun], Limits(), 1) == [
        ("read_file", {"path": "z.md", "first_line": 3, "lines": 1}),
        ("read_file", {"path": "a.md", "first_line": 1, "lines": PAGE_LINES}),
    ]


def test_what_follows_a_line_that_was_cut_is_read_too() -> None:
    cut = page("a.md", "a.md, lines 1-1 of 3\nlong\n[cut: line 1 has 9 characters and 4 are shown]")
    (document,) = library([cut], []).values()
    assert (document.cut, document.missing) == ({1}, [(2, 3)])
    assert [use["first_line"] for _, use in due([document], Limits(), 1)] == [2, 3]


def test_the_rest_of_a_long_text_is_read_in_many_calls_at_once() -> None:
    begun = Document("a.md", 300_000, dict.fromkeys(range(1, 101), "x" * 200), 1_000, pages=1)
    uses = due([begun], Limits(), 2)
    assert [use["first_line"] for _, use in uses] == list(range(101, 1_001, 80))
    assert [use["first_line"] for _, use in due([begun], Limits(calls=2), 2)] == [101, 181]


def test_nothing_is_due_at_a_limit() -> None:
    files = [Document(f"{number}.md", 500) for number in range(4)]
    assert [use["path"] for _, use in due(files, Limits(characters=1_000), 1)] == ["0.md", "1.md"]
    assert due(files, Limits(turns=3), 3) == []
    assert due([Document("long.md", 1_001), Document("short.md", 9)], Limits(characters=1_000), 1) == [
        ("read_file", {"path": "short.md", "first_line": 1, "lines": PAGE_LINES})
    ]


def test_of_a_document_its_text_counts_and_not_its_size() -> None:
    scan = Document("a.pdf", 5_000_000)
    assert [use["path"] for _, use in due([scan, Document("a.md", 5_000_000)], Limits(), 1)] == ["a.pdf"]


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
    assert {path: (one.lines, one.missing) for path, one in known.items()} == {
        "lease.docx": ({1: "Rent", 2: "Due now.", 3: "Signed."}, []),
        "a.pdf": ({1: "First.", 2: "More.", 3: "Last."}, []),
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
    assert (lease.lines[3], lease.place(3)) == ("Why?", "comment 0")


def test_a_text_that_begins_like_a_document_is_a_text() -> None:
    read = page("a.md", "a.md, lines 1-2 of 2\n[p1] 4.2 Rent\n[page=1]")
    assert library([read], [])["a.md"].lines == {1: "[p1] 4.2 Rent", 2: "[page=1]"}


def test_comments_on_pages_are_no_text_of_the_pages() -> None:
    shown = ["[page=1] {comment page=1.cm1 by Ann: “fee”}", "The fee is due.", "[page=1.cm1] {comment by Ann} 1 VAT?"]
    assert list(lines_of("fee.pdf", shown)) == [
        Line("The fee is due.", "page=1", "page 1"),
        Line("1 VAT?", "page=1.cm1", "comment 1 on page 1", begins=True),
    ]
