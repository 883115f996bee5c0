"""A text in numbered lines, with the place that evidence names, and with the colours of code."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from pydantic import TypeAdapter

from runs import isolation
from runs.readmodel.memo import WeightedCache
from runs.text.truncate import boundary, cut_after
from runs.web.files.syntax import Span, language_of, taken_apart

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
MAX_COLOURED = 200_000
"""Characters of a file that is coloured. A longer one stays plain."""
COLOUR_LIMITS = isolation.Limits(megabytes=300, cpu_seconds=3, seconds=5, output=2_000_000)
MAX_AT_ONCE = 2
"""Files that are parsed at the same time. Checks and long texts need the other turns of isolated calls."""
MAX_KEPT_SPANS = 200_000
"""Spans that this process keeps, some 30 MB."""
_spans: TypeAdapter[list[Span]] = TypeAdapter(list[Span])
_kept = WeightedCache[Sequence[Span]](MAX_KEPT_SPANS, lambda spans: len(spans) + 1)
_turns = threading.BoundedSemaphore(MAX_AT_ONCE)


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
        lines.append(line if short else _shorten(line))
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


def _shorten(line: SourceLine) -> SourceLine:
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


def coloured(shown: Excerpt, text: str, path: str, sha256: str) -> Excerpt:
    """The lines as HTML if the file is code. Unchanged for other files, for long ones, and if it takes more than
    `COLOUR_LIMITS`.
    """
    language = language_of(path)
    if not language or len(text) > MAX_COLOURED:
        return shown
    spans = _kept.get((sha256, language), lambda: _spans_of(text, language))
    return replace(shown, lines=tuple(_colour(shown.lines, text, spans))) if spans else shown


def _spans_of(text: str, language: str) -> Sequence[Span]:
    """The spans; empty if it takes too long."""
    if not _turns.acquire(timeout=COLOUR_LIMITS.seconds):
        return ()
    try:
        name = f"{taken_apart.__module__}.{taken_apart.__name__}"
        return _spans.validate_json(
            isolation.run(name, text.encode(errors="replace"), COLOUR_LIMITS, language=language)
        )
    except isolation.ChildFailed:
        return ()
    finally:
        _turns.release()


def _colour(lines: Sequence[SourceLine], text: str, spans: Sequence[Span]) -> Iterator[SourceLine]:
    """Each line with its part of the spans; both are in order. A line that was cut stays plain."""
    start, number, first = 0, 1, 0
    for line in lines:
        while number < line.number:
            start, number = text.index("\n", start) + 1, number + 1
        parts = (line.before, line.hit, line.after)
        end = start + sum(map(len, parts))
        while first < len(spans) and spans[first][1] <= start:
            first += 1
        if text[start:end] == "".join(parts):
            last = first
            while last < len(spans) and spans[last][0] < end:
                last += 1
            here = spans[first:last]
            before, hit, after = _html_parts(text, (start, start + len(parts[0]), end - len(parts[2]), end), here)
            yield replace(line, before=before, hit=hit, after=after)
        else:
            yield line


def _html_parts(text: str, cuts: Sequence[int], spans: Sequence[Span]) -> Iterator[SafeString]:
    """The parts of the text between neighbouring cuts, escaped, each with its spans as elements."""
    for start, end in pairwise(cuts):
        pieces, at = [], start
        for one, other, sort in spans:
            low, high = max(one, start), min(other, end)
            if low < high:
                pieces += [escape(text[at:low]), f'<span class="code-{sort}">{escape(text[low:high])}</span>']
                at = high
        yield mark_safe("".join([*pieces, escape(text[at:end])]))  # noqa: S308  every piece of the text was escaped
