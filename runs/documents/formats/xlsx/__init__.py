"""Excel workbooks: a block for each row of a sheet, with the cells as they are shown, and their formulas and comments
behind it. What is hidden is in the text, and marked.
"""

from collections.abc import Iterator
from itertools import islice

from runs.documents.formats.building import Builder, BuiltDocument
from runs.documents.formats.package_parts import Element, Package, whole_number
from runs.documents.formats.xlsx.cells import GENERAL, Cells, Counts, Enough, Formats, shared_strings
from runs.documents.formats.xlsx.comments import comments_of
from runs.documents.formats.xlsx.formats import BUILT_IN, Format
from runs.documents.formats.xlsx.text import MAX_TEXT_BYTES, Sheet, Text
from runs.errors import InvalidInput
from runs.text.plural import pluralize, word_for

MAX_BYTES = 512 * 1024 * 1024
"""Of all parts as they are unpacked; sheets are read as they go by."""
MAX_SHEETS = 1_000
MAX_STRINGS_BYTES = 128 * 1024 * 1024
MAX_STRINGS_CHARACTERS = 50_000_000
_MAX_NAME = 100
_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    """All sheets in their order. What goes beyond the limits is left out, and a note says so."""
    package = Package(data, max_bytes=MAX_BYTES)
    main = next((one.target for one in package.relations() if one.kind == "officeDocument"), "xl/workbook.xml")
    if main.endswith(".bin"):
        raise InvalidInput("is an Excel file of the binary kind (.xlsb); save it as .xlsx")
    workbook = package.xml(main)
    if workbook is None:
        raise InvalidInput("is no Excel workbook, since it has no list of sheets")
    parts = {one.kind: one.target for one in package.relations(main)}
    strings = shared_strings(package.pieces(parts.get("sharedStrings", ""), MAX_STRINGS_BYTES), MAX_STRINGS_CHARACTERS)
    properties = workbook.find(f"{_S}workbookPr")
    since_1904 = properties is not None and properties.get("date1904") in {"1", "true"}
    formats = Formats(_styles(package.xml(parts.get("styles", "")), since_1904=since_1904))
    text = Text(Builder("xlsx", max_characters=MAX_TEXT_BYTES))
    sheets = list(islice(_sheets(package, main, workbook), MAX_SHEETS + 1))
    if len(sheets) > MAX_SHEETS:
        raise InvalidInput(f"has more than {MAX_SHEETS:,} sheets; split it")
    counts, without_value = Counts(), 0
    for number, sheet in enumerate(sheets):
        text.begin(sheet, comments_of(package, sheet.part, parts.get("person", "")))
        cells = Cells(strings, formats, counts, text.take, text.hide)
        try:
            cells.read(package.pieces(sheet.part, MAX_BYTES))
            text.end()
        except Enough:
            text.close()
            text.note_the_rest(len(sheets) - number - 1)
            break
        finally:
            without_value += cells.without_value
    if without_value:
        text.builder.note(_uncalculated(without_value))
    return text.builder.made("sheet", len(sheets))


def _uncalculated(count: int) -> str:
    which = f"{pluralize(count, 'formula')} {word_for(count, 'has no value', 'have no values')}"
    return f"{which}, since no program has calculated it yet: open it with a spreadsheet program and save it again."


def _sheets(package: Package, main: str, workbook: Element) -> Iterator[Sheet]:
    """Sheets of cells; those that are one large chart have none."""
    relations = {one.id: one for one in package.relations(main)}
    for one in workbook.iter(f"{_S}sheet"):
        relation = relations.get(one.get(f"{_R}id", ""))
        if relation and relation.kind == "worksheet":
            name = " ".join(one.get("name", "").split())[:_MAX_NAME]
            yield Sheet(name, relation.target, one.get("state", "visible") != "visible")


def _styles(root: Element | None, *, since_1904: bool) -> list[Format]:
    """What shows the numbers of cells, by style. Formats of conditional formatting have numbers of their own."""
    if root is None:
        return []
    codes = dict(BUILT_IN)
    for one in root.findall(f"{_S}numFmts/{_S}numFmt"):
        codes[whole_number(one.get("numFmtId"))] = one.get("formatCode", "")
    used = root.find(f"{_S}cellXfs")
    numbers = [whole_number(one.get("numFmtId")) for one in used.findall(f"{_S}xf")] if used is not None else []
    formats = {number: Format(codes[number], since_1904=since_1904) for number in set(numbers) & set(codes)}
    return [formats.get(number, GENERAL) for number in numbers]
