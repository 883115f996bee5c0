"""Checks that each item of a list is dealt with in a file."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from runs.contracts.base import RESULT, Line, Name
from runs.errors import InvalidInput
from runs.evidence.source_names import Paths, Phrases, worded
from runs.pev.checks.base import COMPARING_SECONDS, FileCheck, Label, includes, text_in
from runs.pev.checks.material import CheckInput, CheckResult, at_most, clean_pattern, list_in_words, matching
from runs.pev.checks.tables import CsvTable
from runs.text.patterns import Budget
from runs.text.sentences import lines_in
from runs.text.truncate import quoted

MAX_ITEM_CHARACTERS = 1_000
"""Longer items are texts, which results do not repeat."""
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")


class Covers(FileCheck):
    """Each item is named in the file `path`, there in the CSV column `in_column` unless that is empty. The items are
    `items`, the values of `column` of the CSV file `source` (if `column` is empty, the lines of `source`), and the
    given files that match the pattern `files`.
    """

    order = 130
    title = "each item of a list is dealt with"
    seconds = COMPARING_SECONDS
    stricter = {"items": includes}
    can_compare = counts_each = True

    kind: Literal["covers"]
    items: Annotated[list[Line], Field(max_length=500), Label("Items", "One per line")] = []
    source: Annotated[Name, Label("And each line of this file", "Or each value of a column of it")] = ""
    column: Annotated[Name, Label("Column of that file", "For a CSV file")] = ""
    files: Annotated[Name, Label("And each of your files that match", "Such as contracts/*.md")] = ""
    in_column: Annotated[Name, Label("Named in this column of the result", "For a CSV file")] = ""

    @property
    def compares(self) -> bool:
        return bool(self.files) or bool(self.source and not self.source.startswith(RESULT))

    @property
    def compared_paths(self) -> Sequence[str]:
        return [self.source] if self.source and not self.files else []

    def words(self, commands: Mapping[str, str]) -> str:
        place = f"the column {self.in_column} of {self.path}" if self.in_column else self.path
        parts = [f"the given files {self.files}"] if self.files else []
        if self.source:
            parts.append(f"the values of the column {self.column} of {self.source}" if self.column else self.source)
        parts += [", ".join(f"“{item}”" for item in self.items)] if self.items else []
        return f"{place} deals with each of {', and of '.join(parts)}"

    def problem(self) -> str | None:
        for pattern in filter(None, (self.source, self.files)):
            clean_pattern(pattern)
        if not (self.items or self.source or self.files):
            return "It names no items: give items, a source or files."
        if self.source == self.path or self.source == RESULT + self.path.removeprefix(RESULT):
            hint = "" if RESULT in self.source else f"; {RESULT}{self.source} in `path` is what the run makes of it"
            return f"It compares {self.source} with itself{hint}."
        if self.column and not self.source:
            return "column is one of the file source, which is not given; the column of the result is in_column."
        if self.files.startswith(RESULT):
            return "files means the given files; leave @result/ out."
        unfit = [item for item in self.items if not worded(item)]
        return f"The item {quoted(unfit[0])} has no letter or digit to look for." if unfit else None

    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        text = text_in(data)
        where = text
        if self.in_column:
            where = " \0 ".join(value for _, value in CsvTable(text, [self.in_column]).column(self.in_column, budget))
        files = matching(self.files, material.given) if self.files else []
        if self.files and not files:
            raise InvalidInput(f"is not compared: no given file matches {self.files}")
        named = set(Paths(material.given).named_in(where, budget)) if files else set[str]()
        items = list(dict.fromkeys([*self.items, *at_most(_listed_in(self, material, budget), "items")]))
        if not items and not files:
            raise InvalidInput(f"is not compared: {self.source} lists nothing")
        unnamed = Phrases(items).missing_in(where, budget)
        missing = [quoted(item) for item in items if item in unnamed] + [path for path in files if path not in named]
        of = len(items) + len(files)
        column = f" by its column {quoted(self.in_column)}" if self.in_column else ""
        said = f"has {of - len(missing):,} of {of:,} dealt with{column}"
        outside = bool(files) or bool(self.source and material.is_given(self.source))
        return CheckResult(
            not missing, f"{said}; missing: {list_in_words(missing)}" if missing else said, outside=outside
        )


def _listed_in(check: Covers, material: CheckInput, budget: Budget) -> Iterator[str]:
    """Yields the values of the column, or the lines, that have a letter or digit."""
    if not check.source:
        return
    text = material.text(check.source)
    try:
        table = CsvTable(text, [check.column])
        values = (value for _, value in table.column(check.column, budget)) if check.column else _lines(text, budget)
        for value in values:
            if len(value) > MAX_ITEM_CHARACTERS:
                raise InvalidInput(f"has an item of more than {MAX_ITEM_CHARACTERS:,} characters: {quoted(value, 40)}")
            if worded(value):
                yield value
    except InvalidInput as error:
        raise InvalidInput(f"is not compared: {check.source} {error}") from error


def _lines(text: str, budget: Budget) -> Iterator[str]:
    """Yields the bullet items if there are any, otherwise all lines except headings."""
    bullets = any(map(_BULLET.match, lines_in(text)))
    for line in lines_in(text):
        budget.left()
        bullet = _BULLET.match(line)
        if bullet or not (bullets or _HEADING.match(line)):
            yield line[bullet.end() if bullet else 0 :].strip()
