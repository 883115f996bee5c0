"""The text of a workbook, row by row, within its limits."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from runs.documents.formats.building import MAX_BLOCKS, Builder
from runs.documents.formats.xlsx.cells import MAX_CELLS, Enough, Row
from runs.documents.formats.xlsx.comments import Comment
from runs.documents.model.layout import NOT_KEPT, BlockKind, MarkKind
from runs.documents.model.sheets import Address, column_of, named

MAX_TEXT_BYTES = 10_000_000
MAX_STORED = 6_000_000
"""Characters of what cells hold behind what they show; of the rows that come later it is not kept."""
MAX_GAP = 20
"""Empty cells between two others of a row; behind a longer gap another block begins."""
MAX_MARKS = 100_000
_MAX_COLUMN_RANGES = 1_000


class Sheet(NamedTuple):
    name: str
    part: str
    hidden: bool


class Text:
    """The text of a workbook as it grows. Raises Enough before it becomes too long."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._left_bytes, self._left_blocks, self._left_marks = MAX_TEXT_BYTES, MAX_BLOCKS, MAX_MARKS
        self._left_stored = MAX_STORED

    def begin(self, sheet: Sheet, comments: dict[int, list[Comment]]) -> None:
        self._sheet, self._comments = sheet, comments
        self._start: int | None = None
        self._row = self._column_ranges = 0
        self._hidden_columns: set[int] = set()
        self._hidden_rows: tuple[int, int] | None = None

    def hide(self, first: int, last: int) -> None:
        """Columns that are not shown."""
        self._column_ranges += 1
        if self._column_ranges <= _MAX_COLUMN_RANGES:
            self._hidden_columns.update(range(first, last + 1))

    def take(self, row: Row) -> None:
        """One row with all that belongs to it."""
        self._add_name()
        start = self.builder.begin()
        for columns in _segments(list(row.texts)):
            self._add_cells(row, columns)
        if row.formulas:
            lines = [f"{column_of(column)}{row.number}: {formula}" for column, formula in row.formulas.items()]
            self._add(
                self._named(row.number, next(iter(row.texts or row.formulas))), BlockKind.FORMULAS, "\n".join(lines)
            )
        self._row = row.number
        if not row.hidden:
            self._end_hidden_rows()
        else:
            begun = self._hidden_rows[0] if self._hidden_rows else start
            self._hidden_rows = begun, self.builder.begin() - 1
        self._add_comments(row.number)

    def end(self) -> None:
        """After the last row: comments on rows without cells, and that the whole sheet is hidden."""
        self._end_hidden_rows()
        for row in sorted(self._comments):
            self._add_comments(row)
        self.close()

    def close(self) -> None:
        """As far as the sheet has come."""
        self._end_hidden_rows()
        if self._sheet.hidden and self._start is not None:
            self.builder.mark(MarkKind.HIDDEN, self._start, self.builder.begin() - 1, note="hidden sheet")

    def note_the_rest(self, others: int) -> None:
        """Say how far the workbook was read."""
        read = f"was read up to row {self._row:,}" if self._row else "was not read"
        more = f", nor were the {others:,} after it" if others else ""
        self.builder.note(
            f"Sheet “{self._sheet.name}” {read}{more}: at most {MAX_CELLS:,} cells, {MAX_BLOCKS:,} rows and "
            f"{MAX_TEXT_BYTES // 1_000_000} MB of text of a workbook are read."
        )

    def _add_name(self) -> None:
        if self._start is None:
            self._start = self.builder.begin()
            sheet = self._named(1, 1).removesuffix("A1")
            self._add(f"{sheet}name", BlockKind.HEADING, self._sheet.name, level=1)

    def _add(
        self, anchor: str, kind: BlockKind, text: str, *, label: str = "", level: int = 0, stored: str = ""
    ) -> int:
        """Where the block begins."""
        self._left_bytes -= len(text.encode(errors="replace")) + 1
        self._left_blocks -= 1
        if self._left_bytes < 0 or self._left_blocks < 0:
            raise Enough
        return self.builder.add(anchor, kind, text, label=label, level=level, stored=stored).start

    def _add_cells(self, row: Row, columns: Sequence[int]) -> None:
        """Cells with at most MAX_GAP empty ones between two of them."""
        first, last = columns[0], columns[-1]
        texts = [row.texts.get(column, "") for column in range(first, last + 1)]
        if sum(map(len, texts)) > self._left_bytes:  # before they are joined: cells share strings
            raise Enough
        stored = self._stored(row, range(first, last + 1))
        start = self._add(self._named(row.number, first), BlockKind.ROW, "\t".join(texts), stored=stored)
        if not self._hidden_columns.isdisjoint(columns):
            self._mark_columns(start, first, texts)
        if row.number in self._comments:
            self._mark_commented(start, first, texts, row.number)

    def _stored(self, row: Row, columns: Sequence[int]) -> str:
        """What these cells hold, as a block of the row has it."""
        if not row.stored or row.stored.keys().isdisjoint(columns):
            return ""
        stored = " ".join(row.stored.get(column, "") for column in columns)
        self._left_stored -= len(stored)
        return stored if self._left_stored >= 0 else NOT_KEPT

    def _mark_columns(self, start: int, first: int, texts: Sequence[str]) -> None:
        for column, (at, text) in enumerate(_places(start, texts), first):
            if column in self._hidden_columns and text:
                self._mark(MarkKind.HIDDEN, at, at + len(text), note="hidden column")

    def _mark_commented(self, start: int, first: int, texts: Sequence[str], row: int) -> None:
        comments = {one.column: one for one in reversed(self._comments[row])}
        for column, (at, text) in enumerate(_places(start, texts), first):
            if one := comments.get(column):
                self._mark(
                    MarkKind.COMMENTED, at, at + len(text), by=one.by, on=one.on, note=self._comment(row, column, 1)
                )

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

    def _named(self, row: int, column: int) -> str:
        return named(Address(self._sheet.name, column, row, column, row))

    def _comment(self, row: int, column: int, number: int) -> str:
        return f"{self._named(row, column)}.cm{number}"


def _segments(columns: Sequence[int]) -> Iterator[Sequence[int]]:
    """Cut where more than MAX_GAP cells are empty."""
    begun = 0
    if columns and columns[-1] - columns[0] > len(columns) + MAX_GAP - 1:  # else no gap can be that long
        for at in range(1, len(columns)):
            if columns[at] - columns[at - 1] > MAX_GAP + 1:
                yield columns[begun:at]
                begun = at
    if columns:
        yield columns[begun:]


def _places(start: int, texts: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Each text with where it begins, as they are joined by tabs."""
    for text in texts:
        yield start, text
        start += len(text) + 1
