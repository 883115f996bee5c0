"""Checks that terms occur nowhere in given files that were read to the end."""

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from runs.contracts.base import Line, Path
from runs.errors import InvalidInput
from runs.evidence.quotes import MIN_CHARACTERS
from runs.evidence.results import Evidence
from runs.pev.checks.base import COMPARING_SECONDS, Check, Label, evidence_of, includes
from runs.pev.checks.material import CheckInput, CheckResult, clean_pattern, list_in_words, matching
from runs.text.normalisation import Sought
from runs.text.patterns import Budget
from runs.text.plural import pluralize, word_for
from runs.text.truncate import quoted


class Absent(Check):
    """None of the terms occurs, as a part of a word neither, in the given files that match the pattern `path`, all of
    which were read whole. Capitals do not count.
    """

    order = 150
    title = "terms occur nowhere in files that were read whole"
    seconds = COMPARING_SECONDS
    stricter = {"terms": includes}
    can_compare = True

    kind: Literal["absent"]
    path: Annotated[Path, Label("Your files", "A path or pattern, such as contracts/*.md")]
    terms: Annotated[
        list[Line],
        Field(min_length=1, max_length=100),
        Label("Terms", "One per line; case does not matter"),
    ]

    @property
    def subject(self) -> str:
        return self.path

    @property
    def reads_whole(self) -> str:
        return self.path

    def words(self, commands: Mapping[str, str]) -> str:
        terms = ", ".join(f"“{term}”" for term in self.terms)
        return f"{terms} {word_for(len(self.terms), 'occurs', 'occur')} nowhere in {self.path}, read whole"

    def problem(self) -> str | None:
        clean_pattern(self.path)
        short = [term for term in self.terms if sum(map(str.isalnum, term)) < MIN_CHARACTERS]
        return f"The term {quoted(short[0])} is too short to be looked for." if short else None

    def decide(self, material: CheckInput, budget: Budget) -> Evidence:
        """Requires that all files were read to the end. A passage that may be one of the terms counts as one (T14)."""
        names = matching(self.path, material.given)
        if not names:
            raise InvalidInput(f"{self.path} matches none of the given files")
        if unread := [name for name in names if name not in material.read_whole]:
            raise InvalidInput(f"Nothing is known to be absent from what was not read whole: {list_in_words(unread)}")
        terms = list(dict.fromkeys(self.terms))
        certain, doubtful = list[_TermPlace](), list[_TermPlace]()
        for name in names:
            text = material.text(name)
            sought = Sought(text, budget.left)
            for term in terms:
                budget.left()
                if found := sought.first(term):
                    line = text.count("\n", 0, found.start) + 1
                    written = (
                        "" if not found.doubt else f" as {quoted(text[found.start : found.end])}, with {found.doubt}"
                    )
                    places = doubtful if found.doubt else certain
                    places.append(_TermPlace(name, line, f"{quoted(term)} in {name}, line {line}{written}"))
        if places := certain + doubtful:
            may = "There is" if certain else "It is not certain that they are absent; there may be"
            said = f"{may} {list_in_words([place.sentence for place in places])}"
            first = places[0]
            return evidence_of(
                first.name, material.given[first.name], CheckResult(False, said, first.line, outside=True)
            )
        read = "which was read whole" if len(names) == 1 else f"{pluralize(len(names), 'file')}, read whole"
        said = f"{list_in_words([quoted(term) for term in terms])} {word_for(len(terms), 'occurs', 'occur')} nowhere in"
        result = CheckResult(True, f"{said} {list_in_words(names)} ({read})", outside=True)
        return evidence_of(names[0], material.given[names[0]], result)


class _TermPlace(NamedTuple):
    """The place of a term or possible term. `sentence` describes it."""

    name: str
    line: int
    sentence: str
