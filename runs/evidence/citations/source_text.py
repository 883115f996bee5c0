"""The text of a source, with where its lines begin."""

import re
from bisect import bisect_right

MAX_PARAGRAPH = 4_000


class SourceText:
    """Characters of a text by its lines, which count from 1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def lines(self, first: int, last: int) -> tuple[int, int]:
        """Where these lines begin and end, from 1; both at the end of the text where there are no such lines."""
        count, size = len(self._starts), len(self.text)
        start = self._starts[first - 1] if 0 < first <= count else size
        return start, self._starts[last] if last < count else size

    def line_at(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def around(self, start: int, end: int) -> str:
        """The lines around a place, up to blank ones."""
        first = max(self.text.rfind("\n\n", max(0, start - MAX_PARAGRAPH), start), start - MAX_PARAGRAPH, 0)
        last = self.text.find("\n\n", end, end + MAX_PARAGRAPH)
        return self.text[first : last if last >= 0 else end + MAX_PARAGRAPH]
