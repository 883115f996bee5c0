"""A text in numbered lines, with the place that evidence names."""

from __future__ import annotations

from dataclasses import dataclass

from runs.text.truncate import boundary, cut_after

WHOLE_BYTES = 1_000_000
"""Files up to this size are shown whole, if they have no more lines than `WHOLE_LINES`."""
WHOLE_LINES = 20_000
AROUND_LINES = 400
MAX_CHARS = 400_000
PANEL_LINES = 200
PANEL_CHARS = 60_000
MAX_IN_A_LINE = 20_000
"""Lines around the marked place, and characters of all lines and of one: a page of about a megabyte at most. The panel
shows fewer, because it is opened many times while one reads.
"""


@dataclass(frozen=True)
class SourceLine:
    """`before`, `hit` and `after` make the line. `first`: the hit begins here."""

    number: int
    before: str
    hit: str
    after: str
    first: bool


@dataclass(frozen=True)
class Excerpt:
    """`first` and `last` are line numbers; `whole` is false when lines before or after are left out."""

    lines: tuple[SourceLine, ...]
    first: int
    last: int
    total: int
    whole: bool

    @property
    def hit(self) -> int:
        """The line where the hit begins; 0 without one."""
        return next((line.number for line in self.lines if line.first), 0)


def excerpt(text: str, start: int, end: int, *, in_panel: bool = False) -> Excerpt:
    """All lines, or those around the hit (the beginning, without one) when the text is too long to be shown whole.

    `start` and `end` are character offsets; a span outside of the text is no hit. `in_panel`: at most `PANEL_LINES`.
    """
    if not 0 <= start < end <= len(text):
        start = end = 0
    rows = text.split("\n")
    if len(rows) > 1 and not rows[-1]:
        rows.pop()
    most, around, chars = (
        (PANEL_LINES, PANEL_LINES // 3, PANEL_CHARS) if in_panel else (WHOLE_LINES, AROUND_LINES, MAX_CHARS)
    )
    short = len(text) <= (PANEL_CHARS if in_panel else WHOLE_BYTES) and len(rows) <= most
    at = text.count("\n", 0, start)
    low, high = (0, len(rows)) if short else _window(rows, at, around, chars)
    offset = sum(len(row) + 1 for row in rows[:low])
    lines = []
    for index in range(low, high):
        line = _line(index + 1, rows[index], offset, start, end)
        lines.append(line if short else _cut(line))
        offset += len(rows[index]) + 1
    return Excerpt(tuple(lines), low + 1, high, len(rows), whole=short)


def _window(rows: list[str], at: int, around: int, chars: int) -> tuple[int, int]:
    """Lines around `at`, not more than `chars` characters, `at` itself in any case."""
    low = max(0, at - around)
    high = min(len(rows), at + 2 * around)
    while high > at + 1 and sum(len(row) for row in rows[low:high]) > chars:
        high = at + 1 + (high - at - 1) // 2
        low = at - (at - low) // 2
    return low, high


def _line(number: int, row: str, offset: int, start: int, end: int) -> SourceLine:
    first = offset <= start < offset + len(row) + 1 and end > start
    row = row.removesuffix("\r")
    one = min(max(start - offset, 0), len(row))
    other = min(max(end - offset, 0), len(row))
    if other <= one:
        one = other = len(row)
    return SourceLine(number, row[:one], row[one:other], row[other:], first)


def _cut(line: SourceLine) -> SourceLine:
    """A line of megabytes, cut to the text around the marked place."""
    if len(line.before) + len(line.hit) + len(line.after) <= MAX_IN_A_LINE:
        return line
    before, after = line.before, line.after
    if line.hit:
        before = f"… {before[boundary(before, len(before) - 2_000) :]}" if len(before) > 2_000 else before
    else:
        before = cut_after(before, MAX_IN_A_LINE)
    after = cut_after(after, 2_000)
    return SourceLine(line.number, before, line.hit, after, line.first)
