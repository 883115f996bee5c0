"""What a paragraph says: changes as if they were accepted, hidden words, fields, signs, formulas."""

import pytest

from runs.documents.formats.docx import docx_reader as docx
from runs.documents.model.layout import Deletion, Mark, MarkKind
from runs.documents.reading.building import BuiltDocument
from runs.errors import InvalidInput
from tests.documents.word import (
    deleted,
    deleted_mark,
    inserted,
    paragraph,
    run,
    style,
    table,
    text_box,
    word,
)

WHEN, LATER = "2026-03-01T10:00:00Z", "2026-03-02T10:00:00Z"


def test_an_insertion_is_in_the_text_and_a_deletion_beside_it() -> None:
    made = _made(paragraph("Capped at ", deleted("100"), inserted("150"), "% of fees."))
    assert made.text == "Capped at 150% of fees."
    assert made.rendered.layout.marks == (Mark(MarkKind.INSERTED, 10, 13, "Ann", WHEN),)
    assert made.rendered.layout.deletions == (Deletion(10, "100", "Bob", LATER),)


def test_what_was_moved_is_new_at_its_place_and_deleted_at_the_old_one() -> None:
    made = _made(
        paragraph("One. ", deleted("Moved words.", tag="moveFrom")),
        paragraph("Two. ", inserted("Moved words.", tag="moveTo")),
    )
    assert made.text == "One. \nTwo. Moved words."
    assert _marked(made, MarkKind.INSERTED) == ["Moved words."]
    assert made.rendered.layout.deletions == (Deletion(5, "Moved words.", "Bob", LATER),)


def test_a_change_that_is_cut_into_runs_is_one() -> None:
    made = _made(paragraph(inserted("new "), inserted("words"), deleted("old "), deleted("ones")))
    assert made.rendered.layout.marks == (Mark(MarkKind.INSERTED, 0, 9, "Ann", WHEN),)
    assert made.rendered.layout.deletions == (Deletion(9, "old ones", "Bob", LATER),)
    others = _made(paragraph(inserted("new "), inserted("words", by="Zoe")))
    assert _marked(others, MarkKind.INSERTED) == ["new ", "words"]


def test_an_insertion_that_another_one_deleted_is_gone() -> None:
    both = f'<w:ins w:id="1" w:author="Ann" w:date="{WHEN}">{deleted("never")}</w:ins>'
    made = _made(paragraph("Kept.", both))
    assert made.text == "Kept."
    assert made.rendered.layout.deletions == (Deletion(5, "never", "Bob", LATER),)
    assert made.rendered.layout.marks == ()


def test_what_a_deletion_has_taken_with_it_is_gone_too() -> None:
    both = f'<w:del w:id="1" w:author="Bob" w:date="{LATER}">{inserted("never")}</w:del>'
    made = _made(paragraph("Kept.", both))
    assert made.text == "Kept."
    assert made.rendered.layout.deletions == (Deletion(5, "never", "Bob", LATER),)


def test_a_paragraph_that_is_deleted_whole_is_no_block() -> None:
    made = _made(paragraph("One."), paragraph(deleted("Two."), properties=deleted_mark()), paragraph("Three."))
    assert made.text == "One.\nThree."
    assert [block.anchor for block in made.rendered.layout.blocks] == ["p1", "p3"]
    assert made.rendered.layout.deletions == (Deletion(5, "Two.", "Bob", LATER),)


def test_paragraphs_are_one_when_the_mark_between_them_is_deleted() -> None:
    made = _made(
        paragraph("One ", deleted("end."), properties=deleted_mark()),
        paragraph(deleted("Begin"), "goes on."),
        paragraph("Two."),
    )
    assert made.text == "One goes on.\nTwo."
    assert [block.anchor for block in made.rendered.layout.blocks] == ["p2", "p3"]
    assert made.rendered.layout.deletions == (Deletion(4, "end.\nBegin", "Bob", LATER),)


def test_words_before_a_table_stay_when_their_mark_is_deleted() -> None:
    made = _made(
        paragraph("One.", properties=deleted_mark()),
        table(["Cell."]),
        paragraph(deleted("x"), properties=deleted_mark()),
    )
    assert made.text == "One.\nCell."
    assert [block.anchor for block in made.rendered.layout.blocks] == ["p1", "t1r1c1.p1"]
    assert made.rendered.layout.deletions == (Deletion(10, "x", "Bob", LATER),)


def test_rows_and_cells_are_deleted_and_inserted() -> None:
    change = 'w:id="1" w:author="Bob" w:date="2026-03-02T10:00:00Z"'
    rows = (
        f"<w:tr><w:trPr><w:del {change}/></w:trPr><w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr>"
        f"<w:tr><w:trPr><w:ins {change}/></w:trPr><w:tc>{paragraph('c')}</w:tc></w:tr>"
        f"<w:tr><w:tc><w:tcPr><w:cellDel {change}/></w:tcPr>{paragraph('d')}</w:tc>"
        f"<w:tc><w:tcPr><w:cellIns {change}/></w:tcPr>{paragraph('e')}</w:tc></w:tr>"
    )
    made = _made(f"<w:tbl>{rows}</w:tbl>")
    assert made.text == "c\ne"
    assert _marked(made, MarkKind.INSERTED) == ["c", "e"]
    assert [one.text for one in made.rendered.layout.deletions] == ["a", "b", "d"]
    assert [block.anchor for block in made.rendered.layout.blocks] == ["t1r2c1.p1", "t1r3c2.p1"]


def test_hidden_words_are_marked_by_themselves_and_by_their_styles() -> None:
    hidden, shown = "<w:vanish/>", '<w:vanish w:val="0"/>'
    styles = (
        style("Secret", runs=hidden)
        + style("Derived", based_on="Secret")
        + style("Char", kind="character", runs=hidden)
    )
    made = _made(
        paragraph("One ", run("hidden", hidden), run(" two", shown)),
        paragraph("by style ", run("not", shown), run("twice", '<w:rStyle w:val="Char"/>'), style="Derived"),
        paragraph(run("by its own", '<w:rStyle w:val="Char"/>')),
        styles=styles,
    )
    assert _marked(made, MarkKind.HIDDEN) == ["hidden", "by style ", "by its own"]


_WHITE, _TINY = '<w:color w:val="FFFFFF"/>', '<w:sz w:val="2"/>'
_STYLES = (
    style("Pale", runs=_WHITE)
    + style("Paler", based_on="Pale")
    + style("Ghost", kind="character", runs=_WHITE)
    + style("Banner", '<w:shd w:val="clear" w:fill="1F3864"/>', runs=_WHITE)
    + style("Dust", runs=_TINY)
    + style("Dark", kind="table").replace("<w:rPr>", '<w:tcPr><w:shd w:val="clear" w:fill="000000"/></w:tcPr><w:rPr>')
)


@pytest.mark.parametrize(
    "secret",
    [
        paragraph(run("secret", _WHITE)),
        paragraph(run("secret", '<w:color w:val="fefefe"/>')),
        paragraph(run("secret", '<w:color w:val="000000" w:themeColor="background1"/>')),
        paragraph(run("secret", _TINY)),
        paragraph(run("secret", '<w:color w:val="C00000"/><w:shd w:val="clear" w:fill="C00000"/>')),
        paragraph(run("secret", '<w:color w:val="C00000"/><w:shd w:val="solid" w:color="C00000" w:fill="FFFFFF"/>')),
        paragraph(run("secret", _WHITE + '<w:highlight w:val="white"/>')),
        paragraph(run("secret", _WHITE + '<w:shd w:val="clear" w:fill="auto"/>')),
        paragraph(run("secret", _WHITE + '<w:shd w:val="pct50" w:color="FFFFFF" w:fill="FFFFFF"/>')),
        paragraph(run("secret", _WHITE + '<w:shd w:val="pct15" w:color="FEFEFE" w:fill="auto"/>')),
        paragraph("secret", style="Paler"),
        paragraph("secret", style="Dust"),
        paragraph(run("secret", '<w:rStyle w:val="Ghost"/>')),
        table([paragraph(run("secret", _WHITE))]),
    ],
)
def test_words_that_nobody_can_read_are_hidden(secret: str) -> None:
    assert _marked(_made(paragraph("Shown."), secret, styles=_STYLES), MarkKind.HIDDEN) == ["secret"]


@pytest.mark.parametrize(
    "shown",
    [
        paragraph(run("shown", '<w:color w:val="auto"/><w:sz w:val="3"/>')),
        paragraph(run("shown", '<w:color w:val="F0F0F0"/>')),
        paragraph(run("shown", '<w:color w:val="F2F2F2" w:themeColor="background1" w:themeShade="F2"/>')),
        paragraph(run("shown", _WHITE + '<w:highlight w:val="darkBlue"/>')),
        paragraph(run("shown", _WHITE + '<w:shd w:val="clear" w:fill="000000"/>')),
        paragraph(run("shown", _WHITE + '<w:shd w:val="pct50" w:color="000000" w:fill="FFFFFF"/>')),
        paragraph(run("shown", _WHITE + '<w:shd w:val="pct50" w:color="auto" w:fill="FFFFFF"/>')),
        paragraph(run("shown", _WHITE + '<w:shd w:val="pct50" w:color="FFFFFF" w:fill="1F3864"/>')),
        paragraph(run("shown", _WHITE), properties='<w:shd w:val="clear" w:fill="000000"/>'),
        paragraph("shown", style="Banner"),
        paragraph(run("shown", '<w:color w:val="000000"/>'), style="Paler"),
        paragraph(text_box(paragraph(run("shown", _WHITE)))),
        table([paragraph(run("shown", _WHITE))]).replace(
            "<w:tcPr/>", '<w:tcPr><w:shd w:val="clear" w:fill="000000"/></w:tcPr>'
        ),
        table([paragraph(run("shown", _WHITE))]).replace("<w:tblPr/>", '<w:tblPr><w:tblStyle w:val="Dark"/></w:tblPr>'),
    ],
)
def test_words_on_a_ground_of_another_colour_are_shown(shown: str) -> None:
    assert _marked(_made(shown, styles=_STYLES), MarkKind.HIDDEN) == []


_RAISED = '<w:vertAlign w:val="superscript"/>'


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (paragraph("EUR 500", run("1", _RAISED), " per claim"), "EUR 500¹ per claim"),
        (paragraph("10", run("2", _RAISED), " m"), "10² m"),
        (paragraph("H", run("2", '<w:vertAlign w:val="subscript"/>'), "O"), "H₂O"),
        (paragraph("the 1", run("st", _RAISED), " of May"), "the 1st of May"),
        (paragraph("5", run("00", '<w:vertAlign w:val="baseline"/>')), "500"),
    ],
)
def test_raised_digits_join_no_figure(words: str, text: str) -> None:
    assert _made(words).text == text


def test_words_that_are_struck_through_are_marked() -> None:
    struck = style("Struck", runs="<w:strike/>")
    made = _made(
        paragraph("The cap is ", run("EUR 900", "<w:strike/>"), " or ", run("EUR 800", "<w:dstrike/>"))
        + paragraph(run("kept", '<w:strike w:val="0"/>'), " and gone", style="Struck"),
        styles=struck,
    )
    assert _marked(made, MarkKind.STRUCK) == ["EUR 900", "EUR 800", " and gone"]


def test_a_document_may_be_white_by_default() -> None:
    defaults = f"<w:docDefaults><w:rPrDefault><w:rPr>{_WHITE}</w:rPr></w:rPrDefault></w:docDefaults>"
    made = _made(paragraph("secret ", run("shown", '<w:color w:val="auto"/>')), styles=defaults)
    assert _marked(made, MarkKind.HIDDEN) == ["secret "]


@pytest.mark.parametrize(("settings", "hidden"), [("<w:displayBackgroundShape/>", ["dark"]), ("", ["white"])])
def test_the_page_is_the_ground_in_the_colour_that_it_is_shown_in(settings: str, hidden: list[str]) -> None:
    words = paragraph(run("white", _WHITE), run(" and "), run("dark", '<w:color w:val="102030"/>'))

    def coloured(part: bytes) -> bytes:
        return part.replace(b"<w:body>", b'<w:background w:color="102030"/><w:body>')

    assert _marked(docx.make(word(words, {"settings": settings}, coloured)), MarkKind.HIDDEN) == hidden


def test_of_fields_the_result_is_shown() -> None:
    made = _made(
        paragraph(
            "See ",
            _field(" REF _Ref1 ", run("clause 4.2")),
            " on ",
            f'<w:fldSimple w:instr=" PAGE ">{run("7")}</w:fldSimple>',
            _field(f' IF {_field(" MERGEFIELD x ", run("inner"))} = "1" "yes" ', run("yes")),
            _field(" ADVANCE ", None),
            ".",
        ),
        paragraph('<w:r><w:fldChar w:fldCharType="begin"/></w:r>', "in no result"),
        paragraph("after"),
    )
    assert made.text == "See clause 4.2 on 7yes.\nafter"


def test_form_fields_show_their_state() -> None:
    box = '<w:checkBox><w:sizeAuto/><w:default w:val="1"/>{}</w:checkBox>'
    choice = '<w:ddList><w:result w:val="1"/><w:listEntry w:val="Berlin"/><w:listEntry w:val="Bonn"/></w:ddList>'
    forms = [box.format(""), box.format('<w:checked w:val="0"/>'), box.format("<w:checked/>"), choice]
    fields = "".join(
        f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{form}</w:ffData></w:fldChar></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
        for form in forms
    )
    assert _made(paragraph(fields)).text == "☒☐☒Bonn"


def test_signs_that_are_no_letters() -> None:
    signs = "<w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t><w:softHyphen/><w:t>c</w:t><w:tab/><w:br/><w:cr/>"
    symbols = (
        '<w:sym w:font="Wingdings" w:char="F0FE"/><w:sym w:font="Symbol" w:char="F061"/>'
        '<w:sym w:font="X" w:char="E123"/><w:sym w:font="Wingdings" w:char="ZZ"/><w:sym w:char="FFFFFFFFFF"/>'
    )
    made = _made(paragraph(f"<w:r>{signs}{symbols}<w:t xml:space='preserve'>line\nnext\ttab</w:t></w:r>"))
    assert made.text == "a\u2011b\u00adc\t\n\n☑α\ue123\ufffd\ufffdline next tab"


def test_a_formula_is_a_line() -> None:
    def text(inside: str) -> str:
        return f"<m:r><m:t>{inside}</m:t></m:r>"

    half = f"<m:f><m:num>{text('1')}</m:num><m:den>{text('2')}</m:den></m:f>"
    square = f"<m:sSup><m:e>{text('x')}</m:e><m:sup>{text('2')}</m:sup></m:sSup>"
    root = f"<m:rad><m:deg/><m:e>{text('a+b')}</m:e></m:rad>"
    index = f"<m:sSub><m:e>{text('P')}</m:e><m:sub>{text('t')}</m:sub></m:sSub>"
    total = (
        f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{text("i")}</m:sub><m:sup/><m:e>{index}</m:e></m:nary>'
    )
    brackets = f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e>{half}</m:e></m:d>'
    made = _made(paragraph("Pay ", f"<m:oMath>{half}{text('+')}{square}{root}{total}{brackets}</m:oMath>", "."))
    assert made.text == "Pay 1/2+x^2√(a+b)∑_iP_t[1/2]."


def test_a_formula_that_never_ends_is_read_so_far() -> None:
    deep = "<m:e>" * 60 + "<m:r><m:t>deep</m:t></m:r>" + "</m:e>" * 60
    assert _made(paragraph("x", f"<m:oMath><m:r><m:t>=1</m:t></m:r>{deep}</m:oMath>")).text == "x=1"


def test_what_is_only_around_words_is_gone_through() -> None:
    made = _made(
        paragraph(
            f'<w:hyperlink w:anchor="x">{run("link")}</w:hyperlink>',
            f"<w:sdt><w:sdtPr/><w:sdtContent>{run(' control')}</w:sdtContent></w:sdt>",
            f"<w:smartTag>{run(' tag')}</w:smartTag>",
            f"<mc:AlternateContent><mc:Choice>{run(' new')}</mc:Choice>"
            f"<mc:Fallback>{run('old')}</mc:Fallback></mc:AlternateContent>",
            f"<w:r><w:ruby><w:rt>{run('above')}</w:rt><w:rubyBase>{run(' base')}</w:rubyBase></w:ruby></w:r>",
        )
    )
    assert made.text == "link control tag new base"


def test_marks_stand_behind_other_paragraphs_on_the_right_words() -> None:
    made = _made(
        paragraph("First."),
        paragraph(),
        paragraph("One ", inserted("new"), " word", deleted("!"), text_box(paragraph(inserted("box")))),
    )
    assert _marked(made, MarkKind.INSERTED) == ["new", "box"]
    assert [made.text[: one.at].rpartition("\n")[2] for one in made.rendered.layout.deletions] == ["One new word"]


def test_contents_without_end_are_refused() -> None:
    deep = "<w:smartTag>" * 60 + run("x") + "</w:smartTag>" * 60
    with pytest.raises(InvalidInput, match="nested more than 40 times"):
        _made(paragraph(deep))


def _field(instruction: str, result: str | None) -> str:
    inside = instruction if "<w:r>" in instruction else f"<w:r><w:instrText>{instruction}</w:instrText></w:r>"
    if inside is instruction:
        head, _, tail = instruction.partition("<w:r>")
        middle, _, end = tail.rpartition("</w:r>")
        inside = f"<w:r><w:instrText>{head}</w:instrText></w:r><w:r>{middle}</w:r><w:r><w:t>{end}</w:t></w:r>"
    parts = ["begin", inside, *(["separate", result] if result else []), "end"]
    signs = {"begin", "separate", "end"}
    return "".join(f'<w:r><w:fldChar w:fldCharType="{one}"/></w:r>' if one in signs else one for one in parts)


def _made(*body: str, styles: str = "") -> BuiltDocument:
    return docx.make(word("".join(body), {"styles": styles}))


def _marked(made: BuiltDocument, kind: MarkKind) -> list[str]:
    return [made.text[mark.start : mark.end] for mark in made.rendered.layout.marks if mark.kind is kind]
