"""Writes Excel files from CSV: one sheet without formulas."""

import io
import json
import re
import zipfile
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from runs.documents.model.sheets import MAX_COLUMN, MAX_ROW, column_of
from runs.errors import InvalidInput
from runs.text.csv_tables import NotCsv, rows_in

MAX_CHARACTERS = 32_767
"""The maximum length of a cell in Excel."""
_MAX_CELLS = 2_000_000  # of the sheet
_MAX_NAME = 31  # characters of a sheet's name in Excel
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,9})(?:\.[0-9]{0,9}[1-9])?")
"""Numbers that a sheet shows as they were written. As numbers, 007 and 1.50 would lose digits."""
_MAX_DIGITS = 11  # a general cell shows no more
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""Programs may take text that begins with one of these for a formula. Such a cell is marked as text, even when edited.
"""
_NO_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_ESCAPED = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_NO_NAME = re.compile(r"[\[\]:*?/\\\0-\x1f]")
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"


class SheetInput(NamedTuple):
    """The CSV and the name of the sheet."""

    text: str
    name: str = "Sheet1"


def xlsx(data: bytes) -> bytes:
    """Entry point of the isolated process: a `SheetInput` as JSON to the bytes of the file."""
    return write_workbook(SheetInput(*json.loads(data)))


def write_workbook(given: SheetInput) -> bytes:
    """Returns the file, always the same bytes. Raises InvalidInput with a clause that continues the file's name."""
    rows = list(_rows(given.text))
    cells = sum(map(len, rows))
    if not cells:
        raise InvalidInput("would have no cells; give it rows as CSV")
    if len(rows) > MAX_ROW or cells > _MAX_CELLS or max(map(len, rows)) > MAX_COLUMN:
        raise InvalidInput(f"would have {cells:,} cells in {len(rows):,} rows, which is too much; split it")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in (*_frame(_name(given.name)), ("xl/worksheets/sheet1.xml", _sheet(rows))):
            package.writestr(zipfile.ZipInfo(name), content.encode(), zipfile.ZIP_DEFLATED)
    return file.getvalue()


def _rows(text: str) -> Iterable[list[str]]:
    try:
        for row in rows_in(text):
            if any(len(cell) > MAX_CHARACTERS for cell in row.cells):
                raise InvalidInput(
                    f"has a cell of more than {MAX_CHARACTERS:,} characters in line {row.line:,}; shorten it"
                )
            yield row.cells
    except NotCsv as error:
        raise InvalidInput(str(error)) from error


def _sheet(rows: Sequence[Sequence[str]]) -> str:
    lines = [f'<row r="{at}">{"".join(_cells(at, row))}</row>' for at, row in enumerate(rows, 1) if any(row)]
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def _cells(row: int, cells: Iterable[str]) -> Iterable[str]:
    for column, text in enumerate(cells, 1):
        if not text:
            continue
        address = f"{column_of(column)}{row}"
        if len(text) <= _MAX_DIGITS and _NUMBER.fullmatch(text) and text != "-0":
            yield f'<c r="{address}"><v>{text}</v></c>'
        else:
            style = ' s="1"' if text.startswith(_FORMULAS) else ""
            yield f'<c r="{address}" t="inlineStr"{style}><is><t xml:space="preserve">{_text(text)}</t></is></c>'


def _text(text: str) -> str:
    return escape(_ESCAPED.sub("_x005F_", _NO_XML.sub("\ufffd", text)), quote=False).replace("\r", "&#13;")


def _name(name: str) -> str:
    """Returns a valid sheet name."""
    plain = _NO_NAME.sub(" ", _NO_XML.sub(" ", name)).strip().strip("'")[:_MAX_NAME].strip()
    return plain if plain and plain.casefold() != "history" else "Sheet1"


def _frame(name: str) -> Iterable[tuple[str, str]]:
    """Returns all parts but the sheet, by name. The second cell style keeps Excel from reading text as a formula."""
    yield (
        "[Content_Types].xml",
        f'<Types xmlns="{_PACKAGE}/content-types">'
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPES}.styles+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPES}.worksheet+xml"/></Types>',
    )
    yield "_rels/.rels", _relations(("officeDocument", "xl/workbook.xml"))
    yield (
        "xl/workbook.xml",
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        f'<sheet name="{escape(name)}" sheetId="1" r:id="r1"/></sheets></workbook>',
    )
    yield "xl/_rels/workbook.xml.rels", _relations(("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml"))
    yield (
        "xl/styles.xml",
        f'<styleSheet xmlns="{_MAIN}"><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/>'
        '</fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
        '<cellXfs count="2"><xf/><xf quotePrefix="1"/></cellXfs></styleSheet>',
    )


def _relations(*kinds: tuple[str, str]) -> str:
    inside = "".join(
        f'<Relationship Id="r{at}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(kinds, 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{inside}</Relationships>'
