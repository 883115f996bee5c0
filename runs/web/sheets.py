"""How a CSV or TSV file is laid out as a table, some rows and columns at a time."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runs.errors import InvalidInput
from runs.pev.checks.tables import lines_in
from runs.pev.texts.patterns import Budget

MAX_CHARACTERS = 5_000_000
"""Of a text that is laid out at all."""
ROWS = 500
COLUMNS = 60
CELL_CHARACTERS = 300
SECONDS = 1.0
MAX_LINE = 200_000
"""Of a file that is a table; one with longer lines is shown as text."""
_LINES_AT_ONCE = 1_000
"""After so many lines the clock is looked at."""

type _Row = tuple[int, Sequence[str]]
"""The line in which it ends, and its cells."""


@dataclass(frozen=True)
class SheetRow:
    """`line` is where it ends; `hit`: the place that is pointed at is in it."""

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


def is_sheet(path: str) -> bool:
    return path.lower().endswith((".csv", ".tsv"))


def sheet(text: str, first: int = 1, hit_line: int = 0) -> Sheet | None:
    """The page of rows with number `first`, or with the row in line `hit_line`; None for what is no such table, or too
    large for one.
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
    except (csv.Error, InvalidInput):
        return None
    if not header:
        return None
    if not start:
        wanted, start = page, total - (total - 1) % ROWS if total else 1
    columns = max(len(cells) for cells in (header, *(cells for _, cells in wanted)))
    hit = next((line for line, _ in wanted if line >= hit_line > 0), 0)
    return Sheet(
        header=_shown(header),
        rows=tuple(SheetRow(line, _shown(cells), line == hit) for line, cells in wanted),
        first=start,
        total=total,
        columns=columns,
    )


def _rows(text: str) -> Iterator[_Row]:
    """The rows that are not empty. Raises InvalidInput when it takes too long, or for a line that is no row."""
    reader = csv.reader(_lines(text), delimiter=_separator(text))
    for row in reader:
        if any(cell.strip() for cell in row):
            yield reader.line_num, row


def _lines(text: str) -> Iterator[str]:
    budget = Budget(SECONDS)
    for number, line in enumerate(lines_in(text)):
        if number % _LINES_AT_ONCE == 0:
            budget.left()
        if len(line) > MAX_LINE:
            raise InvalidInput(f"has a line of more than {MAX_LINE:,} characters")
        yield f"{line}\n"


def _separator(text: str) -> str:
    """The one that the first line that is not empty has most of."""
    line = text[:MAX_LINE].lstrip().partition("\n")[0]
    return max(",;\t", key=line.count)


def _shown(cells: Sequence[str]) -> tuple[str, ...]:
    return tuple(cell if len(cell) <= CELL_CHARACTERS else f"{cell[:CELL_CHARACTERS]} …" for cell in cells[:COLUMNS])
