"""Checks that a pattern occurs in a file."""

import operator
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from runs.documents.content import document_of
from runs.documents.places.views import comments_in
from runs.errors import InvalidInput
from runs.pev.checks.base import FileCheck, Label, text_in
from runs.pev.checks.material import LISTED, CheckInput, CheckResult
from runs.text.patterns import SECONDS, Budget, compiled, found, places
from runs.text.plural import pluralize, word_for
from runs.text.truncate import quoted

COUNTED_MATCHES = 1_000
"""Matches are counted up to this number, or up to `min` if that is higher."""


class Matches(FileCheck):
    """`pattern` is a regular expression without look-around and back-references, searched line-wise; it must occur
    `min` times or more. `comments`: what comments on a document say is searched, and nothing else of it.
    """

    order = 40
    title = "a pattern occurs in a file"
    stricter = {"min": operator.ge}
    is_quick = True

    kind: Literal["matches"]
    pattern: Annotated[
        str,
        StringConstraints(min_length=1, max_length=500),
        Label("Pattern", "A regular expression without look-around, such as ^## Point \\d+"),
    ]
    min: Annotated[int, Field(ge=1, le=100_000), Label("At least so many times", "If empty: 1")] = 1
    comments: Annotated[bool, Label("In comments on a document only")] = False

    def words(self, commands: Mapping[str, str]) -> str:
        passages = "a passage" if self.min == 1 else f"at least {pluralize(self.min, 'passage')}"
        within = " in its comments" if self.comments else ""
        return f"{self.path} has {passages} of the form {self.pattern}{within}"

    def problem(self) -> str | None:
        return problem_with_pattern(self.pattern)

    def examine(self, data: bytes, material: CheckInput, budget: Budget) -> CheckResult:
        text = searched = text_in(data).replace("\r\n", "\n")
        if self.comments:
            document = document_of(data)
            text, searched = (document.text, comments_in(document)) if document else ("", "")
        try:
            pattern = compiled(self.pattern, multiline=True)
            limit = max(self.min, COUNTED_MATCHES)
            count, lines = _lines_of(places(pattern, searched, budget, limit=limit), text)
        except InvalidInput as error:
            raise InvalidInput(f"was not searched for {quoted(self.pattern)}: {error}") from error
        sentence = f"matches {count:,} of at least {self.min:,}{' in its comments' if self.comments else ''}"
        if lines:
            dots = ", …" if len(lines) > LISTED else ""
            listed = ", ".join(map(str, lines[:LISTED]))
            sentence += f": {word_for(len(lines), 'line')} {listed}{dots}"
        return CheckResult(count >= self.min, sentence, lines[0] if lines else 0)


def _lines_of(starts: Iterator[int], text: str) -> tuple[int, list[int]]:
    """Returns the number of matches, and the first distinct lines in which they begin."""
    count, line, counted, lines = 0, 1, 0, dict[int, None]()
    for start in starts:
        count += 1
        line += text.count("\n", counted, start)
        counted = start
        if len(lines) <= LISTED:
            lines[line] = None
    return count, list(lines)


def problem_with_pattern(pattern: str) -> str | None:
    """Returns why a plan must not contain the pattern: it is invalid, or it proves nothing."""
    try:
        nothing = found(compiled(pattern, multiline=True), "", Budget(SECONDS))
    except InvalidInput as error:
        return f"The pattern {quoted(pattern)} cannot be used: {error}."
    return f"The pattern {quoted(pattern)} matches an empty file too, so it proves nothing." if nothing else None
