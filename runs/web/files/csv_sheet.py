"""How a CSV or TSV file is laid out as a table, some rows and columns at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runs.text.csv_tables import NotCsv, is_blank, rows_in
from runs.text.patterns import Budget, TooSlow
from runs.text.truncate import cut_after

MAX_CHARACTERS = 5_000_000
"""Characters of a text that is shown as a table."""
ROWS = 500
COLUMNS = 60
CELL_CHARACTERS = 300
SECONDS = 1.0
MAX_ROW = 200_000
"""Characters of a row. A file with a longer one is shown as text."""
_ROWS_AT_ONCE = 1_000
"""Rows between two looks at the clock."""

type _Row = tuple[int, Sequence[str]]
"""The line in which it ends, and its cells."""


@dataclass(frozen=True)
class SheetRow:
    """`line` is where the row ends; `hit`: the marked place is in it."""

    line: int
    cells: tuple[str, ...]
    hit: bool


@dataclass(frozen=True)
class Sheet:
    """Rows `first` to `last` of `total`, without the header; `columns` in the widest of these and the header."""

    header: tuple[str, ...]
    rows: tuple[SheetRow, ...]
    first: int
    total: int
    columns: int

    @property
    def cut(self) -> int:
        """How many columns are left out."""
        return max(0, self.columns - COLUMNS)

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1

    @property
    def earlier(self) -> int:
        """The first row of the page before; 0 if there is none."""
        return max(1, self.first - ROWS) if self.first > 1 else 0

    @property
    def later(self) -> int:
        return self.last + 1 if self.last < self.total else 0


def sheet(text: str, first: int = 1, hit_line: int = 0) -> Sheet | None:
    """The page of rows that begins with number `first`, or has the row in line `hit_line`; None if it is no such table,
    or too large.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    page, wanted = list[_Row](), list[_Row]()
    total = start = 0
    try:
        rows = _rows(text)
        _, header = next(rows, (0, []))
        for total, row in enumerate(rows, 1):
            if total % ROWS == 1:
                page = []
            page.append(row)
            if (total == first and not hit_line) or (row[0] >= hit_line > 0 and not start):
                wanted, start = page, total - (total - 1) % ROWS
    except (NotCsv, TooSlow):
        return None
    if not header:
        return None
    if not start:
        wanted, start = page, total - (total - 1) % ROWS if total else 1
    columns = max(len(cells) for cells in (header, *(cells for _, cells in wanted)))
    hit = next((line for line, _ in wanted if line >= hit_line > 0), 0)
    return Sheet(
        header=_cut_cells(header),
        rows=tuple(SheetRow(line, _cut_cells(cells), line == hit) for line, cells in wanted),
        first=start,
        total=total,
        columns=columns,
    )


def _rows(text: str) -> Iterator[_Row]:
    """The rows that are not empty. Raises NotCsv, and TooSlow if it takes too long."""
    budget = Budget(SECONDS)
    for number, row in enumerate(rows_in(text, max_characters=MAX_ROW)):
        if number % _ROWS_AT_ONCE == 0:
            budget.left()
        if not is_blank(row.cells):
            yield row


def _cut_cells(cells: Sequence[str]) -> tuple[str, ...]:
    return tuple(cut_after(cell, CELL_CHARACTERS) for cell in cells[:COLUMNS])
