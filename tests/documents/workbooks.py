"""Excel workbooks, as the XML that is in them."""

import io
import zipfile
from collections.abc import Iterable, Mapping
from xml.sax.saxutils import escape, quoteattr

_S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_P = "http://schemas.openxmlformats.org/package/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'


def workbook(
    sheets: Mapping[str, str | bytes],
    *,
    strings: Iterable[str] = (),
    formats: Iterable[str] = (),
    states: Mapping[str, str] | None = None,
    since_1904: bool = False,
    parts: Mapping[str, str] | None = None,
) -> bytes:
    """`sheets`: what is inside `<worksheet>`, by name. `strings`: what is inside each `<si>`. Style 1 is the first of
    `formats`, and so on. `parts`: more parts of the file, or others instead.
    """
    states = states or {}
    tags = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="rId{number}" state="{states.get(name, "visible")}"/>'
        for number, name in enumerate(sheets, 1)
    )
    codes = list(formats)
    defined = "".join(f'<numFmt numFmtId="{200 + n}" formatCode={quoteattr(code)}/>' for n, code in enumerate(codes))
    used = '<xf numFmtId="0"/>' + "".join(f'<xf numFmtId="{200 + n}"/>' for n in range(len(codes)))
    relations = [(f"rId{number}", "worksheet", f"worksheets/sheet{number}.xml") for number in range(1, len(sheets) + 1)]
    relations += [("rIdS", "sharedStrings", "sharedStrings.xml"), ("rIdF", "styles", "styles.xml")]
    relations += [("rIdP", "person", "persons/person.xml")]
    everything = {
        "_rels/.rels": related([("rId1", "officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": f'{_HEAD}<workbook xmlns="{_S}" xmlns:r="{_R}"><workbookPr date1904="{int(since_1904)}"/>'
        f"<sheets>{tags}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": related(relations),
        "xl/sharedStrings.xml": f'{_HEAD}<sst xmlns="{_S}">' + "".join(f"<si>{one}</si>" for one in strings) + "</sst>",
        "xl/styles.xml": f'{_HEAD}<styleSheet xmlns="{_S}"><numFmts>{defined}</numFmts><cellStyleXfs><xf numFmtId="9"/>'
        f"</cellStyleXfs><cellXfs>{used}</cellXfs></styleSheet>",
    }
    for number, content in enumerate(sheets.values(), 1):
        text = content if isinstance(content, bytes) else content.encode()
        part = f'{_HEAD}<worksheet xmlns="{_S}">'.encode() + text + b"</worksheet>"
        everything[f"xl/worksheets/sheet{number}.xml"] = part.decode()
    return zipped(everything | dict(parts or {}))


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return file.getvalue()


def related(relations: Iterable[tuple[str, str, str]]) -> str:
    """A part of relations: id, the last word of the type, target."""
    tags = "".join(f'<Relationship Id="{one}" Type="{_R}/{kind}" Target="{to}"/>' for one, kind, to in relations)
    return f'{_HEAD}<Relationships xmlns="{_P}">{tags}</Relationships>'


def rows(*cells: Iterable[str | int | float]) -> str:
    """Rows from A1 on: numbers, or texts in the cells themselves."""
    lines = []
    for number, row in enumerate(cells, 1):
        inside = "".join(
            f'<c r="{chr(64 + column)}{number}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
            if isinstance(cell, str)
            else f'<c r="{chr(64 + column)}{number}"><v>{cell}</v></c>'
            for column, cell in enumerate(row, 1)
        )
        lines.append(f'<row r="{number}">{inside}</row>')
    return f"<sheetData>{''.join(lines)}</sheetData>"


def large(count: int) -> bytes:
    """Ten columns of an export: shared texts, amounts with two decimals, dates, and a formula."""
    lines = []
    for row in range(1, count + 1):
        cells = [f'<c r="A{row}"><v>{row}</v></c>', f'<c r="B{row}" t="s"><v>{row % 1_000}</v></c>']
        cells += [f'<c r="{column}{row}" s="1"><v>{row * 7 % 9_973}.25</v></c>' for column in "CDEF"]
        cells += [f'<c r="{column}{row}" s="2"><v>{40_000 + row % 6_000}</v></c>' for column in "GH"]
        cells += [f'<c r="I{row}" t="s"><v>{row % 997}</v></c>']
        cells += [f'<c r="J{row}"><f>SUM(C{row}:F{row})</f><v>{row * 28 % 9_973}</v></c>']
        lines.append(f'<row r="{row}">{"".join(cells)}</row>')
    strings = [f"<t>Tenant number {number}</t>" for number in range(1_000)]
    return workbook(
        {"Export": f"<sheetData>{''.join(lines)}</sheetData>"}, strings=strings, formats=["#,##0.00", "d.m.yy"]
    )
