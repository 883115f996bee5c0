"""The tool that counts: rows of CSV files and sheets selected, grouped and added up, so that no figure is guessed.

A query names columns and never computes with words of its own: SQL would let a model write any text into a result that
counts as shown by the file.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from runs.contracts.base import Contract
from runs.contracts.ports import Shown, ToolResult
from runs.enums import Effect
from runs.errors import InvalidInput
from runs.pev.checks.tables import Row, Rows, add_to, quantity_in, table_of
from runs.pev.read_set import ReadTracker
from runs.pev.tools.file_access import FilePath, content_at, fitting, lines_of
from runs.pev.tools.tool import Results, Tool, ToolContext
from runs.text.dates import Moment, Moments, NotDates, moment
from runs.text.normalisation import caseless, spelled
from runs.text.paths import clean_path
from runs.text.patterns import Budget, TooSlow
from runs.text.plural import pluralize
from runs.text.quantities import Figures, Quantity, Unlike, quantity
from runs.text.truncate import quoted, truncate_line

MAX_SECONDS = 10.0
"""For reading: some 300,000 rows with two conditions."""
MAX_GROUPS = 10_000
MAX_VALUE = 200
"""Characters of a value that are shown."""
_Column = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class Condition(Contract):
    """What rows have to meet; capitals do not count."""

    column: _Column
    test: Literal["=", "!=", "<", "<=", ">", ">=", "contains", "empty", "not empty"]
    value: Annotated[str, StringConstraints(max_length=500)] = ""


class Compute(Contract):
    """`column` is empty for a count of rows."""

    of: Literal["count", "distinct", "sum", "average", "min", "max"]
    column: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = ""

    @property
    def title(self) -> str:
        return f"{self.of} of {self.column}" if self.column else "rows"


class ReadTable(Tool):
    name = "table"
    effect = Effect.READS_FILES
    results = Results.FINDINGS
    description = (
        "Selects, counts and adds up rows of a CSV file or of a sheet of a workbook, whose first row has the names of "
        "the columns. With compute it gives figures for each group (for all rows together without group_by), else the "
        "chosen columns of the rows."
    )

    path: FilePath
    sheet: Annotated[str, StringConstraints(max_length=100), Field(description="Of a workbook; the first if empty")] = (
        ""
    )
    where: Annotated[list[Condition], Field(max_length=10, description="All of these have to hold")] = []
    group_by: Annotated[list[_Column], Field(max_length=5)] = []
    compute: Annotated[list[Compute], Field(max_length=10)] = []
    columns: Annotated[list[_Column], Field(max_length=30, description="Shown of each row; all if empty")] = []
    decimal_mark: Annotated[Literal["", ".", ","], Field(description="Where numbers can be read in two ways")] = ""
    limit: Annotated[int, Field(ge=1, le=500, description="Rows or groups that are shown")] = 100

    def run(self, context: ToolContext) -> ToolResult:
        workspace, limits = context.workspace, context.limits
        path = clean_path(self.path)
        data, text = content_at(workspace, path)
        try:
            lines = self._lines(table_of(data, text, sheet=self.sheet), Budget(MAX_SECONDS))
        except TooSlow as error:
            raise InvalidInput(f"{path} was not read to its end: {error}. Use fewer conditions or columns.") from error
        except InvalidInput as error:
            raise InvalidInput(f"{path} {error}.") from error
        head = f"{path}{f', sheet {self.sheet}' if self.sheet else ''}: {lines[0]}"
        fit = lines[1 : 1 + fitting(lines[1:], limits.result_chars - len(head))]
        left = [f"[{len(lines) - 1 - len(fit)} more do not fit; choose fewer]"] if len(fit) < len(lines) - 1 else []
        shown = "\n".join([head, *fit])
        # The conditions stand behind what the file shows: their values are words of the model.
        tests = [f"{one.column} {one.test} {one.value}".strip() for one in self.where]
        asked = [f"[where {' and '.join(truncate_line(test, MAX_VALUE) for test in tests)}]"] if tests else []
        info = workspace.files()[path]
        part = Shown(path, info.sha256, 0, len(shown), 1, 0, len(lines_of(text)))  # pieces of its lines, none whole
        return ToolResult("\n".join([shown, *left, *asked]), shown=(part,))

    def looks_at(self, looks: ReadTracker) -> None:
        looks.file(clean_path(self.path))

    def _lines(self, table: Rows, budget: Budget) -> list[str]:
        """Returns the number of rows, the headings, and the requested rows or groups."""
        names = self.columns or [name for at, name in enumerate(table.header) if name or at == 0]
        places = self._places(table)
        shown, grouped = [places[name] for name in names], [places[name] for name in self.group_by]
        tests = self._tests(table, places, budget)
        marks = {places[one.column]: _Marks() for one in self.compute if one.of in CALCULATED}
        listed, groups = list[str](), dict[tuple[str, ...], _RowGroup]()
        if self._computed and not self.group_by:
            groups[()] = _RowGroup([], self._computed, places)
        total = chosen = 0
        for row in table.rows(budget):
            total += 1
            for at, mark in marks.items():
                mark.add(row, at)
            if not all(holds(row) for holds in tests):
                continue
            chosen += 1
            if self._computed:
                values = [_text(row, at) for at in grouped]
                key = tuple(map(spelled, values))
                if key not in groups and len(groups) == MAX_GROUPS:
                    raise InvalidInput(f"has more than {MAX_GROUPS:,} groups; group by something else")
                if key not in groups:
                    groups[key] = _RowGroup(values, self._computed, places)
                groups[key].add(row)
            elif chosen <= self.limit:
                listed.append("\t".join(truncate_line(_text(row, at), MAX_VALUE) for at in shown))
        many = f"{chosen:,} of {total:,} rows"
        if not self._computed:
            return [f"{many}{_cut_note(chosen, self.limit)}", "\t".join(names), *listed]
        heads = "\t".join([*self.group_by, *(one.title for one in self._computed)])
        fixed = {at: self.decimal_mark or mark.one for at, mark in marks.items()}
        figures = [
            "\t".join([*(truncate_line(name, MAX_VALUE) for name in group.names), *group.results(fixed)])
            for group in sorted(groups.values(), key=lambda group: tuple(group.names))[: self.limit]
        ]
        count = f", {pluralize(len(groups), 'group')}" if self.group_by else ""
        return [f"{many}{count}{_cut_note(len(groups), self.limit)}", heads, *figures]

    @property
    def _computed(self) -> Sequence[Compute]:
        """Groups without requested figures are counted."""
        return self.compute or ([Compute(of="count")] if self.group_by else [])

    def _places(self, table: Rows) -> dict[str, int]:
        """Returns the number of each column, by its name in the header and by the name in the query."""
        if any(one.of not in {"count"} and not one.column for one in self.compute):
            raise InvalidInput("was not read: say the column of every figure but a count of rows")
        named = [*self.group_by, *self.columns, *(one.column for one in self.where)]
        named += [one.column for one in self.compute if one.column]
        of_header = {name: at for at, name in reversed(list(enumerate(table.header)))}
        return of_header | {name: table.place_of(name) for name in named}

    def _tests(self, table: Rows, places: Mapping[str, int], budget: Budget) -> Sequence[Callable[[Row], bool]]:
        """Returns a test for each condition. It reads the whole column first, because that determines how its numbers
        and dates are read.
        """
        columns = dict[int, _ComparedColumn]()
        for one in self.where:
            if one.test in _COMPARED and (kind := _compared_as(one)):
                columns.setdefault(places[one.column], _ComparedColumn(self.decimal_mark)).kinds.add(kind)
        if columns:
            for row in table.rows(budget):
                for at, column in columns.items():
                    column.add(row, at)
        return [_test(one, places[one.column], columns.get(places[one.column])) for one in self.where]


CALCULATED = frozenset({"sum", "average", "min", "max"})
_COMPARED = frozenset({"=", "!=", "<", "<=", ">", ">="})


def _compared_as(one: Condition) -> str:
    """Whether the value of a condition is a number or a date, or empty if it is text."""
    if _number(one):
        return "number"
    return "date" if moment(one.value.strip()) else ""


def _number(one: Condition) -> Quantity | None:
    """Returns the number of a condition, or None if it is text, as 007 is for `=`."""
    wanted = quantity(one.value.strip())
    is_name = wanted is not None and wanted.has_leading_zero and one.test in {"=", "!="}
    return None if is_name else wanted


def _test(one: Condition, at: int, column: "_ComparedColumn | None") -> Callable[[Row], bool]:
    """Returns a function that tests rows. `column`: what is known of the column if numbers or dates are compared."""
    key = caseless(one.value.strip())
    match one.test:
        case "empty" | "not empty":
            return lambda row: (not _text(row, at)) == (one.test == "empty")
        case "contains":
            return lambda row: key in caseless(_text(row, at))
        case "=" | "!=":
            equals = column.equals(one) if column and _compared_as(one) else lambda row, at: False
            return lambda row: (caseless(_text(row, at)) == key or equals(row, at)) == (one.test == "=")
        case test:
            compare = column.order(one) if column and _compared_as(one) else _order_of_texts(one)
            holds = _ORDERS[test]
            return lambda row: (order := compare(row, at)) is not None and holds(order)


_ORDERS: Mapping[str, Callable[[int], bool]] = {
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}


def _order_of_texts(one: Condition) -> Callable[[Row, int], int | None]:
    """Compares texts. The function returns None if there is no value, or a number. It raises InvalidInput if digits
    would not sort like letters.
    """
    wanted = one.value.strip()
    shape = _shape(wanted)

    def compare(row: Row, at: int) -> int | None:
        value = _text(row, at)
        if not value or quantity(value):
            return None
        if any(map(str.isdecimal, value)) and any(map(str.isdecimal, wanted)) and not _sorts(_shape(value), shape):
            raise _not_filtered(one, f"{quoted(value)} and {quoted(wanted)} do not sort by their letters")
        return (value > wanted) - (value < wanted)

    return compare


def _not_filtered(one: Condition, why: str) -> InvalidInput:
    return InvalidInput(f"is not filtered: {quoted(one.column)} cannot be compared with {quoted(one.value)}: {why}")


_DIGIT = re.compile(r"\d")
_SORTED_SHAPES = re.compile(r"\D*0+\D*|0000\D.*|00:00(?::00)?", re.DOTALL)
"""One number, a year at the beginning, or a time of day."""


def _shape(text: str) -> str:
    return _DIGIT.sub("0", text)


def _sorts(shape: str, other: str) -> bool:
    """Whether texts of these shapes, in which 0 stands for any digit, sort correctly as text: v1.10 and v1.9 do not."""
    return shape == other and _SORTED_SHAPES.fullmatch(shape) is not None


def _text(row: Row, at: int) -> str:
    return row.cells[at].strip() if at < len(row.cells) else ""


class _Marks:
    """The decimal mark that the numbers of a column imply, including rows that are not selected."""

    def __init__(self) -> None:
        self._only = dict[str, None]()

    def add(self, row: Row, at: int) -> None:
        found = quantity_in(row, at) if _text(row, at) else None
        if found and len(found.values) == 1:
            self._only.update(dict.fromkeys(found.values))

    @property
    def one(self) -> str:
        return next(iter(self._only)) if len(self._only) == 1 else ""


class _ComparedColumn:
    """The numbers and dates of a column that conditions compare. `kinds`: which of them to read."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self.kinds = set[str]()
        self._figures, self._moments = Figures(), Moments()
        self._unlike = ""
        """Why its numbers do not have the same unit."""
        self._odd = dict[str, str]()
        """The first value with digits that is not a number, or not a date."""
        self._has_texts = self._has_dates = False

    def add(self, row: Row, at: int) -> None:
        text = _text(row, at)
        if not text:
            return
        number = quantity_in(row, at) if "number" in self.kinds else None
        date = moment(text) if "date" in self.kinds else None
        self._has_texts = self._has_texts or not (number or date)
        has_digits = any(map(str.isdecimal, text))
        if number:
            try:
                self._figures.add(number)
            except Unlike as error:
                self._unlike = self._unlike or str(error)
        elif has_digits:
            self._odd.setdefault("number", text)
        if date:
            self._has_dates = True
            self._moments.add(date)
        elif has_digits:
            self._odd.setdefault("date", text)

    def equals(self, one: Condition) -> Callable[[Row, int], bool]:
        """Returns a function that tests whether a cell has a condition's value in another form. Text that is not a
        number has none.
        """
        wanted = _number(one)
        if wanted is None:
            date = moment(one.value.strip())
            if date is None or self._has_texts or not self._has_dates:
                return lambda row, at: False
            order = self._order_of_dates(one, date)
            return lambda row, at: order(row, at) == 0
        if not self._figures.marks:
            return lambda row, at: False
        mark = self._one_mark(one)
        value = self._wanted(one, wanted, mark)
        is_bare = not (wanted.kind.unit or wanted.kind.comparison or self._unlike)

        def holds(row: Row, at: int) -> bool:
            found = quantity_in(row, at)
            if found is None or (found.has_leading_zero and not found.is_stored):
                return False
            same = found.kind.comparison == wanted.kind.comparison and (is_bare or found.kind.unit == wanted.kind.unit)
            return same and self._value(found, mark, is_bare=is_bare) == value

        return holds

    def order(self, one: Condition) -> Callable[[Row, int], int | None]:
        """Returns a function that compares a cell with a condition's value, with the result None if the cell has no
        number or date.

        Raises InvalidInput if the column does not determine how all values are read.
        """
        wanted = _number(one)
        if wanted is None:
            date = moment(one.value.strip())
            if "date" in self._odd or not date:
                raise _not_filtered(one, f"{quoted(self._odd['date'])} is no date with its year")
            return self._order_of_dates(one, date)
        kind = self._figures.kind
        if "number" in self._odd:
            raise _not_filtered(one, f"{quoted(self._odd['number'])} is no number")
        if self._unlike:
            raise _not_filtered(one, self._unlike)
        if not self._figures.marks:
            if self._has_texts:
                raise _not_filtered(one, "the column has no numbers")
            return lambda row, at: None
        if kind.comparison or wanted.kind.comparison:
            raise _not_filtered(one, "what is more or less than a number has no place among numbers")
        if wanted.kind.unit and wanted.kind.unit != kind.unit:
            raise _not_filtered(one, "the units or currencies differ")
        mark = self._one_mark(one)
        value, is_bare = self._wanted(one, wanted, mark), not wanted.kind.unit

        def compare(row: Row, at: int) -> int | None:
            found = quantity_in(row, at)
            mine = self._value(found, mark, is_bare=is_bare) if found else None
            return None if mine is None else (mine > value) - (mine < value)

        return compare

    def _order_of_dates(self, one: Condition, wanted: Moment) -> Callable[[Row, int], int | None]:
        def compare(row: Row, at: int) -> int | None:
            found = moment(_text(row, at))
            try:
                return self._moments.compare(found, wanted) if found else None
            except NotDates as error:
                raise _not_filtered(one, str(error)) from error

        return compare

    def _value(self, found: Quantity, mark: str, *, is_bare: bool) -> Decimal | None:
        if mark not in found.values:
            return None
        value = found.plain(mark) if is_bare else found.value(mark)
        return value.copy_negate() if self._figures.has_both_sides and found.side == "CR" else value

    def _one_mark(self, one: Condition) -> str:
        if self._mark and self._mark not in self._figures.marks:
            raise _not_filtered(one, f"its numbers have another decimal mark than {self._mark}")
        mark = self._mark or self._figures.one_mark
        if not mark:
            raise _not_filtered(one, "its numbers can be read in two ways; say decimal_mark")
        return mark

    def _wanted(self, one: Condition, wanted: Quantity, mark: str) -> Decimal:
        """Returns the value of a condition, read with the column's decimal mark if that is determined."""
        is_decided = bool(self._mark) or len(self._figures.marks) == 1
        if mark in wanted.values and (is_decided or len(set(wanted.values.values())) == 1):
            return wanted.value(mark)
        if len(wanted.values) == 1:
            return wanted.value(*wanted.values)
        raise _not_filtered(one, "it can be read in two ways; write it without separators of thousands")


class _RowGroup:
    """Accumulates the figures of a group. `names`: the common values in the spelling of the first row."""

    def __init__(self, names: Sequence[str], computed: Sequence[Compute], places: Mapping[str, int]) -> None:
        self.names = names
        self._computed = [(one, places[one.column] if one.column else -1) for one in computed]
        self._rows = 0
        self._counts = {at: 0 for one, at in self._computed if one.of == "count"}
        self._distinct = {at: set[str]() for one, at in self._computed if one.of == "distinct"}
        self._figures = {at: Figures() for one, at in self._computed if one.of in CALCULATED}

    def add(self, row: Row) -> None:
        self._rows += 1
        for at in self._counts:
            self._counts[at] += at < 0 or bool(_text(row, at))
        for at, values in self._distinct.items():
            if value := _text(row, at):
                values.add(spelled(value))
        for at, figures in self._figures.items():
            add_to(figures, row, at)

    def results(self, marks: Mapping[int, str]) -> Iterator[str]:
        """Yields the results in the requested order.

        `marks`: the decimal mark of a column, if one was given or its other rows determine it.
        """
        for one, at in self._computed:
            match one.of:
                case "count":
                    yield f"{self._counts[at]:,}"
                case "distinct":
                    yield f"{len(self._distinct[at]):,}"
                case _:
                    yield self._result(one, self._figures[at], marks[at])

    def _result(self, one: Compute, figures: Figures, mark: str) -> str:
        if not figures.marks:
            return ""
        if mark and mark not in figures.marks:
            raise InvalidInput(f"has numbers in {quoted(one.column)} with another decimal mark than {mark}")
        mark = mark or figures.one_mark
        if not mark:
            raise InvalidInput(f"has numbers in {quoted(one.column)} that can be read in two ways; say decimal_mark")
        return figures.figure(one.of, mark)


def _cut_note(count: int, limit: int) -> str:
    return f", the first {limit:,} are shown" if count > limit else ""
