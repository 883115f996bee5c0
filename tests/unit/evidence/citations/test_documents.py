"""Citations of documents: anchors of each format, corrections that name places as people do, and clause numbers."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.reading.building import Builder
from runs.enums import CitationStatus
from runs.evidence.citations.citation import Citation
from runs.evidence.citations.lookup import citations_in
from tests.documents.built import converted
from tests.unit.evidence.citations.test_lookup import Library


def lease() -> bytes:
    builder = Builder("docx")
    builder.add("p1", BlockKind.HEADING, "Rent", label="4", clause="4", level=1)
    builder.add("p2", BlockKind.PARAGRAPH, "The tenant pays within ten days.", label="4.2", clause="4.2")
    start = builder.add("p3", BlockKind.PARAGRAPH, "The rent is 900 euros a month.", label="(b)", clause="4.2(b)").start
    builder.mark(MarkKind.INSERTED, start + 12, start + 15, by="Bob", on="2026-11-01")
    builder.delete(start + 12, "800", by="Bob", on="2026-11-01")
    builder.add("p4", BlockKind.PARAGRAPH, "The landlord insures the house.", label="4.3", clause="4.3")
    builder.add("p5", BlockKind.PARAGRAPH, "Signed in two copies.")
    builder.add("p6", BlockKind.HEADING, "Annex", label="1", clause="1")
    builder.add("p7", BlockKind.PARAGRAPH, "The keys are handed over.", label="1", clause="1")
    builder.add("cm0.p1", BlockKind.COMMENT, "Is the insurance paid by us?")
    return converted(builder)


def report() -> bytes:
    builder = Builder("pdf", joint="\n\f")
    builder.add("page=6", BlockKind.PAGE, "The board met in May.\nIt was agree-")
    start = builder.add("page=7", BlockKind.PAGE, "d to pay. A bonus of 90 euros.\nRevenue fell by 9 percent.").start
    builder.mark(MarkKind.UNSEEN, start + 31, start + 57)
    return converted(builder, "page", 7)


def book() -> bytes:
    builder = Builder("xlsx")
    builder.add("Rents #1!A1", BlockKind.ROW, "Place\tRent\tState")
    builder.add("Rents #1!A2", BlockKind.ROW, "Mill Lane\t1200\tpaid")
    return converted(builder, "sheet", 1)


LIBRARY = Library({"contracts/lease.docx": lease(), "contracts/report.pdf": report(), "contracts/book.xlsx": book()})


def only(text: str) -> Citation:
    (one,) = citations_in(text, LIBRARY).links
    return one


@pytest.mark.parametrize(
    ("link", "anchor", "place"),
    [
        ("[“pays within ten days”](contracts/lease.docx#p2)", "p2", "clause 4.2"),
        ("[“pays within ten days”](contracts/lease.docx#4.2)", "p2", "clause 4.2"),
        ("[“rent is 900 euros”](contracts/lease.docx#4.2(b))", "p3", "clause 4.2(b)"),
        ("[“rent is 900 euros”](contracts/lease.docx#4.2%28b%29)", "p3", "clause 4.2(b)"),
        ("[“rent is 900 euros”](<contracts/lease.docx#clause 4.2>)", "p3", "clause 4.2(b)"),
        ("[“rent is 900 euros”](contracts/lease.docx#L3)", "p3", "clause 4.2(b)"),
        ("[“rent is 900 euros”](contracts/lease.docx#L2-L4)", "p3", "clause 4.2(b)"),
        ("[“ten days. The rent is”](contracts/lease.docx#p3)", "p2", "clause 4.2"),
        ("[“keys are handed over”](contracts/lease.docx#1)", "p7", "clause 1 (paragraph 7)"),
        ("[“in two copies”](contracts/lease.docx#p5)", "p5", "paragraph 5"),
        ("[“insurance paid by us”](contracts/lease.docx#cm0)", "cm0.p1", "comment 0"),
        ("[“A bonus of 90 euros”](contracts/report.pdf#page=7)", "page=7", "page 7"),
        ("[“It was agreed to pay”](contracts/report.pdf#page=7)", "page=6-7", "pages 6 and 7"),
        ("[“It was agreed to pay”](contracts/report.pdf#page=6-7)", "page=6-7", "pages 6 and 7"),
        ("[“Mill Lane”](<contracts/book.xlsx#Rents #1!A2>)", "Rents #1!A2", "Rents #1!A2"),
        ("[“1200”](contracts/book.xlsx#Rents%20%231!B2)", "Rents #1!B2", "Rents #1!B2"),
        ("[“paid”](contracts/book.xlsx#Rents%20%231%21A1:C2)", "Rents #1!C2", "Rents #1!C2"),
    ],
)
def test_the_anchors_of_documents_hold(link: str, anchor: str, place: str) -> None:
    one = only(link)
    assert (one.status, one.anchor, one.place) == (CitationStatus.OK, anchor, place)
    assert one.sentence.partition(";")[0].endswith(f"is in {one.source}, {place}")
    assert LIBRARY[one.source].decode()[one.source_start : one.source_end] != ""


@pytest.mark.parametrize(
    ("link", "sentence", "correction"),
    [
        (
            "[“pays within ten days”](contracts/lease.docx#p4)",
            "“pays within ten days” is in contracts/lease.docx, clause 4.2 (p2), not in p4",
            "place corrected from p4 to clause 4.2",
        ),
        (
            "[“pays within ten days”](contracts/lease.docx)",
            "“pays within ten days” is in contracts/lease.docx, clause 4.2 (p2), which the link did not say",
            "clause 4.2 added",
        ),
        (
            "[“A bonus of 90 euros”](contracts/report.pdf#page=6)",
            "“A bonus of 90 euros” is in contracts/report.pdf, page 7, not in page=6",
            "place corrected from page=6 to page 7",
        ),
        (
            "[“Mill Lane”](contracts/book.xlsx#Rents%20%231!B2)",
            "“Mill Lane” is in contracts/book.xlsx, Rents #1!A2, not in Rents #1!B2",
            "place corrected from Rents #1!B2 to Rents #1!A2",
        ),
    ],
)
def test_a_wrong_place_of_the_right_document_is_corrected(link: str, sentence: str, correction: str) -> None:
    one = only(link)
    assert (one.status, one.sentence, one.correction) == (CitationStatus.CORRECTED, sentence, correction)


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        (
            "[“pays within ten days”](contracts/lease.docx#p99)",
            "contracts/lease.docx has no place “p99”; “pays within ten days” is in contracts/lease.docx, "
            "clause 4.2 (p2)",
        ),
        (
            "[“Mill Lane”](contracts/book.xlsx#Rent!A2)",
            "contracts/book.xlsx has no place “Rent!A2”; “Mill Lane” is in contracts/book.xlsx, Rents #1!A2",
        ),
        ("[“pays in cash”](contracts/lease.docx#p2)", "“pays in cash” does not occur in contracts/lease.docx"),
        (
            "[“Revenue fell by 9 percent”](contracts/report.pdf#page=7)",
            "“Revenue fell by 9 percent” cannot be seen in contracts/report.pdf, page 7: there is no ink at its place",
        ),
        (
            "[“The rent is 800 euros”](contracts/lease.docx#p3)",
            "“The rent is 800 euros” is no longer in contracts/lease.docx: this text was deleted by Bob on 2026-11-01",
        ),
        ("[“rent”](contracts/lease.docx#p3)", "“rent” is one short word; quote the words around it"),
        ("[“[p3] the”](contracts/lease.docx#p3)", "“the” is one short word; quote the words around it"),
    ],
)
def test_broken_citations_of_documents_say_why(link: str, sentence: str) -> None:
    one = only(link)
    assert (one.status, one.sentence) == (CitationStatus.BROKEN, sentence)


def test_what_has_to_be_known_of_the_place_is_said() -> None:
    assert only("[“The rent is 900 euros”](contracts/lease.docx#p3)").sentence == (
        "“The rent is 900 euros” is in contracts/lease.docx, clause 4.2(b); a tracked insertion by Bob on 2026-11-01"
    )
    assert only("[“insurance paid by us”](contracts/lease.docx#p4)").sentence == (
        "“insurance paid by us” is in contracts/lease.docx, comment 0, not in p4; "
        "a comment, which is no text of the document itself"
    )


INSURES = "[“landlord insures”](contracts/lease.docx#p4)"


@pytest.mark.parametrize(
    "statement",
    [
        f"Clause 4.3: {INSURES}",
        f"Section 4 covers it: {INSURES}",
        f"Clauses 4.2 and 4.3 differ: {INSURES}",
        f"Clauses 4.1 to 4.9 say it: {INSURES}",
        f"Under § 535 the owner is liable, see {INSURES}",
        f"As § 9.9 BetrKG and section 9.9 of that act say: {INSURES}",
        f"Clause 4.2 is about rent [“ten days”](contracts/lease.docx#p2) and 4.3 about cover {INSURES}",
        "Clause 9 is not signed: [“in two copies”](contracts/lease.docx#p5)",
        "Clause 9 is on page 7: [“A bonus of 90 euros”](contracts/report.pdf#page=7)",
        f"Clause 9 and [“A bonus of 90 euros”](contracts/report.pdf#page=7) beside {INSURES}",
        f"The insurance is due: {INSURES}",
    ],
)
def test_a_statement_that_may_mean_the_clause_is_left_alone(statement: str) -> None:
    assert {one.weak for one in citations_in(statement, LIBRARY).links} == {""}


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("Clause 4.2", "4.2"),
        ("Section 4.2(b)", "4.2(b)"),
        ("Clause 77", "77"),
        ("Clauses 5 and 6", "5"),
        ("§ 9.9", "9.9"),
    ],
)
def test_a_statement_that_names_another_clause_is_to_be_checked(statement: str, said: str) -> None:
    one = only(f"{statement} insures: {INSURES}")
    assert (one.status, one.weak) == (
        CitationStatus.OK,
        f"the statement says clause {said}, the words are in clause 4.3",
    )


def test_figures_are_compared_with_the_paragraph_and_those_beside_it() -> None:
    assert only("It costs 900 euros: [“rent is 900”](contracts/lease.docx#p3)").weak == ""
    assert (
        only("It costs 10 euros: [“in two copies”](contracts/lease.docx#p5)").weak == "10 euros is not in what is cited"
    )
    assert only("It says 4.3: [“landlord insures”](contracts/lease.docx#p4)").weak == ""


@pytest.mark.parametrize("place", ["slide 1", "table 1, row 2, column 3", "Schedule 1", "cell B7", "Klausel 4.3"])
def test_the_number_of_a_place_is_no_figure(place: str) -> None:
    assert only(f"The landlord insures ({place}): [“landlord insures”](contracts/lease.docx#p4)").weak == ""


@pytest.mark.parametrize(
    ("link", "weak"),
    [
        (
            "[“(10) The tenant pays within ten days”](contracts/lease.docx#p2)",
            "it is in clause 4.2, not in clause (10)",
        ),
        ("[“4.2 The tenant pays within ten days”](contracts/lease.docx#p2)", ""),
        ("[“insurance paid by us”](contracts/lease.docx#cm0)", "a comment is no text of the document itself"),
        (
            "The rent is 7: [“insurance paid by us”](contracts/lease.docx#cm0)",
            "a comment is no text of the document itself; 7 is not in what is cited",
        ),
    ],
)
def test_words_that_may_not_be_what_they_are_cited_as_are_to_be_checked(link: str, weak: str) -> None:
    one = only(link)
    assert (one.status, one.weak) == (CitationStatus.OK, weak)


def test_words_of_several_rows_are_cited_by_their_range() -> None:
    for anchor in ("Rents%20%231%21B1:C2", "Rents%20%231%21A1:C2"):
        one = only(f"[“State Mill Lane”](contracts/book.xlsx#{anchor})")
        assert (one.status, one.anchor) == (CitationStatus.OK, "Rents #1!A1:C2")


def test_formulas_are_cited_by_their_cells() -> None:
    builder = Builder("xlsx")
    builder.add("Rents!A2", BlockKind.ROW, "Mill Lane\t1200")
    builder.add("Rents!A2", BlockKind.FORMULAS, "B2: =SUM(C5:F6)")
    (one,) = citations_in("[“=SUM(C5:F6)”](book.xlsx#Rents!B2)", Library({"book.xlsx": converted(builder)})).links
    assert (one.status, one.anchor) == (CitationStatus.OK, "Rents!B2")


def test_plain_texts_know_nothing_of_places() -> None:
    library = Library({"a.md": b"The rent is due.\n"})
    (one,) = citations_in("[“The rent is due”](a.md#L2)", library).links
    assert (one.anchor, one.place, one.correction) == ("", "", "line corrected from 2 to 1")


KINDS: list[tuple[str, Callable[[int], str]]] = [
    ("page", lambda n: f"page={n}"),
    ("paragraph", lambda n: f"p{n}"),
    ("cell", lambda n: f"t1r{n}c1.p1"),
    ("row", lambda n: f"Rents!A{n}"),
    ("title", lambda n: f"s{n}.sh1.p1"),
    ("footnote", lambda n: f"fn{n}.p1"),
    ("line", lambda n: f"L{n}"),
]


@given(
    st.sampled_from(KINDS),
    st.lists(st.text(st.sampled_from("abcdé ﬁ-\u00ad"), min_size=1, max_size=12), min_size=2, max_size=5),
    st.data(),
)
def test_what_is_cited_is_the_text_between_its_offsets(
    kind: tuple[str, Callable[[int], str]], texts: list[str], data: st.DataObject
) -> None:
    builder = Builder("docx")
    blocks = [
        builder.add(kind[1](number), BlockKind(kind[0]), f"a {text} {number} of it")
        for number, text in enumerate(texts, 1)
    ]
    document = converted(builder)
    text = document.decode()
    named, cited = data.draw(st.sampled_from(blocks)), data.draw(st.sampled_from(blocks))
    quote = text[cited.start : cited.end]
    (one,) = citations_in(f"[“{quote}”](d#{named.anchor})", Library({"d": document})).links
    assert (one.status, one.source_start, one.source_end) == (
        CitationStatus.OK if named is cited else CitationStatus.CORRECTED,
        cited.start,
        cited.end,
    )
    assert one.quote == " ".join(text[one.source_start : one.source_end].split()) or one.quote == quote


def _renumbered() -> Library:
    """A clause before 5.6 was deleted, so that it is 5.5 once that is accepted, and 5.7 is 5.6."""
    builder = Builder("docx")
    builder.add("p1", BlockKind.PARAGRAPH, "The tenant insures the house.", label="5.5", clause="5.5", markup="5.6")
    builder.add("p2", BlockKind.PARAGRAPH, "The landlord pays the taxes.", label="5.6", clause="5.6", markup="5.7")
    return Library({"lease.docx": converted(builder)})


def test_numbers_of_the_view_with_changes_hold_and_that_is_said() -> None:
    links = citations_in(
        "[“tenant insures the house”](lease.docx#5.6) [“tenant insures the house”](lease.docx#5.5) "
        "[“tenant insures the house”](lease.docx#5.7) [“5.6 The tenant insures”](lease.docx#p1)",
        _renumbered(),
    ).links
    stands = "“tenant insures the house” is in lease.docx, clause 5.5"
    assert [one.weak for one in links] == ["", "", "", ""]
    assert [(one.status, one.sentence) for one in links] == [
        (CitationStatus.OK, f"{stands}; clause 5.6 before the tracked changes are accepted"),
        (CitationStatus.OK, stands),
        (CitationStatus.BROKEN, f"lease.docx has no place “5.7”; {stands} (p1)"),
        (
            CitationStatus.OK,
            "“The tenant insures” is in lease.docx, clause 5.5; clause 5.6 before the tracked changes are accepted",
        ),
    ]


@pytest.mark.parametrize(
    ("number", "weak"),
    [("5.5", ""), ("5.6", ""), ("5.7", "the statement says clause 5.7, the words are in clause 5.5")],
)
def test_a_statement_may_name_the_clause_as_it_is_with_changes(number: str, weak: str) -> None:
    found = citations_in(f"By clause {number} [“tenant insures the house”](lease.docx#p1).", _renumbered())
    assert [one.weak for one in found.links] == [weak]
