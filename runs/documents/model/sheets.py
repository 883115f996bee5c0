"""Addresses of cells: `Rents!B7`, `'My sheet'!B2:C9`."""

import re
from functools import lru_cache
from typing import NamedTuple

MAX_COLUMN = 16_384  # XFD
MAX_ROW = 1_048_576
"""The row and column of XFD1048576, the last cell in Excel."""
_ADDRESS = re.compile(
    r"(?:'((?:[^']|'')+)'|([^!]+))!\$?([A-Za-z]{1,3})\$?([0-9]{1,7})(?::\$?([A-Za-z]{1,3})\$?([0-9]{1,7}))?"
)


class Address(NamedTuple):
    """A cell, or a range of cells up to `last_column` and `last_row`. Both count from 1."""

    sheet: str
    column: int
    row: int
    last_column: int
    last_row: int


def address_in(anchor: str) -> Address | None:
    """Returns the cells that an anchor names, or None."""
    found = _ADDRESS.fullmatch(anchor)
    if found is None:
        return None
    quoted, bare, column, row, last_column, last_row = found.groups()
    first = number_of(column), int(row)
    last = (number_of(last_column), int(last_row)) if last_column else first
    if not (1 <= first[0] <= last[0] <= MAX_COLUMN and 1 <= first[1] <= last[1] <= MAX_ROW):
        return None
    return Address(quoted.replace("''", "'") if quoted else bare, *first, *last)


def anchor_of(cell: Address) -> str:
    """Returns the address of the range's first cell as an anchor."""
    sheet = f"'{cell.sheet.replace("'", "''")}'" if "!" in cell.sheet or cell.sheet.startswith("'") else cell.sheet
    return f"{sheet}!{column_of(cell.column)}{cell.row}"


@lru_cache(maxsize=1_024)
def column_of(number: int) -> str:
    """Returns the letters of a column: 1 is A, 27 is AA."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


@lru_cache(maxsize=1_024)
def number_of(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
