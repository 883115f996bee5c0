"""The tool that counts: rows of CSV files and sheets selected, grouped and added up, so that no figure is guessed.

A query names columns and never computes with words of its own: SQL would let a model write any text into a result that
counts as shown by the file.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cached_property, lru_cache
from typing import Annotated, Literal, Protocol

from pydantic import Field, StringConstraints

from runs.enums import Effect
from runs.errors import InvalidInput
from runs.pev.checks.tables import Table, in_short
from runs.pev.contracts import Contract
from runs.pev.documents.document import Document
from runs.pev.documents.layout import BlockKind
from runs.pev.documents.sheets import address_in
from runs.pev.files.paths import clean_path, document_of
from runs.pev.files.reads import Looks
from runs.pev.ports import Shown, ToolResult, Workspace
from runs.pev.texts.patterns import Budget, TooSlow
from runs.pev.texts.wording import quoted
from runs.pev.tools.arguments import Arguments, FilePath, content_at, fitting, lines_of
from runs.pev.tools.limits import ToolLimits
from runs.text.normalisation import caseless, place_among, spelled
from runs.text.numbers import readings

MAX_SECONDS = 10.0
"""For reading: some 300,000 rows with two conditions."""
MAX_GROUPS = 10_000
MAX_VALUE = 200
"""Characters of a value that are shown."""
_EXACT = Context(prec=60, rounding=ROUND_HALF_UP)
_AVERAGE = Context(prec=12, rounding=ROUND_HALF_UP)
_Column = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
type Row = Mapping[str, str]


class Rows(Protocol):
    """A header, and the rows below it: their values by column, in order."""

    @property
    def header(self) -> Sequence[str]: ...

    def rows(self, budget: Budget) -> Iterator[Sequence[str]]: ...


class Condition(Contract):
    """What rows have to meet. The same texts are equal, whatever their capitals; numbers where `value` and the cell are
    some.
    """

    column: _Column
    test: Literal["=", "!=", "<", "<=", ">", ">=", "contains", "empty", "not empty"]
    value: Annotated[str, StringConstraints(max_length=500)] = ""


class Compute(Contract):
    """A figure for each group; `column` is empty for a count of rows."""

    of: Literal["count", "distinct", "sum", "average", "min", "max"]
    column: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = ""

    @property
    def title(self) -> str:
        return f"{self.of} of {self.column}" if self.column else "rows"


class ReadTable(Arguments):
    name = "table"
    effect = Effect.READS_FILES
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

    def answer(self, workspace: Workspace, limits: ToolLimits) -> ToolResult:
        path = clean_path(self.path)
        data, text = content_at(workspace, path)
        document = document_of(data)
        try:
            table: Rows = _Sheet(document, self.sheet) if document else _Csv(text)
            lines = self._lines(table, Budget(MAX_SECONDS))
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
        asked = [f"[where {' and '.join(_short(test) for test in tests)}]"] if tests else []
        info = workspace.files()[path]
        part = Shown(path, info.sha256, 0, len(shown), 1, 0, len(lines_of(text)))  # pieces of its lines, none whole
        return ToolResult("\n".join([shown, *left, *asked]), shown=(part,))

    def looks_at(self, looks: Looks) -> None:
        looks.file(clean_path(self.path))

    def _lines(self, table: Rows, budget: Budget) -> list[str]:
        """How many rows there are, the heads of the columns, and what was asked for."""
        header = self._named(table.header)
        self._check_columns(header)
        names = self.columns or list(header)
        listed, groups = list[str](), dict[tuple[str, ...], _Group]()
        if self._computed and not self.group_by:
            groups[()] = _Group(self._computed)
        total = chosen = 0
        spelled_first = dict[tuple[str, ...], tuple[str, ...]]()
        for values in table.rows(budget):
            total += 1
            row = dict(zip(header, values, strict=False))
            if not all(_holds(one, row) for one in self.where):
                continue
            chosen += 1
            if self._computed:
                written = tuple(row.get(name, "") for name in self.group_by)
                key = tuple(map(spelled, written))
                spelled_first.setdefault(key, written)
                if key not in groups and len(groups) == MAX_GROUPS:
                    raise InvalidInput(f"has more than {MAX_GROUPS:,} groups; group by something else")
                groups.setdefault(key, _Group(self._computed)).add(row)
            elif chosen <= self.limit:
                listed.append("\t".join(_short(row.get(name, "")) for name in names))
        many = f"{chosen:,} of {total:,} rows"
        if not self._computed:
            return [f"{many}{_cut(chosen, self.limit)}", "\t".join(names), *listed]
        heads = "\t".join([*self.group_by, *(one.title for one in self._computed)])
        figures = [
            "\t".join([*map(_short, spelled_first.get(key, key)), *group.figures(self.decimal_mark)])
            for key, group in sorted(groups.items())[: self.limit]
        ]
        count = f", {len(groups):,} group{'' if len(groups) == 1 else 's'}" if self.group_by else ""
        return [f"{many}{count}{_cut(len(groups), self.limit)}", heads, *figures]

    @property
    def _computed(self) -> Sequence[Compute]:
        """A group without figures is counted."""
        return self.compute or ([Compute(of="count")] if self.group_by else [])

    def _named(self, header: Sequence[str]) -> list[str]:
        """The header, in which columns of the same text have the names that the query gives them."""
        found = list(header)
        named = [*self.group_by, *self.columns, *(one.column for one in self.where)]
        for name in [*named, *(one.column for one in self.compute if one.column)]:
            if name not in found and (at := place_among(name, found)) >= 0:
                found[at] = name
        return found

    def _check_columns(self, header: Sequence[str]) -> None:
        named = [*self.group_by, *self.columns, *(one.column for one in self.where)]
        for name in [*named, *(one.column for one in self.compute if one.column)]:
            if name not in header:
                raise InvalidInput(f"has no column {quoted(name)}; it has {in_short(header) or 'no header row'}")
            if header.count(name) > 1:
                raise InvalidInput(f"has several columns {quoted(name)}")
        if any(one.of not in {"count"} and not one.column for one in self.compute):
            raise InvalidInput("was not read: say the column of every figure but a count of rows")


@dataclass
class _Csv:
    text: str

    @cached_property
    def _table(self) -> Table:
        return Table(self.text)

    @property
    def header(self) -> Sequence[str]:
        return self._table.header

    def rows(self, budget: Budget) -> Iterator[Sequence[str]]:
        return ([value.strip() for value in row] for _, row in self._table.rows(budget))


class _Sheet:
    """A sheet of a workbook, or the first. Raises InvalidInput where there is none of this name."""

    def __init__(self, document: Document, sheet: str) -> None:
        if document.layout.format != "xlsx":
            raise InvalidInput("has no tables; read_file shows it")
        found = dict[str, list[dict[int, str]]]()
        for block in document.layout.blocks:
            address = address_in(block.anchor) if block.kind is BlockKind.ROW else None
            if address:
                cells = enumerate(document.text[block.start : block.end].split("\t"), address.column)
                rows = found.setdefault(address.sheet, [])
                rows.append({column: text.strip() for column, text in cells})
        name = next((one for one in found if not sheet or caseless(one) == caseless(sheet)), None)
        if name is None:
            raise InvalidInput(f"has no sheet {quoted(sheet)} with rows; it has {in_short(list(found)) or 'none'}")
        first, *self._rest = found[name]
        self._columns = list(first)
        self.header = [first[column] for column in self._columns]

    def rows(self, budget: Budget) -> Iterator[Sequence[str]]:
        for row in self._rest:
            budget.left()
            yield [row.get(column, "") for column in self._columns]


def _holds(condition: Condition, row: Row) -> bool:
    value, wanted = row.get(condition.column, ""), condition.value.strip()
    match condition.test:
        case "empty" | "not empty":
            return (not value) == (condition.test == "empty")
        case "contains":
            return caseless(wanted) in caseless(value)
        case "=":
            return _same(value, wanted)
        case "!=":
            return not _same(value, wanted)
        case test:
            return _compares(test, value, wanted)


def _same(value: str, wanted: str) -> bool:
    if caseless(value) == caseless(wanted):
        return True
    limits = _wanted(wanted)  # most texts are no numbers, and need not be read as such
    return bool(limits) and not limits.items().isdisjoint(readings(value).items())


@lru_cache(maxsize=64)
def _wanted(value: str) -> Mapping[str, Decimal]:
    """The value of a condition as a number: the same for every row."""
    return readings(value)


def _compares(test: str, value: str, wanted: str) -> bool:
    """As numbers where both are some by the same decimal mark, else as texts: dates such as 2026-11-23 sort as they
    are. What is a number is not compared with what is none.
    """
    numbers, limits = readings(value), _wanted(wanted)
    mark = next((mark for mark in (".", ",") if mark in numbers and mark in limits), None)
    if mark is None and (numbers or limits or not value):
        return False
    one, other = (numbers[mark], limits[mark]) if mark else (value, wanted)
    order = (one > other) - (one < other)  # type: ignore[operator]  # both numbers, or both texts
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[test]


class _Group:
    """The values of a group's rows, as far as something is computed of them."""

    def __init__(self, computed: Sequence[Compute]) -> None:
        self._computed = computed
        self._rows = 0
        self._values: dict[str, list[str]] = {one.column: [] for one in computed if one.column}

    def add(self, row: Row) -> None:
        self._rows += 1
        for name, values in self._values.items():
            if value := row.get(name, ""):
                values.append(value)

    def figures(self, mark: str) -> Iterator[str]:
        """In the order in which they were asked for; empty where there is nothing to compute."""
        for one in self._computed:
            values = self._values.get(one.column, [])
            match one.of:
                case "count":
                    yield f"{len(values) if one.column else self._rows:,}"
                case "distinct":
                    yield f"{len(set(map(spelled, values))):,}"
                case _:
                    numbers = _numbers(values, one.column, mark)
                    yield _figure(one.of, numbers) if numbers else ""


def _numbers(values: Sequence[str], column: str, mark: str) -> list[Decimal]:
    """The values by the decimal mark with which all of them can be read."""
    if not values:
        return []
    read = [readings(value) for value in values]
    marks = [one for one in (".", ",") if one in (mark or one) and all(one in numbers for numbers in read)]
    if not marks:
        bad = next((value for value, numbers in zip(values, read, strict=True) if not numbers), values[0])
        raise InvalidInput(f"has a value in {quoted(column)} that is no number of the same form: {quoted(bad)}")
    found = [[numbers[one] for numbers in read] for one in marks]
    if any(other != found[0] for other in found[1:]):
        raise InvalidInput(f"has numbers in {quoted(column)} that can be read in two ways; say decimal_mark")
    return found[0]


def _figure(of: str, numbers: Sequence[Decimal]) -> str:
    total = Decimal(0)
    for number in numbers:
        total = _EXACT.add(total, number)
    figures = {"sum": total, "min": min(numbers), "max": max(numbers)}
    value = figures[of] if of in figures else _AVERAGE.divide(total, Decimal(len(numbers)))
    return f"{value.normalize(_EXACT):,f}"


def _short(value: str) -> str:
    line = " ".join(value.split())
    return line if len(line) <= MAX_VALUE else f"{line[: MAX_VALUE - 1]}…"


def _cut(count: int, limit: int) -> str:
    return f", the first {limit:,} are shown" if count > limit else ""
