"""LISTNUM fields are counted by the documented rules, or it is said at the document that they were left out."""

import pytest

from runs.documents.formats.docx import docx_reader as docx
from runs.documents.reading.building import BuiltDocument
from tests.documents.word import deleted_mark, field, level, lists, note, paragraph, word

OUTLINE = ("<w:name w:val='Clauses'/>", level(0, "decimal", "%1."), level(1, "lowerLetter", "(%2)"))
LEFT_OUT = "The number that Word counts at paragraph {} was left out: the file does not hold it. Look at it in Word."


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("NumberDefault", ["1)", "a)", "i)", "(1)", "(a)", "(i)", "1.", "a.", "i."]),
        ("OutlineDefault", ["I.", "A.", "1.", "a)", "(1)", "(a)", "(i)", "(a)", "(i)"]),
        ("legaldefault", ["1.", "1.1.", "1.1.1.", "1.1.1.1.", *(".".join("1" * n) + "." for n in range(5, 10))]),
    ],
)
def test_lists_that_every_document_has(name: str, labels: list[str]) -> None:
    fields = [field(rf"LISTNUM {name} \l {number}") for number in range(1, 10)]
    made = _made(*(paragraph("x ", one) for one in fields))
    assert made.text == "\n".join(f"x {label}" for label in labels)


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ([r"LISTNUM NumberDefault \l 5", "LISTNUM", "LISTNUM"], "(a)(b)(c)"),
        ([r"LISTNUM NumberDefault \l 3 \s 1", "LISTNUM", "LISTNUM NumberDefault", r"LISTNUM \s 1"], "i)ii)iii)i)"),
        (
            [r"LISTNUM NumberDefault \l 5", r"LISTNUM NumberDefault \l 6", r"LISTNUM \l 5", r"LISTNUM \l 6"],
            "(a)(i)(b)(i)",
        ),
        ([r"LISTNUM LegalDefault \l 1 \s 4", r"LISTNUM LegalDefault \l 2", r"LISTNUM \l 2 \s 7"], "4.4.1.4.7."),
        ([r"LISTNUM NumberDefault \l 5", r"LISTNUM OutlineDefault \l 2", "LISTNUM NumberDefault"], "(a)A.(b)"),
        ([r'LISTNUM "clauses" \l 2', r"LISTNUM \l 2"], "(a)(b)"),
    ],
)
def test_fields_count_on(codes: list[str], text: str) -> None:
    for is_simple in (False, True):
        made = _made(paragraph(*(field(code, is_simple=is_simple) for code in codes)))
        assert (made.text, made.rendered.notes) == (text, ())


def test_fields_count_on_in_later_paragraphs_and_start_where_they_say() -> None:
    made = _made(
        paragraph("fees are ", field(r"LISTNUM NumberDefault \l 5"), " rent and ", field("LISTNUM"), " costs"),
        paragraph("and ", field(r"LISTNUM NumberDefault \l 5"), " tax"),
        paragraph("or ", field(r"LISTNUM NumberDefault \l 5 \s 1"), " none"),
    )
    assert made.text == "fees are (a) rent and (b) costs\nand (c) tax\nor (a) none"


def test_a_field_without_a_name_in_a_numbered_paragraph_is_of_the_next_level() -> None:
    made = _made(
        paragraph("We pay ", field("LISTNUM"), " rent, ", field("LISTNUM"), " costs", number=(1, 0)),
        paragraph("tax", number=(1, 1)),
        paragraph("and ", field("LISTNUM"), " no more", number=(1, 0)),
    )
    assert made.text == "We pay (a) rent, (b) costs\ntax\nand (a) no more"
    assert [block.label for block in made.rendered.layout.blocks] == ["1.", "(c)", "2."]


def test_a_field_of_a_named_list_counts_with_its_paragraphs() -> None:
    made = _made(
        paragraph("one", number=(1, 0)),
        paragraph("Clause ", field(r"LISTNUM Clauses \l 1"), " stands here"),
        paragraph("three", number=(1, 0)),
    )
    assert (made.text.split("\n")[1], made.rendered.layout.blocks[2].label) == ("Clause 2. stands here", "3.")


def test_a_field_with_a_result_counts_and_shows_it() -> None:
    made = _made(paragraph(field(r"LISTNUM NumberDefault \l 5", "(a)"), field("LISTNUM")))
    assert (made.text, made.rendered.notes) == ("(a)(b)", ())


def test_deleted_fields_do_not_count() -> None:
    gone = f'<w:del w:id="1" w:author="Bob">{field(r"LISTNUM NumberDefault \l 5")}</w:del>'.replace(
        "instrText", "delInstrText"
    )
    made = _made(paragraph(gone, field(r"LISTNUM NumberDefault \l 5")))
    assert (made.text, made.rendered.notes) == ("(a)", ())


def test_a_field_in_a_footnote_counts_by_itself() -> None:
    body = paragraph("x", field(r"LISTNUM NumberDefault \l 5"), note("footnote", 1))
    notes = f'<w:footnote w:id="1">{paragraph(field(r"LISTNUM NumberDefault \l 5"), " note")}</w:footnote>'
    assert docx.make(word(body, {"footnotes": notes})).text == "x(a)¹\n(a) note"


def test_numbers_before_a_paragraph_that_a_change_joins_stay() -> None:
    first = paragraph("a ", field(r"LISTNUM NumberDefault \l 5"), number=(1, 0), properties=deleted_mark())
    made = _made(first, paragraph("b", number=(1, 0)), paragraph("c", number=(1, 0)))
    assert [block.label for block in made.rendered.layout.blocks] == ["1.", "2."]


@pytest.mark.parametrize(
    "code",
    [
        "LISTNUM",
        "LISTNUM NumberDefault",
        r"LISTNUM Nowhere \l 2",
        r"LISTNUM NumberDefault \l 10",
        r"LISTNUM NumberDefault \l x",
        r"LISTNUM Clauses \l 9",
        "AUTONUM",
        "AUTONUMOUT",
    ],
)
def test_what_the_rules_do_not_decide_is_said(code: str) -> None:
    for is_simple in (False, True):
        made = _made(paragraph("first"), paragraph("fees are ", field(code, is_simple=is_simple), " costs"))
        assert (made.text, made.rendered.notes) == ("first\nfees are  costs", (LEFT_OUT.format(2),))


def test_other_fields_without_a_result() -> None:
    made = _made(
        paragraph("x = ", field(r"EQ \f(1;2)")),
        paragraph(field(r'SYMBOL 168 \f "Wingdings"'), field("MACROBUTTON NoMacro [Name]"), field("ADVANCE")),
    )
    assert made.text == "x = \n☐[Name]"
    [said] = made.rendered.notes
    assert said == "The formula at paragraph 1 was left out: the file does not hold it. Look at it in Word."


def _made(*body: str) -> BuiltDocument:
    return docx.make(word("".join(body), {"numbering": lists({1: OUTLINE})}))
