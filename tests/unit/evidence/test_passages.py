"""Quotes from documents: where they stand, what has to be known of that place, and which of them prove nothing."""

from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from runs.contracts.base import QuotedEvidence
from runs.documents.content import Converted, digest_of
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.places.document import Document
from runs.documents.places.marked import marked_text
from runs.documents.reading.building import Builder
from runs.evidence.citations.citation_reader import misnamed_clause
from runs.evidence.passages import Passage, passage_in
from runs.evidence.quotes import resolve
from runs.evidence.results import Evidence
from tests.documents.built import converted

TENANT = "The tenant shall pay within ten days after the invoice, VAT included."


def lease() -> Converted:
    builder = Builder("docx")
    start = builder.add("hd1.p1", BlockKind.HEADER, "Lease of Mill Lane, draft").start
    builder.add("p1", BlockKind.HEADING, "Rent", label="4", clause="4", level=1)
    start = builder.add("p2", BlockKind.PARAGRAPH, TENANT, label="(b)", clause="4.2(b)").start
    builder.mark(MarkKind.COMMENTED, start + 28, start + 36, by="Alice", on="2026-11-02", note="cm0.p1")
    builder.delete(start + 28, "thirty ", by="Bob", on="2026-11-01T09:00:00Z")
    builder.mark(MarkKind.INSERTED, start + 28, start + 32, by="Bob", on="2026-11-01T09:00:00Z")
    builder.add("p3", BlockKind.PARAGRAPH, "The landlord insures the house.", label="(c)", clause="4.2(c)")
    start = builder.add("p4", BlockKind.PARAGRAPH, "Ask the bank for the price.").start
    builder.mark(MarkKind.HIDDEN, start, start + 27)
    builder.add("fn1.p1", BlockKind.FOOTNOTE, "As amended in the year 2025.")
    builder.add("cm0.p1", BlockKind.COMMENT, "Is that not too short a time?")
    builder.add("cm0.p2", BlockKind.COMMENT, "The landlord insures the house.")
    return converted(builder)


def report() -> Converted:
    builder = Builder("pdf", joint="\n\f")
    start = builder.add(
        "page=1", BlockKind.PAGE, "Annual Report 2026\nThe board has agree\nd on a bonus of the amount of"
    ).start
    builder.mark(MarkKind.RUNNING, start, start + 18)
    start = builder.add("page=2", BlockKind.PAGE, "Annual Report 2026\n90 euros. The war-\nranty ends in May.").start
    builder.mark(MarkKind.RUNNING, start, start + 18)
    start = builder.add("page=3", BlockKind.PAGE, "Revenue fell by nine percent.\nThe board was right.").start
    builder.mark(MarkKind.UNSEEN, start, start + 29)
    start = builder.add("page=4", BlockKind.PAGE, "The deposit was paid in March.").start
    builder.mark(MarkKind.READ, start, start + 30, note="83")
    return converted(builder, "page", 4)


def book() -> Converted:
    builder = Builder("xlsx")
    builder.add("Rents!A1", BlockKind.ROW, "Place\tRent\tState")
    builder.add("Rents!A2", BlockKind.ROW, "Mill Lane\t1200\tpaid")
    builder.add("Rents!B2", BlockKind.FORMULAS, "B2: =SUM(C5:F6)")
    return converted(builder, "sheet", 1)


FILES = {"lease.docx": lease(), "report.pdf": report(), "book.xlsx": book()}


def looked_up(source: str, quote: str) -> Evidence:
    return resolve(QuotedEvidence(source=source, quote=quote), FILES)


@pytest.mark.parametrize(
    ("source", "quote", "anchor", "sentence"),
    [
        (
            "lease.docx",
            "The landlord insures the house.",
            "p3",
            "“The landlord insures the house.” is in lease.docx, clause 4.2(c)",
        ),
        (
            "lease.docx",
            "after the invoice, VAT included",
            "p2",
            "“after the invoice, VAT included” is in lease.docx, clause 4.2(b)",
        ),
        (
            "lease.docx",
            "within ten days",
            "p2",
            "“within ten days” is in lease.docx, clause 4.2(b); a tracked insertion by Bob on 2026-11-01",
        ),
        (
            "lease.docx",
            "Is that not too short a time?",
            "cm0.p1",
            "“Is that not too short a time?” is in lease.docx, comment 0; a comment by Alice on 2026-11-02, "
            "which is no text of the document itself",
        ),
        ("lease.docx", "Mill Lane, draft", "hd1.p1", "“Mill Lane, draft” is in lease.docx, header 1"),
        ("lease.docx", "in the year 2025", "fn1.p1", "“in the year 2025” is in lease.docx, footnote 1"),
        (
            "lease.docx",
            "Ask the bank",
            "p4",
            "“Ask the bank” is in lease.docx, paragraph 4; the document hides it",
        ),
        (
            "report.pdf",
            "deposit was paid",
            "page=4",
            "“deposit was paid” is in report.pdf, page 4; read by OCR, 83 % sure",
        ),
        ("report.pdf", "The board was right", "page=3", "“The board was right” is in report.pdf, page 3"),
        ("book.xlsx", "Mill Lane\t1200", "Rents!A2:B2", "“Mill Lane 1200” is in book.xlsx, Rents!A2:B2"),
        ("book.xlsx", "paid", "Rents!C2", "“paid” is in book.xlsx, Rents!C2"),
        ("book.xlsx", "=SUM(C5:F6)", "Rents!B2", "“=SUM(C5:F6)” is in book.xlsx, Rents!B2; a formula"),
    ],
)
def test_a_quote_is_named_by_its_place_and_what_has_to_be_known_of_it(
    source: str, quote: str, anchor: str, sentence: str
) -> None:
    found = looked_up(source, quote)
    assert (found.verified, found.anchor, found.sentence) == (True, anchor, sentence)
    assert (found.quote, found.sha256) == (quote, digest_of(FILES[source]))
    assert FILES[source].decode()[found.start : found.end] == quote


def test_a_quote_behind_a_negation_is_its_whole_sentence() -> None:
    found = looked_up("lease.docx", "too short a time")
    assert (found.verified, found.quote) == (True, "Is that not too short a time?")
    assert FILES["lease.docx"].decode()[found.start : found.end] == found.quote


def test_where_a_quote_stands_is_told_by_its_place() -> None:
    assert looked_up("lease.docx", "landlord insures").where == "lease.docx, clause 4.2(c)"
    assert looked_up("report.pdf", "deposit was paid").where == "report.pdf, page 4"


def test_a_quote_over_a_page_break_goes_around_the_lines_that_each_page_has() -> None:
    found = looked_up("report.pdf", "a bonus of the amount of 90 euros")
    assert (found.verified, found.anchor, found.place) == (True, "page=1-2", "pages 1 and 2")
    assert found.quote == "a bonus of the amount of\n\fAnnual Report 2026\n90 euros"
    assert FILES["report.pdf"].decode()[found.start : found.end] == found.quote


def test_a_quote_is_found_as_the_document_breaks_it_and_shown_as_that_has_it() -> None:
    assert looked_up("report.pdf", "The warranty ends in May.").quote == "The war-\nranty ends in May."
    assert looked_up("report.pdf", "has agreed on a bonus").quote == "has agree\nd on a bonus"


@pytest.mark.parametrize("quote", ["The rent is paid pre-", "paid pre‑", "binding from May on"])
@pytest.mark.parametrize(("kind", "is_found"), [(BlockKind.PARAGRAPH, True), (BlockKind.PAGE, False)])
def test_a_hyphen_at_the_end_of_a_paragraph_breaks_no_word(quote: str, kind: BlockKind, *, is_found: bool) -> None:
    builder = Builder("docx")
    builder.add("p1", kind, "The rent is paid pre-")
    builder.add("p2", kind, "binding from May on")
    found = resolve(QuotedEvidence(source="lease.docx", quote=quote), {"lease.docx": converted(builder)})
    assert found.verified is is_found


def test_text_without_ink_proves_nothing() -> None:
    found = looked_up("report.pdf", "Revenue fell by nine percent")
    assert (found.verified, found.sentence) == (
        False,
        "“Revenue fell by nine percent” cannot be seen in report.pdf, page 3: there is no ink at its place",
    )


def test_what_can_be_seen_elsewhere_too_is_found_there() -> None:
    builder = Builder("pdf", joint="\n\f")
    start = builder.add("page=1", BlockKind.PAGE, "The fee is 9 euros.").start
    builder.mark(MarkKind.UNSEEN, start, start + 19)
    builder.add("page=2", BlockKind.PAGE, "The fee is 9 euros.")
    found = resolve(QuotedEvidence(source="a.pdf", quote="fee is 9"), {"a.pdf": converted(builder, "page", 2)})
    assert (found.verified, found.anchor) == (True, "page=2")


def test_the_text_itself_comes_before_a_comment_that_says_the_same() -> None:
    assert looked_up("lease.docx", "The landlord insures the house.").anchor == "p3"
    assert looked_up("lease.docx", "[cm0.p2] The landlord insures the house.").anchor == "cm0.p2"


def test_deleted_text_is_no_evidence_and_says_who_deleted_it() -> None:
    sentence = "“within thirty days” is no longer in lease.docx: this text was deleted by Bob on 2026-11-01"
    builder = Builder("docx")
    start = builder.add("p1", BlockKind.PARAGRAPH, "Pay within ten days.").start
    builder.delete(start + 11, "thirty", by="Bob", on="2026-11-01T09:00:00Z")
    builder.mark(MarkKind.INSERTED, start + 11, start + 14, by="Carol", on="2026-11-03")
    files = {"lease.docx": converted(builder)}
    found = resolve(QuotedEvidence(source="lease.docx", quote="within thirty days"), files)
    assert (found.verified, found.sentence) == (False, sentence)


def test_words_that_an_insertion_has_parted_are_no_evidence() -> None:
    builder = Builder("docx")
    start = builder.add("p1", BlockKind.PARAGRAPH, "The fee is not due at once.").start
    builder.mark(MarkKind.INSERTED, start + 11, start + 15, by="Carol", on="2026-11-03")
    found = resolve(QuotedEvidence(source="a.docx", quote="The fee is due at once"), {"a.docx": converted(builder)})
    assert (found.verified, found.sentence) == (
        False,
        "“The fee is due at once” is no longer in a.docx: words were inserted there by Carol on 2026-11-03",
    )


def test_words_that_are_nowhere_are_no_evidence() -> None:
    found = looked_up("lease.docx", "deposit was paid")
    assert found.sentence == (
        "“deposit was paid” does not occur in lease.docx; it does occur in report.pdf, page 4, "
        "but that is not the source named"
    )
    assert looked_up("lease.docx", "Nobody pays anything").verified is False


@pytest.mark.parametrize(
    "quote",
    [
        "[p3] 4.2(c) The landlord insures the house.",
        "[p3] The landlord insures the house.",
        "[p3] (c) The landlord insures the house.",
        "[p3] 4.2(c) {inserted by Alice on 2026-11-01} The landlord insures the house.",
        "4.2(c) The landlord insures the house.",
        "(c) The landlord insures the house.",
        "Clause 4.2(c) The landlord insures the house.",
    ],
)
def test_a_name_and_a_number_before_the_words_are_no_part_of_them(quote: str) -> None:
    found = looked_up("lease.docx", quote)
    assert (found.verified, found.quote, found.weak) == (True, "The landlord insures the house.", "")
    assert found.sentence == "“The landlord insures the house.” is in lease.docx, clause 4.2(c)"


@pytest.mark.parametrize(
    ("quote", "other"),
    [
        ("[p2] The landlord insures the house.", "p2"),
        ("4.2(b) The landlord insures the house.", "clause 4.2(b)"),
        ("[p3] 4.3 The landlord insures the house.", "clause 4.3"),
    ],
)
def test_a_wrong_name_or_number_is_said(quote: str, other: str) -> None:
    found = looked_up("lease.docx", quote)
    assert found.verified is True
    assert found.sentence == f"“The landlord insures the house.” is in lease.docx, clause 4.2(c), not in {other}"
    assert found.weak == f"it is in clause 4.2(c), not in {other}"


@pytest.mark.parametrize(
    "quote",
    [
        "5 landlord insures the house.",
        "[p3] 7 landlord insures",
        "(b) insures the house.",
        "[p3] the",
        "7 The landlord insures",
    ],
)
def test_a_figure_before_the_words_is_not_left_out(quote: str) -> None:
    assert looked_up("lease.docx", quote).verified is False


def test_paragraphs_that_follow_one_another_are_one_passage() -> None:
    quote = f"[p2] 4.2(b) {TENANT}\n[p3] 4.2(c) The landlord insures the house."
    found = looked_up("lease.docx", quote)
    assert (found.verified, found.quote) == (True, f"{TENANT}\nThe landlord insures the house.")


WORDS = st.text(st.sampled_from("abcé ﬁ-“\u00ad0"), min_size=1, max_size=12)
KINDS: list[tuple[str, Callable[[int], str]]] = [
    ("page", lambda n: f"page={n}"),
    ("paragraph", lambda n: f"p{n}"),
    ("cell", lambda n: f"t1r{n}c1.p1"),
    ("row", lambda n: f"Rents!A{n}"),
    ("comment", lambda n: f"cm{n}.p1"),
    ("footnote", lambda n: f"fn{n}.p1"),
    ("line", lambda n: f"L{n}"),
]


@given(st.sampled_from(KINDS), st.lists(WORDS, min_size=1, max_size=5), st.data())
def test_what_is_shown_is_the_text_between_its_offsets(
    kind: tuple[str, Callable[[int], str]], texts: list[str], data: st.DataObject
) -> None:
    builder = Builder("docx")
    for number, text in enumerate([*texts, "the very end of it"], 1):
        builder.add(kind[1](number), BlockKind(kind[0]), text)
    document = converted(builder)
    text = document.decode()
    start = data.draw(st.integers(0, len(text) - 1))
    quote = text[start : data.draw(st.integers(start + 1, len(text)))]
    assume(quote.strip())
    found = resolve(QuotedEvidence(source="d", quote=quote), {"d": document})
    shown = text[found.start : found.end]
    refused = "too short", "one short word", "only as a part of longer words"
    assert found.verified or any(why in found.sentence for why in refused)
    assert (" ".join(shown.split()), bool(found.anchor)) == (
        (" ".join(found.quote.split()), True) if found.verified else ("", False)
    )


@pytest.mark.parametrize(
    ("source", "quote", "weak"),
    [
        ("lease.docx", "Is that not too short a time?", "a comment is no text of the document itself"),
        ("lease.docx", "Ask the bank for the price.", "who reads the document is not shown it"),
        ("scan.pdf", "The deposit was lost.", "it was read by OCR, and only 59 % sure"),
        ("scan.pdf", "The keys were kept.", ""),
        ("lease.docx", "(9) The landlord insures the house.", "it is in clause 4.2(c), not in clause (9)"),
        ("lease.docx", "The landlord insures the house.", ""),
        ("lease.docx", "within ten days after the invoice", ""),
    ],
)
def test_words_that_may_be_none_of_the_document_are_doubtful(source: str, quote: str, weak: str) -> None:
    builder = Builder("pdf")
    for page, (words, sure) in enumerate((("The deposit was lost.", 59), ("The keys were kept.", 60)), 1):
        start = builder.add(f"page={page}", BlockKind.PAGE, words).start
        builder.mark(MarkKind.READ, start, start + len(words), note=str(sure))
    files = {**FILES, "scan.pdf": converted(builder, "page", 2)}
    found = resolve(QuotedEvidence(source=source, quote=quote), files)
    assert (found.verified, found.weak) == (True, weak)


def test_of_words_that_a_scanner_has_read_it_is_said_that_nothing_more_is_known() -> None:
    builder = Builder("pdf")
    start = builder.add("page=1", BlockKind.PAGE, "The deposit was lost.").start
    builder.mark(MarkKind.READ, start, start + 21)
    files = {"scan.pdf": converted(builder, "page", 1)}
    found = resolve(QuotedEvidence(source="scan.pdf", quote="The deposit was lost."), files)
    assert (found.weak, found.sentence.partition("; ")[2]) == ("", "read by OCR before it came here")


def test_words_that_are_struck_through_are_to_be_checked() -> None:
    builder = Builder("docx")
    block = builder.add("p1", BlockKind.PARAGRAPH, "The cap is EUR 900.")
    builder.mark(MarkKind.STRUCK, block.start + 11, block.start + 18)
    found = resolve(QuotedEvidence(source="d", quote="The cap is EUR 900."), {"d": converted(builder)})
    assert (found.verified, found.weak) == (True, "it is struck through in the document")
    assert found.sentence.endswith("; struck through")


def disputed() -> Document:
    """A contract of which two clauses follow a heading, and that itself refers to the first of them as 4.3."""
    builder = Builder("docx")
    builder.add("p1", BlockKind.PARAGRAPH, "Liability", label="4.2", clause="4.2")
    builder.add("p2", BlockKind.PARAGRAPH, "The cap is EUR 900.", label="(a)", clause="4.2(a)")
    builder.add("p3", BlockKind.PARAGRAPH, "Notices are sent by mail.", label="4.4", clause="4.4")
    builder.mark(MarkKind.DISPUTED, 0, len("Liability\nThe cap is EUR 900."), note="4.3")
    made = builder.build()
    return Document(made.text, made.rendered.layout)


@pytest.mark.parametrize(
    ("quote", "place", "weak"),
    [
        ("The cap is EUR 900.", "clause 4.2(a) (number doubtful: the document says 4.3 for clause 4.2)", ""),
        ("Liability", "clause 4.2 (number doubtful: the document says 4.3)", ""),
        (
            "4.2(a) The cap is EUR 900.",
            "clause 4.2(a) (number doubtful: the document says 4.3 for clause 4.2)",
            "number doubtful: the document says 4.3 for clause 4.2",
        ),
        (
            "4.3(a) The cap is EUR 900.",
            "clause 4.2(a) (number doubtful: the document says 4.3 for clause 4.2)",
            "number doubtful: the document says 4.3 for clause 4.2",
        ),
        ("4.4 Notices are sent by mail.", "clause 4.4", ""),
    ],
)
def test_a_clause_that_the_document_calls_otherwise_is_said_with_its_place(quote: str, place: str, weak: str) -> None:
    found = passage_in(quote, disputed(), "lease.docx")
    assert isinstance(found, Passage)
    assert (found.place, found.weak) == (place, weak)


def test_the_place_of_a_doubtful_number_leads_to_its_clause() -> None:
    document = disputed()
    words = document.place_name(0, 9).words
    assert (document.spans_named(words), document.spans_named("clause 4.2")) == ([(0, 9)], [(0, 9)])


def test_models_are_told_of_doubtful_numbers() -> None:
    assert marked_text(disputed(), 1_000).split("\n") == [
        "[p1] 4.2 {number doubtful: the document says 4.3} Liability",
        "[p2] 4.2(a) {number doubtful: the document says 4.3 for clause 4.2} The cap is EUR 900.",
        "[p3] 4.4 Notices are sent by mail.",
    ]


@pytest.mark.parametrize(
    ("statement", "doubt"),
    [
        ("Clause 4.2(a) caps the liability.", "clause 4.2(a), number doubtful: the document says 4.3 for clause 4.2"),
        ("Clause 4.3 caps the liability.", "clause 4.2(a), number doubtful: the document says 4.3 for clause 4.2"),
        ("Clause 7 caps the liability.", "the statement says clause 7, the words are in clause 4.2(a)"),
        ("The liability has a cap.", ""),
    ],
)
def test_a_statement_that_names_a_doubtful_number_is_to_be_checked(statement: str, doubt: str) -> None:
    document = disputed()
    at = document.text.index("The cap")
    assert misnamed_clause(statement, [(document, at, at + 10)]) == doubt
