"""Tables: the header and rows of CSV files and of workbook sheets, read within a time budget."""

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
"""The clock is checked after this many rows."""
_LISTED_NAMES = 20


class RowCells(NamedTuple):
    """The cells of a sheet's row as they are shown, and the stored value of each cell if it differs. `line` is the
    row's number.
    """

    line: int
    cells: Sequence[str]
    stored: Sequence[str]


type Row = CsvRow | RowCells


class Rows(Protocol):
    """A header and the rows below it. Both methods raise InvalidInput with a clause, `rows` also TooSlow."""

    header: Sequence[str]

    def place_of(self, name: str) -> int: ...

    def rows(self, budget: Budget) -> Iterator[Row]: ...


def table_of(data: bytes, text: str, wanted: Sequence[str] = (), sheet: str | None = None) -> Rows:
    """Returns the table of a file. Raises InvalidInput with a clause.

    In a workbook it is the sheet with this name, or the only one with the `wanted` columns, or the first one if `sheet`
    is empty.
    """
    document = document_of(data)
    return _sheet_of(document, wanted, sheet) if document else CsvTable(text, wanted)


def quantity_in(row: Row, at: int) -> Quantity | None:
    """Returns the number in a cell. In a workbook it is the stored number, not the one shown."""
    shown = row.cells[at].strip() if at < len(row.cells) else ""
    stored = row.stored[at] if isinstance(row, RowCells) else ""
    if stored == NOT_KEPT:
        raise InvalidInput(f"has too many formatted numbers: what row {row.line:,} holds is not kept; split the file")
    return stored_quantity(shown, stored if stored != "=" else shown) if stored else quantity(shown)


def add_to(figures: Figures, row: Row, at: int) -> None:
    """Adds a cell unless it is empty. Raises InvalidInput if it is not a number, or has another unit."""
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
    """The rows of a CSV text.

    `header`: the trimmed names in the first row that is not empty. The separator is the one with which the header has
    most of the `wanted` columns.
    """

    header: Sequence[str]

    def __init__(self, text: str, wanted: Sequence[str] = ()) -> None:
        self._text = text
        self._separator = separator_of(text, wanted)
        try:
            first = next(_filled(text, self._separator), CsvRow(0, []))
        except NotCsv:  # reported when its rows are read
            first = CsvRow(0, [])
        self._names = _ColumnNames(first)
        self.header = self._names.header
        self.header_line = first.line

    def place_of(self, name: str) -> int:
        """Returns the number of a column. Raises InvalidInput if there is no such column, or several."""
        return self._names.place_of(name)

    def column(self, name: str, budget: Budget) -> Iterator[tuple[int, str]]:
        """Yields the last line of each row and its trimmed value in the column, empty if the row is too short.

        Raises InvalidInput if there is no such column, and like `rows`.
        """
        at = self._names.header.index(name) if name in self.header else self.place_of(name)
        for line, row in self.rows(budget):
            yield line, row[at].strip() if at < len(row) else ""

    def rows(self, budget: Budget) -> Iterator[CsvRow]:
        """Yields the non-empty rows after the header, each with its last line.

        Raises InvalidInput with a clause if the text is not CSV, or if a row has a value in a column without a name:
        then the header is probably a title, and the rows would be miscounted. Raises TooSlow if the budget is used up.
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
        """Only the first column has no name, as when programs write row numbers there."""

    def place_of(self, name: str) -> int:
        at = place_among(name, self.header)
        if at < 0:
            raise InvalidInput(f"has no column {quoted(name)}; it has {in_short(self.header) or 'no header row'}")
        if self.header.count(self.header[at]) > 1:
            raise InvalidInput(f"has several columns {quoted(name)}")
        return at

    def check(self, row: Row, *, is_outside: bool = False) -> None:
        """Raises InvalidInput for a value in a column without a name, or left of the header (`is_outside`), because the
        header may then be a title.
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
    """The rows of a workbook sheet. The first non-empty row has the names of the columns."""

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
        """Returns the row without the columns left of the header."""
        first = self._first_column
        return row._replace(cells=row.cells[first:], stored=row.stored[first:])

    def _all(self) -> Iterator[RowCells]:
        """Yields all rows. A row with long gaps consists of several blocks."""
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
    # Blank lines at the beginning are skipped at once: row by row, a million of them take a second.
    body = text.lstrip("\r\n")
    before = text.count("\n", 0, len(text) - len(body))
    return (row._replace(line=before + row.line) for row in rows_in(body, separator) if not is_blank(row.cells))
