"""What a spreadsheet would make of a table: cells that it computes instead of showing them."""

import re
from dataclasses import dataclass

from runs.text.csv_tables import NotCsv, is_csv, rows_in
from runs.text.plural import pluralize

MAX_CHARACTERS = 1_000_000
"""Characters of a table that are looked at, which takes half a second."""
_NUMBER = re.compile(r"[+-][\d.,\s%]*")
_SEPARATOR = re.compile(r"[,;\t]")
"""Spreadsheets cut at one of them, which depends on the language that they are set to."""
_STARTS = frozenset("=@\t\r＝＋－＠")


@dataclass(frozen=True)
class Formulas:
    """The number of cells that would be computed. `is_all` is false if only a part of the table was looked at."""

    count: int = 0
    is_all: bool = True

    @property
    def words(self) -> str:
        """`2 cells`, or what is known of a table that was not looked at to its end; empty for none."""
        cells = pluralize(self.count, "cell")
        if self.is_all:
            return cells if self.count else ""
        return f"at least {cells}" if self.count else "perhaps some cells (not all of it was looked at)"


def formulas_in(path: str, text: str) -> Formulas:
    """The cells of a table that begin like a formula; none for other files.

    Pages only say so. The file itself stays as the run wrote it, because checks, quotes and approvals are bound to it.
    """
    if not is_csv(path):
        return Formulas()
    count = 0
    try:
        for row in rows_in(text[:MAX_CHARACTERS]):
            for cell in row.cells:
                # A spreadsheet may cut one cell into several. Text that follows a separator and a space is prose.
                first, *others = _SEPARATOR.split(cell) if cell[:1] not in _STARTS else [cell]
                count += sum(map(_is_formula, [first, *(one for one in others if not one.startswith(" "))]))
    except NotCsv:  # what was counted before the place that cannot be read is true
        return Formulas(count, is_all=False)
    return Formulas(count, is_all=len(text) <= MAX_CHARACTERS)


def _is_formula(cell: str) -> bool:
    start = cell.lstrip(" ")[:1]
    return start in _STARTS if start not in {"+", "-", ""} else bool(start) and not _NUMBER.fullmatch(cell.strip())
