"""Tables: a header and the rows below it, of CSV files and of sheets of workbooks, within a budget of time."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from runs.documents.content import document_of
from runs.documents.formats import format_of
from runs.documents.model.layout import NOT_KEPT, Block, BlockKind
from runs.documents.model.sheets import address_in
from runs.documents.places.document import Document
from runs.errors import InvalidInput
from runs.text.csv_tables import CsvRow, NotCsv, is_blank, rows_in, separator_of
from runs.text.normalisation import caseless, place_among
from runs.text.patterns import Budget
from runs.text.quantities import Figures, Quantity, Unlike, quantity, stored_quantity
from runs.text.truncate import quoted

_ROWS_AT_ONCE = 1_000
"""After so many rows the clock is looked at."""
_LISTED_NAMES = 20


class RowCells(NamedTuple):
    """The cells of a row of a sheet as they are shown, and for each what the workbook holds where that says more.

    `line`: the number of the row.
    """

    line: int
    cells: Sequence[str]
    stored: Sequence[str]


type Row = CsvRow | RowCells


class Rows(Protocol):
    """A header, and the rows below it. Both raise InvalidInput with a part of a sentence, `rows` also TooSlow."""

    header: Sequence[str]

    def place_of(self, name: str) -> int: ...

    def rows(self, budget: Budget) -> Iterator[Row]: ...


def table_of(data: bytes, text: str, wanted: Sequence[str] = (), sheet: str | None = None) -> Rows:
    """The table of a file. Of a workbook it is the sheet of this name, or the only one with the `wanted` columns; the
    first one where `sheet` is empty. Raises InvalidInput with a part of a sentence.
    """
    document = document_of(data)
    return _sheet_of(document, wanted, sheet) if document else CsvTable(text, wanted)


def quantity_in(row: Row, at: int) -> Quantity | None:
    """The number in a cell of a row. In a workbook it is the stored number, however it is shown."""
    shown = row.cells[at].strip() if at < len(row.cells) else ""
    stored = row.stored[at] if isinstance(row, RowCells) else ""
    if stored == NOT_KEPT:
        raise InvalidInput(f"has too many formatted numbers: what row {row.line:,} holds is not kept; split the file")
    return stored_quantity(shown, stored if stored != "=" else shown) if stored else quantity(shown)


def add_to(figures: Figures, row: Row, at: int) -> None:
    """Adds a cell, unless it is empty. Raises InvalidInput where it is no number, or none of the same kind."""
    shown = row.cells[at].strip() if at < len(row.cells) else ""
    if not shown:
        return
    found = quantity_in(row, at)
    where = f"{'row' if isinstance(row, RowCells) else 'line'} {row.line:,}"
    if found is None:
        raise InvalidInput(f"{where}: {quoted(shown)} is no number that can be calculated with")
    try:
        figures.add(found)
    except Unlike as error:
        raise InvalidInput(f"{where}: {error}") from error


class CsvTable:
    """The rows of a CSV text. `header`: the names in its first row that is not empty, trimmed; none if there is no such
    row. The separator is the one with which the header has most of the `wanted` columns.
    """

    header: Sequence[str]

    def __init__(self, text: str, wanted: Sequence[str] = ()) -> None:
        self._text = text
        self._separator = separator_of(text, wanted)
        try:
            first = next(_filled(text, self._separator), CsvRow(0, []))
        except NotCsv:  # said when its rows are read
            first = CsvRow(0, [])
        self._names = _ColumnNames(first)
        self.header = self._names.header
        self.header_line = first.line

    def place_of(self, name: str) -> int:
        """The number of a column. Raises InvalidInput where there is none of this name, or several."""
        return self._names.place_of(name)

    def column(self, name: str, budget: Budget) -> Iterator[tuple[int, str]]:
        """Each row's line, where it ends, and its trimmed value in the column; empty where the row is too short.

        Raises InvalidInput where there is no such column, and like `rows`.
        """
        at = self._names.header.index(name) if name in self.header else self.place_of(name)
        for line, row in self.rows(budget):
            yield line, row[at].strip() if at < len(row) else ""

    def rows(self, budget: Budget) -> Iterator[CsvRow]:
        """The rows after the header that are not empty, each with the line in which it ends.

        Raises InvalidInput with a part of a sentence for what is no CSV, and for a row with a value in a column without
        a name: the header is a title then, and the rows below it would be counted wrongly. TooSlow when the budget is
        used up.
        """
        rows = _filled(self._text, self._separator)
        try:
            next(rows, None)
            for number, row in enumerate(rows):
                if number % _ROWS_AT_ONCE == 0:
                    budget.left()
                self._names.check(row)
                yield row
        except NotCsv as error:
            raise InvalidInput(str(error)) from error


class _ColumnNames:
    """The names of the columns in the first row of a table."""

    def __init__(self, row: Row) -> None:
        self.header = [name.strip() for name in row.cells]
        self._line = row.line
        self._named = [bool(name) for name in self.header]
        self._all = all(self._named)
        self._is_numbered = len(self._named) > 1 and not self._named[0] and all(self._named[1:])
        """Only the first column has no name, as where programs write the number of each row there."""

    def place_of(self, name: str) -> int:
        at = place_among(name, self.header)
        if at < 0:
            raise InvalidInput(f"has no column {quoted(name)}; it has {in_short(self.header) or 'no header row'}")
        if self.header.count(self.header[at]) > 1:
            raise InvalidInput(f"has several columns {quoted(name)}")
        return at

    def check(self, row: Row, *, is_outside: bool = False) -> None:
        """Raises InvalidInput for a value in a column without a name, or to the left of the header where it
        `is_outside`: the header may be a title.
        """
        if not is_outside and self._all and len(row.cells) <= len(self._named):
            return
        values = [bool(cell.strip()) for cell in row.cells]
        spare = any(values[len(self._named) :])
        nameless = any(value and not name for value, name in zip(values, self._named, strict=False))
        if is_outside or spare or (nameless and not (self._is_numbered and row.cells[0].strip().isdecimal())):
            word = "row" if isinstance(row, RowCells) else "line"
            raise InvalidInput(
                f"has {sum(values):,} values in {word} {row.line:,}, but {sum(self._named):,} of the columns have "
                f"names in {word} {self._line:,}; its first row has to name every column, without titles above it"
            )


class _SheetTable:
    """The rows of a sheet of a workbook, of which the first one that is not empty has the names of the columns."""

    header: Sequence[str]

    def __init__(self, document: Document, blocks: Sequence[Block]) -> None:
        self._document, self._blocks = document, blocks
        first = next(self._all(), RowCells(0, [], []))
        self._first_column = next((at for at, cell in enumerate(first.cells) if cell.strip()), 0)
        self._names = _ColumnNames(self._cut(first))
        self.header = self._names.header

    def place_of(self, name: str) -> int:
        return self._names.place_of(name)

    def rows(self, budget: Budget) -> Iterator[Row]:
        rows = self._all()
        next(rows, None)
        for number, row in enumerate(rows):
            if number % _ROWS_AT_ONCE == 0:
                budget.left()
            cut = self._cut(row)
            self._names.check(cut, is_outside=not is_blank(row.cells[: self._first_column]))
            yield cut

    def _cut(self, row: RowCells) -> RowCells:
        """Without the columns to the left of the header."""
        first = self._first_column
        return row._replace(cells=row.cells[first:], stored=row.stored[first:])

    def _all(self) -> Iterator[RowCells]:
        """A row with long gaps has several blocks."""
        line, cells, stored = 0, list[str](), list[str]()
        for block in self._blocks:
            address = address_in(block.anchor)
            if address is None:
                continue
            if address.row != line:
                if not is_blank(cells):
                    yield RowCells(line, cells, stored)
                line, cells, stored = address.row, [], []
            cells += [""] * (address.column - 1 - len(cells))
            stored += [""] * (address.column - 1 - len(stored))
            texts = self._document.text[block.start : block.end].split("\t")
            cells += texts
            if block.stored == NOT_KEPT:
                stored += [NOT_KEPT] * len(texts)
            else:
                stored += block.stored.split(" ") if block.stored else [""] * len(texts)
        if not is_blank(cells):
            yield RowCells(line, cells, stored)


def _sheet_of(document: Document, wanted: Sequence[str], name: str | None) -> _SheetTable:
    if not format_of(document.layout.format).has_tables:
        raise InvalidInput("has no tables; read_file shows it")
    blocks = dict[str, list[Block]]()
    for block in document.layout.blocks:
        if block.kind is BlockKind.ROW and (address := address_in(block.anchor)):
            blocks.setdefault(address.sheet, []).append(block)
    named = in_short(list(blocks)) or "none"
    if name is not None:
        found = next((one for one in blocks if not name or caseless(one) == caseless(name)), None)
        if found is None:
            raise InvalidInput(f"has no sheet {quoted(name)} with rows; it has {named}")
        return _SheetTable(document, blocks[found])
    sheets = {one: _SheetTable(document, rows) for one, rows in blocks.items()}
    fitting = [one for one, sheet in sheets.items() if set(wanted) <= set(sheet.header)]
    if len(fitting) == 1 or (sheets and not fitting):
        return sheets[fitting[0]] if fitting else next(iter(sheets.values()))
    what = f"with the column {quoted(wanted[0])}" if wanted else "with rows"
    raise InvalidInput(f"has {len(fitting):,} sheets {what}, of which one is needed; it has {named}")


def in_short(names: Sequence[str]) -> str:
    return ", ".join(name[:80] for name in names[:_LISTED_NAMES]) + (", …" if len(names) > _LISTED_NAMES else "")


def _filled(text: str, separator: str) -> Iterator[CsvRow]:
    # Blank lines at the beginning are left out at once: row by row a million of them take a second.
    body = text.lstrip("\r\n")
    before = text.count("\n", 0, len(text) - len(body))
    return (row._replace(line=before + row.line) for row in rows_in(body, separator) if not is_blank(row.cells))
