"""Blocks with their anchors: tables, text boxes, notes, comments, headers, and what cannot be read."""

import pytest

from runs.documents.formats.docx import docx_reader as docx
from runs.documents.model.layout import BlockKind, Mark, MarkKind
from runs.documents.places.document import Document
from runs.documents.reading.building import BuiltDocument
from runs.errors import InvalidInput
from runs.evidence.passages import Passage, passage_in
from tests.documents.word import (
    commented,
    deleted,
    deleted_mark,
    note,
    paragraph,
    run,
    style,
    table,
    text_box,
    word,
    zipped,
)


def test_headings_are_those_of_their_styles_or_their_own() -> None:
    styles = style("Heading1", '<w:outlineLvl w:val="0"/>') + style("Sub", based_on="Heading1")
    made = _made(
        paragraph("One", style="Sub"),
        paragraph("Two", properties='<w:outlineLvl w:val="3"/>'),
        paragraph("Three", style="Sub", properties='<w:outlineLvl w:val="9"/>'),
        styles=styles,
    )
    assert [(block.kind, block.level) for block in made.rendered.layout.blocks] == [
        (BlockKind.HEADING, 1),
        (BlockKind.HEADING, 4),
        (BlockKind.PARAGRAPH, 0),
    ]


def test_cells_have_their_row_and_column() -> None:
    wide = f'<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{paragraph("wide")}</w:tc>'
    skipped = '<w:trPr><w:gridBefore w:val="1"/></w:trPr>'
    control = f"<w:sdt><w:sdtContent><w:tc>{paragraph('control')}</w:tc></w:sdtContent></w:sdt>"
    rows = f"<w:tr>{wide}<w:tc>{paragraph('next')}</w:tc></w:tr>"
    rows += f"<w:tr>{skipped}<w:tc>{paragraph('late')}</w:tc>{control}</w:tr>"
    made = _made(
        paragraph("Before."),
        f"<w:tbl>{rows}</w:tbl>",
        table([paragraph("a") + table(["inner"]) + paragraph("b")]),
        paragraph("After."),
    )
    assert _anchors(made) == {
        "p1": "Before.",
        "t1r1c1.p1": "wide",
        "t1r1c3.p1": "next",
        "t1r2c2.p1": "late",
        "t1r2c3.p1": "control",
        "t2r1c1.p1": "a",
        "t2r1c1.t1r1c1.p1": "inner",
        "t2r1c1.p2": "b",
        "p2": "After.",
    }
    assert {block.kind for block in made.rendered.layout.blocks} == {BlockKind.PARAGRAPH, BlockKind.CELL}


def test_a_text_box_is_read_once_after_its_paragraph() -> None:
    inner = text_box(paragraph("deep"))
    made = _made(
        paragraph("Text", text_box(paragraph("one"), paragraph("two", inner)), text_box(paragraph("three"))),
        paragraph("End"),
    )
    assert _anchors(made) == {
        "p1": "Text",
        "p1x.p1": "one",
        "p1x.p2": "two",
        "p1x.p2x.p1": "deep",
        "p1x.p3": "three",
        "p2": "End",
    }
    assert [block.kind for block in made.rendered.layout.blocks][1:5] == [BlockKind.TEXT_BOX] * 4


def test_of_two_forms_of_a_text_box_in_a_group_one_is_read() -> None:
    box = "<w:txbxContent>{}</w:txbxContent>"
    new, old = box.format(paragraph("new")), box.format(paragraph("old"))
    forms = f"<mc:AlternateContent><mc:Choice>{new}</mc:Choice><mc:Fallback>{old}</mc:Fallback></mc:AlternateContent>"
    made = _made(paragraph("Text", f"<w:r><w:drawing><wps:group>{forms}</wps:group></w:drawing></w:r>"))
    assert _anchors(made) == {"p1": "Text", "p1x.p1": "new"}


def test_notes_are_numbered_as_the_text_refers_to_them() -> None:
    footnotes = "".join(
        f'<w:footnote w:id="{number}"{kind}>{paragraph(text)}</w:footnote>'
        for number, kind, text in [
            (0, ' w:type="separator"', "---"),
            (5, "", "five"),
            (2, "", "two"),
            (3, "", "three"),
            (4, "", "four"),
        ]
    )
    own = '<w:r><w:footnoteReference w:customMarkFollows="1" w:id="4"/><w:t>*</w:t></w:r>'
    endnotes = f'<w:endnote w:id="2">{paragraph("end")}{paragraph("more")}</w:endnote>'
    made = _made(
        paragraph("Text", note("footnote", 2), own, note("footnote", 5), note("endnote", 2)),
        footnotes=footnotes,
        endnotes=endnotes,
    )
    assert [(block.anchor, block.label) for block in made.rendered.layout.blocks] == [
        ("p1", ""), ("fn1.p1", "1"), ("fn2.p1", ""), ("fn3.p1", "2"), ("fn4.p1", ""), ("en1.p1", "i"), ("en1.p2", ""),
    ]  # fmt: skip
    assert made.text == "Text¹*²[i]\ntwo\nfour\nfive\nthree\nend\nmore"
    assert [made.text[one.start : one.end] for one in made.rendered.layout.marks] == ["¹", "²[i]"]


@pytest.mark.parametrize(
    ("said", "label", "sign"),
    [
        ("", "1", "¹"),
        ('<w:numFmt w:val="upperRoman"/>', "I", "[I]"),
        ('<w:numRestart w:val="eachPage"/>', "", "[note]"),
    ],
)
def test_notes_are_numbered_as_the_file_says(said: str, label: str, sign: str) -> None:
    made = _made(
        paragraph("Text", note("footnote", 2)),
        footnotes=f'<w:footnote w:id="2">{paragraph("two")}</w:footnote>',
        settings=f"<w:footnotePr>{said}</w:footnotePr>",
    )
    assert made.rendered.layout.blocks[1].label == label
    assert made.text == f"Text{sign}\ntwo"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (run("x", '<w:vertAlign w:val="superscript"/>'), "10x¹"),
        (run("2", '<w:vertAlign w:val="superscript"/>'), "10²[1]"),
    ],
)
def test_the_sign_of_a_note_does_not_join_a_power(words: str, text: str) -> None:
    made = _made(
        paragraph(run("10"), words, note("footnote", 2)),
        footnotes=f'<w:footnote w:id="2">{paragraph("two")}</w:footnote>',
    )
    assert made.text == f"{text}\ntwo"


def test_signs_of_two_notes_do_not_join() -> None:
    footnotes = "".join(f'<w:footnote w:id="{number}">{paragraph("it")}</w:footnote>' for number in (2, 3))
    made = _made(paragraph("Text", note("footnote", 2), note("footnote", 3)), footnotes=footnotes)
    assert made.text == "Text¹[2]\nit\nit"


@pytest.mark.parametrize("quote", ["a fee of EUR 500, payable yearly", "a fee of EUR 500¹, payable yearly"])
def test_a_quote_goes_over_the_sign_of_a_note(quote: str) -> None:
    words = paragraph("The Tenant pays a fee of EUR 500", note("footnote", 2), ", payable yearly.")
    made = _made(words, footnotes=f'<w:footnote w:id="2">{paragraph("Without tax.")}</w:footnote>')
    document = Document(made.text, made.rendered.layout)
    found = passage_in(quote, document, "lease.docx")
    assert isinstance(found, Passage)
    assert found.words == "a fee of EUR 500¹, payable yearly"
    assert not isinstance(passage_in("a fee of EUR 5001, payable yearly", document, "lease.docx"), Passage)


def test_a_note_goes_with_the_words_that_refer_to_it() -> None:
    gone = f'<w:del w:id="1" w:author="Bob" w:date="2026-03-02T10:00:00Z">{note("footnote", 2)}</w:del>'
    made = _made(paragraph("Text", gone), footnotes=f'<w:footnote w:id="2">{paragraph("two")}</w:footnote>')
    assert made.text == "Text"
    assert [(one.text, one.by) for one in made.rendered.layout.deletions] == [("two", "Bob")]


def test_a_comment_is_a_block_and_marks_what_it_is_about() -> None:
    over = '<w:commentRangeStart w:id="2"/>'
    end = '<w:commentRangeEnd w:id="2"/><w:r><w:commentReference w:id="2"/></w:r>'
    comments = "".join(
        f'<w:comment w:id="{number}" w:author="{by}" w:date="2026-04-0{number + 1}">{paragraph(text)}</w:comment>'
        for number, by, text in [
            (0, "Ann", "Too long?"),
            (1, "Bob", "Whole one."),
            (2, "Zoe", "Both."),
            (3, "Ann", "None."),
        ]
    )
    made = _made(
        paragraph("Pay in ", commented("thirty days", 0), "."),
        paragraph("No words.", '<w:r><w:commentReference w:id="1"/></w:r>'),
        over,
        paragraph("First."),
        paragraph("Second", end, "."),
        comments=comments,
    )
    about = [(made.text[mark.start : mark.end], mark.by, mark.on, mark.note) for mark in made.rendered.layout.marks]
    assert about == [
        ("thirty days", "Ann", "2026-04-01", "cm0.p1"),
        ("No words.", "Bob", "2026-04-02", "cm1.p1"),
        ("First.\nSecond", "Zoe", "2026-04-03", "cm2.p1"),
    ]
    assert made.text.endswith("Too long?\nWhole one.\nBoth.\nNone.")
    assert {block.kind for block in made.rendered.layout.blocks[4:]} == {BlockKind.COMMENT}


def test_headers_and_footers_come_last() -> None:
    made = _made(paragraph("Text."), header=paragraph("Draft"), footer=paragraph("Page 1"))
    assert [(block.anchor, block.kind) for block in made.rendered.layout.blocks] == [
        ("p1", BlockKind.PARAGRAPH),
        ("hd1.p1", BlockKind.HEADER),
        ("ft1.p1", BlockKind.FOOTER),
    ]
    assert made.text == "Text.\nDraft\nPage 1"


def test_blocks_that_are_only_around_others_are_gone_through() -> None:
    body = (
        f"<w:sdt><w:sdtContent>{paragraph('one')}"
        f"<w:sdt><w:sdtContent>{paragraph('two')}</w:sdtContent></w:sdt></w:sdtContent></w:sdt>"
        f"<w:customXml>{paragraph('three')}</w:customXml>"
        f"<mc:AlternateContent><mc:Fallback>{paragraph('four')}</mc:Fallback></mc:AlternateContent>"
    )
    assert _anchors(_made(body)) == {"p1": "one", "p2": "two", "p3": "three", "p4": "four"}


def test_what_is_not_read_is_said() -> None:
    chart = "<w:r><w:drawing><c:chart/></w:drawing></w:r>"
    thing = "<w:r><w:object><o:OLEObject/></w:object></w:r>"
    made = _made(paragraph("Text.", chart), table([paragraph(thing) + paragraph("x")]), "<w:altChunk/>")
    assert made.rendered.notes == (
        "The chart at paragraph 1 was not read.",
        "The embedded file at table 1, row 1, column 1 was not read.",
        "What comes from another file after paragraph 1 was not read.",
    )


def test_a_picture_that_may_be_a_scanned_page_is_not_read() -> None:
    def picture(width: int, height: int) -> str:
        extent = f'<wp:extent cx="{width * 360_000}" cy="{height * 360_000}"/>'
        return f"<w:r><w:drawing><wp:inline>{extent}<pic:pic/></wp:inline></w:drawing></w:r>"

    made = _made(paragraph("Logo", picture(20, 3)), paragraph("Scan", picture(16, 24)))
    assert made.rendered.notes == ("The picture of a page at paragraph 2 was not read.",)


def test_empty_paragraphs_are_counted_and_left_out() -> None:
    made = _made(paragraph(), paragraph("  "), paragraph("Text."), paragraph(run("\t")), paragraph("More."))
    assert _anchors(made) == {"p3": "Text.", "p5": "More."}
    assert made.rendered.layout.units == 5


def test_what_lies_in_a_paragraph_that_is_left_out_lies_before_the_next_one() -> None:
    made = _made(
        paragraph("One."),
        paragraph("  ", commented("  ", 0), deleted("gone")),
        paragraph("Two."),
        comments=f'<w:comment w:id="0">{paragraph("?")}</w:comment>',
    )
    assert made.text == "One.\nTwo.\n?"
    assert made.rendered.layout.marks == ()
    assert [(one.at, one.text) for one in made.rendered.layout.deletions] == [(5, "gone")]


def test_too_many_paragraphs_are_refused_also_without_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docx, "MAX_BLOCKS", 3)
    with pytest.raises(InvalidInput, match="more than 3 paragraphs"):
        _made(paragraph() * 3, paragraph("x"))


def test_a_file_without_a_text_is_refused() -> None:
    with pytest.raises(InvalidInput, match="has no text in it"):
        _made(
            paragraph(), paragraph("x", properties=deleted_mark()).replace("<w:t ", "<w:x ").replace("</w:t>", "</w:x>")
        )
    with pytest.raises(InvalidInput, match="is not a Word document"):
        docx.make(zipped({"a": b""}))
    with pytest.raises(InvalidInput, match="is not a Word document"):
        docx.make(zipped({"word/document.xml": b"<html/>"}))


def test_the_marks_of_a_comment_without_text_lead_nowhere() -> None:
    made = _made(paragraph(commented("word", 0)), comments='<w:comment w:id="0" w:author="Ann"><w:p/></w:comment>')
    assert made.rendered.layout.marks == (Mark(MarkKind.COMMENTED, 0, 4, "Ann"),)


def _made(*body: str, **parts: str) -> BuiltDocument:
    return docx.make(word("".join(body), parts))


def _anchors(made: BuiltDocument) -> dict[str, str]:
    return {block.anchor: made.text[block.start : block.end] for block in made.rendered.layout.blocks}
