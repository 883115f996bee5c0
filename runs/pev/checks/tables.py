"""CSV files, row by row: any of the usual separators, in little memory however long a file or a row is."""

import csv
from collections.abc import Iterator, Sequence

from runs.errors import InvalidInput
from runs.pev.texts.patterns import Budget
from runs.pev.texts.wording import quoted
from runs.text.normalisation import place_among

MAX_ROW_CHARACTERS = 1_000_000
"""Of one row, or of the header with what lies before it."""
_PIECE = 250_000
_ROWS_AT_ONCE = 1_000
"""After so many rows the clock is looked at."""
_LISTED_NAMES = 20


class Table:
    """The rows of a CSV text. `header`: the names in its first row that is not empty, trimmed; none if there is no such
    row. The separator is the one with which the header has most of the `wanted` columns.
    """

    def __init__(self, text: str, wanted: Sequence[str] = ()) -> None:
        self._text = text
        found = [(_header(text, separator), separator) for separator in ",;\t"]
        self.header, self._separator = max(
            found, key=lambda one: (len(set(one[0]) & set(wanted)), len(one[0])), default=([], ",")
        )

    def column(self, name: str, budget: Budget) -> Iterator[tuple[int, str]]:
        """Each row's line, where it ends, and its trimmed value in the column; empty where the row is too short.

        Raises InvalidInput where there is no such column, and like `rows`.
        """
        at = place_among(name, self.header)
        if at < 0:
            raise InvalidInput(f"has no column {quoted(name)}; it has {in_short(self.header) or 'no header row'}")
        for line, row in self.rows(budget):
            yield line, row[at].strip() if at < len(row) else ""

    def rows(self, budget: Budget) -> Iterator[tuple[int, list[str]]]:
        """The rows after the header that are not empty, each with the line in which it ends.

        Raises InvalidInput with a part of a sentence for what is no CSV, TooSlow when the budget is used up.
        """
        rows = _rows(self._text, self._separator)
        next(rows, None)
        for number, (line, row) in enumerate(rows):
            if number % _ROWS_AT_ONCE == 0:
                budget.left()
            yield line, row


def in_short(names: Sequence[str]) -> str:
    return ", ".join(name[:80] for name in names[:_LISTED_NAMES]) + (", …" if len(names) > _LISTED_NAMES else "")


def _header(text: str, separator: str) -> list[str]:
    # Empty lines are left out at once: row by row a million of them take a second, for each separator.
    beginning = text[:MAX_ROW_CHARACTERS].lstrip("\n")
    try:
        _, row = next(_rows(beginning, separator), (0, []))
    except InvalidInput:
        return []
    return [name.strip() for name in row]


def _rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty."""
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=separator)
    try:
        for row in reader:
            lines.taken = 0
            if any(value.strip() for value in row):
                yield reader.line_num, row
    except csv.Error as error:
        raise InvalidInput(f"is not valid CSV: {error}, line {reader.line_num}") from error


class _Lines(Iterator[str]):
    """The lines of a text, piece by piece. `taken`: characters since somebody last set it to 0."""

    def __init__(self, text: str) -> None:
        self._lines = (f"{line}\n" for line in lines_in(text))
        self.taken = 0

    def __next__(self) -> str:
        line = next(self._lines)
        self.taken += len(line)
        if self.taken > MAX_ROW_CHARACTERS:
            raise InvalidInput(f"has a row of more than {MAX_ROW_CHARACTERS:,} characters; close its quotation marks")
        return line


def lines_in(text: str) -> Iterator[str]:
    """`text.split("\\n")` without a last empty line, piece by piece: a list of all takes many times the memory."""
    rest = list[str]()
    for start in range(0, len(text), _PIECE):
        first, *lines = text[start : start + _PIECE].split("\n")
        rest.append(first)
        if lines:
            yield "".join(rest)
            yield from lines[:-1]
            rest = lines[-1:]
    if any(rest):
        yield "".join(rest)
