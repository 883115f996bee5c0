"""Reports for Word: tables as wide as the page whose columns fit their texts, and numbered pages."""

import io
from typing import Any

import pytest
from docx import Document
from docx.oxml.ns import qn
from docx.shared import Mm
from pydantic import TypeAdapter

from runs.documents.printing import word
from runs.documents.printing.blocks import PrintableReport, ReportSection, TableBlock, spans
from runs.documents.printing.word import column_widths

PAGE = Mm(170).twips


def written(*rows: tuple[str, ...]) -> Any:
    head, *body = (tuple(spans(cell) for cell in row) for row in rows)
    section = ReportSection("results", "Results", (TableBlock("Results", head, tuple(body)),))
    report = PrintableReport("Review", about="Report on run 1", main=(section,), foot="The end.")
    return Document(io.BytesIO(word.docx(TypeAdapter(PrintableReport).dump_json(report))))


@pytest.mark.parametrize(
    "lengths",
    [[[5]], [[4, 90, 4]], [[64, 64, 64]], [[1] * 20], [[0, 0]], [[3, 400], [5, 7]], [[3], [4, 5, 6]]],
    ids=["one", "one long", "three long", "many", "empty", "very long", "ragged"],
)
def test_columns_are_together_as_wide_as_the_page(lengths: list[list[int]]) -> None:
    count = max(map(len, lengths))
    widths = column_widths(lengths, count)
    assert (len(widths), min(widths) > 0) == (count, True)
    assert PAGE - count <= sum(widths) <= PAGE + count


def test_short_columns_fit_their_text_and_long_ones_share_the_rest() -> None:
    short, medium, long, longer = column_widths([[6, 45, 200, 400]], 4)
    assert short < PAGE / 8
    assert abs(long - longer) <= 1
    assert abs(long - 2 * medium) <= 1


def test_a_table_has_its_widths_and_a_first_row_that_repeats() -> None:
    document = written(("File", "Missing amount"), ("contracts/data-processing-agreement.pdf", "3"))
    [table] = document.tables
    grid = [int(column.get(qn("w:w"))) for column in table._tbl.tblGrid.findall(qn("w:gridCol"))]
    assert grid[0] > 2 * grid[1], "a title may take several lines"
    assert [cell.width.twips for cell in table.rows[1].cells] == grid
    assert [row._tr.trPr.find(qn("w:tblHeader")) is not None for row in table.rows] == [True, False]


def test_each_page_says_which_report_it_belongs_to_and_has_its_number() -> None:
    [footer] = written(("File",), ("a.md",)).sections[0].footer.paragraphs
    fields = [field.get(qn("w:instr")) for field in footer._p.findall(qn("w:fldSimple"))]
    assert (footer.text.startswith("Report on run 1"), fields) == (True, ["PAGE", "NUMPAGES"])
    inherited = {stop.position.twips for stop in footer.style.paragraph_format.tab_stops}
    stops = [(tab.get(qn("w:val")), int(tab.get(qn("w:pos")))) for tab in footer._p.pPr.find(qn("w:tabs"))]
    assert [place for kind, place in stops if kind != "clear"] == [PAGE]
    assert {place for kind, place in stops if kind == "clear"} == inherited
