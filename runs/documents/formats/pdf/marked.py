"""Which words of a PDF page stand under a mark-up, or beside a note."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from pypdfium2 import PdfTextPage

from runs.documents.formats.pdf.characters import PageText
from runs.documents.formats.pdf.geometry import loose_box
from runs.documents.formats.pdf.objects import Box

MAX_COMPARED = 5_000_000
"""Characters with the boxes of a file: some two seconds. Each box of a hostile one may be as large as its page."""

type Span = tuple[int, int]


class _Middle(NamedTuple):
    up: float
    across: float
    at: int
    """Its offset."""


class MatchBudget:
    """What comparing has cost so far of one file."""

    def __init__(self) -> None:
        self.left = MAX_COMPARED


class Words:
    """The words of one page. Its letters are looked at when something is asked for the first time."""

    def __init__(self, page: PdfTextPage, text: PageText, effort: MatchBudget) -> None:
        self._page, self._text, self._effort = page, text, effort

    def under(self, boxes: Iterable[Box]) -> list[Span]:
        """The letters of which the middle is in one of the boxes, as offsets, those in a row together; none once
        comparing has cost too much.
        """
        found = set[int]()
        for left, bottom, right, top in boxes:
            low, high = bisect_left(self._middles, (bottom,)), bisect_right(self._middles, (top, float("inf")))
            self._effort.left -= max(high - low, 1)
            if self._effort.left < 0:
                return []
            found.update(one.at for one in self._middles[low:high] if left <= one.across <= right)
        return _runs(sorted(found), self._text.text)

    def beside(self, box: Box) -> list[Span]:
        """The line with the letter that is nearest to the middle of the box; none on a page without text."""
        across, up = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        self._effort.left -= len(self._middles)
        if self._effort.left < 0 or not self._middles:
            return []
        at = min(self._middles, key=lambda one: (one.up - up) ** 2 + (one.across - across) ** 2).at
        text = self._text.text
        return [(text.rfind("\n", 0, at) + 1, (text.find("\n", at) + 1 or len(text) + 1) - 1)]

    @cached_property
    def _middles(self) -> Sequence[_Middle]:
        text, numbers = self._text
        self._effort.left -= len(text)
        if self._effort.left < 0:
            return []
        found = []
        for at, character in enumerate(text):
            if not character.isspace():
                left, bottom, right, top = loose_box(self._page, numbers[at])
                found.append(_Middle((bottom + top) / 2, (left + right) / 2, at))
        return sorted(found)


def _runs(offsets: Sequence[int], text: str) -> list[Span]:
    found: list[Span] = []
    for at in offsets:
        if found and not text[found[-1][1] : at].strip():
            found[-1] = found[-1][0], at + 1
        else:
            found.append((at, at + 1))
    return found
