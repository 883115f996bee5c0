"""The colours of code: the lines of an excerpt with the parts of their language marked by classes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from pydantic import TypeAdapter

from runs import isolation
from runs.readmodel.memo import WeightedCache
from runs.web.files.excerpt import Excerpt, SourceLine
from runs.web.files.syntax import Span, language_of, taken_apart

MAX_CHARACTERS = 200_000
"""Characters of a file that is coloured. A longer one stays plain."""
LIMITS = isolation.Limits(megabytes=300, cpu_seconds=3, seconds=5, output=2_000_000)
MAX_AT_ONCE = 2
"""Files that are parsed at the same time. Checks and long texts need the other turns of guarded calls."""
MAX_KEPT = 200_000
"""Spans that this process keeps, some 30 MB."""

_spans: TypeAdapter[list[Span]] = TypeAdapter(list[Span])
_kept = WeightedCache[Sequence[Span]](MAX_KEPT, lambda spans: len(spans) + 1)
_turns = threading.BoundedSemaphore(MAX_AT_ONCE)


def coloured(shown: Excerpt, text: str, path: str, sha256: str) -> Excerpt:
    """The lines as HTML if the file is code. Unchanged for other files, for long ones, and if it takes more than
    `LIMITS`.
    """
    language = language_of(path)
    if not language or len(text) > MAX_CHARACTERS:
        return shown
    spans = _kept.get((sha256, language), lambda: _taken_apart(text, language))
    return replace(shown, lines=tuple(_lines(shown.lines, text, spans))) if spans else shown


def _taken_apart(text: str, language: str) -> Sequence[Span]:
    """The spans; empty if it takes too long."""
    if not _turns.acquire(timeout=LIMITS.seconds):
        return ()
    try:
        name = f"{taken_apart.__module__}.{taken_apart.__name__}"
        return _spans.validate_json(isolation.run(name, text.encode(errors="replace"), LIMITS, language=language))
    except isolation.ChildFailed:
        return ()
    finally:
        _turns.release()


def _lines(lines: Sequence[SourceLine], text: str, spans: Sequence[Span]) -> Iterator[SourceLine]:
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
            here = _overlapping(spans, first, end)
            before, hit, after = _marked(text, (start, start + len(parts[0]), end - len(parts[2]), end), here)
            yield replace(line, before=before, hit=hit, after=after)
        else:
            yield line


def _overlapping(spans: Sequence[Span], first: int, end: int) -> Sequence[Span]:
    last = first
    while last < len(spans) and spans[last][0] < end:
        last += 1
    return spans[first:last]


def _marked(text: str, cuts: Sequence[int], spans: Sequence[Span]) -> Iterator[SafeString]:
    """The parts of the text between neighbouring cuts, escaped, each with its spans as elements."""
    for start, end in pairwise(cuts):
        pieces, at = [], start
        for one, other, sort in spans:
            low, high = max(one, start), min(other, end)
            if low < high:
                pieces += [escape(text[at:low]), f'<span class="code-{sort}">{escape(text[low:high])}</span>']
                at = high
        yield mark_safe("".join([*pieces, escape(text[at:end])]))  # noqa: S308  every piece of the text was escaped
