"""Excel files of CSV: our own reader reads in them what was given, and no cell of them is a formula."""

import csv
import io
import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.documents.formats.xlsx import xlsx_reader as reader
from runs.documents.model.layout import BlockKind
from runs.documents.reading.building import BuiltDocument
from runs.documents.writers import xlsx
from runs.documents.writers.xlsx import SheetInput
from runs.errors import InvalidInput
from tests.hostile.bounds import within
from tests.work import growth

CELLS = st.one_of(
    st.text(
        st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"], exclude_characters="\ufeff"),
        min_size=1,
    ),
    st.integers().map(str),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.sampled_from(["=1+1", "+1", "-a", "@sum", "007", "1.50", "1e5", "-0", "_x0041_", "_x005F_", "TRUE", "1.1.2026"]),
)
ROWS = st.lists(st.lists(CELLS, min_size=1, max_size=5), min_size=1, max_size=6)


def read(text: str, name: str = "Rents") -> BuiltDocument:
    return reader.make(xlsx.write_workbook(SheetInput(text, name)))


def rows_in(made: BuiltDocument) -> list[str]:
    return [made.text[block.start : block.end] for block in made.rendered.layout.blocks if block.kind is BlockKind.ROW]


def as_csv(rows: list[list[str]]) -> str:
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    return file.getvalue()


@given(ROWS)
def test_cells_are_read_as_they_were_given(rows: list[list[str]]) -> None:
    made = read(as_csv(rows))
    assert rows_in(made) == ["\t".join(row) for row in rows]
    assert BlockKind.FORMULAS not in {block.kind for block in made.rendered.layout.blocks}


def test_what_begins_like_a_formula_is_text_that_stays_text() -> None:
    data = xlsx.write_workbook(SheetInput('a,=HYPERLINK("x")\n+1,-2\n@a,b\n'.replace('"', "")))
    sheet = zipfile.ZipFile(io.BytesIO(data)).read("xl/worksheets/sheet1.xml").decode()
    assert '<c r="B1" t="inlineStr" s="1"><is><t xml:space="preserve">=HYPERLINK(x)</t></is></c>' in sheet
    assert '<c r="A2" t="inlineStr" s="1"><is><t xml:space="preserve">+1</t></is></c>' in sheet
    assert '<c r="B2"><v>-2</v></c>' in sheet
    assert "<f>" not in sheet
    assert b'<xf quotePrefix="1"/>' in zipfile.ZipFile(io.BytesIO(data)).read("xl/styles.xml")


def test_the_same_rows_are_the_same_bytes() -> None:
    data = json.dumps(["a,b\n", "Rents"]).encode()
    assert xlsx.xlsx(data) == xlsx.xlsx(data) == xlsx.write_workbook(SheetInput("a,b\n", "Rents"))


@pytest.mark.parametrize(
    ("name", "sheet"),
    [
        ("Rents", "Rents"),
        ("a/b:c", "a b c"),
        ("x" * 40, "x" * 31),
        ("'", "Sheet1"),
        ("History", "Sheet1"),
        ('<&">', '<&">'),
    ],
)
def test_the_sheet_has_a_name_that_excel_takes(name: str, sheet: str) -> None:
    assert read("a", name).rendered.layout.blocks[-1].anchor.rpartition("!")[0] == sheet


@pytest.mark.parametrize("text", ["a;b\n1,5;2\n", "a\tb\n1,5\t2\n"])
def test_other_separators_are_seen_in_the_first_line(text: str) -> None:
    assert rows_in(read(text)) == ["a\tb", "1,5\t2"]


def test_what_xml_may_not_have_is_replaced() -> None:
    assert rows_in(read("a\x01b\x0b,c\n")) == ["a\ufffdb\ufffd\tc"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("\n\n", "would have no cells; give it rows as CSV"),
        ('a\n"' + "x" * 40_000 + '"', "has a cell of more than 32,767 characters in line 2; shorten it"),
        ('a\nb,"c\nd', "ends inside a quotation mark that opens in line 2; close it"),
        ("," * 20_000, "would have 20,001 cells in 1 rows, which is too much; split it"),
    ],
)
def test_what_is_no_sheet_says_why(text: str, sentence: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        xlsx.write_workbook(SheetInput(text))
    assert str(caught.value) == sentence


def test_the_work_on_a_sheet_grows_with_its_rows() -> None:
    assert growth(lambda size: xlsx.write_workbook(SheetInput("1,2,3,word\n" * size)), 200) < 5


@pytest.mark.slow
def test_a_long_sheet_is_written_within_limits_and_takes_few_bytes() -> None:
    assert (
        len(within(2, 100, "runs.documents.writers.xlsx.write_workbook", SheetInput("1,2,3,word\n" * 20_000)))
        < 2_000_000
    )
