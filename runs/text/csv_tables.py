"""CSV texts. The whole product reads them here, so that a check, a tool, a page and a spreadsheet see the same rows.

| in the text | read as |
|---|---|
| `a,b` `a;b` `a⇥b` | two cells; which separator it is, most rows decide |
| `sep=|` in the first line | the separator, and no row |
| `"a,b"` `"a⏎b"` `"a ""b"" c"` | one cell each |
| `a,b␍1,2` | two rows, where no line ends otherwise |
| `5" pipe,3` | a quotation mark inside a cell is a character |
| `"a"b` | refused: text behind a closing quotation mark |
| `"a,b` up to the end of the text | refused with the line in which the quotation mark opens |

Linear in the length of the text, in little memory however long it is.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from runs.text.sentences import lines_in

MAX_ROW_CHARACTERS = 1_000_000
"""Characters of one row, or of the header with the lines before it."""
SEPARATORS = ",;\t"
_SAMPLE_CHARACTERS = 50_000  # that decide which separator a file has
_SAMPLE_ROWS = 100
_DIRECTIVE = re.compile(r'\ufeff?"?sep=([^\w\s"]|\t)"?[ \t]*(?:\r?\n|\r|\Z)', re.IGNORECASE)


def is_csv(path: str) -> bool:
    """Whether a file of this name is a table of texts."""
    return path.lower().endswith((".csv", ".tsv", ".tab"))


class NotCsv(ValueError):
    """A text is not CSV. The message continues a sentence that begins with the name of the file."""


class CsvRow(NamedTuple):
    """The cells of a row as they are written. `line`: the line in which it ends, counted from 1."""

    line: int
    cells: list[str]


def rows_in(text: str, separator: str = "", *, max_characters: int = MAX_ROW_CHARACTERS) -> Iterator[CsvRow]:
    """All rows, also empty ones. Raises NotCsv at a place that cannot be read, or for a row that is too long."""
    directive = _DIRECTIVE.match(text)
    separator = directive[1] if directive else separator or separator_of(text)
    lines = _Lines(text, max_characters)
    if directive:
        next(lines)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    while True:
        lines.begin_row()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise NotCsv(lines.problem(separator, str(error))) from error
        if cells is None:
            return
        yield CsvRow(lines.number, cells)


def separator_of(text: str, wanted: Sequence[str] = ()) -> str:
    """The separator with which the first row has most of the `wanted` names, and then most rows have as many cells as
    the first; a text in which no separator makes columns has a comma.
    """
    if directive := _DIRECTIVE.match(text):
        return directive[1]
    # Blank lines are left out at once: row by row a million of them take a second, for each separator.
    sample = _with_line_feeds(text[: _SAMPLE_CHARACTERS * 20]).lstrip("\ufeff\r\n")[:_SAMPLE_CHARACTERS]
    return max(SEPARATORS, key=lambda separator: _fitness(sample, separator, wanted))


def records_in(text: str) -> Iterator[dict[str, str]]:
    """Each row below the first by the names in the first, as far as it has names. Raises NotCsv like `rows_in`."""
    rows = (row.cells for row in rows_in(text) if not is_blank(row.cells))
    names = next(rows, [])
    for cells in rows:
        yield dict(zip(names, cells, strict=False))


def is_blank(cells: Sequence[str]) -> bool:
    return not any(cell and not cell.isspace() for cell in cells)


def _fitness(sample: str, separator: str, wanted: Sequence[str]) -> tuple[int, float, float, int]:
    reader = csv.reader((f"{line}\n" for line in lines_in(sample)), delimiter=separator)
    rows = list[list[str]]()
    with suppress(csv.Error):  # what was read before it decides
        rows.extend(islice((row for row in reader if not is_blank(row)), _SAMPLE_ROWS))
    if len(sample) == _SAMPLE_CHARACTERS and len(rows) > 1:
        rows.pop()  # it may be cut
    if not rows:
        return 0, 0.0, 0.0, 1
    header = rows[0]
    widths = Counter(map(len, rows))
    width, count = max(widths.items(), key=lambda one: (one[1], one[0]))
    return (
        len({name.strip() for name in header} & set(wanted)),
        widths[len(header)] / len(rows) if len(header) > 1 else 0.0,
        count / len(rows) if width > 1 else 0.0,
        len(header),
    )


def _with_line_feeds(text: str) -> str:
    """The text with line feeds: old Mac programs end lines with carriage returns alone."""
    return text.replace("\r", "\n") if "\r" in text and "\n" not in text else text


class _Lines(Iterator[str]):
    """The lines of a text for the reader. It remembers those of the current row."""

    def __init__(self, text: str, max_characters: int) -> None:
        self._lines = (f"{line}\n" for line in lines_in(_with_line_feeds(text).removeprefix("\ufeff")))
        self._max = max_characters
        self._row: list[str] = []
        self._taken = self.number = 0

    def begin_row(self) -> None:
        self._row, self._taken = [], 0

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        self._taken += len(line)
        self._row.append(line)
        if self._taken > self._max:
            raise csv.Error("too long")
        return line

    def problem(self, separator: str, error: str) -> str:
        opened = self._open_quotation(separator)
        if self._taken > self._max or "field limit" in error:
            what, most = ("row", self._max) if self._taken > self._max else ("cell", csv.field_size_limit())
            where = f"; close the quotation mark that opens in line {opened:,}" if opened else f", line {self.number:,}"
            return f"has a {what} of more than {most:,} characters{where}"
        if opened:
            return f"ends inside a quotation mark that opens in line {opened:,}; close it"
        if "expected after" in error:
            return f"has text behind a closing quotation mark in line {self.number:,}; double the marks inside a cell"
        if "new-line" in error:
            fix = "put the cell into quotation marks, or end lines with LF"
            return f"has a carriage return inside line {self.number:,}; {fix}"
        return f"is not valid CSV: {error}, line {self.number:,}"

    def _open_quotation(self, separator: str) -> int:
        """The line of a quotation mark in the row that nothing closes; 0 if there is none."""
        opened, begins = 0, True
        for number, line in enumerate(self._row, self.number - len(self._row) + 1):
            at = 0
            while at < len(line):
                if opened:
                    end = line.find('"', at)
                    if end < 0:
                        break
                    at = end + 1
                    if line[at : at + 1] == '"':
                        at += 1
                    else:
                        opened, begins = 0, False
                elif begins and line[at] == '"':
                    opened, at = number, at + 1
                else:
                    end = line.find(separator, at)
                    if end < 0:
                        break
                    at, begins = end + 1, True
        return opened
