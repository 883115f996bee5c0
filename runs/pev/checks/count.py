"""Checks that a figure in the result equals what counting and adding up give."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import islice, product
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, StringConstraints

from runs.contracts.base import RESULT, Contract, Name, Path
from runs.errors import InvalidInput
from runs.pev.checks.base import COMPARING_SECONDS, FileCheck, Label, text_in
from runs.pev.checks.matches import problem_with_pattern
from runs.pev.checks.material import LISTED, CheckInput, CheckResult, clean_pattern, list_in_words
from runs.pev.checks.tables import add_to, table_of
from runs.text.boundaries import is_whole
from runs.text.numbers import number_at
from runs.text.numerals import EXACT, in_digits
from runs.text.patterns import Budget, compiled, spans
from runs.text.plural import pluralize, word_for
from runs.text.quantities import PARTS, Figures, QuantityKind, quantity
from runs.text.sentences import lines_in
from runs.text.truncate import quoted

MAX_MATCHES = 100_000
"""Matches of a pattern in one file are counted up to this number."""
MAX_FIGURES = 100
MAX_READINGS = 64
"""Combinations of readings that are compared with the figure. Each ambiguous sum doubles their number."""


class _Amount(NamedTuple):
    """The value of a term. `kind`: the comparison sign and the unit that all its values share."""

    value: Decimal
    text: str
    kind: QuantityKind = QuantityKind()


class _Figure(NamedTuple):
    """The possible values of the result's figure, how it is written, and the first line that has it."""

    values: Mapping[Decimal, object]
    kind: QuantityKind
    text: str
    line: int

    def is_about(self, amount: _Amount) -> bool:
        """Whether the figure has this value and kind. One of them may lack a unit, because tables have it in their
        header.
        """
        mine, other = self.kind, amount.kind
        if mine.comparison != other.comparison and not (mine.comparison == "~" and not other.comparison):
            return False
        if mine.unit and other.unit and mine.unit != other.unit:
            return False
        same = amount.value in self.values
        return same or (not mine.unit and amount.value.scaleb(-PARTS.get(other.unit, 0), EXACT) in self.values)


class Term(Contract):
    """A number taken from the files that match `path`: how many `rows` (of CSV files or a sheet, without header),
    `lines` (that are not blank) or `matches` of `pattern` they have, the `sum` of their column `column`, or how many
    `files` they are. A path means a file as it was given, `@result/` and a path what the run has made of it. `minus`
    takes it away.
    """

    path: Annotated[Path, Label("In", "A path or pattern; @result/ before it means what the run wrote")]
    of: Annotated[
        Literal["rows", "lines", "matches", "sum", "files"],
        Label(
            "Count",
            choices=(
                ("rows", "rows of CSV files, without their header"),
                ("lines", "lines that are not blank"),
                ("matches", "matches of the pattern"),
                ("sum", "the sum of the column"),
                ("files", "files"),
            ),
        ),
    ]
    column: Annotated[Name, Label("Column", "For a sum")] = ""
    pattern: Annotated[Name, Label("Pattern", "For matches")] = ""
    minus: Annotated[bool, Label("Take it away")] = False


class Count(FileCheck):
    """The figure that `figure` finds in the file is that of the terms added up. `figure`: a regular expression with one
    group around the number, such as `(\\d+) duplicates`.
    """

    order = 140
    title = "a figure is what counting comes to"
    seconds = COMPARING_SECONDS
    can_compare = counts_each = True

    kind: Literal["count"]
    figure: Annotated[
        str,
        StringConstraints(min_length=1, max_length=500),
        Label("Pattern around the figure", "With one group around the number: (\\d+) duplicates"),
    ]
    terms: Annotated[list[Term], Field(min_length=1, max_length=20)]

    @property
    def compares(self) -> bool:
        return any(not term.path.startswith(RESULT) and term.path != self.path for term in self.terms)

    @property
    def compared_paths(self) -> Sequence[str]:
        return list(dict.fromkeys(term.path for term in self.terms))

    def words(self, commands: Mapping[str, str]) -> str:
        return f"the number in {self.path} that matches {self.figure} is {_terms(self.terms)}"

    def problem(self) -> str | None:
        return _problem_with_figure(self.figure) or next(filter(None, map(_problem_with_term, self.terms)), None)

    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        """Compares the figure with the terms, to the last digit. All places that state it must agree."""
        text = text_in(data)
        figure = _figure(self, text, budget)
        amounts = [_amounts(term, material, budget) for term in self.terms]
        outside = any(material.is_given(name) for term in self.terms for name in material.matching(term.path))
        ways = list(islice(product(*amounts), MAX_READINGS + 1))
        if len(ways) > MAX_READINGS:
            raise InvalidInput("is not compared: too many of the sums can be read in more than one way")
        totals = {total.value: (total, way) for way in ways if (total := _total(self.terms, way))}
        agreed = [one for one in totals.values() if figure.is_about(one[0])]
        total, way = agreed[0] if agreed else next(iter(totals.values()))
        sums = _in_words(self.terms, way, material)
        line = figure.line
        if agreed:
            read = "" if figure.text == total.text else f", read as {total.text}"
            return CheckResult(
                True, f"says {figure.text}{read}, line {line}: {total.text} = {sums}", line, outside=outside
            )
        other = "".join(f", or {one.text} by another decimal mark" for one, _ in list(totals.values())[1:2])
        return CheckResult(
            False, f"says {figure.text}, line {line}; but {total.text} = {sums}{other}", line, outside=outside
        )


def _terms(terms: list[Term]) -> str:
    words = ""
    for term in terms:
        sign = " minus " if term.minus else " plus "
        words += f"{sign if words or term.minus else ''}{_term(term)}"
    return words.strip()


def _term(term: Term) -> str:
    result = term.path.removeprefix("@result/")
    path = f"{result} as the run has left it" if result != term.path else term.path
    match term.of:
        case "rows":
            return f"the number of rows of {path}"
        case "lines":
            return f"the number of lines of {path}"
        case "matches":
            return f"the number of matches of {term.pattern} in {path}"
        case "sum":
            return f"the sum of the column {term.column} of {path}"
        case "files":
            return f"the number of files {path}"


_NEEDS = {"sum": "column", "matches": "pattern"}


def _problem_with_figure(figure: str) -> str | None:
    problem = problem_with_pattern(figure)
    if problem is None and compiled(figure, multiline=True).engine.groups != 1:
        return f"The pattern {quoted(figure)} needs one group in round brackets, around the number: (\\d+) duplicates."
    return problem


def _problem_with_term(term: Term) -> str | None:
    clean_pattern(term.path)
    needed = _NEEDS.get(term.of, "")
    if needed and not getattr(term, needed):
        return f"The term {term.of} of {term.path} needs a {needed}."
    unused = [name for name in ("column", "pattern") if name != needed and getattr(term, name)]
    if unused:
        return f"The term {term.of} of {term.path} takes no {unused[0]}; leave it empty."
    return problem_with_pattern(term.pattern) if term.pattern else None


def _figure(check: Count, text: str, budget: Budget) -> _Figure:
    try:
        pattern = compiled(check.figure, multiline=True)
        found = list(spans(pattern, text, budget, limit=MAX_FIGURES, group=1))
    except InvalidInput as error:
        raise InvalidInput(f"was not searched for {quoted(check.figure)}: {error}") from error
    if not found:
        raise InvalidInput(f"has no figure that matches {quoted(check.figure)}")
    first, *others = (_figure_at(text, *place) for place in found)
    if not first.values:
        raise InvalidInput(
            f"has no number that can be compared in line {first.line}: {quoted(first.text)}; write it in digits, "
            "with a sign directly before them"
        )
    values = dict(first.values)
    for other in others:
        values = {value: None for value in values if value in other.values}
        if not values or first.kind != other.kind:
            raise InvalidInput(f"says {first.text} in line {first.line} and {quoted(other.text)} in line {other.line}")
    return first._replace(values=values)


def _figure_at(text: str, start: int, end: int) -> _Figure:
    """Returns the whole number that contains the matched characters."""
    line = text.count("\n", 0, start) + 1
    caught = text[start:end]
    start, end = start + len(caught) - len(caught.lstrip()), start + len(caught.rstrip())
    number = number_at(text, start, end)
    if number is None:
        alone = quantity(caught)
        values = [alone.value(mark) for mark in alone.values] if alone else []
        return _Figure(
            dict.fromkeys(values), alone.kind._replace(scale=0) if alone else QuantityKind(), caught.strip(), line
        )
    values = list(number.values)
    written = text[number.start : number.end]
    if text[number.start - 1 : number.start] == "(" and text[number.end : number.end + 1] == ")":
        if not number.is_negative:  # accountants write negative numbers in brackets
            values += [value.copy_negate() for value in values]
    elif not number.comparison and not is_whole(text, number.start, number.end):
        values = []  # a sign or a scale next to the number is not part of it: minus 5, 200 CR
    return _Figure(dict.fromkeys(values), QuantityKind(number.comparison, 0, number.unit), written, line)


def _amounts(term: Term, material: CheckInput, budget: Budget) -> Sequence[_Amount]:
    """Returns each possible value of the term."""
    names = material.matching(term.path)
    if term.of == "files":
        return [_number(len(names))]
    if not names:
        raise InvalidInput(f"is not compared: no file matches {term.path}")
    if term.of == "sum":
        return _sums(term.column, names, material, budget)
    return [_number(sum(_counted(term, name, material, budget) for name in names))]


def _number(amount: int) -> _Amount:
    return _Amount(Decimal(amount), f"{amount:,}")


def _counted(term: Term, name: str, material: CheckInput, budget: Budget) -> int:
    data, text = material.content(name)
    try:
        match term.of:
            case "rows":
                return sum(1 for _ in table_of(data, text).rows(budget))
            case "lines":
                return sum(1 for line in lines_in(text) if line and not line.isspace())
            case _:
                pattern = compiled(term.pattern, multiline=True)
                counted = sum(1 for _ in spans(pattern, text, budget, limit=MAX_MATCHES + 1))
    except InvalidInput as error:
        raise InvalidInput(f"is not compared: {name}: {error}") from error
    if counted > MAX_MATCHES:
        raise InvalidInput(f"is not compared: {quoted(term.pattern)} matches more than {MAX_MATCHES:,} times in {name}")
    return counted


def _sums(column: str, names: Iterable[str], material: CheckInput, budget: Budget) -> Sequence[_Amount]:
    """Returns the distinct sums by decimal mark, for each mark that fits all values."""
    figures = Figures()
    for name in names:
        try:
            table = table_of(*material.content(name), [column])
            at = table.place_of(column)
            for row in table.rows(budget):
                add_to(figures, row, at)
        except InvalidInput as error:
            raise InvalidInput(f"is not compared: {name} {error}") from error
    kind = figures.kind._replace(scale=0)
    found = {figures.sum(mark): _Amount(figures.sum(mark), figures.figure("sum", mark), kind) for mark in figures.marks}
    return list(found.values()) or [_number(0)]


def _total(terms: Sequence[Term], amounts: Sequence[_Amount]) -> _Amount:
    kind = amounts[0].kind
    total = Decimal(0)
    for term, amount in zip(terms, amounts, strict=True):
        if amount.kind != kind:
            raise InvalidInput(
                f"is not compared: {amounts[0].text} and {amount.text} are not of one kind: their units differ"
            )
        total = EXACT.subtract(total, amount.value) if term.minus else EXACT.add(total, amount.value)
    if len(terms) == 1 and not terms[0].minus:
        return amounts[0]
    return _Amount(total, f"{kind.comparison}{in_digits(total)}{' ' if kind.unit else ''}{kind.unit}", kind)


def _in_words(terms: Iterable[Term], amounts: Iterable[_Amount], material: CheckInput) -> str:
    words = ""
    for term, amount in zip(terms, amounts, strict=True):
        sign = ("-" if term.minus else "") if not words else (" - " if term.minus else " + ")
        words += f"{sign}{amount.text} {_what(term, amount)} {_where(term, material)}"
    return words


_NOUNS = {
    "rows": ("row", "rows"),
    "lines": ("line", "lines"),
    "files": ("file", "files"),
    "matches": ("match", "matches"),
}


def _what(term: Term, amount: _Amount) -> str:
    if term.of == "sum":
        return f"in the column {quoted(term.column)} of"
    one, several = _NOUNS[term.of]
    noun = word_for(int(amount.value), one, several)
    match term.of:
        case "matches":
            return f"{noun} of {quoted(term.pattern)} in"
        case "files":
            return f"{noun} matching"
        case _:
            return f"{noun} of"


def _where(term: Term, material: CheckInput) -> str:
    names = material.matching(term.path)
    if term.of == "files" or names == [term.path]:
        return term.path
    return (
        f"{list_in_words(names)}" if len(names) <= LISTED else f"{pluralize(len(names), 'file')} matching {term.path}"
    )
