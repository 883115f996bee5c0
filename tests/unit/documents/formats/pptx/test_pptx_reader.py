"""Presentations: what stands on slides, below and beside them, and where."""

import pytest

from runs import isolation
from runs.documents.formats.pptx import pptx_reader as pptx
from runs.documents.formats.pptx.pptx_reader import make
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.places.document import Document, PlaceName
from runs.documents.reading.building import BuiltDocument
from runs.errors import InvalidInput
from runs.isolation import Limits
from tests.documents.slides import named, presentation, shape, table
from tests.documents.workbooks import related


def test_shapes_are_read_with_their_places_and_levels() -> None:
    slide = shape("Our offer", place="ctrTitle") + shape("Price", "100 per month", levels={1: 1})
    made = make(presentation([slide, shape("Thank you", place="title")]))
    blocks = made.rendered.layout.blocks
    assert made.text == "Our offer\nPrice\n100 per month\nThank you"
    assert [(block.anchor, block.kind, block.level) for block in blocks] == [
        ("s1.sh1.p1", BlockKind.TITLE, 1),
        ("s1.sh2.p1", BlockKind.PARAGRAPH, 0),
        ("s1.sh2.p2", BlockKind.PARAGRAPH, 2),
        ("s2.sh1.p1", BlockKind.TITLE, 1),
    ]
    layout = made.rendered.layout
    assert (layout.format, layout.unit, layout.units) == ("pptx", "slide", 2)
    at = made.text.index("Thank")
    assert Document(made.text, layout).place_name(at, at + 5) == PlaceName("s2.sh1.p1", "slide 2")
    assert Document(made.text, layout).span_of("s1") == (0, made.text.index("\nThank"))


def test_tables_groups_and_alternatives_are_read_once() -> None:
    group = f"<p:grpSp><p:nvGrpSpPr/><p:grpSpPr/><p:pic/>{shape('In a group')}</p:grpSp>"
    either = (
        f"<mc:AlternateContent><mc:Choice>{shape('New')}</mc:Choice><mc:Fallback>{shape('Old')}</mc:Fallback>"
        "</mc:AlternateContent><mc:AlternateContent><mc:Choice><p:pic/></mc:Choice>"
        f"<mc:Fallback>{shape('Only here')}</mc:Fallback></mc:AlternateContent>"
    )
    made = make(presentation([table(["No", "Rent"], ["7", ""]) + group + either]))
    assert _blocks(made) == [
        ("s1.sh1.r1c1", BlockKind.CELL, "No"),
        ("s1.sh1.r1c2", BlockKind.CELL, "Rent"),
        ("s1.sh1.r2c1", BlockKind.CELL, "7"),
        ("s1.sh2.sh2.p1", BlockKind.PARAGRAPH, "In a group"),
        ("s1.sh3.sh1.p1", BlockKind.PARAGRAPH, "New"),
        ("s1.sh4.sh1.p1", BlockKind.PARAGRAPH, "Only here"),
    ]


def test_breaks_fields_and_margins_are_kept() -> None:
    text = "<a:p><a:r><a:t>a</a:t></a:r><a:br/><a:r><a:t>b</a:t></a:r><a:fld><a:t>7</a:t></a:fld></a:p>"
    made = make(presentation([f"<p:sp><p:txBody>{text}</p:txBody></p:sp>" + shape("Confidential", place="ftr")]))
    assert _blocks(made) == [
        ("s1.sh1.p1", BlockKind.PARAGRAPH, "a\nb7"),
        ("s1.sh2.p1", BlockKind.FOOTER, "Confidential"),
    ]


def test_notes_charts_and_diagrams_stand_behind_their_slide() -> None:
    chart = (
        "<c:title><a:p><a:r><a:t>Revenue</a:t></a:r></a:p></c:title><c:ser>"
        "<c:tx><c:pt idx='0'><c:v>EUR</c:v></c:pt></c:tx>"
        "<c:cat><c:pt idx='0'><c:v>Q1</c:v></c:pt><c:pt idx='1'><c:v>Q2</c:v></c:pt></c:cat>"
        "<c:val><c:pt idx='1'><c:v>4.5</c:v></c:pt></c:val></c:ser>"
    )
    made = make(
        presentation(
            [shape("One"), shape("Two")],
            relations={
                1: [
                    ("r1", "notesSlide", "../notes1.xml"),
                    ("r2", "chart", "../chart1.xml"),
                    ("r3", "diagramData", "../data1.xml"),
                ]
            },
            parts={
                "ppt/notes1.xml": named("p:notes", shape("7", place="sldNum") + shape("Say this", place="body")),
                "ppt/chart1.xml": named("c:chartSpace", chart),
                "ppt/data1.xml": named("c:data", "<a:p><a:r><a:t>Box</a:t></a:r></a:p>"),
            },
        )
    )
    assert _blocks(made) == [
        ("s1.sh1.p1", BlockKind.PARAGRAPH, "One"),
        ("s1.dg1.p1", BlockKind.PARAGRAPH, "Box"),
        ("s1.ch1.p1", BlockKind.CHART, "Revenue"),
        ("s1.ch1.p2", BlockKind.CHART, "EUR: Q2 4.5"),
        ("s1.notes.p1", BlockKind.SPEAKER_NOTES, "Say this"),
        ("s2.sh1.p1", BlockKind.PARAGRAPH, "Two"),
    ]


def test_comments_of_both_forms_name_who_wrote_them() -> None:
    new = (
        '<m:cmLst xmlns:m="http://schemas.microsoft.com/office/powerpoint/2018/8/main" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><m:cm authorId="{1}"><m:replyLst>'
        '<m:reply authorId="{2}"><m:txBody><a:p><a:r><a:t>No.</a:t></a:r></a:p></m:txBody></m:reply></m:replyLst>'
        "<m:txBody><a:p><a:r><a:t>Right?</a:t></a:r></a:p></m:txBody></m:cm></m:cmLst>"
    )
    people = '<m:authorLst xmlns:m="http://x/main"><m:author id="{1}" name="Bob"/></m:authorLst>'
    made = make(
        presentation(
            [shape("One")],
            relations={1: [("r1", "comments", "../old.xml"), ("r2", "comments", "../new.xml")]},
            parts={
                "ppt/old.xml": named("p:cmLst", '<p:cm authorId="0"><p:text>Too dear</p:text></p:cm>'),
                "ppt/new.xml": new,
                "ppt/commentAuthors.xml": named("p:cmAuthorLst", '<p:cmAuthor id="0" name="Alice"/>'),
                "ppt/authors.xml": people,
            },
        )
    )
    blocks = made.rendered.layout.blocks[1:]
    assert [(one.anchor, one.label, made.text[one.start : one.end]) for one in blocks] == [
        ("s1.cm1", "Alice:", "Too dear"),
        ("s1.cm2", "Bob:", "Right?"),
        ("s1.cm3", "", "No."),
    ]


def test_hidden_slides_and_shapes_are_marked() -> None:
    made = make(presentation([shape("a") + shape("b", hidden=True), shape("c") + shape("d"), shape("e")], hidden=[2]))
    marks = [(mark.kind, mark.note, made.text[mark.start : mark.end]) for mark in made.rendered.layout.marks]
    assert marks == [(MarkKind.HIDDEN, "hidden shape", "b"), (MarkKind.HIDDEN, "hidden slide", "c\nd")]


def test_slides_that_could_not_be_read_are_said() -> None:
    made = make(presentation([shape("a"), "<p:pic/>", "", shape("d")]))
    assert made.rendered.notes == ("Slide 2 has a picture and no text; what is on the picture was not read.",)
    relations = {"ppt/_rels/presentation.xml.rels": related([("rId1", "slide", "slides/slide1.xml")])}
    made = make(presentation([shape("a"), shape("b")], parts=relations))
    assert made.rendered.notes == ("Slide 2 of 2 is missing in the file.",)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"_rels/.rels": related([("r", "officeDocument", "none.xml")])}, "is not a PowerPoint presentation"),
        ({"ppt/presentation.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}, "has a document type"),
        ({"ppt/slides/slide1.xml": named("p:sld", "")}, "has no text in it"),
        (
            {
                "ppt/slides/slide1.xml": named(
                    "p:sld", f"<p:cSld><p:spTree>{'<p:grpSp>' * 90}{'</p:grpSp>' * 90}</p:spTree></p:cSld>"
                )
            },
            "is nested deeper",
        ),
        ({"ppt/slides/slide1.xml": named("p:sld", f"{'<p:grpSp>' * 9_000}{'</p:grpSp>' * 9_000}")}, "is nested deeper"),
    ],
)
def test_what_is_no_presentation_is_refused(parts: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        isolation.run(
            f"{pptx.__name__}.read", presentation([shape("a")], parts=parts), Limits(megabytes=100, cpu_seconds=3)
        )


def _blocks(made: BuiltDocument) -> list[tuple[str, BlockKind, str]]:
    return [(one.anchor, one.kind, made.text[one.start : one.end]) for one in made.rendered.layout.blocks]
