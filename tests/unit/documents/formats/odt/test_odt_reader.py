"""OpenDocument texts: paragraphs and where they stand, changes accepted, what lies beside the text."""

import pytest

from runs import isolation
from runs.documents.formats.odt import odt_reader as odt
from runs.documents.formats.odt.odt_reader import make
from runs.documents.model.layout import BlockKind, MarkKind
from runs.documents.reading.building import BuiltDocument
from runs.errors import InvalidInput
from runs.isolation import Limits
from tests.documents.texts import change_info, open_document

_DATE = "2026-11-20T10:00:00"


def test_paragraphs_headings_and_lists_are_read() -> None:
    made = make(
        open_document(
            "<text:sequence-decls/><text:h text:outline-level='2'>Rent</text:h><text:p/>"
            "<text:p>It<text:s text:c='2'/>is<text:tab/><text:span>due</text:span>"
            "<text:line-break/>monthly \n  now.</text:p>"
            "<text:list><text:list-item><text:number>(a)</text:number><text:p>First</text:p><text:list><text:list-item>"
            "<text:p>Below</text:p></text:list-item></text:list></text:list-item></text:list>"
            "<text:section><text:p>In a section</text:p></text:section>"
        )
    )
    assert made.text == "Rent\nIt  is\tdue\nmonthly now.\nFirst\nBelow\nIn a section"
    assert [(one.anchor, one.kind, one.level, one.label) for one in made.rendered.layout.blocks] == [
        ("p1", BlockKind.HEADING, 2, ""),
        ("p3", BlockKind.PARAGRAPH, 0, ""),
        ("p4", BlockKind.PARAGRAPH, 1, "(a)"),
        ("p5", BlockKind.PARAGRAPH, 2, ""),
        ("p6", BlockKind.PARAGRAPH, 0, ""),
    ]
    layout = made.rendered.layout
    assert (layout.format, layout.unit, layout.units) == ("odt", "paragraph", 6)


def test_cells_and_text_boxes_have_places_of_their_own() -> None:
    made = make(
        open_document(
            "<draw:frame><draw:text-box><text:p>On the page</text:p></draw:text-box></draw:frame>"
            "<text:p>Before<draw:frame><draw:text-box><text:p>In a box</text:p><text:list><text:list-item>"
            "<text:p>Listed"
            "</text:p></text:list-item></text:list></draw:text-box></draw:frame></text:p>"
            "<table:table><table:table-header-rows><table:table-row table:number-rows-repeated='2'>"
            "<table:table-cell table:number-columns-repeated='3'><text:p>A</text:p></table:table-cell>"
            "<table:covered-table-cell/><table:table-cell><text:p>E</text:p><text:p>more</text:p></table:table-cell>"
            "</table:table-row></table:table-header-rows><table:table-row><table:table-cell><text:p>Last</text:p>"
            "</table:table-cell></table:table-row></table:table>"
        )
    )
    assert _blocks(made) == [
        ("p0x.p1", BlockKind.TEXT_BOX, "On the page"),
        ("p1", BlockKind.PARAGRAPH, "Before"),
        ("p1x.p1", BlockKind.TEXT_BOX, "In a box"),
        ("p1x.p2", BlockKind.TEXT_BOX, "Listed"),
        ("t1r1c1.p1", BlockKind.CELL, "A"),
        ("t1r1c5.p1", BlockKind.CELL, "E"),
        ("t1r1c5.p2", BlockKind.CELL, "more"),
        ("t1r3c1.p1", BlockKind.CELL, "Last"),
    ]


def test_notes_comments_and_margins_stand_behind_the_text() -> None:
    note = (
        "<text:note text:note-class='{}'><text:note-citation>{}</text:note-citation><text:note-body><text:p>{}</text:p>"
        "</text:note-body></text:note>"
    )
    made = make(
        open_document(
            f"<text:p>Capped{note.format('endnote', 'i', 'At the end')} at <office:annotation office:name='x'>"
            f"<dc:creator>"
            f"Alice</dc:creator><dc:date>{_DATE}</dc:date><text:p>Too low?</text:p>"
            f"</office:annotation>100<office:annotation-end"
            f" office:name='x'/> a year{note.format('footnote', '1', 'Below')}.<office:annotation>"
            f"<text:p>At a point</text:p>"
            "</office:annotation></text:p>",
            margins="<style:header><text:p>Draft</text:p></style:header><style:footer><text:p>Page</text:p></style:footer>",
        )
    )
    assert _blocks(made) == [
        ("p1", BlockKind.PARAGRAPH, "Capped at 100 a year."),
        ("fn1.p1", BlockKind.FOOTNOTE, "Below"),
        ("en1.p1", BlockKind.ENDNOTE, "At the end"),
        ("cm1.p1", BlockKind.COMMENT, "Too low?"),
        ("cm2.p1", BlockKind.COMMENT, "At a point"),
        ("hd1.p1", BlockKind.HEADER, "Draft"),
        ("ft1.p1", BlockKind.FOOTER, "Page"),
    ]
    assert [block.label for block in made.rendered.layout.blocks[1:3]] == ["1", "i"]
    marks = [(made.text[m.start : m.end], m.kind, m.by, m.on, m.note) for m in made.rendered.layout.marks]
    assert marks == [
        ("100", MarkKind.COMMENTED, "Alice", _DATE, "cm1.p1"),
        (".", MarkKind.COMMENTED, "", "", "cm2.p1"),
    ]


def test_changes_are_accepted_and_said() -> None:
    regions = (
        f"<text:tracked-changes><text:changed-region text:id='i'>"
        f"<text:insertion>{change_info('Alice')}</text:insertion>"
        f"</text:changed-region><text:changed-region xml:id='d'>"
        f"<text:deletion>{change_info('Bob')}<text:p>never <text:span>"
        "again</text:span>!</text:p></text:deletion></text:changed-region></text:tracked-changes>"
    )
    made = make(
        open_document(
            f"{regions}<text:p>Pay <text:change-start text:change-id='i'/>at once</text:p><text:p>or<text:change-end "
            "text:change-id='i'/> later<text:change text:change-id='d'/><text:change text:change-id='d'/>.</text:p>"
        )
    )
    assert made.text == "Pay at once\nor later."
    marks = [(m.kind, made.text[m.start : m.end], m.by, m.on) for m in made.rendered.layout.marks]
    assert marks == [(MarkKind.INSERTED, "at once\nor", "Alice", _DATE)]
    deletions = made.rendered.layout.deletions
    assert [(one.at, one.text, one.by, one.on) for one in deletions] == [
        (made.text.index("."), "never again!", "Bob", _DATE)
    ]


def test_hidden_text_is_marked() -> None:
    style = "<style:style style:name='H'><style:text-properties text:display='none'/></style:style>"
    made = make(
        open_document(
            "<text:p>a <text:span text:style-name='H'>bc</text:span></text:p><text:section text:display='none'>"
            "<text:p>d</text:p>"
            "</text:section><text:p text:style-name='H'>e</text:p>",
            styles=style,
        )
    )
    marks = [(m.kind, made.text[m.start : m.end]) for m in made.rendered.layout.marks]
    assert marks == [(MarkKind.HIDDEN, "bc"), (MarkKind.HIDDEN, "d"), (MarkKind.HIDDEN, "e")]


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"META-INF/manifest.xml": "<m><encryption-data/></m>", "content.xml": "x"}, "needs a password"),
        ({"content.xml": "<a/>"}, "is not an OpenDocument text"),
        ({"content.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}, "has a document type"),
    ],
)
def test_what_is_no_open_document_is_refused(parts: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        make(open_document("<text:p>a</text:p>", parts=parts))


@pytest.mark.parametrize(
    ("tags", "depth"),
    [("text:section", 150), ("text:section", 20_000), ("draw:g", 150), ("text:list><text:list-item", 110)],
)
def test_deep_documents_are_refused(tags: str, depth: int) -> None:
    ends = "".join(f"</{tag}>" for tag in reversed(tags.split("><")))
    body = f"{f'<{tags}>' * depth}<text:p>a</text:p>{ends * depth}"
    with pytest.raises(InvalidInput, match="is nested deeper than any document"):
        isolation.run(f"{odt.__name__}.read", open_document(body), Limits(megabytes=100, cpu_seconds=3))


def test_deep_spans_are_refused() -> None:
    body = f"<text:p>{'<text:span>' * 150}a{'</text:span>' * 150}</text:p>"
    with pytest.raises(InvalidInput, match="is nested deeper than any document"):
        make(open_document(body))


def test_wide_tables_take_no_memory() -> None:
    cell = "<table:table-cell table:number-columns-repeated='999999999'><text:p>a</text:p></table:table-cell>"
    row = f"<table:table-row table:number-rows-repeated='999999999'>{cell}{cell}</table:table-row>"
    made = make(open_document(f"<table:table>{row}{row}</table:table>"))
    assert [one.anchor for one in made.rendered.layout.blocks][-1] == "t1r20001c20001.p1"


def _blocks(made: BuiltDocument) -> list[tuple[str, BlockKind, str]]:
    return [(one.anchor, one.kind, made.text[one.start : one.end]) for one in made.rendered.layout.blocks]


def _style(name: str, *levels: str) -> str:
    inside = "".join(
        f"<text:list-level-style-{'bullet' if level == '-' else 'number'} text:level='{number}' {level.strip('-')}/>"
        for number, level in enumerate(levels, 1)
    )
    return f"<text:list-style style:name='{name}'>{inside}</text:list-style>"


_CLAUSES = _style(
    "C",
    "style:num-format='1' style:num-suffix='.'",
    "style:num-format='1' text:display-levels='2'",
    "style:num-format='a' style:num-prefix='(' style:num-suffix=')'",
)
_OUTLINE = (
    "<text:outline-style><text:outline-level-style text:level='1' style:num-format='I' style:num-prefix='Part '/>"
    "<text:outline-level-style text:level='2' style:num-format='1' text:display-levels='2'/>"
    "<text:outline-level-style text:level='3' style:num-format=''/></text:outline-style>"
)


def _list(*items: str, more: str = "text:style-name='C'") -> str:
    """Items are paragraphs, or lists within the item before."""
    return f"<text:list {more}>{''.join(f'<text:list-item>{item}</text:list-item>' for item in items)}</text:list>"


def _numbers(body: str, styles: str = _CLAUSES) -> list[str]:
    return [block.label for block in make(open_document(body, styles=styles)).rendered.layout.blocks]


_P = "<text:p>x</text:p>"


def test_items_of_lists_are_counted_by_the_levels_of_their_style() -> None:
    inner = _list(_P, _P + _P + _list(_P, _P, more=""), _P, more="")
    body = _list(_P + inner, _P + _list(_P, more=""))
    assert _numbers(body) == ["1.", "1.1", "1.2", "", "(a)", "(b)", "1.3", "2.", "2.1"]
    blocks = make(open_document(body, styles=_CLAUSES)).rendered.layout.blocks
    assert [block.clause for block in blocks] == ["1", "1.1", "1.2", "", "1.2(a)", "1.2(b)", "1.3", "2", "2.1"]


@pytest.mark.parametrize(
    ("more", "labels"),
    [
        ("text:style-name='C'", ["1.", "2.", "1."]),
        ("text:style-name='C' text:continue-numbering='true'", ["1.", "2.", "3."]),
        ("text:style-name='C' text:continue-list='one'", ["1.", "2.", "3."]),
        ("text:style-name='C' text:continue-list='none'", ["1.", "2.", "1."]),
        ("text:style-name='none'", ["1.", "2.", ""]),
    ],
)
def test_a_list_goes_on_where_it_says_so(more: str, labels: list[str]) -> None:
    first = _list(_P, _P, more="text:style-name='C' xml:id='one'")
    assert _numbers(first + "<text:p/>" + _list(_P, more=more)) == labels


def test_an_item_may_have_a_number_of_its_own_or_none() -> None:
    body = _list(_P, "<text:p/>", _P).replace(
        "<text:list-item><text:p/>", "<text:list-item text:start-value='7'><text:p/>"
    )
    again = _list(_P + _list(_P, more="") + _list(_P, more=""))
    assert _numbers(again) == ["1.", "1.1", "1.1"]
    header = _list(_P, _P).replace("list-item>", "list-header>", 2)
    said = _list(f"<text:number>IV.</text:number>{_P}", _P)
    assert [_numbers(one) for one in (body, header, said)] == [["1.", "8."], ["", "1."], ["IV.", "2."]]


def test_bullets_and_starts_are_those_of_the_level() -> None:
    levels = _style("C", "-", "style:num-format='A' text:start-value='3' style:num-suffix=')'")
    assert _numbers(_list(_P + _list(_P, _P, more="")), levels) == ["•", "C)", "D)"]


@pytest.mark.parametrize(
    ("level", "labels"),
    [
        ("style:num-format='a'", ["z", "aa", "ab"]),
        ("style:num-format='A'", ["Z", "AA", "AB"]),
        ("style:num-format='a' style:num-letter-sync='false'", ["z", "aa", "ab"]),
        ("style:num-format='a' style:num-letter-sync='true'", ["z", "aa", "bb"]),
        ("style:num-format='A' style:num-letter-sync='true'", ["Z", "AA", "BB"]),
    ],
)
def test_letters_after_z_are_counted_as_their_style_says(level: str, labels: list[str]) -> None:
    assert _numbers(_list(*[_P] * 28), _style("C", level))[25:] == labels


def test_a_list_is_known_by_the_style_of_its_paragraphs() -> None:
    styles = "<style:style style:name='A' style:list-style-name='C'/><style:style style:name='B' {}='A'/>"
    paragraph = "<text:p text:style-name='B'>x</text:p>"
    assert _numbers(_list(paragraph, more=""), _CLAUSES + styles.format("style:parent-style-name")) == ["1."]


def test_headings_are_counted_by_the_outline() -> None:
    def heading(level: int, more: str = "") -> str:
        return f"<text:h text:outline-level='{level}' {more}>x</text:h>"

    body = (
        heading(1)
        + heading(2)
        + heading(2)
        + heading(3)
        + heading(1)
        + heading(2, "text:is-list-header='true'")
        + heading(2, "text:restart-numbering='true' text:start-value='5'")
        + heading(1)
        + heading(2)
    )
    assert _numbers(body, _OUTLINE) == ["Part I", "I.1", "I.2", "", "Part II", "", "II.5", "Part III", "III.1"]


def test_a_list_in_a_text_box_of_an_item_is_one_of_its_own() -> None:
    box = f"<draw:frame><draw:text-box>{_list(_P, _P)}</draw:text-box></draw:frame>"
    assert _numbers(_list(f"<text:p>x{box}</text:p>", _P)) == ["1.", "1.", "2.", "2."]
