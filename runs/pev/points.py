"""Finds the points of a text in bounded time: list items and table rows in Markdown, CSV and TSV."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from runs.errors import InvalidInput
from runs.evidence.citations.citing import is_markdown
from runs.pev.checks.tables import CsvTable
from runs.text.csv_tables import is_csv
from runs.text.patterns import Budget
from runs.text.truncate import cut_after

MAX_COLUMNS = 12
MAX_CELL = 400
"""Characters. A longer cell is cut where it is shown, and in the request that quotes it."""
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])\s+(?=\S)")
_LINK = re.compile(r"\[([^\[\]]*)\]\((?:<[^<>]*>|[^()<>]*)\)")
_MARKS = re.compile(r"(?<!\w)(?:\*{1,3}|_{1,3})|(?:\*{1,3}|_{1,3})(?!\w)|`+|~~")
_COLUMN_MARK = re.compile(r":?-+:?")
_SEPARATOR = re.compile(r"(?<!\\)\|")


type Row = tuple[str, ...]
"""A key that two rows, or an item and a row, share if they say the same."""


@dataclass(frozen=True)
class RowTable:
    """The header, and rows with as many cells. `start` and `end` are its lines in Markdown; `body` is the first line of
    the rows.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    start: int = 0
    body: int = 0
    end: int = 0


def items_in(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yields the first and last line of each top-level item, including the indented lines that belong to it."""
    fence, start = "", None
    for number, line in enumerate(lines):
        opened = FENCE.match(line)
        if opened and (not fence or opened[1].startswith(fence)):
            fence = "" if fence else opened[1]
        inside = fence or (opened and start is None)
        begins = not inside and ITEM.match(line) is not None
        if start is not None and (begins or (line.strip() and not line.startswith((" ", "\t")))):
            yield start, number
            start = None
        if begins:
            start = number
    if start is not None:
        yield start, len(lines)


def lines_of_points(path: str, text: str, limit: int) -> list[range]:
    """Returns the lines (from 1) of each item and row of a text: at most `limit`, plus one if there are more."""
    if is_csv(path):
        return [lines for lines, _ in csv_rows(text, limit)]
    lines = text.split("\n")  # numbered like lines in evidence
    spans = [range(start + 1, end + 1) for start, end in islice(items_in(lines), limit + 1)]
    for table in tables_of(lines, limit):
        spans += [range(table.body + row, table.body + row + 1) for row in range(1, 1 + len(table.rows))]
    return spans[: limit + 1]


def sections_of(text: str, limit: int) -> list[range]:
    """Returns the lines (from 1) of each section with the deepest headings of a Markdown text, if these are of the
    third level or deeper, such as the findings of a report.
    """
    lines = text.split("\n")
    levels = {
        number: len(line) - len(line.lstrip("#")) for number, line in enumerate(lines, 1) if line.startswith("###")
    }
    deepest = max(levels.values(), default=0)
    heads = [number for number, line in enumerate(lines, 1) if line.startswith("#")]
    ends = dict(pairwise([*heads, len(lines) + 1]))
    return [range(number, ends[number]) for number, level in levels.items() if level == deepest][: limit + 1]


def csv_rows(text: str, limit: int) -> Iterator[tuple[range, Mapping[str, str]]]:
    """Yields the lines (from 1) of each row of a CSV text, and its trimmed cells by column: at most `limit`, plus one
    if there are more. Yields nothing if the text is not a table.
    """
    table = CsvTable(text)
    start = table.header_line + 1
    rows = []
    try:
        for end, cells in islice(table.rows(Budget(math.inf)), limit + 1):
            padded = [*map(str.strip, cells), *([""] * (len(table.header) - len(cells)))]
            rows.append((range(start, end + 1), dict(zip(table.header, padded, strict=False))))
            start = end + 1
    except InvalidInput:
        return iter(())
    return iter(rows)


def tables_in(path: str, text: str, limit: int) -> Iterable[RowTable]:
    """Returns the tables of a file, each with at most `limit` rows plus one. Empty for other kinds of files."""
    if is_csv(path):
        # The number of characters is limited, not the time: if rows were missing, a row number would mean another row.
        csv_table = CsvTable(text)
        columns = len(csv_table.header)
        try:
            rows = tuple(_fitted(row, columns) for _, row in islice(csv_table.rows(Budget(math.inf)), limit + 1))
        except InvalidInput:  # a file that is not a table has no rows to decide on
            rows = ()
        return [RowTable(_fitted(csv_table.header, columns), rows)] if len(rows) > 1 else []
    return tables_of(text.splitlines(), limit) if is_markdown(path) else ()


def tables_of(lines: Sequence[str], limit: int, at_least: int = 2) -> Iterator[RowTable]:
    """Yields the tables of a Markdown text that are not indented or in code, and have at least `at_least` rows. A
    single row offers no choice.
    """
    fence, number = "", 0
    while number < len(lines):
        line = lines[number]
        opened = FENCE.match(line)
        if opened and (not fence or opened[1].startswith(fence)):
            fence = "" if fence else opened[1]
        columns = 0 if fence or opened or number + 1 == len(lines) else _columns(line, lines[number + 1])
        if not columns:
            number += 1
            continue
        end = number + 2
        while end < len(lines) and "|" in lines[end] and not ITEM.match(lines[end]) and not FENCE.match(lines[end]):
            end += 1
        body = lines[number + 2 : min(end, number + 3 + limit)]
        rows = tuple(_fitted(_cells(row), columns) for row in body)
        if len(rows) >= at_least:
            yield RowTable(_fitted(_cells(line), columns), rows, number, number + 2, end)
        number = end


def _columns(header: str, marks: str) -> int:
    """Returns the number of columns of the table that begins with these two lines, or 0."""
    if "|" not in header or "-" not in marks or header[:1].isspace() or ITEM.match(header) or ITEM.match(marks):
        return 0
    columns = _cells(marks)
    return len(columns) if all(map(_COLUMN_MARK.fullmatch, columns)) and len(columns) == len(_cells(header)) else 0


def _cells(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _SEPARATOR.split(line)]


def _fitted(cells: Sequence[str], columns: int) -> tuple[str, ...]:
    shown = [*cells, *([""] * (columns - len(cells)))][: min(columns, MAX_COLUMNS)]
    return tuple(cut_after(cell, MAX_CELL) for cell in shown)


def same_row(header: Row, cells: Sequence[str]) -> Row:
    """Returns the names and words that identify a row, or nothing if a cell was cut, because its end is unknown. The
    `header` is already folded.
    """
    return () if any(len(cell) > MAX_CELL for cell in cells) else (*header, *folded_row(cells))


def folded_row(cells: Sequence[str]) -> Row:
    return tuple(map(folded, cells))


def folded(text: str) -> str:
    """Returns the words without Markdown, link targets and line breaks."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", text)).split())
