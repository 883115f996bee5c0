"""Checks that every quoted passage of a file occurs in the source that is named next to it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Literal

from runs.contracts.base import Name
from runs.errors import InvalidInput
from runs.evidence.quotes import MIN_CHARACTERS, Quotable
from runs.evidence.source_names import Paths
from runs.pev.checks.base import COMPARING_SECONDS, FileCheck, Label, text_in
from runs.pev.checks.material import LISTED, CheckInput, CheckResult, at_most, list_in_words
from runs.pev.checks.passages import QuotedPassage, passages_in
from runs.pev.checks.tables import CsvTable
from runs.text.normalisation import markup_of
from runs.text.patterns import Budget
from runs.text.plural import pluralize
from runs.text.truncate import quoted

_ELLIPSIS = re.compile(r"\[\s*(?:…|\.\.\.)\s*\]|\s(?:…|\.\.\.)\s")
_EMPHASIS = re.compile(r"\*\*|__|\\(?=[!-/:-@\[-`{-~])")


class QuotesOccur(FileCheck):
    """Every quoted passage of the file (a block quote, or 12 characters and more in quotation marks) occurs verbatim in
    the source that is named next to it. In a CSV file `column` holds the quotes and `source_column` their sources; for
    any other file both are empty.
    """

    order = 120
    title = "every quoted passage occurs in the source named next to it"
    seconds = COMPARING_SECONDS
    can_compare = counts_each = True

    kind: Literal["quotes_occur"]
    column: Annotated[Name, Label("Column with the quotes", "For a CSV file only")] = ""
    source_column: Annotated[Name, Label("Column with their sources", "For a CSV file only")] = ""

    @property
    def looked_up(self) -> Literal["passages", "rows"]:
        return "rows" if self.column else "passages"

    def words(self, commands: Mapping[str, str]) -> str:
        if self.column:
            return (
                f"each value of the column {self.column} of {self.path} stands word for word in the source that its "
                f"column {self.source_column} names"
            )
        return f"each quoted passage of {self.path} stands word for word in the source named next to it"

    def problem(self) -> str | None:
        if bool(self.column) == bool(self.source_column):
            return None
        return "column and source_column go together: give both for a CSV file, and none for any other."

    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        text = text_in(data)
        passages = list(at_most(_passages(self, text, Paths(material.names()), budget), "quoted passages"))
        if not passages:
            raise InvalidInput("quotes nothing; quote the sources")
        counted = f"has {pluralize(len(passages), 'quoted passage')}"
        wrong = {number: why for number, passage in enumerate(passages) if (why := _unusable(passage))}
        places = _places([(n, p) for n, p in enumerate(passages) if n not in wrong], material, budget)
        for number, passage in enumerate(passages):
            if number not in wrong and number not in places:
                wrong[number] = f"does not occur in {list_in_words(list(passage.sources))}"
        if wrong:
            first = [
                f"line {passages[n].line}: {quoted(passages[n].text, 60)} {wrong[n]}" for n in sorted(wrong)[:LISTED]
            ]
            more = f"; and {len(wrong) - LISTED:,} more" if len(wrong) > LISTED else ""
            said = f"{counted}, of which {len(wrong):,} cannot be found: {'; '.join(first)}{more}"
            return CheckResult(False, said, passages[min(wrong)].line)
        made = sorted({name for name in places.values() if not material.is_given(name)})
        own = f"; the run itself has made {list_in_words(made)}" if made else ""
        said = (
            f"{counted}, each found in the source named next to it: {list_in_words(sorted(set(places.values())))}{own}"
        )
        return CheckResult(True, said, passages[0].line, outside=not made)


def _passages(check: QuotesOccur, text: str, paths: Paths, budget: Budget) -> Iterator[QuotedPassage]:
    if not check.column:
        yield from passages_in(text, paths, budget)
        return
    table = CsvTable(text, [check.column, check.source_column])
    sources = table.column(check.source_column, budget)
    for (line, quote), (_, source) in zip(table.column(check.column, budget), sources, strict=True):
        yield QuotedPassage(quote, line, tuple(dict.fromkeys(paths.named_in(source, budget))))


def _unusable(passage: QuotedPassage) -> str:
    if sum(map(str.isalnum, passage.text)) < MIN_CHARACTERS:
        return "is too short to prove anything"
    return "" if passage.sources else "has no source named next to it"


def _places(passages: Iterable[tuple[int, QuotedPassage]], material: CheckInput, budget: Budget) -> dict[int, str]:
    """Returns for each passage that occurs in one of its sources which one, preferably a given file. Only one source is
    held in memory at a time.
    """
    by_source: dict[str, list[tuple[int, str]]] = {}
    for number, passage in passages:
        for name in passage.sources:
            by_source.setdefault(name, []).append((number, passage.text))
    places = dict[int, str]()
    for name in sorted(filter(material.has, by_source), key=lambda name: not material.is_given(name)):
        budget.left()
        searched = Quotable(*material.content(name), markup_of(name))
        for number, quote in by_source[name]:
            budget.left()
            if number not in places and _occurs(quote, searched):
                places[number] = name
    return places


def _occurs(quote: str, searched: Quotable) -> bool:
    """Whether the quote occurs, by the rules of evidence, but ignoring Markdown emphasis and marked omissions."""
    if quote in searched or _EMPHASIS.sub("", quote) in searched:
        return True
    parts = [_EMPHASIS.sub("", part).strip() for part in _ELLIPSIS.split(quote)]
    return len(parts) > 1 and all(sum(map(str.isalnum, part)) >= MIN_CHARACTERS and part in searched for part in parts)
