"""Workbooks: cells as they are shown at their addresses, what is behind and hidden, and how much of it is read."""

import zipfile
from io import BytesIO

import pytest

from runs import isolation
from runs.documents.formats.xlsx import cells
from runs.documents.formats.xlsx import xlsx_reader as xlsx
from runs.documents.formats.xlsx.xlsx_reader import make
from runs.documents.model.layout import NOT_KEPT, Block, BlockKind, MarkKind, Rendered
from runs.documents.packed_parts import unpacked
from runs.documents.places.document import Document, PlaceName
from runs.documents.reading.building import BuiltDocument
from runs.errors import InvalidInput
from runs.isolation import Limits
from tests.documents.workbooks import large, related, rows, workbook

_TC = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"


def test_rows_are_blocks_of_cells_under_the_name_of_their_sheet() -> None:
    made = make(workbook({"Rents": rows(["No", "Place", "Rent"], [7, "Mill Lane", 1200]), "Notes": rows(["Checked"])}))
    assert made.text == "Rents\nNo\tPlace\tRent\n7\tMill Lane\t1200\nNotes\nChecked"
    assert _blocks(made) == [
        ("Rents!name", BlockKind.HEADING, "Rents"),
        ("Rents!A1", BlockKind.ROW, "No\tPlace\tRent"),
        ("Rents!A2", BlockKind.ROW, "7\tMill Lane\t1200"),
        ("Notes!name", BlockKind.HEADING, "Notes"),
        ("Notes!A1", BlockKind.ROW, "Checked"),
    ]
    layout = made.rendered.layout
    assert (layout.format, layout.unit, layout.units) == ("xlsx", "sheet", 2)
    book = Document(made.text, layout)
    at = made.text.index("Mill")
    assert book.place_name(at, at + 4) == PlaceName("Rents!B2", "Rents!B2")
    assert book.span_of("Rents!B2") == (at, at + 9)
    assert book.span_of("Rents!A2") == (at - 2, at - 1)
    assert book.span_of("Rents") == (0, made.text.index("\nNotes"))
    assert book.place_name(0, 5) == PlaceName("Rents!name", "name of sheet Rents")


def test_strings_are_shared_rich_and_without_pronunciation() -> None:
    cells = '<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>9</v></c>'
    strings = ["<r><t>Mill </t></r><r><rPr><b/></rPr><t>Lane</t></r><rPh><t>MIRU</t></rPh>", "<t>a\n\tb_x000D_c</t>"]
    assert make(workbook({"S": f"{cells}</row></sheetData>"}, strings=strings)).text == "S\nMill Lane\ta b c"


def test_values_are_those_that_are_shown() -> None:
    row = (
        '<sheetData><row r="1"><c r="A1" s="1"><v>0.125</v></c><c r="B1" s="2"><v>46348</v></c>'
        '<c r="C1" t="b"><v>1</v></c><c r="D1" t="e"><v>#DIV/0!</v></c><c r="E1" t="str"><v>joined</v></c>'
        '<c r="F1" t="d"><v>2026-11-22</v></c><c r="G1" s="99"><v>5</v></c><c r="H1" s="1"/></row></sheetData>'
    )
    made = make(workbook({"S": row}, formats=["0.0%", "dd.mm.yyyy"]))
    assert made.text == "S\n12.5%\t2026-11-22\tTRUE\t#DIV/0!\tjoined\t2026-11-22\t5"


def test_formats_of_conditional_formatting_are_none_of_cells() -> None:
    s = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    row = '<sheetData><row r="1"><c r="A1" s="1"><v>46348</v></c><c r="B1" s="2"><v>0.5</v></c></row></sheetData>'
    styles = (
        f'<styleSheet xmlns="{s}"><numFmts><numFmt numFmtId="170" formatCode="0.0%"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/></cellXfs>'
        '<dxfs><dxf><numFmt numFmtId="14" formatCode="0.00"/></dxf>'
        '<dxf><numFmt numFmtId="170" formatCode="0"/></dxf></dxfs>'
        "</styleSheet>"
    )
    assert make(workbook({"S": row}, parts={"xl/styles.xml": styles})).text == "S\n2026-11-22\t50.0%"


def test_what_cells_hold_is_kept_beside_what_they_show() -> None:
    row = (
        '<sheetData><row r="1"><c r="A1" s="1"><v>2500000</v></c><c r="C1"><v>0.5</v></c><c r="D1"><v>7</v></c></row>'
        '<row r="2"><c r="A2" s="2"><v>-200</v></c></row><row r="3"><c r="A3"><v>7</v></c></row></sheetData>'
    )
    made = make(workbook({"S": row}, formats=['0.0,,"M"', "#,##0;[Red]#,##0"]))
    assert made.text == "S\n2.5M\t\t0.5\t7\n-200\n7"
    assert [block.stored for block in made.rendered.layout.blocks] == ["", "2500000  = ", "", ""]
    again = Rendered.model_validate_json(made.rendered.model_dump_json())
    assert again == made.rendered


def test_more_than_is_kept_of_what_cells_hold_is_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx, "MAX_STORED", 5)
    row = '<sheetData><row r="1"><c r="A1" s="1"><v>0.5</v></c></row><row r="2"><c r="A2" s="1"><v>0.25</v></c></row>'
    made = make(workbook({"S": f"{row}</sheetData>"}, formats=["0%"]))
    assert [block.stored for block in made.rendered.layout.blocks] == ["", "0.5", NOT_KEPT]


def test_days_count_from_1904_where_the_workbook_says_so() -> None:
    row = '<sheetData><row r="1"><c r="A1" s="1"><v>44886</v></c></row></sheetData>'
    assert make(workbook({"S": row}, formats=["dd.mm.yyyy"], since_1904=True)).text == "S\n2026-11-22"


def test_formulas_stand_behind_their_row() -> None:
    row = (
        '<sheetData><row r="7"><c r="A7"><v>1</v></c><c r="B7"><f>SUM(B2:B6)</f><v>12</v></c>'
        '<c r="C7"><f t="shared" ref="C7:C9" si="0">A7*2</f><v>2</v></c><c r="E7"><f t="array" ref="E7">A1:A9*2</f></c>'
        '</row><row r="8"><c r="C8"><f t="shared" si="0"/><v>4</v></c></row></sheetData>'
    )
    made = make(workbook({"Rents": row}))
    assert _blocks(made)[1:] == [
        ("Rents!A7", BlockKind.ROW, "1\t12\t2"),
        ("Rents!A7", BlockKind.FORMULAS, "B7: =SUM(B2:B6)\nC7: =A7*2 (filled to C7:C9)\nE7: {=A1:A9*2}"),
        ("Rents!C8", BlockKind.ROW, "4"),
    ]
    at = made.text.index("SUM")
    assert Document(made.text, made.rendered.layout).place_name(at, at + 3).anchor == "Rents!B7"


@pytest.mark.parametrize(
    ("cells", "notes"),
    [
        ('<c r="A1"><f>1+1</f><v></v></c><c r="B1"><f>2+2</f></c>', ["2 formulas have no values"]),
        ('<c r="A1"><f>1+1</f><v></v></c>', ["1 formula has no value"]),
        ('<c r="A1" t="str"><f>""</f><v></v></c><c r="B1"><f>1+1</f><v>2</v></c>', []),
    ],
)
def test_formulas_that_nobody_has_calculated_are_named(cells: str, notes: list[str]) -> None:
    made = make(workbook({"S": f'<sheetData><row r="1">{cells}</row></sheetData>'}))
    assert [note.partition(",")[0] for note in made.rendered.notes] == notes


def test_a_long_gap_in_a_row_begins_another_block() -> None:
    row = '<sheetData><row r="1"><c r="A1"><v>1</v></c><c r="V1"><v>2</v></c><c r="AR1"><v>3</v></c></row></sheetData>'
    assert _blocks(make(workbook({"S": row})))[1:] == [
        ("S!A1", BlockKind.ROW, "1" + "\t" * 21 + "2"),
        ("S!AR1", BlockKind.ROW, "3"),
    ]


def test_cells_without_addresses_follow_one_another_and_others_are_sorted() -> None:
    made = make(
        workbook(
            {
                "S": "<sheetData><row><c><v>1</v></c><c><v>2</v></c></row><row><c r='C5'><v>3</v></c></row>"
                "<row r='9'><c r='B9'><v>5</v></c><c r='A9'><v>4</v></c></row></sheetData>"
            }
        )
    )
    assert [(block[0], block[2]) for block in _blocks(made)[1:]] == [("S!A1", "1\t2"), ("S!C5", "3"), ("S!A9", "4\t5")]


def test_what_is_hidden_is_read_and_marked() -> None:
    rents = (
        '<cols><col min="2" max="3" hidden="1"/></cols><sheetData><row r="1"><c r="A1"><v>1</v></c>'
        '<c r="B1"><v>22</v></c></row><row r="2" hidden="1"><c r="A2"><v>3</v></c></row>'
        '<row r="3" ht="0"><c r="A3"><v>4</v></c></row>'
        '<row r="4"><c r="A4"><v>5</v></c></row></sheetData>'
    )
    made = make(workbook({"Rents": rents, "Secret": rows([6])}, states={"Secret": "veryHidden"}))
    hidden = [(mark.note, made.text[mark.start : mark.end]) for mark in made.rendered.layout.marks]
    assert hidden == [("hidden column", "22"), ("hidden row", "3\n4"), ("hidden sheet", "Secret\n6")]
    assert {mark.kind for mark in made.rendered.layout.marks} == {MarkKind.HIDDEN}


def test_comments_stand_behind_their_row_and_threads_stand_once() -> None:
    note = (
        '<comments xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><authors><author>Alice</author>'
        '</authors><commentList><comment ref="B1" authorId="0"><text><r><t>Too </t></r><r><t>high?</t></r></text>'
        "</comment>"
        '<comment ref="A1" authorId="0"><text><t>[Threaded comment]</t></text></comment>'
        '<comment ref="A9" authorId="7"><text><t>No author</t></text></comment></commentList></comments>'
    )
    thread = (
        f'<ThreadedComments xmlns="{_TC}"><threadedComment ref="A1" dT="2026-11-20T10:00:00Z" personId="x"><text>Why 7?'
        '</text></threadedComment><threadedComment ref="A1" personId="y"><text>See the lease.</text></threadedComment>'
        "</ThreadedComments>"
    )
    parts = {
        "xl/worksheets/_rels/sheet1.xml.rels": related(
            [("r1", "comments", "../comments1.xml"), ("r2", "threadedComment", "../threads.xml")]
        ),
        "xl/comments1.xml": note,
        "xl/threads.xml": thread,
        "xl/persons/person.xml": f'<personList xmlns="{_TC}"><person displayName="Bob" id="x"/></personList>',
    }
    made = make(workbook({"Rents": rows([7, 1200])}, parts=parts))
    assert _blocks(made)[2:] == [
        ("Rents!A1.cm1", BlockKind.COMMENT, "Why 7?"),
        ("Rents!A1.cm2", BlockKind.COMMENT, "See the lease."),
        ("Rents!B1.cm1", BlockKind.COMMENT, "Too high?"),
        ("Rents!A9.cm1", BlockKind.COMMENT, "No author"),
    ]
    assert [block.label for block in made.rendered.layout.blocks[2:]] == ["Bob:", "", "Alice:", ""]
    marks = [(made.text[m.start : m.end], m.kind, m.by, m.on, m.note) for m in made.rendered.layout.marks]
    assert marks == [
        ("7", MarkKind.COMMENTED, "Bob", "2026-11-20T10:00:00Z", "Rents!A1.cm1"),
        ("1200", MarkKind.COMMENTED, "Alice", "", "Rents!B1.cm1"),
    ]
    at = made.text.index("See the")
    assert Document(made.text, made.rendered.layout).place_name(at, at + 5) == PlaceName(
        "Rents!A1.cm2", "comment on Rents!A1"
    )


def test_names_with_prefixes_are_read() -> None:
    data = workbook({"S": ""}, parts={"xl/worksheets/sheet1.xml": _PREFIXED})
    assert make(data).text == "S\n5"


def test_a_workbook_that_is_too_long_is_read_up_to_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    sheets = {"One": rows(["aaaa"], ["bbbb"], ["cccc"]), "Two": rows(["d"])}
    monkeypatch.setattr(xlsx, "MAX_TEXT_BYTES", 15)
    made = make(workbook(sheets))
    assert made.text == "One\naaaa\nbbbb"
    assert made.rendered.notes == (
        "Sheet “One” was read up to row 2, nor were the 1 after it: at most 2,000,000 cells, 200,000 rows and 0 MB of "
        "text of a workbook are read.",
    )


def test_a_workbook_of_too_many_cells_is_read_up_to_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "MAX_CELLS", 2)
    made = make(workbook({"One": rows([1], [2], [3])}, states={"One": "hidden"}))
    assert made.text == "One\n1\n2"
    assert made.rendered.notes[0].startswith("Sheet “One” was read up to row 2:")
    assert [(mark.start, mark.end) for mark in made.rendered.layout.marks] == [(0, len(made.text))]


@pytest.mark.parametrize("place", ["XFE1", "A1048577", "AAAA1", "1", "é1"])
def test_cells_beyond_the_last_are_refused(place: str) -> None:
    with pytest.raises(InvalidInput, match="names a cell beyond XFD1048576"):
        make(workbook({"S": f'<sheetData><row><c r="{place}"><v>1</v></c></row></sheetData>'}))


def test_the_last_cell_is_read_at_once() -> None:
    cell = '<sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    read = isolation.run(f"{xlsx.__name__}.read", workbook({"S": cell}), Limits(megabytes=64, cpu_seconds=1))
    assert list(unpacked(read))[1] == b"S\n1"


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (
            {"xl/worksheets/sheet1.xml": '<!DOCTYPE a [<!ENTITY b "c">]><worksheet>&b;</worksheet>'},
            "has a document type",
        ),
        ({"xl/sharedStrings.xml": '<!DOCTYPE a [<!ENTITY b "c">]><sst>&b;</sst>'}, "has a document type"),
        ({"xl/worksheets/sheet1.xml": "<worksheet><sheetData>"}, "is damaged"),
        ({"xl/worksheets/sheet1.xml": "<?xml version='1.0' encoding='no-such'?><worksheet/>"}, "is damaged"),
        ({"xl/workbook.xml": "<workbook"}, "is damaged"),
        ({"_rels/.rels": related([("r", "officeDocument", "xl/workbook.bin")])}, r"of the binary kind \(.xlsb\)"),
        ({"_rels/.rels": related([("r", "officeDocument", "xl/none.xml")])}, "is not an Excel workbook"),
        ({"xl/worksheets/sheet1.xml": "<worksheet/>"}, "has no text in it"),
    ],
)
def test_damaged_workbooks_are_refused(parts: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        make(workbook({"S": rows([1])}, parts=parts))


@pytest.mark.slow
@pytest.mark.exhaustive
def test_more_cells_than_allowed_in_a_small_file_are_read_as_far_as_they_may() -> None:
    parts = {"xl/_rels/workbook.xml.rels": related([("rId1", "worksheet", "worksheets/sheet2.xml")])}
    file = BytesIO(workbook({"S": ""}, parts=parts))
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as made, made.open("xl/worksheets/sheet2.xml", "w") as part:
        part.write(b"<worksheet><sheetData>")
        for _ in range(210):
            part.write(b"<row>" + b"<c><v>1</v></c>" * 10_000 + b"</row>")
        part.write(b"</sheetData></worksheet>")
    header, read = unpacked(
        isolation.run(f"{xlsx.__name__}.read", file.getvalue(), Limits(megabytes=200, cpu_seconds=20))
    )
    assert len(read) == 2 * cells.MAX_CELLS + 1
    assert Rendered.model_validate_json(header).notes[0].startswith("Sheet “S” was read up to row 200:")


def test_a_string_that_all_cells_share_does_not_multiply() -> None:
    shared = '<row><c t="s"><v>0</v></c>' + '<c t="s"><v>0</v></c>' * 16_000 + "</row>"
    data = workbook({"S": f"<sheetData>{rows([1])}{shared * 20}</sheetData>"}, strings=[f"<t>{'a' * 32_000}</t>"])
    read = isolation.run(f"{xlsx.__name__}.read", data, Limits(megabytes=150, cpu_seconds=10))
    assert list(unpacked(read))[1] == b"S\n1"


@pytest.mark.slow
@pytest.mark.exhaustive
def test_an_export_of_ten_thousand_rows_is_read_whole_in_little_memory() -> None:
    read = isolation.run(f"{xlsx.__name__}.read", large(10_000), Limits(megabytes=50, cpu_seconds=6))
    header, content = unpacked(read)
    assert Rendered.model_validate_json(header).notes == ()
    assert content.decode().splitlines()[-2:] == [
        "10000\tTenant number 0\t189.25\t189.25\t189.25\t189.25\t2020-06-18\t2020-06-18\tTenant number 30\t756",
        "J10000: =SUM(C10000:F10000)",
    ]


_PREFIXED = (
    '<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData>'
    '<x:row r="1"><x:c r="A1"><x:v>5</x:v></x:c></x:row></x:sheetData></x:worksheet>'
)


def _blocks(made: BuiltDocument) -> list[tuple[str, BlockKind, str]]:
    def words(block: Block) -> str:
        return made.text[block.start : block.end]

    return [(block.anchor, block.kind, words(block)) for block in made.rendered.layout.blocks]
