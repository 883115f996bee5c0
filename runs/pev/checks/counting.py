"""The check `count`: a figure in the result is what counting and adding up come to."""

from collections.abc import Iterable
from decimal import Context, Decimal
from itertools import islice, product

from runs.errors import InvalidInput
from runs.pev.checks.material import LISTED, Found, Material, listed, many
from runs.pev.checks.tables import Table, lines_in
from runs.pev.contracts import Count, Term
from runs.pev.texts.patterns import Budget, compiled, spans
from runs.pev.texts.wording import quoted
from runs.text.numbers import readings, whole_number

MAX_MATCHES = 100_000
"""Of a pattern in one file: its matches are counted up to this number."""
MAX_FIGURES = 100
MAX_READINGS = 64
"""Ways to read the sums of a check that are compared with its figure; two of each sum that can be read in two ways."""
_EXACT = Context(prec=100)
"""More digits than a sum of as many numbers of 30 digits as fit into a file can have."""


def count(check: Count, text: str, material: Material, budget: Budget) -> Found:
    """Whether the figure equals the terms, to the last digit. Every place where it is said has to say the same."""
    figures, written, line = _figures(check, text, budget)
    amounts = [_amounts(term, material, budget) for term in check.terms]
    outside = any(material.is_given(name) for term in check.terms for name in material.matching(term.path))
    ways = list(islice(product(*amounts), MAX_READINGS + 1))
    if len(ways) > MAX_READINGS:
        raise InvalidInput("is not compared: too many of the sums can be read in more than one way")
    totals = {_total(check.terms, way): way for way in ways}
    agreed = [total for total in totals if total in figures]
    total = agreed[0] if agreed else next(iter(totals))
    sums = _in_words(check.terms, totals[total], material)
    if agreed:
        read = "" if written == _number(total) else f", read as {_number(total)}"
        return Found(True, f"says {written}{read}, line {line}: {_number(total)} = {sums}", line, outside=outside)
    other = "".join(f", or {_number(total)} by another decimal mark" for total in list(totals)[1:2])
    return Found(False, f"says {written}, line {line}; but {_number(total)} = {sums}{other}", line, outside=outside)


def _figures(check: Count, text: str, budget: Budget) -> tuple[set[Decimal], str, int]:
    """What the figure may mean, how it is written, and its first line."""
    try:
        pattern = compiled(check.figure, multiline=True)
        found = list(spans(pattern, text, budget, limit=MAX_FIGURES, group=1))
    except InvalidInput as error:
        raise InvalidInput(f"was not searched for {quoted(check.figure)}: {error}") from error
    if not found:
        raise InvalidInput(f"has no figure that matches {quoted(check.figure)}")
    places = [(whole_number(text, *place), text.count("\n", 0, place[0]) + 1) for place in found]
    written, line = places[0]
    agreed = set(readings(written).values())
    if not agreed:
        raise InvalidInput(f"has no number in line {line}: {quoted(written)}")
    for other, place in places[1:]:
        if not agreed & set(readings(other).values()):
            raise InvalidInput(f"says {written} in line {line} and {quoted(other)} in line {place}")
        agreed &= set(readings(other).values())
    return agreed, written, line


def _amounts(term: Term, material: Material, budget: Budget) -> list[Decimal]:
    """What the term comes to, in each way in which it can be read."""
    names = material.matching(term.path)
    if term.of == "files":
        return [Decimal(len(names))]
    if not names:
        raise InvalidInput(f"is not compared: no file matches {term.path}")
    if term.of == "sum":
        return _sums(term.column, names, material, budget)
    return [Decimal(sum(_counted(term, name, material, budget) for name in names))]


def _counted(term: Term, name: str, material: Material, budget: Budget) -> int:
    text = material.text(name)
    try:
        match term.of:
            case "rows":
                return sum(1 for _ in Table(text).rows(budget))
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


def _sums(column: str, names: Iterable[str], material: Material, budget: Budget) -> list[Decimal]:
    """The sum by each decimal mark with which every value can be read, each once."""
    totals: dict[str, Decimal] | None = None
    for name in names:
        try:
            for line, value in Table(material.text(name), [column]).column(column, budget):
                if not value:
                    continue
                numbers = readings(value)
                before = dict.fromkeys(numbers, Decimal(0)) if totals is None else totals
                totals = {mark: _EXACT.add(before[mark], number) for mark, number in numbers.items() if mark in before}
                if not totals:
                    raise InvalidInput(f"line {line}: {quoted(value)} is no number, or none of the same form")
        except InvalidInput as error:
            raise InvalidInput(f"is not compared: {name} {error}") from error
    return list(dict.fromkeys((totals or {"": Decimal(0)}).values()))


def _total(terms: Iterable[Term], amounts: Iterable[Decimal]) -> Decimal:
    total = Decimal(0)
    for term, amount in zip(terms, amounts, strict=True):
        total = _EXACT.subtract(total, amount) if term.minus else _EXACT.add(total, amount)
    return total


def _in_words(terms: list[Term], amounts: Iterable[Decimal], material: Material) -> str:
    words = ""
    for term, amount in zip(terms, amounts, strict=True):
        sign = ("-" if term.minus else "") if not words else (" - " if term.minus else " + ")
        words += f"{sign}{_number(amount)} {_what(term, amount)} {_where(term, material)}"
    return words


def _what(term: Term, amount: Decimal) -> str:
    if term.of == "sum":
        return f"in the column {quoted(term.column)} of"
    one = {"rows": "row of", "lines": "line of", "files": "file matching"}
    several = {"rows": "rows of", "lines": "lines of", "files": "files matching"}
    if term.of == "matches":
        return f"{'match' if amount == 1 else 'matches'} of {quoted(term.pattern)} in"
    return (one if amount == 1 else several)[term.of]


def _where(term: Term, material: Material) -> str:
    names = material.matching(term.path)
    if term.of == "files" or names == [term.path]:
        return term.path
    return f"{listed(names)}" if len(names) <= LISTED else f"{many(len(names), 'file')} matching {term.path}"


def _number(amount: Decimal) -> str:
    return f"{amount.normalize(_EXACT):,f}"
