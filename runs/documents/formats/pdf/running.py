"""Lines that stand on most pages of a document: its running headers and footers."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

_MIN_SHARE = 0.6
"""Of the pages with text."""
_MIN_PAGES = 3
_LINES = 2
"""From the beginning and from the end of each page."""
_MAX_LINE = 300
_DIGITS = re.compile(r"\d+")


class Line(NamedTuple):
    start: int
    end: int
    form: str
    """Its words, with a sign instead of each number."""


def running_lines(pages: Sequence[str]) -> list[list[tuple[int, int]]]:
    """For each page the lines that are on most of them, as offsets in its text."""
    lines = [_outer(text) for text in pages]
    counts = Counter(form for found in lines for form in {line.form for line in found})
    wanted = max(_MIN_PAGES, _MIN_SHARE * sum(bool(found) for found in lines))
    return [[(line.start, line.end) for line in found if counts[line.form] >= wanted] for found in lines]


def _outer(text: str) -> list[Line]:
    """The first and the last lines that have something in them."""
    spans = sorted({*islice(_forwards(text), _LINES), *islice(_backwards(text), _LINES)})
    return [Line(start, end, _form(text[start:end])) for start, end in spans if end - start <= _MAX_LINE]


def _form(line: str) -> str:
    return _DIGITS.sub("#", " ".join(line.split()))


def _forwards(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if text[at:end].strip():
            yield at, end
        at = end + 1


def _backwards(text: str) -> Iterator[tuple[int, int]]:
    end = len(text)
    while end > 0:
        at = text.rfind("\n", 0, end) + 1
        if text[at:end].strip():
            yield at, end
        end = at - 1
