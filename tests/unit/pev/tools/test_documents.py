"""What the file tools show of documents: their text with the names of its places, and what of that counts as shown."""

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.contracts.base import JsonObject
from runs.contracts.ports import FileInfo, ToolResult
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.reading.building import Builder
from tests.documents.built import converted
from tests.unit.pev.tools.bench import Memory, run

TENANT = "The tenant shall pay ten days after the invoice and VAT."


def lease() -> bytes:
    builder = Builder("docx")
    builder.add("p1", BlockKind.HEADING, "Rent", label="4", clause="4", level=1)
    builder.add("p2", BlockKind.PARAGRAPH, "Rent is due monthly.", label="4.2", clause="4.2")
    start = builder.add("p3", BlockKind.PARAGRAPH, TENANT, label="(b)", clause="4.2(b)").start
    builder.mark(MarkKind.INSERTED, start + 48, start + 55, by="Alice", on="2026-11-01T10:00:00Z")
    builder.mark(MarkKind.COMMENTED, start + 21, start + 29, by="Bob", on="2026-11-02", note="cm0.p1")
    builder.delete(start + 21, "thirty ", by="Alice", on="2026-11-01T10:00:00Z")
    builder.add("p4", BlockKind.PARAGRAPH, "Term.", label="5", clause="5")
    start = builder.add("p5", BlockKind.PARAGRAPH, "Do not tell.").start
    builder.mark(MarkKind.HIDDEN, start, start + 12)
    builder.add("cm0.p1", BlockKind.COMMENT, "Too short?")
    return converted(builder)


def report() -> bytes:
    builder = Builder("pdf", joint="\n\f")
    builder.add("page=1", BlockKind.PAGE, "First page.\nIt goes on.", label="i")
    start = builder.add("page=2", BlockKind.PAGE, "Second page.\nInvisible words.").start
    builder.mark(MarkKind.UNSEEN, start + 13, start + 29)
    start = builder.add("page=3", BlockKind.PAGE, "Third page, scanned.").start
    builder.mark(MarkKind.READ, start, start + 20, note="83")
    return converted(builder, "page", 3)


def book() -> bytes:
    builder = Builder("xlsx")
    builder.add("Rents!A1", BlockKind.ROW, "Place\tRent")
    builder.add("Rents!A2", BlockKind.ROW, "Mill Lane\t1200")
    builder.add("Rents!B2", BlockKind.FORMULAS, "B2: =SUM(C2:D2)")
    builder.add("Costs!A1", BlockKind.ROW, "Roof\t90")
    return converted(builder, "sheet", 2)


def slides() -> bytes:
    builder = Builder("pptx")
    builder.add("s1.sh1.p1", BlockKind.TITLE, "Start")
    builder.add("s2.sh1.p1", BlockKind.TITLE, "Results")
    builder.add("s2.notes.p1", BlockKind.SPEAKER_NOTES, "Smile.")
    return converted(builder, "slide", 2)


class Documents(Memory):
    def files(self) -> Mapping[str, FileInfo]:
        return {path: FileInfo("0" * 64, len(data)) for path, data in sorted(self.content.items())}


def used(name: str, arguments: JsonObject, **limits: int) -> ToolResult:
    files = {"lease.docx": lease(), "report.pdf": report(), "book.xlsx": book(), "talk.pptx": slides()}
    return run(name, arguments, Documents({**files, "a.md": b"The tenant.\n4.2 stands here.\n"}), **limits)


def read(path: str, place: str = "", **limits: int) -> str:
    return used("read_file", {"path": path, "place": place}, **limits).text


def test_a_word_document_has_names_numbers_and_remarks_before_its_paragraphs() -> None:
    assert read("lease.docx") == (
        "lease.docx, lines 1-6 of 6\n"
        "[p1] 4 Rent\n"
        "[p2] 4.2 Rent is due monthly.\n"
        "[p3] 4.2(b) {inserted by Alice on 2026-11-01: “and VAT”} {comment cm0.p1 by Bob on 2026-11-02: “ten days”} "
        f"{{deleted by Alice on 2026-11-01: “thirty”}} {TENANT}\n"
        "[p4] 5 Term.\n"
        "[p5] {hidden} Do not tell.\n"
        "[cm0.p1] {comment by Bob on 2026-11-02} Too short?"
    )


def test_a_pdf_document_has_the_names_of_its_pages() -> None:
    assert read("report.pdf") == (
        "report.pdf, lines 1-5 of 5, pages 1-3 of 3\n"
        "[page=1] “i”\nFirst page.\nIt goes on.\n"
        "[page=2] {invisible in the document: proves nothing: “Invisible words.”}\nSecond page.\nInvisible words.\n"
        "[page=3] {read by OCR, 83 %}\nThird page, scanned."
    )


def test_a_workbook_has_addresses_before_its_rows() -> None:
    assert read("book.xlsx") == (
        "book.xlsx, lines 1-4 of 4, sheets Rents to Costs of 2\n"
        "[Rents!A1] Place\tRent\n[Rents!A2] Mill Lane\t1200\n[Rents!B2] {formulas} B2: =SUM(C2:D2)\n[Costs!A1] Roof\t90"
    )


@pytest.mark.parametrize(
    ("path", "place", "text"),
    [
        ("lease.docx", "p2", "lease.docx, lines 2-2 of 6\n[p2] 4.2 Rent is due monthly."),
        ("lease.docx", "clause 5", "lease.docx, lines 4-5 of 6\n[p4] 5 Term.\n[p5] {hidden} Do not tell."),
        ("lease.docx", "cm0", "lease.docx, lines 6-6 of 6\n[cm0.p1] {comment by Bob on 2026-11-02} Too short?"),
        ("book.xlsx", "Rents!A2:F9", "book.xlsx, lines 2-2 of 4, sheet Rents of 2\n[Rents!A2] Mill Lane\t1200"),
        ("book.xlsx", "Costs", "book.xlsx, lines 4-4 of 4, sheet Costs of 2\n[Costs!A1] Roof\t90"),
        (
            "talk.pptx",
            "s2",
            "talk.pptx, lines 2-3 of 3, slide 2 of 2\n[s2.sh1.p1] Results\n[s2.notes.p1] {speaker notes} Smile.",
        ),
    ],
)
def test_a_place_is_shown_by_its_name(path: str, place: str, text: str) -> None:
    shown = read(path, place)
    assert shown.partition("\n[more follows; ")[0] == text


def test_a_clause_is_shown_with_those_below_it() -> None:
    assert read("lease.docx", "4").splitlines()[0] == "lease.docx, lines 1-3 of 6"
    assert read("report.pdf", "page=2-3").splitlines()[0] == "report.pdf, lines 3-5 of 5, pages 2-3 of 3"


def test_a_place_that_is_not_there_is_refused_with_what_to_do() -> None:
    missing = "lease.docx has no place “p99”; search_files finds words, and names their places."
    assert used("read_file", {"path": "lease.docx", "place": "p99"}) == ToolResult(missing, is_error=True)
    plain = "a.md is a plain text, which has no places but its lines; use first_line."
    assert used("read_file", {"path": "a.md", "place": "4.2"}) == ToolResult(plain, is_error=True)


def test_a_number_that_two_clauses_have_is_asked_back() -> None:
    builder = Builder("docx")
    builder.add("p1", BlockKind.PARAGRAPH, "One.", clause="1")
    builder.add("p2", BlockKind.PARAGRAPH, "Annex, one.", clause="1")
    result = run("read_file", {"path": "a.docx", "place": "1"}, Documents({"a.docx": converted(builder)}))
    assert result.text == "a.docx has several clauses 1: p1, p2; name one of these."


def test_hits_say_where_they_are_and_clauses_are_found_by_their_number() -> None:
    assert used("search_files", {"pattern": "tenant"}).text == (
        f"a.md:1: The tenant.\nlease.docx:3 (p3, clause 4.2(b)): {TENANT}"
    )
    assert used("search_files", {"pattern": "§ 4.2(B)"}).text == f"lease.docx:3 (p3, clause 4.2(b)): {TENANT}"
    assert used("search_files", {"pattern": "4.2"}).text == (
        "a.md:2: 4.2 stands here.\nlease.docx:2 (p2, clause 4.2): Rent is due monthly."
    )
    assert used("search_files", {"pattern": "Mill"}).text == "book.xlsx:2 (Rents!A2): Mill Lane\t1200"
    assert used("search_files", {"pattern": "Invisible"}).text == (
        "report.pdf:4 (page=2, invisible in the document: proves nothing): Invisible words."
    )
    assert used("search_files", {"pattern": "not tell"}).text == "lease.docx:5 (p5, hidden): Do not tell."


def test_a_document_is_not_edited_or_overwritten() -> None:
    edited = used("edit_file", {"path": "lease.docx", "old": "Term.", "new": "Terms."})
    assert edited.text == (
        "lease.docx is a Word document, which cannot be changed in place; "
        "write the changed text into a new file with write_file."
    )
    written = used("write_file", {"path": "report.pdf", "content": "New."})
    assert written.text == "report.pdf is a PDF document, which a text would destroy; write into a new file."
    assert (edited.is_error, written.is_error) == (True, True)
    assert used("write_file", {"path": "new.pdf", "content": "New."}).is_error is False


def test_a_search_shows_the_words_alone() -> None:
    result = used("search_files", {"pattern": "not tell"})
    assert [result.text[one.start : one.end] for one in result.shown] == ["Do not tell."]


MAKERS: list[Callable[[], bytes]] = [lease, report, book, slides]


@given(st.sampled_from(MAKERS), st.integers(1, 7), st.integers(1, 7), st.integers(1, 300))
def test_what_is_shown_is_text_of_the_document_and_all_of_its_lines(
    make: Callable[[], bytes], first: int, lines: int, limit: int
) -> None:
    data = make()
    every = data.decode().replace("\f", "").split("\n")
    arguments: JsonObject = {"path": "d", "first_line": first, "lines": lines}
    result = run("read_file", arguments, Documents({"d": data}), result_chars=limit)
    body = [one for one in result.shown if one.lines]
    whole = [line for one in body for line in range(one.first_line, one.last_line + 1)]
    assert whole == list(range(first, first + len(whole)))
    for one in body:
        shown = result.text[one.start : one.end]
        assert one.lines == len(every)
        if one.last_line >= one.first_line:
            assert shown == "\n".join(every[one.first_line - 1 : one.last_line])
        assert shown in "\n".join(every)
    assert sum(one.end - one.start for one in body) <= limit
    assert bool(body) is (first <= len(every))


@pytest.mark.parametrize(
    ("path", "units"),
    [
        ("lease.docx", {""}),
        ("report.pdf", {"", "page 1", "page 2", "page 3"}),
        ("book.xlsx", {"", "sheet Rents", "sheet Costs"}),
        ("talk.pptx", {"", "slide 1", "slide 2"}),
    ],
)
def test_what_is_shown_names_its_pages_slides_and_sheets(path: str, units: set[str]) -> None:
    assert {one.unit for one in used("read_file", {"path": path}).shown} == units
    hits = used("search_files", {"pattern": ".", "prefix": path, "regex": True}).shown
    assert {one.unit for one in hits} == ((units - {""}) or {""})


@given(st.lists(st.text(st.sampled_from("ab\n "), max_size=8), min_size=1, max_size=5), st.integers(1, 60))
def test_reading_on_shows_every_line_once(texts: list[str], limit: int) -> None:
    builder = Builder("pdf", joint="\n\f")
    for number, text in enumerate([*texts, "end"], 1):
        builder.add(f"page={number}", BlockKind.PAGE, text)
    data = converted(builder, "page", len(texts) + 1)
    every = data.decode().replace("\f", "").split("\n")
    line, seen = 1, list[str]()
    while line <= len(every):
        arguments: JsonObject = {"path": "d", "first_line": line}
        result = run("read_file", arguments, Documents({"d": data}), result_chars=limit + 10)
        body = [one for one in result.shown if one.lines]
        seen += "\n".join(result.text[one.start : one.end] for one in body).split("\n")
        line = body[-1].last_line + 1
    assert seen == every
