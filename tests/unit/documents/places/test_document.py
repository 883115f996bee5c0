"""Where an anchor leads, and what a place is called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.model.sheets import Address, anchor_of
from runs.documents.places.document import Document, PlaceName, comment_of
from runs.documents.places.marked import marked_text
from runs.documents.reading.building import Builder, BuiltDocument
from runs.evidence.citations.places import spans_of


def test_a_clause_is_found_by_its_paragraph_and_by_its_number() -> None:
    lease = _document(_lease())
    start = lease.text.index("The tenant")
    assert lease.place_name(start, start + 10) == PlaceName("p3", "clause 4.2(b)")
    assert _words(lease, "p3") == "The tenant pays thirty days after the invoice."
    assert _words(lease, "4.2(B)") == "The tenant pays thirty days after the invoice."
    assert _words(lease, "clause=4.2(b).") == "The tenant pays thirty days after the invoice."
    assert lease.span_of("p9") is None


def test_the_number_before_the_changes_is_said_before_a_clause() -> None:
    builder = Builder("docx")
    builder.add("p1", BlockKind.PARAGRAPH, "The tenant insures.", label="5.4", clause="5.4", markup="5.6")
    shown = "[p1] 5.4 {clause 5.6 before the tracked changes are accepted} The tenant insures."
    assert marked_text(_document(builder.build()), 1_000) == shown


@pytest.mark.parametrize(
    ("anchor", "words"),
    [
        ("t2r3c1.p1", "table 2, row 3, column 1"),
        ("p7", "paragraph 7"),
        ("p12x.p1", "text box at paragraph 12"),
        ("fn4.p1", "footnote 4"),
        ("cm0.p1", "comment 0"),
        ("hd1.p1", "header 1"),
        ("s4.sh2.p1", "slide 4"),
        ("s4.notes.p2", "notes of slide 4"),
        ("sp3.p14", "chapter 3, paragraph 14"),
        ("L12", "line 12"),
        ("page=7", "page 7"),
        ("page=7.cm2", "comment 2 on page 7"),
    ],
)
def test_every_anchor_has_words(anchor: str, words: str) -> None:
    builder = Builder("docx")
    builder.add(anchor, BlockKind.PARAGRAPH, "words")
    assert _document(builder.build()).place_name(0, 5) == PlaceName(anchor, words)


def test_a_number_that_two_clauses_have_leads_nowhere() -> None:
    builder = Builder("docx")
    builder.add("p1", BlockKind.PARAGRAPH, "One.", clause="1")
    builder.add("p2", BlockKind.PARAGRAPH, "Annex, one.", clause="1")
    assert _document(builder.build()).span_of("1") is None


def test_a_passage_over_a_page_break_names_both_pages() -> None:
    builder = Builder("pdf", joint="\n\f")
    builder.add("page=1", BlockKind.PAGE, "It ends on the")
    builder.add("page=2", BlockKind.PAGE, "next page.")
    report = _document(builder.build("page", 2))
    assert report.place_name(8, 21) == PlaceName("page=1-2", "pages 1 and 2")
    assert report.place_name(0, 5) == PlaceName("page=1", "page 1")
    assert _words(report, "page=1-2") == report.text
    assert report.span_of("page=2-1") is None


def test_a_passage_that_goes_on_behind_the_pages_names_the_pages() -> None:
    builder = Builder("pdf")
    builder.add("page=1", BlockKind.PAGE, "One.")
    builder.add("page=2", BlockKind.PAGE, "Two.")
    builder.add("cm1.p1", BlockKind.COMMENT, "A comment.")
    report = _document(builder.build("page", 2))
    assert report.place_name(0, len(report.text)).anchor == "page=1-2"
    assert report.place_name(5, len(report.text)).anchor == "page=2"


def test_cells_are_found_by_their_addresses() -> None:
    book = _document(_workbook())
    assert _words(book, "Rents!B2") == "Mill Lane"
    assert _words(book, "'Rents'!b2:c2") == "Mill Lane\t1200"
    assert _words(book, "Rents!A1:C2") == "No\tPlace\tRent\nB2: =UPPER(A2)\n7\tMill Lane\t1200"
    assert book.span_of("Rents!D2") is None
    assert book.span_of("Rents!B3") is None
    at = book.text.index("Mill")
    assert book.place_name(at, at + 4) == PlaceName("Rents!B2", "Rents!B2")
    assert book.place_name(at, at + 14) == PlaceName("Rents!B2:C2", "Rents!B2:C2")


def test_a_formula_belongs_to_its_cell() -> None:
    book = _document(_workbook())
    at = book.text.index("UPPER")
    assert book.place_name(at, at + 5) == PlaceName("Rents!B2", "Rents!B2")


def test_cells_of_several_rows_are_named_by_the_smallest_range_that_has_them() -> None:
    builder = Builder("xlsx")
    builder.add("Rents!A2", BlockKind.ROW, "Unit 1\tpaid\tTotal rent due")
    builder.add("Rents!A3", BlockKind.ROW, "500 EUR\tUnit 9\tDefault")
    book = _document(builder.build("sheet", 1))
    start, end = book.text.index("Total"), book.text.index("\tUnit 9")
    assert book.place_name(start, end) == PlaceName("Rents!A2:C3", "Rents!A2:C3")
    assert _words(book, "Rents!A2:C3") == book.text


def test_cells_of_two_sheets_are_named_by_those_of_the_first() -> None:
    builder = Builder("xlsx")
    for anchor in ("Rents!A2", "Rents!B3", "Costs!C9"):
        builder.add(anchor, BlockKind.ROW, "500 EUR")
    book = _document(builder.build("sheet", 2))
    assert book.place_name(0, len(book.text)) == PlaceName("Rents!A2:B3", "Rents!A2:B3")


def test_formulas_are_found_by_their_cells() -> None:
    book = _document(_workbook())
    assert [book.text[start:end] for start, end in book.formulas_of("Rents!A1:B2")] == ["B2: =UPPER(A2)"]
    assert book.formulas_of("Rents!C2") == []
    assert book.formulas_of("page=1") == []


def test_a_formula_is_named_by_its_cell_whatever_the_sheet_is_called() -> None:
    builder = Builder("xlsx")
    builder.add("'What!'!A2", BlockKind.FORMULAS, "A2: =SUM(C5:F6)\nD2: =UPPER(A2)")
    book = _document(builder.build("sheet", 1))
    assert book.place_name(book.text.index("UPPER"), len(book.text)).anchor == "'What!'!D2"


_WORDS = st.text(st.sampled_from("ab 1:"), min_size=1, max_size=6).filter(lambda text: text.strip() == text)
_CELLS = st.lists(st.just("") | _WORDS, min_size=1, max_size=4).filter(any).map("\t".join)
_SHEETS = st.sampled_from(["Rents", "Q1.2026", "'Mine", "What!", "O'Neil"])
_NAMES = {kind: f"{kind.value}{{}}" for kind in BlockKind} | {
    BlockKind.PAGE: "page={}",
    BlockKind.COMMENT: "cm{}.p1",
    BlockKind.LINE: "L{}",
    BlockKind.PARAGRAPH: "p{}",
    BlockKind.CELL: "t1r{}c1.p1",
    BlockKind.TITLE: "s{}.sh1.p1",
}


@st.composite
def _documents(draw: st.DrawFn) -> Document:
    """Blocks of all kinds: rows of sheets with their formulas and comments, and others between them."""
    builder = Builder("xlsx")
    kinds = [*draw(st.lists(st.sampled_from(BlockKind), min_size=1, max_size=2)), BlockKind.FORMULAS]
    for row in range(1, draw(st.integers(3, 7))):
        kind = draw(st.sampled_from(kinds))
        if kind not in {BlockKind.ROW, BlockKind.FORMULAS}:
            builder.add(_NAMES[kind].format(row), kind, draw(_WORDS))
            continue
        sheet = draw(_SHEETS)
        name = f"{anchor_of(Address(sheet, 2, row, 2, row))}"
        if kind is BlockKind.ROW:
            builder.add(name, kind, draw(_CELLS))
        if kind is BlockKind.FORMULAS or draw(st.booleans()):
            lines = [f"{column}{row}: ={draw(_WORDS)}" for column in draw(st.sampled_from(["B", "BC", "D", "CE"]))]
            builder.add(name, BlockKind.FORMULAS, "\n".join(lines))
        if draw(st.booleans()):
            builder.add(f"{name}.cm1", BlockKind.COMMENT, draw(_WORDS))
    return _document(builder.build())


@given(_documents(), st.data())
def test_the_anchor_of_any_words_leads_back_to_them(document: Document, data: st.DataObject) -> None:
    inked = [at for at, sign in enumerate(document.text) if not sign.isspace()]
    start = data.draw(st.sampled_from(inked))
    end = data.draw(st.sampled_from([at for at in inked if at >= start])) + 1
    spans = spans_of(document, document.place_name(start, end).anchor)
    assert [span for span in spans if span[0] < end and start < span[1]], document.place_name(start, end)


def test_comments_on_cells_of_a_sheet_with_a_dot_keep_their_authors() -> None:
    builder = Builder("xlsx")
    for row, by in enumerate(("Ann", "Bob"), 1):
        start = builder.add(f"Q1.2026!B{row}", BlockKind.ROW, "100 EUR").start
        builder.mark(MarkKind.COMMENTED, start, start + 7, by=by, note=f"Q1.2026!B{row}.cm1")
        builder.add(f"Q1.2026!B{row}.cm1", BlockKind.COMMENT, "too high")
        builder.add(f"Q1.2026!B{row}.cm2", BlockKind.COMMENT, "an answer of somebody else")
    book = _document(builder.build("sheet", 1))
    found = [book.author_of(block) for block in book.layout.blocks if block.kind is BlockKind.COMMENT]
    assert [mark.by if mark else "" for mark in found] == ["Ann", "", "Bob", ""]


@pytest.mark.parametrize("anchor", ["cm0.p1", "cm0.p2", "cm0.t1r2c1.p1", "cm0.p1x.p1"])
def test_all_paragraphs_of_a_comment_belong_to_it(anchor: str) -> None:
    assert comment_of(anchor) == "cm0"


def test_marks_are_those_that_overlap() -> None:
    builder = Builder("docx")
    start = builder.add("p1", BlockKind.PARAGRAPH, "capped at 100 per year").start
    builder.mark(MarkKind.INSERTED, start + 10, start + 13, by="Alice", on="2026-11-01")
    builder.mark(MarkKind.HIDDEN, start, start + 6)
    text = _document(builder.build())
    assert [mark.by for mark in text.marks_on(8, 11, MarkKind.INSERTED)] == ["Alice"]
    assert text.marks_on(13, 20, MarkKind.INSERTED) == []
    assert text.marks_on(0, 20, MarkKind.UNSEEN) == []


def test_a_layout_of_another_text_is_refused() -> None:
    made = _lease()
    with pytest.raises(ValueError, match="another text"):
        Document(made.text[:10], made.rendered.layout)


def test_blocks_out_of_order_are_refused() -> None:
    layout = _lease().rendered.layout
    with pytest.raises(ValidationError, match="begins before the end"):
        type(layout)(format="docx", blocks=layout.blocks[::-1])


def _lease() -> BuiltDocument:
    builder = Builder("docx")
    builder.add("p1", BlockKind.HEADING, "Payment", label="4", clause="4", level=1)
    builder.add("p2", BlockKind.PARAGRAPH, "Rent.", label="4.2", clause="4.2")
    builder.add(
        "p3", BlockKind.PARAGRAPH, "The tenant pays thirty days after the invoice.", label="(b)", clause="4.2(b)"
    )
    return builder.build()


def _workbook() -> BuiltDocument:
    builder = Builder("xlsx")
    builder.add("Rents!A1", BlockKind.ROW, "No\tPlace\tRent")
    builder.add("Rents!A2", BlockKind.FORMULAS, "B2: =UPPER(A2)")
    builder.add("Rents!A2", BlockKind.ROW, "7\tMill Lane\t1200")
    return builder.build("sheet", 1)


def _document(made: BuiltDocument) -> Document:
    return Document(made.text, made.rendered.layout)


def _words(document: Document, anchor: str) -> str | None:
    span = document.span_of(anchor)
    return document.text[span[0] : span[1]] if span else None
