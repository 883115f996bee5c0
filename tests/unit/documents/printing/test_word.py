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
    "longest",
    [[5], [4, 90, 4], [64, 64, 64], [1] * 20, [0, 0], [3, 400], [16] * 12, [400] * 12],
    ids=["one", "one long", "three long", "many", "empty", "very long", "many short", "many very long"],
)
@pytest.mark.parametrize("word", [0, 5, 400])
def test_columns_are_together_as_wide_as_the_page(longest: list[int], word: int) -> None:
    widths = column_widths(longest, [min(word, size) for size in longest])
    assert (len(widths), min(widths) > 0) == (len(longest), True)
    assert PAGE - len(longest) <= sum(widths) <= PAGE + len(longest)


def test_short_columns_fit_their_text_and_long_ones_share_the_rest() -> None:
    short, medium, long, longer = column_widths([6, 45, 200, 400], [6, 5, 5, 5])
    assert short < PAGE / 8
    assert abs(long - longer) <= 1
    assert abs(long - 2 * medium) <= 1


def test_no_column_is_narrower_than_its_words_if_all_fit() -> None:
    for_16_characters = Mm(5 + 2 * 16).twips
    narrow, *others = column_widths([17, 400, 400, 400], [16, 5, 5, 5])
    assert narrow == for_16_characters
    assert min(others) >= Mm(5 + 2 * 5).twips
    assert column_widths([17, 90, 90], [5, 5, 5])[0] < for_16_characters, "its words are short"


def test_columns_that_do_not_fit_are_as_wide_as_their_words_in_proportion() -> None:
    figure, text = column_widths([8, 50] * 6, [8, 4] * 6)[:2]
    assert abs(figure / text - (5 + 2 * 8) / (5 + 2 * 4)) < 0.01


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
