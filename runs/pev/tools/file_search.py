"""Searches many files for lines in which a pattern begins, within a time budget."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import islice

from runs.contracts.ports import Shown
from runs.documents.content import document_of, text_of
from runs.documents.model.layout import MarkKind
from runs.documents.places.document import Document, unit_at
from runs.documents.places.marked import UNSEEN
from runs.text.normalisation import Sought
from runs.text.patterns import Budget, Pattern, places

_SAME = re.compile(r"(?:paragraph|page|line) \d+$")
"""Names of places that only repeat the anchor."""
_NUMBER = re.compile(r"(?=.*[\d(])(?:clause |section |article |art\. |§ ?)?[\d.()A-Za-z]{1,30}", re.IGNORECASE)
"""Matches what may be a clause number."""


@dataclass(frozen=True)
class Hit:
    """A line in which a match begins, or a part of it (`whole` is False). `lines`: the number of lines in the file.

    In a document, `place` is the anchor and the name that people use, and `unit` the page, slide or sheet.
    """

    path: str
    line: int
    text: str
    whole: bool
    lines: int
    place: str = ""
    unit: str = ""

    @property
    def head(self) -> str:
        return f"{self.path}:{self.line}{f' ({self.place})' if self.place else ''}: "

    def shown(self, sha256: str, start: int, end: int) -> Shown:
        """Returns the shown part. In a document only its words count, not the name of the place before them."""
        last = self.line if self.whole else self.line - 1
        start += len(self.head) if self.place else 0
        return Shown(self.path, sha256, start, end, self.line, last, self.lines, self.unit)


def hits_in(
    names: Iterable[str],
    read: Callable[[str], bytes],
    wanted: Pattern | str,
    budget: Budget,
    *,
    limit: int,
    chars: int,
    number: str = "",
) -> Iterator[Hit]:
    """Yields lines in which a match begins: at most `limit` per file, and at most `chars` characters of a line.

    If `wanted` is text, everything that could be the same text matches. In documents, clauses with this `number` match
    too, because their numbers are not in the text. Raises TooSlow if the budget is used up.
    """
    for path in names:
        budget.left()
        data = read(path)
        text = text_of(data) or ""
        if isinstance(wanted, str):
            found = iter(Sought(text, budget.left).lines(wanted, limit))
        else:
            found = places(wanted, text, budget, limit=limit, each_line_once=True) if text else iter(())
        numbered = _clauses(data, number) if _NUMBER.fullmatch(number) else []
        counted, line, lines, last = 0, 1, 0, -1
        for at in islice(merge(found, numbered), limit):
            start = text.rfind("\n", 0, at) + 1
            if start == last:
                continue
            last = start
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            line += text.count("\n", counted, start)
            lines = lines or text.count("\n") + (text[-1] != "\n")
            document = document_of(data)
            of = at + (text[at : at + 1] == "\f")  # a form feed before a page belongs to no page
            place, unit = (_place(document, of), unit_at(document, of)) if document else ("", "")
            yield Hit(path, line, _around(text, start, end, at, chars), end - start <= chars, lines, place, unit)
            counted = start


def _clauses(data: bytes, number: str) -> list[int]:
    """Returns the offsets of the clauses with this number."""
    document = document_of(data)
    return [block.start for block in document.clauses(number)] if document else []


def _place(document: Document, at: int) -> str:
    """Returns the anchor, the name that people use if it says more, and whether its words are visible."""
    where = document.place_name(at, at + 1)
    words = [] if _SAME.match(where.words) or where.words == where.anchor else [where.words]
    words += ["hidden"] if document.marks_on(at, at + 1, MarkKind.HIDDEN) else []
    words += [UNSEEN] if document.marks_on(at, at + 1, MarkKind.UNSEEN) else []
    return ", ".join([where.anchor, *words])


def _around(text: str, start: int, end: int, at: int, limit: int) -> str:
    """Returns the line from `start` to `end`, or `limit` characters of it around `at`."""
    if end - start <= limit:
        return text[start:end].rstrip("\r")
    first = max(start, min(at - limit // 3, end - limit))
    return f"{'…' if first > start else ''}{text[first : first + limit]}{'…' if first + limit < end else ''}"
