"""Reads Excel workbooks: a block for each row of a sheet with the cells as they are shown, followed by formulas and
comments. Hidden content is included and marked.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import NamedTuple

from runs.documents.formats.xlsx import FORMAT
from runs.documents.formats.xlsx.cells import GENERAL, MAX_CELLS, Cells, Counts, Enough, Formats, Row, shared_strings
from runs.documents.formats.xlsx.number_formats import BUILT_IN, Format
from runs.documents.model.layout import NOT_KEPT, BlockKind, MarkKind
from runs.documents.model.sheets import Address, address_in, anchor_of, column_of
from runs.documents.reading.building import MAX_BLOCKS, Builder, BuiltDocument
from runs.documents.reading.package_parts import Element, Package, whole_number
from runs.errors import InvalidInput
from runs.text.plural import pluralize, word_for

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_TC = "{http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments}"


class SheetComment(NamedTuple):
    column: int
    text: str
    by: str
    on: str = ""


def comments_of(package: Package, part: str, persons: str) -> dict[int, list[SheetComment]]:
    """Returns the comments of a sheet by row. A thread is stored twice: the second time as a note
    for older programs.
    """
    relations = package.relations(part)
    threads, notes = ([one.target for one in relations if one.kind == kind] for kind in ("threadedComment", "comments"))
    found: dict[str, list[SheetComment]] = defaultdict(list)
    if threads:
        root = package.xml(persons)
        people = root.iter(f"{_TC}person") if root is not None else ()
        names = {one.get("id", ""): one.get("displayName", "") for one in people}
        for target in threads:
            _add_thread(found, package.xml(target), names)
    threaded = set(found)
    for target in notes:
        _add_notes(found, package.xml(target), threaded)
    rows: dict[int, list[SheetComment]] = defaultdict(list)
    for reference, comments in found.items():
        if address := address_in(f"x!{reference}"):
            rows[address.row] += [one._replace(column=address.column) for one in comments]
    return rows


def _add_thread(found: dict[str, list[SheetComment]], root: Element | None, names: Mapping[str, str]) -> None:
    for one in root.iter(f"{_TC}threadedComment") if root is not None else ():
        said = one.find(f"{_TC}text")
        text = (said.text or "") if said is not None else ""
        found[one.get("ref", "")].append(
            SheetComment(0, text, names.get(one.get("personId", ""), ""), one.get("dT", ""))
        )


def _add_notes(found: dict[str, list[SheetComment]], root: Element | None, threaded: Set[str]) -> None:
    if root is None:
        return
    authors = [one.text or "" for one in root.iter(f"{_S}author")]
    for one in root.iter(f"{_S}comment"):
        if one.get("ref", "") not in threaded:
            text = one.find(f"{_S}text")
            parts = [t.text or "" for run in (text if text is not None else ()) for t in _texts(run)]
            author = whole_number(one.get("authorId"), -1, low=-1)
            by = authors[author] if 0 <= author < len(authors) else ""
            found[one.get("ref", "")].append(SheetComment(0, "".join(parts), by))


def _texts(run: Element) -> Sequence[Element]:
    """Returns the texts of a run, which may be a text itself, without pronunciations."""
    if run.tag == f"{_S}t":
        return [run]
    return run.findall(f"{_S}t") if run.tag == f"{_S}r" else []


MAX_TEXT_BYTES = 10_000_000
MAX_STORED = 6_000_000
"""Characters of stored values. They are left out for later rows."""
MAX_GAP = 20
"""Empty cells between two cells of a row. After a longer gap another block begins."""
MAX_MARKS = 100_000  # of hidden and commented cells
_MAX_COLUMN_RANGES = 1_000  # of hidden columns of a sheet


class WorkbookSheet(NamedTuple):
    name: str
    part: str
    hidden: bool


class WorkbookText:
    """Builds the text of a workbook. Raises Enough before it becomes too long."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._left_bytes, self._left_blocks, self._left_marks = MAX_TEXT_BYTES, MAX_BLOCKS, MAX_MARKS
        self._left_stored = MAX_STORED

    def begin(self, sheet: WorkbookSheet, comments: dict[int, list[SheetComment]]) -> None:
        self._sheet, self._comments = sheet, comments
        self._start: int | None = None
        self._row = self._column_ranges = 0
        self._hidden_columns: set[int] = set()
        self._hidden_rows: tuple[int, int] | None = None

    def hide(self, first: int, last: int) -> None:
        """Hides a range of columns."""
        self._column_ranges += 1
        if self._column_ranges <= _MAX_COLUMN_RANGES:
            self._hidden_columns.update(range(first, last + 1))

    def take(self, row: Row) -> None:
        """Adds a row and everything that belongs to it."""
        self._add_name()
        start = self.builder.begin()
        for columns in _segments(list(row.texts)):
            self._add_cells(row, columns)
        if row.formulas:
            lines = [f"{column_of(column)}{row.number}: {formula}" for column, formula in row.formulas.items()]
            self._add(
                self._anchor(row.number, next(iter(row.texts or row.formulas))), BlockKind.FORMULAS, "\n".join(lines)
            )
        self._row = row.number
        if not row.hidden:
            self._end_hidden_rows()
        else:
            begun = self._hidden_rows[0] if self._hidden_rows else start
            self._hidden_rows = begun, self.builder.begin() - 1
        self._add_comments(row.number)

    def end(self) -> None:
        """Ends a sheet: adds comments on rows without cells, and marks a hidden sheet."""
        self._end_hidden_rows()
        for row in sorted(self._comments):
            self._add_comments(row)
        self.close()

    def close(self) -> None:
        """Ends a sheet at the current row."""
        self._end_hidden_rows()
        if self._sheet.hidden and self._start is not None:
            self.builder.mark(MarkKind.HIDDEN, self._start, self.builder.begin() - 1, note="hidden sheet")

    def note_the_rest(self, others: int) -> None:
        """Adds a note on how far the workbook was read."""
        read = f"was read up to row {self._row:,}" if self._row else "was not read"
        more = f", nor were the {others:,} after it" if others else ""
        self.builder.note(
            f"Sheet “{self._sheet.name}” {read}{more}: at most {MAX_CELLS:,} cells, {MAX_BLOCKS:,} rows and "
            f"{MAX_TEXT_BYTES // 1_000_000} MB of text of a workbook are read."
        )

    def _add_name(self) -> None:
        if self._start is None:
            self._start = self.builder.begin()
            sheet = self._anchor(1, 1).removesuffix("A1")
            self._add(f"{sheet}name", BlockKind.HEADING, self._sheet.name, level=1)

    def _add(
        self, anchor: str, kind: BlockKind, text: str, *, label: str = "", level: int = 0, stored: str = ""
    ) -> int:
        """Adds a block and returns its offset."""
        self._left_bytes -= len(text.encode(errors="replace")) + 1
        self._left_blocks -= 1
        if self._left_bytes < 0 or self._left_blocks < 0:
            raise Enough
        return self.builder.add(anchor, kind, text, label=label, level=level, stored=stored).start

    def _add_cells(self, row: Row, columns: Sequence[int]) -> None:
        """Adds a block of cells with at most MAX_GAP empty cells in a row."""
        first, last = columns[0], columns[-1]
        texts = [row.texts.get(column, "") for column in range(first, last + 1)]
        if sum(map(len, texts)) > self._left_bytes:  # checked before joining, because cells share strings
            raise Enough
        stored = self._stored(row, range(first, last + 1))
        start = self._add(self._anchor(row.number, first), BlockKind.ROW, "\t".join(texts), stored=stored)
        if not self._hidden_columns.isdisjoint(columns):
            for column, (at, text) in enumerate(_places(start, texts), first):
                if column in self._hidden_columns and text:
                    self._mark(MarkKind.HIDDEN, at, at + len(text), note="hidden column")
        if row.number in self._comments:
            comments = {one.column: one for one in reversed(self._comments[row.number])}
            for column, (at, text) in enumerate(_places(start, texts), first):
                if one := comments.get(column):
                    note = self._comment(row.number, column, 1)
                    self._mark(MarkKind.COMMENTED, at, at + len(text), by=one.by, on=one.on, note=note)

    def _stored(self, row: Row, columns: Sequence[int]) -> str:
        """Returns the stored values of these cells, as in `Block.stored`."""
        if not row.stored or row.stored.keys().isdisjoint(columns):
            return ""
        stored = " ".join(row.stored.get(column, "") for column in columns)
        self._left_stored -= len(stored)
        return stored if self._left_stored >= 0 else NOT_KEPT

    def _mark(self, kind: MarkKind, start: int, end: int, *, note: str, by: str = "", on: str = "") -> None:
        self._left_marks -= 1
        if self._left_marks == 0:
            self.builder.note("Not all of what is hidden or commented is marked: there is too much of it.")
        if self._left_marks > 0:
            self.builder.mark(kind, start, end, by=by, on=on, note=note)

    def _add_comments(self, row: int) -> None:
        numbers: dict[int, int] = {}
        for one in sorted(self._comments.pop(row, ()), key=lambda comment: comment.column):
            if one.text.strip():
                self._add_name()
                number = numbers[one.column] = numbers.get(one.column, 0) + 1
                by = f"{one.by}:" if one.by and not one.text.startswith(one.by) else ""
                self._add(self._comment(row, one.column, number), BlockKind.COMMENT, one.text.strip(), label=by)

    def _end_hidden_rows(self) -> None:
        if self._hidden_rows:
            self._mark(MarkKind.HIDDEN, *self._hidden_rows, note="hidden row")
        self._hidden_rows = None

    def _anchor(self, row: int, column: int) -> str:
        return anchor_of(Address(self._sheet.name, column, row, column, row))

    def _comment(self, row: int, column: int, number: int) -> str:
        return f"{self._anchor(row, column)}.cm{number}"


def _segments(columns: Sequence[int]) -> Iterator[Sequence[int]]:
    """Splits columns where more than MAX_GAP cells are empty."""
    begun = 0
    if columns and columns[-1] - columns[0] > len(columns) + MAX_GAP - 1:  # otherwise no gap can be that long
        for at in range(1, len(columns)):
            if columns[at] - columns[at - 1] > MAX_GAP + 1:
                yield columns[begun:at]
                begun = at
    if columns:
        yield columns[begun:]


def _places(start: int, texts: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yields the offset of each text when they are joined by tabs."""
    for text in texts:
        yield start, text
        start += len(text) + 1


MAX_BYTES = 512 * 1024 * 1024
"""Of all unpacked parts. Sheets are read as a stream."""
MAX_SHEETS = 1_000
MAX_STRINGS_BYTES = 128 * 1024 * 1024  # of the unpacked part with the shared strings
MAX_STRINGS_CHARACTERS = 50_000_000
_MAX_NAME = 100  # characters of a sheet's name
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def read(data: bytes) -> bytes:
    return make(data).packed()


def make(data: bytes) -> BuiltDocument:
    """Reads all sheets in order. What exceeds a limit is left out, and a note says so."""
    package = Package(data, max_bytes=MAX_BYTES)
    main = next((one.target for one in package.relations() if one.kind == "officeDocument"), "xl/workbook.xml")
    if main.endswith(".bin"):
        raise InvalidInput("is an Excel file of the binary kind (.xlsb); save it as .xlsx")
    workbook = package.xml(main)
    if workbook is None:
        raise InvalidInput("is not an Excel workbook, because it has no list of sheets")
    parts = {one.kind: one.target for one in package.relations(main)}
    strings = shared_strings(package.pieces(parts.get("sharedStrings", ""), MAX_STRINGS_BYTES), MAX_STRINGS_CHARACTERS)
    properties = workbook.find(f"{_S}workbookPr")
    since_1904 = properties is not None and properties.get("date1904") in {"1", "true"}
    formats = Formats(_styles(package.xml(parts.get("styles", "")), since_1904=since_1904))
    text = WorkbookText(Builder(FORMAT.name, max_characters=MAX_TEXT_BYTES))
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
        which = f"{pluralize(without_value, 'formula')} {word_for(without_value, 'has no value', 'have no values')}"
        text.builder.note(
            f"{which}, since no program has calculated it yet: open it with a spreadsheet program and save it again."
        )
    return text.builder.build(FORMAT.unit, len(sheets))


def _sheets(package: Package, main: str, workbook: Element) -> Iterator[WorkbookSheet]:
    """Yields the sheets with cells. Chart sheets have none."""
    relations = {one.id: one for one in package.relations(main)}
    for one in workbook.iter(f"{_S}sheet"):
        relation = relations.get(one.get(f"{_R}id", ""))
        if relation and relation.kind == "worksheet":
            name = " ".join(one.get("name", "").split())[:_MAX_NAME]
            yield WorkbookSheet(name, relation.target, one.get("state", "visible") != "visible")


def _styles(root: Element | None, *, since_1904: bool) -> list[Format]:
    """Returns the number formats by style. Formats of conditional formatting have numbers of their own."""
    if root is None:
        return []
    codes = dict(BUILT_IN)
    for one in root.findall(f"{_S}numFmts/{_S}numFmt"):
        codes[whole_number(one.get("numFmtId"))] = one.get("formatCode", "")
    used = root.find(f"{_S}cellXfs")
    numbers = [whole_number(one.get("numFmtId")) for one in used.findall(f"{_S}xf")] if used is not None else []
    formats = {number: Format(codes[number], since_1904=since_1904) for number in set(numbers) & set(codes)}
    return [formats.get(number, GENERAL) for number in numbers]
