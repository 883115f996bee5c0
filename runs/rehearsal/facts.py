"""Facts that can be recognised by their form: dates, amounts, parties. English and German."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from runs.rehearsal.documents import Document
from runs.rehearsal.text import blocks
from runs.text.dates import dates_in
from runs.text.names import LEGAL_FORM
from runs.text.numbers import numbers_in
from runs.text.numerals import CURRENCIES

_PART = r"(?:[A-ZÄÖÜÉ][\w'’&-]*|&|de|du|des|la|und|and|of)"
COMPANY = re.compile(rf"(?<![\w])[A-ZÄÖÜÉ][\w'’&-]*(?:[ \n]{_PART}){{0,5}}[ \n]{LEGAL_FORM}")


def amounts_in(text: str) -> Iterator[tuple[int, int]]:
    """Where the sums of money and the percentages of a text are."""
    wanted = CURRENCIES.keys() | {"%"}
    return ((number.start, number.end) for number in numbers_in(text) if number.unit in wanted)


@dataclass(frozen=True)
class Fact:
    document: str
    kind: str
    text: str
    line: int
    place: str


def facts_in(document: Document) -> Iterator[Fact]:
    """In the order of the lines, a party once per document; the text is verbatim but for folded whitespace."""
    parties: set[str] = set()
    for block in blocks(document.lines, document.beginnings):
        text = "\n".join(line for _, line in block)
        offsets = [0, *accumulate(len(line) + 1 for _, line in block[:-1])]
        spans = [("party", match.span()) for match in COMPANY.finditer(text)]
        spans += [("date", (date.start, date.end)) for date in dates_in(text) if all(day.year for day in date.days)]
        spans += [("amount", span) for span in amounts_in(text)]
        for kind, (start, end) in spans:
            found = " ".join(text[start:end].split())
            if kind == "party" and found in parties:
                continue
            parties.add(found)
            line = block[bisect_right(offsets, start) - 1][0]
            yield Fact(document.path, kind, found, line, document.place(line))
