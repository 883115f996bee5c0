"""Numbers of clauses are compared with the references of the document itself, and disagreements are said."""

import pytest

from runs import isolation
from runs.documents.formats.docx import docx_reader as docx
from runs.documents.model.layout import MarkKind
from runs.documents.packed_parts import unpacked
from runs.documents.reading.building import BuiltDocument
from runs.isolation import Limits
from tests.documents.word import bookmark, deleted, field, level, lists, note, paragraph, word

OUTLINE = (level(0, "decimal", "%1."), level(1, "decimal", "%1.%2"), level(2, "lowerLetter", "(%3)"))
LEGAL = (level(0, "upperRoman", "Article %1"), level(1, "decimalZero", "Section %1.%2", "<w:isLgl/>"))
RENT = paragraph("Rent", number=(1, 0)) + paragraph(bookmark("_Ref1"), "The rent is due.", number=(1, 1))
RENT += paragraph(bookmark("_Ref2"), "in cash", number=(1, 2)) + paragraph("or by card", number=(1, 2))
TERM = paragraph(bookmark("_Ref3"), "Term. It ends in May.", number=(1, 0)) + paragraph("Notice", number=(1, 1))


@pytest.mark.parametrize(
    ("code", "saved"),
    [
        (r"REF _Ref1 \r \h", "1.1"),
        (r"REF _Ref1 \n \h", "1.1"),
        (r"REF _Ref1 \w \h", "1.1"),
        (r"REF _Ref2 \w \h", "1.1(a)"),
        (r"REF _Ref2 \r \h", "(a)"),
        (r"REF _Ref2 \n \h", "(a)"),
        (r"REF _Ref2 \r \h \p", "(a) above"),
        (r"REF _Ref3 \r \h", "2"),
        (r"REF _Ref3 \r \h", "2."),
        (r"REF _Ref3 \h", "Term"),
        (r"REF _Ref9 \r \h", "7"),
        (r"REF _Ref3 \r \h", "Error! Reference source not found."),
        (r"REF _Ref3 \r \h", "Fehler! Verweisquelle konnte nicht gefunden werden."),
        (r"PAGEREF _Ref3 \h", "9"),
        (r"NOTEREF _Ref3 \h", "9"),
    ],
)
def test_references_that_agree_or_cannot_be_compared_say_nothing(code: str, saved: str) -> None:
    for is_simple in (False, True):
        made = _made(paragraph("See ", field(code, saved, is_simple=is_simple)), RENT, TERM)
        assert _said(made) == ((), [])


@pytest.mark.parametrize(
    ("code", "saved", "clause", "marked"),
    [
        (r"REF _Ref3 \r \h", "3", "clause 2 (“Term”)", "Term. It ends in May.\nNotice"),
        (r"REF _Ref1 \w", "2.1", "clause 1.1 (“The rent is due”)", "The rent is due.\nin cash\nor by card"),
        (r"REF _Ref2 \n \h", "(b)", "clause 1.1(a) (“in cash”)", "in cash"),
        (r"REF _Ref2 \w \h", "1.2(a)", "clause 1.1(a) (“in cash”)", "in cash"),
        (r'REF "_Ref3" \h \r', "0", "clause 2 (“Term”)", "Term. It ends in May.\nNotice"),
    ],
)
def test_a_field_that_shows_another_number_is_said(code: str, saved: str, clause: str, marked: str) -> None:
    for is_simple in (False, True):
        made = _made(paragraph("See ", field(code, saved, is_simple=is_simple)), RENT, TERM)
        sentence = (
            f"Paragraph 1 refers to number {saved} for what is counted as {clause}: the reference is out of date or "
            "the number is wrong. Look at both in Word."
        )
        assert _said(made) == ((sentence,), [(saved, marked)])


@pytest.mark.parametrize(
    "words",
    [
        "as in Section 2 (Term) of this Agreement",
        "subject to clause 2 (term)",
        "under Section 2 (“Term”)",
        "see Section 1.1(b) (The rent is due) in all respects",
        "Section 3 (Term) of the Master Agreement",
        "Sections 4 (Rent) and 3 (Term) of the Lease",
        "Section 4 (Rent), Section 3 (Term) and Section 9 (Notice) under the Lease",
        "Annex 1, Section 3 (Term)",
        "the Loan Agreement, Section 3 (Term) and Section 4 (Rent)",
        "Section 3 (Term) in Schedule 2",
        "Ziffer 3 (Term) des Mietvertrags",
        "Section 3 (Payment)",
        "Sec. 2 [Term]",
        "l’article 3 (Term) de la loi",
        "la cláusula 3 (Term) del Contrato Marco",
        "Section 3 (as amended)",
        "Article 82 (Term) GDPR",
        "section 5 (Term) Companies Act 2006",
        "§ 7 (Term) BGB and nothing else",
        "the GDPR, Article 82 (Term), applies",
        "the Lease (Section 7 (Term))",
        "Section 7 (Term) thereof",
        "Section 7 (Term) in the Lease",
        "Clause 7 (Term) (of the Lease)",
        "paragraph 7 (Term), Schedule 2",
        "Section 7 (Term), Master Agreement",
        "Clauses 7 (Rent) – 9 (Term) of the Lease",
        "the former clause 7 (Term) is gone",
        "Section 1 (The rent is due)",
        "clause 1.1 (in cash)",
        "3 (Term)",
    ],
)
def test_written_references_that_agree_or_mean_another_document_say_nothing(words: str) -> None:
    assert _said(_made(RENT, TERM, paragraph(words))) == ((), [])


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("as in Section 3 (Term) of this Agreement", "3"),
        ("This Agreement ends under clause 3 (term).", "3"),
        ("Subject to § 3 (Term), to the extent", "3"),
        ("Sections 1 (Rent) and 3 (Term) apply", "3"),
        ("gemäß Ziffer 3.1 (Term) dieser Vereinbarung", "3.1"),
        ("Article III (“Term”)", "III"),
        ("Subject to Section 3 (Term), the Tenant pays.", "3"),
        ("Section 3 (Term) in this Agreement", "3"),
        ("See Sections 1 (Rent) to 3 (Term).", "3"),
        ("See Sec. 3 (Term) and Art. 1 (Rent).", "3"),
        ("cl. 3 [Term]", "3"),
        ("nach Nr. 3 (Term)", "3"),
        ("aux articles 1 (Rent) et 3 (« Term ») de ce contrat", "3"),
        ("la cláusula 3 (Term) del presente contrato", "3"),
    ],
)
def test_a_written_reference_with_another_number_is_said(words: str, number: str) -> None:
    made = _made(RENT, TERM, paragraph(words))
    sentence = (
        f"Paragraph 7 refers to number {number} for what is counted as clause 2 (“Term”): the reference is out of date "
        "or the number is wrong. Look at both in Word."
    )
    assert _said(made) == ((sentence,), [(number, "Term. It ends in May.\nNotice\n" + words)])


def test_titles_that_two_paragraphs_have_are_not_compared() -> None:
    again = paragraph("Term")
    assert _said(_made(RENT, TERM, again, paragraph("Section 3 (Term)"))) == ((), [])


def test_articles_and_sections_are_compared_by_their_numbers() -> None:
    body = paragraph(bookmark("_Ref1"), "Services", number=(2, 0)) + paragraph(
        bookmark("_Ref2"), "Scope", number=(2, 1)
    )
    agreeing = [("_Ref1", r"\r", "Article I"), ("_Ref1", r"\r \t", "I"), ("_Ref2", r"\w", "Section 1.01")]
    agreeing += [("_Ref2", r"\r \t", "1.01"), ("_Ref2", r"\w", "Article ISection 1.01")]
    fields = [field(rf"REF {name} {switches}", saved) for name, switches, saved in agreeing]
    written = "Article 1 (Services), Section 1.01 (Scope) and Section 1.1 (Scope)"
    assert _said(_made(body, paragraph(*fields), paragraph(written))) == ((), [])
    sentences, clauses = _said(_made(body, paragraph(field(r"REF _Ref2 \r", "Section 1.02"))))
    assert (len(sentences), clauses) == (1, [("Section 1.02", "Scope\nSection 1.02")])


def test_numbers_of_deleted_paragraphs_agree_as_long_as_changes_are_shown() -> None:
    gone = paragraph(deleted("old"), number=(1, 0), properties='<w:rPr><w:del w:id="1" w:author="Bob"/></w:rPr>')
    body = gone + TERM + paragraph("See ", field(r"REF _Ref3 \r", "2"), " or Section 2 (Term)")
    assert _said(_made(body)) == ((), [])


def test_bookmarks_that_may_mean_something_else_are_not_compared() -> None:
    twice = paragraph(bookmark("_Ref1"), "a", number=(1, 0)) + paragraph(bookmark("_Ref1"), "b", number=(1, 0))
    inside = paragraph(bookmark("_Ref2"), "c ", field("LISTNUM"), number=(1, 0))
    plain = paragraph(bookmark("_Ref3"), "d")
    fields = [field(rf"REF _Ref{at} \r", "9") for at in (1, 2, 3)]
    assert _said(_made(twice, inside, plain, paragraph(*fields))) == ((), [])


def test_a_bookmark_before_a_paragraph_is_that_paragraph_s() -> None:
    made = _made(
        paragraph("x"), bookmark("_Ref8"), paragraph("Costs", number=(1, 0)), paragraph(field(r"REF _Ref8 \r", "4"))
    )
    assert _said(made)[1] == [("4", "Costs\n4")]


def test_references_in_footnotes_count_and_deleted_ones_do_not() -> None:
    gone = f'<w:del w:id="1" w:author="Bob">{field(r"REF _Ref3 \r", "5")}</w:del>'
    notes = f'<w:footnote w:id="1">{paragraph(field(r"REF _Ref3 \r", "4"))}</w:footnote>'
    body = RENT + TERM + paragraph("x", note("footnote", 1), gone)
    made = docx.make(word(body, {"numbering": lists({1: OUTLINE}), "footnotes": notes}))
    sentences, clauses = _said(made)
    assert [sentence.partition(" for ")[0] for sentence in sentences] == ["Footnote 1 refers to number 4"]
    assert [number for number, _ in clauses] == ["4"]


def test_many_disagreements_are_counted() -> None:
    clauses = [paragraph(bookmark(f"_Ref{at}"), f"Clause {at}", number=(1, 0)) for at in range(1, 31)]
    fields = [paragraph(field("LISTNUM"), field(rf"REF _Ref{at} \r", str(at + 1))) for at in range(1, 31)]
    made = _made(*fields, *clauses)
    first, *_, last = made.rendered.cautions
    assert first.startswith("Paragraph 1 refers to number 2 for what is counted as clause 1 (“Clause 1”)")
    assert last == "25 more references disagree with the numbers that were counted for their clauses."
    assert len(_said(made)[1]) == 30


@pytest.mark.slow
@pytest.mark.exhaustive
def test_many_references_and_titles_are_compared_in_bounded_time() -> None:
    words = "Section 9 (Rent), " * 2_000
    body = [paragraph(bookmark(f"_Ref{at}"), "Rent", number=(1, 0)) for at in range(2_000)]
    fields = [paragraph(field(rf"REF _Ref{at} \r", "99999"), words if at < 20 else "") for at in range(2_000)]
    data = word("".join([*body, *fields]), {"numbering": lists({1: OUTLINE})})
    header, _ = unpacked(isolation.run(f"{docx.__name__}.read", data, Limits(megabytes=400, cpu_seconds=8)))
    assert b"1,995 more references disagree" in header


def _made(*body: str) -> BuiltDocument:
    return docx.make(word("".join(body), {"numbering": lists({1: OUTLINE, 2: LEGAL})}))


def _said(made: BuiltDocument) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    marks = [mark for mark in made.rendered.layout.marks if mark.kind is MarkKind.DISPUTED]
    sentences = tuple(one for one in made.rendered.cautions if "refers to number" in one)
    return sentences, [(mark.note, made.text[mark.start : mark.end]) for mark in marks]
