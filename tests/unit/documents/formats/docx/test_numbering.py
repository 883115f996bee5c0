"""Numbers are counted as Word counts them, one test for each rule."""

import pytest

from runs.documents.formats.docx import docx_reader as docx
from tests.documents.word import (
    deleted,
    deleted_mark,
    field,
    level,
    lists,
    numbered_by,
    paragraph,
    start_override,
    style,
    table,
    text_box,
    word,
)

OUTLINE = (level(0, "decimal", "%1."), level(1, "decimal", "%1.%2"), level(2, "lowerLetter", "(%3)"))


def test_levels_count_and_start_again_below_the_next_one() -> None:
    body = _body((1, 0), (1, 1), (1, 2), (1, 2), (1, 1), (1, 2), (1, 0), (1, 1))
    assert _labels(body, lists({1: OUTLINE})) == ["1.", "1.1", "(a)", "(b)", "1.2", "(a)", "2.", "2.1"]


def test_a_level_that_was_left_out_counts_as_begun() -> None:
    assert _labels(_body((1, 1), (1, 0), (1, 2), (1, 1)), lists({1: OUTLINE})) == ["1.1", "2.", "(a)", "2.2"]


def test_lists_of_one_definition_count_together() -> None:
    numbering = lists({7: OUTLINE}, {1: (7, ""), 2: (7, "")})
    assert _labels(_body((1, 0), (2, 0), (1, 0)), numbering) == ["1.", "2.", "3."]


def test_a_list_that_starts_at_a_number_does_so_once() -> None:
    numbering = lists({7: OUTLINE}, {1: (7, ""), 2: (7, start_override(0, 5))})
    assert _labels(_body((1, 0), (2, 0), (2, 0), (1, 0), (2, 0)), numbering) == ["1.", "5.", "6.", "7.", "8."]


def test_a_level_that_starts_at_a_number_starts_there_each_time() -> None:
    numbering = lists({7: OUTLINE}, {1: (7, start_override(1, 3))})
    assert _labels(_body((1, 0), (1, 1), (1, 0), (1, 1)), numbering) == ["1.", "1.3", "2.", "2.3"]


def test_a_list_may_have_levels_of_its_own() -> None:
    own = f'<w:lvlOverride w:ilvl="1">{level(1, "upperRoman", "%2)", start=4)}</w:lvlOverride>'
    numbering = lists({7: OUTLINE}, {1: (7, ""), 2: (7, own)})
    assert _labels(_body((1, 0), (2, 1), (2, 1)), numbering) == ["1.", "IV)", "V)"]


@pytest.mark.parametrize(
    ("restart", "labels"),
    [
        ("", ["1.", "1.1", "(a)", "1.2", "(a)", "2.", "2.1", "(a)"]),
        ('<w:lvlRestart w:val="0"/>', ["1.", "1.1", "(a)", "1.2", "(b)", "2.", "2.1", "(c)"]),
        ('<w:lvlRestart w:val="1"/>', ["1.", "1.1", "(a)", "1.2", "(b)", "2.", "2.1", "(a)"]),
    ],
)
def test_a_level_says_after_which_one_it_starts_again(restart: str, labels: list[str]) -> None:
    levels = (*OUTLINE[:2], level(2, "lowerLetter", "(%3)", restart))
    body = _body((1, 0), (1, 1), (1, 2), (1, 1), (1, 2), (1, 0), (1, 1), (1, 2))
    assert _labels(body, lists({1: levels})) == labels


def test_legal_numbering_writes_the_levels_above_in_digits() -> None:
    levels = (
        level(0, "upperRoman", "ARTICLE %1"),
        level(1, "decimalZero", "Section %1.%2", "<w:isLgl/>"),
        level(2, "lowerLetter", "%1.%2.%3", "<w:isLgl/>"),
    )
    body = _body((1, 0), (1, 0), (1, 1), (1, 2))
    assert _labels(body, lists({1: levels})) == ["ARTICLE I", "ARTICLE II", "Section 2.01", "2.01.1"]


def test_number_0_takes_a_paragraph_out_of_the_list_of_its_style() -> None:
    styles = style("Clause", numbered_by(1, 0))
    body = (
        paragraph("a", style="Clause") + paragraph("b", style="Clause", number=(0, 0)) + paragraph("c", style="Clause")
    )
    assert _labels(body, lists({1: OUTLINE}, {0: (1, ""), 1: (1, "")}), styles) == ["1.", "", "2."]
    styles += style("Plain", numbered_by(0), based_on="Clause")
    assert _labels(paragraph("a", style="Clause") + paragraph("b", style="Plain"), lists({1: OUTLINE}), styles) == [
        "1.",
        "",
    ]


def test_the_list_of_a_style_may_be_that_of_the_style_below() -> None:
    styles = style("One", numbered_by(1, 0)) + style("Two", numbered_by(index=1), based_on="One")
    styles += style("Three", based_on="Two")
    body = paragraph("a", style="One") + paragraph("b", style="Two") + paragraph("c", style="Three")
    assert _labels(body, lists({1: OUTLINE}), styles) == ["1.", "1.1", "1.2"]


def test_a_level_that_is_tied_to_a_style_is_the_style_s() -> None:
    levels = (
        level(0, "decimal", "%1", '<w:pStyle w:val="Heading1"/>'),
        level(1, "decimal", "%1.%2", '<w:pStyle w:val="Heading2"/>'),
    )
    styles = style("Heading1", numbered_by(1)) + style("Heading2", numbered_by(1), based_on="Heading1")
    styles += style("Sub", based_on="Heading2")
    body = "".join(paragraph("a", style=name) for name in ("Heading1", "Heading2", "Sub"))
    assert _labels(body, lists({1: levels}), styles) == ["1", "1.1", "1.2"]


def test_what_a_paragraph_says_goes_before_its_style() -> None:
    styles = style("One", numbered_by(1, 0))
    only_level = '<w:numPr><w:ilvl w:val="1"/></w:numPr>'
    body = paragraph("a", style="One") + paragraph("b", style="One", properties=only_level)
    body += paragraph("c", style="One", number=(2, 2))
    assert _labels(body, lists({1: OUTLINE, 2: OUTLINE}), styles) == ["1.", "1.1", "(a)"]


def test_a_definition_may_be_that_of_a_list_style() -> None:
    definitions = {1: ['<w:numStyleLink w:val="Legal"/>'], 2: ['<w:styleLink w:val="Legal"/>', *OUTLINE]}
    styles = style("Legal", numbered_by(9), kind="numbering")
    numbering = lists(definitions, {5: (1, ""), 9: (2, "")})
    assert _labels(_body((5, 0), (9, 0), (5, 1)), numbering, styles) == ["1.", "2.", "2.1"]


def test_a_definition_that_leads_to_itself_numbers_nothing() -> None:
    definitions = {1: ['<w:numStyleLink w:val="Legal"/>']}
    styles = style("Legal", numbered_by(5), kind="numbering") + style("A", based_on="B") + style("B", based_on="A")
    assert _labels(_body((5, 0)) + paragraph("b", style="A"), lists(definitions, {5: (1, "")}), styles) == ["", ""]


def test_paragraphs_that_are_deleted_or_hidden_do_not_count() -> None:
    gone = '<w:rPr><w:del w:id="1" w:author="Bob" w:date="2026-03-02T10:00:00Z"/></w:rPr>'
    hidden = "<w:rPr><w:vanish/></w:rPr>"
    body = (
        paragraph("a", number=(1, 0))
        + paragraph('<w:del w:id="2"><w:r><w:delText>b</w:delText></w:r></w:del>', number=(1, 0), properties=gone)
        + paragraph("c", number=(1, 0))
        + paragraph("<w:r><w:rPr><w:vanish/></w:rPr><w:t>d</w:t></w:r>", number=(1, 0), properties=hidden)
        + paragraph("e", number=(1, 0))
    )
    assert _labels(body, lists({1: OUTLINE})) == ["1.", "2.", "", "3."]


def test_a_paragraph_that_is_deleted_before_a_table_does_not_count() -> None:
    gone = paragraph(deleted("b"), number=(1, 0), properties=deleted_mark())
    body = paragraph("a", number=(1, 0)) + gone + table(["cell"]) + paragraph("c", number=(1, 0))
    assert _labels(body, lists({1: OUTLINE})) == ["1.", "", "2."]


def test_paragraphs_that_a_tracked_change_deletes_count_as_long_as_changes_are_shown() -> None:
    def clause(text: str, level: int, properties: str = "") -> str:
        return paragraph(text, number=(1, level), properties=properties)

    cells = table(["cell"]).replace("<w:tr>", '<w:tr><w:trPr><w:del w:id="1" w:author="Bob"/></w:trPr>')
    row = cells.replace("<w:pPr></w:pPr>", '<w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr>')
    body = (
        clause("Rent", 0)
        + clause(deleted("old"), 1, deleted_mark())
        + clause("kept", 1)
        + clause("(a)", 2)
        + row
        + clause("after the row", 1)
        + clause("Term", 0)
        + clause("as it was", 1)
    )
    made = docx.make(word(body, {"numbering": lists({1: OUTLINE})}))
    assert [(block.clause, block.markup) for block in made.rendered.layout.blocks] == [
        ("1", ""),
        ("1.1", "1.2"),
        ("1.1(a)", "1.2(a)"),
        ("1.2", "1.4"),
        ("2", ""),
        ("2.1", ""),
    ]


def test_an_empty_paragraph_counts_and_is_there() -> None:
    body = paragraph("a", number=(1, 0)) + paragraph(number=(1, 0)) + paragraph() + paragraph("c", number=(1, 0))
    assert _labels(body, lists({1: OUTLINE})) == ["1.", "2.", "3."]


BREAK = "<w:sectPr><w:type w:val='nextPage'/></w:sectPr>"
HIDDEN = "<w:rPr><w:vanish/></w:rPr>"


@pytest.mark.parametrize(
    "empty",
    [
        paragraph(number=(1, 0), properties=BREAK),
        paragraph(style="Clause", properties=BREAK),
        paragraph(
            "<w:r><w:rPr><w:b/></w:rPr></w:r><w:proofErr w:type='spellStart'/>", style="Clause", properties=BREAK
        ),
        paragraph(field('XE "Rent"'), style="Clause", properties=BREAK),
        paragraph(deleted("old"), style="Clause", properties=BREAK),
        paragraph("<w:bookmarkStart w:id='1' w:name='a'/>", style="Clause", properties=HIDDEN),
        paragraph(style="Clause", properties=HIDDEN),
        paragraph(style="Hidden"),
    ],
    ids=["itself", "style", "runs", "index entry", "deleted", "hidden bookmark", "hidden", "hidden by style"],
)
def test_an_empty_paragraph_that_is_not_shown_does_not_count(empty: str) -> None:
    styles = style("Clause", numbered_by(1, 0)) + style("Hidden", based_on="Clause", runs="<w:vanish/>")
    body = empty + paragraph("a", style="Clause") + empty + empty + paragraph("b", style="Clause")
    assert _labels(body, lists({1: OUTLINE}), styles) == ["1.", "2."]


@pytest.mark.parametrize(
    "shown",
    [
        paragraph("a", style="Clause", properties=BREAK),
        paragraph(" ", style="Clause", properties=BREAK),
        paragraph('<w:r><w:br w:type="page"/></w:r>', style="Clause", properties=BREAK),
        paragraph("<w:r><w:drawing/></w:r>", style="Clause", properties=BREAK),
        paragraph("<w:r><w:drawing/></w:r>", style="Clause", properties=HIDDEN),
        paragraph("a", style="Clause", properties=HIDDEN),
        paragraph(style="Clause"),
        paragraph(style="Clause", properties="<w:rPr><w:vanish w:val='0'/></w:rPr>"),
    ],
    ids=["words", "space", "page break", "picture", "picture, hidden", "words, hidden", "empty", "not hidden"],
)
def test_a_paragraph_that_is_shown_counts(shown: str) -> None:
    styles = style("Clause", numbered_by(1, 0))
    assert _labels(shown + paragraph("b", style="Clause"), lists({1: OUTLINE}), styles) == ["1.", "2."]


def test_a_section_break_with_deleted_words_counts_as_long_as_changes_are_shown() -> None:
    gone = paragraph(deleted("old"), number=(1, 0), properties=BREAK)
    made = docx.make(word(gone + paragraph("b", number=(1, 0)), {"numbering": lists({1: OUTLINE})}))
    assert [(block.clause, block.markup) for block in made.rendered.layout.blocks] == [("1", "2")]


def test_a_text_box_at_a_section_break_is_read() -> None:
    body = paragraph(text_box(paragraph("boxed")), number=(1, 0), properties=BREAK) + paragraph("b", number=(1, 0))
    assert _labels(body, lists({1: OUTLINE})) == ["1.", "", "2."]


@pytest.mark.parametrize("form", ["bullet", "none"])
@pytest.mark.parametrize(
    ("text", "label", "more"),
    [
        ("%1.%2.%3%4.", "1.1.1.", ""),
        ("%1.%2.%3%4.", "1.1.1.", "<w:isLgl/>"),
        ("%1%4(%3)", "1(1)", ""),
        ("%4%3)", "1)", "<w:isLgl/>"),
    ],
)
def test_a_level_without_a_number_adds_none_to_those_below(form: str, text: str, label: str, more: str) -> None:
    levels = (*(level(at, "decimal", f"%{at + 1}.") for at in range(3)), level(3, form, "x"))
    body = _body((1, 0), (1, 1), (1, 2), (1, 3), (1, 4))
    assert _labels(body, lists({1: (*levels, level(4, "decimal", text, more))}))[4] == label


def test_the_level_itself_may_be_without_a_number() -> None:
    levels = (*(level(at, "decimal", f"%{at + 1}.") for at in range(3)), level(3, "none", "%1.%2.%3%4."))
    made = docx.make(word(_body((1, 0), (1, 1), (1, 2), (1, 3)), {"numbering": lists({1: levels})}))
    assert [(block.label, block.clause) for block in made.rendered.layout.blocks][3] == ("1.1.1.", "1.1.1")


def test_bullets_and_words_without_a_number() -> None:
    levels = (
        level(0, "bullet", "\uf0b7"),
        level(1, "none", "Note:"),
        level(2, "decimal", "%3", "<w:rPr><w:vanish/></w:rPr>"),
    )
    made = docx.make(word(_body((1, 0), (1, 1), (1, 2)), {"numbering": lists({1: levels})}))
    found = [(block.label, block.clause, block.level) for block in made.rendered.layout.blocks]
    assert found == [("•", "", 1), ("Note:", "", 2), ("", "", 3)]


def test_numbers_that_newer_programs_describe() -> None:
    described = (
        '<w:lvl w:ilvl="0"><w:start w:val="1"/><mc:AlternateContent><mc:Choice Requires="w14">'
        '<w:numFmt w:val="custom" w:format="001, 002, 003, ..."/></mc:Choice><mc:Fallback><w:numFmt w:val="decimal"/>'
        '</mc:Fallback></mc:AlternateContent><w:lvlText w:val="%1"/></w:lvl>'
    )
    assert _labels(_body((1, 0), (1, 0)), lists({1: [described]})) == ["001", "002"]


def test_a_list_or_a_level_that_is_not_defined_numbers_nothing() -> None:
    assert _labels(_body((9, 0), (1, 7), (1, 0)), lists({1: OUTLINE})) == ["", "", "1."]
    assert _labels(_body((9, 0)), "") == [""]


def test_cells_of_a_table_count_with_the_text() -> None:
    inside = f"<w:tbl><w:tr><w:tc>{_body((1, 0), (1, 1))}</w:tc><w:tc>{_body((1, 1))}</w:tc></w:tr></w:tbl>"
    assert _labels(_body((1, 0)) + inside + _body((1, 0)), lists({1: OUTLINE})) == ["1.", "2.", "2.1", "2.2", "3."]


def _body(*numbers: tuple[int, int]) -> str:
    return "".join(paragraph("text", number=number) for number in numbers)


def _labels(body: str, numbering: str, styles: str = "") -> list[str]:
    made = docx.make(word(body, {"numbering": numbering, "styles": styles}))
    return [block.label for block in made.rendered.layout.blocks]
