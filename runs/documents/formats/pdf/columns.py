"""Finds two columns of a PDF page whose lines were drawn across both, and puts them one after the other.

Rows of a table look the same but must stay together. So the columns must clearly be prose: the lines have equal
distances and fill their column; sentences go on in small letters on the next line; they begin independently of the
other column; and no ruled line separates them. Doubtful cases stay as they were drawn.
"""

import ctypes
import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from statistics import median
from typing import NamedTuple

from pypdfium2 import PdfTextPage, raw

from runs.documents.formats.pdf.geometry import loose_box
from runs.documents.formats.pdf.objects import Box, all_of, bounds_of

_MIN_ROWS = 8  # fewer may be a table
_MAX_LINES, _MAX_CHARACTERS, _MAX_OBJECTS = 150, 20_000, 5_000
"""Per page. Other pages are not prose in columns, and comparing their lines would take too long."""
_MAX_PARTS = 4
"""Of a line in two columns, including wide spaces between words."""
_MIN_LETTERS = 30
"""Of a line with two parts."""
_MIN_STEP = 15.0
"""Points from one letter to the next across a space, as in a narrow gutter."""
_MIN_GUTTER = 8.0
"""In points."""
_MIN_FLOW = 0.5
"""Minimum share of a column's lines that continue the sentence of the line before."""
_MIN_FULL = 0.9
"""Of the lines that continue on the next line, the minimum share that have no room for its first word."""
_MAX_SHARED = 0.45
"""Of the lines that begin a sentence or paragraph, the maximum share next to such a line in the other column."""
_MAX_GAPS = 0.3
"""Maximum share of rows with another gap of the same width. Tables have more columns."""
_MIN_ALIGNED, _NEAR = 0.7, 2.0
"""Minimum share of a column's lines that begin within so many points of each other."""
_MAX_PITCH = 1.4
"""Maximum distance of two lines, as a multiple of the usual distance."""
_BEGINS = re.compile(r"[\s\"'“‘„(]*[^\W\d_]")
_ENDS = re.compile(r"[.:;!?][\"'”’)]*\s*$")


class _LinePart(NamedTuple):
    """A part of a line: its range in the text and its horizontal extent on the page. `word` is the right edge of its
    first word.
    """

    start: int
    end: int
    left: float
    right: float
    word: float


class _Line(NamedTuple):
    """The parts of a line between wide gaps, and the height of the line on the page."""

    parts: Sequence[_LinePart]
    up: float


class _Row(NamedTuple):
    """A line with a part on each side of the gutter, or on one side only."""

    left_part: _LinePart | None
    right_part: _LinePart | None
    up: float
    has_more: bool


class _RowRun(NamedTuple):
    """The parts of consecutive rows. `left_parts` may have additional parts at the end if its column is longer."""

    left_parts: Sequence[_LinePart]
    right_parts: Sequence[_LinePart]
    top: float
    bottom: float
    has_more: int
    """Number of rows with another gap of the same width."""


def by_columns(page: PdfTextPage, text: str, numbers: Sequence[int]) -> tuple[str, Sequence[int]]:
    """Returns the text with columns one after the other, and `numbers` in the same order."""
    spans = list(line_spans(text)) if _may_have(page, text, numbers) else []
    if not 0 < len(spans) <= _MAX_LINES or len(text) > _MAX_CHARACTERS:
        return text, numbers
    lines = [_line(page, text, numbers, *span) for span in spans]
    prose = [run for run in _runs(lines) if _is_prose(text, run)]
    drawn = _drawn_boxes(page) if prose else []
    runs = [run for run in prose if drawn is not None and not any(_divides(box, run) for box in drawn)]
    parts, kept, at = list[str](), array("I"), 0
    for run in runs:
        first, last = run.left_parts[0].start, max(run.left_parts[-1].end, run.right_parts[-1].end)
        parts.append(text[at:first])
        kept.extend(numbers[at:first])
        for part in [*run.left_parts, *run.right_parts]:
            parts += [text[part.start : part.end], "\n"]
            kept.extend([*numbers[part.start : part.end], numbers[part.end - 1]])
        parts.pop()
        kept.pop()
        at = last
    return ("".join([*parts, text[at:]]), kept + array("I", numbers[at:])) if runs else (text, numbers)


def _may_have(page: PdfTextPage, text: str, numbers: Sequence[int]) -> bool:
    """Whether two of three long lines have a wide gap near their middle. A quick test, because it
    runs for each page.
    """
    x, y = ctypes.c_double(), ctypes.c_double()
    across, up, counts = ctypes.byref(x), ctypes.byref(y), [0, 0]

    def begins(at: int) -> float:
        raw.FPDFText_GetCharOrigin(page, numbers[at], across, up)
        return x.value

    for sample in (0.25, 0.75, 0.5):
        at = int(len(text) * sample)
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        end = len(text) if end < 0 else end
        middle = _spaces(text, start + (end - start) // 4, end - (end - start) // 4)
        has_gap = end - start >= _MIN_LETTERS and any(
            begins(space + 1) - begins(space - 1) >= _MIN_STEP for space in middle
        )
        counts[has_gap] += 1
        if 2 in counts:
            break
    return counts[True] == 2


def line_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yields the ranges of the lines that are not blank."""
    at = 0
    for line in text.split("\n"):
        if line.strip():
            yield at, at + len(line)
        at += len(line) + 1


def _spaces(text: str, start: int, end: int) -> Iterator[int]:
    """Yields the spaces between two letters."""
    at = text.find(" ", start + 1, end - 1)
    while at >= 0:
        if not (text[at - 1].isspace() or text[at + 1].isspace()):
            yield at
        at = text.find(" ", at + 1, end - 1)


def _origin(page: PdfTextPage, number: int) -> tuple[float, float]:
    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(page, number, x, y)
    return x.value, y.value


def _line(page: PdfTextPage, text: str, numbers: Sequence[int], start: int, end: int) -> _Line:
    parts, begun, word = list[_LinePart](), start, 0.0
    left = loose_box(page, numbers[start])[0]
    for space in _spaces(text, start, end):
        ends, begins = loose_box(page, numbers[space - 1])[2], loose_box(page, numbers[space + 1])[0]
        word = word or ends
        if begins - ends >= _MIN_GUTTER:
            parts.append(_LinePart(begun, space, left, ends, word))
            begun, left, word = space + 1, begins, 0.0
    right = loose_box(page, numbers[end - 1])[2]
    parts.append(_LinePart(begun, end, left, right, word or right))
    return _Line(parts, _origin(page, numbers[start])[1])


def _runs(lines: Sequence[_Line]) -> list[_RowRun]:
    """Returns groups of consecutive rows at equal distances, on both sides of the gutter that most lines leave free.

    Returns nothing if some rows have only one side, because the cells of a table have different numbers of lines.
    """
    gaps = [(one.right, other.left) for line in lines for one, other in pairwise(line.parts[:_MAX_PARTS])]
    gutter = max((right for _, right in gaps), key=lambda x: sum(left < x <= right for left, right in gaps), default=0)
    rows = [_row(line, gutter) for line in lines]
    pitch = median([abs(one.up - other.up) for one, other in pairwise(rows) if one and other] or [0])
    groups: list[list[_Row]] = [[]]
    for row in rows:
        if not row or not groups[-1] or not 0 < groups[-1][-1].up - row.up <= _MAX_PITCH * pitch:
            groups.append([])
        groups[-1] += [row] if row else []
    return [run for group in groups if (run := _run(group))]


def _run(group: Sequence[_Row]) -> _RowRun | None:
    both = [at for at, row in enumerate(group) if row.left_part and row.right_part]
    if len(both) < _MIN_ROWS or both[-1] - both[0] >= len(both):
        return None
    last = both[-1] + 1
    while last < len(group) and group[last].left_part:
        last += 1
    rows = group[both[0] : last]
    one, other = [row.left_part for row in rows if row.left_part], [row.right_part for row in rows if row.right_part]
    return _RowRun(one, other, rows[0].up, rows[-1].up, sum(row.has_more for row in rows))


def _row(line: _Line, gutter: float) -> _Row | None:
    """Returns None for a line across the gutter."""
    one = [part for part in line.parts if part.right < gutter]
    other = [part for part in line.parts if part.left >= gutter]
    if len(one) + len(other) < len(line.parts):
        return None
    return _Row(_join(one), _join(other), line.up, has_more=len(line.parts) > 2)


def _join(parts: Sequence[_LinePart]) -> _LinePart | None:
    return parts[0]._replace(end=parts[-1].end, right=parts[-1].right) if parts else None


def _is_prose(text: str, run: _RowRun) -> bool:
    begun = [_beginnings(text, column) for column in (run.left_parts, run.right_parts)]
    return (
        all(map(_is_column, (run.left_parts, run.right_parts), begun))
        and all(len(one) <= (1 - _MIN_FLOW) * len(run.right_parts) for one in begun)
        and len(begun[0] & begun[1]) <= _MAX_SHARED * min(map(len, begun))
        and run.has_more <= _MAX_GAPS * len(run.right_parts)
    )


def _is_column(lines: Sequence[_LinePart], begun: set[int]) -> bool:
    """Whether most lines begin at the same position, and continue on the next line only when they are full."""
    left, right = median(line.left for line in lines), max(line.right for line in lines)
    aligned = sum(abs(line.left - left) <= _NEAR for line in lines)
    going_on = [pair for number, pair in enumerate(pairwise(lines), 1) if number not in begun]
    full = sum(line.right + after.word - after.left > right - _NEAR for line, after in going_on)
    return aligned >= _MIN_ALIGNED * len(lines) and full >= _MIN_FULL * len(going_on)


def _beginnings(text: str, lines: Sequence[_LinePart]) -> set[int]:
    """Returns the lines, except the first, that do not continue a sentence."""
    found = set[int]()
    for number, (before, line) in enumerate(pairwise(lines), 1):
        first = _BEGINS.match(text, line.start, line.end)
        goes_on = first and first[0][-1].islower() and not _ENDS.search(text[before.start : before.end])
        found.update(() if goes_on else (number,))
    return found


def _drawn_boxes(page: PdfTextPage) -> list[Box] | None:
    """Returns the boxes of lines and frames, or None if there are too many objects."""
    objects = list(islice(all_of(page.page), _MAX_OBJECTS + 1))
    if len(objects) > _MAX_OBJECTS:
        return None
    return [bounds_of(one) for one in objects if one.kind == raw.FPDF_PAGEOBJ_PATH]


def _divides(box: Box, run: _RowRun) -> bool:
    """Whether it separates the columns between the first and the last row."""
    left, low, right, high = box
    is_between = run.bottom < low < run.top or run.bottom < high < run.top
    return (
        is_between
        and left < max(part.right for part in run.left_parts)
        and min(part.left for part in run.right_parts) < right
    )
